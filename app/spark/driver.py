"""Driver of the Spark query of a run: starts and restarts it, adds matches, grants turns, commits windows.

Theory of operation
-------------------
The query is the union of its seats: one source and one engine stage each. Spark pools Python workers by their
environment variables. Each seat has its name among them, so its matches always meet the engine process that caches
their pipelines, and one engine per seat runs at a time. One match alone is a run with one seat (decision 030).

A micro-batch is many windows of every match long. The windows of each match close on their own schedule. The engine
writes the output of a closed window to a file (:mod:`app.spark.results`), and a thread of the driver commits the window
when its state is stored. Spark's turn-around, which pauses all seats, thus occurs once in many windows (decision 023).

*Restarts.* The match store defines where a match resumes: at the last committed offset, from the engine state stored
for that offset. Spark's checkpoint is not used; each query begins with an empty one. When a task fails, Spark restarts
it while the other seats continue. Each task that starts requests a *turn*: the driver writes the offsets at which the
seat's matches resume, and then commits nothing of an earlier turn. A source gives the same records from an offset
whatever the windows, and so the engine gives the same events. When a query fails, the driver starts another, as long as
each makes progress; while the disk is full it waits. Every run has a folder of its own, so processes that an earlier
run left behind cannot touch this one.

*The end of a micro-batch.* The query returns nothing, and its sink discards that. A ``foreachBatch`` would make Py4J
open a port on which every local process may call functions of the driver. So the source plans the next micro-batch
when the driver has committed what the one before has left (:meth:`app.spark.seat.Seat.await_commits`).

*The start.* The driver starts a query before its matches begin. While Spark plans the query, separate jobs make the
source and engine processes import and compile what they need (the *warm-up*). Then the sources request their first
turn, which :meth:`SparkDriver.run` grants. Spark's start thus does not delay the matches.

A new match goes to the seat with the fewest positions a second of matches that have more to play.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from app.base.errors import one_line
from app.base.logs import log_event
from app.hub.client import HubAddress
from app.pipeline.commits import CommitLog, HostError
from app.pipeline.disk_full import SpaceWaiter, is_full
from app.pipeline.pipeline import WARM_UP_BLOCKS
from app.pipeline.state_store import StateStore
from app.sources.interface import Entry
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig
from app.spark.source import NAME, SeatSource, warm_up_source
from app.spark.stage import seat_stage, table_of, warm_up_stage

#: File in a run's folder that requests the sources to end.
STOP = "stop"

#: Windows of a micro-batch.
WINDOWS = 20

#: Limit of a query's time to its first turn: no longer than its tasks wait for it.
_READY_S = 50.0

#: Interval at which the driver checks for closed windows, requested turns and the end of the query.
_POLL_S = 0.1

_MAX_FAILURES_WITHOUT_PROGRESS = 3
#: Spark's own limit for the start of a Python process, ten seconds, is too short on a busy machine.
_SLOW_START, _MAX_SLOW_STARTS = "worker failed to connect back", 20

_RUN_FOLDERS = "run-*"

_log = logging.getLogger(__name__)


class MatchPlan(msgspec.Struct, frozen=True):
    """Plan of a match for the driver.

    Attributes:
        entry: how it is read, from its beginning; the driver moves the begin to the committed offset.
        stage: configuration of its engine.
        positions_hz: its load, in positions per second.
    """

    entry: Entry
    stage: StageConfig
    positions_hz: float


class SparkDriver:
    """One query over any number of matches.

    Args:
        session: with two slots per seat.
        folder: for Spark's files; each run has a subfolder.
        seats: number of branches of the query.
        window_us: length of a window in wall time; for unpaced matches in arrival time.
        commits: receives the windows.
        hub: receives the update stream of the engines.
        warm_up_blocks: number of blocks on which engines warm up before the first turn.
        nodes: of the only match, which is then the only one of the only seat.
    """

    def __init__(
        self,
        session: SparkSession,
        folder: Path,
        seats: int,
        window_us: int,
        commits: CommitLog,
        hub: HubAddress,
        warm_up_blocks: int = WARM_UP_BLOCKS,
        nodes: int = 1,
    ) -> None:
        for earlier in folder.glob(_RUN_FOLDERS):
            shutil.rmtree(earlier, ignore_errors=True)
        self._run_folder = folder / f"run-{secrets.token_hex(4)}"
        self._session, self._window_us, self._commits = session, window_us, commits
        self._hub, self._warm_up_blocks, self._nodes = hub, warm_up_blocks, nodes
        self.seats = [Seat(self._run_folder / f"seat-{number}") for number in range(seats)]
        self._plans: list[list[MatchPlan]] = [[] for _ in range(seats)]
        self._excluded: set[str] = set()
        #: By seat: the folder that holds the results of its turns, and the results of its current turn.
        self._turn_folders: list[Path] = []
        self._results: list[WindowResults] = []
        self._lock, self._committing = threading.Lock(), threading.Lock()
        self._progress = self._queries = self._settled = 0
        #: A query that is started, whose seats get no turn before :meth:`run`.
        self._ready_query: StreamingQuery | None = None
        self._warm_ups: list[threading.Thread] = []
        # Queries set the second by themselves. With it, they find the processes that the warm-up has started.
        session.sparkContext.environment |= {"TOUCHLINE_ROLE": "source", "SPARK_SIMPLIFIED_TRACEBACK": "1"}
        session.dataSource.register(SeatSource)
        for seat in self.seats:
            seat.write([])

    def add(self, plan: MatchPlan) -> None:
        """Adds a match; while the query runs, the match starts at once."""
        with self._lock:
            number = min(range(len(self.seats)), key=self._load_hz)
            self._plans[number].append(plan)
            self.seats[number].write_stage(plan.entry.match, plan.stage)
            self._write(number)

    def seat_of(self, match: str) -> int:
        """Number of the seat of a match."""
        return next(n for n, plans in enumerate(self._plans) if any(p.entry.match == match for p in plans))

    def get_ready(self, stop: threading.Event) -> None:
        """Starts the query before any match clock runs, and returns when its seats wait for their first turn.

        :meth:`run` grants that turn. Does nothing if the query is ready; returns early if ``stop`` is set.
        """
        if self._ready_query is not None:
            return
        until_s = time.monotonic() + _READY_S
        with suppress(Py4JError, PySparkException, OSError):  # ``run`` meets the same error and handles it
            self._warm_up()
            threading.Thread(target=self._wait_warm, name="warm-up", daemon=True).start()
            self._ready_query = self._start_query()
            log_event(_log, logging.INFO, "query started")
            while self._ready_query.isActive and not all(map(self._is_ready, self.seats)):
                if time.monotonic() > until_s or stop.wait(_POLL_S / 4):
                    return

    def run(self, stop: threading.Event) -> None:
        """Plays the matches. Returns when all have ended or failed, or when ``stop`` is set and all windows are closed.

        Raises:
            HostError: the query keeps failing, or Spark has ended.
        """
        if self._ready_query is None:
            self._permit_tasks()  # nothing is warming up that they would have to wait for
        over = threading.Event()
        committer = threading.Thread(target=self._keep_committing, args=(over,), name="commit", daemon=True)
        committer.start()
        try:
            keep_running(self._run_folder, self._next_query, lambda: self._progress, stop)
        finally:
            over.set()
            committer.join()

    def close(self) -> None:
        """Ends a query that was started but never run, and deletes the run's folder."""
        with suppress(Py4JError, PySparkException, ConnectionError):
            if self._ready_query is not None:
                self._ready_query.stop()
        shutil.rmtree(self._run_folder, ignore_errors=True)

    def _is_ready(self, seat: Seat) -> bool:
        """True if the seat waits for its turn, or has nothing to play."""
        return not any(map(seat.has_more, seat.entries())) or bool(seat.requested_turn())

    def _load_hz(self, number: int) -> float:
        """Positions per second of the matches of a seat that have more to play."""
        return sum(
            plan.positions_hz for plan in self._plans[number]
            if plan.entry.match not in self._excluded and not self._commits.has_ended(plan.entry.match)
        )  # fmt: skip

    def _write(self, number: int) -> None:
        """Writes the list of a seat: its matches, and the offset at which each resumes."""
        entries = [plan.entry for plan in self._plans[number] if plan.entry.match not in self._excluded]
        self.seats[number].write([self._resumed(entry) for entry in entries])

    def _resumed(self, entry: Entry) -> Entry:
        """The entry from the committed offset on; without more to play if the match has ended."""
        begin = self._commits.offset(entry.match)
        has_ended = self._commits.has_ended(entry.match)
        return msgspec.structs.replace(entry, begin=begin, stop=begin if has_ended else entry.stop)

    def _next_query(self) -> StreamingQuery:
        """The query that is ready, if there is one; else starts another."""
        query, self._ready_query = self._ready_query or self._start_query(), None
        return query

    def _start_query(self) -> StreamingQuery:
        """Starts a query in which every match resumes at its committed offset."""
        with self._committing, self._lock:
            shutil.rmtree(self._run_folder / f"query-{self._queries}", ignore_errors=True)
            self._queries += 1
            self._settled = 0
            folder = self._run_folder / f"query-{self._queries}"
            self._turn_folders = [folder / seat.folder.name for seat in self.seats]
            self._results = [WindowResults(results / "none") for results in self._turn_folders]
            for number, seat in enumerate(self.seats):
                seat.forget_turns()
                self._write(number)
        results: DataFrame | None = None
        for number in range(len(self.seats)):
            branch = self._branch(number)
            results = branch if results is None else results.unionAll(branch)
        if results is None:
            raise HostError("a query needs a seat")
        # The stages return no rows, so the sink discards them. One that calls back would open a port without a secret.
        writer = results.writeStream.format("noop").option("checkpointLocation", str(folder / "spark"))
        return writer.trigger(availableNow=True).start()

    def _branch(self, number: int) -> DataFrame:
        """Plans the part of the query that belongs to a seat: its source, then its engine stage."""
        seat, environment = self.seats[number], self._session.sparkContext.environment
        options = {
            "seat": str(seat.folder), "window_us": str(self._window_us), "windows": str(WINDOWS),
            "stop_flag": str(self._run_folder / STOP), "requests_turns": "yes",
            "nodes": str(self._nodes),
        }  # fmt: skip
        environment["TOUCHLINE_ROLE"] = "source"
        rows = self._session.readStream.format(NAME).options(**options).load()
        environment["TOUCHLINE_ROLE"] = f"engine-{number}"
        stage = seat_stage(str(seat.folder), str(self._turn_folders[number]), self._hub, self._nodes)
        return rows.mapInArrow(stage, "none string", barrier=self._nodes > 1)

    def _warm_up(self) -> None:
        """Makes the processes of the seats import and compile what they need, each in a job of its own.

        The jobs are no queries of Spark SQL, so no plan delays them.
        """
        context, seats = self._session.sparkContext, [seat for seat in self.seats if seat.entries()]
        stages = {
            f"engine-{self.seats.index(seat)}": warm_up_stage(str(seat.folder), self._warm_up_blocks) for seat in seats
        }
        # Engines first: they have the most to do.
        for role, stage in {**stages, "source": warm_up_source(str(seats[0].folder))}.items() if seats else ():
            context.environment["TOUCHLINE_ROLE"] = role
            job = context.parallelize(range(self._nodes), self._nodes).mapPartitions(stage)
            job.id()  # makes PySpark read the environment now
            self._warm_ups.append(
                threading.Thread(target=_run_quietly, args=(job,), name=f"warm-up {role}", daemon=True)
            )
            self._warm_ups[-1].start()

    def _wait_warm(self) -> None:
        """Permits the first tasks when the warm-up is over: Spark would start a second process for a busy one."""
        for warm_up in self._warm_ups:
            warm_up.join()
        with suppress(OSError):  # the run has ended
            self._permit_tasks()

    def _permit_tasks(self) -> None:
        for seat in self.seats:
            seat.permit_tasks()

    def _keep_committing(self, over: threading.Event) -> None:
        """Commits windows while the micro-batch runs, and retries those that cannot be committed yet."""
        reported = ""
        while not over.wait(_POLL_S):
            try:
                ended, reason = max(seat.ended_batch() for seat in self.seats), ""
                try:
                    self._commit_closed()
                except Exception as error:  # the matches continue; a lasting error ends the micro-batch
                    reason = one_line(error)
                    if reported != reason:
                        _log.warning("a window is not committed yet: %s", reason)
                    reported = reason
                if ended > self._settled:
                    self._release_batch(ended, reason)
            except OSError as error:
                _log.warning("seats cannot be instructed yet: %s", one_line(error))

    def _release_batch(self, batch: int, reason: str) -> None:
        """Lets the query go on after a micro-batch, the windows of which are committed; with a ``reason``, fails it."""
        with self._lock:
            for number in range(len(self.seats)):
                self._write(number)
            for seat in self.seats:
                seat.settle(batch, reason)
        self._settled = batch
        self._progress += not reason

    def _commit_closed(self) -> None:
        """Commits the closed windows with a stored state, those of each match in order.

        Afterwards grants the turns that seats request.
        """
        with self._committing:
            for number, results in enumerate(self._results):
                # Read first: a seat requests a turn when the turn before has written all its results.
                turn = self.seats[number].requested_turn()
                for closed in results.ready(lambda match, end, epoch: self._states(match).has(end, epoch)):
                    if closed.failed:
                        self._exclude(closed.match, closed.failed)
                    else:
                        self._commit_window(closed)
                if turn:
                    self._grant_turn(number, turn)

    def _grant_turn(self, number: int, turn: str) -> None:
        """Grants a turn. Uncommitted results of the turn before are dropped and played again."""
        self._results[number] = WindowResults(self._turn_folders[number] / turn)
        shutil.rmtree(self._turn_folders[number], ignore_errors=True)
        self._results[number].folder.mkdir(parents=True)
        with self._lock:
            self._write(number)
        self.seats[number].grant(turn)

    def _commit_window(self, closed: ClosedWindow) -> None:
        tables = {name: table_of(body) for name, body in closed.tables.items()}
        self._commits.commit(closed.match, closed.start, tables, closed.meta)
        self._states(closed.match).forget_before(closed.start)
        self._progress += 1

    def _states(self, match: str) -> StateStore:
        plan = next(p for plans in self._plans for p in plans if p.entry.match == match)
        return StateStore(Path(plan.stage.states), match)

    def _exclude(self, match: str, reason: str) -> None:
        if match not in self._excluded:
            self._excluded.add(match)
            self.seats[self.seat_of(match)].exclude(match, reason)
            self._commits.failed(match, reason)


