"""Limbs: on the ground, at the ball, the same from both sides of a border, and never faster than limbs are."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from football.constants import BALL_RADIUS_M
from simulator.physics.ball import MovingBall
from simulator.physics.bodies import Bodies
from simulator.physics.limbs import KICK_RATIO, TOUCH_M, limb_paths
from simulator.records import (
    BALLS,
    FEET,
    FOUR_LIMBS,
    HANDS,
    MARGIN_S,
    PERSONS,
    STEP_S,
    TICK_S,
    Col,
    Contact,
    PlayedInterval,
    Vector,
)

FULL_S = 6.0
grid_s = np.arange(round(FULL_S * 200)) / 200.0


def cut(
    rows: np.ndarray, ball: np.ndarray, contacts: tuple[Contact, ...], begin_s: float, end_s: float
) -> PlayedInterval:
    """A stretch of a match of which all is known: rows (T, PERSONS, COLUMNS) from time 0 on, ball (n, 3)."""
    first = max(0, round((begin_s - MARGIN_S) / TICK_S))
    last = min(len(rows), round((end_s + MARGIN_S) / TICK_S))
    steps = slice(round(begin_s / STEP_S), round(end_s / STEP_S))
    balls = np.stack([ball[steps], *(np.full_like(ball[steps], 70.0 + k) for k in range(1, len(BALLS)))])
    known = tuple(c for c in contacts if c.t_s + c.hold_s >= first * TICK_S and c.t_s < last * TICK_S)
    return PlayedInterval(
        begin_s, end_s, np.arange(first, last) * TICK_S, rows[first:last], known, balls,
        np.gradient(ball, STEP_S, axis=0)[steps], np.zeros(balls.shape[1], np.int64),
    )  # fmt: skip


def walk(pace: float, seconds: float = FULL_S, facing: float = math.nan) -> np.ndarray:
    """Rows of a match in which person 3 runs along +x at a pace, and nobody else is there."""
    positions = np.full((PERSONS, 2), np.nan)
    positions[3] = 0.0
    bodies = Bodies(positions)
    bodies.columns[3, Col.VX] = pace
    rows = []
    for _ in range(round(seconds / TICK_S)):
        rows.append(bodies.columns.copy())
        bodies.run(np.full((PERSONS, 2), (500.0, 0.0)), np.full(PERSONS, pace), np.full(PERSONS, facing))
    return np.array(rows)


def still(position: Vector = (60.0, 0.0, BALL_RADIUS_M)) -> np.ndarray:
    return np.tile(np.array(position), (round(FULL_S / STEP_S), 1))


def at_times(rows: np.ndarray, t_s: np.ndarray, column: int) -> np.ndarray:
    return np.interp(t_s, np.arange(len(rows)) * TICK_S, rows[:, 3, column])


def speeds(path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(path, axis=0), axis=1) * 200.0


@pytest.mark.parametrize("pace", [1.4, 3.0, 6.0, 8.0])
def test_the_foot_on_the_ground_stays_where_it_is(pace: float):
    rows = walk(pace)
    interval = cut(rows, still(), (), 0.0, FULL_S)
    for limb in FEET:
        path = limb_paths(interval, 3, limb, grid_s)[200:-200]
        down = (path[:-1, 2] < 0.0505) & (path[1:, 2] < 0.0505)
        slide = np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1) * 200.0
        assert 0.15 < down.mean() < 0.7
        # It may creep while the pace still changes a little.
        assert np.percentile(slide[down], 95) < 0.15 * pace
        lifted = path[:, 2].max() - 0.05
        assert 0.1 <= lifted <= 0.21


def test_feet_and_hands_swing_against_each_other():
    interval = cut(walk(4.0), still(), (), 0.0, FULL_S)
    body = at_times(walk(4.0), grid_s, Col.X)
    ahead = {limb: (limb_paths(interval, 3, limb, grid_s)[:, 0] - body)[200:-200] for limb in FOUR_LIMBS}
    assert np.corrcoef(ahead["left_foot"], ahead["right_foot"])[0, 1] < -0.6
    assert np.corrcoef(ahead["left_hand"], ahead["right_hand"])[0, 1] < -0.9
    assert np.corrcoef(ahead["left_hand"], ahead["right_foot"])[0, 1] > 0.6
    for limb in HANDS:
        z = limb_paths(interval, 3, limb, grid_s)[:, 2]
        assert z.min() > 0.85
        assert z.max() < 1.1


def test_sides_are_left_and_right_of_where_he_looks():
    interval = cut(walk(2.0, facing=math.pi / 2), still(), (), 0.0, FULL_S)
    t = np.array([4.0])
    left, right = (limb_paths(interval, 3, limb, t)[0] for limb in HANDS)
    assert left[0] < right[0] - 0.4


@pytest.mark.parametrize("pace", [0.0, 2.0, 5.0, 9.0])
def test_the_mean_of_the_feet_is_the_body(pace: float):
    rows = walk(pace)
    interval = cut(rows, still(), (), 0.0, FULL_S)
    feet = (limb_paths(interval, 3, "left_foot", grid_s) + limb_paths(interval, 3, "right_foot", grid_s)) / 2
    off = np.hypot(feet[:, 0] - at_times(rows, grid_s, Col.X), feet[:, 1] - at_times(rows, grid_s, Col.Y))
    assert off[200:].max() < 0.35
    assert off[200:].mean() < 0.15


def test_who_is_not_there_has_no_limbs():
    interval = cut(walk(3.0), still(), (), 0.0, FULL_S)
    assert np.all(np.isnan(limb_paths(interval, 4, "left_foot", grid_s)))


def kick(
    position: Vector, before: Vector, after: Vector, limb: str = "right_foot", what: str = "pass", *,
    pace: float = 3.0, t_s: float = 3.0,
) -> tuple[PlayedInterval, np.ndarray, Contact]:  # fmt: skip
    """Person 3 runs along +x and touches the ball, which is ``position`` away from him then."""
    rows = walk(pace)
    t_s = round(t_s / STEP_S) * STEP_S
    x = float(at_times(rows, np.array([t_s]), Col.X)[0])
    centre = (x + position[0], position[1], position[2])
    ball = MovingBall(centre, 400.0, 68.0)
    path = still(centre)
    ball._state[3:6] = before
    ball.strike(after, after_s=0.0)
    first = round(t_s / STEP_S)
    played = np.concatenate([ball.advance().positions for _ in range(50)])
    path[first : first + len(played)] = played
    path[first + len(played) :] = played[-1]
    path[:first] = np.array(centre) - np.outer(np.arange(first, 0, -1) * STEP_S, before)
    contact = Contact(t_s, 3, limb, centre, before, after, what)
    return cut(rows, path, (contact,), 0.0, FULL_S), path, contact


CONTACTS = [
    ((0.5, -0.1, BALL_RADIUS_M), (0.0, 0.0, 0.0), (27.0, 3.0, 5.0), "right_foot", "shot"),
    ((0.4, 0.2, BALL_RADIUS_M), (0.5, 0.0, 0.0), (12.0, -4.0, 0.0), "left_foot", "pass"),
    ((0.6, 0.0, BALL_RADIUS_M), (4.0, 0.0, 0.0), (5.5, 0.2, 0.0), "right_foot", "dribble"),
    ((0.5, 0.1, BALL_RADIUS_M), (-14.0, 0.0, 0.0), (1.0, 0.5, 0.0), "left_foot", "trap"),
    ((0.3, 0.0, 0.6), (-6.0, 0.0, -5.0), (0.5, 0.0, 0.5), "right_foot", "trap"),
    ((0.2, 0.3, 1.2), (-22.0, 2.0, 1.0), (-4.0, 9.0, 3.0), "left_hand", "parry"),
    ((0.3, 0.3, 2.1), (-10.0, 2.0, -2.0), (12.0, 3.0, 6.0), "right_hand", "punch"),
]


@pytest.mark.parametrize(("position", "before", "after", "limb", "what"), CONTACTS)
def test_the_limb_is_at_the_surface_of_the_ball_behind_its_new_way(
    position: Vector, before: Vector, after: Vector, limb: str, what: str
):
    interval, path, contact = kick(position, before, after, limb, what)
    times = np.array([contact.t_s, contact.t_s + contact.duration_s / 2, contact.t_s + contact.duration_s])
    limbs = limb_paths(interval, 3, limb, times)
    balls = path[np.rint(times / STEP_S).astype(int)]
    gaps = np.linalg.norm(limbs - balls, axis=1)
    assert gaps[0] == pytest.approx(TOUCH_M, abs=1e-6)
    # While they touch the ball is flattened, and they part about where they met.
    assert 0.05 < gaps[1] < TOUCH_M + 0.02
    assert 0.06 < gaps[2] < TOUCH_M + 0.03
    push = np.array(after) - np.array(before)
    assert (balls[0] - limbs[0]) @ push > 0.0
    later = limb_paths(interval, 3, limb, times[:1] + 0.3)
    assert np.linalg.norm(later - limbs[:1]) > 0.1


def test_the_foot_is_as_fast_as_the_ball_asks():
    for after, low, high in (((28.0, 0.0, 4.0), 15.0, 22.0), ((8.0, 0.0, 0.0), 5.0, 8.0)):
        interval, _, contact = kick((0.5, 0.0, BALL_RADIUS_M), (0.0, 0.0, 0.0), after)
        h = 2e-4
        path = limb_paths(interval, 3, "right_foot", np.array([contact.t_s - h, contact.t_s]))
        speed = float(np.linalg.norm(path[1, :2] - path[0, :2]) / h)
        assert low < speed < high
        assert speed == pytest.approx(math.hypot(*after[:2]) / KICK_RATIO, rel=0.06)


def test_a_hard_kick_is_swung_from_behind_and_on_beyond():
    interval, _, contact = kick((0.5, 0.0, BALL_RADIUS_M), (0.0, 0.0, 0.0), (27.0, 0.0, 4.0))
    path = limb_paths(interval, 3, "right_foot", grid_s)
    i = round(contact.t_s * 200)
    assert path[i - 24, 0] < contact.position[0] - 0.6
    assert path[i - 24, 2] > 0.25
    assert path[i + 20, 0] > contact.position[0] + 0.15
    assert np.argmax(speeds(path)) in range(i - 3, i + 3)


def test_the_other_foot_stands_beside_a_ball_that_is_kicked_hard():
    interval, _, contact = kick((0.5, 0.0, BALL_RADIUS_M), (0.0, 0.0, 0.0), (25.0, 0.0, 4.0))
    path = limb_paths(interval, 3, "left_foot", np.linspace(contact.t_s - 0.05, contact.t_s + 0.04, 10))
    gap = path[:, :2] - np.array(contact.position[:2])
    assert np.ptp(path, axis=0).max() < 1e-9
    assert path[0, 2] < 0.06
    assert 0.2 < gap[0, 1] < 0.4
    assert abs(gap[0, 0]) < 0.2


def test_a_caught_ball_stays_between_the_hands_and_a_throw_leaves_them():
    ball = MovingBall((8.0, 0.0, 1.2), 105.0, 68.0)
    rows = walk(0.0)
    ball._state[3:6] = (-9.0, 0.0, 1.5)
    ball._state[10] = 0.0
    parts, contacts, held = [], [], None
    for n in range(round(FULL_S / TICK_S)):
        if held is None and ball.position[0] < 0.75:
            before = ball.velocity
            after = tuple(0.1 * v for v in before)
            ball.strike(after, contact_s=0.03)
            contacts.append(Contact(n * TICK_S, 3, "left_hand", ball.position, before, after, "catch", 0.03, 2.0))
            held = n
        elif held is not None and held + 2 <= n < held + 100:
            ball.hold((0.32, 0.0, 1.15))
        elif held is not None and n == held + 100:
            before, after = ball.velocity, (11.0, 1.0, 4.0)
            lasts = ball.release(after)
            contacts.append(Contact(n * TICK_S, 3, "left_hand", ball.position, before, after, "throw", lasts))
        parts.append(ball.advance().positions)
    path = np.concatenate(parts)
    interval = cut(rows, path, tuple(contacts), 0.0, FULL_S)
    since, until = contacts[0].t_s, contacts[1].t_s + contacts[1].duration_s
    inside = grid_s[(grid_s >= since + 0.06) & (grid_s <= until)]
    for limb, side in zip(HANDS, (1.0, -1.0), strict=True):
        hand = limb_paths(interval, 3, limb, inside)
        gap = hand - path[np.rint(inside / STEP_S).astype(int)]
        assert np.linalg.norm(gap, axis=1).max() < TOUCH_M + 0.02
        assert np.all(gap[:, 1] * side > 0.05)
        assert np.linalg.norm(limb_paths(interval, 3, limb, np.array([since])) - contacts[0].position) < TOUCH_M + 1e-6
        whole = limb_paths(interval, 3, limb, grid_s)
        assert speeds(whole).max() < 20.0
        assert np.hypot(whole[:, 0], whole[:, 1]).max() < 1.36
        assert whole[-1, 2] == pytest.approx(0.92, abs=0.1)


def acts(name: str) -> np.ndarray:
    positions = np.full((PERSONS, 2), np.nan)
    positions[3] = 0.0
    bodies = Bodies(positions)
    rows = []
    for n in range(round(FULL_S / TICK_S)):
        if n == 100:
            {"jump": lambda: bodies.jump(3, 0.5), "fall": lambda: bodies.fall(3, 3.0),
             "dive": lambda: bodies.dive(3, 0.7, 2.4)}[name]()  # fmt: skip
        rows.append(bodies.columns.copy())
        bodies.run(np.zeros((PERSONS, 2)), np.full(PERSONS, 2.0), np.full(PERSONS, np.nan))
    return np.array(rows)


def test_in_a_jump_all_rise():
    rows = acts("jump")
    interval = cut(rows, still(), (), 0.0, FULL_S)
    top = int(np.argmax(rows[:, 3, Col.RISE])) * TICK_S
    for limb in FOUR_LIMBS:
        low, high = limb_paths(interval, 3, limb, np.array([1.9, top]))[:, 2]
        assert high - low > 0.45
    feet = [limb_paths(interval, 3, limb, grid_s)[:, 2] for limb in FEET]
    both = np.minimum(*feet) > 0.05 + 0.12
    assert 0.12 < both.sum() / 200.0 < 0.8


def test_who_lies_has_all_limbs_low_and_who_dives_the_hands_ahead():
    interval = cut(acts("fall"), still(), (), 0.0, FULL_S)
    for limb in FOUR_LIMBS:
        assert limb_paths(interval, 3, limb, np.array([3.5]))[0, 2] < 0.3
    rows = acts("dive")
    interval = cut(rows, still(), (), 0.0, FULL_S)
    t = np.array([2.0 + 0.42])
    direction = np.array([math.cos(0.7), math.sin(0.7)])
    for limb in HANDS:
        hand = limb_paths(interval, 3, limb, t)[0, :2]
        body = np.array([at_times(rows, t, Col.X)[0], at_times(rows, t, Col.Y)[0]])
        assert (hand - body) @ direction > 0.8
    for limb in FEET:
        assert (limb_paths(interval, 3, limb, t)[0, :2] - body) @ direction < -0.5


def test_in_a_header_the_arms_go_out():
    rows = walk(0.0)
    contact = Contact(3.0, 3, "head", (0.2, 0.0, 1.85), (-9.0, 0.0, -3.0), (10.0, 2.0, 1.0), "header")
    interval = cut(rows, still(), (contact,), 0.0, FULL_S)
    for limb in HANDS:
        before, then = limb_paths(interval, 3, limb, np.array([2.0, 3.0]))
        assert abs(then[1]) - abs(before[1]) > 0.2
        assert then[2] - before[2] > 0.3


@st.composite
def plays(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, tuple[Contact, ...]]:
    """Person 3 runs anyhow and touches a ball near him now and then."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    positions = np.full((PERSONS, 2), np.nan)
    positions[3] = 0.0
    bodies = Bodies(positions)
    rows, contacts, due = [], [], 0.6
    target = rng.uniform(-20, 20, (PERSONS, 2))
    facing = np.full(PERSONS, np.nan)
    for n in range(round(FULL_S / TICK_S)):
        t = n * TICK_S
        if n % 60 == 59:
            target = rng.uniform(-20, 20, (PERSONS, 2))
            facing[:] = rng.uniform(-3, 3) if rng.random() < 0.4 else np.nan
            if rng.random() < 0.3:
                bodies.jump(3, float(rng.uniform(0.1, 0.6)))
        if t >= due:
            x, y = bodies.columns[3, :2]
            z = BALL_RADIUS_M if rng.random() < 0.6 else float(rng.uniform(BALL_RADIUS_M, 1.6))
            away = rng.uniform(-3.1, 3.1)
            position = (x + 0.5 * math.cos(away), y + 0.5 * math.sin(away), z)
            limb = str(rng.choice(FEET if z < 0.8 else [*HANDS, "head"]))
            before, after = (tuple(rng.uniform((-12, -12, -3), (12, 12, 3)).tolist()) for _ in range(2))
            contacts.append(Contact(t, 3, limb, position, before, after, "pass"))
            due = t + float(rng.uniform(0.25, 1.0))
        rows.append(bodies.columns.copy())
        bodies.run(target, np.full(PERSONS, 7.0), facing)
    return np.array(rows), still(), tuple(contacts)


