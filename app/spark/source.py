"""Spark sources over prepared captures: offsets are arrival times, and a batch's end lies in the future.

Theory of operation
-------------------
An offset is an arrival time on the stream's own clock. A range of arrival times names the same blocks of a
capture whenever it is read, so a batch that is done again reads the same records.

Paced (``speed`` 1 or 4), ``latestOffset`` names a time that has not come yet, Spark opens a batch up to it,
and ``read`` yields each block when it is due. So rows flow through an open batch. A batch is :data:`WINDOWS` windows
long, each a partition that the host runs and commits one after the other: what Spark does between batches (planning,
logs) is paid once in so many windows. Unpaced (``speed`` 0), windows are read as fast as they go.

A capture may still grow while it is read: then the reader waits for what its range needs, and learns only at the
range's end whether the match goes on.

The last row of every range is marked ``closing``. Without it, a stage could not tell the end of its range
from a source that died: both look like the end of a stream.

A stop is asked for with a flag file. The open window is then read to its end without pacing, the others of its batch
give nothing, and no further batch is offered: the query ends with everything committed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from app.base.logs import log_event, log_in_worker
from app.base.pace import Waiter, anchored_pace, wall_us
from app.pipeline.framing import pack, pad
from replay.capture import Capture
from replay.official_feed import OfficialFeed

#: One row of the stream: blocks of one match, of one range of its source's offsets. Of the ``closing`` row ``last``
#: tells whether the match ends with this range.
SCHEMA = "match string, start bigint, end bigint, last boolean, closing boolean, frames binary"

_ARROW_SCHEMA = pa.schema(
    [
        ("match", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("last", pa.bool_()),
        ("closing", pa.bool_()),
        ("frames", pa.binary()),
    ]
)

#: Windows of a batch.
WINDOWS = 20

#: A row is handed on at this size at the latest; the limit of what a late reader catches up with in one row.
ROW_BYTES = 256 * 1024

_log = logging.getLogger(__name__)


class CaptureRange(InputPartition):
    """The blocks of one capture with ``start_us <= arrival < end_us``; ``first`` in its batch."""

    def __init__(self, start_us: int, end_us: int, *, first: bool) -> None:
        self.start_us, self.end_us, self.first = start_us, end_us, first


class CaptureReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads one capture, one match, a partition a window.

    Options: ``capture`` (path), ``speed`` (0: unpaced), ``window_us`` (of arrival time), ``stop_us`` (offset at
    which the run ends at the latest), ``stop_flag`` (path of a file whose existence asks for the end), ``anchor``
    (path of the file that keeps when the run's clock began, see :func:`app.base.pace.anchored_pace`), ``officials``
    (a line each: folder of the match store, and further files, where officials write; empty for nowhere), ``begin_us``
    (offset that a new checkpoint begins at; without it the capture's).
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._capture_path = options["capture"]
        self._speed = float(options["speed"])
        self._window_us = int(options["window_us"])
        self._stop_us = int(options["stop_us"])
        self._stop_flag = Path(options["stop_flag"])
        self._anchor = Path(options["anchor"])
        self._begin_us = options.get("begin_us")
        self._officials = tuple(Path(line) for line in options.get("officials", "").splitlines())
        assert self._window_us > 0

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """Arrival of the capture's first block, unless another begin is asked for."""
        if self._begin_us is not None:
            return {"arrival_us": int(self._begin_us)}
        return {"arrival_us": Capture.open(self._capture_path).begin_us}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """A batch on from ``start``, though that time may not have come; ``start`` itself when all is read."""
        if self._stop_flag.exists():
            return start
        capture = Capture.open(self._capture_path)
        stop_us = min(self._stop_us, capture.end_us) if capture.is_finished else self._stop_us
        return {"arrival_us": max(start["arrival_us"], min(start["arrival_us"] + WINDOWS * self._window_us, stop_us))}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The windows are the limit."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Nothing to fix: the query ends by itself where the capture does, or at ``stop_us``."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A range a window."""
        begin_us, stop_us = start["arrival_us"], end["arrival_us"]
        return [
            CaptureRange(at_us, min(at_us + self._window_us, stop_us), first=at_us == begin_us)
            for at_us in range(begin_us, stop_us, self._window_us)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Rows of what is due, each as soon as it is due, and the closing row; none if the batch ended before."""
        assert isinstance(partition, CaptureRange)
        log_in_worker()
        capture = Capture.open(self._capture_path)
        if not partition.first and (self._stop_flag.exists() or not capture.has_blocks_from(partition.start_us)):
            return
        match = capture.sheet.match_id
        pace = anchored_pace(self._anchor, self._speed, partition.start_us)
        waiter = Waiter(self._stop_flag.exists)
        frames: list[bytes] = []
        size = 0
        for arrival_us, payload in self._blocks(capture, partition):
            due_us = pace.due_wall_us(arrival_us)
            early_us = 0 if waiter.stopped else due_us - wall_us()
            if frames and (early_us > 0 or size >= ROW_BYTES):
                yield row(match, partition.start_us, partition.end_us, b"".join(frames))
                frames, size = [], 0
            if early_us > 0:
                waiter.sleep_until(due_us)
            frames.append(pack(arrival_us, 0 if waiter.stopped else due_us, payload))
            size += len(payload)
        if frames:
            yield row(match, partition.start_us, partition.end_us, b"".join(frames))
        last = not capture.has_blocks_from(partition.end_us)
        late_us = wall_us() - pace.due_wall_us(partition.end_us)
        log_event(
            _log, logging.INFO, "range read", match, start=partition.start_us, end=partition.end_us, last=last,
            behind_ms=late_us / 1e3, stopped=waiter.stopped,
        )  # fmt: skip
        yield row(match, partition.start_us, partition.end_us, b"", closing=True, last=last)

    def _blocks(self, capture: Capture, part: CaptureRange) -> Iterator[tuple[int, bytes]]:
        """Blocks of a range, and what officials say between them."""
        blocks = capture.payloads(part.start_us, part.end_us)
        if not self._officials:
            return blocks
        desk = OfficialFeed(self._officials[0], self._officials[1:])
        return desk.woven(blocks, part.start_us, part.end_us, lambda: capture.has_blocks_from(part.end_us))


class CaptureSource(DataSource):
    """What the named sources share: the schema and the reader."""

    def schema(self) -> str:
        """See :data:`SCHEMA`."""
        return SCHEMA

    def streamReader(self, schema: object) -> CaptureReader:  # noqa: N802  Spark's name
        """The reader of the capture that the options name."""
        return CaptureReader(self.options)


class TrackingSource(CaptureSource):
    """``spark.readStream.format("tracking")``: the capture of a tracking file."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "tracking"


class SimSource(CaptureSource):
    """``spark.readStream.format("sim")``: the capture of a simulated match."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "sim"


def row(
    match: str, start: int, end: int, frames: bytes, *, closing: bool = False, last: bool = False
) -> pa.RecordBatch:
    """A row, and an empty one after it: Spark asks whether there is a next row before it hands one on.

    Without the second row, each would wait in the JVM for the block after it.
    """
    fields = [match, start, end, last]
    values = [*([value, value] for value in fields), [closing, False], [pad(frames), b""]]
    columns = [pa.array(value, field.type) for value, field in zip(values, _ARROW_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)
