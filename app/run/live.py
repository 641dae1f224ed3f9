"""Runs a match live: capture, hub, host, and what stands beside it (page and camera), until its end or Ctrl-C."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.api.servers import RunServers
from app.base.java import find_java
from app.base.logs import VARIABLE, hide_secrets, log_event, logging_to, worker_variable
from app.hub.client import HubAddress
from app.hub.feed import MatchFeed
from app.hub.server import Hub
from app.kafka.address import parse
from app.kafka.topic_location import TopicOptions
from app.operations.match_monitor import MatchMonitor, MonitoredCommitter, Publisher
from app.operations.monitoring import Monitoring
from app.operations.secrets import secrets_of
from app.pipeline.commits import Committer
from app.pipeline.folder import CAPTURE, InUseError, Match, TopicMatch, open_match
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.options import PIPELINE, options_of
from app.pipeline.pipeline import PipelineOptions
from app.run.summary import show, summarize
from app.settings.model import LiveSettings
from app.spark.stage import StageConfig
from app.spark.stage import warm_up as warm_stage_up
from football.errors import UserError
from replay.capture import Capture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from app.spark.host import SparkHost

#: Lines of JSON, in the match's folder.
LOGS = "logs"

#: Who stands by looks so often whether the run is gone.
_TAKE_OVER_S = 0.1

#: Where the line that tells of progress can't move, another is written so often.
_LINE_EVERY_S = 30.0

_log = logging.getLogger(__name__)


class LiveError(UserError):
    """The run cannot begin or go on; the message says why."""


class Host(Protocol):
    """What runs the engine over the capture: Spark, or this process."""

    def run(self, stop: threading.Event) -> None:
        """Returns at the end of the capture, or soon after ``stop`` was set, with everything committed."""
        ...


def run_live(settings: LiveSettings, *, as_json: bool = False) -> dict[str, Any]:
    """Runs to the end or to Ctrl-C; prints the summary and returns it.

    Raises:
        LiveError, and the errors of source, store, hub, page and Java: see ``app.base.errors``.
    """
    console = Console(stderr=as_json)
    stop = threading.Event()
    os.environ.pop("TOUCHLINE_TOKEN", None)  # known by now; children shall not inherit it
    hide_secrets(secrets_of(settings))
    with ExitStack() as standing_by, ExitStack() as playing, ExitStack() as beside:
        stood_by = _stood_by(settings, standing_by, console) if settings.standby else None
        match = _opened(settings, playing, console)
        if match is None:
            console.print("Stopped while standing by")
            return {}
        beside.push(standing_by.pop_all())
        beside.enter_context(logging_to(match.folder / LOGS, settings.logs, settings.log_level))
        hub = beside.enter_context(Hub([match.capture.sheet]))
        starting = stood_by
        if settings.engine == "spark" and starting is None:
            log = match.folder / "spark" / "spark.log"
            starting = beside.enter_context(_starting(log, match.capture.sheet.match_id))
        hide_secrets([hub.address.token])
        feed = hub.feed(match.capture.sheet.match_id)
        hub.seed(
            match.capture.sheet.match_id, match.committed_updates(), match.committed_epoch(),
            frontier_us=match.committed_frontier_us(), ended=match.has_ended(),
        )  # fmt: skip
        monitoring = beside.enter_context(Monitoring(match.folder))
        servers = beside.enter_context(RunServers(settings, monitoring, console))
        watch = _watch(settings, feed, match, hub, monitoring, beside)
        options = settings.model_dump(mode="json", exclude={"parameters", "token"})
        log_event(_log, logging.INFO, "run begins", watch.match, **options)
        watch.publisher = _publish(settings, feed, match, beside, console)
        if settings.dashboard:
            once = " (the first time with ?token=...)" if settings.token.get_secret_value() else ""
            console.print(f"Live page: {servers.open_page(feed)}{once}")
        committer = MonitoredCommitter(match, {watch.match: watch})
        host = _host(settings, match, hub, committer, starting)
        camera = _camera(settings, feed, match, beside)
        began_us, began_s = match.played_us(), time.monotonic()
        with stopped_by_signals(stop, console), _progress(feed, match, console):
            host.run(stop)
        took_s = time.monotonic() - began_s
        ended = match.has_ended()
        log_event(_log, logging.INFO, "run ends", watch.match, ended=ended, took_s=round(took_s, 3))
        if ended and match.played_us() > began_us and not feed.wait_ended(10):
            raise LiveError("the last message of the match did not reach the hub")
    summary = summarize(
        feed,
        store=str(match.folder),
        ended=ended,
        played_us=match.played_us() - began_us,
        took_s=took_s,
        quarantined=match.quarantined(),
        camera=camera() if camera is not None else None,
    )
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        show(summary, console)
    return summary


def _stood_by(settings: LiveSettings, standing_by: ExitStack, console: Console) -> Future[SparkSession]:
    """Spark, started and warm for the match of another run; nothing of that run is touched."""
    from app.spark.host import HostConfig, warm_up

    assert settings.store is not None
    folder = settings.store / "spark" / f"standby-{os.getpid()}"
    standing_by.callback(shutil.rmtree, folder, ignore_errors=True)
    capture = Capture.open(settings.store / CAPTURE)
    sheet, options = capture.sheet, options_of(settings, capture, goes_on=True)
    starting = standing_by.enter_context(_starting(folder / "spark.log", sheet.match_id))
    nobody = HubAddress("", 0, "")
    stage = StageConfig(sheet, options, PIPELINE, str(folder / "states"), capture.begin_us, nobody)
    config = HostConfig("tracking", capture.path, folder, stage, settings.pace, settings.window_us)
    _log_in_workers(starting.result(), settings.store, settings)
    warm_up(starting.result(), config, _warming(stage, capture.path))
    console.print(f"Standing by: goes on in {settings.store} when nobody else does (Ctrl-C ends it)")
    return starting


def _opened(settings: LiveSettings, playing: ExitStack, console: Console) -> Match | None:
    """The match, ours alone; who stands by waits for that, and None is that he was stopped."""
    stop = threading.Event()
    with stopped_by_signals(stop, console, "Stopping") if settings.standby else nullcontext():
        while not stop.is_set():
            try:
                return playing.enter_context(open_match(settings, console))
            except InUseError:
                if not settings.standby:
                    raise
                stop.wait(_TAKE_OVER_S)
    return None


@contextmanager
def _starting(log: Path, match: str) -> Iterator[Future[SparkSession]]:
    """Spark's Java takes seconds to start, and much else can be made ready meanwhile."""
    from app.spark.session import STREAMING, start_session, stop_session

    def start() -> SparkSession:
        session = start_session(find_java(os.environ), log, slots=2, options=STREAMING)
        log_event(_log, logging.INFO, "spark is up", match)
        return session

    with ThreadPoolExecutor(1, "spark") as pool:
        begun = pool.submit(start)
        try:
            yield begun
        finally:
            if begun.exception() is None:
                stop_session(begun.result())


