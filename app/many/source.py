"""The source of a seat: several matches, merged by when their blocks are due.

Theory of operation
-------------------
A batch of Spark's is many windows long, and in it each match has windows of its own, one after the other: a row holds
what is due of one match, and the last row of a window is marked ``closing``. So nothing stands between a match's
windows, and those of one match do not wait for another's. Matches begin and end while others play: the roster is looked
at now and then. At the end of a batch all close their windows; the first ones are of different lengths, so that a
seat's matches close at different times after it.

Where a match goes on stands in the roster, which the driver writes anew for each batch that is begun, and for each that
is begun again because its task failed (``app.many.host``); Spark's offset only counts batches. A window of a capture
holds the blocks between two arrival times, whenever it is read; what one out of a topic holds is told by its closing
row (``app.many.topic_demux``).

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

from app.base.errors import reason_of
from app.base.logs import log_event, log_in_worker
from app.base.pace import Pace, Waiter, anchored_pace, wall_us
from app.many.roster import Entry, Seat
from app.pipeline.framing import pack
from app.spark.source import ROW_BYTES, SCHEMA, row
from replay.capture import Capture
from replay.official_feed import OfficialFeed

if TYPE_CHECKING:
    from app.many.topic_demux import Listener

NAME = "touchline_seat"

#: A topic is listened to so long at a time; and looked into so often while captures give no pause.
_LISTEN_MS, _LOOK_US = 50, 5_000

#: So often the roster is looked at; and a capture that has to grow before it can be read on.
_JOIN_US, _GROW_US = 500_000, 200_000

_log = logging.getLogger(__name__)


class SeatBatch(InputPartition):
    """What the matches of a seat give in a batch."""

    def __init__(self, number: int) -> None:
        self.number = number


class SeatReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads the matches of a seat.

    Options: ``seat`` (folder), ``window_us`` (wall time), ``windows`` (in a batch), ``stop_flag`` (path), ``asks``
    (``yes`` if a driver is there to say from where the matches go on, else they do from where the roster says).
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._seat = Seat(options["seat"])
        self._window_us, self._windows = int(options["window_us"]), int(options["windows"])
        self._stop_flag = Path(options["stop_flag"])
        self._asks = options["asks"] == "yes"

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """No batch yet."""
        return {"batch": 0}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """A batch more; ``start`` itself when no match goes on."""
        goes_on = not self._stop_flag.exists() and any(map(self._seat.goes_on, self._seat.entries()))
        return {"batch": start["batch"] + goes_on}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The windows are the limit."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Nothing to fix: the query ends when no match goes on."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """One for all matches."""
        return [SeatBatch(end["batch"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Rows of what is due, each as soon as it is due, and the closing rows of every match."""
        assert isinstance(partition, SeatBatch)
        log_in_worker()
        if self._asks:
            self._seat.ask(self._stop_flag.exists)
        yield from _Batch(self._seat, self._window_us, self._windows, self._stop_flag.exists).rows()


class _Due(NamedTuple):
    """A block, the end of a window (``closes``), or a look at a capture that has to grow (neither)."""

    due_us: int
    nth: int
    start: int
    end: int
    arrival_us: int = 0
    payload: bytes = b""
    closes: bool = False
    last: bool = False
    failed: str = ""

    @property
    def is_look(self) -> bool:
        """Whether it is due at a time of the wall clock at any speed."""
        return not self.payload and not self.closes


