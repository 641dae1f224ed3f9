"""The source of a seat: several captures, merged by when their blocks are due.

Theory of operation
-------------------
An offset names an arrival time of every match of the seat; a range holds, of each match that goes on, the blocks of
its window. Otherwise it is as with one match (``app.spark.source``): a batch is opened up to times that have not come
yet, blocks are handed on when they are due, a row with what is due of one match, and each match's last row is marked
``closing``. A match has a clock of its own, which begins when it is read for the first time, so matches begin and end
while others play: who is new is in the roster when the next batch is planned.

Of a match out of a topic (``app.many.listener``) Spark's offset only counts batches: where it goes on stands in the
roster, which the driver writes anew after each batch.

What cannot be read of a match closes it with the reason in place of frames; the others are read on. Of a capture that
still grows no more is promised than is there, so that nobody waits for another match's simulator.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from app.base.logs import log_in_worker, say
from app.base.pace import Waiter, anchored_pace, wall_us
from app.base.problems import is_problem, one_line
from app.many.roster import Entry, Seat
from app.match.framing import pack
from app.spark.source import ROW_BYTES, SCHEMA, row
from replay.capture import Capture
from replay.desk import Desk

if TYPE_CHECKING:
    from app.many.listener import Listener

NAME = "touchline_seat"

#: A topic is listened to so long at a time; and looked into so often while captures give no pause.
_LISTEN_MS, _LOOK_US = 50, 5_000

_log = logging.getLogger(__name__)


class SeatRange(InputPartition):
    """Of each capture the blocks with ``start <= arrival < end``; of each match out of a topic what comes."""

    def __init__(self, parts: list[tuple[Entry, int, int]], in_topics: list[Entry]) -> None:
        self.parts, self.in_topics = parts, in_topics


class _Due(NamedTuple):
    """A block, or the end of a match's range (no payload; why it ended too soon, if it did)."""

    due_us: int
    nth: int
    arrival_us: int
    payload: bytes
    last: bool = False
    failed: str = ""


class SeatReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the matches of a seat. Options: ``seat`` (folder), ``window_us`` (wall time), ``stop_flag`` (path)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seat = Seat(options["seat"])
        self._window_us = int(options["window_us"])
        self._stop_flag = Path(options["stop_flag"])

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """Where each match begins."""
        return {entry.match: _first(entry) for entry in self._seat.entries()}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """One window on of every match that goes on; ``start`` itself when all is read."""
        if self._stop_flag.exists():
            return start
        return {**start, **{e.match: self._end(e, start.get(e.match, _first(e))) for e in self._seat.entries()}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The window is the limit."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Nothing to fix: the query ends when no match goes on."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """One range of all matches that have something in it."""
        spans = [
            (entry, start.get(entry.match, _first(entry)), end.get(entry.match, 0)) for entry in self._seat.entries()
        ]
        parts = [(entry, begin, until) for entry, begin, until in spans if until > begin]
        captures = [part for part in parts if part[0].in_topic is None]
        return [SeatRange(captures, [entry for entry, _, _ in parts if entry.in_topic is not None])]

    def _end(self, entry: Entry, at_us: int) -> int:
        if self._seat.is_out(entry.match):
            return at_us
        if entry.in_topic is not None:
            return at_us + (entry.begin < entry.stop_us)
        try:
            capture = Capture.open(entry.capture)
            until_us = capture.end_us if capture.is_finished else capture.readable_us
            if not capture.is_finished and until_us <= at_us and not capture.is_growing():
                until_us = at_us + 1  # to find out what is wrong with it is the reader's
        except ValueError:
            until_us = at_us + 1
        length_us = round(self._window_us * (entry.speed or 1))
        return max(at_us, min(at_us + length_us, until_us, entry.stop_us))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Rows of what is due, each as soon as it is due, and the closing row of every match."""
        assert isinstance(partition, SeatRange)
        log_in_worker()
        parts, waiter = partition.parts, Waiter(self._stop_flag.exists)
        frames: list[list[bytes]] = [[] for _ in parts]
        sizes = [0] * len(parts)

        def flushed(numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
            for nth in numbers:
                if frames[nth]:
                    entry, start, end = parts[nth]
                    yield row(entry.match, start, end, b"".join(frames[nth]))
                    frames[nth], sizes[nth] = [], 0

        listener = _listener(partition.in_topics, self._stop_flag.exists)
        next_look_us = 0
        for item in heapq.merge(*(self._match(nth, *part) for nth, part in enumerate(parts))):
            paced = parts[item.nth][0].speed > 0
            early_us = item.due_us - wall_us() if paced and not waiter.stopped else 0
            if early_us > 0:
                yield from flushed(range(len(parts)))
                while listener.is_open and (left_us := item.due_us - wall_us()) > 0:
                    yield from listener.heard(min(left_us / 1e3, _LISTEN_MS))
                waiter.sleep_until(item.due_us)
            elif listener.is_open and wall_us() >= next_look_us:
                yield from listener.heard(0)
                next_look_us = wall_us() + _LOOK_US
            if item.payload:
                due_us = item.due_us if paced else wall_us()
                frames[item.nth].append(pack(item.arrival_us, 0 if waiter.stopped else due_us, item.payload))
                sizes[item.nth] += len(item.payload)
                if sizes[item.nth] >= ROW_BYTES:
                    yield from flushed([item.nth])
                continue
            yield from flushed([item.nth])
            entry, start, end = parts[item.nth]
            say(_log, logging.INFO, "range read", entry.match, start=start, end=end, last=item.last, failed=item.failed)
            yield row(entry.match, start, end, item.failed.encode(), closing=True, last=item.last)
        while listener.is_open:
            yield from listener.heard(_LISTEN_MS)

    def _match(self, nth: int, entry: Entry, start: int, end: int) -> Iterator[_Due]:
        """A match's blocks and its end; a failure is its end, too."""
        due_us = 0
        try:
            pace = anchored_pace(self._seat.anchor(entry.match), entry.speed, start)
            capture = Capture.open(entry.capture)
            for arrival_us, payload in _blocks(capture, entry, start, end):
                due_us = pace.due_wall_us(arrival_us) if entry.speed else arrival_us
                yield _Due(due_us, nth, arrival_us, payload)
            last = not capture.goes_on_after(end)
            yield _Due(max(due_us, pace.due_wall_us(end) if entry.speed else end), nth, end, b"", last)
        except Exception as error:  # whatever it is, it is this match's
            told = one_line(error) if is_problem(error) else f"{type(error).__name__}: {one_line(error)}"
            yield _Due(due_us, nth, end, b"", failed=told)


class _Silence:
    """The topics of a seat that has none."""

    is_open = False

    def heard(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        """Nothing."""
        yield from ()


def _listener(entries: Sequence[Entry], stopped: Callable[[], bool]) -> Listener | _Silence:
    if not entries:
        return _Silence()
    from app.many.listener import Listener  # brings a client of Kafka

    return Listener(entries, stopped)


def _first(entry: Entry) -> int:
    """Spark's first offset of a match."""
    return entry.begin if entry.in_topic is None else 0


def _blocks(capture: Capture, entry: Entry, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of a range, and what officials say between them."""
    blocks = capture.payloads(start, end)
    if not entry.officials:
        return blocks
    desk = Desk(Path(entry.officials[0]), tuple(map(Path, entry.officials[1:])))
    return desk.woven(blocks, start, end, lambda: capture.goes_on_after(end))


class SeatSource(DataSource):
    """``spark.readStream.format("touchline_seat")``: the matches of a seat."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return NAME

    def schema(self) -> str:
        """That of all sources; the frames of a closing row say why a match cannot be read on, if it cannot."""
        return SCHEMA

    def streamReader(self, schema: object) -> SeatReader:  # noqa: N802  Spark's name
        """The reader of the seat that the options name."""
        return SeatReader(self.options)
