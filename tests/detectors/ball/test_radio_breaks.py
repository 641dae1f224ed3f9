"""Corners of a ball as radio measures it; trunks above feet; a ball that is carried; a pass that is blocked at once."""

from __future__ import annotations

import random
from itertools import pairwise

import msgspec
import pytest

from detectors.ball.changes import AccelerationPeak, _is_bounce
from detectors.ball.radio_breaks import fits_radio_breaks, window_states
from detectors.ball.trajectory_breaks import TrajectoryBreak
from detectors.contacts.hits import PlayerHitsBall
from detectors.emission import make_event
from detectors.proximity.near import Candidate, Closest, Near
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState, EventPayload, LimbRun
from middleware.events import Event
from tests.detectors.scene import chained, fold, frame_event

LIVE = Quality(200.0, 50.0, ("left_foot", "right_foot"), True, 0.02, "rtls")
SHEET = MatchSheet(quality=LIVE)
STEP_S = 0.005


def ball(waypoints: list[tuple[float, float, float]], seed: int, noise_m: float = 0.02) -> list[Event]:
    """``ball.state`` every 5 ms on straight ways between (second, x, y), each place wrong by noise."""
    chance = random.Random(seed)
    events: list[Event] = []
    for i in range(round(waypoints[-1][0] / STEP_S)):
        at_s = i * STEP_S
        a, b = next((a, b) for a, b in pairwise(waypoints) if a[0] <= at_s < b[0])
        share = (at_s - a[0]) / (b[0] - a[0])
        x, y = (a[k] + (b[k] - a[k]) * share + chance.gauss(0.0, noise_m) for k in (1, 2))
        state = BallState(x, y, 0.11 + chance.gauss(0.0, noise_m), 0.0, 0.0, 0.0, 5_000, run=min(i + 1, 100))
        events.append(Event("ball.state", round(at_s * 1e6), "ball", i, state))
    return events


def test_a_window_is_as_long_as_the_noise_asks_for():
    assert window_states(LIVE) == 37
    assert window_states(Quality(2000.0, 200.0, LIVE.limbs, True, 0.02, "rtls")) == 19
    assert fits_radio_breaks(LIVE)
    assert not fits_radio_breaks(Quality())


@pytest.mark.parametrize("seed", range(6))
def test_a_touch_of_2_m_s_is_found_amid_2_cm_of_noise(seed: int):
    out = chained(ball([(0, 0, 0), (1, 4, 0), (2, 8, 2.2)], seed), AccelerationPeak(SHEET))
    assert len(out) == 1
    payload = out[0].payload
    assert isinstance(payload, EventPayload)
    assert abs(out[0].ts_us - 1_000_000) <= 30_000
    assert abs(payload.detail["delta_vy_m_s"] - 2.2) < 4 * 0.3


@pytest.mark.parametrize("seed", range(4))
def test_a_ball_that_rolls_has_no_kink(seed: int):
    assert chained(ball([(0, -20, 0), (10, 20, 5)], seed), AccelerationPeak(SHEET)) == []


def test_two_contacts_60_ms_apart_are_two():
    out = chained(ball([(0, 0, 0), (1, 5, 0), (1.06, 5.9, 0), (2, 5.9, 12)], 1), AccelerationPeak(SHEET))
    assert [round(event.ts_us / 1e4) for event in out] == pytest.approx([100, 106], abs=1)


@pytest.mark.parametrize("seed", range(6))
def test_a_weak_contact_40_ms_after_another_is_found_by_the_whole_way_through_both(seed: int):
    """The 8 states between alone tell the speed there with an error of 0.4 m/s or more."""
    turned = ball([(0, 0, 0), (1, 2, 0), (1.04, 2.08, 0.16), (2, 5.92, 0.16)], seed, noise_m=0.012)
    peaks = chained(turned, AccelerationPeak(SHEET))
    assert [event.ts_us for event in peaks] == pytest.approx([1_000_000, 1_040_000], abs=15_000)


@pytest.mark.parametrize("seed", range(6))
def test_one_contact_alone_has_no_second_one_near_it(seed: int):
    assert len(chained(ball([(0, 0, 0), (1, 2, 0), (2, 2, 9)], seed), AccelerationPeak(SHEET))) == 1


def test_a_step_there_and_back_within_10_ms_is_an_echo():
    way = ball([(0, 0, 0), (2, 6, 0)], 1)
    off = [
        msgspec.structs.replace(e, payload=msgspec.structs.replace(e.payload, y_m=e.payload.y_m + 0.4))
        if 1_000_000 <= e.ts_us < 1_015_000
        else e
        for e in way
    ]
    assert [e for e in chained(off, AccelerationPeak(SHEET)) if e.payload.detail["noise_m_s"] > 1.5] == []


@pytest.mark.parametrize("seed", range(4))
def test_a_kick_that_is_blocked_after_20_ms_is_two_contacts(seed: int):
    out = chained(ball([(0, 0, 0), (1, 3, 0), (1.02, 3.4, 0), (2, 3.4, 9.8)], seed), AccelerationPeak(SHEET))
    assert [round(event.ts_us / 1e4) for event in out] == pytest.approx([100, 102], abs=1)
    kick, block = (event.payload.detail for event in out)
    assert kick["speed_after_m_s"] == pytest.approx(20.0, abs=4.0)
    assert block["speed_before_m_s"] == kick["speed_after_m_s"]
    assert block["speed_after_m_s"] == pytest.approx(10.0, abs=1.0)