def _host(
    settings: LiveSettings, match: Match, hub: Hub, committer: Committer, starting: Future[SparkSession] | None
) -> Host:
    options = options_of(settings, match.capture, goes_on=match.offset() > match.begin())
    if starting is None:
        config = InProcessConfig(
            PIPELINE, options, match.folder / "states", settings.pace, settings.window_us, match.offset(),
            batch_id=match.next_batch(), officials=_officials(settings, match),
        )  # fmt: skip
        return InProcessHost(match.capture, config, hub, committer)
    from app.spark.host import check_state

    check_state(_stage(match, options, hub), match)
    return _spark_host(settings, match, hub, options, committer, starting.result())


def _spark_host(
    settings: LiveSettings,
    match: Match,
    hub: Hub,
    options: PipelineOptions,
    committer: Committer,
    session: SparkSession,
) -> SparkHost:
    from app.spark.host import HostConfig, SparkHost, warm_up

    capture, folder = match.capture, match.folder / "spark"
    _log_in_workers(session, match.folder, settings)
    stage = _stage(match, options, hub)
    source = "sim" if settings.source == "sim" else "tracking"
    topic = _topic(settings, match, folder) if isinstance(match, TopicMatch) else None
    officials = () if topic is not None else _officials(settings, match)
    config = HostConfig(
        source, capture.path, folder, stage, settings.pace, settings.window_us, topic=topic, officials=officials
    )
    # A match that is gone on with comes meanwhile: what is late warms as well, and is worth more.
    cold = not settings.standby and topic is not None and match.offset() > match.begin()
    if not (cold or settings.standby):
        warm_up(session, config, _warming(stage, capture.path))
        log_event(_log, logging.INFO, "warmed up", capture.sheet.match_id)
    return SparkHost(session, config, committer, cold=cold)