@given(play=plays())
@settings(max_examples=40, deadline=None)
def test_both_sides_of_a_border_say_the_same_and_nothing_is_too_fast_or_too_far(
    play: tuple[np.ndarray, np.ndarray, tuple[Contact, ...]],
):
    rows, ball, contacts = play
    whole = cut(rows, ball, contacts, 0.0, FULL_S)
    parts = [cut(rows, ball, contacts, b, e) for b, e in pairwise((0.0, 1.3, 2.4, 3.98, FULL_S))]
    bx, by = at_times(rows, grid_s, Col.X), at_times(rows, grid_s, Col.Y)
    for limb in FOUR_LIMBS:
        path = limb_paths(whole, 3, limb, grid_s)
        for part in parts:
            t = grid_s[(grid_s >= part.begin_s - MARGIN_S / 2) & (grid_s < part.end_s + MARGIN_S / 2)]
            seen = limb_paths(part, 3, limb, t)
            assert np.allclose(seen, path[np.rint(t * 200).astype(int)], atol=1e-7)
        assert speeds(path).max() < 36.0
        assert np.hypot(path[:, 0] - bx, path[:, 1] - by).max() < 1.5
        assert path[:, 2].min() >= 0.03 - 1e-9
        assert path[:, 2].max() < 3.2
    for contact in contacts:
        if contact.limb in FOUR_LIMBS and contact.t_s < FULL_S - 0.02:
            limb = limb_paths(whole, 3, contact.limb, np.array([contact.t_s]))[0]
            assert np.linalg.norm(limb - contact.position) == pytest.approx(TOUCH_M, abs=1e-6)
