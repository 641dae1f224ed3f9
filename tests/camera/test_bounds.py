"""A camera keeps to its soft limits and never looks into a forbidden zone, whoever steers it."""

from __future__ import annotations

import random

import pytest
from hypothesis import example
from hypothesis import strategies as st

from camera.bounds import DRIFT_DEG, Bounds, Zone
from camera.head import Pose
from camera.mount import Mount
from camera.operator import DEAD_MAN_US, GoTo, Hold, ManualDrive
from camera.planner import STYLES, TICK_US, Planner
from camera.profile import load_profile
from tests.examples import in_two_lengths

X400 = load_profile()
BOUNDS = Bounds((-60.0, 60.0), (-30.0, 10.0), (Zone((10.0, 25.0), (-30.0, 0.0)), Zone((-40.0, -30.0), (-12.0, 10.0))))


def planner(style: str = "normal", pan_deg: float = 0.0) -> Planner:
    return Planner(Mount(), X400, Pose(pan_deg, -10.0, 40.0), STYLES[style], bounds=BOUNDS)


@in_two_lengths(8, 60, seed=st.integers(0, 2**32), style=st.sampled_from(sorted(STYLES)))
@example(seed=346, style="normal")  # a stop that drifts across an edge by 0.3 millionths of a degree
def test_no_order_leads_into_a_zone_or_beyond_the_limits(seed: int, style: str) -> None:
    rng, planned, now_us = random.Random(seed), planner(style), 0
    for _ in range(400):
        now_us += TICK_US
        if rng.random() < 0.05:
            planned.order = rng.choice(
                [
                    ManualDrive(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1), now_us),
                    GoTo(Pose(rng.uniform(-90, 90), rng.uniform(-30, 20), rng.uniform(5, 60))),
                    Hold(),
                ]
            )
        plan = planned.tick(now_us)
        at = plan.pan.position, plan.tilt.position
        assert max(zone.depth_deg(*at) for zone in BOUNDS.forbidden) < DRIFT_DEG / 10, f"seed {seed}: {at} at {now_us}"
        assert BOUNDS.pan_deg[0] - 0.5 <= at[0] <= BOUNDS.pan_deg[1] + 0.5, f"seed {seed}"
        assert BOUNDS.tilt_deg[0] - 0.5 <= at[1] <= BOUNDS.tilt_deg[1] + 0.5, f"seed {seed}"


@pytest.mark.parametrize("drift_deg", [0.0, 3e-7, 0.005])
def test_a_camera_that_has_drifted_onto_an_edge_is_held_out_of_the_zone_and_may_leave(drift_deg: float) -> None:
    for share, reaches in ((1.0, False), (-1.0, True)):
        planned, now_us = planner(pan_deg=10.0 + drift_deg), 0
        for _ in range(100):
            now_us += TICK_US
            planned.order = ManualDrive(share, 0.0, 0.0, now_us)
            plan = planned.tick(now_us)
            assert plan.pan.position < 10.0 + drift_deg + 1e-3
        assert (abs(plan.pan.position - 10.0) > 5.0) is reaches


def test_a_preset_is_reached_and_held() -> None:
    planned, now_us = planner(), 0
    planned.order = GoTo(Pose(5.0, -8.0, 20.0))
    for _ in range(400):
        now_us += TICK_US
        plan = planned.tick(now_us)
    assert plan.mode == "preset"
    assert abs(plan.pan.position - 5.0) < 0.1
    assert abs(plan.tilt.position + 8.0) < 0.1
    assert abs(plan.width_deg - 20.0) < 0.5


def test_a_preset_behind_a_zone_leaves_the_camera_in_front_of_it() -> None:
    planned, now_us = planner(), 0
    planned.order = GoTo(Pose(40.0, -10.0, 20.0))
    for _ in range(600):
        now_us += TICK_US
        plan = planned.tick(now_us)
    assert 5.0 < plan.pan.position <= 10.0
    assert abs(plan.pan.velocity) < 0.5


def test_a_drive_turns_at_the_next_tick_and_stops_when_the_operator_is_silent() -> None:
    planned = planner()
    planned.order = ManualDrive(-0.5, 0.0, 0.0, TICK_US)
    first = planned.tick(TICK_US)
    assert first.mode == "operator"
    assert first.pan.accel < 0
    now_us = TICK_US
    while now_us < DEAD_MAN_US + TICK_US:
        now_us += TICK_US
        moving = planned.tick(now_us)
    assert moving.pan.velocity < -1.0
    for _ in range(200):
        now_us += TICK_US
        still = planned.tick(now_us)
    assert abs(still.pan.velocity) < 0.01


def test_handing_back_does_not_jump() -> None:
    planned, now_us = planner(pan_deg=-20.0), 0
    planned.order = ManualDrive(-1.0, 0.0, 0.0, 0)
    for _ in range(20):
        now_us += TICK_US
        before = planned.tick(now_us)
    planned.order = None
    after = planned.tick(now_us + TICK_US)
    style = STYLES["normal"]
    assert abs(after.pan.accel - before.pan.accel) <= style.pan.jerk * TICK_US / 1e6 + 1e-9
    assert abs(after.pan.velocity - before.pan.velocity) <= style.pan.accel * TICK_US / 1e6 + 1e-9