def _stage(match: Match, options: PipelineOptions, hub: Hub) -> StageConfig:
    sheet, states = match.capture.sheet, str(match.folder / "states")
    return StageConfig(sheet, options, PIPELINE, states, match.begin(), hub.address)


def _officials(settings: LiveSettings, match: Match) -> tuple[Path, ...]:
    """Where officials write: the store, always, and the file that was named."""
    return (match.folder, settings.official) if settings.official else (match.folder,)


def _topic(settings: LiveSettings, match: TopicMatch, folder: Path) -> TopicOptions:
    place = match.place
    return TopicOptions(
        settings.source, place.match, place.partition, place.offset, place.records_in(settings.window_s),
        settings.window_s, str(folder / "stop"), str(folder / "marks"),
    )  # fmt: skip


def _warming(stage: StageConfig, capture: Path) -> Callable[[], None]:
    return lambda: warm_stage_up(stage, capture)


def _log_in_workers(session: SparkSession, folder: Path, settings: LiveSettings) -> None:
    session.sparkContext.environment[VARIABLE] = worker_variable(folder / LOGS, settings.logs, settings.log_level)


def _watch(
    settings: LiveSettings, feed: MatchFeed, match: Match, hub: Hub, monitoring: Monitoring, beside: ExitStack
) -> MatchMonitor:
    """Monitors the match, and how many records of its topic wait."""
    paced, link = isinstance(match, TopicMatch) or settings.pace > 0, hub if settings.engine == "spark" else None
    watch = monitoring.add(feed, match.folder / "states", paced=paced, link=link)
    if isinstance(match, TopicMatch):
        from app.operations.topic_lag import TopicLagPoller

        beside.enter_context(TopicLagPoller(parse(settings.source), match.place.partition, match.offset(), watch))
    return watch


def _publish(
    settings: LiveSettings, feed: MatchFeed, match: Match, beside: ExitStack, console: Console
) -> Publisher | None:
    if not settings.publish:
        return None
    from app.kafka.relay import Relay

    relay = beside.enter_context(Relay(feed, parse(settings.publish), match.folder))
    match.on_commit = relay.committed
    console.print(f"Publishing to {settings.publish}")
    return relay


def _camera(settings: LiveSettings, feed: MatchFeed, match: Match, beside: ExitStack) -> Callable[[], Any] | None:
    """Starts the camera; returns where its figures are to be had. None without one."""
    if not settings.has_camera:
        return None
    from app.run.camera import camera_on

    return beside.enter_context(camera_on(feed, match.append_camera)).figures


@contextmanager
def stopped_by_signals(
    stop: threading.Event, console: Console, said: str = "Stopping: closing the open batch"
) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) asks for a clean end, a second one insists."""

    def ask(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        console.print(f"{said} (Ctrl-C again to stop at once)")

    # Spark has put its own handler here, which cancels jobs; ours comes after the session and goes before it.
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _progress(feed: MatchFeed, match: Match, console: Console) -> Iterator[None]:
    """A line that moves while the match plays; a line every half minute in a pipe or a file."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    over, length_us = threading.Event(), match.length_us
    begin_us = match.capture.begin_us
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Playing", total=None, said="")

        def look() -> None:
            while not over.wait(0.5 if console.is_terminal else _LINE_EVERY_S):
                said = f"{feed.events_since(0)[0]} updates"
                total_us = length_us()
                played_s = max(0.0, (feed.now_us() - begin_us) / 1e6)
                bar.update(task, total=None if total_us is None else total_us / 1e6, completed=played_s, said=said)
                if not console.is_terminal:
                    console.print(f"Played {played_s / 60:.1f} min, {said}")

        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        try:
            yield
        finally:
            over.set()
            looking.join()
