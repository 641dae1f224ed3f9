"""The simulated head against the closed form of uniformly accelerated motion."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.head import Axis, new_head
from camera.profile import load_profile

ACCEL = 200.0


def _axis(position: float = 0.0) -> Axis:
    return Axis(position, -170.0, 170.0, ACCEL)


def test_a_drive_accelerates_evenly_and_then_keeps_its_speed() -> None:
    axis = _axis().drive(40.0)
    assert axis.advance(0.1).velocity == pytest.approx(20.0)
    assert axis.advance(0.1).position == pytest.approx(ACCEL * 0.1**2 / 2)
    later = axis.advance(1.2)
    assert later.velocity == pytest.approx(40.0)
    assert later.position == pytest.approx(40.0**2 / (2 * ACCEL) + 40.0 * (1.2 - 0.2))


def test_a_long_move_takes_the_time_of_a_trapezoid() -> None:
    duration_s = 60.0 / 40.0 + 40.0 / ACCEL
    axis = _axis().go_to(60.0, 40.0)
    assert not axis.advance(duration_s - 1e-6).still
    assert axis.advance(duration_s + 1e-6).still
    assert axis.advance(duration_s + 1e-6).position == pytest.approx(60.0)


def test_a_short_move_takes_the_time_of_a_triangle() -> None:
    duration_s = 2 * math.sqrt(2.0 / ACCEL)
    axis = _axis().go_to(2.0, 100.0)
    assert axis.advance(duration_s / 2).velocity == pytest.approx(ACCEL * duration_s / 2)
    assert axis.advance(duration_s + 1e-6).still
    assert axis.advance(duration_s + 1e-6).position == pytest.approx(2.0)


def test_a_stop_takes_the_braking_distance() -> None:
    moving = _axis().drive(40.0).advance(1.0)
    stopped = moving.stop().advance(5.0)
    assert stopped.velocity == 0.0
    assert stopped.position - moving.position == pytest.approx(40.0**2 / (2 * ACCEL))


def test_a_drive_stops_by_itself_at_the_end_of_travel() -> None:
    axis = _axis(160.0).drive(90.0).advance(10.0)
    assert axis.still
    assert axis.position == pytest.approx(170.0)


_orders = st.lists(
    st.tuples(st.floats(-170, 170), st.floats(1, 100), st.booleans(), st.floats(0.0, 1.5)), min_size=1, max_size=6
)


@given(_orders, st.integers(1, 40))
def test_the_motion_does_not_depend_on_how_time_is_cut(
    orders: list[tuple[float, float, bool, float]], cuts: int
) -> None:
    whole = split = _axis()
    for goal, cruise, drive, wait_s in orders:
        whole = whole.drive(math.copysign(cruise, goal)) if drive else whole.go_to(goal, cruise)
        split = split.drive(math.copysign(cruise, goal)) if drive else split.go_to(goal, cruise)
        whole = whole.advance(wait_s)
        for _ in range(cuts):
            split = split.advance(wait_s / cuts)
        assert split.position == pytest.approx(whole.position, abs=1e-6)
        assert split.velocity == pytest.approx(whole.velocity, abs=1e-5)


@given(_orders)
def test_acceleration_speed_and_travel_stay_within_bounds_and_every_move_arrives(
    orders: list[tuple[float, float, bool, float]],
) -> None:
    axis, dt_s, fastest = _axis(), 0.01, 0.0
    for goal, cruise, _, wait_s in orders:
        fastest = max(fastest, cruise)
        axis = axis.go_to(goal, cruise)
        for _ in range(round(wait_s / dt_s)):
            after = axis.advance(dt_s)
            assert abs(after.velocity - axis.velocity) <= ACCEL * dt_s + 1e-6
            assert abs(after.velocity) <= fastest + 1e-6
            assert -170.0 - 1e-6 <= after.position <= 170.0 + 1e-6
            axis = after
    assert axis.advance(1000.0).position == pytest.approx(orders[-1][0], abs=1e-6)


def test_a_head_advances_all_axes_and_leaves_the_old_one_alone() -> None:
    head = new_head(load_profile())
    moved = head.__class__(head.profile, head.pan.drive(11.0), head.tilt.drive(-1.1), head.zoom.go_to(16384, 5120))
    later = moved.advance(10.0)
    assert moved.pose.pan_deg == 0.0
    assert later.pose.pan_deg > 100.0
    assert later.pose.tilt_deg == pytest.approx(-11.0, abs=0.1)
    assert later.pose.width_deg == pytest.approx(4.01, abs=0.01)
