"""The table of conventions, row by row, and the geometry of what the picture shows."""

from __future__ import annotations

import math

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from camera.head import Pose
from camera.mount import SURROUND_M, Mount

ASPECT = 16 / 9
on_pitch = st.tuples(st.floats(-52.5, 52.5), st.floats(-34, 34))
mounts = st.builds(Mount, st.floats(-60, 60), st.floats(-120, -50), st.floats(5, 40), st.floats(-180, 180))


def test_the_centre_spot_is_straight_ahead_and_below() -> None:
    pan_deg, tilt_deg = Mount().aim(0.0, 0.0)
    assert pan_deg == pytest.approx(0.0, abs=1e-9)
    assert tilt_deg == pytest.approx(-math.degrees(math.atan2(15, 74)))


def test_pan_grows_to_the_right() -> None:
    assert Mount().aim(74.0, 0.0)[0] == pytest.approx(45.0)
    across = Mount(y_m=74.0, heading_deg=-90.0)  # from the other side, +x is on the left
    assert across.aim(74.0, 0.0)[0] == pytest.approx(-45.0)


def test_heading_is_counter_clockwise_from_the_x_axis() -> None:
    behind_goal = Mount(x_m=-80.0, y_m=0.0, heading_deg=0.0)
    assert behind_goal.aim(0.0, 0.0)[0] == pytest.approx(0.0, abs=1e-9)
    assert behind_goal.aim(-30.0, 50.0)[0] == pytest.approx(-45.0)


def test_tilt_grows_up() -> None:
    mount = Mount()
    assert mount.aim(0.0, 0.0, 30.0)[1] == pytest.approx(-mount.aim(0.0, 0.0, 0.0)[1])
    assert mount.aim(0.0, 0.0, 5.0)[1] > mount.aim(0.0, 0.0, 0.0)[1]


@given(mounts, on_pitch, st.floats(0, 3))
def test_a_point_survives_the_way_to_angles_and_back(mount: Mount, position: tuple[float, float], z_m: float) -> None:
    back = mount.point(*mount.aim(*position, z_m), z_m)
    assert back is not None
    assert math.dist(back, position) < 1e-6


@given(st.floats(-60, 60), st.floats(-60, -2))
def test_angles_survive_the_way_to_the_grass_and_back(pan_deg: float, tilt_deg: float) -> None:
    position = Mount().point(pan_deg, tilt_deg)
    assert position is not None
    assert Mount().aim(*position) == pytest.approx((pan_deg, tilt_deg), abs=1e-6)


def test_a_camera_that_looks_up_never_sees_the_grass() -> None:
    assert Mount().point(0.0, 5.0) is None
    assert Mount().point(0.0, 0.0) is None
    assert Mount().footprint(Pose(0.0, 40.0, 20.0), ASPECT) == []


def test_a_tilt_offset_lowers_every_tilt_straight_ahead() -> None:
    assert Mount(tilt_offset_deg=3.0).aim(0.0, 0.0)[1] == pytest.approx(Mount().aim(0.0, 0.0)[1] - 3.0)


def test_a_head_that_leans_to_the_right_finds_level_points_on_its_right_higher() -> None:
    level = Mount(z_m=0.0, roll_deg=5.0)
    assert level.aim(74.0, 0.0)[1] > 1.0
    assert level.aim(-74.0, 0.0)[1] < -1.0
    assert level.aim(0.0, 0.0)[1] == pytest.approx(0.0, abs=1e-9)


@given(mounts, on_pitch, st.floats(4, 70), on_pitch)
def test_what_is_in_the_picture_is_in_its_footprint_and_the_other_way_round(
    mount: Mount, aim_at: tuple[float, float], width_deg: float, position: tuple[float, float]
) -> None:
    pose = Pose(*mount.aim(*aim_at), width_deg)
    corners = mount.footprint(pose, ASPECT)
    assert len(corners) >= 3
    area = shapely.Polygon(corners)
    assert area.is_valid
    # At the very edge rounding decides: there both answers are right.
    if area.exterior.distance(shapely.Point(position)) > 1e-3:
        assert area.contains(shapely.Point(position)) == mount.in_picture(pose, ASPECT, *position)


def test_the_footprint_is_a_trapezium_of_the_right_size() -> None:
    # Straight down the middle: near and far edge follow from two right triangles.
    mount, pose = Mount(), Pose(0.0, -12.0, 20.0)
    half_height = math.tan(math.radians(10)) / ASPECT
    corners = mount.footprint(pose, ASPECT)
    near_m = 15 / math.tan(math.radians(12 + math.degrees(math.atan(half_height))))
    assert min(y for _, y in corners) == pytest.approx(max(-74 + near_m, -34 - SURROUND_M))
    assert max(y for _, y in corners) == pytest.approx(34 + SURROUND_M)
    assert sum(x for x, _ in corners) == pytest.approx(0.0, abs=1e-6)


def test_a_margin_makes_the_safe_zone_smaller() -> None:
    mount = Mount()
    pose = Pose(0.0, mount.aim(0.0, 0.0)[1], 20.0)
    edge_m = math.tan(math.radians(9.0)) * mount.distance_m(0.0, 0.0)
    assert mount.in_picture(pose, ASPECT, edge_m, 0.0)
    assert not mount.in_picture(pose, ASPECT, edge_m, 0.0, margin=0.2)
    assert not mount.in_picture(pose, ASPECT, 0.0, -200.0)
