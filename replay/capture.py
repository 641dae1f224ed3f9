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

A gateway writes a *live* capture: its blocks can be read the moment they arrive (:mod:`replay.capture_tail`), and a
gateway that is started again goes on with it. A thread makes its segments, since that takes tens of milliseconds, in
which the gateway would receive nothing.

A capture may be read while it grows. The writer holds a lock on ``writer.lock`` until it closes. A reader at the
edge waits for the next segment. If no process holds the lock and there is no end, the reader raises an error.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec
import numpy as np

from football.errors import CaptureError, CaptureInUseError
from football.input_quality import InputFinding
from football.match_sheet import MatchSheet
from football.packet_table import Packets, block_times, from_blocks
from football.packets import Block, RejectedRecord
from football.untrusted import LISTING_BYTES_MAX, UntrustedError, decode_json
from replay import wire
from replay.capture_documents import (
    END,
    HEAD,
    LENGTH_MAX_US,
    LOCK,
    PASSED,
    SEGMENT_US,
    VERSION,
    WRITTEN,
    End,
    Head,
    Passed,
    Written,
    read_document,
    write_document,
)
from replay.capture_segments import CaptureSegments, segment_name
from replay.capture_tail import TailReader, TailWriter, drop_tail, newest_tail, tail_numbers
from replay.refused_records import RefusedReader
from replay.segments import merge, write_segment

_BLOCKS_AT_ONCE = 256

#: The same of a live capture: few enough that the gateway does not stand still for them.
_BLOCKS_APPENDED = 32


_Listed = TypeVar("_Listed")


