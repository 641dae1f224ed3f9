"""The gate of a match's input: decodes, measures and validates each block before the engine gets it."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from football.input_quality import InputQuality
from football.match_sheet import MatchSheet
from football.packets import Block, InstantBlock, RejectedRecord
from replay.block_validation import decode_block, validator_of
from replay.quality.meter import InputMeter

#: Interval at which the quality is summed up, in arrival time, and reasons of refused records that it lists.
PERIOD_US, REASONS = 5_000_000, 5


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

    def quality(self, meter: InputMeter, now_us: int, packets: int, lost: int, refused: Counter[str]) -> InputQuality:
        """Return the quality of the input, measured anew every few seconds.

        Args:
            meter: of the match.
            now_us: arrival time; ``2**62`` measures in any case.
            packets: number of valid packets.
            lost: number of those that were not taken in.
            refused: number of refused records by reason.
        """
        if now_us >= meter.due_us:
            meter.due_us = now_us + PERIOD_US
            reasons = dict(refused.most_common(REASONS))
            meter.summary = replace(
                meter.quality(), packets=packets, lost=lost, refused=refused.total(), refused_reasons=reasons
            )
        return meter.summary
