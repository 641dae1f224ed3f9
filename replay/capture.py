"""A capture: a match as it reached the gateway, packet by packet, in a folder of Arrow files that may still grow.

Theory of operation
-------------------
``head.json`` has the match sheet, the quality of the input, its origin and its radio channel. Each segment,
``0000012.arrow``, is one Arrow IPC file with the packets whose arrival lies in its interval of ``segment_us``: one
row a packet, the positions as a list of structs (event time, position in mm, quality of location in percent, and
velocity and acceleration where the source gives them; a missing value is null). A segment's name is its time, so a
time is found without an index. A rename gives it that name, so a segment that exists is whole. ``end.json`` comes
last: a capture that has it is finished.

The packets that the gateway passes on together are a *block*: those of one slot, dated by the latest of them. A range
of arrival times holds the blocks dated within it. The same range therefore gives the same blocks, whenever and
however often it is read. That makes an arrival time an exact offset of a streaming source.

A capture may be read while it grows. The writer holds a lock on ``writer.lock`` until it closes. A reader at the
edge waits for the next segment. If no process holds the lock and there is no end, the reader raises an error.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Annotated, TypeVar

import msgspec
import numpy as np

from football.errors import CaptureError
from football.input_quality import InputFinding
from football.match_sheet import MatchSheet
from football.packet_table import Ints, Packets, block_times, from_blocks
from football.packets import Block, RejectedRecord
from football.untrusted import LISTING_BYTES_MAX, Count, UntrustedError, Whole, decode_json, read_json
from replay import wire
from replay.segments import merge, read_segment, write_segment

#: Version of the layout.
VERSION = "2"

#: Arrival time in a segment: what a writer holds, and what the first look into a time costs.
SEGMENT_US, HOUR_US = 5_000_000, 3_600_000_000

#: Arrival time from the first block to the end: a longer capture is no match, and its windows would never end.
LENGTH_MAX_US = 31 * 24 * HOUR_US

HEAD, END, LOCK = "head.json", "end.json", "writer.lock"

_LOOK_S = 0.02
_BLOCKS_AT_ONCE = 256
_SEGMENT = re.compile(r"\d{7,15}|-\d{6,15}", re.ASCII)


class Head(msgspec.Struct, frozen=True):
    """Metadata at a capture's beginning.

    Attributes:
        version: see ``VERSION``.
        sheet: match sheet, with the input's quality.
        fingerprint: of the content's origin, so that an identical capture need not be made again.
        channel, seed: radio channel that the packets came through.
        slot_us: of the gateway, see :func:`football.packet_table.block_times`.
        segment_us: see ``SEGMENT_US``.
        begin_us: date of the first block.
        notes: further metadata.
    """

    version: str
    sheet: MatchSheet
    fingerprint: str
    channel: str
    seed: int
    slot_us: Count
    segment_us: Annotated[int, msgspec.Meta(gt=0, le=HOUR_US)]
    begin_us: Whole
    notes: dict[str, str]


class End(msgspec.Struct, frozen=True):
    """Metadata of a finished capture.

    Attributes:
        end_us: one past the date of the last block.
        blocks, packets, positions: their numbers.
        notes: further metadata.
        late_most_us: greatest time from a position's measurement to its block's date; None if it was not measured.
    """

    end_us: Whole
    blocks: Count
    packets: Count
    positions: Count
    notes: dict[str, str]
    late_most_us: Whole | None = None


Document = TypeVar("Told", Head, End)
_Listed = TypeVar("_Listed")


class CaptureWriter:
    """Writes a capture; a context manager. Leaving it without an exception finishes the capture.

    Args:
        path: the folder. Segments of the same fingerprint are reused; anything else in it is deleted.
        sheet: match sheet; its quality is stored too.
        fingerprint, channel, seed, slot_us: see :class:`Head`.
        notes: further metadata, known at the beginning.

    Attributes:
        closing_notes: further metadata, known at the end, e.g. counts of lost packets.
        written_us: everything that arrives before this time is in segments.

    Raises:
        CaptureError: another process writes the folder, or slots do not divide a segment.
    """

    def __init__(
        self,
        path: Path,
        sheet: MatchSheet,
        *,
        fingerprint: str = "",
        channel: str = "none",
        seed: int = 0,
        slot_us: int = 0,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        self._head = Head(VERSION, sheet, fingerprint, channel, seed, slot_us, SEGMENT_US, 0, dict(notes or {}))
        if slot_us and SEGMENT_US % slot_us:
            raise CaptureError(f"{self.path}: slots of {slot_us} us do not divide a segment of {SEGMENT_US} us")
        self.closing_notes: dict[str, str] = {}
        self.written_us = -(2**62)
        self._open: list[Packets] = []
        self._segment: int | None = None
        self._last_us = -(2**62)
        self._has_head = False
        self._blocks = self._packets = self._positions = self._lateness_max_us = 0
        self._forgotten_us = -(2**62)

    def __enter__(self) -> CaptureWriter:
        if self.path.is_file():
            self.path.unlink()
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise CaptureError(f"{self.path}: another process is writing it") from None
        self._has_head = self._is_mine()
        if not self._has_head:
            for file in self.path.iterdir():
                if file.name != LOCK:
                    file.unlink()
        return self

    def _is_mine(self) -> bool:
        """True if the folder's segments were begun by a writer of the same content."""
        try:
            head = _read(self.path / HEAD, Head)
        except CaptureError:
            return False
        mine = self._head
        same = (head.version, head.fingerprint, head.segment_us) == (mine.version, mine.fingerprint, mine.segment_us)
        return same and bool(mine.fingerprint)

    def write(self, packets: Packets) -> None:
        """Add packets that arrived after all before; those of one slot must come together or in one segment.

        Raises:
            CaptureError: they are older than packets written before.
        """
        if not len(packets):
            return
        arrival_us = packets.arrival_us
        if arrival_us[0] < self._last_us or np.any(np.diff(arrival_us) < 0):
            before_us = max(self._last_us, int(arrival_us[0]))
            raise CaptureError(f"{self.path}: a packet of arrival {arrival_us.min()} us after one of {before_us} us")
        self._last_us = int(arrival_us[-1])
        segments = arrival_us // SEGMENT_US
        edges = [0, *(np.flatnonzero(np.diff(segments)) + 1).tolist(), len(segments)]
        for first, stop in pairwise(edges):
            if self._segment is not None and segments[first] != self._segment:
                self._close_segment()
            self._segment = int(segments[first])
            self._open.append(packets.part(first, stop))

    def forget_before(self, at_us: int) -> None:
        """Delete segments that end before ``at_us``, and write none of them any more."""
        self._forgotten_us = max(self._forgotten_us, at_us)
        for path in self.path.glob("*.arrow"):
            if (int(path.stem) + 1) * SEGMENT_US <= self._forgotten_us:
                path.unlink()

    def extend(self, blocks: Iterable[Block]) -> None:
        """Add blocks in arrival order, each of them with packets.

        Raises:
            CaptureError: arrival does not grow.
        """
        held: list[Block] = []
        last_us = self._last_us
        for block in blocks:
            if block.arrival_us <= last_us:
                raise CaptureError(f"{self.path}: a block of arrival {block.arrival_us} us after one of {last_us} us")
            last_us = block.arrival_us
            held.append(block)
            if len(held) == _BLOCKS_AT_ONCE:
                self.write(from_blocks(held))
                held = []
        self.write(from_blocks(held))

    def _close_segment(self) -> None:
        if self._segment is None:
            return
        batch = merge(self._open)
        times = block_times(batch.arrival_us, self._head.slot_us)
        if not self._has_head:
            head = msgspec.structs.replace(self._head, begin_us=int(times[0]))
            _write(self.path / HEAD, head)
            self._has_head = True
        path = self.path / _name(self._segment)
        end_us = (self._segment + 1) * SEGMENT_US
        if not path.exists() and end_us > self._forgotten_us:
            draft = path.with_suffix(".draft")
            write_segment(draft, batch)
            draft.replace(path)
        self._blocks += len(np.unique(times))
        self._packets += len(batch)
        self._positions += len(batch.ts_us)
        late_us = np.repeat(times, batch.sizes) - batch.ts_us
        self._lateness_max_us = max(self._lateness_max_us, int(late_us.max(initial=0)))
        self.written_us = end_us
        self._open, self._segment = [], None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._close_segment()
                if not self._has_head:
                    _write(self.path / HEAD, self._head)
                end_us = self._last_us + 1 if self._packets else 0
                counts = self._blocks, self._packets, self._positions
                record = End(end_us, *counts, self.closing_notes, self._lateness_max_us)
                _write(self.path / END, record)
        finally:
            os.close(self._lock)