class _Batch:
    """What is read in one batch.

    Args:
        seat: of the matches.
        window_us: of wall time, or unpaced of arrival time.
        windows: how many make a batch.
        stop: whether an end was asked for.
    """

    def __init__(self, seat: Seat, window_us: int, windows: int, stop: Callable[[], bool]) -> None:
        self._seat, self._window_us, self._windows = seat, window_us, windows
        self._waiter, self._stop = Waiter(stop), stop
        self._until_us = wall_us() + windows * window_us
        self._known: set[str] = set()
        self._next_join_us = self._next_look_us = 0
        self._listener: Listener | None = None
        #: The next of each capture, by when it is due; what comes after it; what is waiting to be handed on.
        self._next: list[_Due] = []
        self._items: list[Iterator[_Due]] = []
        self._pending: list[_Pending] = []

    def rows(self) -> Iterator[pa.RecordBatch]:
        """See :meth:`SeatReader.read`."""
        while True:
            self._join()
            if not self._next:
                if not self._is_listening():
                    return
                yield from self._heard(_LISTEN_MS)
                continue
            item = self._next[0]
            is_paced = self._pending[item.nth].entry.speed > 0 or item.is_look
            if is_paced and not self._waiter.stopped and item.due_us > wall_us():
                yield from self._flushed()
                until_us = min(item.due_us, self._next_join_us)
                while self._is_listening() and (left_us := until_us - wall_us()) > 0:
                    yield from self._heard(min(left_us / 1e3, _LISTEN_MS))
                self._waiter.sleep_until(until_us)
                if until_us < item.due_us:
                    continue
            elif self._is_listening() and wall_us() >= self._next_look_us:
                yield from self._heard(0)
                self._next_look_us = wall_us() + _LOOK_US
            yield from self._taken(item)
            following = next(self._items[item.nth], None)
            if following is None:
                heapq.heappop(self._next)
            else:
                heapq.heapreplace(self._next, following)

    def _taken(self, item: _Due) -> Iterator[pa.RecordBatch]:
        """Rows that are full or closed with what is due now."""
        mine = self._pending[item.nth]
        if item.payload:
            due_us = 0 if self._waiter.stopped else item.due_us if mine.entry.speed else wall_us()
            yield from mine.with_frame(item, pack(item.arrival_us, due_us, item.payload))
        elif item.closes:
            yield from mine.flushed()
            match, failed = mine.entry.match, item.failed
            log_event(
                _log, logging.INFO, "range read", match, start=item.start, end=item.end, last=item.last, failed=failed
            )
            yield row(match, item.start, item.end, failed.encode(), closing=True, last=item.last)

    def _flushed(self) -> Iterator[pa.RecordBatch]:
        for waiting in self._pending:
            yield from waiting.flushed()

    def _join(self) -> None:
        """Takes in who is new in the roster."""
        now_us = wall_us()
        if now_us < self._next_join_us or self._waiter.stopped:
            return
        self._next_join_us = now_us + _JOIN_US
        new = [entry for entry in self._seat.entries() if entry.match not in self._known]
        self._known.update(entry.match for entry in new)
        going = [entry for entry in new if self._seat.goes_on(entry)]
        for number, entry in enumerate(going, 1):
            first = number / len(going)
            if entry.in_topic is None:
                items = self._match(len(self._items), entry, first)
                self._items.append(items)
                self._pending.append(_Pending(entry))
                if (item := next(items, None)) is not None:
                    heapq.heappush(self._next, item)
                continue
            if self._listener is None:
                from app.many.topic_demux import Listener

                self._listener = Listener(self._stop, self._has_another)
            self._listener.add(entry, first * entry.in_topic.window_s)

    def _has_another(self, match: str) -> bool:
        """Whether a match that has closed a window gets another in this batch."""
        return not self._stop() and wall_us() < self._until_us and not self._seat.is_out(match)

    def _is_listening(self) -> bool:
        return self._listener is not None and self._listener.is_open

    def _heard(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        assert self._listener is not None
        yield from self._listener.heard(wait_ms)

    def _match(self, nth: int, entry: Entry, first: float) -> Iterator[_Due]:
        """A capture's blocks and the ends of its windows, the first of which is shorter; a failure is its end, too."""
        at_us = end_us = entry.begin
        due_us = 0
        try:
            pace = anchored_pace(self._seat.anchor(entry.match), entry.speed, at_us)
            closed = 0
            while not closed or (self._has_another(entry.match) if entry.speed else closed < self._windows):
                capture = Capture.open(entry.capture)
                end_us = min(self._end_us(pace, at_us, 1 if closed or not entry.speed else first), entry.stop_us)
                there_us = capture.end_us if capture.is_finished else capture.readable_us
                if there_us < end_us and not capture.is_finished and capture.is_growing():
                    if self._stop():
                        return
                    yield _Due(wall_us() + _GROW_US, nth, at_us, at_us)
                    continue
                if there_us <= at_us and capture.is_finished:
                    return
                end_us = min(end_us, max(there_us, at_us + 1))  # what is wrong with one that grows no more shows then
                for arrival_us, payload in _blocks(capture, entry, at_us, end_us):
                    due_us = pace.due_wall_us(arrival_us) if entry.speed else arrival_us
                    yield _Due(due_us, nth, at_us, end_us, arrival_us, payload)
                last = not capture.has_blocks_from(end_us)
                due_us = max(due_us, pace.due_wall_us(end_us) if entry.speed else end_us)
                yield _Due(due_us, nth, at_us, end_us, closes=True, last=last)
                if last or end_us >= entry.stop_us:
                    return
                at_us, closed = end_us, closed + 1
        except Exception as error:  # whatever it is, it is this match's
            told = reason_of(error)
            yield _Due(due_us, nth, at_us, end_us, closes=True, failed=told)

    def _end_us(self, pace: Pace, at_us: int, part: float) -> int:
        """Where a window should end that begins here; with the batch, if little would be left of that."""
        if not pace.speed:
            return at_us + self._window_us
        length_us, left_us = part * self._window_us, self._until_us - pace.due_wall_us(at_us)
        return at_us + max(1, round((left_us if left_us < length_us + self._window_us / 2 else length_us) * pace.speed))


class _Pending:
    """Frames of a match that wait to be handed on together."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._of = (entry.begin, entry.begin)
        self._frames: list[bytes] = []
        self._size = 0

    def with_frame(self, item: _Due, frame: bytes) -> Iterator[pa.RecordBatch]:
        """Takes a frame; a row, if they are enough now."""
        self._of = (item.start, item.end)
        self._frames.append(frame)
        self._size += len(frame)
        if self._size >= ROW_BYTES:
            yield from self.flushed()

    def flushed(self) -> Iterator[pa.RecordBatch]:
        """A row of what waits."""
        if self._frames:
            yield row(self.entry.match, *self._of, b"".join(self._frames))
            self._frames, self._size = [], 0


def _blocks(capture: Capture, entry: Entry, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Blocks of a range, and what officials say between them."""
    blocks = capture.payloads(start, end)
    if not entry.officials:
        return blocks
    desk = OfficialFeed(Path(entry.officials[0]), tuple(map(Path, entry.officials[1:])))
    return desk.woven(blocks, start, end, lambda: capture.has_blocks_from(end))


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