def in_flight(begins_m_s: float, seed: int) -> list[Event]:
    """A ball that goes up from a metre above the ground while it goes along."""
    chance = random.Random(seed)
    events = []
    for i, event in enumerate(ball([(0, 0, 0), (0.9, 5, 0)], seed)):
        at_s, state = i * STEP_S, event.payload
        z_m = 1.0 + begins_m_s * at_s - 0.5 * 9.81 * at_s * at_s + chance.gauss(0.0, 0.02)
        lifted = BallState(state.x_m, state.y_m, z_m, 0.0, 0.0, 0.0, 5_000, run=min(i + 1, 100))
        events.append(Event("ball.state", event.ts_us, "ball", i, lifted))
    return events


@pytest.mark.parametrize("seed", range(6))
def test_the_turn_of_a_ball_at_the_top_of_its_flight_is_no_kink(seed: int):
    assert chained(in_flight(4.0, seed), AccelerationPeak(SHEET)) == []


@pytest.mark.parametrize(("before_m_s", "after_m_s", "bounce"), [(4.0, 3.0, True), (4.0, 4.0, True), (2.0, 4.0, False)])
def test_the_ground_never_makes_a_ball_faster_over_it(before_m_s: float, after_m_s: float, bounce: bool):
    break_ = TrajectoryBreak(0, "ball", 0.0, 0.0, 0.1, (before_m_s, 0.0, -3.0), (after_m_s, 0.0, 2.0), 0.3)
    assert _is_bounce(break_, abs(after_m_s - before_m_s)) is bounce


def test_an_echo_that_is_told_by_its_quality_is_no_kink():
    events = ball([(0, 0, 0), (2, 10, 0)], 3)
    for i in range(200, 210):
        state = events[i].payload
        moved = BallState(state.x_m, state.y_m + 0.4, state.z_m, 0.0, 0.0, 0.0, 5_000, 0.4)
        events[i] = Event("ball.state", events[i].ts_us, "ball", i, moved)
    assert chained(events, AccelerationPeak(SHEET)) == []


def _foot(player: str, limb: str, x_m: float, z_m: float = 0.05) -> Event:
    team = "home" if player.startswith("home") else "away"
    run = LimbRun(player, team, limb, ((6_000, x_m, 0.0, z_m, 0.0, 0.0),))
    return Event("foot.run", 6_000, f"{player}/{limb}", 0, run)


def test_a_header_is_of_who_stands_below_and_of_two_of_who_jumps():
    seen, header = (
        Event("ball.state", ts_us, "ball", seq, BallState(0.1, 0.0, 2.3, 0.0, 0.0, 0.0, 5_000))
        for seq, ts_us in enumerate((5_000, 10_000))
    )
    feet = [_foot("home_2", "left_foot", 0.0), _foot("away_4", "left_foot", 0.0, 0.5)]
    closest = [e for e in fold(Near(SHEET), [seen, *feet, header]) if e.kind == "ball.closest"]
    assert [r.key for r in closest[0].payload.candidates] == ["away_4", "home_2"]
    low = Event("ball.state", 15_000, "ball", 2, BallState(0.1, 0.0, 0.4, 0.0, 0.0, 0.0, 5_000))
    below = [e for e in fold(Near(SHEET), [seen, *feet, low]) if e.kind == "ball.closest"]
    assert all(r.limb for e in below for r in e.payload.candidates)


def _peak(at_us: int, vx: float) -> Event:
    detail = {
        "delta_v_m_s": 5.0, "delta_vx_m_s": 5.0, "delta_vy_m_s": 0.0, "bounce": False, "speed_before_m_s": 5.0,
        "speed_after_m_s": vx, "vx_m_s": vx, "vy_m_s": 0.0, "vz_m_s": 0.0,
    }  # fmt: skip
    return make_event(
        "ball.accel_peak", at_us, f"ball:{at_us}", EventPayload("hard", x_m=0.0, y_m=0.0, z_m=1.2, detail=detail)
    )


def test_who_carries_the_ball_hits_it_when_he_gets_it_and_when_he_lets_it_go():
    held = Candidate("home_2", "home_2", "home", "", 0.2, 0.0, 0.1, 3.0, 0.0)
    peaks = [_peak(100_000, 3.5), _peak(600_000, 5.0), _peak(1_200_000, 12.0)]
    frames = [frame_event(i / 50, (0.0, 0.0), [], i) for i in range(80)]
    near = [Event("ball.closest", 0, "ball", 0, Closest((held,)))]
    assert [e.ts_us for e in chained([*frames, *near, *peaks], PlayerHitsBall(SHEET))] == [100_000, 1_200_000]


def test_a_limb_is_between_the_positions_around_an_instant_and_carried_on_after_the_last():
    run = LimbRun("home_2", "home", "left_foot", ((0, 0.0, 0.0, 0.1, 9.0, 9.0), (20_000, 0.2, 0.1, 0.3, 2.0, 0.0)))
    assert run.interpolated(5_000) == pytest.approx((0, 0.05, 0.025, 0.15, 10.0, 5.0))
    assert run.interpolated(30_000) == pytest.approx((20_000, 0.22, 0.1, 0.3, 2.0, 0.0))
    assert run.interpolated(-10_000) == pytest.approx((0, -0.09, -0.09, 0.1, 9.0, 9.0))
