"""Sources whose offsets are arrival times: base classes, and the reader of several recordings at a time.

Theory of operation
-------------------
A recording's window holds the blocks between two arrival times. The end of a window is known before its blocks exist,
unless nothing comes for longer: a silence belongs to the window after it. An unpaced run that is read again has the
same windows; a paced one may close them elsewhere, at the match's clock. In a paced run, the reader yields a block at
its arrival time on the match's clock, and merges several matches by the times at which their blocks are due. In an
unpaced run, it reads as fast as possible. A live recording has its own pace: a block is due when it arrived at the
gateway, so one that the reader finds is late already, and a run that joins late catches up.

Matches close their windows separately; at the end of a micro-batch all of them close. The first windows have different
lengths, so that a seat's matches close at different times afterwards. Of a recording that still grows, only the
existing blocks are read, so that no match waits for the producer of another.

An error of one match closes its window with the reason. The reader continues with the other matches.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from app.base.errors import reason_of
from app.base.logs import log_event
from app.base.pace import NEVER_US, Pace, Waiter, anchored_pace, wall_us
from app.sources.interface import (
    MAX_ROW_BYTES,
    Discovery,
    Entry,
    InputMonitor,
    LiveRecording,
    MatchInput,
    OpenBatch,
    Recording,
    SourceRequest,
    SourceRow,
    TimedBlock,
    end_past_silence_us,
)
from replay.official_feed import OfficialFeed

if TYPE_CHECKING:
    from rich.console import Console

#: Interval at which a growing recording without new blocks is checked.
_GROW_US = 200_000

#: The same of a live recording, whose blocks are read as they arrive.
_LIVE_US = 3_000

_log = logging.getLogger(__name__)


class RecordedInput:
    """A :class:`MatchInput` that is a recording.

    Args:
        kind: ``module:class`` of the :class:`RecordedSource` that opens ``spec``.
        recording: the match.
        spec: arguments for a reader to open it.
    """

    takes_officials, is_live = True, False

    def __init__(self, kind: str, recording: Recording, spec: Mapping[str, Any]) -> None:
        self.kind = kind
        self.recording: Recording | None = recording
        self.sample, self.sheet, self.begin = recording, recording.sheet, recording.begin_us
        self.fingerprint = getattr(recording, "fingerprint", "")
        self.rejected = getattr(recording, "rejected", ())
        self.findings = getattr(recording, "findings", ())
        self._spec = dict(spec)

    def spec(self, window_s: float, *, one_match: bool) -> dict[str, Any]:
        """See :class:`app.sources.interface.MatchInput`."""
        return self._spec

    def has_ended(self, offset: int, *, ended: bool) -> bool:
        """See :class:`app.sources.interface.MatchInput`."""
        return self.sample.is_finished and offset >= self.sample.end_us

    def played_us(self, offset: int, now_us: int) -> int:
        """See :class:`app.sources.interface.MatchInput`."""
        return offset

    def length_us(self) -> int | None:
        """See :class:`app.sources.interface.MatchInput`."""
        return self.sample.end_us - self.begin if self.sample.is_finished else None

    def committed(self, offset: int) -> None:
        """See :class:`app.sources.interface.MatchInput`."""

    def watch(self, offset: int, monitor: InputMonitor) -> AbstractContextManager[Any]:
        """See :class:`app.sources.interface.MatchInput`."""
        return nullcontext()


class RecordedSource:
    """Base of sources of recordings. A kind defines ``recognises``, ``open`` and ``load``, and overrides the rest."""

    has_recording = True

    def recognises(self, source: str, rate: str) -> bool:
        """See :class:`app.sources.interface.Source`."""
        raise NotImplementedError

    def open(self, spec: Mapping[str, Any]) -> Recording:
        """Opens the recording that a spec names."""
        raise NotImplementedError

    def load(self, source: str, folder: Path) -> MatchInput:
        """See :class:`app.sources.interface.Source`."""
        raise NotImplementedError

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return source

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`app.sources.interface.Source`."""
        return dict(options)

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """See :class:`app.sources.interface.Source`."""

    def restart_source(self, source: str, folder: Path) -> str:
        """See :class:`app.sources.interface.Source`."""
        return source

    def selection(self, source: str) -> tuple[str, str] | None:
        """See :class:`app.sources.interface.Source`."""
        return None

    def discovery(self, source: str) -> AbstractContextManager[Discovery]:
        """See :class:`app.sources.interface.Source`."""
        raise NotImplementedError

    def sample(self, spec: Mapping[str, Any]) -> Recording:
        """See :class:`app.sources.interface.Source`."""
        return self.open(spec)

    def reader(self, batch: OpenBatch) -> RecordingReader:
        """See :class:`app.sources.interface.Source`."""
        return RecordingReader(batch, self.open)


