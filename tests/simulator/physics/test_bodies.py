"""Bodies against the limits that they promise, and what jumps, falls and dives come to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from simulator.physics.bodies import (
    ACCELERATION_M_S2,
    BACKWARDS,
    BRAKE_M_S2,
    DIVE_M_S2,
    SHOVE_M_S2,
    SLIDE_M_S2,
    SPEED_MAX_M_S,
    TURN_M_S2,
    Bodies,
)
from simulator.records import PERSONS, TICK_S, Col
from tests.examples import in_two_lengths

ANYWHERE = np.full(PERSONS, np.nan)


def spread() -> np.ndarray:
    """Everybody on his own, ten metres apart."""
    return np.column_stack([np.arange(PERSONS) * 10.0, np.zeros(PERSONS)])


def off(x_m: float, y_m: float) -> np.ndarray:
    """Everybody that far from where he began."""
    return spread() + np.array([x_m, y_m])


def run(bodies: Bodies, targets: np.ndarray, pace: float, ticks: int, facing: np.ndarray = ANYWHERE) -> np.ndarray:
    """(ticks + 1, PERSONS, COLUMNS) of what came of it."""
    rows = [bodies.columns.copy()]
    for _ in range(ticks):
        bodies.run(targets, np.full(PERSONS, pace), facing)
        rows.append(bodies.columns.copy())
    return np.array(rows)


def test_a_sprint_follows_the_linear_profile_of_speed_and_acceleration():
    bodies = Bodies(spread(), np.zeros(PERSONS))
    rows = run(bodies, off(400.0, 0.0), 20.0, 300)
    t = np.arange(301) * TICK_S
    expected = SPEED_MAX_M_S * (1.0 - np.exp(-t * ACCELERATION_M_S2 / SPEED_MAX_M_S))
    late = t > 0.5
    assert np.allclose(rows[late, 3, Col.VX], expected[late], atol=0.15)
    assert np.all(np.diff(rows[:, 3, Col.VX]) >= -1e-9)


def test_nobody_outruns_his_own_top_speed():
    bodies = Bodies(spread())
    bodies.speed_max[:] = np.linspace(7.5, 9.7, PERSONS)
    rows = run(bodies, off(900.0, 0.0), 20.0, 600)
    top = rows[:, :, Col.VX].max(axis=0)
    assert np.all(top <= bodies.speed_max + 1e-6)
    assert np.all(top > bodies.speed_max - 0.2)


def test_he_arrives_without_running_over_and_stays():
    bodies = Bodies(spread())
    goal = off(0.0, 25.0)
    rows = run(bodies, goal, 9.0, 600)
    assert np.abs(rows[-1, :, :2] - goal).max() < 0.02
    assert rows[:, :, Col.Y].max() < 25.1


def test_running_backwards_is_slower_and_looks_the_other_way():
    bodies = Bodies(spread(), np.full(PERSONS, math.pi))
    rows = run(bodies, off(400.0, 0.0), 20.0, 300, np.full(PERSONS, math.pi))
    assert np.all(np.abs(rows[:, 5, Col.HEADING] - math.pi) < 0.01)
    assert rows[-1, 5, Col.VX] == pytest.approx(BACKWARDS * SPEED_MAX_M_S, rel=0.05)


def test_the_heading_follows_the_way_and_never_whirls():
    bodies = Bodies(spread(), np.zeros(PERSONS))
    there = run(bodies, off(0.0, 20.0), 6.0, 100)
    assert there[-1, 4, Col.HEADING] == pytest.approx(math.pi / 2, abs=0.05)
    back = run(bodies, off(0.0, -40.0), 8.0, 200)
    rate = np.abs(np.diff(np.concatenate([there, back[1:]])[:, 4, Col.HEADING])) / TICK_S
    assert rate.max() <= 9.0 + 1e-9


def test_strides_grow_longer_and_quicker_with_speed():
    lengths, rates = [], []
    for pace in (1.4, 3.0, 6.0, 8.0):
        bodies = Bodies(spread())
        rows = run(bodies, off(900.0, 0.0), pace, 400)
        turns = (rows[400, 2, Col.GAIT] - rows[300, 2, Col.GAIT]) / (2.0 * math.pi)
        rates.append(turns / (100 * TICK_S))
        lengths.append((rows[400, 2, Col.X] - rows[300, 2, Col.X]) / turns)
    assert lengths == sorted(lengths)
    assert rates == sorted(rates)
    assert 0.9 < rates[0] < 1.1
    assert 1.9 < rates[3] < 2.4
    assert 3.4 < lengths[3] < 4.4


def test_who_stands_strides_no_more():
    rows = run(Bodies(spread()), spread(), 5.0, 50)
    assert np.ptp(rows[:, :, Col.GAIT], axis=0).max() == 0.0


def test_a_jump_rises_as_high_as_told_and_keeps_its_way():
    bodies = Bodies(spread())
    run(bodies, off(100.0, 0.0), 5.0, 100)
    before = bodies.columns[6].copy()
    bodies.jump(6, 0.5)
    assert bodies.is_busy(6)
    assert not bodies.is_busy(7)
    rows = run(bodies, off(-100.0, 0.0), 5.0, 30)
    assert rows[:, 6, Col.RISE].max() == pytest.approx(0.5, abs=0.01)
    assert rows[1:30, 6, Col.VX] == pytest.approx(before[Col.VX])
    run(bodies, spread(), 5.0, 15)
    assert not bodies.is_busy(6)
    assert bodies.columns[6, Col.RISE] == 0.0


def test_a_fall_slides_lies_and_gets_up_in_the_time_given():
    bodies = Bodies(spread())
    run(bodies, off(100.0, 0.0), 6.0, 150)
    bodies.fall(6, 3.0)
    rows = run(bodies, off(100.0, 0.0), 6.0, 149)
    assert rows[30:90, 6, Col.TILT] == pytest.approx(1.0, abs=1e-6)
    assert rows[90, 6, Col.VX] == 0.0
    assert np.abs(np.diff(rows[:, 6, Col.TILT])).max() < 0.12
    assert bodies.is_busy(6)
    run(bodies, off(100.0, 0.0), 6.0, 2)
    assert not bodies.is_busy(6)
    assert bodies.columns[6, Col.TILT] == 0.0


@pytest.mark.parametrize("reach", [1.5, 2.0, 2.6])
def test_a_dive_takes_the_hands_as_far_as_told(reach: float):
    bodies = Bodies(spread())
    bodies.dive(0, math.pi / 2, reach)
    rows = run(bodies, spread(), 0.0, 25)
    assert rows[-1, 0, Col.Y] + 1.1 == pytest.approx(reach, abs=0.1)
    assert rows[-1, 0, Col.X] == pytest.approx(0.0, abs=1e-6)
    assert rows[-1, 0, Col.HEADING] == pytest.approx(math.pi / 2, abs=0.1)
    lying = run(bodies, spread(), 0.0, 25)
    assert lying[-1, 0, Col.TILT] == pytest.approx(0.9)
    assert lying[-1, 0, Col.RISE] == 0.0


def test_for_a_high_ball_he_leaps_and_for_a_low_one_he_goes_down():
    rows = []
    for height in (0.2, 2.2):
        bodies = Bodies(spread())
        bodies.dive(0, 0.0, 2.0, height)
        rows.append(run(bodies, spread(), 0.0, 20)[:, 0])
    low, high = rows
    assert high[:, Col.RISE].max() > 0.5
    assert low[:, Col.RISE].max() < 0.2
    assert high[-1, Col.TILT] < 0.55 < 0.8 < low[-1, Col.TILT]


def test_two_who_want_the_same_place_do_not_stand_in_each_other():
    positions = spread()
    positions[1] = (0.3, 0.2)
    bodies = Bodies(positions)
    rows = run(bodies, np.zeros((PERSONS, 2)), 5.0, 200)
    gap = np.hypot(*(rows[-1, 0, :2] - rows[-1, 1, :2]))
    assert gap > 0.3


def test_who_is_not_there_stays_away():
    positions = spread()
    positions[9] = np.nan
    bodies = Bodies(positions)
    run(bodies, spread(), 5.0, 5)
    assert np.all(np.isnan(bodies.columns[9]))
    bodies.put(9, 3.0, 4.0, 1.0)
    run(bodies, spread(), 5.0, 5)
    assert np.all(np.isfinite(bodies.columns))


@in_two_lengths(20, 60, seed=st.integers(0, 2**32 - 1))
def test_no_order_makes_anybody_exceed_his_limits(seed: int):
    rng = np.random.default_rng(seed)
    bodies = Bodies(rng.uniform(-40, 40, (PERSONS, 2)), rng.uniform(-4, 4, PERSONS))
    bodies.speed_max[:] = rng.uniform(7.5, 9.7, PERSONS)
    bodies.acceleration_max[:] = rng.uniform(4.5, 7.2, PERSONS)
    for _ in range(12):
        targets = rng.uniform(-50, 50, (PERSONS, 2))
        paces = rng.uniform(0, 12, PERSONS)
        facing = np.where(rng.random(PERSONS) < 0.4, rng.uniform(-9, 9, PERSONS), np.nan)
        chosen = rng.integers(0, PERSONS, 3).tolist()
        bodies.jump(chosen[0], float(rng.uniform(0.1, 0.6)))
        bodies.fall(chosen[1], float(rng.uniform(1.0, 3.0)))
        bodies.dive(chosen[2], float(rng.uniform(-3, 3)), float(rng.uniform(1.0, 3.5)))
        for _ in range(int(rng.integers(5, 40))):
            before = bodies.columns.copy()
            bodies.run(targets, paces, facing)
            after = bodies.columns
            change = after[:, 2:4] - before[:, 2:4]
            rate = np.hypot(change[:, 0], change[:, 1]) / TICK_S
            busy = np.array([bodies.is_busy(p) for p in range(PERSONS)])
            most = max(TURN_M_S2, BRAKE_M_S2, float(bodies.acceleration_max.max()))
            # Who runs into others is shoved as well, by each of them.
            apart = np.hypot(*(before[:, None, :2] - before[None, :, :2]).transpose(2, 0, 1))
            shoved = SHOVE_M_S2 * ((apart < 2.9).sum(axis=1) - 1)
            alone = shoved == 0
            assert rate[~busy & alone].max() <= most + 1e-6
            assert (rate - shoved).max() <= max(DIVE_M_S2, SLIDE_M_S2, most) + 1e-6
            # Nobody speeds up beyond what his speed leaves him.
            speed, was = np.hypot(after[:, 2], after[:, 3]), np.hypot(before[:, 2], before[:, 3])
            left = bodies.acceleration_max * np.maximum(1.0 - was / bodies.speed_max, 0.0) + 0.05
            across = (TURN_M_S2 * TICK_S) ** 2 / np.maximum(2.0 * was, 0.6)
            gain = speed - was - left * TICK_S - across
            assert gain[~busy & alone & (was > 0.3)].max(initial=-1.0) <= 1e-6
            step = np.hypot(*(after[:, :2] - before[:, :2]).T)
            assert step.max() <= 0.5 * TICK_S * (speed + was).max() + 1e-9
            assert np.all(after[:, Col.RISE] >= 0.0)
            assert np.all((after[:, Col.TILT] >= 0.0) & (after[:, Col.TILT] <= 1.0))
            assert np.abs(after[:, Col.HEADING] - before[:, Col.HEADING]).max() <= 9.0 * TICK_S + 1e-9
            assert np.all(after[:, Col.GAIT] >= before[:, Col.GAIT])


@given(
    angle=st.floats(0.0, math.pi),
    offset_m=st.floats(-0.5, 0.5),
    paces=st.tuples(st.floats(2.0, 8.0), st.floats(0.0, 8.0)),
)
@settings(max_examples=60, deadline=None)
def test_two_who_meet_do_not_run_through_each_other(angle: float, offset_m: float, paces: tuple[float, float]):
    """From any side, at any pace: their axes stay apart."""
    positions = np.full((PERSONS, 2), np.nan)
    positions[3] = -12.0, offset_m
    positions[4] = 12.0 * math.cos(angle), 12.0 * math.sin(angle)
    assume(math.dist(positions[3], positions[4]) > 1.0)
    bodies = Bodies(positions)
    targets = np.full((PERSONS, 2), np.nan)
    targets[3], targets[4] = -positions[3], -positions[4]
    pace = np.full(PERSONS, paces[1])
    pace[3] = paces[0]
    for _ in range(300):
        bodies.run(targets, pace, ANYWHERE)
        assert math.dist(bodies.columns[3, :2], bodies.columns[4, :2]) > 0.15
