"""Markings of the drawn pitch against the Laws, for pitches of any size."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from dashboard.pitch import MARGIN_M, arcs, boxes, extent_m, pitch_figure, spots
from football.pitch import Pitch

PITCHES = [Pitch(52.5, 34.0), Pitch(45.0, 22.6), Pitch(60.0, 45.0), Pitch(53.4, 33.1)]
#: Another thread imports pandas and stands still in the middle; meanwhile this one draws. (Spark's thread does so.)
DRAWN_WHILE_PANDAS_IS_IMPORTED = """
import sys, threading
from importlib.abc import MetaPathFinder

begun, drawn = threading.Event(), threading.Event()

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith("pandas.core") and not begun.is_set():
            begun.set()
            drawn.wait(1)

sys.meta_path.insert(0, Slow())
threading.Thread(target=__import__, args=("pandas",), daemon=True).start()
begun.wait()
from dashboard.pitch import pitch_figure
from football.pitch import Pitch
pitch_figure(Pitch(52.5, 34.0))
drawn.set()
"""
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
def test_the_figure_shows_exactly_the_extent_without_margins(pitch: Pitch):
    layout = pitch_figure(pitch).layout
    half_x, half_y = extent_m(pitch)
    assert half_x == pitch.half_length_m + MARGIN_M
    assert tuple(layout.xaxis.range) == (-half_x, half_x)
    assert tuple(layout.yaxis.range) == (-half_y, half_y)
    assert (layout.margin.l, layout.margin.r, layout.margin.t, layout.margin.b) == (0, 0, 0, 0)


def test_every_marking_is_in_the_figure():
    names = {shape.name for shape in pitch_figure(Pitch()).layout.shapes}
    assert {*boxes(Pitch()), *arcs(Pitch()), "halfway", "spot"} <= names


def test_the_pitch_is_drawn_while_another_thread_imports_pandas():
    """A live run's page is made while Spark starts; Plotly takes a half-imported pandas for a whole one."""
    run = subprocess.run(
        [sys.executable, "-c", DRAWN_WHILE_PANDAS_IS_IMPORTED], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
