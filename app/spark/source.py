"""Spark data source of a seat: yields rows of several matches when they are due.

Theory of operation
-------------------
A micro-batch is many windows long, and each match has its own consecutive windows in it. A row holds blocks of one
match; the last row of a window is marked ``closing``. The mark lets the stage distinguish the end of a window from a
source process that died. A match's next window begins at once, and matches do not wait for one another's windows.
Matches begin and end while others play: the source reads the seat's list at intervals. Spark begins a micro-batch of
all seats at once. So a seat without a match has one, too, and keeps it open as long as another seat plays; otherwise a
new match would wait for the end of the micro-batch.

The seat's list states the offset at which each match resumes; the driver writes it for each turn
(``app.spark.driver``). Spark's offset only counts micro-batches. The matches' own sources decide which records are read
and where a window ends (``app.sources.interface``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from app.base.logs import log_event, log_in_worker
from app.base.pace import NEVER_US, wall_us
from app.pipeline.framing import pack, pad
from app.sources.interface import OpenBatch, Reader, SourceRow
from app.sources.registry import load_source
from app.spark.seat import Seat

NAME = "touchline_seat"

_log = logging.getLogger(__name__)

#: One row of the stream: an :class:`app.sources.interface.SourceRow`. ``frames`` holds its encoded blocks
#: (:mod:`app.pipeline.framing`); in a closing row, the reason why the match cannot be read any further, if any.
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

#: A paced reader knows when its next record is due, and the source waits until then. The others are polled: each poll
#: waits this long, and polls are this far apart while paced readers have records due without a pause.
_POLL_US, _PAUSE_US = 50_000, 5_000

#: Interval at which the list of matches is read.
_JOIN_US = 500_000

#: An empty seat leaves the others this much time to begin to play.
_BEGIN_US = 2_000_000


class SeatBatch(InputPartition):
    """One micro-batch of a seat; or, with several nodes, the empty input of one that is not node 0."""

    def __init__(self, number: int, node: int = 0) -> None:
        self.number, self.node = number, node


class SeatReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the matches of a seat.

    Options: ``seat`` (folder), ``window_us`` (wall time), ``windows`` (per micro-batch), ``stop_flag`` (path of a file
    that requests the end), ``requests_turns`` (``yes`` if a driver grants turns; otherwise the matches resume at the
    offsets in the list), ``nodes`` (of the match; 1 if missing).
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seat = Seat(options["seat"])
        self._window_us, self._windows = int(options["window_us"]), int(options["windows"])
        self._stop_flag = Path(options["stop_flag"])
        self._requests_turns = options["requests_turns"] == "yes"
        self._nodes = int(options.get("nodes", "1"))

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """Offset before the first micro-batch."""
        return {"batch": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """Offset after one more micro-batch; ``start`` itself when no match of the run has more to play.

        The query ends then. What the micro-batch before has left is committed first.
        """
        if self._requests_turns and start["batch"]:
            self._seat.await_commits(start["batch"])
        seats = (self._seat, *self._seat.others())
        has_more = any(seat.has_more(entry) for seat in seats for entry in seat.entries())
        return {"batch": start["batch"] + (has_more and not self._stop_flag.exists())}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """No limit of rows; the number of windows bounds a micro-batch."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Does nothing: the query ends when no match has more to play."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """One partition for all matches of the seat, and one without rows for each further node."""
        return [SeatBatch(end["batch"], node) for node in range(self._nodes)]

    def __getstate__(self) -> dict[str, Any]:
        """Wait until the processes are warm: Spark's last step before the first task is to pickle the reader for it."""
        if self._requests_turns:
            self._seat.await_permission()
        return self.__dict__

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Waits for the seat's turn; then yields rows as soon as they are due, and the closing rows of every window."""
        log_in_worker()
        if isinstance(partition, SeatBatch) and partition.node:
            return
        if self._requests_turns:
            log_event(_log, logging.INFO, "source waits for its turn")
            self._seat.request_turn()
        yield from _Batch(self._seat, self._window_us, self._windows, self._stop_flag.exists).rows()


