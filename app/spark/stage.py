"""The engine stage of a seat: what ``mapInArrow`` runs over the rows of an open micro-batch, one pipeline a match.

Theory of operation
-------------------
Rows come while the micro-batch is open. Each block goes through its match's pipeline at once, and what that gives
leaves at once on the update stream to the hub. What a window gives to commit is written to a file when it closes
(:mod:`app.spark.results`); Spark gets no rows. So the update stream is early and may have to be taken back; the store
is late and final.

Where a window starts. From the pipeline that this process kept, if that one stands at the window's start and no other
stage has claimed an epoch since; else from the stored state of that offset, with a new epoch. A kept pipeline is taken
out of the cache while a window is open, so one that failed never leaves a pipeline behind that stands in its middle.

The state at the end of a window is stored by a child process (:mod:`app.pipeline.state_child`) while the next window is
worked on. The driver commits a window when its state is there. If it cannot be stored, the next window fails.

A match that fails ends alone: what its input or pipeline raises excludes that match with the reason, and the seat plays
on. Only an error of no single match ends the task, which Spark then begins again: the connection to the hub is broken,
the disk is full, or the input stopped without the row that closes its window (a source process was killed).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from app.base.errors import reason_of
from app.base.garbage import collect_rarely
from app.base.logs import log_event, log_in_worker
from app.hub.client import HubAddress, HubClient, HubConnectionError
from app.pipeline.disk_full import is_full
from app.pipeline.framing import together, unpack
from app.pipeline.options import load_pipeline
from app.pipeline.seal import StateError
from app.pipeline.state_child import StateChild, StorerKilledError
from app.pipeline.state_store import StateStore
from app.sources.interface import Entry
from app.sources.registry import load_source
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig
from football.update_stream import UpdateMessage

_log = logging.getLogger(__name__)

#: Blocks on which a process warms up: before a match begins, and where one goes on that does not wait.
WARM_UP_BLOCKS, HASTY_WARM_UP_BLOCKS = 500, 100

#: They are looked for in the beginning of a recording only: it may still grow.
_WARM_UP_US = 10_000_000

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class StageError(RuntimeError):
    """The input ended before its window did, or went on after it; the task must be done again."""


class Kept(msgspec.Struct, frozen=True):
    """A pipeline between two windows, the offset and epoch at which it stands, and the child that stores its state."""

    offset: int
    epoch: int
    pipeline: Any
    storing: StateChild


#: Pipelines and connections of this process; Spark keeps its workers between micro-batches.
_kept: dict[tuple[str, str], Kept] = {}
_clients: dict[HubAddress, HubClient] = {}


def seat_stage(folder: str, results: str, hub: HubAddress) -> Stage:
    """The function for ``mapInArrow``, for the seat in ``folder``; what its windows give goes to ``results``.

    Args:
        hub: where the update stream goes.
    """

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_seat(Seat(folder), Path(results), hub, batches)

    return stage


def waking_stage(folder: str, blocks: int) -> Stage:
    """A stage by which a process of the seat in ``folder`` imports what it needs, and warms up on so many blocks."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        log_in_worker()
        seat, began_s = Seat(folder), time.monotonic()
        for entry in seat.entries()[:1]:
            load_source(entry.source).sample(entry.spec)
            if blocks:
                warm_up(seat.stage(entry.match), entry, blocks)
            log_event(_log, logging.INFO, "process is warm", entry.match, took_s=round(time.monotonic() - began_s, 3))
        yield from batches  # Spark keeps only a process that has taken all that it was given

    return stage


def warm_up(config: StageConfig, entry: Entry, blocks: int = WARM_UP_BLOCKS) -> None:
    """Pushes the first blocks through a pipeline that is thrown away: imports and compiles what a window will need."""
    sample = load_source(entry.source).sample(entry.spec)
    pipeline = load_pipeline(config.pipeline)(config.sheet, config.settings, 0)
    payloads = sample.payloads(sample.begin_us, sample.begin_us + _WARM_UP_US)
    for arrival_us, payload in islice(payloads, blocks):
        pipeline.push(payload, arrival_us, 0)
    pipeline.take_tables()
    pipeline.settle()
    pipeline.snapshot()