class Capture:
    """A capture opened for reading. Reading a range has no effect on another.

    Attributes:
        path: the folder.
        sheet: match sheet, with the input's quality.
        begin_us: date of the first block; 0 if there is none.
        fingerprint, channel, seed, slot_us: as in the head.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self.path, self._head = path, head
        self.sheet, self.begin_us = head.sheet, head.begin_us
        self.fingerprint, self.channel, self.seed, self.slot_us = (
            head.fingerprint,
            head.channel,
            head.seed,
            head.slot_us,
        )
        self._end: End | None = None
        self._known: set[int] = set()
        self._latest: tuple[int, Packets, Ints] | None = None

    @classmethod
    def open(cls, path: Path | str) -> Capture:
        """Open a capture, or the one in the subfolder ``capture``; it may still grow.

        Raises:
            CaptureError: no such folder, or not a capture of this version.
        """
        path = Path(path)
        if not (path / HEAD).exists() and (path / "capture" / HEAD).exists():
            path = path / "capture"
        if path.is_file():
            raise CaptureError(
                f"{path}: not a capture of version {VERSION}: that is a folder with a {HEAD}, not a file"
            )
        head = _read(path / HEAD, Head)
        if head.version != VERSION:
            raise CaptureError(f"{path}: not a capture of version {VERSION} (version found: {head.version})")
        return cls(path, head)

    @property
    def end(self) -> End | None:
        """Metadata of the end, None while it grows."""
        if self._end is None and (self.path / END).exists():
            end = _read(self.path / END, End)
            if end.end_us - self.begin_us > LENGTH_MAX_US:
                raise CaptureError(f"{self.path / END}: ends {end.end_us - self.begin_us} us after its beginning")
            self._end = end
        return self._end

    @property
    def is_finished(self) -> bool:
        """True once the writer has finished it."""
        return self.end is not None

    @property
    def end_us(self) -> int:
        """One past the date of the last block; 0 if there is none.

        Raises:
            CaptureError: it still grows.
        """
        return self._finished().end_us

    @property
    def readable_us(self) -> int:
        """One past the date of the last block in a segment: earlier blocks are read without waiting."""
        if self.is_finished:
            return self.end_us
        segments = self._segments()
        return (max(segments) + 1) * self._head.segment_us if segments else self.begin_us

    @property
    def late_most_us(self) -> int | None:
        """Greatest time from a position's measurement to its block's date; None while that is not known."""
        return self.end.late_most_us if self.end else None

    def __len__(self) -> int:
        """Number of blocks; the capture must be finished."""
        return self._finished().blocks

    @property
    def notes(self) -> dict[str, str]:
        """Further metadata of the beginning and, once there, of the end."""
        return {**self._head.notes, **(self.end.notes if self.end else {})}

    @property
    def rejected(self) -> tuple[RejectedRecord, ...]:
        """Records of the source that fit into no packet: they belong to the match's quarantine."""
        return self._listed("rejected", tuple[RejectedRecord, ...])

    @property
    def findings(self) -> tuple[InputFinding, ...]:
        """Findings of the reader of the source."""
        return self._listed("findings", tuple[InputFinding, ...])

    def _listed(self, note: str, kind: type[_Listed]) -> _Listed:
        try:
            return decode_json(self.notes.get(note, "[]"), kind, LISTING_BYTES_MAX)
        except UntrustedError as error:
            raise CaptureError(f"{self.path}: its note {note} cannot be read: {error}") from error

    def _finished(self) -> End:
        if (end := self.end) is None:
            raise CaptureError(f"{self.path}: is not finished: it has no {END}")
        return end

    def has_blocks_from(self, at_us: int) -> bool:
        """Return whether a block is dated ``at_us`` or later; wait until that is certain.

        Raises:
            CaptureError: it will never be certain, because the writer has stopped.
        """
        number = at_us // self._head.segment_us
        while True:
            if self.is_finished:
                return self.end_us > at_us
            found = self._next_segment(number)
            if found is not None and (found > number or bool(self._segment(found)[2][-1] >= at_us)):
                return True
            number += 1

    def packets(self, start_us: int, end_us: int) -> Iterator[Packets]:
        """Yield packets of blocks dated ``start_us <= date < end_us``, in arrival order, at most a segment at a time.

        Waits for segments that are still to be written.

        Raises:
            CaptureError: a segment is damaged, or the writer stopped before the end.
        """
        for batch, _ in self._dated(start_us, end_us):
            yield batch

    def blocks(self, start_us: int, end_us: int) -> Iterator[Block]:
        """Yield the blocks of a range, otherwise as :meth:`packets`."""
        for batch, _ in self._dated(start_us, end_us):
            yield from batch.blocks(self.slot_us)

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """Yield (date, :mod:`replay.wire` bytes) of the blocks of a range, otherwise as :meth:`packets`."""
        for block in self.blocks(start_us, end_us):
            yield block.arrival_us, wire.encode(block)

    def _dated(self, start_us: int, end_us: int) -> Iterator[tuple[Packets, Ints]]:
        """Packets of a range and the dates of their blocks."""
        if end_us <= start_us:
            return
        length_us = self._head.segment_us
        number, last = max(start_us, self.begin_us) // length_us, (end_us - 1) // length_us
        while number <= last and not (self.is_finished and number * length_us >= self.end_us):
            found = self._next_segment(number)
            if found is None or found > last:
                return
            _, batch, times = self._segment(found)
            first, stop = (int(i) for i in np.searchsorted(times, [start_us, end_us]))
            if first < stop:
                yield batch.part(first, stop), times[first:stop]
            number = found + 1

    def _segments(self) -> set[int]:
        """Numbers of the segments that are there now.

        Raises:
            CaptureError: a file has the name of a segment that no match has.
        """
        numbers = set()
        first, length_us = self.begin_us // self._head.segment_us, self._head.segment_us
        for path in self.path.glob("*.arrow"):
            number = int(path.stem) if _SEGMENT.fullmatch(path.stem) else None
            if number is None or not first - 1 <= number <= first + LENGTH_MAX_US // length_us:
                raise CaptureError(f"{path}: no segment of a match: its number must lie near that of the first one")
            numbers.add(number)
        self._known = numbers
        return numbers

    def _next_segment(self, number: int) -> int | None:
        """Return the first segment from ``number`` on; None once it is certain that there is none. Waits until then."""
        while number not in self._known:
            finished, growing = self.is_finished, self.is_growing()
            if any(known > number for known in self._segments()):
                # One that was listed after its successor was there is listed now, if it exists.
                return min(known for known in self._segments() if known >= number)
            if number in self._known:
                break
            if finished:
                return None
            if not growing and not self.is_finished:
                raise CaptureError(
                    f"{self.path}: ends at {max(self._known, default=-1) + 1} x {self._head.segment_us} us without"
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

    def _segment(self, number: int) -> tuple[int, Packets, Ints]:
        """Return a segment, from a cache of one."""
        if self._latest is None or self._latest[0] != number:
            batch, length_us = read_segment(self.path / _name(number)), self._head.segment_us
            arrival_us = batch.arrival_us
            within = len(batch) and number * length_us <= arrival_us[0] and arrival_us[-1] < (number + 1) * length_us
            if not within or np.any(np.diff(arrival_us) < 0):
                raise CaptureError(f"{self.path / _name(number)}: has no packets, or some of another time")
            self._latest = number, batch, block_times(batch.arrival_us, self.slot_us)
        return self._latest


def _name(number: int) -> str:
    return f"{number:07d}.arrow"


def _write(path: Path, record: Head | End) -> None:
    draft = path.with_suffix(".draft")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    draft.replace(path)


def _read(path: Path, kind: type[Document]) -> Document:
    try:
        return read_json(path, kind, LISTING_BYTES_MAX)
    except FileNotFoundError as error:
        what = f"it has no {path.name}" if path.parent.is_dir() else "no such folder"
        raise CaptureError(f"{path.parent}: not a capture: {what}") from error
    except (OSError, UntrustedError) as error:
        raise CaptureError(f"{path}: not a readable capture: {error}") from error
