"""The engine stage: what ``mapInArrow`` runs over the rows of an open batch, one pipeline per match.

Theory of operation
-------------------
Rows come while the batch is open. Each block goes through the match's pipeline at once, and what that says
leaves at once on the fast lane. To Spark the stage gives rows only when its range is closed: tables to commit,
and what the committer needs to know. So the lane is early and may have to be taken back; the store is late
and final.

Where a stage starts. From the pipeline that this process kept, if that one stands at the batch's start
offset and nobody has claimed an epoch since; else from the stored state of that offset, with a new epoch.
A kept pipeline is taken out of the keep while a batch runs, so a batch that failed never leaves one behind
that stands somewhere in its middle.

The state at the end of a range is stored by a child process (:mod:`app.pipeline.state_child`) while the next range is
worked on. The range is committed when the state is there. If it cannot be stored, the next range fails.

When a stage ends. Only the row marked ``closing`` ends a range. Input that stops without it (a source worker
was killed, the driver is gone) raises, and the batch is done again.
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

from app.base.garbage import collect_rarely
from app.base.logs import log_event, log_in_worker
from app.hub.client import HubAddress, HubClient, HubConnectionError
from app.pipeline.framing import together, unpack
from app.pipeline.options import load_pipeline
from app.pipeline.seal import StateError
from app.pipeline.state_child import StateChild
from app.pipeline.state_store import StateStore
from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage
from replay.capture import Capture

#: What a closed range gives to Spark's sink: one row per table, and one with an empty name for the range itself.
SCHEMA = "match string, start bigint, end bigint, name string, body binary, meta string"

_ARROW_SCHEMA = pa.schema(
    [
        ("match", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("name", pa.string()),
        ("body", pa.binary()),
        ("meta", pa.string()),
    ]
)

#: Of what the committer needs to know, which he takes out again: who stores the state
#: (:mod:`app.pipeline.state_child`).
KEEPERS = "keepers"

_log = logging.getLogger(__name__)

_WARM_UP_BLOCKS, _WAKE_BLOCKS = 500, 100

#: They are looked for in the beginning of a capture only: it may still grow.
_WARM_UP_US = 10_000_000


class StageError(RuntimeError):
    """A batch's input ended before its range did; the batch must be done again."""


class StageConfig(msgspec.Struct, frozen=True):
    """What a stage needs to know; travels to the workers.

    Attributes:
        sheet: match sheet of the capture.
        settings: handed to the pipeline.
        pipeline: ``module:class`` of the pipeline.
        states: folder of the state store.
        begin: offset before the first block, the only one that needs no stored state.
        lane: the hub.
    """

    sheet: MatchSheet
    settings: Any
    pipeline: str
    states: str
    begin: int
    lane: HubAddress


class Kept(msgspec.Struct, frozen=True):
    """A pipeline between two windows, the offset and epoch at which it stands, and who stores its state of there."""

    offset: int
    epoch: int
    pipeline: Any
    storing: StateChild


class Window(msgspec.Struct, frozen=True):
    """A closed window: its offsets, its tables as Arrow IPC streams, what the committer needs to know, and who stores
    the state at its end."""

    start: int
    end: int
    tables: dict[str, bytes]
    meta: dict[str, Any]
    storing: StateChild


#: Pipelines and connections of this process; Spark keeps its workers between batches.
_kept: dict[tuple[str, str], Kept] = {}
_lanes: dict[HubAddress, HubClient] = {}


def engine_stage(config: StageConfig) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for ``mapInArrow``."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_stage(config, batches)

    return stage


