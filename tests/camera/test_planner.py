"""The aim planner: limits, dead zone, silence, events and their withdrawal."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camera.composition import BEYOND_M, RESERVE_DEG, Composer
from camera.framing import load_framing
from camera.head import Pose
from camera.interest import Interest, Subject
from camera.motion import Limits, Motion, follow
from camera.mount import Mount
from camera.planner import CALM, NORMAL, SPORT, TICK_US, Plan, Planner, Style
from camera.profile import load_profile
from football.update_stream import BallView, BodyView, EventRecord, UpdateRecord, View
from tests.examples import in_two_lengths

MOUNT, X400, FRAMING = Mount(), load_profile(), load_framing()


#: Kinds of all situations, and one of none.
KINDS = [*dict.fromkeys(kind for one in FRAMING.situation for kind in one.kinds), "unknown"]


def _view(ts_us: int, x_m: float, y_m: float = 0.0, vx_m_s: float = 0.0, vy_m_s: float = 0.0) -> View:
    mate = BodyView("home_9", "home", ts_us, 20.0, 10.0, 0.0, 0.0)
    return View(ts_us, BallView(ts_us, x_m, y_m, 0.0, vx_m_s, vy_m_s, 0.0), (mate,))


def _update(
    kind: str,
    ts_us: int = 0,
    diff: int = 1,
    x_m: float | None = None,
    y_m: float | None = None,
    **detail: str | float,
) -> UpdateRecord:
    event = EventRecord(f"{kind}#a", kind, "", 6, ts_us, "home", "home_7", x_m, y_m, None, 1.0, (), detail)
    return UpdateRecord(0, diff, ts_us, event)


def _planner(x_m: float = 0.0, style: Style = NORMAL) -> Planner:
    return Planner(MOUNT, X400, Pose(*MOUNT.aim(x_m, 0.0), 23.0), style)


def _watch(planner: Planner, track: Iterator[View], from_us: int = 0) -> list[Plan]:
    """One view a tick."""
    plans = []
    for number, view in enumerate(track):
        now_us = from_us + number * TICK_US
        planner.take_view(view, now_us)
        plans.append(planner.tick(now_us))
    return plans


def _within(motions: list[Motion], limits: Limits, dt_s: float = TICK_US / 1e6) -> None:
    for a, b in itertools.pairwise(motions):
        assert abs(b.velocity) <= limits.speed + 1e-9
        assert abs(b.accel) <= limits.accel + 1e-9
        assert abs(b.accel - a.accel) <= limits.jerk * dt_s + 1e-9
        # The state is a real movement: the speed changes by the mean acceleration, the place by the speed.
        assert b.velocity - a.velocity == pytest.approx((a.accel + b.accel) / 2 * dt_s, abs=1e-9)
        mean = a.velocity + (2 * a.accel + b.accel) * dt_s / 6
        assert b.position - a.position == pytest.approx(mean * dt_s, abs=1e-9)


limits_ = st.builds(Limits, st.floats(0.5, 100), st.floats(1, 200), st.floats(5, 1000))
expectations = st.lists(
    st.tuples(st.floats(-150, 150), st.floats(-100, 100), st.sampled_from([0.0, 0.3, 1.0]), st.integers(1, 60)),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(limits_, expectations, st.floats(0.25, 2))
def test_no_wish_makes_an_axis_exceed_its_speed_acceleration_or_jerk(
    limits: Limits, expected_at: list[tuple[float, float, float, int]], trail_s: float
) -> None:
    motion, motions = Motion(0.0), [Motion(0.0)]
    for target, rate, gain, ticks in expected_at:
        for _ in range(ticks):
            motion = follow(motion, target, rate, 0.02, limits, trail_s, gain)
            motions.append(motion)
    _within(motions, limits)
    # Within a tick the speed peaks where the acceleration crosses zero: not above the limit either.
    for a, b in itertools.pairwise(motions):
        if a.accel * b.accel < 0:
            zero_s = 0.02 * a.accel / (a.accel - b.accel)
            assert abs(a.velocity + a.accel * zero_s / 2) <= limits.speed + 1e-9


@pytest.mark.parametrize("style", [CALM, NORMAL, SPORT])
def test_an_axis_reaches_a_resting_target_and_hardly_overshoots(style: Style) -> None:
    motion, furthest = Motion(0.0), 0.0
    for _ in range(400):
        motion = follow(motion, 30.0, 0.0, 0.02, style.pan, style.trail_s)
        furthest = max(furthest, motion.position)
    assert motion.position == pytest.approx(30.0, abs=0.05)
    assert furthest < 31.0


@in_two_lengths(5, 30, seed=st.integers(0, 2**32))
def test_a_jumping_ball_and_a_storm_of_events_never_exceed_the_limits(seed: int) -> None:
    rng, planner, plans = random.Random(seed), _planner(), []
    now_us = 0
    for _ in range(300):
        now_us += TICK_US
        if rng.random() < 0.7:
            position = [rng.uniform(-55, 55), rng.uniform(-36, 36), rng.uniform(-30, 30), rng.uniform(-30, 30)]
            planner.take_view(_view(now_us, *position), now_us)
        if rng.random() < 0.2:
            kind = rng.choice(KINDS)
            where = rng.uniform(-52, 52), rng.uniform(-34, 34)
            planner.take_update(_update(kind, now_us, rng.choice([1, -1]), *where, receiver="home_9"))
        plans.append(planner.tick(now_us, rng.choice([0, now_us])))
    _within([p.pan for p in plans], NORMAL.pan)
    _within([p.tilt for p in plans], NORMAL.tilt)
    assert all(X400.zoom.tele_width_deg - 1 <= p.width_deg <= X400.zoom.wide_width_deg + 1 for p in plans)


def test_the_same_calls_give_the_same_plans() -> None:
    track = [_view(k * TICK_US, 20 * math.sin(k / 40), 0, 10 * math.cos(k / 40)) for k in range(200)]
    assert _watch(_planner(), iter(track)) == _watch(_planner(), iter(track))


@pytest.mark.parametrize("speed_m_s", [5.0, -5.0, 8.0])
def test_a_ball_that_moves_on_evenly_has_room_in_front_of_it(speed_m_s: float) -> None:
    begin_m = -math.copysign(40.0, speed_m_s)
    track = [_view(k * TICK_US, begin_m + speed_m_s * k * 0.02, 0.0, speed_m_s) for k in range(400)]
    last = _watch(_planner(begin_m), iter(track))[-1]
    ball = track[-1].ball
    assert ball is not None
    room = (last.pan.position - MOUNT.aim(ball.x_m, ball.y_m)[0]) * math.copysign(1.0, speed_m_s) / last.width_deg
    assert 0.1 < room < 0.25


def _composed(x_m: float, attack: float, speeds_m_s: list[float], mount: Mount = MOUNT) -> list[float]:
    """Return the room, as a share of a picture of 24 degrees, after each tick of a ball at a place."""
    composer, found = Composer(mount, X400), []
    for speed_m_s in speeds_m_s:
        ball = Subject(x_m, 0.0, 0.0, 1.0)
        focus = Interest(x_m, 0.0, 0.0, speed_m_s, 0.0, 30.0, 60.0, (ball,), lead_room=0.15, attack=attack)
        found.append((composer.compose(focus, 24.0, 0.02).pan_deg - mount.aim(x_m, 0.0)[0]) / 24.0)
    return found


@pytest.mark.parametrize("attack", [1.0, -1.0])
def test_a_picture_has_room_in_the_direction_of_the_attack_before_a_pass_is_played(attack: float) -> None:
    assert _composed(0.0, attack, [0.0] * 300)[-1] == pytest.approx(0.15 * attack, abs=0.01)
    assert _composed(0.0, 0.0, [0.0] * 300)[-1] == 0.0


def test_a_ball_that_is_played_back_turns_the_room_smoothly() -> None:
    room = _composed(0.0, 1.0, [0.0] * 200 + [-10.0] * 200)
    assert room[199] > 0.14
    assert room[-1] < -0.08
    assert max(abs(b - a) for a, b in itertools.pairwise(room)) < 0.015, "no jump of the aim"


def test_a_camera_behind_the_goal_sees_no_direction_of_the_attack() -> None:
    behind = Mount(x_m=-70.0, y_m=0.0, heading_deg=0.0)
    assert _composed(0.0, 1.0, [0.0] * 300, behind)[-1] == pytest.approx(0.0, abs=1e-6)


def test_a_tight_picture_keeps_room_behind_the_ball_for_one_that_is_played_back() -> None:
    composer = Composer(MOUNT, load_profile())
    for tick in range(400):
        x_m = -20.0 + 0.2 * tick
        focus = Interest(x_m, 0.0, 0.0, 10.0, 0.0, 10.0, 60.0, (Subject(x_m, 0.0, 0.0, 1.0),), lead_room=0.25)
        wanted = composer.compose(focus, 16.0, 0.02)
    assert 0.0 < wanted.pan_deg - MOUNT.aim(x_m, 0.0)[0] < 8.0 - RESERVE_DEG + 1e-9


@pytest.mark.parametrize("mount", [MOUNT, Mount(x_m=-5.0, y_m=58.0, z_m=12.0, heading_deg=-90.0, tilt_offset_deg=-3.0)])
def test_play_at_the_near_touchline_stands_low_in_a_picture_that_the_pitch_fills(mount: Mount) -> None:
    composer, near_m, height_deg = Composer(mount, X400), math.copysign(34.0, mount.y_m), X400.zoom.height_deg(30.0)

    def tilt(y_m: float) -> float:
        ball = Subject(0.0, y_m, 0.0, 1.0)
        return composer.compose(Interest(0.0, y_m, 0.0, 0.0, 0.0, 30.0, 60.0, (ball,)), 30.0, 0.02).tilt_deg

    line_deg, beyond_deg = (mount.aim(0.0, near_m + math.copysign(m, near_m))[1] for m in (0.0, BEYOND_M))
    lower_deg = tilt(near_m) - height_deg / 2
    assert lower_deg == pytest.approx(min(beyond_deg, line_deg - height_deg / 4), abs=0.1)
    assert tilt(near_m) > line_deg + 1.0, "the ball is low"
    assert tilt(0.0) == pytest.approx(mount.aim(0.0, 0.0)[1], abs=1e-9), "elsewhere it is in the middle"
    steps = [tilt(near_m * share / 200) for share in range(201)]
    assert max(abs(b - a) for a, b in itertools.pairwise(steps)) < 0.3, "no jump of the aim"


def test_a_camera_on_the_pitch_has_no_lowest_tilt() -> None:
    ball = Subject(10.0, 0.0, 0.0, 1.0)
    mount = Mount(x_m=0.0, y_m=0.0, z_m=2.0, heading_deg=0.0)
    wanted = Composer(mount, X400).compose(Interest(10.0, 0.0, 0.0, 0.0, 0.0, 30.0, 60.0, (ball,)), 30.0, 0.02)
    assert wanted.tilt_deg == pytest.approx(mount.aim(10.0, 0.0)[1])


def test_a_corrected_mount_moves_the_aim() -> None:
    planner = _planner()
    planner.take_view(_view(0, 0.0), 0)
    before = planner.tick(0)
    planner.remount(msgspec.structs.replace(MOUNT, heading_deg=MOUNT.heading_deg + 2.0))
    after = planner.tick(TICK_US)
    assert after.target_pan_deg - before.target_pan_deg == pytest.approx(2.0, abs=0.05)


def test_inside_the_dead_zone_the_camera_does_not_creep() -> None:
    planner = _planner()
    still = [_view(k * TICK_US, 0.8 * math.sin(k / 5)) for k in range(300)]
    plans = _watch(planner, iter(still))
    assert {p.mode for p in plans} == {"hold"}
    assert {p.pan.position for p in plans} == {plans[0].pan.position}


def test_the_gate_stays_open_until_the_camera_is_well_inside() -> None:
    planner = _planner()
    modes = [p.mode for p in _watch(planner, (_view(k * TICK_US, 6.0) for k in range(400)))]
    assert modes[0] == "follow"
    assert modes[-1] == "hold"
    # One opening, one closing: no flutter at the edge.
    assert sum(a != b for a, b in itertools.pairwise(modes)) == 1


def test_silence_brakes_to_a_standstill_within_the_limits() -> None:
    planner = _planner(-40.0)
    plans = _watch(planner, (_view(k * TICK_US, -40 + 0.3 * k, 0.0, 15.0) for k in range(150)))
    assert abs(plans[-1].pan.velocity) > 5.0
    quiet = [planner.tick((150 + k) * TICK_US) for k in range(150)]
    assert quiet[5].mode == "follow"
    assert quiet[20].mode == "stop"
    assert abs(quiet[-1].pan.velocity) < 1e-3
    assert quiet[-1].pan.position == pytest.approx(quiet[-20].pan.position, abs=1e-3)
    _within([p.pan for p in plans + quiet], NORMAL.pan)


def test_a_view_older_than_the_last_is_ignored() -> None:
    planner = _planner()
    planner.take_view(_view(100_000, 0.0), 0)
    planner.take_view(_view(50_000, 50.0), 0)
    assert planner.tick(0).target_pan_deg == pytest.approx(0.0, abs=0.1)


def test_a_shot_pulls_towards_the_goal_it_flies_at_and_its_withdrawal_does_not_snap_back() -> None:
    planner = _planner(20.0)
    track = [_view(k * TICK_US, 20.0, 0.0, 1.5) for k in range(1000)]
    plans = _watch(planner, iter(track[:200]))
    before = plans[-1].target_pan_deg
    planner.take_update(_update("shot.attempt", track[200].ts_us, x_m=20.0, y_m=0.0))
    for k in range(200, 225):
        planner.take_view(track[k], k * TICK_US)
        plans.append(planner.tick(k * TICK_US, 0))
    pulled = plans[-1]
    assert pulled.target_pan_deg > before + 3.0
    assert pulled.pan.velocity > 1.0
    assert [cause.event_id for cause in pulled.causes] == ["shot.attempt#a"]
    planner.take_update(_update("shot.attempt", track[200].ts_us, -1, x_m=20.0, y_m=0.0))
    for k in range(225, 400):
        planner.take_view(track[k], k * TICK_US)
        plans.append(planner.tick(k * TICK_US, 0))
    assert plans[225].target_pan_deg == pytest.approx(before, abs=0.1), "the weight falls at once"
    assert plans[225].causes == ()
    assert plans[225].pan.velocity > 0, "the camera does not"
    _within([p.pan for p in plans], NORMAL.pan)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(KINDS), st.integers(0, 120), st.floats(-50, 50), st.floats(-30, 30))
def test_no_withdrawal_makes_the_camera_exceed_its_limits_or_turn_at_once(
    kind: str, ticks: int, x_m: float, y_m: float
) -> None:
    planner = _planner(10.0)
    planner.take_view(_view(0, 10.0), 0)
    planner.tick(0)
    planner.take_update(_update(kind, 0, 1, x_m, y_m, receiver="home_9"))
    plans = []
    for k in range(1, ticks + 150):
        planner.take_view(_view(k * TICK_US, 10.0), k * TICK_US)
        if k == ticks:
            planner.take_update(_update(kind, 0, -1, x_m, y_m))
        plans.append(planner.tick(k * TICK_US, 0))
    _within([p.pan for p in plans], NORMAL.pan)
    _within([p.tilt for p in plans], NORMAL.tilt)
    if ticks > 1:
        before, after = plans[ticks - 2].pan, plans[ticks - 1].pan
        assert abs(after.velocity - before.velocity) <= (abs(before.accel) + NORMAL.pan.jerk * 0.02) * 0.02 + 1e-9


def test_an_event_that_ends_a_situation_ends_its_pull_and_its_withdrawal_brings_it_back() -> None:
    planner = _planner(0.0)
    planner.take_view(_view(0, 0.0), 0)
    planner.tick(0)
    planner.take_update(_update("play.dead", 0))
    planner.take_view(_view(TICK_US, 0.0), TICK_US)
    assert planner.tick(TICK_US).causes[0].event_id == "play.dead#a"
    planner.take_update(_update("play.live", 10_000))
    assert planner.tick(2 * TICK_US).causes == ()
    planner.take_update(_update("play.live", 10_000, -1))
    assert planner.tick(3 * TICK_US).causes[0].event_id == "play.dead#a"


def test_an_event_that_is_amended_does_not_begin_anew() -> None:
    planner = _planner(0.0)
    for k in range(150):
        planner.take_view(_view(k * TICK_US, 0.0), k * TICK_US)
        planner.tick(k * TICK_US)
        if k == 0:
            planner.take_update(_update("restart.throw_in", 0, x_m=5.0, y_m=30.0))
        elif k == 90:
            planner.take_update(_update("restart.throw_in", 0, -1, x_m=5.0, y_m=30.0))
            planner.take_update(_update("restart.throw_in", 0, x_m=5.0, y_m=31.0))
    assert planner.tick(150 * TICK_US).causes == ()


def test_a_leg_swing_brings_the_receiver_into_the_picture_before_the_kick_and_a_withdrawn_one_does_not() -> None:
    carrier, mate = (BodyView(f"home_{n}", "home", 0, x, 0.0, 0.0, 0.0) for n, x in ((7, 0.3), (9, 28.0)))
    rest = [BodyView(f"home_{n}", "home", 0, 16.0, y, 0.0, 0.0) for n, y in ((4, -10.0), (5, 10.0))]
    widths: dict[str, float] = {}
    swing = _update("leg.swing")
    for name, updates in (("none", ()), ("swing", (swing,)), ("withdrawn", (swing, _update("leg.swing", diff=-1)))):
        planner = _planner()
        for update in updates:
            planner.take_update(update)
        for k in range(14):
            planner.take_view(View(k * TICK_US, BallView(k * TICK_US, *[0.0] * 6), (carrier, mate, *rest)), k * TICK_US)
            plan = planner.tick(k * TICK_US)
        widths[name] = plan.width_deg
        assert plan.causes == ()
    assert widths["withdrawn"] == widths["none"] < widths["swing"]


def test_no_ball_is_no_interest_and_the_camera_stops() -> None:
    planner = _planner()
    planner.take_view(View(0, None, ()), 0)
    assert planner.tick(0).mode == "stop"


def test_a_goalmouth_framing_is_wider_than_play() -> None:
    calm, shooting = _planner(40.0), _planner(40.0)
    shooting.take_update(_update("goal.scored", 0, x_m=52.0, y_m=0.0))
    for k in range(100):
        calm.take_view(_view(k * TICK_US, 40.0), k * TICK_US)
        shooting.take_view(_view(k * TICK_US, 40.0), k * TICK_US)
        a, b = calm.tick(k * TICK_US, 1), shooting.tick(k * TICK_US, 1)
    assert b.width_deg > a.width_deg + 1.0
