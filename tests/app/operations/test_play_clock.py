"""Play without a pass: a pause of the sources is none."""

from __future__ import annotations

from app.operations.play_clock import PlayClock
from football.update_stream import EventRecord, UpdateRecord

S = 1_000_000


def update(seq: int, kind: str, at_s: float, **detail: int) -> UpdateRecord:
    ts_us = round(at_s * S)
    event = EventRecord(f"{kind}#{ts_us}", kind, "", 6, ts_us, "", "", None, None, None, 1.0, (), dict(detail))
    return UpdateRecord(seq, 1, ts_us, event)


def test_half_time_is_no_play_before_and_after_its_stoppage_is_known():
    clock = PlayClock()
    clock.apply([update(0, "play.live", 0), update(1, "pass.attempt", 90)])
    assert clock.since_pass_s(100 * S) == 10.0
    assert clock.since_pass_s(1_000 * S) == 10.0
    clock.apply([update(2, "play.dead", 1_000, since_us=100 * S)])
    assert clock.since_pass_s(1_005 * S) <= 10.0
    clock.apply([update(3, "play.live", 1_010)])
    assert clock.since_pass_s(1_020 * S) <= 20.0
