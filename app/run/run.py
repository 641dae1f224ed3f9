"""A run: matches that are played together, from opening to summary. All parts of a run are connected here.

A run has a hub, and one Spark query or one engine in this process. Each match has a store, a feed and monitoring, and
on request a page, a sink and a camera. One match alone is a run with one seat (decision 030).
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
from rich.console import Console

from app.api.served import ServedMatch
from app.base.arrow import without_pandas
from app.base.java import find_java
from app.base.logs import VARIABLE, hide_secrets, log_event, logging_to, worker_variable
from app.base.pace import NEVER_US
from app.base.private import private_files
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.hub.server import Hub
from app.hub.sinks import sink_kind
from app.operations.match_monitor import MatchMonitor, MonitoredCommitter
from app.operations.secrets import secrets_of
from app.pipeline.commits import HostError
from app.pipeline.folder import Match
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.options import PIPELINE, options_of, with_costs
from app.pipeline.pipeline import WARM_UP_BLOCKS, PipelineOptions
from app.run.summary import summarize
from app.settings.model import LiveSettings, SettingsError
from app.sources.captured import CAPTURE
from app.sources.interface import Entry
from dashboard.access import is_loopback
from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage
from replay.formats.officials import FILE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from app.spark.driver import MatchPlan, SparkDriver

#: Log in the folder of a run, one JSON object per line.
LOGS = "logs"

#: Delay from the beginning of a new match's preparation to the start of Java.
BEFORE_JAVA_S = 0.3

#: Blocks on which the processes of a live match that resumes warm up.
_RESUMED_WARM_UP_BLOCKS = 20

#: Limit of the wait for a match's last message after its last commit.
_LAST_MESSAGE_S = 10.0

_log = logging.getLogger(__name__)


@dataclass
class LiveMatch:
    """A match of a run.

    Attributes:
        key: its name in the run.
        settings: its own.
        match: its folder; a stand-by run only reads it.
        feed: the hub's feed of the match.
        began_us, began_s: arrival time and process clock at which this run began to play it.
        ended_s: process clock at its end.
    """

    key: str
    settings: LiveSettings
    match: Match
    feed: MatchFeed
    began_us: int = 0
    began_s: float = 0.0
    ended_s: float | None = None

    def begin(self) -> None:
        """Records that this run begins to play the match."""
        self.began_us, self.began_s = self.match.played_us(), time.monotonic()


class Run:
    """Matches that are played together.

    Args:
        settings: of the run.
        console: shows progress and notes.
        background: receives the contexts that end with the run.
        one_match: whether it plays one match only.

    Attributes:
        matches: by key, in the order in which they were added.
        excluded: by key, the reasons why matches failed and are not played any further.
        cameras: of the run, once they run; a run of many matches has none.
    """

    def __init__(self, settings: LiveSettings, console: Console, background: ExitStack, *, one_match: bool) -> None:
        os.environ.pop("TOUCHLINE_TOKEN", None)  # it is in the settings; children must not inherit it
        hide_secrets(secrets_of(settings))
        background.enter_context(private_files())
        self.settings, self.console, self.background, self.one_match = settings, console, background, one_match
        self.matches: dict[str, LiveMatch] = {}
        self.excluded: dict[str, str] = {}
        self.cameras = CameraGroup()
        self.hub = background.enter_context(Hub([]))
        hide_secrets([self.hub.address.token])
        self._monitors: dict[str, MatchMonitor] = {}
        self._commits = MonitoredCommitter(self, self._monitors)
        self._seats = 1 if one_match else settings.seats or os.cpu_count() or 1
        self._over_s = time.monotonic()

    def open(self, folder: Path) -> None:
        """Starts logs and monitoring in the run's folder, which this process has locked."""
        from app.operations.monitoring import Monitoring
        from app.run.servers import RunServers  # imports uvicorn

        settings = self.settings
        self.background.enter_context(logging_to(folder / LOGS, settings.logs, settings.log_level))
        self._monitoring = self.background.enter_context(Monitoring(folder))
        servers = RunServers(settings, self._monitoring, self.console, self.cameras)
        self._servers = self.background.enter_context(servers)

    def register(self, key: str, settings: LiveSettings, match: Match) -> LiveMatch:
        """Registers a match of the run and creates its feed."""
        feed = self.hub.add(msgspec.structs.replace(match.input.sheet, match_id=key))
        live = self.matches[key] = LiveMatch(key, settings, match, feed)
        return live

    def start_services(self, live: LiveMatch) -> None:
        """Starts page, sink and monitoring of a match, the folder of which this process has locked."""
        match, settings, feed = live.match, live.settings, live.feed
        page = self._show_page(live)  # before the seed: a page counts the updates applied after its start
        self.hub.seed(live.key, match.committed_updates(), ended=match.has_ended())
        paced, link = match.input.is_live or settings.pace > 0, self.hub if settings.engine == "spark" else None
        monitor = self._monitoring.add(feed, match.folder / "states", paced=paced, link=link, source=match.input)
        self._monitors[live.key], monitor.camera_problems = monitor, self.cameras.problems
        self.cameras.distrust = monitor.distrust
        if settings.nodes > 1:
            from app.nodes.orders import read_status

            monitor.nodes = partial(read_status, match.folder)
        monitor.camera_figures, monitor.camera_cares = self.cameras.figures, self.cameras.cares
        self._servers.serve(live.key, ServedMatch(feed, match.folder, monitor.problems, page))
        options = settings.model_dump(mode="json", exclude={"parameters", "token"})
        log_event(_log, logging.INFO, "run begins", live.key, **options)
        for finding in match.input.findings:
            self.console.print(f"{'Input' if self.one_match else live.key}: {finding.text}")
        if settings.publish:
            sink = sink_kind(settings.publish).open(settings.publish, feed, match.folder)
            self.background.enter_context(sink)
            match.on_commit, monitor.publisher = sink.committed, sink
            if self.one_match:
                self.console.print(f"Publishing to {settings.publish}")
        self.background.enter_context(match.input.watch(match.offset(), monitor))
        live.begin()

    def play(self, session: Future[SparkSession] | None, stop: threading.Event) -> None:
        """Plays the only match of the run, to its end or to ``stop``.

        Args:
            session: of Spark; None plays in this process.
            stop: requests the end.

        Raises:
            HostError: the engine cannot go on.
        """
        (live,) = self.matches.values()
        if session is None:
            self._play_in_process(live, stop)
        elif not live.match.has_ended():
            folder = live.match.folder
            driver = self.driver(session.result(), folder / "spark", folder / LOGS)
            driver.add(self.plan(live))
            self.play_with(driver, stop)

    def play_with(self, driver: SparkDriver, stop: threading.Event, poll: Callable[[], None] | None = None) -> None:
        """Plays the matches of a driver.

        Args:
            driver: with its matches added.
            stop: requests the end.
            poll: called at intervals while they play, in a thread of its own.
        """
        over, polling = threading.Event(), None
        driver.get_ready(stop)
        for live in self.matches.values():
            live.begin()
        if poll is not None:
            polling = threading.Thread(target=_repeat, args=(poll, over), name="matches", daemon=True)
            polling.start()
        try:
            driver.run(stop)
        finally:
            self._over_s = time.monotonic()
            over.set()
            if polling is not None:
                polling.join()
            driver.close()

    def driver(self, session: SparkSession, folder: Path, logs: Path) -> SparkDriver:
        """Creates the driver that plays matches through Spark.

        Args:
            session: of Spark.
            folder: for the query's files.
            logs: folder for the logs of Spark's Python processes.
        """
        from app.spark.driver import SparkDriver

        settings, matches = self.settings, self.matches.values()
        session.sparkContext.environment[VARIABLE] = worker_variable(logs, settings.logs, settings.log_level)
        window_us = round(settings.window_s * 1e6) if settings.pace else settings.window_us
        # A live match that resumes is late already; its own records warm the process up, and are processed sooner.
        resumes_live = any(
            live.match.input.is_live and live.match.offset() > live.match.input.begin for live in matches
        )
        blocks = _RESUMED_WARM_UP_BLOCKS if resumes_live else WARM_UP_BLOCKS
        return SparkDriver(
            session, folder, self._seats, window_us, self._commits, self.hub.address, blocks, settings.nodes
        )

    def plan(self, live: LiveMatch, other_hz: float = 0.0, *, is_late: bool = False) -> MatchPlan:
        """Plan of a match for the driver.

        Args:
            live: the match.
            other_hz: positions per second of the other matches on the same machine.
            is_late: whether the query runs already. Its processes are warm, and this process measures the costs.
        """
        from app.spark.driver import MatchPlan
        from app.spark.seat import StageConfig

        settings, match = live.settings, live.match
        match_input = match.input
        sheet = msgspec.structs.replace(match_input.sheet, match_id=live.key)
        own_hz = positions_hz(sheet)
        options = options_of(settings)
        if options.adapts and not self.one_match:  # it adapts to its share of the machine
            share = min(1.0, self._seats * own_hz / (own_hz + other_hz))
            options = replace(options, available=options.available * share)
        lacks_costs = options.adapts and match.offset() == match_input.begin
        if is_late and lacks_costs:
            options = with_costs(options, sheet, match_input.sample)
        stage = StageConfig(
            sheet, options, PIPELINE, str(match.folder / "states"), match_input.begin,
            measures=lacks_costs and not is_late, placement=self._placement(options, sheet),
        )  # fmt: skip
        spec = match_input.spec(settings.window_s, one_match=self.one_match)
        officials = tuple(map(str, officials_of(settings, match)))
        return MatchPlan(
            Entry(live.key, match_input.kind, spec, match_input.begin, settings.pace, NEVER_US, officials),
            stage,
            own_hz,
        )

    def _placement(self, options: PipelineOptions, sheet: MatchSheet) -> dict[str, int]:
        """Node of each detector; empty if there is one node."""
        if self.settings.nodes == 1:
            return {}
        from app.nodes.placement import placement_of

        return placement_of(options.hierarchy(sheet), self.settings.nodes, self.settings.nodes_placement)

    def offset(self, match: str) -> int:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self.matches[match].match.offset()

    def has_ended(self, match: str) -> bool:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self.matches[match].match.has_ended()

    def commit(self, match: str, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """See :class:`app.pipeline.commits.CommitLog`."""
        live = self.matches[match]
        live.match.commit(start, tables, meta)
        if live.match.has_ended():
            live.ended_s = time.monotonic()
            if not self.one_match:
                self.console.print(f"{match}: over")

    def failed(self, match: str, reason: str) -> None:
        """See :class:`app.pipeline.commits.CommitLog`. Withdraws the updates that were sent and not committed."""
        self.excluded[match] = self._monitors[match].exclusion = reason
        log_event(_log, logging.ERROR, "match excluded", match, error=reason)
        if not self.one_match:
            self.console.print(f"{match}: excluded: {reason}")
        feed, one = self.matches[match].feed, self.matches[match].match
        committed = sum(len(updates) for updates, _ in one.committed_updates())
        now_us, frontier_us = feed.now_us(), one.committed_frontier_us()
        feed.apply(
            UpdateMessage(match, feed.epoch() + 1, now_us, frontier_us, continues_from=committed, ended=True),
            time.time_ns() // 1_000,
        )

    def lacks_last_message(self) -> list[str]:
        """Matches that ended in this run without their last message at the hub; waits for the messages first."""
        return [
            key
            for key, live in self.matches.items()
            if live.match.has_ended() and key not in self.excluded and live.match.played_us() > live.began_us
            and not live.feed.wait_ended(_LAST_MESSAGE_S)
        ]  # fmt: skip

    def summary(self, key: str, cameras: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Figures of a match; see :func:`app.run.summary.summarize`."""
        live = self.matches[key]
        return summarize(
            live.feed,
            store=str(live.match.folder),
            ended=live.match.has_ended(),
            played_us=live.match.played_us() - live.began_us,
            took_s=(live.ended_s or self._over_s) - live.began_s,
            quarantined=live.match.quarantined(),
            cameras=cameras,
            quality=self._monitors[key].quality(),
            findings=self._monitors[key].findings(),
        )

    @contextmanager
    def spark(self, log: Path, delay_s: float = 0.0) -> Iterator[Future[SparkSession]]:
        """Provides Spark's session while the context lasts; a thread starts it while the rest is prepared.

        Args:
            log: file for the output of Spark and its processes.
            delay_s: until Java starts. An unusable input is usually detected sooner, and then Java need not start.
        """
        from app.spark.fork_server import fork_server

        # Processes of a cluster start elsewhere.
        forks = self.background.enter_context(fork_server()) if not self.settings.master else None
        without_pandas()
        from app.spark.session import start_session, stop_session

        settings, over = self.settings, threading.Event()

        def start() -> SparkSession:
            earliest_s = time.monotonic() + delay_s
            java = find_java(os.environ)
            if over.wait(earliest_s - time.monotonic()):
                raise HostError("Spark was not started: the run ended before")
            slots = max(2, self._seats, settings.nodes)
            session = start_session(java, log, slots=slots, master=settings.master, streaming=True, python=forks)
            log_event(_log, logging.INFO, "spark is up")
            return session

        with ThreadPoolExecutor(1, "spark") as pool:
            starting = pool.submit(start)
            from app.run import servers  # noqa: F401  while Java starts: a run that stands by needs it when it takes over

            try:
                yield starting
            finally:
                over.set()
                if starting.exception() is None:
                    stop_session(starting.result())

    def check_master(self) -> None:
        """Refuses a Spark cluster that cannot play live.

        Raises:
            SettingsError: the cluster's engines would run on other machines.
        """
        from app.spark.session import is_here

        if not is_here(self.settings.master):
            raise SettingsError(
                f"--master {self.settings.master}: engines of other machines cannot reach the hub on loopback: "
                "`touchline batch` takes such a cluster"
            )

    def _play_in_process(self, live: LiveMatch, stop: threading.Event) -> None:
        settings, match = live.settings, live.match
        recording = match.input.recording
        if recording is None:
            raise SettingsError(f"--engine inprocess: {settings.source} is no recording, and is read through Spark")
        options = options_of(settings)
        if match.offset() == match.input.begin:
            options = with_costs(options, recording.sheet, recording)
        config = InProcessConfig(
            PIPELINE, options, match.folder / "states", settings.pace, settings.window_us,
            officials=officials_of(settings, match),
        )  # fmt: skip
        host = InProcessHost(recording, config, self.hub, self._commits)
        live.begin()
        try:
            host.run(stop)
        finally:
            self._over_s = time.monotonic()

    def _show_page(self, live: LiveMatch) -> str:
        """Serves the page of a match, if it is to have one; returns its address."""
        settings, url = live.settings, ""
        if settings.dashboard:
            officials = live.match.folder if live.match.input.takes_officials else None
            url = self._servers.open_page(live.feed, officials)
            needs_token = settings.token.get_secret_value() or not is_loopback(settings.host)
            once = " (the first time with ?token=...)" if needs_token else ""
            self.console.print(f"Live page: {url}{once}" if self.one_match else f"{live.key}: live page {url}")
            if self.one_match and settings.has_camera:
                self.console.print(f"Cameras: {url}cameras")
        return url


def officials_of(settings: LiveSettings, match: Match) -> tuple[Path, ...]:
    """Inputs of official lines: the store, that of the capture, and the file of the settings if any.

    Empty if the source takes no lines.
    """
    if not match.input.takes_officials:
        return ()
    files = (match.folder, match.folder / CAPTURE / FILE)
    return (*files, settings.official) if settings.official else files


def positions_hz(sheet: MatchSheet) -> float:
    """Load of a match in positions per second, as its input declares."""
    quality = sheet.quality
    return quality.ball_hz + 22 * quality.body_hz * max(1, len(quality.limbs))


def _repeat(poll: Callable[[], None], over: threading.Event, every_s: float = 2.0) -> None:
    while not over.wait(every_s):
        poll()


def total_hz(matches: Iterable[LiveMatch]) -> float:
    """Load of several matches in positions per second."""
    return sum(positions_hz(live.match.input.sheet) for live in matches)
