"""Blocks in a Spark row: their encoding in one binary value, and their grouping into portions for the engine.

Spark's cost is per row, so at full speed a row carries many blocks; in a paced run it carries those that are due.

Rows are padded, because a row that is not flushed completely waits for the next one. Python's buffered writer passes on
at once only writes that are larger than its buffer. It retains smaller ones, such as the few bytes of Arrow's
alignment, until more data follow. A row's bytes are therefore the last column, are larger than the buffer
(``spark.buffer.size``, 512) and are a multiple of Arrow's alignment, so that no bytes follow them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator

from app.base.pace import NEVER_US
from app.sources.interface import TimedBlock

#: Blocks that are later than this form portions. A portion spans this share of their lateness, and at most this much
#: arrival time.
LATE_US, SHARE, TOGETHER_MAX_US = 50_000, 0.25, 500_000

#: Most arrival time of a portion that is folded, and its share of the lateness from which portions are folded. That is
#: twice the allowed lateness, so a portion spans less than the allowed lateness, as :data:`RECORDED_US` does.
FOLDED_MAX_US, FOLDED_SHARE = 2_000_000, 1 / 3

#: Arrival time of a portion of a recording that is played at full speed. It is less than the allowed lateness, since
#: the engine reports lost inputs only between two portions. Each portion costs a walk through all detectors:
#: decision 026 has the figures.
RECORDED_US = 2_000_000

#: The same where nothing is lost and nothing waits for what is late: the lateness of a recording of whole frames is
#: known. A third of a window; a radio recording, which takes seconds for so much, gains nothing by it.
RECORDED_FRAMES_US = 10_000_000

_HEAD = struct.Struct("<qqI")
_ALIGNMENT = 64
_LEAST = 1024


def pack(arrival_us: int, due_wall_us: int, payload: bytes) -> bytes:
    """Encodes one block: arrival time (stream's clock), time at the source (wall clock), and payload."""
    if not payload:
        raise ValueError(f"the block that arrived at {arrival_us} us is empty: it lacks even its version byte")
    return _HEAD.pack(arrival_us, due_wall_us, len(payload)) + payload


def pad(frames: bytes) -> bytes:
    """Pads ``frames`` with zeros, which :func:`unpack` skips.

    >>> len(pad(b"")), len(pad(bytes(1024))), len(pad(bytes(1025)))
    (1024, 1024, 1088)
    """
    size = max(_LEAST, -(-len(frames) // _ALIGNMENT) * _ALIGNMENT)
    return frames.ljust(size, b"\0")


def unpack(frames: bytes) -> Iterator[TimedBlock]:
    """Decodes the blocks of a row, as (arrival_us, due_wall_us, payload). An empty payload begins the padding.

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


def together(blocks: Iterable[TimedBlock], now_us: int, folded_us: int = NEVER_US) -> Iterator[list[TimedBlock]]:
    """Groups blocks into portions: single blocks while they are in time, larger portions while they are late.

    Each portion costs a walk through all detectors, and updates that the next portion withdraws. A late stage saves
    half of that work with larger portions, and so catches up sooner. Unpaced blocks (``due_wall_us`` 0) are never late.

    Args:
        blocks: in order of arrival.
        now_us: wall time.
        folded_us: lateness from which portions are folded and may span more.

    >>> [len(some) for some in together([(i * 100_000, 1, b"") for i in range(7)], 1_200_000)]
    [3, 3, 1]
    >>> [len(some) for some in together([(i * 100_000, 1, b"") for i in range(22)], 9_000_000)]
    [5, 5, 5, 5, 2]
    >>> [len(some) for some in together([(0, 1_500_000, b""), (1, 0, b"")], 2_000_000)]
    [1, 1]
    >>> [len(some) for some in together([(i * 100_000, 1, b"") for i in range(22)], 9_000_000, 6_000_000)]
    [20, 2]
    """

    def span_us(block: TimedBlock) -> float:
        late_us = now_us - block[1] if block[1] else 0
        most_us = min(FOLDED_MAX_US, FOLDED_SHARE * folded_us) if late_us > folded_us else TOGETHER_MAX_US
        return min(SHARE * late_us, most_us) if late_us > LATE_US else 0

    return divided(blocks, span_us)


def recorded_us(*, framed: bool, late_us: int | None) -> int:
    """Returns the arrival time of a portion of a recording that is played at full speed.

    Args:
        framed: True if an instant of the input is one frame.
        late_us: how late its packets are at most; None if that is not known.

    >>> [recorded_us(framed=framed, late_us=late_us) for framed, late_us in ((True, 0), (True, None), (False, 0))]
    [10000000, 2000000, 2000000]
    """
    return RECORDED_FRAMES_US if framed and late_us is not None else RECORDED_US


def divided(blocks: Iterable[TimedBlock], span_us_at: Callable[[TimedBlock], float]) -> Iterator[list[TimedBlock]]:
    """Groups blocks into portions that span less arrival time than ``span_us_at`` of each block; 0 for single blocks.

    >>> [len(some) for some in divided([(i * 100_000, 1, b"") for i in range(4)], lambda block: 250_000)]
    [3, 1]
    """
    portion: list[TimedBlock] = []
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