class _Batch:
    """A micro-batch while it is open.

    Args:
        seat: of the matches.
        window_us: length of a window in wall time; for unpaced matches in arrival time.
        windows: number of windows in a micro-batch.
        stopped: returns whether a stop was requested.
    """

    def __init__(self, seat: Seat, window_us: int, windows: int, stopped: Callable[[], bool]) -> None:
        self._seat, self._stopped = seat, stopped
        self._begun_us = wall_us()
        until_us = self._begun_us + windows * window_us
        self._plan = OpenBatch(window_us, windows, until_us, seat.anchor, stopped, self._has_another)
        self._known: set[str] = set()
        self._next_join_us = self._next_poll_us = 0
        self._readers: dict[str, Reader] = {}

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See :meth:`SeatReader.read`."""
        while True:
            self._join()
            readers = [reader for reader in self._readers.values() if reader.is_open]
            if not readers:
                if not self._waits_for_match():
                    return
                time.sleep(_POLL_US / 1e6)
                continue
            due = {reader: due_us for reader in readers if (due_us := reader.due_us()) is not None}
            polled = [reader for reader in readers if reader not in due]
            next_us = min(*due.values(), self._next_join_us) if due else NEVER_US
            wait_us = max(0, next_us - wall_us())
            for reader in polled:
                share_us = min(wait_us, _POLL_US) // len(polled)
                yield from map(_row, reader.read(share_us))
            if polled:
                wait_us = 0
            for reader in sorted(due, key=due.__getitem__):
                for row in reader.read(wait_us):
                    yield _row(row)
                    self._join()
                    yield from self._poll(polled)
                wait_us = 0

    def _poll(self, polled: Sequence[Reader]) -> Iterator[pa.RecordBatch]:
        """Polls the other readers, at intervals, while a paced one has records due without a pause."""
        if polled and wall_us() >= self._next_poll_us:
            self._next_poll_us = wall_us() + _PAUSE_US
            for reader in polled:
                yield from map(_row, reader.read(0))

    def _waits_for_match(self) -> bool:
        """True if the seat, which has no open match, waits for a new one: as long as another seat plays."""
        self._seat.playing.unlink(missing_ok=True)
        others, now_us = self._seat.others(), wall_us()
        if self._stopped() or now_us >= self._plan.until_us or not others:
            return False
        return now_us < self._begun_us + _BEGIN_US or any(seat.playing.exists() for seat in others)

    def _join(self) -> None:
        """Adds the matches that are new in the seat's list; their first windows get different lengths."""
        now_us = wall_us()
        if now_us < self._next_join_us or self._stopped():
            return
        self._next_join_us = now_us + _JOIN_US
        new = [entry for entry in self._seat.entries() if entry.match not in self._known]
        self._known.update(entry.match for entry in new)
        going = [entry for entry in new if self._seat.has_more(entry)]
        for number, entry in enumerate(going, 1):
            if entry.kind not in self._readers:
                self._readers[entry.kind] = load_source(entry.kind).reader(self._plan)
            self._readers[entry.kind].add(entry, number / len(going))
            self._seat.playing.touch()

    def _has_another(self, match: str) -> bool:
        """True if a match that has closed a window gets another in this micro-batch."""
        return not self._stopped() and wall_us() < self._plan.until_us and not self._seat.is_excluded(match)


class SeatSource(DataSource):
    """Data source for ``spark.readStream.format("touchline_seat")``: the matches of a seat."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return NAME

    def schema(self) -> str:
        """See :data:`SCHEMA`."""
        return SCHEMA

    def streamReader(self, schema: object) -> SeatReader:  # noqa: N802  Spark's name
        """The reader of the seat that the options name."""
        return SeatReader(self.options)


def warm_up_source(folder: str) -> Callable[[Iterator[int]], Iterator[int]]:
    """Function for ``mapPartitions`` that makes a process import what the sources of the seat in ``folder`` need."""

    def stage(numbers: Iterator[int]) -> Iterator[int]:
        log_in_worker()
        began_s = time.monotonic()
        nothing = OpenBatch(0, 0, 0, Path, lambda: True, lambda match: False)
        for kind in {entry.kind for entry in Seat(folder).entries()}:
            load_source(kind).reader(nothing)
        log_event(_log, logging.INFO, "process is warm", took_s=round(time.monotonic() - began_s, 3))
        yield from numbers  # Spark reuses only a process that has consumed its whole input

    return stage


def _row(row: SourceRow) -> pa.RecordBatch:
    """Encodes a row for Spark, followed by an empty row.

    Spark asks an iterator for its next row before it passes the current one on. Without the empty row, each row would
    wait in the JVM until the next block arrives.
    """
    fields = [row.match, row.start, row.end, row.last]
    frames = row.failed.encode() if row.closing else b"".join(pack(*block) for block in row.blocks)
    values = [*([value, value] for value in fields), [row.closing, False], [pad(frames), b""]]
    columns = [pa.array(value, field.type) for value, field in zip(values, _ARROW_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW_SCHEMA)
