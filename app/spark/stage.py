"""Engine stage of a seat: runs under ``mapInArrow`` over the rows of an open micro-batch, with one pipeline per match.

Theory of operation
-------------------
Rows arrive while the micro-batch is open. The stage pushes each block through its match's pipeline at once and sends
the updates to the hub at once. When a window closes, the stage writes its rows to a file (:mod:`app.spark.results`);
it returns no rows to Spark. The update stream is thus early and may be withdrawn; the store is later and final.

*Start of a window.* The stage continues with the pipeline that this process has cached, if that pipeline stands at the
window's start and no other stage has claimed an epoch since. Otherwise it restores the stored state of that offset
under a new epoch. The cached pipeline leaves the cache while a window is open, so a window that fails cannot leave a
half-advanced pipeline behind.

*End of a window.* A child process stores the state (:mod:`app.pipeline.state_child`) while the stage works on the next
window. The driver commits a window when its state is stored. If it cannot be stored, the stage gets the error in the
next window: a full disk or a killed child ends the task, another error fails the match.

*Backpressure.* The stage takes the next row when it has processed one, and Spark reads only what fits into its buffers
ahead of it. A window cannot close before the state of the window before is stored. Sending waits for a slow hub.

*Failures.* A match fails alone: an error of its input or pipeline excludes that match with the reason, and the seat
continues. Only an error that belongs to no single match ends the task, which Spark then restarts: the connection to the
hub is broken, the disk is full, or the input stopped without the row that closes its window (its process was killed).
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from app.base.errors import reason_of
from app.base.garbage import collect_rarely
from app.base.logs import log_event, log_in_worker
from app.hub.client import HubAddress, HubClient, HubConnectionError
from app.nodes.live import LiveNodes, serve_node
from app.nodes.mesh import NodeConnectionError
from app.pipeline.disk_full import is_full
from app.pipeline.framing import together, unpack
from app.pipeline.options import load_pipeline
from app.pipeline.seal import StateError
from app.pipeline.state_child import StateChild, StorerKilledError
from app.pipeline.state_store import StateStore
from app.sources.registry import load_source
from app.spark.barrier import join_nodes
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig
from football.update_stream import UpdateMessage
from middleware.events import BEGINNING_US

_log = logging.getLogger(__name__)

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class StageError(RuntimeError):
    """The input ended before its window was closed, or continued after it. Spark must repeat the task."""


class CachedPipeline(msgspec.Struct, frozen=True):
    """A pipeline between two windows: the offset reached, its epoch, and the child that stores its state there."""

    offset: int
    epoch: int
    pipeline: Any
    storing: StateChild


#: Pipelines and connections of this process; Spark keeps its workers between micro-batches.
_cached_pipelines: dict[tuple[str, str], CachedPipeline] = {}
_clients: dict[HubAddress, HubClient] = {}


def seat_stage(folder: str, results: str, hub: HubAddress, nodes: int = 1) -> Stage:
    """Function for ``mapInArrow`` that runs the engines of a seat; with several nodes, as barrier tasks.

    Args:
        folder: of the seat.
        results: folder for the closed windows.
        hub: receives the update stream.
        nodes: of the seat's only match.
    """

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if nodes == 1:
            return run_seat(Seat(folder), Path(results), hub, batches)
        return _run_node(Seat(folder), Path(results), hub, batches)

    return stage


def _run_node(
    seat: Seat, results: Path, hub: HubAddress, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs one node of a match: node 0 as :func:`run_seat`, the others until node 0 ends them."""
    log_in_worker()
    collect_rarely()
    with join_nodes(hub.token) as mesh:
        if mesh.me == 0:
            yield from run_seat(seat, results, hub, batches, LiveNodes(mesh))
            return
        (match,) = (entry.match for entry in seat.entries())
        config = seat.stage(match)
        log_event(_log, logging.INFO, "node begins", match, node=mesh.me)
        serve_node(mesh, config.sheet, config.settings, config.placement)
    for _ in batches:  # Spark reuses only a process that has consumed its whole input
        pass


def warm_up_stage(folder: str, blocks: int) -> Callable[[Iterator[int]], Iterator[int]]:
    """Function for ``mapPartitions`` that makes the engine process of a seat ready for its first window.

    The process imports what it needs and warms up on ``blocks`` blocks of the first match. It also completes the
    settings of the matches whose configuration says so.
    """

    def stage(numbers: Iterator[int]) -> Iterator[int]:
        log_in_worker()
        seat, began_s = Seat(folder), time.monotonic()
        for number, entry in enumerate(seat.entries()):
            config = seat.stage(entry.match)
            if number and not config.measures:
                continue
            sample = load_source(entry.kind).sample(entry.spec)
            settings = load_pipeline(config.pipeline).warm_up(config.sheet, config.settings, sample, blocks)
            if config.measures:
                seat.write_stage(entry.match, msgspec.structs.replace(config, settings=settings))
            log_event(_log, logging.INFO, "process is warm", entry.match, took_s=round(time.monotonic() - began_s, 3))
        yield from numbers  # Spark reuses only a process that has consumed its whole input

    return stage


