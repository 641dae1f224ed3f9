"""Segments of a capture's folder, and the tail of a live one, as readers go through them."""

from __future__ import annotations

import fcntl
import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from football.errors import CaptureError
from football.packet_table import Ints, Packets, block_times
from football.packets import Block
from replay.capture_documents import END, LENGTH_MAX_US, LOCK, PASSED, End, Head, Passed, read_document
from replay.capture_tail import TailReader, newest_tail, tail_path
from replay.segments import read_segment

#: Pauses of a reader that waits for a segment, and for a block of a live capture; interval at which the latter looks
#: for later segments, which costs a listing of the folder.
_LOOK_S, _LIVE_LOOK_S, _LATER_S = 0.02, 0.002, 0.05

#: Time that a gateway has to be started again, before a reader gives its live capture up.
_RESUME_S = 60.0

_SEGMENT = re.compile(r"\d{7,15}|-\d{6,15}", re.ASCII)


class CaptureSegments:
    """The segments of a capture that is read, finished or growing.

    Attributes:
        path: the folder.
        head: its document.
        begin_us, slot_us: as in the head.
        tail: of a live capture; None of any other.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self.path, self.head = path, head
        self.begin_us, self.slot_us = head.begin_us, head.slot_us
        self.tail = None if head.live_zero_us is None else TailReader(path)
        self._end: End | None = None
        self._known: set[int] = set()
        self._latest: tuple[int, Packets, Ints] | None = None

    @property
    def end(self) -> End | None:
        """Metadata of the end, None while it grows."""
        if self._end is None and (self.path / END).exists():
            end = read_document(self.path / END, End)
            if end.end_us - self.begin_us > LENGTH_MAX_US:
                raise CaptureError(f"{self.path / END}: ends {end.end_us - self.begin_us} us after its beginning")
            self._end = end
        return self._end

    @property
    def is_finished(self) -> bool:
        """True once the writer has finished it."""
        return self.end is not None

    def finished(self) -> End:
        """Return the metadata of the end.

        Raises:
            CaptureError: it still grows.
        """
        if (end := self.end) is None:
            raise CaptureError(f"{self.path}: is not finished: it has no {END}")
        return end

    def live_blocks(self, start_us: int, end_us: int, *, waits: bool = False) -> Iterator[Block | None]:
        """Yield the blocks of a range of a live capture as they arrive.

        Args:
            start_us, end_us: the range; it is over with the first later block, with the capture's end, or when its
                gateway has stated that the time has passed.
            waits: wait for a block that is not there yet; else yield None, and look again when asked.

        Raises:
            CaptureError: the writer has stopped, and nobody has started it again.
        """
        assert self.tail is not None
        length_us, since_s, looked_s = self.head.segment_us, time.monotonic(), 0.0
        passed_us = -(2**62)  # read before the tail was looked at last
        at_us = max(start_us, self.begin_us)
        number, has_later = at_us // length_us - 1, False
        while at_us < end_us:
            if at_us // length_us != number:
                number, has_later, looked_s = at_us // length_us, False, 0.0
            until_us = min(end_us, (number + 1) * length_us)
            finished = self.is_finished
            is_written = (self.path / segment_name(number)).exists()
            is_over = is_written or has_later or tail_path(self.path, number + 1).exists()
            found = self.tail.blocks(number)
            first = bisect_left(found, at_us, key=_arrival_of)
            if first < len(found):
                for block in found[first : bisect_left(found, until_us, key=_arrival_of)]:
                    at_us = block.arrival_us + 1
                    yield block
                if found[-1].arrival_us >= end_us:
                    return
                since_s = time.monotonic()
            elif is_over and self.tail.is_reading(number):
                at_us = until_us  # the tail was over when its end was read
            elif is_written:
                for batch, _ in self.dated(at_us, until_us):
                    yield from batch.blocks(self.slot_us)
                at_us = until_us
            elif finished:
                return
            elif passed_us > at_us:
                at_us = min(passed_us, until_us)
            elif time.monotonic() > looked_s + _LATER_S:
                looked_s = time.monotonic()
                passed_us, has_later = self._passed_us(), self._has_later(number)
                if has_later and not self._has_any(number):
                    at_us = until_us  # nothing arrived in this segment's time
            else:
                if not self.is_growing() and time.monotonic() > since_s + _RESUME_S:
                    raise CaptureError(f"{self.path}: its gateway stopped {_RESUME_S:g} s ago")
                if waits:
                    time.sleep(_LIVE_LOOK_S)
                else:
                    yield None

    def _passed_us(self) -> int:
        """Arrival time up to which the gateway has written everything, as far as it has said so."""
        path = self.path / PASSED
        return read_document(path, Passed).at_us if path.exists() else -(2**62)

    def _has_later(self, number: int) -> bool:
        """True if a segment after ``number`` is there, or its tail."""
        return max(max(self.segment_numbers(), default=number), newest_tail(self.path) or number) > number

    def _has_any(self, number: int) -> bool:
        """True if a segment or its tail is there. A tail is deleted only when its segment is there, so it is first."""
        return tail_path(self.path, number).exists() or (self.path / segment_name(number)).exists()

    def dated(self, start_us: int, end_us: int) -> Iterator[tuple[Packets, Ints]]:
        """Yield packets of a range, at most a segment at a time, and the dates of their blocks."""
        if end_us <= start_us:
            return
        length_us = self.head.segment_us
        number, last = max(start_us, self.begin_us) // length_us, (end_us - 1) // length_us
        while number <= last and not (self.is_finished and number * length_us >= self.end_us):
            found = self.next_segment(number)
            if found is None or found > last:
                return
            _, batch, times = self.segment(found)
            first, stop = (int(i) for i in np.searchsorted(times, [start_us, end_us]))
            if first < stop:
                yield batch.part(first, stop), times[first:stop]
            number = found + 1

    def segment_numbers(self) -> set[int]:
        """Return the numbers of the segments that are there now.

        Raises:
            CaptureError: a file has the name of a segment that no match has.
        """
        numbers = set()
        first, length_us = self.begin_us // self.head.segment_us, self.head.segment_us
        for path in self.path.glob("*.arrow"):
            number = int(path.stem) if _SEGMENT.fullmatch(path.stem) else None
            if number is None or not first - 1 <= number <= first + LENGTH_MAX_US // length_us:
                raise CaptureError(f"{path}: no segment of a match: its number must lie near that of the first one")
            numbers.add(number)
        self._known = numbers
        return numbers

    def next_segment(self, number: int) -> int | None:
        """Return the first segment from ``number`` on; None once it is certain that there is none. Waits until then."""
        while number not in self._known:
            finished, growing = self.is_finished, self.is_growing()
            if any(known > number for known in self.segment_numbers()):
                # One that was listed after its successor was there is listed now, if it exists.
                return min(known for known in self.segment_numbers() if known >= number)
            if number in self._known:
                break
            if finished:
                return None
            if not growing and not self.is_finished:
                raise CaptureError(
                    f"{self.path}: ends at {max(self._known, default=-1) + 1} x {self.head.segment_us} us without"
                    f" an {END}: its writer stopped before the match was over"
                )
            time.sleep(_LOOK_S)
        return number

    def is_growing(self) -> bool:
        """True while a process writes it."""
        try:
            handle = os.open(self.path / LOCK, os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(handle)

    def segment(self, number: int) -> tuple[int, Packets, Ints]:
        """Return a segment, from a cache of one."""
        if self._latest is None or self._latest[0] != number:
            batch, length_us = read_segment(self.path / segment_name(number)), self.head.segment_us
            arrival_us = batch.arrival_us
            within = len(batch) and number * length_us <= arrival_us[0] and arrival_us[-1] < (number + 1) * length_us
            if not within or np.any(np.diff(arrival_us) < 0):
                raise CaptureError(f"{self.path / segment_name(number)}: has no packets, or some of another time")
            self._latest = number, batch, block_times(batch.arrival_us, self.slot_us)
        return self._latest


def segment_name(number: int) -> str:
    """Return the name of a segment's file."""
    return f"{number:07d}.arrow"


def _arrival_of(block: Block) -> int:
    return block.arrival_us
