"""Demultiplexes the topics of a seat: reads each partition once, and passes each match its own records.

Theory of operation
-------------------
Matches may share a partition; the key of a record names its match. Each partition is read once, from the lowest offset
at which one of its matches resumes, and each match skips records before its own offset. A match's window closes when
its time is over, or when it has reached its limit of records; a long backlog is thus read in several windows. The
window of a match that is over closes at once. The closing row states the offset of the end. The end is not fixed
before, because after a failure the match is read again from the committed offset.

A record with the key of no match of this seat is skipped. A record without a key is skipped, too, unless the run plays
one match only. While no broker answers, nothing is read, and windows close with the records read before.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from app.base.logs import log_event
from app.kafka.address import Address, KafkaError, parse
from app.kafka.topic_location import TopicSpec
from app.sources.interface import MAX_ROW_BYTES, Entry, SourceRow, TimedBlock
from app.sources.topic_records import RecordDecoder, TopicRecords

_log = logging.getLogger(__name__)


class TopicDemultiplexer:
    """The topics of one seat in one micro-batch; see :class:`app.sources.interface.Reader`.

    Args:
        stopped: returns whether a stop was requested; every window is then closed at once.
        has_another: returns whether a match, by key, gets another window; called when one is closed.
    """

    def __init__(self, stopped: Callable[[], bool], has_another: Callable[[str], bool]) -> None:
        self._stopped, self._has_another = stopped, has_another
        self._topics: dict[str, _Topic] = {}

    def add(self, entry: Entry, share: float = 1.0) -> None:
        """See :class:`app.sources.interface.Reader`."""
        match = _Match(entry, share)
        address = msgspec.structs.replace(match.address, match="", start="earliest")
        self._topics.setdefault(address.url, _Topic(address, self._has_another)).add(match)

    @property
    def is_open(self) -> bool:
        """See :class:`app.sources.interface.Reader`."""
        return any(topic.open for topic in self._topics.values())

    def due_us(self) -> None:
        """See :class:`app.sources.interface.Reader`."""
        return

    def read(self, wait_us: int) -> Iterator[SourceRow]:
        """See :class:`app.sources.interface.Reader`."""
        open_topics = [topic for topic in self._topics.values() if topic.open]
        for topic in open_topics:
            yield from topic.read(wait_us / 1e3 / len(open_topics), self._stopped())


class _Match:
    """State of a match: the records of its open window, and the offset up to which it was read."""

    def __init__(self, entry: Entry, share: float) -> None:
        self.spec = msgspec.convert(entry.spec, TopicSpec)
        self.address = parse(self.spec.url)
        self.name, self.position = entry.match, entry.begin
        self.keys = (self.spec.match.encode(), b"") if self.spec.takes_unkeyed else (self.spec.match.encode(),)
        self._blocks: list[TimedBlock] = []
        self._size = 0
        self.open_window(share * self.spec.window_s)

    def open_window(self, window_s: float) -> None:
        """Opens a window at the match's position, with no state of the window before, so that it can be repeated."""
        self.start, self.left = self.position, self.spec.window_records
        self.until_s = time.monotonic() + window_s
        self.taker = RecordDecoder(self.spec.match, self.address, self.spec.partition)

    def take(self, record: Any) -> bool:
        """Takes a record of the match; returns True if it goes to the engine."""
        if record.offset < self.position or self.taker.ended:
            return False
        self.position = record.offset + 1
        if (block := self.taker.take(record)) is None:
            return False
        self._blocks.append(block)
        self._size += len(block[2])
        self.left -= 1
        return True

    @property
    def is_due(self) -> bool:
        """True if the window must be closed now."""
        return self.taker.ended or self.left <= 0 or time.monotonic() >= self.until_s

    def flush(self, min_bytes: int = 1) -> Iterator[SourceRow]:
        """Yields the records taken as a row, if they have at least ``min_bytes``."""
        if self._size >= min_bytes:
            blocks, self._blocks, self._size = self._blocks, [], 0
            yield SourceRow(self.name, self.start, self.position, blocks)

    def close(self, reached: int, failed: str = "") -> Iterator[SourceRow]:
        """Closes the window at ``reached``, up to which the partition was read; yields nothing if it is empty."""
        yield from self.flush()
        self.position, last = max(self.position, reached), self.taker.ended and not failed
        end = self.position
        log_event(_log, logging.INFO, "range read", self.name, start=self.start, end=end, last=last, failed=failed)
        if failed or end > self.start:
            yield SourceRow(self.name, self.start, end, closing=True, last=last, failed=failed)


class _Topic:
    """The matches of one topic."""

    def __init__(self, address: Address, has_another: Callable[[str], bool]) -> None:
        self._address, self._has_another = address, has_another
        self.open: list[_Match] = []
        self._of: dict[tuple[int, bytes], _Match] = {}
        self._reached: dict[int, int] = {}
        self._reader: TopicRecords | None = None

    def add(self, match: _Match) -> None:
        """Adds a match; its offset may be before the current ones."""
        partition = match.spec.partition
        for other in self.open:
            other.position = max(other.position, self._reached.get(other.spec.partition, 0))
        self._reached.pop(partition, None)
        self.open.append(match)
        for key in match.keys:
            self._of[partition, key] = match
        self._reader = None

    def read(self, wait_ms: float, stopped: bool) -> Iterator[SourceRow]:
        """See :meth:`TopicDemultiplexer.read`."""
        if not stopped:
            try:
                yield from self._take(wait_ms)
            except KafkaError as error:
                _log.warning("matches wait: %s", error)
                self._reader = None
                TopicRecords.forget(self._address)
                first_s = min(match.until_s for match in self.open)
                time.sleep(max(0.0, min(wait_ms / 1e3, first_s - time.monotonic())))
        for match in list(self.open):
            if stopped or match.is_due:
                yield from self._close(match, over=stopped)

    def _take(self, wait_ms: float) -> Iterator[SourceRow]:
        if self._reader is None:
            yield from self._seek()
        if self._reader is None:
            return
        for record in self._reader.read(wait_ms):
            match = self._of.get((record.partition, record.key or b""))
            if match is not None and match.take(record):
                yield from match.flush(MAX_ROW_BYTES)
                if match.left <= 0:
                    yield from self._close(match)
            self._reached[record.partition] = record.offset + 1
        for match in self.open:
            yield from match.flush()

    def _seek(self) -> Iterator[SourceRow]:
        """Seeks to the offsets at which the matches resume; fails matches with deleted records."""
        reader = TopicRecords.of(self._address)
        for match in list(self.open):
            first = reader.first(match.spec.partition, match.position)
            if match.position < first:
                reason = f"{self._address.url}: begins with record {first} by now; {match.position} would be the next"
                yield from self._close(match, failed=reason)
        starts: dict[int, int] = {}
        for match in self.open:
            partition = match.spec.partition
            starts[partition] = min(match.position, starts.get(partition, match.position))
        if starts:
            starts = {part: max(at, self._reached.get(part, at)) for part, at in starts.items()}
            reader.seek(starts)
            self._reader = reader

    def _close(self, match: _Match, *, failed: str = "", over: bool = False) -> Iterator[SourceRow]:
        """Closes a match's window, and opens the next unless the match is over."""
        over = over or bool(failed) or match.taker.ended
        yield from match.close(0 if failed else self._reached.get(match.spec.partition, 0), failed)
        if over or not self._has_another(match.name):
            self.open.remove(match)
            for key in match.keys:
                del self._of[match.spec.partition, key]
        else:
            match.open_window(match.spec.window_s)
