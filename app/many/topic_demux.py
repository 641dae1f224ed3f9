"""Reads of a seat's topics what belongs to its matches, as it comes.

Theory of operation
-------------------
Matches may share a partition; the key of a record is its match. So those of a topic are read together, once: each
partition from where the match that is furthest behind goes on, and each match takes its own records from where it goes
on itself. A match's window is closed after its time, or as soon as it has as many records as should come in one (so
that what has waited for long is taken in pieces), and the next begins there; a match that is over is closed at once.
Where a window was closed travels in its closing row: nothing need be promised beforehand, because a query that fails is
followed by one from where the stores end.

A record without a key, or with that of no match here, is nobody's and is left out. While no broker answers nothing is
heard, and windows are closed with what has come.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pyarrow as pa

from app.base.logs import log_event
from app.kafka.address import Address, KafkaError, parse
from app.many.roster import Entry, InTopic
from app.spark.record_reader import Taker, TopicRecords
from app.spark.source import ROW_BYTES, row

_log = logging.getLogger(__name__)


class Listener:
    """The topics of one batch of one seat.

    Args:
        stopped: whether an end was asked for: then everything is closed where it is.
        goes_on: whether a match, by name, gets another window; asked when one is closed.
    """

    def __init__(self, stopped: Callable[[], bool], goes_on: Callable[[str], bool]) -> None:
        self._stopped, self._goes_on = stopped, goes_on
        self._topics: dict[str, _Topic] = {}

    def add(self, entry: Entry, first_s: float | None = None) -> None:
        """Listens to a match, too; its first window may be of another length than those that follow."""
        match = _Match(entry, first_s)
        address = _base(match.place)
        self._topics.setdefault(address.url, _Topic(address, self._goes_on)).add(match)

    @property
    def is_open(self) -> bool:
        """Whether a match goes on."""
        return any(topic.open for topic in self._topics.values())

    def heard(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        """Rows of what has come, and of what is closed by now; waits about so long at most if nothing comes."""
        going = [topic for topic in self._topics.values() if topic.open]
        for topic in going:
            yield from topic.heard(wait_ms / len(going), self._stopped())


class _Match:
    """A match: what it has taken in its window, and up to which record it stands."""

    def __init__(self, entry: Entry, first_s: float | None) -> None:
        assert entry.in_topic is not None, f"{entry.match} comes out of no topic"
        self.place = entry.in_topic
        self.name, self.position = entry.match, entry.begin
        self._frames: list[bytes] = []
        self._size = 0
        self.begin(self.place.window_s if first_s is None else first_s)

    def begin(self, window_s: float) -> None:
        """A window from where it stands. It remembers nothing of the one before, so that it can be redone."""
        self.start, self.left = self.position, self.place.window_records
        self.until_s = time.monotonic() + window_s
        self.taker = Taker(self.place.match, parse(self.place.url), self.place.partition)

    def take(self, record: Any) -> bool:
        """Takes a record of its own; whether it goes to the engine."""
        if record.offset < self.position or self.taker.ended:
            return False
        self.position = record.offset + 1
        if frame := self.taker.take(record):
            self._frames.append(frame)
            self._size += len(frame)
            self.left -= 1
        return bool(frame)

    @property
    def is_due(self) -> bool:
        """Whether its window is to be closed."""
        return self.taker.ended or self.left <= 0 or time.monotonic() >= self.until_s

    def flushed(self, least: int = 1) -> Iterator[pa.RecordBatch]:
        """A row of what was taken, if it is so many bytes."""
        if self._size >= least:
            yield row(self.name, self.start, self.position, b"".join(self._frames))
            self._frames, self._size = [], 0

    def closed(self, reached: int, failed: str = "") -> Iterator[pa.RecordBatch]:
        """The closing row, where the partition has been read up to ``reached``; none where nothing has come."""
        yield from self.flushed()
        self.position, last = max(self.position, reached), self.taker.ended and not failed
        end = self.position
        log_event(_log, logging.INFO, "range read", self.name, start=self.start, end=end, last=last, failed=failed)
        if failed or end > self.start:
            yield row(self.name, self.start, end, failed.encode(), closing=True, last=last)


class _Topic:
    """The matches of one topic in a batch."""

    def __init__(self, address: Address, goes_on: Callable[[str], bool]) -> None:
        self._address, self._goes_on = address, goes_on
        self.open: list[_Match] = []
        self._of: dict[tuple[int, bytes], _Match] = {}
        self._reached: dict[int, int] = {}
        self._reader: TopicRecords | None = None

    def add(self, match: _Match) -> None:
        """Listens to a match, too; it may begin before the others stand."""
        for other in self.open:
            other.position = max(other.position, self._reached.get(other.place.partition, 0))
        self._reached.pop(match.place.partition, None)
        self.open.append(match)
        self._of[(match.place.partition, match.place.match.encode())] = match
        self._reader = None

    def heard(self, wait_ms: float, stopped: bool) -> Iterator[pa.RecordBatch]:
        """See :meth:`Listener.heard`."""
        if not stopped:
            try:
                yield from self._taken(wait_ms)
            except KafkaError as error:
                _log.warning("matches wait: %s", error)
                self._reader = None
                TopicRecords.forget(self._address)
                first_s = min(match.until_s for match in self.open)
                time.sleep(max(0.0, min(wait_ms / 1e3, first_s - time.monotonic())))
        for match in list(self.open):
            if stopped or match.is_due:
                yield from self._close(match, over=stopped)

    def _taken(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        if self._reader is None:
            yield from self._begin()
        if self._reader is None:
            return
        for record in self._reader.read(wait_ms):
            match = self._of.get((record.partition, record.key or b""))
            if match is not None and match.take(record):
                yield from match.flushed(ROW_BYTES)
                if match.left <= 0:
                    yield from self._close(match)
            self._reached[record.partition] = record.offset + 1
        for match in self.open:
            yield from match.flushed()

    def _begin(self) -> Iterator[pa.RecordBatch]:
        """Stands the reader where the matches go on; whose records are gone has failed."""
        reader = TopicRecords.of(self._address)
        for match in list(self.open):
            first = reader.first(match.place.partition, match.position)
            if match.position < first:
                told = f"{self._address.url}: begins with record {first} by now; {match.position} would be the next"
                yield from self._close(match, failed=told)
        starts: dict[int, int] = {}
        for match in self.open:
            partition = match.place.partition
            starts[partition] = min(match.position, starts.get(partition, match.position))
        if starts:
            starts = {part: max(at, self._reached.get(part, at)) for part, at in starts.items()}
            reader.stand(starts)
            self._reader = reader

    def _close(self, match: _Match, *, failed: str = "", over: bool = False) -> Iterator[pa.RecordBatch]:
        """Closes a match's window, and begins the next unless it goes on no more."""
        over = over or bool(failed) or match.taker.ended
        yield from match.closed(0 if failed else self._reached.get(match.place.partition, 0), failed)
        if over or not self._goes_on(match.name):
            self.open.remove(match)
            del self._of[match.place.partition, match.place.match.encode()]
        else:
            match.begin(match.place.window_s)


def _base(place: InTopic) -> Address:
    """The topic itself, whichever of its matches is meant."""
    return msgspec.structs.replace(parse(place.url), match="", start="earliest")
