"""How blocks travel through a Spark row: several of them, each with its times, in one binary value.

Spark's cost is by the row, so at full speed a row carries many blocks; paced, it carries what is due now.

Rows are padded, because a row that is not pushed out whole waits for the one after it. Python's buffered
writer passes on at once only what is larger than its buffer, and keeps what is smaller, the few bytes of
Arrow's alignment included, until more comes. So a row's bytes are the last column, are larger than the buffer
(``spark.buffer.size``, 512) and are a multiple of Arrow's alignment, so that nothing follows them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from app.sources.interface import Framed

#: Blocks that are later than this are taken together, as many as came within a share of what they are late by.
LATE_US, SHARE, TOGETHER_MAX_US = 50_000, 0.25, 500_000

#: So are those of a recording that is played as fast as it can be. Less than the engine's memory, since what is later
#: than that is told only between two portions.
RECORDED_US = 1_000_000

_HEAD = struct.Struct("<qqI")
_ALIGNMENT = 64
_LEAST = 1024


def pack(arrival_us: int, due_wall_us: int, payload: bytes) -> bytes:
    """One block: when it arrived (stream's clock), when it reached the source (wall clock), and its bytes."""
    if not payload:
        raise ValueError(f"the block that arrived at {arrival_us} us is empty: it lacks even its version byte")
    return _HEAD.pack(arrival_us, due_wall_us, len(payload)) + payload


def pad(frames: bytes) -> bytes:
    """``frames`` filled up with zeros, which :func:`unpack` leaves out.

    >>> len(pad(b"")), len(pad(bytes(1024))), len(pad(bytes(1025)))
    (1024, 1024, 1088)
    """
    size = max(_LEAST, -(-len(frames) // _ALIGNMENT) * _ALIGNMENT)
    return frames.ljust(size, b"\0")


def unpack(frames: bytes) -> Iterator[Framed]:
    """The blocks of a row, as (arrival_us, due_wall_us, payload). An empty payload begins the padding.

    Raises:
        ValueError: the bytes end within a block.

    >>> list(unpack(pad(pack(5, 7, b"ab") + pack(6, 8, b"c"))))
    [(5, 7, b'ab'), (6, 8, b'c')]
    """
    position = 0
    while position + _HEAD.size <= len(frames):
        arrival_us, due_wall_us, size = _HEAD.unpack_from(frames, position)
        position += _HEAD.size
        if size == 0:
            return
        if position + size > len(frames):
            raise ValueError(f"a row ends within the block that arrived at {arrival_us} us")
        yield arrival_us, due_wall_us, frames[position : position + size]
        position += size


def together(blocks: Iterable[Framed], now_us: int) -> Iterator[list[Framed]]:
    """Blocks in portions to be worked on: one by one while they are in time, more at once while they are late.

    A block of its own costs a walk through all detectors, and what is said too soon and taken back by the next one. Who
    is late saves half of that, and so is in time again the sooner. What is not paced is never late.

    >>> [len(some) for some in together([(i * 100_000, 1, b"") for i in range(7)], 1_200_000)]
    [3, 3, 1]
    >>> [len(some) for some in together([(i * 100_000, 1, b"") for i in range(22)], 9_000_000)]
    [5, 5, 5, 5, 2]
    >>> [len(some) for some in together([(0, 1_500_000, b""), (1, 0, b"")], 2_000_000)]
    [1, 1]
    """

    def span_us(block: Framed) -> float:
        late_us = now_us - block[1] if block[1] else 0
        return min(SHARE * late_us, TOGETHER_MAX_US) if late_us > LATE_US else 0

    return divided(blocks, span_us)


def divided(blocks: Iterable[Framed], span_us_at: Callable[[Framed], float]) -> Iterator[list[Framed]]:
    """Blocks in portions that span less than what is told at each block (arrival time); 0 for a portion of its own.

    >>> [len(some) for some in divided([(i * 100_000, 1, b"") for i in range(4)], lambda block: 250_000)]
    [3, 1]
    """
    portion: list[Framed] = []
    for block in blocks:
        span_us = span_us_at(block)
        if portion and block[0] - portion[0][0] >= span_us:
            yield portion
            portion = []
        portion.append(block)
        if not span_us:
            yield portion
            portion = []
    if portion:
        yield portion