class CaptureWriter:
    """Writes a capture; a context manager. Leaving it without an exception finishes the capture.

    Args:
        path: the folder. Segments of the same fingerprint are reused; anything else in it is deleted.
        sheet: match sheet; its quality is stored too.
        fingerprint, channel, seed, slot_us: see :class:`Head`.
        notes: further metadata, known at the beginning.
        live_zero_us: UTC of time 0, of a live capture. A live capture of the same fingerprint is continued, with its
            own zero; a folder with anything else is refused.
        utc_error_us: greatest error of that zero, if it is known.

    Attributes:
        closing_notes: further metadata, known at the end, e.g. counts of lost packets.
        written_us: everything that arrives before this time is in segments.
        live_zero_us: UTC of time 0, of a live capture.

    Raises:
        CaptureInUseError: another process writes the folder.
        CaptureError: slots do not divide a segment; of a live capture also a folder that holds something else.
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
        live_zero_us: int | None = None,
        utc_error_us: int | None = None,
    ) -> None:
        self.path = Path(path)
        noted = dict(notes or {})
        self._head = Head(
            VERSION, sheet, fingerprint, channel, seed, slot_us, SEGMENT_US, 0, noted, live_zero_us, utc_error_us
        )
        self._tail = None if live_zero_us is None else TailWriter(self.path)
        self._background = None if live_zero_us is None else ThreadPoolExecutor(1, "capture-segments")
        self._writing: Future[None] | None = None
        self._held: list[Block] = []
        self.live_zero_us = live_zero_us
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
            raise CaptureInUseError(f"{self.path}: another process is writing it") from None
        self._has_head = self._is_mine()
        if self._tail is not None:
            try:
                self._continue_live()
            except CaptureError:
                self._close_files()
                raise
        elif not self._has_head:
            for file in self.path.iterdir():
                if file.name != LOCK:
                    file.unlink()
        return self

    def _is_mine(self) -> bool:
        """True if the folder's segments were begun by a writer of the same content."""
        try:
            head = read_document(self.path / HEAD, Head)
        except CaptureError:
            return False
        mine = self._head
        same = (head.version, head.fingerprint, head.segment_us) == (mine.version, mine.fingerprint, mine.segment_us)
        return same and bool(mine.fingerprint)

    def _continue_live(self) -> None:
        """Take up a live capture where its writer stopped."""
        if not self._has_head:
            if any(file.name != LOCK for file in self.path.iterdir()):
                raise CaptureError(f"{self.path}: holds something else already: name another folder")
            return
        if (self.path / END).exists():
            raise CaptureError(f"{self.path}: is a capture that has ended: name another folder")
        self.live_zero_us = read_document(self.path / HEAD, Head).live_zero_us
        if (self.path / WRITTEN).exists():
            written = read_document(self.path / WRITTEN, Written)
            self._blocks, self._packets, self._positions, self._lateness_max_us = msgspec.structs.astuple(written)
        segments = [int(path.stem) for path in self.path.glob("*.arrow")]
        if segments:
            self._last_us = (max(segments) + 1) * SEGMENT_US - 1
            self.written_us = self._last_us + 1
        for tail in tail_numbers(self.path):
            if tail in segments:
                drop_tail(self.path, tail)
            else:
                self.write(from_blocks(TailReader(self.path).blocks(tail)))
        if (self.path / PASSED).exists():
            self._last_us = max(self._last_us, read_document(self.path / PASSED, Passed).at_us)

    def append(self, block: Block) -> None:
        """Add a block of a live capture; it can be read when this returns.

        Positions are whole millimetres and qualities whole percents, so that tail and segment hold the same.

        Raises:
            CaptureError: arrival does not grow.
            OSError: an earlier segment could not be written.
        """
        assert self._tail is not None, "the capture is not live"
        if block.arrival_us <= self._last_us:
            raise CaptureError(f"{self.path}: a block of {block.arrival_us} us after one of {self._last_us} us")
        number = block.arrival_us // SEGMENT_US
        if self._segment is not None and number != self._segment:
            self._close_segment()
        if not self._has_head:
            write_document(self.path / HEAD, msgspec.structs.replace(self._head, begin_us=block.arrival_us))
            self._has_head = True
        self._tail.append(number, block)
        self._segment, self._last_us = number, block.arrival_us
        self._held.append(block)
        if len(self._held) == _BLOCKS_APPENDED:
            self._take_held()

    def pass_time(self, at_us: int) -> None:
        """State that all blocks of a live capture up to ``at_us`` are there, so that readers need not wait for more.

        Later blocks must be dated later. Before the first block, and for a time that is over, nothing happens.
        """
        if self._has_head and at_us > self._last_us:
            self._last_us = at_us
            write_document(self.path / PASSED, Passed(at_us))

    def _take_held(self) -> None:
        if self._held:
            self._open.append(from_blocks(self._held))
            self._held = []

    @property
    def last_us(self) -> int:
        """Arrival time of the newest block, or one that has passed since; a far past one before the first."""
        return self._last_us

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
        """Write the open segment; of a live capture in the background, once the one before is written."""
        if self._segment is None:
            return
        self._take_held()
        packets, number = self._open, self._segment
        self._open, self._segment = [], None
        if self._background is None:
            self._write_segment(number, packets)
            return
        self._finish_writing()
        self._writing = self._background.submit(self._write_segment, number, packets)

    def _finish_writing(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def _write_segment(self, number: int, packets: list[Packets]) -> None:
        batch = merge(packets)
        times = block_times(batch.arrival_us, self._head.slot_us)
        if not self._has_head:
            head = msgspec.structs.replace(self._head, begin_us=int(times[0]))
            write_document(self.path / HEAD, head)
            self._has_head = True
        path = self.path / segment_name(number)
        end_us = (number + 1) * SEGMENT_US
        if not path.exists() and end_us > self._forgotten_us:
            draft = path.with_suffix(".draft")
            write_segment(draft, batch)
            draft.replace(path)
        self._blocks += len(np.unique(times))
        self._packets += len(batch)
        self._positions += len(batch.ts_us)
        late_us = np.repeat(times, batch.sizes) - batch.ts_us
        self._lateness_max_us = max(self._lateness_max_us, int(late_us.max(initial=0)))
        if self._tail is not None:
            counts = self._blocks, self._packets, self._positions, self._lateness_max_us
            write_document(self.path / WRITTEN, Written(*counts))
            drop_tail(self.path, number)
        self.written_us = end_us

    def _close_files(self) -> None:
        if self._background is not None:
            self._background.shutdown()
        if self._tail is not None:
            self._tail.close()
        os.close(self._lock)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._close_segment()
                self._finish_writing()
                if not self._has_head:
                    write_document(self.path / HEAD, self._head)
                end_us = self._last_us + 1 if self._packets else 0
                counts = self._blocks, self._packets, self._positions
                record = End(end_us, *counts, self.closing_notes, self._lateness_max_us)
                write_document(self.path / END, record)
        finally:
            self._close_files()


class Capture(CaptureSegments):
    """A capture opened for reading. Reading a range has no effect on another.

    Attributes:
        path: the folder.
        sheet: match sheet, with the input's quality.
        begin_us: date of the first block; 0 if there is none.
        fingerprint, channel, seed, slot_us, live_zero_us, utc_error_us: as in the head.
    """

    def __init__(self, path: Path, head: Head) -> None:
        super().__init__(path, head)
        self.sheet, self.fingerprint, self.channel, self.seed = head.sheet, head.fingerprint, head.channel, head.seed
        self.live_zero_us, self.utc_error_us = head.live_zero_us, head.utc_error_us
        self._refused = None if head.live_zero_us is None else RefusedReader(path)

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
        head = read_document(path / HEAD, Head)
        if head.version != VERSION:
            raise CaptureError(f"{path}: not a capture of version {VERSION} (version found: {head.version})")
        return cls(path, head)

    @property
    def end_us(self) -> int:
        """One past the date of the last block; 0 if there is none.

        Raises:
            CaptureError: it still grows.
        """
        return self.finished().end_us

    @property
    def readable_us(self) -> int:
        """One past the date of the last block in a segment: earlier blocks are read without waiting."""
        if self.is_finished:
            return self.end_us
        segments = self.segment_numbers()
        edge_us = (max(segments) + 1) * self.head.segment_us if segments else self.begin_us
        if self.tail is not None and (number := newest_tail(self.path)) is not None:
            blocks = self.tail.blocks(number)
            edge_us = max(edge_us, blocks[-1].arrival_us + 1 if blocks else 0)
        return edge_us

    @property
    def late_most_us(self) -> int | None:
        """Greatest time from a position's measurement to its block's date; None while that is not known."""
        return self.end.late_most_us if self.end else None

    def __len__(self) -> int:
        """Number of blocks; the capture must be finished."""
        return self.finished().blocks

    @property
    def notes(self) -> dict[str, str]:
        """Further metadata of the beginning and, once there, of the end."""
        return {**self.head.notes, **(self.end.notes if self.end else {})}

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

    def has_blocks_from(self, at_us: int) -> bool:
        """Return whether a block is dated ``at_us`` or later; wait until that is certain.

        Raises:
            CaptureError: it will never be certain, because the writer has stopped.
        """
        if self.tail is not None and not self.is_finished:
            return any(block is not None for block in self.live_blocks(at_us, LENGTH_MAX_US * 2, waits=True))
        number = at_us // self.head.segment_us
        while True:
            if self.is_finished:
                return self.end_us > at_us
            found = self.next_segment(number)
            if found is not None and (found > number or bool(self.segment(found)[2][-1] >= at_us)):
                return True
            number += 1

    def packets(self, start_us: int, end_us: int) -> Iterator[Packets]:
        """Yield packets of blocks dated ``start_us <= date < end_us``, in arrival order, at most a segment at a time.

        Waits for segments that are still to be written.

        Raises:
            CaptureError: a segment is damaged, or the writer stopped before the end.
        """
        for batch, _ in self.dated(start_us, end_us):
            yield batch

    def blocks(self, start_us: int, end_us: int) -> Iterator[Block]:
        """Yield the blocks of a range, otherwise as :meth:`packets`."""
        if self.tail is not None and not self.is_finished:
            yield from (block for block in self.live_blocks(start_us, end_us, waits=True) if block is not None)
            return
        for batch, _ in self.dated(start_us, end_us):
            yield from batch.blocks(self.slot_us)

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """Yield (date, :mod:`replay.wire` bytes) of the blocks of a range, otherwise as :meth:`packets`.

        Of a live capture also payloads of :mod:`replay.refused_records`.
        """
        blocks = self._encoded(start_us, end_us)
        yield from blocks if self._refused is None else self._refused.among(blocks, start_us, end_us)

    def _encoded(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        if not self.sheet.quality.framed or (self.tail is not None and not self.is_finished):
            for block in self.blocks(start_us, end_us):
                yield block.arrival_us, wire.encode(block)
            return
        for batch, _ in self.dated(start_us, end_us):
            for packed in batch.packed_blocks(self.slot_us):
                yield packed.arrival_us, wire.encode(packed)

    def live_payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """As :meth:`payloads`, of a live capture; empty bytes where a block is not there yet."""
        assert self._refused is not None
        yield from self._refused.among(self._encoded_live(start_us, end_us), start_us, end_us)

    def _encoded_live(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        last_us = start_us
        for block in self.live_blocks(start_us, end_us):
            if block is None:
                yield last_us, b""
            else:
                last_us = block.arrival_us
                yield last_us, wire.encode(block)