class _Item(NamedTuple):
    """Next item of a match: a block, the end of a window (``closes``), or else a check of a growing recording."""

    due_us: int
    match_number: int
    start: int
    end: int
    arrival_us: int = 0
    payload: bytes = b""
    closes: bool = False
    last: bool = False
    failed: str = ""

    @property
    def is_check(self) -> bool:
        """True for a check of a growing recording, which is due by the wall clock at any speed."""
        return not self.payload and not self.closes


class RecordingReader:
    """Reads recordings, merged by the due times of their blocks; see :class:`app.sources.interface.Reader`.

    Args:
        batch: the open micro-batch.
        open_recording: opens the recording that a spec names.
    """

    def __init__(self, batch: OpenBatch, open_recording: Callable[[Mapping[str, Any]], Recording]) -> None:
        self._batch, self._open = batch, open_recording
        self._waiter = Waiter(batch.stopped)
        #: Heap of the next items of all matches by due time; then by match: its further items, and its next row.
        self._next: list[_Item] = []
        self._items: list[Iterator[_Item]] = []
        self._pending: list[_Pending] = []

    def add(self, entry: Entry, share: float) -> None:
        """See :class:`app.sources.interface.Reader`."""
        items = self._items_of(len(self._items), entry, share)
        self._items.append(items)
        self._pending.append(_Pending(entry))
        if (item := next(items, None)) is not None:
            heapq.heappush(self._next, item)

    @property
    def is_open(self) -> bool:
        """See :class:`app.sources.interface.Reader`."""
        return bool(self._next)

    def due_us(self) -> int:
        """See :class:`app.sources.interface.Reader`."""
        if not self._next:
            return NEVER_US
        item = self._next[0]
        is_paced = self._pending[item.match_number].entry.speed > 0 or item.is_check
        return item.due_us if is_paced and not self._waiter.stopped else 0

    def read(self, wait_us: int) -> Iterator[SourceRow]:
        """See :class:`app.sources.interface.Reader`."""
        until_us = wall_us() + wait_us
        while self._next:
            due_us, now_us = self.due_us(), wall_us()
            if due_us > now_us:
                yield from self._flush()
                if now_us >= until_us:
                    return
                self._waiter.sleep_until(min(due_us, until_us))
                continue
            item = self._next[0]
            yield from self._take(item)
            following = next(self._items[item.match_number], None)
            if following is None:
                heapq.heappop(self._next)
            else:
                heapq.heapreplace(self._next, following)

    def _take(self, item: _Item) -> Iterator[SourceRow]:
        """Takes a due item; yields the rows that it fills or closes."""
        pending = self._pending[item.match_number]
        if item.payload:
            due_us = 0 if self._waiter.stopped else item.due_us if pending.entry.speed else wall_us()
            yield from pending.add(item, (item.arrival_us, due_us, item.payload))
        elif item.closes:
            yield from pending.flush()
            match, failed = pending.entry.match, item.failed
            log_event(
                _log, logging.INFO, "range read", match, start=item.start, end=item.end, last=item.last, failed=failed
            )
            yield SourceRow(match, item.start, item.end, closing=True, last=item.last, failed=failed)

    def _flush(self) -> Iterator[SourceRow]:
        for pending in self._pending:
            yield from pending.flush()

    def _items_of(self, number: int, entry: Entry, share: float) -> Iterator[_Item]:
        """Yields a recording's blocks and the ends of its windows; an error ends the iteration with a failure."""
        at_us = end_us = entry.begin
        due_us, last_us = 0, entry.begin - 1
        try:
            pace = None
            closed = 0
            while not closed or self._has_another(entry, closed):
                recording = self._open(entry.spec)
                is_live = recording.live_zero_us is not None and not recording.is_finished
                if pace is None:
                    pace = self._pace(entry, recording.live_zero_us if is_live else None, at_us)
                if entry.speed or recording.live_zero_us is not None:
                    end_us = self._end_us(pace, at_us, 1 if closed or not entry.speed else share)
                else:
                    end_us = end_past_silence_us(recording, at_us, self._batch.window_us)
                end_us = min(end_us, entry.stop)
                available_us = recording.end_us if recording.is_finished else recording.readable_us
                if available_us < end_us and not is_live and not recording.is_finished and recording.is_growing():
                    if self._batch.stopped():
                        return
                    yield _Item(wall_us() + _GROW_US, number, at_us, at_us)
                    continue
                if available_us <= at_us and recording.is_finished:
                    return
                if not is_live:  # a further read raises the error of a dead producer
                    end_us = min(end_us, max(available_us, at_us + 1))
                for arrival_us, payload in _blocks(recording, entry, at_us, end_us, is_live=is_live):
                    if not payload:
                        if self._batch.stopped():
                            if last_us >= at_us:
                                yield _Item(due_us, number, at_us, last_us + 1, closes=True)
                            return
                        yield _Item(wall_us() + _LIVE_US, number, at_us, end_us)
                        continue
                    last_us = arrival_us
                    due_us = pace.due_wall_us(arrival_us) if entry.speed else arrival_us
                    yield _Item(due_us, number, at_us, end_us, arrival_us, payload)
                if is_live and recording.is_finished:
                    end_us = min(end_us, max(recording.end_us, at_us + 1))
                last = not _goes_on(recording, end_us)
                due_us = max(due_us, pace.due_wall_us(end_us) if entry.speed else end_us)
                yield _Item(due_us, number, at_us, end_us, closes=True, last=last)
                if last or end_us >= entry.stop:
                    return
                at_us, closed = end_us, closed + 1
        except Exception as error:  # any error here concerns this match only
            yield _Item(due_us, number, at_us, end_us, closes=True, failed=reason_of(error))

    def _pace(self, entry: Entry, live_zero_us: int | None, at_us: int) -> Pace:
        """Pace of a match: that of the run, or a live recording's own."""
        if live_zero_us is not None and entry.speed:
            return Pace(1.0, 0, live_zero_us)
        return anchored_pace(self._batch.anchor(entry.match), entry.speed, at_us)

    def _has_another(self, entry: Entry, closed: int) -> bool:
        return self._batch.has_another(entry.match) if entry.speed else closed < self._batch.windows

    def _end_us(self, pace: Pace, at_us: int, share: float) -> int:
        """End of a window that begins at ``at_us``; the micro-batch's end if less than half a window would remain."""
        window_us = self._batch.window_us
        if not pace.speed:
            return at_us + window_us
        length_us, left_us = share * window_us, self._batch.until_us - pace.due_wall_us(at_us)
        return at_us + max(1, round((left_us if left_us < length_us + window_us / 2 else length_us) * pace.speed))