def run_seat(seat: Seat, results: Path, hub: HubAddress, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Feeds rows to the pipelines of their matches, and writes down what their windows give, or why one failed.

    Args:
        seat: of the matches.
        results: a folder in which each turn has one.
        hub: where the update stream goes.
        batches: rows of the source.

    Raises:
        StageError: the input ended before a window was closed.
        HubConnectionError: the hub is gone.
        OSError: the disk is full, or this turn is over.
    """
    log_in_worker()
    collect_rarely()
    matches: dict[str, _SeatedMatch] = {}
    turn: WindowResults | None = None
    for batch in batches:
        for row in batch.to_pylist():
            if not row["frames"]:  # only there to push the row before it out, see app.spark.source
                continue
            # Results go to the turn of the first row: if the task is begun again, that folder is never read.
            turn = turn or WindowResults(results / seat.turn())
            if row["match"] not in matches:
                matches[row["match"]] = _SeatedMatch(seat, row["match"], hub)
            if closed := matches[row["match"]].take(row):
                turn.put(closed)
    for match in matches.values():
        if turn is not None and (closed := match.end()):
            turn.put(closed)
    yield from ()


class _SeatedMatch:
    """A match during one micro-batch, playing or failed."""

    def __init__(self, seat: Seat, match: str, hub: HubAddress) -> None:
        self._seat, self._match, self._hub = seat, match, hub
        self._stage: MatchStage | None = None
        self._storing: StateChild | None = None
        self._failed = False
        self._at = 0

    def take(self, row: dict[str, Any]) -> ClosedWindow | None:
        """Works on a row, unless the match has failed; what its window gives if it closes it, or why it fails now."""
        if self._failed:
            return None
        self._at = row["start"]
        if row["closing"] and (reason := row["frames"].rstrip(b"\0").decode()):
            return self._fail(reason)
        try:
            if self._stage is None:
                self._stage = MatchStage(self._seat.stage(self._match), self._match, row["start"], self._hub)
            self._stage.take(row)
            if not row["closing"]:
                return None
            closed, self._storing = self._stage.close()
            self._stage = None
            return closed
        except Exception as error:
            return self._own(error)

    def end(self) -> ClosedWindow | None:
        """Returns when its last state is stored; why it fails if it cannot be.

        Raises:
            StageError: its window is open.
        """
        if self._stage is not None and not self._failed:
            raise StageError(f"match {self._match}: the input ended before its window did, which began at {self._at}")
        try:
            if self._storing is not None:
                self._storing.wait()
        except Exception as error:
            return self._own(error)
        return None

    def _own(self, error: Exception) -> ClosedWindow:
        """Fails the match for an error of its own; raises an error that is of no single match."""
        if isinstance(error, HubConnectionError | StageError | StorerKilledError) or is_full(error):
            raise error
        return self._fail(reason_of(error))

    def _fail(self, reason: str) -> ClosedWindow:
        """The match does not go on. Once this is written, the state of its last window is there or will never be."""
        self._failed = True
        with contextlib.suppress(OSError, StateError, StorerKilledError):
            if self._storing is not None:
                self._storing.wait()
        log_event(_log, logging.ERROR, "match failed", self._match, error=reason)
        return ClosedWindow(self._match, self._at, self._at, 0, failed=reason)


class MatchStage:
    """One match during one window."""

    def __init__(self, config: StageConfig, match: str, start: int, hub: HubAddress) -> None:
        self._config, self._match, self._start, self._end = config, match, start, start
        self._store = StateStore(Path(config.states), match)
        kept = _kept.pop((config.states, match), None)
        self._storing: StateChild | None = None
        if kept is not None and (kept.offset, kept.epoch) == (start, self._store.newest_epoch()):
            self._epoch, self._pipeline, self._storing, origin = kept.epoch, kept.pipeline, kept.storing, "memory"
        else:
            if kept is not None:
                # It may store the state to start from.
                with contextlib.suppress(OSError, StateError, StorerKilledError):
                    kept.storing.wait()
            origin = "nothing" if start == config.begin else "stored state"
            self._epoch = self._store.claim_epoch()
            self._pipeline = _stored_pipeline(config, self._store, start, self._epoch)
        self._hub = hub
        self._client = _client(hub)
        self._blocks = self._portions = 0
        log_event(_log, logging.INFO, "window begins", match, start=start, epoch=self._epoch, goes_on_from=origin)
        self._closed = self._last = False

    def take(self, row: dict[str, Any]) -> None:
        """Works on one row: a few blocks, or the row that closes the window.

        Raises:
            StageError: the window is closed already.
            OSError, StateError, StorerKilledError: the state of the window before could not be stored.
        """
        if self._closed:
            raise StageError(f"match {self._match}: a row after the one that closes its window")
        if self._storing is not None:
            self._storing.check()
        if row["closing"]:
            if row["last"]:
                self._publish(self._pipeline.finish(), _wall_us())
            self._closed, self._last, self._end = True, row["last"], row["end"]
            return
        blocks = unpack(row["frames"])
        # A pipeline that adapts to load may emit at other moments when it is redone; one that does not repeats itself.
        for portion in together(blocks, _wall_us()) if self._pipeline.adapts else ([block] for block in blocks):
            stage_wall_us = _wall_us()
            self._blocks += len(portion)
            self._portions += 1
            self._publish(self._pipeline.push_together(portion), stage_wall_us)
            self._pipeline.pause()

    def close(self) -> tuple[ClosedWindow, StateChild]:
        """What the window gives, and the child that stores the state at its end; keeps the pipeline.

        Raises:
            StageError: the window is not closed.
            OSError, StateError, StorerKilledError: the state of the window before could not be stored.
        """
        if not self._closed:
            raise StageError(
                f"match {self._match}: the input ended before its window did, which began at {self._start}"
            )
        if self._storing is not None:
            self._storing.wait()
        began_us = _wall_us()
        tables = self._pipeline.take_tables()
        meta = {**self._pipeline.commit_meta(), "epoch": self._epoch, "end_offset": self._end, "last": self._last}
        self._pipeline.settle()
        make, maker = self._pipeline.snapshot, self._pipeline.maker
        storing = StateChild(self._store, self._end, self._epoch, make, maker, last=self._last)
        log_event(
            _log, logging.INFO, "window closed", self._match, end=self._end, epoch=self._epoch, last=self._last,
            blocks=self._blocks, portions=self._portions, rows={name: len(table) for name, table in tables.items()},
            closing_ms=(_wall_us() - began_us) / 1e3,
        )  # fmt: skip
        _kept[(self._config.states, self._match)] = Kept(self._end, self._epoch, self._pipeline, storing)
        bodies = {name: ipc_bytes(table) for name, table in tables.items()}
        return ClosedWindow(self._match, self._start, self._end, self._epoch, bodies, meta), storing

    def _publish(self, message: UpdateMessage | None, stage_wall_us: int) -> None:
        if message is not None:
            stamped = msgspec.structs.replace(message, stage_wall_us=stage_wall_us, sent_wall_us=_wall_us())
            try:
                self._client.send(stamped)
            except HubConnectionError:
                _clients.pop(self._hub, None)  # the redo, perhaps in this process, shall connect anew
                raise


def ipc_bytes(table: pa.Table) -> bytes:
    """A table as one Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def table_of(body: bytes) -> pa.Table:
    """A table out of one Arrow IPC stream."""
    return pa.ipc.open_stream(body).read_all()


def _stored_pipeline(config: StageConfig, store: StateStore, start: int, epoch: int) -> Any:
    """A pipeline of a new epoch at ``start``: restored, or a new one at the very beginning."""
    pipeline = load_pipeline(config.pipeline)(config.sheet, config.settings, epoch)
    if start > config.begin:
        pipeline.restore(store.read(start, pipeline.maker))
    return pipeline


def _client(hub: HubAddress) -> HubClient:
    """This process's connection to the hub."""
    if hub not in _clients:
        _clients[hub] = HubClient(hub)
    return _clients[hub]


def _wall_us() -> int:
    return time.time_ns() // 1000
