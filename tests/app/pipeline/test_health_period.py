"""Health: how often it is measured, and what it says of each unit and of the watermark."""

from __future__ import annotations

import pytest

from app.pipeline.pipeline import MatchPipeline
from football.match_sheet import MatchSheet, Quality
from football.packets import Block, Packet
from football.update_stream import WatermarkHold
from replay import wire


def blocks_from(second: int) -> list[tuple[int, int, bytes]]:
    """Blocks of two seconds of one player, 25 a second."""
    times_us = range(second * 1_000_000, (second + 2) * 1_000_000, 40_000)
    packets = [Packet("home_1", ts_us // 40_000, (ts_us,), (1.0,), (2.0,), (0.0,)) for ts_us in times_us]
    return [(ts_us, 0, wire.encode(Block(ts_us, (one,)))) for ts_us, one in zip(times_us, packets, strict=True)]


@pytest.mark.parametrize(("is_final", "count"), [(False, 10), (True, 4)])
def test_health_is_measured_less_often_where_all_is_final(is_final: bool, count: int) -> None:
    pipeline = MatchPipeline(MatchSheet(quality=Quality(framed=True)))
    measured = []
    for second in range(0, 20, 2):
        blocks = blocks_from(second)
        message = pipeline.push_together(blocks, blocks[-1][0] if is_final else None)
        if message is not None and message.health is not None:
            measured.append(message.now_us)
    assert len(measured) == count
    assert pipeline.finish().health is not None


def test_health_says_what_each_detector_costs_and_what_holds_the_watermark_back() -> None:
    pipeline = MatchPipeline(MatchSheet(quality=Quality(framed=True)))
    healths = []
    for second in range(0, 8, 2):
        for arrival_us, due_us, payload in blocks_from(second):
            message = pipeline.push(payload, arrival_us, due_us)
            if message is not None and message.health is not None:
                healths.append(message.health)
        pipeline.take_tables()
        pipeline.inspect_detectors()
    first, last = healths[0], healths[-1]
    assert not first.work_shares, "nothing was timed before the first window's end"
    assert sum(last.work_shares.values()) == pytest.approx(1, abs=0.02)
    assert all(share > 0 for share in last.work_shares.values())
    assert last.hold == WatermarkHold("none"), "the only source has reported up to the newest position"