class _Pending:
    """Blocks of a match that form its next row."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._range = (entry.begin, entry.begin)
        self._blocks: list[TimedBlock] = []
        self._size = 0

    def add(self, item: _Item, block: TimedBlock) -> Iterator[SourceRow]:
        """Adds a block; yields the row if it is large enough."""
        self._range = (item.start, item.end)
        self._blocks.append(block)
        self._size += len(item.payload)
        if self._size >= MAX_ROW_BYTES:
            yield from self.flush()

    def flush(self) -> Iterator[SourceRow]:
        """Yields the collected blocks as a row."""
        if self._blocks:
            blocks, self._blocks, self._size = self._blocks, [], 0
            yield SourceRow(self.entry.match, *self._range, blocks)


def _blocks(
    recording: Recording, entry: Entry, start_us: int, end_us: int, *, is_live: bool
) -> Iterator[tuple[int, bytes]]:
    """Blocks of a range, merged with official lines; of a live recording empty ones where it would wait."""
    if is_live:
        blocks = cast(LiveRecording, recording).live_payloads(start_us, end_us)
    else:
        blocks = recording.payloads(start_us, end_us)
    if not entry.officials:
        return blocks
    feed = OfficialFeed(Path(entry.officials[0]), tuple(map(Path, entry.officials[1:])))
    return feed.interleaved(blocks, start_us, end_us, lambda: _goes_on(recording, end_us))


def _goes_on(recording: Recording, end_us: int) -> bool:
    """True if a match goes on after a window; a live one that has not ended does, though nothing may come for long."""
    if recording.live_zero_us is not None and not recording.is_finished:
        return True
    return recording.has_blocks_from(end_us)