def run_seat(
    seat: Seat, results: Path, hub: HubAddress, batches: Iterator[pa.RecordBatch], nodes: LiveNodes | None = None
) -> Iterator[pa.RecordBatch]:
    """Feeds rows to the pipelines of their matches, and writes each closed window, or failure, to a file.

    Args:
        seat: of the matches.
        results: folder in which each turn has a subfolder.
        hub: receives the update stream.
        batches: rows of the source.
        nodes: of the seat's only match; None if it has one.

    Raises:
        StageError: the input ended before a window was closed.
        HubConnectionError: the connection to the hub is broken.
        NodeConnectionError: a node is gone.
        OSError: the disk is full, or this turn is over.
    """
    log_in_worker()
    collect_rarely()
    matches: dict[str, _SeatedMatch] = {}
    turn: WindowResults | None = None
    for batch in batches:
        for row in batch.to_pylist():
            if not row["frames"]:  # it only flushes the row before it, see app.spark.source
                continue
            # Results go to the turn of the first row: if Spark restarts the task, that folder is never read.
            turn = turn or WindowResults(results / seat.turn())
            if row["match"] not in matches:
                matches[row["match"]] = _SeatedMatch(seat, row["match"], hub, nodes)
            if closed := matches[row["match"]].take(row):
                turn.put(closed)
    for match in matches.values():
        if turn is not None and (closed := match.end()):
            turn.put(closed)
    if nodes is not None:
        _cached_pipelines.clear()  # the other nodes end with this micro-batch
        nodes.end()
    yield from ()


class _SeatedMatch:
    """A match during one micro-batch: its open window if it has one; or failed."""

    def __init__(self, seat: Seat, match: str, hub: HubAddress, nodes: LiveNodes | None) -> None:
        self._seat, self._match, self._hub, self._nodes = seat, match, hub, nodes
        self._stage: OpenWindow | None = None
        self._storing: StateChild | None = None
        self._failed = False
        self._at = 0

    def take(self, row: dict[str, Any]) -> ClosedWindow | None:
        """Processes a row, unless the match has failed. Returns the closed window or the failure, else None."""
        if self._failed:
            return None
        self._at = row["start"]
        if row["closing"] and (reason := row["frames"].rstrip(b"\0").decode()):
            return self._fail(reason)
        try:
            if self._stage is None:
                config = self._seat.stage(self._match)
                self._stage = OpenWindow(config, self._match, row["start"], self._hub, self._nodes)
            self._stage.take(row)
            if not row["closing"]:
                return None
            closed, self._storing = self._stage.close()
            self._stage = None
            return closed
        except Exception as error:
            return self._fail_or_raise(error)

    def end(self) -> ClosedWindow | None:
        """Waits until the last state is stored. Returns the failure if it cannot be.

        Raises:
            StageError: its window is open.
        """
        if self._stage is not None and not self._failed:
            raise StageError(f"match {self._match}: the input ended before its window did, which began at {self._at}")
        try:
            if self._storing is not None:
                self._storing.wait()
        except Exception as error:
            return self._fail_or_raise(error)
        return None

    def _fail_or_raise(self, error: Exception) -> ClosedWindow:
        """Fails the match for an error of its own; raises any other error, which ends the task."""
        if isinstance(error, HubConnectionError | NodeConnectionError | StageError | StorerKilledError) or is_full(
            error
        ):
            raise error
        return self._fail(reason_of(error))

    def _fail(self, reason: str) -> ClosedWindow:
        """Marks the match as failed, waits for the child that stores its last state, and returns the failure."""
        self._failed = True
        with contextlib.suppress(OSError, StateError, StorerKilledError):
            if self._storing is not None:
                self._storing.wait()
        log_event(_log, logging.ERROR, "match failed", self._match, error=reason)
        return ClosedWindow(self._match, self._at, self._at, 0, failed=reason)


