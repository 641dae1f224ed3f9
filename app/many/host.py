"""Runs one query over the matches of all seats, and takes matches in while it runs.

Theory of operation
-------------------
The query is the union of its seats: a source and an engine stage each. A seat's Python workers are pooled by their
environment, so with the seat in it a match is always with the engine process that holds its pipeline, and as many
engines work at a time as there are seats.

A batch of Spark's is many windows of every match long. Windows close when it is their time, match by match, and what
they give is put down by the engine (:mod:`app.many.results`); a thread of the driver commits each when its state is
stored. So Spark's turn-around, for which all seats stand still together, comes once in many windows (decision 023). A
task that fails is begun again by Spark while the other seats play on; like each that begins it asks for a *turn*, and
goes on from where the stores are then. So a query can be started before its matches begin: its seats wait for their
first turn until :meth:`ManyHost.run` gives it, and what Spark needs to start a query is not the matches' time.

Where a match goes on is told by its store: what is committed, and the engine state at that offset. So each query
begins with an empty checkpoint of Spark's, its rosters say from which offset each match is to be played, and a query
that fails is followed by one that begins where the stores end. What an earlier turn has left uncommitted is not
looked at: it is played again. A capture gives the same blocks for a range whichever windows it is read in, and so the
same events; so does a topic.

A new match goes to the seat with the least positions a second, which takes it in beside the others.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from app.base.errors import one_line
from app.many.results import Closed, Results
from app.many.roster import Entry, Seat
from app.many.source import NAME, SeatSource
from app.many.stage import Stage, seat_stage, warming_stage
from app.pipeline.state_store import StateStore
from app.spark.host import STOP, keep_running, table_of
from app.spark.source import WINDOWS
from app.spark.stage import SCHEMA, StageConfig
from replay.capture import Capture

_WARM_UP_BATCHES, _WARM_UP_WINDOWS = 3, 4
_WARM_UP_WINDOW_US = 200_000

#: So long it is waited for the seats of a query to ask for their first turn: no longer than they wait for it.
_READY_S = 30.0

#: So often it is looked for windows that have closed.
_LOOK_S = 0.1

_log = logging.getLogger(__name__)


class Player(msgspec.Struct, frozen=True):
    """A match as the host takes it.

    Attributes:
        entry: where it is read, from the beginning; what is committed of it is left out.
        stage: how its engine is made.
        positions_hz: how much it is.
    """

    entry: Entry
    stage: StageConfig
    positions_hz: float


class Stores(Protocol):
    """Who keeps what is committed of each match."""

    def offset(self, match: str) -> int:
        """Offset up to which everything of a match is committed."""
        ...

    def has_ended(self, match: str) -> bool:
        """Whether a match is over and all of it committed."""
        ...

    def commit(self, match: str, tables: dict[str, pa.Table], meta: dict[str, Any]) -> None:
        """Makes a range durable that begins where the last one ended."""
        ...

    def failed(self, match: str, reason: str) -> None:
        """A match does not go on."""
        ...


class ManyHost:
    """One query over any number of matches.

    Args:
        session: with a slot a seat.
        folder: for rosters, checkpoint and flags.
        seats: how many branches the query has.
        window_us: wall time in one window.
        stores: takes what is committed.
    """

    def __init__(self, session: SparkSession, folder: Path, seats: int, window_us: int, stores: Stores) -> None:
        self._session, self._folder, self._window_us, self._stores = session, folder, window_us, stores
        self._seats = [Seat(folder / f"seat-{number}") for number in range(seats)]
        self._players: list[list[Player]] = [[] for _ in range(seats)]
        self._out: set[str] = set()
        #: Of each seat, where its turns put down what they give; and of the turn that is.
        self._folders: list[Path] = []
        self._results: list[Results] = []
        self._lock, self._committing = threading.Lock(), threading.Lock()
        self._progress = self._queries = 0
        self._begun: StreamingQuery | None = None
        session.sparkContext.environment["TOUCHLINE_ROLE"] = "source"
        session.dataSource.register(SeatSource)
        (folder / STOP).unlink(missing_ok=True)
        for seat in self._seats:
            shutil.rmtree(seat.folder, ignore_errors=True)
            seat.write([])

    def add(self, player: Player) -> None:
        """Takes a match in; while the query runs it begins beside the others."""
        with self._lock:
            load = [sum(p.positions_hz for p in players) for players in self._players]
            number = load.index(min(load))
            self._players[number].append(player)
            self._seats[number].write_stage(player.entry.match, player.stage)
            self._write(number)

    def seat_of(self, match: str) -> int:
        """Number of the seat of a match."""
        return next(n for n, players in enumerate(self._players) if any(p.entry.match == match for p in players))

    def _write(self, number: int) -> None:
        """The roster of a seat: who plays there, and from where on."""
        playing = [player.entry for player in self._players[number] if player.entry.match not in self._out]
        self._seats[number].write([self._from_store(entry) for entry in playing])

    def _from_store(self, entry: Entry) -> Entry:
        begin = self._stores.offset(entry.match)
        over = self._stores.has_ended(entry.match)
        return msgspec.structs.replace(entry, begin=begin, stop_us=begin if over else entry.stop_us)

    def warm_up(self) -> None:
        """Plays a few tiny batches of a match for nothing on every seat, before any clock runs."""
        with self._lock:
            first = next(player for players in self._players for player in players)
            folder = self._folder / "warm-up"
            seats = [Seat(folder / seat.folder.name) for seat in self._seats]
            entry = msgspec.structs.replace(
                first.entry, begin=Capture.open(first.entry.capture).begin_us, speed=0.0, officials=(), in_topic=None
            )
            for seat in seats:
                seat.write([entry])
                seat.write_stage(entry.match, first.stage)

        def ignore(frame: DataFrame, batch_id: int) -> None:
            frame.collect()
            if batch_id + 1 == _WARM_UP_BATCHES:
                for seat in seats:
                    seat.write([])

        stages = [warming_stage(str(seat.folder), first.entry.capture) for seat in seats]
        try:
            self._start(folder, seats, stages, _WARM_UP_WINDOW_US, _WARM_UP_WINDOWS, "no", ignore).awaitTermination()
        except PySparkException as error:  # what it is for comes later, then, and slower
            _log.warning("the matches begin without having warmed up: %s", one_line(error))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def get_ready(self) -> None:
        """Starts the query before any clock runs: when this returns its seats wait for the turn that ``run`` gives."""
        until_s = time.monotonic() + _READY_S
        with suppress(Py4JError, PySparkException, OSError):  # who runs it finds it out, and knows what to do
            self._begun = self._begin()
            while self._begun.isActive and not all(seat.wanted() for seat in self._seats):
                if time.monotonic() > until_s:
                    return
                time.sleep(_LOOK_S)

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

    def _begin(self) -> StreamingQuery:
        """A query from where the stores end; the first time the one that is ready."""
        if self._begun is not None:
            begun, self._begun = self._begun, None
            return begun
        with self._committing, self._lock:
            shutil.rmtree(self._folder / f"query-{self._queries}", ignore_errors=True)
            self._queries += 1
            folder = self._folder / f"query-{self._queries}"
            self._folders = [folder / seat.folder.name for seat in self._seats]
            self._results = [Results(results / "none") for results in self._folders]
            for number, seat in enumerate(self._seats):
                seat.begin_anew()
                self._write(number)
                for player in self._players[number]:
                    seat.anchor(player.entry.match).unlink(missing_ok=True)
        stages = [
            seat_stage(str(seat.folder), str(results)) for seat, results in zip(self._seats, self._folders, strict=True)
        ]
        return self._start(folder, self._seats, stages, self._window_us, WINDOWS, "yes", self._commit)

    def _start(
        self,
        folder: Path,
        seats: list[Seat],
        stages: list[Stage],
        window_us: int,
        windows: int,
        asks: str,
        sink: Callable[[DataFrame, int], Any],
    ) -> StreamingQuery:
        results: DataFrame | None = None
        for number, (seat, stage) in enumerate(zip(seats, stages, strict=True)):
            options = {
                "seat": str(seat.folder), "window_us": str(window_us), "windows": str(windows),
                "stop_flag": str(self._folder / STOP), "asks": asks,
            }  # fmt: skip
            rows = self._session.readStream.format(NAME).options(**options).load()
            self._session.sparkContext.environment["TOUCHLINE_ROLE"] = f"engine-{number}"
            branch = rows.mapInArrow(stage, SCHEMA)
            results = branch if results is None else results.unionAll(branch)
        assert results is not None, "a query has a seat"
        writer = results.writeStream.foreachBatch(sink).option("checkpointLocation", str(folder / "checkpoint"))
        return writer.trigger(availableNow=True).start()

    def _commit(self, frame: DataFrame, batch_id: int) -> None:
        """``foreachBatch``: runs the batch (Spark is lazy), and commits what is not committed yet."""
        frame.collect()
        self._commit_closed()
        with self._lock:
            for number in range(len(self._seats)):
                self._write(number)
        self._progress += 1

    def _keep_committing(self, over: threading.Event) -> None:
        """Commits windows while the batch goes on. What cannot be committed now is tried again."""
        told = ""
        while not over.wait(_LOOK_S):
            try:
                self._commit_closed()
            except Exception as error:  # the matches play on; if it stays, it ends the batch
                if told != (told := one_line(error)):
                    _log.warning("a window is not committed yet: %s", told)

    def _commit_closed(self) -> None:
        """Commits the windows that have closed and whose state is stored, of each match in their order.

        A seat that asks for a turn gets it after that.
        """
        with self._committing:
            for number, results in enumerate(self._results):
                wanted = self._seats[number].wanted()
                for closed in results.ready(lambda match, end, epoch: self._states(match).has(end, epoch)):
                    if closed.failed:
                        self._put_out(closed.match, closed.failed)
                    else:
                        self._commit_window(closed)
                if wanted:
                    self._begin_turn(number, wanted)

    def _begin_turn(self, number: int, turn: str) -> None:
        """What the turn before has given and is not committed is given up: it is played again."""
        self._results[number] = Results(self._folders[number] / turn)
        shutil.rmtree(self._folders[number], ignore_errors=True)
        self._results[number].folder.mkdir(parents=True)
        with self._lock:
            self._write(number)
        self._seats[number].grant(turn)

    def _commit_window(self, closed: Closed) -> None:
        offset = self._stores.offset(closed.match)
        if closed.end <= offset:  # it was, before something failed just after it
            return
        assert closed.start == offset, f"{closed.match}: a window of {closed.start} where {offset} comes next"
        tables = {name: table_of(body) for name, body in closed.tables.items()}
        self._stores.commit(closed.match, tables, closed.meta)
        self._states(closed.match).forget_before(closed.start)
        self._progress += 1

    def _states(self, match: str) -> StateStore:
        player = next(p for players in self._players for p in players if p.entry.match == match)
        return StateStore(Path(player.stage.states), match)

    def _put_out(self, match: str, reason: str) -> None:
        if match not in self._out:
            self._out.add(match)
            self._seats[self.seat_of(match)].put_out(match, reason)
            self._stores.failed(match, reason)
