"""3.5 to 3.7: jumps, players on the ground, legs that swing."""

from __future__ import annotations

import math

from detectors.bodies.limbs import Jump, LegSwing, PlayerDown
from football.match_sheet import MatchSheet
from football.payloads import LimbRun
from middleware.events import Event
from tests.detectors import stage
from tests.detectors.scene import fold, rows_of

SHEET = MatchSheet(quality=stage.RTLS)


def limb(ms: int, name: str, z_m: float, x_m: float = 0.0, vx_m_s: float = 0.0) -> Event:
    run = LimbRun("home_2", "home", name, ((ms * 1000, x_m, 0.0, z_m, vx_m_s, 0.0),))
    return Event("foot.run" if "foot" in name else "limb.run", ms * 1000, f"home_2/{name}", ms, run)


def feet(left: list[tuple[int, float]], right: list[tuple[int, float]]) -> list[Event]:
    """Heights by millisecond; each holds until the next one; a sample every 20 ms, hands that swing between."""
    out = []
    for ms in range(0, 4000, 20):
        for name, heights, shift in (("left_foot", left, 0), ("right_foot", right, 7)):
            out.append(limb(ms + shift, name, [z for at, z in heights if at <= ms][-1]))
        out.append(limb(ms + 11, "left_hand", 0.9 + 0.5 * math.sin(ms / 200.0)))
    return out


def test_both_feet_off_the_ground_for_long_enough_is_a_jump():
    out = fold(Jump(SHEET), feet([(0, 0.05), (1000, 0.4), (1400, 0.05)], [(0, 0.05), (1020, 0.4), (1380, 0.05)]))
    assert [(e.kind, e.ts_us, e.payload.player) for e in out] == [
        ("jump.take_off", 1_027_000, "home_2"),
        ("jump.land", 1_387_000, "home_2"),
    ]
    assert out[1].payload.detail["air_us"] == 360_000


def test_one_foot_a_short_hop_or_a_low_one_are_no_jumps():
    high = [(0, 0.05), (1000, 0.4), (2000, 0.05)]
    assert fold(Jump(SHEET), feet(high, [(0, 0.05)])) == []
    assert fold(Jump(SHEET), feet(high, [(0, 0.05), (1500, 0.4), (1600, 0.05)])) == []
    assert fold(Jump(SHEET), feet(high, [(0, 0.05), (1000, 0.15), (2000, 0.05)])) == []


def test_a_runner_whose_feet_are_up_by_turns_does_not_jump():
    left = [(ms, 0.3 if ms // 200 % 2 else 0.05) for ms in range(0, 4000, 200)]
    right = [(ms, 0.05 if ms // 200 % 2 else 0.3) for ms in range(0, 4000, 200)]
    assert fold(Jump(SHEET), feet(left, right)) == []


def test_a_foot_whose_transmitter_fell_silent_in_the_air_is_not_up_for_ever():
    events = feet([(0, 0.05), (1000, 0.4)], [(0, 0.05), (2000, 0.4), (3000, 0.05)])
    heard = [e for e in events if not (e.source.endswith("left_foot") and e.ts_us > 1_100_000)]
    assert fold(Jump(SHEET), heard) == []


def test_one_wrong_height_does_not_lower_the_ground():
    events = feet([(0, 0.05), (1000, -0.3), (1020, 0.05), (1500, 0.15)], [(0, 0.05), (1500, 0.15)])
    assert fold(Jump(SHEET), events) == []


def hands(heights: list[tuple[int, float]], speed_m_s: float = 0.0, right: float | None = None) -> list[Event]:
    out = []
    for ms in range(0, 6000, 20):
        z_m = [z for at, z in heights if at <= ms][-1]
        out.append(limb(ms, "left_hand", z_m, speed_m_s * ms / 1000))
        out.append(limb(ms + 7, "right_hand", z_m if right is None else right, speed_m_s * ms / 1000))
        out.append(limb(ms + 9, "left_foot", 0.05))
    return out


def test_hands_near_the_ground_for_a_second_are_a_player_down_until_they_stay_up():
    out = fold(PlayerDown(SHEET), hands([(0, 0.9), (1000, 0.2), (2500, 0.5), (2600, 0.2), (4000, 0.9)]))
    assert rows_of(out) == [("player.down", "", "home"), ("player.up", "", "home")]
    assert out[0].ts_us == 1_007_000
    assert 4_300_000 <= out[1].ts_us <= 4_350_000


def test_who_stoops_briefly_crawls_or_reaches_down_with_one_hand_is_not_down():
    low = [(0, 0.9), (1000, 0.2), (1900, 0.9)]
    assert fold(PlayerDown(SHEET), hands(low)) == []
    assert fold(PlayerDown(SHEET), hands([(0, 0.9), (1000, 0.2)], speed_m_s=0.8)) == []
    assert fold(PlayerDown(SHEET), hands([(0, 0.9), (1000, 0.2)], right=0.9)) == []


def legs(right: list[tuple[int, float]], run_m_s: float = 0.0) -> list[Event]:
    """Speeds of the right foot by millisecond; the left one's steps: still, then twice the body's speed."""
    out = []
    x = {"left_foot": 0.0, "right_foot": 0.0}
    for ms in range(0, 3000, 20):
        phase = ms // 200 % 2
        speeds = {"left_foot": 2 * run_m_s * phase, "right_foot": 2 * run_m_s * (1 - phase)}
        speeds["right_foot"] += next((v for at, v in reversed(right) if at <= ms), 0.0)
        for shift, (name, v) in enumerate(speeds.items()):
            x[name] += v * 0.02
            out.append(limb(ms + 7 * shift, name, 0.1, x[name], v))
    return out


def test_a_foot_that_gets_fast_swings_once():
    out = fold(LegSwing(), legs([(0, 0.0), (1500, 15.0), (1600, 4.0), (1700, 0.0)]))
    assert [(e.ts_us, e.payload.variant, e.payload.player) for e in out] == [(1_507_000, "right", "home_2")]
    assert out[0].payload.detail["speed_m_s"] == 15.0


def test_after_it_was_slow_again_it_may_swing_again():
    out = fold(LegSwing(), legs([(0, 0.0), (1000, 15.0), (1100, 0.0), (2000, 12.0), (2100, 0.0)]))
    assert [e.ts_us for e in out] == [1_007_000, 2_007_000]


def test_strides_of_a_sprinter_are_no_swings():
    assert fold(LegSwing(), legs([], run_m_s=9.0)) == []


def test_hands_are_no_legs():
    assert fold(LegSwing(), [limb(ms, "right_hand", 1.0, 0.0, 15.0) for ms in range(0, 500, 20)]) == []
