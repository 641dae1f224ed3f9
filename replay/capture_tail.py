"""The tail of a live capture: blocks of the segment that is still open, readable the moment they are written.

A segment holds five seconds, and a reader of a live match waits for milliseconds. So a writer that is live appends each
block to ``0000012.tail`` as well: a length of four bytes, and the block on the wire (:mod:`replay.wire`). When the
segment is there, its tail is deleted; until then there may be a second one, of the segment after it. After a crash
the tails have what the segments would have had.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from football.errors import CaptureError
from football.packets import Block
from replay import wire

_LENGTH_BYTES = 4


def tail_path(folder: Path, number: int) -> Path:
    """Return the file of a segment's tail."""
    return folder / f"{number:07d}.tail"


class TailWriter:
    """Appends blocks to the tail of the open segment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._number: int | None = None

    def append(self, number: int, block: Block) -> None:
        """Append a block to a segment's tail; the block is readable when this returns."""
        if number != self._number:
            self.close()
            self._file = tail_path(self._folder, number).open("ab", buffering=0)
            self._number = number
        assert self._file is not None
        payload = wire.encode(block)
        self._file.write(len(payload).to_bytes(_LENGTH_BYTES, "big") + payload)

    def close(self) -> None:
        """Close the file; it stays."""
        if self._file is not None:
            self._file.close()
        self._file = self._number = None


class TailReader:
    """Reads the tail of one segment after the other, each block once from the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number: int | None = None
        self._file: BinaryIO | None = None
        self._rest = b""
        self._blocks: list[Block] = []

    def is_reading(self, number: int) -> bool:
        """True if a segment's tail is open: its blocks can be read to the last one, even if it is deleted."""
        return number == self._number and self._file is not None

    def blocks(self, number: int) -> list[Block]:
        """Return the blocks of a segment's tail so far; none if there is no tail.

        Raises:
            CaptureError: the tail is damaged.
        """
        if number != self._number:
            self._close()
            self._number = number
        if self._file is None:
            try:
                self._file = tail_path(self._folder, number).open("rb")
            except FileNotFoundError:
                return []
        self._take(self._file.read())
        return self._blocks

    def _take(self, data: bytes) -> None:
        data = self._rest + data
        at = 0
        while len(data) - at >= _LENGTH_BYTES:
            size = int.from_bytes(data[at : at + _LENGTH_BYTES], "big")
            if size > wire.PAYLOAD_BYTES_MAX:
                raise CaptureError(f"{self._folder}: the tail of segment {self._number} is damaged")
            if len(data) - at - _LENGTH_BYTES < size:
                break
            at += _LENGTH_BYTES
            try:
                block = wire.decode(data[at : at + size])
            except wire.WireError as error:
                raise CaptureError(f"{self._folder}: the tail of segment {self._number}: {error}") from error
            if self._blocks and block.arrival_us <= self._blocks[-1].arrival_us:
                raise CaptureError(f"{self._folder}: the tail of segment {self._number}: arrival does not grow")
            self._blocks.append(block)
            at += size
        self._rest = data[at:]

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._rest, self._blocks = None, b"", []

    def __del__(self) -> None:
        self._close()


def drop_tail(folder: Path, number: int) -> None:
    """Delete the tail of a segment that is written; a reader that has it open still reads all of it."""
    tail_path(folder, number).unlink(missing_ok=True)


def newest_tail(folder: Path) -> int | None:
    """Return the number of the newest segment that has a tail."""
    return max(tail_numbers(folder), default=None)


def tail_numbers(folder: Path) -> list[int]:
    """Return the numbers of the segments that have a tail, oldest first."""
    return sorted(int(name[:-5]) for name in os.listdir(folder) if name.endswith(".tail") and name[:-5].isdecimal())
