"""Markings of the drawn pitch against the Laws, for pitches of any size."""

from __future__ import annotations

import math

import pytest

from dashboard.pitch import MARGIN_M, arcs, boxes, extent_m, lines_of, spots
from football.pitch import Pitch

PITCHES = [Pitch(52.5, 34.0), Pitch(45.0, 22.6), Pitch(60.0, 45.0), Pitch(53.4, 33.1)]
each_pitch = pytest.mark.parametrize("pitch", PITCHES, ids=lambda p: f"{2 * p.half_length_m}x{2 * p.half_width_m}")


@each_pitch
def test_areas_keep_their_size_on_every_pitch(pitch: Pitch):
    found = boxes(pitch)
    for end, sign in (("left", -1), ("right", 1)):
        x0, y0, x1, y1 = found[f"penalty_area_{end}"]
        assert (x0, x1) == pytest.approx((sign * pitch.half_length_m, sign * (pitch.half_length_m - 16.5)))
        assert (y0, y1) == pytest.approx((-20.16, 20.16))
        x0, y0, x1, y1 = found[f"goal_area_{end}"]
        assert abs(x0 - x1) == pytest.approx(5.5)
        assert y1 - y0 == pytest.approx(18.32)


@each_pitch
def test_the_goals_stand_behind_their_lines(pitch: Pitch):
    found = boxes(pitch)
    assert found["goal_left"][2] < found["goal_left"][0] == -pitch.half_length_m
    assert found["goal_right"][2] > found["goal_right"][0] == pitch.half_length_m
    assert found["goal_right"][3] - found["goal_right"][1] == pytest.approx(7.32)


@each_pitch
def test_the_field_is_as_long_and_wide_as_the_sheet_says(pitch: Pitch):
    assert boxes(pitch)["field"] == (
        -pitch.half_length_m, -pitch.half_width_m, pitch.half_length_m, pitch.half_width_m
    )  # fmt: skip


@each_pitch
def test_a_penalty_arc_begins_on_the_area_and_lies_outside_it(pitch: Pitch):
    found = arcs(pitch)
    for end, sign in (("left", -1), ("right", 1)):
        front = pitch.half_length_m - 16.5
        path = found[f"penalty_{end}"]
        assert [sign * path[i][0] for i in (0, -1)] == pytest.approx([front, front])
        assert all(sign * x <= front + 1e-9 for x, _ in path)
        mark = (sign * (pitch.half_length_m - 11.0), 0.0)
        assert all(math.dist(point, mark) == pytest.approx(9.15) for point in path)


@each_pitch
def test_corner_arcs_lie_inside_the_field_a_metre_from_the_corner(pitch: Pitch):
    corners = {name: path for name, path in arcs(pitch).items() if name.startswith("corner")}
    assert len(corners) == 4
    for path in corners.values():
        assert all(pitch.inside(x, y, 1e-9) for x, y in path)
        assert all(pitch.corner_distance_m(x, y) == pytest.approx(1.0) for x, y in path)
        # A quarter of a circle: its ends lie on the two lines that meet in the corner.
        assert sum(abs(abs(x) - pitch.half_length_m) < 1e-9 for x, _ in path) == 1
        assert sum(abs(abs(y) - pitch.half_width_m) < 1e-9 for _, y in path) == 1


def test_the_marks_are_eleven_metres_from_the_goal_lines():
    assert spots(Pitch(50.0, 32.0)) == [(0.0, 0.0), (-39.0, 0.0), (39.0, 0.0)]


@each_pitch
def test_every_marking_is_drawn_within_the_extent(pitch: Pitch):
    half_x, half_y = extent_m(pitch)
    assert (half_x, half_y) == (pitch.half_length_m + MARGIN_M, pitch.half_width_m + MARGIN_M)
    lines = lines_of(pitch)
    assert len(lines) == 1 + len(boxes(pitch)) + len(arcs(pitch))
    assert all(line in lines for line in arcs(pitch).values())
    assert all(abs(x) <= half_x and abs(y) <= half_y for line in lines for x, y in line)