def _run_quietly(job: RDD[int]) -> None:
    """Runs a warm-up job. Its failure is logged only: the imports then take place in the first window."""
    try:
        job.collect()
    except (Py4JError, PySparkException) as error:
        _log.warning("a process begins cold: %s", one_line(error))


def keep_running(
    folder: Path, next_query: Callable[[], StreamingQuery], progress: Callable[[], int], stop: threading.Event
) -> None:
    """Runs a query, and restarts it when it fails as long as it makes progress; while the disk is full it waits.

    Args:
        folder: of the run; a file ``stop`` in it requests the sources to end.
        next_query: returns a query that runs; called again after each failure.
        progress: number of committed windows and micro-batches.
        stop: requests the end.

    Raises:
        HostError: the query keeps failing, or Spark has ended.
    """
    failures, space_waiter = 0, SpaceWaiter(folder, stop)
    while True:
        before = progress()
        try:
            query = next_query()
            while not query.awaitTermination(_POLL_S):
                if stop.is_set():
                    (folder / STOP).touch()
            return
        except (Py4JError, PySparkException, OSError) as error:
            if is_full(error):  # checked first: at a query's start Spark reports it as a Java error
                space_waiter.wait(error)
                continue
            if isinstance(error, Py4JError | ConnectionError):
                raise HostError(
                    f"Spark's process is gone; its log is in {folder.parent}. "
                    "Start again with the same --store to go on"
                ) from error
            if isinstance(error, OSError):
                raise
            failures = 1 if progress() > before else failures + 1
            _log.warning("the query failed and is started again: %s", _first_line(error))
            limit = _MAX_SLOW_STARTS if _SLOW_START in str(error) else _MAX_FAILURES_WITHOUT_PROGRESS
            if failures >= limit:
                raise HostError(f"the query failed {failures} times in a row: {_first_line(error)}") from error


def _first_line(error: PySparkException) -> str:
    """Spark's reason without its traceback: the last line of a Python error, else the first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if "Error: " in line and not line.startswith(("at ", "org.", "Caused"))]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0]
