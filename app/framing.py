"""How blocks travel through a Spark row: several of them, each with its times, in one binary value.

Spark's cost is by the row, so at full speed a row carries many blocks; paced, it carries what is due now.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_HEAD = struct.Struct("<qqI")


def pack(arrival_us: int, due_wall_us: int, payload: bytes) -> bytes:
    """One block: when it arrived (stream's clock), when it reached the source (wall clock), and its bytes."""
    return _HEAD.pack(arrival_us, due_wall_us, len(payload)) + payload


def unpack(frames: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The blocks of a row, as (arrival_us, due_wall_us, payload).

    Raises:
        ValueError: the bytes end within a block.

    >>> list(unpack(pack(5, 7, b"ab") + pack(6, 8, b"")))
    [(5, 7, b'ab'), (6, 8, b'')]
    """
    position = 0
    while position < len(frames):
        if position + _HEAD.size > len(frames):
            raise ValueError("a row ends within the head of a block")
        arrival_us, due_wall_us, size = _HEAD.unpack_from(frames, position)
        position += _HEAD.size
        if position + size > len(frames):
            raise ValueError(f"a row ends within the block that arrived at {arrival_us} us")
        yield arrival_us, due_wall_us, frames[position : position + size]
        position += size
