"""The gate of a match's input: decodes, measures and validates each block before the engine gets it."""

from __future__ import annotations

from football.match_sheet import MatchSheet
from football.packets import Block, InstantBlock, RejectedRecord
from replay.block_validation import decode_block, validator_of
from replay.quality.meter import InputMeter


def sizes_of(block: Block | InstantBlock) -> tuple[int, int]:
    """Return the numbers of packets and positions of a block."""
    if isinstance(block, InstantBlock):
        return len(block.instant.names), len(block.instant.names)
    return len(block.packets), sum([len(packet.ts_us) for packet in block.packets])


class InputGate:
    """Decodes and validates the blocks of one match. The meter is part of the pipeline's state.

    Args:
        sheet: of the match.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self._checks = validator_of(sheet)

    def admit(
        self, payload: bytes, arrival_us: int, meter: InputMeter
    ) -> tuple[Block | InstantBlock | None, tuple[RejectedRecord, ...]]:
        """Return what is valid of a payload, None if it is no block, and the records that are refused.

        The meter sees both.
        """
        where = f"block that arrived at {arrival_us} us"
        block, bad = decode_block(payload, where)
        if block is None:
            return None, bad
        meter.add_block(block, arrival_us)
        block, bad = self._checks.check_decoded(block, where)
        if bad:
            meter.refuse(bad)
        return block, bad
