"""The ball against closed forms, and what must hold of every kick."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from simulator.physics import ball_motion as steps
from simulator.physics.ball import CONTACT_S, BallTick, Bump, MovingBall, forecast, launch, rolling
from simulator.records import STEP_S, TICK_S, Vector

G, K = GRAVITY_M_S2, steps.DRAG_PER_M
REST: Vector = (0.0, 0.0, BALL_RADIUS_M)


def new(position: Vector = REST) -> MovingBall:
    return MovingBall(position, 105.0, 68.0)


def go(ball: MovingBall, seconds: float) -> tuple[np.ndarray, np.ndarray, list[tuple[float, Bump]]]:
    """Places, velocities, bumps with their times, of the next seconds."""
    ticks: list[BallTick] = [ball.advance() for _ in range(round(seconds / TICK_S))]
    bumps = [(n * TICK_S + b.t_s, b) for n, tick in enumerate(ticks) for b in tick.bumps]
    return np.concatenate([t.positions for t in ticks]), np.concatenate([t.velocities for t in ticks]), bumps


def flying(position: Vector, velocity: Vector, spin: Vector = (0.0, 0.0, 0.0)) -> MovingBall:
    """A ball that has just left a foot: at ``position``, with ``velocity``, at the beginning of a tick."""
    ball = new(tuple(p - v * STEP_S / 2 for p, v in zip(position, velocity, strict=True)))
    ball.strike(velocity, spin, after_s=TICK_S - STEP_S, contact_s=STEP_S)
    first = ball.position
    ball.advance()
    # What it fell in the tick before the strike is given back.
    ball._state[:3] += np.array(first) + np.array(velocity) * STEP_S / 2 - ball._state[:3]
    return ball


def test_a_slow_throw_is_the_parabola_of_the_schoolbook():
    ball = flying((0.0, 0.0, 1.5), (0.6, 0.3, 1.0))
    positions, _, _ = go(ball, 0.4)
    t = np.arange(len(positions)) * STEP_S
    assert np.allclose(positions[:, 0], 0.6 * t, atol=2e-3)
    assert np.allclose(positions[:, 1], 0.3 * t, atol=2e-3)
    assert np.allclose(positions[:, 2], 1.5 + t - G / 2 * t**2, atol=4e-3)


def test_a_fall_with_drag_is_the_logarithm_of_the_hyperbolic_cosine():
    ball = flying((0.0, 0.0, 60.0), (0.0, 0.0, 0.0))
    positions, velocities, _ = go(ball, 3.0)
    t = np.arange(len(positions)) * STEP_S
    end = math.sqrt(G / K)
    assert np.allclose(velocities[:, 2], -end * np.tanh(G * t / end), atol=2e-3)
    assert np.allclose(positions[:, 2], 60.0 - np.log(np.cosh(G * t / end)) / K, atol=5e-3)


def test_drag_alone_takes_speed_as_one_over_time():
    ball = flying((0.0, 0.0, 40.0), (40.0, 0.0, 0.0))
    _, velocities, _ = go(ball, 0.3)
    t = np.arange(len(velocities)) * STEP_S
    assert np.allclose(velocities[:, 0], 40.0 / (1.0 + K * 40.0 * t), rtol=1e-3)


def test_a_struck_ball_leaves_with_the_velocity_asked_for():
    ball = new()
    ball.strike((20.0, -3.0, 7.0), (0.0, 30.0, 5.0), after_s=0.0035)
    _, velocities, _ = go(ball, TICK_S)
    end = round((0.0035 + CONTACT_S) / STEP_S)
    assert velocities[end] == pytest.approx((20.0, -3.0, 7.0), abs=1e-6)
    assert ball.spin == pytest.approx((0.0, 30.0, 5.0), rel=0.01)
    assert np.all(velocities[: round(0.0035 / STEP_S)] == 0.0)


@pytest.mark.parametrize(("speed", "contact_s"), [(20.0, 0.009), (2.0, 0.009), (20.0, 0.008), (30.0, 0.010)])
def test_the_acceleration_of_a_kick_is_half_a_sine_whose_area_is_the_change(speed: float, contact_s: float):
    ball = new()
    ball.strike((speed, 0.0, 0.0), after_s=0.002, contact_s=contact_s)
    _, velocities, _ = go(ball, TICK_S)
    acceleration = np.diff(velocities[:, 0]) / STEP_S
    begin, end = round(0.002 / STEP_S), round((0.002 + contact_s) / STEP_S)
    middle = (np.arange(begin, end) + 0.5 - begin) / (end - begin)
    # Mean of the half sine over a step, to first order in the step: its value in the middle.
    expected = speed * math.pi / 2.0 / contact_s * np.sin(math.pi * middle)
    assert np.allclose(acceleration[begin:end], expected, rtol=0.01)
    assert acceleration[begin:end].sum() * STEP_S == pytest.approx(speed, rel=1e-9)
    assert acceleration.max() == pytest.approx(speed * math.pi / 2.0 / contact_s, rel=0.01)


def test_a_hard_kick_peaks_at_thousands_and_a_soft_touch_at_hundreds():
    def peak(speed: float) -> float:
        ball = new()
        ball.strike((speed, 0.0, 0.0))
        return float(np.abs(np.diff(go(ball, TICK_S)[1][:, 0])).max() / STEP_S)

    assert peak(20.0) > 3000.0
    assert 150.0 < peak(2.0) < 400.0


def test_a_ball_dropped_from_two_metres_bounces_as_the_rules_of_pitches_ask():
    positions, _, bumps = go(flying((0.0, 0.0, 2.0 + BALL_RADIUS_M), (0.0, 0.0, 0.0)), 3.0)
    first, second = bumps[0][0], bumps[1][0]
    top = positions[round(first / STEP_S) : round(second / STEP_S), 2].max() - BALL_RADIUS_M
    assert 0.60 < top < 0.85
    assert top == pytest.approx(2.0 * steps.RESTITUTION**2, rel=0.07)
    assert all(b.what == "ground" for _, b in bumps)
    assert all(b.after[2] == pytest.approx(-steps.RESTITUTION * b.before[2]) for _, b in bumps if b.before[2] < -1.0)
    assert positions[-1, 2] == pytest.approx(BALL_RADIUS_M, abs=1e-4)


def test_backspin_brakes_at_the_bounce_and_topspin_carries_on():
    def retained(turn: float) -> float:
        _, _, bumps = go(flying((0.0, 0.0, 1.0), (6.0, 0.0, -8.0), (0.0, turn, 0.0)), 0.3)
        return bumps[0][1].after[0] / bumps[0][1].before[0]

    assert retained(-50.0) < retained(0.0) < retained(25.0) < retained(6.0 / BALL_RADIUS_M)
    assert retained(6.0 / BALL_RADIUS_M) == pytest.approx(1.0, abs=0.02)


def test_a_bounce_turns_slip_into_spin_by_the_inertia_of_a_shell():
    ball = flying((0.0, 0.0, 1.0), (10.0, 0.0, -4.0))
    _, _, bumps = go(ball, 0.3)
    lost = bumps[0][1].before[0] - bumps[0][1].after[0]
    assert ball.spin[1] == pytest.approx(1.5 * lost / BALL_RADIUS_M, rel=0.03)


@pytest.mark.parametrize("speed", [3.0, 6.0, 9.0])
def test_a_rolling_ball_comes_as_far_as_friction_and_drag_let_it(speed: float):
    ball = new()
    ball.strike((speed, 0.0, 0.0), (0.0, speed / BALL_RADIUS_M, 0.0), contact_s=STEP_S)
    go(ball, 12.0)
    # v dv/ds = -(a + 0.6 K v^2): a rolling shell is slowed by a force like one of 5/3 of its mass.
    assert ball.position[0] == pytest.approx(
        math.log(1.0 + 0.6 * K * speed**2 / steps.ROLLING_M_S2) / (1.2 * K), rel=0.01
    )
    assert ball.velocity == (0.0, 0.0, pytest.approx(0.0, abs=1e-9))


def test_a_ball_kicked_without_spin_slides_first_and_rolls_at_three_fifths():
    ball = new()
    ball.strike((5.0, 0.0, 0.0), contact_s=STEP_S)
    _, velocities, _ = go(ball, 1.0)
    v = velocities[:, 0]
    sliding = np.flatnonzero(-np.diff(v)[5:] / STEP_S > 3.0)[-1] + 5
    assert v[sliding + 2] == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize(("distance", "arriving"), [(5.0, 2.0), (12.0, 5.0), (20.0, 4.0), (35.0, 3.0)])
def test_rolling_says_how_hard_to_kick(distance: float, arriving: float):
    ball = MovingBall(REST, 200.0, 100.0)
    ball.strike((rolling(distance, arriving), 0.0, 0.0))
    positions, velocities, _ = go(ball, 8.0)
    there = int(np.searchsorted(positions[:, 0], distance))
    assert velocities[there, 0] == pytest.approx(arriving, abs=0.08)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_spin_to_the_left_bends_to_the_left_as_far_as_the_lift_says(side: float):
    ball = flying((0.0, 0.0, 20.0), (25.0, 0.0, 0.0), (0.0, 0.0, side * 50.0))
    positions, _, _ = go(ball, 0.2)
    lift = steps.LIFT_MAX * math.tanh(BALL_RADIUS_M * 50.0 / 25.0 / steps.LIFT_SPIN)
    expected = side * 0.5 * steps.LIFT_PER_M * lift * 25.0**2 * 0.2**2
    assert positions[-1, 1] == pytest.approx(expected, rel=0.08)
    assert 0.1 < abs(expected) < 0.3


def test_topspin_drops_and_backspin_floats():
    ends = [go(flying((0.0, 0.0, 3.0), (25.0, 0.0, 0.0), (0.0, w, 0.0)), 0.5)[0][-1, 2] for w in (50.0, 0.0, -50.0)]
    assert ends == sorted(ends)
    assert ends[2] - ends[0] > 1.0


def test_spin_fades():
    ball = flying((0.0, 0.0, 60.0), (10.0, 0.0, 0.0), (0.0, 0.0, 40.0))
    go(ball, 2.0)
    assert ball.spin[2] == pytest.approx(40.0 * math.exp(-2.0 * steps.SPIN_DECAY_PER_S), rel=1e-3)


def post_shot(offset: float, speed: float = 20.0) -> tuple[Bump, MovingBall]:
    """Shot along the ground, straight ahead, that misses the axis of the post at (+x, +y) by ``offset``."""
    ball = flying((50.0, steps.POST_AXIS_M + offset, 2.0), (speed, 0.0, 0.0))
    _, _, bumps = go(ball, 0.5)
    return bumps[0][1], ball


def test_the_middle_of_the_post_sends_it_back_where_it_came_from():
    bump, ball = post_shot(0.0)
    assert bump.what == "left post"
    assert bump.after[0] == pytest.approx(-steps.FRAME_RESTITUTION * bump.before[0], rel=1e-3)
    assert abs(ball.velocity[1]) < 0.05


@given(offset=st.floats(-0.15, 0.15), speed=st.floats(5.0, 40.0))
@settings(max_examples=60, deadline=None)
def test_a_post_pushes_along_the_line_between_the_axes_and_rubs_across_it(offset: float, speed: float):
    bump, _ = post_shot(offset, speed)
    axis = np.array([52.5 - steps.FRAME_RADIUS_M, steps.POST_AXIS_M])
    normal = np.array(bump.position[:2]) - axis
    assert np.hypot(*normal) == pytest.approx(BALL_RADIUS_M + steps.FRAME_RADIUS_M, abs=speed * STEP_S)
    normal /= np.hypot(*normal)
    across = np.array([-normal[1], normal[0]])
    before, after = np.array(bump.before[:2]), np.array(bump.after[:2])
    assert after @ normal == pytest.approx(-steps.FRAME_RESTITUTION * (before @ normal), rel=1e-6, abs=1e-9)
    # Across, friction only slows, and never by more than what stops the slip of a shell.
    assert abs(after @ across) <= abs(before @ across) + 1e-9
    assert (after @ across) * (before @ across) >= 0.59 * (before @ across) ** 2 - 1e-9


def test_the_bar_is_hit_and_named():
    ball = flying((50.0, 0.0, steps.BAR_AXIS_M), (25.0, 0.0, 0.0))
    _, _, bumps = go(ball, 0.2)
    assert bumps[0][1].what == "bar"
    assert ball.velocity[0] < 0.0


@pytest.mark.parametrize("x", [1.0, -1.0])
def test_posts_are_left_and_right_for_who_attacks_that_goal(x: float):
    for y, name in ((x, "left post"), (-x, "right post")):
        ball = flying((x * 50.0, y * steps.POST_AXIS_M, 1.0), (x * 20.0, 0.0, 0.0))
        assert go(ball, 0.3)[2][0][1].what == name


def test_a_shot_stays_in_the_net():
    for y in (-3.0, 0.0, 3.4):
        ball = new((40.0, 0.0, BALL_RADIUS_M))
        ball.strike(launch((40.0, 0.0, BALL_RADIUS_M), (52.5, y, 1.2), speed_m_s=40.0))
        positions, _, bumps = go(ball, 6.0)
        assert [b.what for _, b in bumps if b.what != "ground"] == ["net"]
        assert ball.in_net
        assert 52.5 < ball.position[0] < 54.8
        assert math.dist(ball.velocity, (0.0, 0.0, 0.0)) < 0.01
        assert positions[:, 0].max() < 52.5 + steps.NET_DEPTH_M + 0.6


@pytest.mark.parametrize(
    ("position", "velocity"),
    [
        ((53.5, 8.0, 1.0), (0.0, -25.0, 0.0)),
        ((53.5, 0.0, 6.0), (0.0, 0.0, -15.0)),
        ((57.0, 0.0, 1.0), (-25.0, 0.0, 0.0)),
    ],
)
def test_the_net_keeps_out_what_comes_from_outside(position: Vector, velocity: Vector):
    ball = flying(position, velocity)
    _, _, bumps = go(ball, 3.0)
    x, y, z = ball.position
    assert bumps[0][1].what == "net"
    assert not ball.in_net
    assert abs(y) > steps.POST_AXIS_M or z > steps.BAR_AXIS_M or x > 52.5 + steps.NET_DEPTH_M


def test_boards_stop_low_balls_and_the_stand_the_high_ones():
    low = flying((0.0, 33.0, 0.3), (0.0, 20.0, 0.0))
    _, _, bumps = go(low, 3.0)
    board = next(b for _, b in bumps if b.what == "board")
    assert board.position[1] == pytest.approx(34.0 + steps.BOARDS_M[1] - BALL_RADIUS_M, abs=0.02)
    assert low.position[1] < 34.0 + steps.BOARDS_M[1]
    high = flying((0.0, 33.0, 3.0), (0.0, 30.0, 2.0))
    positions, _, _ = go(high, 6.0)
    assert positions[:, 1].max() < 34.0 + steps.BOARDS_M[1] + steps.STAND_M + 0.3


@pytest.mark.parametrize("spin", [(0.0, 0.0, 0.0), (0.0, -40.0, 30.0)])
@pytest.mark.parametrize(
    ("target", "flight_s"), [((30.0, 5.0, 1.0), 1.5), ((8.0, 0.0, 0.3), 0.6), ((60.0, -9.0, 0.2), 3.2)]
)
def test_launch_hits_within_five_centimetres(target: Vector, flight_s: float, spin: Vector):
    ball = MovingBall(REST, 200.0, 100.0)
    ball.strike(launch(REST, target, flight_s=flight_s, spin=spin), spin)
    positions, _, _ = go(ball, flight_s + TICK_S)
    assert math.dist(positions[round(flight_s / STEP_S)], target) < 0.05


@given(
    x=st.floats(6.0, 40.0), y=st.floats(-15.0, 15.0), z=st.floats(0.3, 2.4), speed=st.floats(22.0, 41.0),
    spin=st.floats(-50.0, 50.0),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_launch_at_a_speed_leaves_with_it_and_flies_through_the_target(
    x: float, y: float, z: float, speed: float, spin: float
):
    velocity = launch(REST, (x, y, z), speed_m_s=speed, spin=(0.0, 0.0, spin))
    size = math.dist(velocity, (0.0, 0.0, 0.0))
    if size > 1.01 * speed:
        others = [launch(REST, (x, y, z), flight_s=t / 10.0, spin=(0.0, 0.0, spin)) for t in range(5, 40)]
        assert size <= 1.02 * min(math.dist(o, (0.0, 0.0, 0.0)) for o in others)
    else:
        assert size == pytest.approx(speed, rel=0.01)
    ball = MovingBall(REST, 200.0, 100.0)
    ball.strike(velocity, (0.0, 0.0, spin))
    positions, _, _ = go(ball, 4.0)
    assert np.sqrt(((positions - (x, y, z)) ** 2).sum(axis=1)).min() < 0.08


def test_launch_beyond_what_the_speed_can_do_takes_the_least_that_does():
    velocity = launch(REST, (60.0, 0.0, 0.2), speed_m_s=10.0)
    assert 28.0 < math.dist(velocity, (0.0, 0.0, 0.0)) < 40.0
    with pytest.raises(ValueError, match="one of both"):
        launch(REST, (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="before the contact"):
        launch(REST, (1.0, 0.0, 0.0), flight_s=0.01)


@given(
    vx=st.floats(-30, 30),
    vy=st.floats(-30, 30),
    vz=st.floats(-5, 15),
    z=st.floats(BALL_RADIUS_M, 3.0),
    w=st.floats(-40, 40),
)
@settings(max_examples=40, deadline=None)
def test_forecast_is_what_then_happens(vx: float, vy: float, vz: float, z: float, w: float):
    ball = flying((0.0, 0.0, z), (vx, vy, vz), (0.0, 0.0, w))
    rows = forecast(ball.position, ball.velocity, ball.spin, 2.0, 0.1)
    ball._half[:] = 0.0
    positions, _, bumps = go(ball, 2.0 + TICK_S)
    seen = positions[np.rint(rows[:, 0] / STEP_S).astype(int)]
    off = np.sqrt(((rows[:, 1:] - seen) ** 2).sum(axis=1))
    assert rows[:, 0] == pytest.approx(np.arange(21) * 0.1)
    # A bounce is seen up to 2 ms late by the coarser steps.
    assert off.max() < 0.03 + 0.1 * len(bumps)


def test_hands_carry_without_a_jerk_and_hold():
    ball = flying((0.0, 0.0, 1.0), (2.0, 0.0, 0.0))
    ball.carry((3.0, 1.0, 1.2), 0.8)
    positions, velocities, _ = go(ball, 1.2)
    assert ball.in_hands
    assert positions[-1] == pytest.approx((3.0, 1.0, 1.2))
    assert velocities[0] == pytest.approx((2.0, 0.0, 0.0), abs=0.01)
    assert np.abs(np.diff(velocities, axis=0)).max() / STEP_S < 60.0
    assert velocities[-1] == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_held_hands_are_followed_without_lag_or_jump():
    ball = new()
    ball.carry((0.0, 0.0, 1.0), 0.4)
    go(ball, 0.5)
    all_positions, all_velocities = [], []
    for n in range(100):
        ball.hold((0.06 * (n + 1), 0.0, 1.0))
        tick = ball.advance()
        all_positions.append(tick.positions)
        all_velocities.append(tick.velocities)
    velocities = np.concatenate(all_velocities)
    assert ball.position == pytest.approx((6.0, 0.0, 1.0), abs=0.01)
    assert velocities[-1] == pytest.approx((3.0, 0.0, 0.0), abs=0.05)
    assert np.abs(np.diff(velocities, axis=0)).max() / STEP_S <= 400.0 + 1e-6


def test_a_throw_takes_longer_than_a_kick_and_leaves_as_told():
    ball = new()
    ball.carry((0.0, 0.0, 2.1), 0.4)
    go(ball, 0.5)
    lasts = ball.release((12.0, 0.0, 3.0))
    _, velocities, _ = go(ball, 0.2)
    assert not ball.in_hands
    assert 0.04 < lasts < 0.1
    assert velocities[round(lasts / STEP_S) + 1] == pytest.approx((12.0, 0.0, 3.0), abs=0.03)
    assert np.abs(np.diff(velocities, axis=0)).max() / STEP_S < 400.0


def test_a_later_strike_takes_over_from_an_earlier_one():
    ball = new()
    ball.strike((10.0, 0.0, 0.0), after_s=0.002)
    ball.strike((0.0, 8.0, 2.0), after_s=0.008)
    _, velocities, _ = go(ball, TICK_S)
    assert velocities[-1][1] == pytest.approx(8.0, abs=0.1)
    assert abs(velocities[-1][0]) < 0.01
    assert np.abs(np.diff(velocities, axis=0)).max() < 1.0


def kicks() -> st.SearchStrategy[tuple[Vector, Vector, Vector]]:
    """Places all over the pitch but often before a goal, speeds up to 150 km/h, any direction, strong spin."""
    position = st.one_of(
        st.tuples(st.floats(-52, 52), st.floats(-34, 34), st.floats(BALL_RADIUS_M, 2.5)),
        st.tuples(st.floats(44, 52), st.floats(-5, 5), st.floats(BALL_RADIUS_M, 2.5)),
        st.tuples(st.floats(52.8, 56), st.floats(4.0, 6), st.floats(BALL_RADIUS_M, 4.0)),
    )
    angles = st.tuples(st.floats(2.0, 41.7), st.floats(-math.pi, math.pi), st.floats(-0.6, 1.2))
    velocity = angles.map(
        lambda a: (
            a[0] * math.cos(a[1]) * math.cos(a[2]),
            a[0] * math.sin(a[1]) * math.cos(a[2]),
            a[0] * math.sin(a[2]),
        )
    )
    turn = st.floats(-60, 60)
    return st.tuples(position, velocity, st.tuples(turn, turn, turn))


def energy(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    return G * (positions[:, 2] - BALL_RADIUS_M) + 0.5 * (velocities**2).sum(axis=1)


@example(
    kick=((53.0, 5.0, 2.0), (15.647276098708248, -24.369188665936246, 15.8210427739387), (0.0, 0.0, -7.0))
)  # into the corner of two stands
@given(kick=kicks())
@settings(max_examples=150, deadline=None)
def test_whatever_is_kicked_the_laws_hold(kick: tuple[Vector, Vector, Vector]):
    position, velocity, spin = kick
    ball = flying(position, velocity, spin)
    positions, velocities, bumps = go(ball, 4.0)
    speed = np.sqrt((velocities**2).sum(axis=1))
    assert np.all(np.isfinite(positions))
    # Nothing jumps: where it goes is its velocity, and a step changes that by less than the hardest pulse can.
    assert np.allclose(np.diff(positions, axis=0), 0.5 * (velocities[1:] + velocities[:-1]) * STEP_S, atol=1e-9)
    hardest = 1.7 * speed.max() * math.pi / 2.0 / steps.BUMP_S * STEP_S + 0.05
    assert np.sqrt((np.diff(velocities, axis=0) ** 2).sum(axis=1)).max() <= hardest
    # It is flattened by bounces, but never under the turf.
    assert positions[:, 2].min() > BALL_RADIUS_M - 0.37 * 42.0 * steps.BUMP_S - 42.0 * STEP_S
    assert positions[:, 2].min() > 0.0
    # Beyond the stand there is nothing.
    assert np.abs(positions[:, 0]).max() < 52.5 + steps.BOARDS_M[0] + steps.STAND_M + 0.4
    assert np.abs(positions[:, 1]).max() < 34.0 + steps.BOARDS_M[1] + steps.STAND_M + 0.4
    # Energy, its spin's included, is never gained but by what a pulse or a net gives back of what it has just taken.
    total = energy(positions, velocities)
    turning = 0.5 * (2.0 / 3.0) * BALL_RADIUS_M**2 * (np.array(spin) ** 2).sum()
    assert total.max() <= total[0] + turning + 0.05
    late = total[-1]
    assert late <= total[0] + turning
    # Through posts or net: it changes between inside and outside of a goal only through the mouth.
    goal_x = np.abs(positions[:, 0]) - 52.5
    inside = (goal_x > 0.3) & (goal_x < 1.2) & (np.abs(positions[:, 1]) < 2.9) & (positions[:, 2] < 1.7)
    mouth = (np.abs(positions[:, 1]) < steps.POST_AXIS_M) & (positions[:, 2] < steps.BAR_AXIS_M)
    crossed = (goal_x[1:] >= 0.0) & (goal_x[:-1] < 0.0) & mouth[1:]
    if inside.any():
        assert crossed[: int(np.argmax(inside))].any()
    if ball.in_net:
        assert crossed.any()
    low = positions[:, 2] < steps.BAR_AXIS_M
    from_post = np.hypot(goal_x + steps.FRAME_RADIUS_M, np.abs(positions[:, 1]) - steps.POST_AXIS_M)
    from_bar = np.hypot(goal_x + steps.FRAME_RADIUS_M, positions[:, 2] - steps.BAR_AXIS_M)
    under_bar = np.abs(positions[:, 1]) < steps.POST_AXIS_M
    nearest = min(from_post[low].min(initial=9.0), from_bar[under_bar].min(initial=9.0))
    hit_frame = any(b.what in ("left post", "right post", "bar") for _, b in bumps)
    touch = BALL_RADIUS_M + steps.FRAME_RADIUS_M
    assert nearest > (touch - 0.37 * 42.0 * steps.BUMP_S - 42.0 * STEP_S if hit_frame else touch - 42.0 * STEP_S)


@given(kick=kicks(), cut=st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_the_same_kick_goes_the_same_way(kick: tuple[Vector, Vector, Vector], cut: int):
    position, velocity, spin = kick
    limb_positions = []
    for _ in range(2):
        ball = new(position)
        ball.strike(velocity, spin, after_s=0.0005 * cut)
        limb_positions.append(go(ball, 1.0)[0])
    assert np.array_equal(*limb_positions)
