"""Blocks leave a padded row as they entered it, and a damaged row is refused."""

from __future__ import annotations

import pytest

from app.pipeline.framing import pack, pad, unpack


def test_padded_rows_give_back_their_blocks_and_damaged_ones_are_refused():
    blocks = [(1, 2, b"abc"), (3, 4, bytes(2000))]
    row = pad(b"".join(pack(*block) for block in blocks))
    assert len(row) % 64 == 0
    assert list(unpack(row)) == blocks
    with pytest.raises(ValueError, match="arrived at 3 us"):
        list(unpack(row[:1000]))
