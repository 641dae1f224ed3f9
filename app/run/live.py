"""Plays one match live: opens it, or stands by for its takeover, and plays it to its end or to Ctrl-C."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, TimeElapsedColumn

from app.base.logs import log_event
from app.base.private import check_store
from app.base.terminal import make_console, make_progress, plain_column
from app.pipeline.commits import HostError
from app.pipeline.folder import InUseError, Match, locked, open_match, read_match
from app.pipeline.options import PIPELINE, load_pipeline, options_of
from app.pipeline.seal import code_fingerprint, fingerprint
from app.pipeline.state_store import StateStore
from app.run.last_slack import with_last_slack
from app.run.run import BEFORE_JAVA_S, LOGS, LiveMatch, Run
from app.run.signals import stopped_by_signals
from app.run.summary import show
from app.settings.model import LiveSettings
from detectors.catalogue import DETECTORS, REFERENCES
from detectors.parameters import Parameters
from detectors.signals.kernels.break_solver import is_compiled
from football.errors import UserError
from football.match_sheet import MatchSheet
from replay.match_store import is_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from app.spark.driver import SparkDriver

#: Interval at which a stand-by run checks whether the other run has ended.
_TAKE_OVER_S = 0.1

#: Interval of progress lines where the line of progress cannot be redrawn.
_LINE_EVERY_S = 30.0

_log = logging.getLogger(__name__)


class LiveError(UserError):
    """The run cannot begin or go on; the message has the reason."""


def run_live(settings: LiveSettings, *, as_json: bool = False, verbose: bool = False) -> dict[str, Any]:
    """Plays a match to the end or to Ctrl-C; prints the summary, with ``verbose`` all of it, and returns it.

    Raises:
        LiveError, HostError, and the errors of source, store, hub, page and Java.
    """
    console, stop = make_console(stderr=as_json), threading.Event()
    settings = with_last_slack(settings)
    with stopped_by_signals(stop, console), ExitStack() as standing_by, ExitStack() as background:
        run = Run(settings, console, background, one_match=True)
        run.check_master()
        ready = standing_by.enter_context(_stand_by(run, stop)) if settings.standby else None
        session, log = standing_by.enter_context(_spark(run)) if ready is None else (ready.session, None)
        with _compiling_kernels(console):
            match = _open(run, background, stop)
        if match is None:
            console.print("Stopped while standing by")
            return {}
        background.push(standing_by.pop_all())
        run.open(match.folder)
        if session is not None and log is not None:
            session.add_done_callback(lambda _: _move_log(log, match.folder))
        if ready is not None:
            live = ready.live
            live.match = match
        else:
            live = run.register(match.input.sheet.match_id, settings, match)
        if session is not None:
            _check_state(live)
        run.start_services(live)
        _start_cameras(run, live, background)
        with _progress(live, console):
            if ready is not None:
                run.play_with(ready.driver, stop)
            else:
                run.play(session, stop)
        ended = match.has_ended()
        log_event(_log, logging.INFO, "run ends", live.key, ended=ended)
        if run.excluded:
            raise HostError(f"{run.excluded[live.key]}; what is committed can be gone on with, with the same --store")
        if run.lacks_last_message():
            raise LiveError("the last message of the match did not reach the hub")
    summary = run.summary(live.key, run.cameras.figures() if live.settings.has_camera else None)
    if as_json:
        print(msgspec.json.encode(summary).decode())
    else:
        show(summary, console, verbose=verbose)
    return summary


def _open(run: Run, background: ExitStack, stop: threading.Event) -> Match | None:
    """Opens and locks the match. A stand-by run waits for the lock; returns None if it is stopped before."""
    while True:
        try:
            return background.enter_context(open_match(run.settings, run.console))
        except InUseError:
            if not run.settings.standby:
                raise
            if stop.wait(_TAKE_OVER_S):
                return None


@contextmanager
def _spark(run: Run) -> Iterator[tuple[Future[SparkSession] | None, Path | None]]:
    """Provides Spark's session, which starts while the match is prepared, and its log if there is no store yet.

    The session is None if the match is played in this process.
    """
    settings, store = run.settings, run.settings.store
    if settings.engine != "spark":
        yield None, None
        return
    if store is not None and is_store(store):
        with locked(store):  # raises before the start of Java if another run uses it
            pass
        with run.spark(store / "spark" / "spark.log") as session:
            yield session, None
        return
    parent = store.parent if store is not None else Path("matches").resolve()
    parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".spark-", dir=parent))
    try:
        with run.spark(draft / "spark.log", BEFORE_JAVA_S) as session:
            yield session, draft / "spark.log"
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _compiling_kernels(console: Console) -> Iterator[None]:
    """Compiles the kernels of the detectors while the match is prepared, in a thread, at the first start of a version.

    The simulator and the detectors thus compile at the same time. The engine compiles what is left when the match is
    ready, and finds the rest in numba's cache.
    """
    if is_compiled():
        yield
        return
    console.print("First start of this version: compiling for this machine, about half a minute")
    over = threading.Event()

    def load() -> None:
        over.wait(BEFORE_JAVA_S)  # the producer starts first
        sheet = MatchSheet(quality=REFERENCES[0])
        for entry in DETECTORS:
            if not over.is_set() and entry.enabled_for(sheet.quality):
                entry.build(sheet, Parameters())

    with ThreadPoolExecutor(1, "kernels") as pool:
        pool.submit(load)
        try:
            yield
        finally:
            over.set()


def _move_log(log: Path, store: Path) -> None:
    """Moves Spark's log into the match's folder; its writers continue to write to it."""
    if log.exists():
        (store / "spark").mkdir(exist_ok=True)
        log.replace(store / "spark" / log.name)


class _Ready:
    """A query on stand-by, the seat of which waits for its first turn."""

    def __init__(self, live: LiveMatch, session: Future[SparkSession], driver: SparkDriver) -> None:
        self.live, self.session, self.driver = live, session, driver


@contextmanager
def _stand_by(run: Run, stop: threading.Event) -> Iterator[_Ready]:
    """Prepares a query for the match of another run, without any change to that run."""
    store = run.settings.store
    if store is None:
        raise LiveError("--standby: name the folder of the run with --store")
    check_store(store)
    folder = store / "spark" / f"standby-{os.getpid()}"
    try:
        with run.spark(folder / "spark.log") as session:
            match = read_match(run.settings)
            live = run.register(match.input.sheet.match_id, run.settings, match)
            plan = run.plan(live)
            driver = run.driver(session.result(), folder, store / LOGS)
            driver.add(plan)
            driver.get_ready(stop)
            run.console.print(f"Standing by: goes on in {store} when no other run does (Ctrl-C ends it)")
            try:
                yield _Ready(live, session, driver)
            finally:
                driver.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_state(live: LiveMatch) -> None:
    """Checks before the match begins that its state can be restored.

    Raises:
        StateError: see :meth:`app.pipeline.state_store.StateStore.read`.
    """
    match = live.match
    if match.offset() > match.input.begin and not match.has_ended():
        options, states = options_of(live.settings), StateStore(match.folder / "states", live.key)
        made = states.check(match.offset())
        # The same code and parameters make the same detectors. Building them takes half a second of processor time.
        if (made.code, made.parameters) != (code_fingerprint(), fingerprint(options.parameters)):
            states.read(match.offset(), load_pipeline(PIPELINE)(match.input.sheet, options, 0).maker)


def _start_cameras(run: Run, live: LiveMatch, background: ExitStack) -> None:
    """Starts the cameras of a match that has some."""
    if live.settings.has_camera:
        from app.cameras.running import cameras_of, cameras_on, rules_of

        cameras, match = cameras_of(live.settings.cameras, live.feed.sheet()), live.match
        rules = rules_of(live.settings.cameras, cameras)
        background.enter_context(
            cameras_on(
                live.feed, match.append_camera, cameras, run.cameras, rules=rules, folder=match.folder,
                file=live.settings.cameras,
            )
        )  # fmt: skip


@contextmanager
def _progress(live: LiveMatch, console: Console) -> Iterator[None]:
    """Shows a progress line while the match plays; in a pipe or a file, a new line every half minute."""
    columns = (BarColumn(), plain_column("{task.fields[count]}"), TimeElapsedColumn())
    over, match_input, feed = threading.Event(), live.match.input, live.feed
    with make_progress(console, *columns, disable=not console.is_terminal) as bar:
        task = bar.add_task("Starting", total=None, count="")

        def show_progress() -> None:
            while not over.wait(0.5 if console.is_terminal else _LINE_EVERY_S):
                count = f"{feed.update_count()} updates"
                total_us = match_input.length_us()
                played_s = max(0.0, (feed.now_us() - match_input.sample.begin_us) / 1e6)
                description = "Playing" if played_s else "Starting"
                total_s = None if total_us is None else total_us / 1e6
                bar.update(task, description=description, total=total_s, completed=played_s, count=count)
                if not console.is_terminal:
                    console.print(f"Played {played_s / 60:.1f} min, {count}")

        showing = threading.Thread(target=show_progress, daemon=True)
        showing.start()
        try:
            yield
        finally:
            over.set()
            showing.join()