def run_stage(config: StageConfig, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Feeds rows to the pipelines of their matches; yields what is to be committed once all ranges are closed.

    Raises:
        StageError: the input ended before a range was closed.
        StateError, HubConnectionError: see there.
        OSError: the state of the window before could not be stored.
    """
    log_in_worker()
    collect_rarely()
    matches: dict[str, MatchStage] = {}
    try:
        for batch in batches:
            for row in batch.to_pylist():
                if not row["frames"]:  # only there to push the row before it out, see app.spark.source
                    continue
                if row["match"] not in matches:
                    matches[row["match"]] = MatchStage(config, row["match"], row["start"], row["end"])
                matches[row["match"]].take(row)
        for name, match in matches.items():
            window = match.close()
            for table, body in window.tables.items():
                yield result_row(name, window.start, window.end, table, body, "")
            meta = {**window.meta, KEEPERS: window.storing.keepers}
            yield result_row(name, window.start, window.end, "", b"", msgspec.json.encode(meta).decode())
    except Exception as error:
        log_event(_log, logging.ERROR, "batch failed", ", ".join(matches), error=f"{type(error).__name__}: {error}")
        raise


def waking_stage(config: StageConfig, capture: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A stage that only has its process import what a stage needs, and compile the most of it."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        warm_up(config, capture, _WAKE_BLOCKS)
        yield from batches  # Spark keeps only a process that has taken all that it was given

    return stage


def warm_up(config: StageConfig, capture: Path, blocks_most: int = _WARM_UP_BLOCKS) -> None:
    """Pushes the first blocks through a pipeline that is thrown away: imports and compiles what a batch will need."""
    opened = Capture.open(capture)
    pipeline = load_pipeline(config.pipeline)(config.sheet, config.settings, 0)
    blocks = opened.payloads(opened.begin_us, opened.begin_us + _WARM_UP_US)
    for arrival_us, payload in islice(blocks, blocks_most):
        pipeline.push(payload, arrival_us, 0)
    pipeline.take_tables()
    pipeline.settle()
    pipeline.snapshot()


class MatchStage:
    """One match during one batch."""

    def __init__(self, config: StageConfig, match: str, start: int, end: int) -> None:
        self._config, self._match, self._start, self._end = config, match, start, end
        self._store = StateStore(Path(config.states), match)
        kept = _kept.pop((config.states, match), None)
        self._storing: StateChild | None = None
        if kept is not None and (kept.offset, kept.epoch) == (start, self._store.newest_epoch()):
            self._epoch, self._pipeline, self._storing, origin = kept.epoch, kept.pipeline, kept.storing, "memory"
        else:
            if kept is not None:
                with contextlib.suppress(OSError, StateError):  # what it stores may be what is gone on from
                    kept.storing.wait()
            origin = "nothing" if start == config.begin else "stored state"
            self._epoch = self._store.claim_epoch()
            self._pipeline = _stored_pipeline(config, self._store, start, self._epoch)
        self._lane = _lane(config.lane)
        self._blocks = self._portions = 0
        log_event(
            _log, logging.INFO, "window begins", match, start=start, end=end, epoch=self._epoch, goes_on_from=origin
        )
        self._closed = self._last = False

    def take(self, row: dict[str, Any]) -> None:
        """Works on one row: a few blocks, or the row that closes the range."""
        assert not self._closed, f"match {self._match}: a row after the closing one"
        if self._storing is not None:
            self._storing.check()
        if row["closing"]:
            if row["last"]:
                self._publish(self._pipeline.finish(), _wall_us())
            self._closed, self._last, self._end = True, row["last"], row["end"]  # some learn only now where it ends
            return
        blocks = unpack(row["frames"])
        # What follows the load may speak at other moments; what does not says the same again whenever it is redone.
        for portion in together(blocks, _wall_us()) if self._pipeline.adapts else ([block] for block in blocks):
            stage_wall_us = _wall_us()
            self._blocks += len(portion)
            self._portions += 1
            self._publish(self._pipeline.push_together(portion), stage_wall_us)
            self._pipeline.pause()

    def close(self) -> Window:
        """Has the state at the end of the range stored beside what comes next, and keeps the pipeline.

        Raises:
            StageError: the range is not closed.
            OSError, StateError: the state of the range before could not be stored.
        """
        if not self._closed:
            raise StageError(f"match {self._match}: the input of {self._start}..{self._end} ended before its range did")
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
        return Window(self._start, self._end, bodies, meta, storing)

    def _publish(self, message: UpdateMessage | None, stage_wall_us: int) -> None:
        if message is not None:
            stamped = msgspec.structs.replace(message, stage_wall_us=stage_wall_us, sent_wall_us=_wall_us())
            try:
                self._lane.send(stamped)
            except HubConnectionError:
                _lanes.pop(self._config.lane, None)  # the redo, perhaps in this process, shall connect anew
                raise


def result_row(match: str, start: int, end: int, name: str, body: bytes, meta: str) -> pa.RecordBatch:
    """A row of :data:`SCHEMA`."""
    values = [[match], [start], [end], [name], [body], [meta]]
    columns = [pa.array(value, field.type) for value, field in zip(values, _ARROW_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)


def ipc_bytes(table: pa.Table) -> bytes:
    """A table as one Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _stored_pipeline(config: StageConfig, store: StateStore, start: int, epoch: int) -> Any:
    """A pipeline of a new epoch at ``start``: restored, or a new one at the very beginning."""
    pipeline = load_pipeline(config.pipeline)(config.sheet, config.settings, epoch)
    if start > config.begin:
        pipeline.restore(store.read(start, pipeline.maker))
    return pipeline


def _lane(address: HubAddress) -> HubClient:
    """This process's connection to the hub."""
    if address not in _lanes:
        _lanes[address] = HubClient(address)
    return _lanes[address]


def _wall_us() -> int:
    return time.time_ns() // 1000