class OpenWindow:
    """A window of one match, from its first row to its closing row; runs the match's pipeline.

    Args:
        config: of the match's engine.
        match: key of the match.
        start: offset at which the window begins.
        hub: receives the update stream.
        nodes: of the match; None if it has one.
    """

    def __init__(
        self, config: StageConfig, match: str, start: int, hub: HubAddress, nodes: LiveNodes | None = None
    ) -> None:
        self._config, self._match, self._start, self._end = config, match, start, start
        self._store = StateStore(Path(config.states), match)
        cached = _cached_pipelines.pop((config.states, match), None)
        self._storing: StateChild | None = None
        if cached is not None and (cached.offset, cached.epoch) == (start, self._store.newest_epoch()):
            self._epoch, self._pipeline, self._storing, origin = cached.epoch, cached.pipeline, cached.storing, "memory"
        else:
            if cached is not None:
                # This child may still be storing the state to restore.
                with contextlib.suppress(OSError, StateError, StorerKilledError):
                    cached.storing.wait()
            origin = "nothing" if start == config.begin else "stored state"
            self._epoch = self._store.claim_epoch()
            self._pipeline = _stored_pipeline(config, self._store, start, self._epoch, nodes)
        self._hub, self._nodes = hub, nodes
        self._client = _client(hub)
        self._blocks = self._portions = 0
        log_event(_log, logging.INFO, "window begins", match, start=start, epoch=self._epoch, goes_on_from=origin)
        self._closed = self._last = False

    def take(self, row: dict[str, Any]) -> None:
        """Processes one row: a few blocks, or the row that closes the window.

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
        # Only a pipeline that adapts to load gets portions of several blocks. They depend on the wall clock, so a
        # redone window may emit its updates at other moments.
        pipeline = self._pipeline
        portions = together(blocks, _wall_us(), pipeline.far_behind_us) if pipeline.adapts else ([b] for b in blocks)
        for portion in portions:
            stage_wall_us = _wall_us()
            self._blocks += len(portion)
            self._portions += 1
            far_behind = bool(due_us := portion[0][1]) and stage_wall_us - due_us > pipeline.far_behind_us
            message = pipeline.push_together(portion, BEGINNING_US if far_behind else None)
            self._publish(message, stage_wall_us)
            pipeline.measure_in_pause()

    def close(self) -> tuple[ClosedWindow, StateChild]:
        """Returns the window's result and the child that stores the state at its end; caches the pipeline.

        The pipeline of a match that has ended is not cached: a process may play many matches.

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
        self._pipeline.inspect_detectors()
        if self._nodes is not None:
            self._nodes.cut()
        make, maker = self._pipeline.snapshot, self._pipeline.maker
        storing = StateChild(self._store, self._end, self._epoch, make, maker, last=self._last)
        log_event(
            _log, logging.INFO, "window closed", self._match, end=self._end, epoch=self._epoch, last=self._last,
            blocks=self._blocks, portions=self._portions, rows={name: len(table) for name, table in tables.items()},
            closing_ms=(_wall_us() - began_us) / 1e3,
        )  # fmt: skip
        if not self._last:
            _cached_pipelines[(self._config.states, self._match)] = CachedPipeline(
                self._end, self._epoch, self._pipeline, storing
            )
        bodies = {name: ipc_bytes(table) for name, table in tables.items()}
        return ClosedWindow(self._match, self._start, self._end, self._epoch, bodies, meta), storing

    def _publish(self, message: UpdateMessage | None, stage_wall_us: int) -> None:
        if message is not None:
            stamped = msgspec.structs.replace(message, stage_wall_us=stage_wall_us, sent_wall_us=_wall_us())
            try:
                self._client.send(stamped)
            except HubConnectionError:
                _clients.pop(self._hub, None)  # the repeated task, perhaps in this process, must reconnect
                raise


def ipc_bytes(table: pa.Table) -> bytes:
    """Encodes a table as one Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def table_of(body: bytes) -> pa.Table:
    """Decodes a table from one Arrow IPC stream."""
    return pa.ipc.open_stream(body).read_all()


def _stored_pipeline(config: StageConfig, store: StateStore, start: int, epoch: int, nodes: LiveNodes | None) -> Any:
    """Creates a pipeline of a new epoch at ``start``: restored, or an empty one at the match's beginning."""
    more = {} if nodes is None else {"make_engine": nodes.maker(config.placement, Path(config.states).parent)}
    pipeline = load_pipeline(config.pipeline)(config.sheet, config.settings, epoch, **more)
    if start > config.begin:
        pipeline.restore(store.read(start, pipeline.maker))
    return pipeline


def _client(hub: HubAddress) -> HubClient:
    """Returns this process's connection to the hub; opens it at the first call."""
    if hub not in _clients:
        _clients[hub] = HubClient(hub)
    return _clients[hub]


def _wall_us() -> int:
    return time.time_ns() // 1000
