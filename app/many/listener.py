"""Reads of a batch's topics what belongs to the matches of a seat, as it comes.

Theory of operation
-------------------
Matches may share a partition; the key of a record is its match. So those of a topic are read together, once: each
partition from where the match that is furthest behind goes on, and each match takes its own records from where it goes
on itself. They are closed together, after the window or as soon as they have as many records as should come in one (so
that what has waited for long is taken in pieces); a match that is over is closed at once. Where a match was closed
travels in its closing row, and is where it goes on once that is committed: nothing need be promised beforehand,
because a batch that fails is followed by one from where the stores end.

A record without a key, or with that of no match here, is nobody's and is left out. While no broker answers nothing is
heard, and the batch is closed with what has come.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from app.base.logs import say
from app.kafka.address import Address, KafkaError, parse
from app.many.roster import Entry, InTopic
from app.spark.source import ROW_BYTES, row
from app.spark.taking import Taker, TopicRecords

_log = logging.getLogger(__name__)


class Listener:
    """The topics of one batch of one seat.

    Args:
        entries: matches out of topics.
        stopped: whether an end was asked for: then everything is closed where it is.
    """

    def __init__(self, entries: Sequence[Entry], stopped: Callable[[], bool]) -> None:
        self._stopped = stopped
        topics: dict[str, list[_Match]] = {}
        for entry in entries:
            match = _Match(entry)
            topics.setdefault(_base(match.place).url, []).append(match)
        self._topics = [_Topic(parse(url), matches) for url, matches in topics.items()]

    @property
    def is_open(self) -> bool:
        """Whether a match is not closed yet."""
        return any(topic.open for topic in self._topics)

    def heard(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        """Rows of what has come, and of what is closed by now; waits about so long at most if nothing comes."""
        going = [topic for topic in self._topics if topic.open]
        for topic in going:
            yield from topic.heard(wait_ms / len(going), self._stopped())


class _Match:
    """A match in a batch: what it has taken, and up to which record it stands."""

    def __init__(self, entry: Entry) -> None:
        assert entry.in_topic is not None, f"{entry.match} comes out of no topic"
        self.place = entry.in_topic
        self.name, self.start, self.position = entry.match, entry.begin, entry.begin
        self.taker = Taker(self.place.match, parse(self.place.url), self.place.partition)
        self._frames: list[bytes] = []
        self._size = 0

    def take(self, record: Any) -> bool:
        """Takes a record of its own; whether it goes to the engine."""
        if record.offset < self.position or self.taker.ended:
            return False
        self.position = record.offset + 1
        if frame := self.taker.take(record):
            self._frames.append(frame)
            self._size += len(frame)
        return bool(frame)

    def flushed(self, least: int = 1) -> Iterator[pa.RecordBatch]:
        """A row of what was taken, if it is so many bytes."""
        if self._size >= least:
            yield row(self.name, self.start, self.position, b"".join(self._frames))
            self._frames, self._size = [], 0

    def closed(self, reached: int, failed: str = "") -> Iterator[pa.RecordBatch]:
        """The closing row, where the partition has been read up to ``reached``; none where nothing has come."""
        yield from self.flushed()
        end, last = max(self.position, reached), self.taker.ended and not failed
        say(_log, logging.INFO, "range read", self.name, start=self.start, end=end, last=last, failed=failed)
        if failed or end > self.start:
            yield row(self.name, self.start, end, failed.encode(), closing=True, last=last)


class _Topic:
    """The matches of one topic in a batch."""

    def __init__(self, address: Address, matches: list[_Match]) -> None:
        self._address, self.open = address, matches
        self._until_s = time.monotonic() + max(match.place.window_s for match in matches)
        self._left = sum(match.place.window_records for match in matches)
        self._of = {(match.place.partition, match.place.match.encode()): match for match in matches}
        self._reached: dict[int, int] = {}
        self._reader: TopicRecords | None = None

    def heard(self, wait_ms: float, stopped: bool) -> Iterator[pa.RecordBatch]:
        """See :meth:`Listener.heard`."""
        if not stopped:
            try:
                yield from self._taken(wait_ms)
            except KafkaError as error:
                _log.warning("matches wait: %s", error)
                self._reader = None
                TopicRecords.forget(self._address)
                time.sleep(max(0.0, min(wait_ms / 1e3, self._until_s - time.monotonic())))
        over = stopped or self._left <= 0 or time.monotonic() >= self._until_s
        for match in [match for match in self.open if over or match.taker.ended]:
            yield from self._close(match)

    def _taken(self, wait_ms: float) -> Iterator[pa.RecordBatch]:
        if self._reader is None:
            yield from self._begin()
        if self._reader is None:
            return
        for record in self._reader.read(wait_ms):
            match = self._of.get((record.partition, record.key or b""))
            if match is not None and match.take(record):
                self._left -= 1
                yield from match.flushed(ROW_BYTES)
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
                yield from self._close(match, told)
        starts: dict[int, int] = {}
        for match in self.open:
            partition = match.place.partition
            starts[partition] = min(match.position, starts.get(partition, match.position))
        if starts:
            starts = {part: max(at, self._reached.get(part, at)) for part, at in starts.items()}
            reader.stand(starts)
            self._reader = reader

    def _close(self, match: _Match, failed: str = "") -> Iterator[pa.RecordBatch]:
        self.open.remove(match)
        yield from match.closed(0 if failed else self._reached.get(match.place.partition, 0), failed)


def _base(place: InTopic) -> Address:
    """The topic itself, whichever of its matches is meant."""
    return msgspec.structs.replace(parse(place.url), match="", start="earliest")
