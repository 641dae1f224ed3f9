"""Health is measured twice a second of a live match, and every five seconds where all is final on arrival."""

from __future__ import annotations

import pytest

from app.pipeline.pipeline import MatchPipeline
from football.match_sheet import MatchSheet, Quality
from football.packets import Block, Packet
from replay import wire


@pytest.mark.parametrize(("is_final", "count"), [(False, 10), (True, 4)])
def test_health_is_measured_less_often_where_all_is_final(is_final: bool, count: int) -> None:
    pipeline = MatchPipeline(MatchSheet(quality=Quality(framed=True)))
    measured = []
    for second in range(0, 20, 2):
        times_us = range(second * 1_000_000, (second + 2) * 1_000_000, 40_000)
        blocks = [
            (
                ts_us,
                0,
                wire.encode(Block(ts_us, (Packet("home_1", ts_us // 40_000, (ts_us,), (1.0,), (2.0,), (0.0,)),))),
            )
            for ts_us in times_us
        ]
        message = pipeline.push_together(blocks, times_us[-1] if is_final else None)
        if message is not None and message.health is not None:
            measured.append(message.now_us)
    assert len(measured) == count
    assert pipeline.finish().health is not None
