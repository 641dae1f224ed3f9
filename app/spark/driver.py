"""Runs one query over the matches of all seats, and takes matches in while it runs.

Theory of operation
-------------------
The query is the union of its seats: a source and an engine stage each. A seat's Python workers are pooled by their
environment, so with the seat in it a match is always with the engine process that holds its pipeline, and as many
engines work at a time as there are seats. One match alone is a run with one seat (decision 030).

A micro-batch is many windows of every match long. Windows close when it is their time, match by match, and what they
give is written down by the engine (:mod:`app.spark.results`); a thread of the driver commits each when its state is
stored. So Spark's turn-around, for which all seats stand still together, comes once in many windows (decision 023).

*Restarts.* Where a match goes on is told by its store: what is committed, and the engine state at that offset. Nothing
rests on Spark's checkpoint: each query begins with an empty one. A task that fails is begun again by Spark while the
other seats play on. Each task that begins asks for a *turn*: the driver writes down where the seat's matches go on, and
from then on commits nothing of an earlier turn. A source gives the same records from an offset whichever windows it is
read in, and so the engine gives the same events. A query that fails is followed by another, as long as it gets further;
while the disk is full it waits. Every run has a folder of its own, so processes that an earlier run left behind reach
nothing of this one.

*The start.* A query is started before its matches begin. While Spark plans it, jobs of their own have the processes of
source and engine import and compile what they need (they are *woken*). Then the sources ask for their first turn, which
:meth:`SparkDriver.run` gives. So what Spark needs to start a query is not the matches' time.

A new match goes to the seat with the fewest positions a second, which takes it in while the others play.
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
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from app.base.errors import one_line
from app.base.logs import log_event
from app.hub.client import HubAddress
from app.pipeline.commits import CommitLog, HostError
from app.pipeline.disk_full import Room, is_full
from app.pipeline.state_store import StateStore
from app.sources.interface import Entry
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig
from app.spark.source import NAME, SeatSource
from app.spark.stage import WARM_UP_BLOCKS, seat_stage, table_of, waking_stage

#: File in a run's folder whose existence asks the sources to end.
STOP = "stop"

#: Windows of a micro-batch.
WINDOWS = 20

#: How long a query may take to be ready for its first turn: no longer than its tasks wait for it.
_READY_S = 50.0

#: The driver looks so often for windows that have closed, and for the end of the query.
_LOOK_S = 0.1

_MAX_FAILURES_WITHOUT_PROGRESS = 3
#: Spark gives a Python process ten seconds to start, which on a machine that is busy with something else are too few.
_SLOW_START, _MAX_SLOW_STARTS = "worker failed to connect back", 20

_RUN_FOLDERS = "run-*"

_log = logging.getLogger(__name__)


class MatchPlan(msgspec.Struct, frozen=True):
    """A match as the driver takes it.

    Attributes:
        entry: how it is read, from its beginning; what is committed of it is left out.
        stage: how its engine is made.
        positions_hz: how much it is.
    """

    entry: Entry
    stage: StageConfig
    positions_hz: float


class SparkDriver:
    """One query over any number of matches.

    Args:
        session: with two slots a seat.
        folder: of Spark; what the run needs is in a folder of its own there.
        seats: how many branches the query has.
        window_us: wall time in one window; of unpaced matches arrival time.
        commits: where windows are committed.
        hub: where engines send the update stream.
        warm_up_blocks: on how many blocks engines warm up before the first turn.
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
    ) -> None:
        for earlier in folder.glob(_RUN_FOLDERS):
            shutil.rmtree(earlier, ignore_errors=True)
        self._folder = folder / f"run-{secrets.token_hex(4)}"
        self._session, self._window_us, self._commits = session, window_us, commits
        self._hub, self._warm_up_blocks = hub, warm_up_blocks
        self.seats = [Seat(self._folder / f"seat-{number}") for number in range(seats)]
        self._plans: list[list[MatchPlan]] = [[] for _ in range(seats)]
        self._excluded: set[str] = set()
        #: Of each seat, the folder of its turns' results; and the results of its turn.
        self._folders: list[Path] = []
        self._results: list[WindowResults] = []
        self._lock, self._committing = threading.Lock(), threading.Lock()
        self._progress = self._queries = 0
        self._begun: StreamingQuery | None = None
        self._waking: list[threading.Thread] = []
        session.sparkContext.environment["TOUCHLINE_ROLE"] = "source"
        session.dataSource.register(SeatSource)
        for seat in self.seats:
            seat.write([])

    def add(self, plan: MatchPlan) -> None:
        """Takes a match in; while the query runs it begins beside the others."""
        with self._lock:
            load = [sum(p.positions_hz for p in plans) for plans in self._plans]
            number = load.index(min(load))
            self._plans[number].append(plan)
            self.seats[number].write_stage(plan.entry.match, plan.stage)
            self._write(number)

    def seat_of(self, match: str) -> int:
        """Number of the seat of a match."""
        return next(n for n, plans in enumerate(self._plans) if any(p.entry.match == match for p in plans))

    def get_ready(self, stop: threading.Event) -> None:
        """Starts the query before any clock runs: when this returns its seats wait for the turn that ``run`` gives.

        Does nothing if the query is ready; returns early if ``stop`` is set.
        """
        if self._begun is not None:
            return
        until_s = time.monotonic() + _READY_S
        with suppress(Py4JError, PySparkException, OSError):  # ``run`` meets the same, and knows what to do
            self._wake()
            self._begun = self._begin()
            log_event(_log, logging.INFO, "query started")
            while self._begun.isActive and not all(map(self._is_ready, self.seats)):
                if time.monotonic() > until_s or stop.wait(_LOOK_S / 4):
                    return

    def run(self, stop: threading.Event) -> None:
        """Returns when no match goes on any more, or ``stop`` was set and all windows are closed.

        Raises:
            HostError: the query keeps failing, or Spark is gone.
        """
        over = threading.Event()
        committer = threading.Thread(target=self._keep_committing, args=(over,), name="commit", daemon=True)
        committer.start()
        try:
            keep_running(self._folder, self._begin, lambda: self._progress, stop)
        finally:
            over.set()
            committer.join()

    def close(self) -> None:
        """Ends a query that was started and never run, and deletes what the run needed."""
        with suppress(Py4JError, PySparkException, ConnectionError):
            if self._begun is not None:
                self._begun.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _is_ready(self, seat: Seat) -> bool:
        return not any(map(seat.goes_on, seat.entries())) or bool(seat.wanted())

    def _write(self, number: int) -> None:
        """The list of a seat: its matches, and from where on each is played."""
        going = [plan.entry for plan in self._plans[number] if plan.entry.match not in self._excluded]
        self.seats[number].write([self._from_store(entry) for entry in going])

    def _from_store(self, entry: Entry) -> Entry:
        begin = self._commits.offset(entry.match)
        over = self._commits.has_ended(entry.match)
        return msgspec.structs.replace(entry, begin=begin, stop=begin if over else entry.stop)

    def _begin(self) -> StreamingQuery:
        """A query from where the stores end; the first time the one that is ready."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            return begun
        with self._committing, self._lock:
            shutil.rmtree(self._folder / f"query-{self._queries}", ignore_errors=True)
            self._queries += 1
            folder = self._folder / f"query-{self._queries}"
            self._folders = [folder / seat.folder.name for seat in self.seats]
            self._results = [WindowResults(results / "none") for results in self._folders]
            for number, seat in enumerate(self.seats):
                seat.forget_turns()
                self._write(number)
        results: DataFrame | None = None
        for number, (seat, turns) in enumerate(zip(self.seats, self._folders, strict=True)):
            branch = self._branch(seat, number, turns)
            results = branch if results is None else results.unionAll(branch)
        if results is None:
            raise HostError("a query needs a seat")
        writer = results.writeStream.foreachBatch(self._end_batch).option("checkpointLocation", str(folder / "spark"))
        return writer.trigger(availableNow=True).start()

    def _branch(self, seat: Seat, number: int, turns: Path) -> DataFrame:
        environment = self._session.sparkContext.environment
        options = {
            "seat": str(seat.folder), "window_us": str(self._window_us), "windows": str(WINDOWS),
            "stop_flag": str(self._folder / STOP), "asks": "yes",
        }  # fmt: skip
        environment["TOUCHLINE_ROLE"] = "source"
        rows = self._session.readStream.format(NAME).options(**options).load()
        environment["TOUCHLINE_ROLE"] = f"engine-{number}"
        return rows.mapInArrow(seat_stage(str(seat.folder), str(turns), self._hub), "none string")

    def _wake(self) -> None:
        """Has the processes of the seats import and compile what they need, each by a job of its own."""
        environment, seats = self._session.sparkContext.environment, [seat for seat in self.seats if seat.entries()]
        stages = {
            f"engine-{self.seats.index(seat)}": waking_stage(str(seat.folder), self._warm_up_blocks) for seat in seats
        }
        for role, stage in {"source": waking_stage(str(seats[0].folder), 0), **stages}.items() if seats else ():
            environment["TOUCHLINE_ROLE"] = role
            job = self._session.range(0, 1, numPartitions=1).mapInArrow(stage, "id long")
            self._waking.append(threading.Thread(target=_run_quietly, args=(job,), name=f"waking {role}", daemon=True))
            self._waking[-1].start()

    def _end_batch(self, frame: DataFrame, batch_id: int) -> None:
        """``foreachBatch``: runs the micro-batch (Spark is lazy), and commits what is not committed yet."""
        for waking in self._waking:  # else a second process of the seat would begin
            waking.join()
        frame.collect()
        self._commit_closed()
        with self._lock:
            for number in range(len(self.seats)):
                self._write(number)
        self._progress += 1

    def _keep_committing(self, over: threading.Event) -> None:
        """Commits windows while the micro-batch goes on. What cannot be committed now is tried again."""
        reported = ""
        while not over.wait(_LOOK_S):
            try:
                self._commit_closed()
            except Exception as error:  # the matches play on; if it stays, it ends the micro-batch
                if reported != (reported := one_line(error)):
                    _log.warning("a window is not committed yet: %s", reported)

    def _commit_closed(self) -> None:
        """Commits the windows that have closed and whose state is stored, of each match in their order.

        A seat that asks for a turn gets it after that.
        """
        with self._committing:
            for number, results in enumerate(self._results):
                wanted = self.seats[number].wanted()
                for closed in results.ready(lambda match, end, epoch: self._states(match).has(end, epoch)):
                    if closed.failed:
                        self._exclude(closed.match, closed.failed)
                    else:
                        self._commit_window(closed)
                if wanted:
                    self._begin_turn(number, wanted)

    def _begin_turn(self, number: int, turn: str) -> None:
        """What the turn before has given and is not committed is given up: it is played again."""
        self._results[number] = WindowResults(self._folders[number] / turn)
        shutil.rmtree(self._folders[number], ignore_errors=True)
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


def _run_quietly(job: DataFrame) -> None:
    """Runs a job that only prepares: if it fails, what it is for comes later, and slower."""
    try:
        job.collect()
    except (Py4JError, PySparkException) as error:
        _log.warning("a process begins cold: %s", one_line(error))


def keep_running(
    folder: Path, begin: Callable[[], StreamingQuery], progress: Callable[[], int], stop: threading.Event
) -> None:
    """Starts a query, and starts it again when it fails, as long as it gets further; while the disk is full it waits.

    Args:
        folder: of the run; a file ``stop`` in it asks the sources to end.
        begin: starts the query.
        progress: how many windows and micro-batches are committed.
        stop: asks for the end.

    Raises:
        HostError: the query keeps failing, or Spark is gone.
    """
    failures, room = 0, Room(folder, stop)
    while True:
        before = progress()
        try:
            query = begin()
            while not query.awaitTermination(_LOOK_S):
                if stop.is_set():
                    (folder / STOP).touch()
            return
        except (Py4JError, PySparkException, OSError) as error:
            if is_full(error):  # the first: where a query begins, Spark says it by an error of Java's
                room.wait(error)
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
    """Spark's reason without its traceback: the last line that says something of Python's, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if "Error: " in line and not line.startswith(("at ", "org.", "Caused"))]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0]
