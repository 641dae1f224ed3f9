"""Line crossings and goal-mouth crossings on hand-made ball tracks."""

from __future__ import annotations

import math

import pytest

from detectors.ball.lines import IN_LINES, OUT_LINES, GoalMouth, LineCrossing
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet, Quality
from football.pitch import Pitch, PitchError, pitch_of
from tests.detectors.scene import ball_track, fold, rows_of

SHEET = MatchSheet(quality=Quality(ball_hz=25.0))


def crossings(points, step_s=0.04):
    return [variant for _, variant, _ in rows_of(fold(LineCrossing(SHEET), ball_track(points, step_s)))]


def test_a_ball_five_centimetres_over_the_touchline_is_still_in():
    assert crossings([(3, 33.0), (3, 33.6), (3, 34.05), (3, 33.5)]) == []


def test_a_ball_twenty_five_centimetres_over_the_touchline_is_out_and_comes_back_in():
    assert crossings([(3, 33.0), (3, 34.25), (3, 34.05), (3, 33.9)]) == ["left touch out", "left touch in"]


def test_a_ball_that_lies_on_the_line_does_not_flicker():
    wobble = [(3, 34.08 + 0.07 * math.sin(i)) for i in range(100)]
    assert len(crossings([(3, 33.0), *wobble])) == 1


def test_the_crossing_is_interpolated_in_time_and_place():
    (event,) = fold(LineCrossing(SHEET), ball_track([(10.0, 33.61), (11.0, 34.61)]))
    assert event.ts_us == 20_000
    assert event.payload.x_m == pytest.approx(10.5)
    assert event.payload.y_m == pytest.approx(34.11)
    assert event.id == "ball.crossed#ball:40000/left touch out"


@pytest.mark.parametrize(("v_m_s", "since_us"), [(5.0, 140_000), (0.1, 1_040_000)], ids=["it rolls out", "it may lie"])
def test_a_ball_that_was_lost_by_the_line_is_out_since_it_rolled_on(v_m_s, since_us):
    y_m = 34.11 - 0.1 * 5.0
    rolls = ball_track([(10.0, y_m - 0.04 * v_m_s), (10.0, y_m)])
    found = ball_track([(10.0, 35.61)], start_s=4.04)
    (event,) = fold(LineCrossing(SHEET), [*rolls, *found])
    assert (event.ts_us, event.payload.detail["since_us"]) == (3_960_000, pytest.approx(since_us, abs=10_000))


def test_one_long_step_passes_all_lines_in_the_order_of_the_way():
    found = crossings([(-10.0, 0.0), (0.0, 0.0), (10.0, 0.0), (53.0, 0.0)], step_s=1.0)
    assert found == [
        "centre circle in",
        "halfway +x",
        "centre circle out",
        "right penalty front in",
        "right goal area front in",
        "right goal mouth out",
    ]


def test_the_fronts_of_the_areas_end_where_the_areas_end():
    assert crossings([(30.0, 25.0), (40.0, 25.0), (40.0, 19.0), (30.0, 19.0)]) == ["right penalty front out"]


@pytest.mark.parametrize(
    ("y_m", "part"),
    [(20.0, "goal line +y"), (-3.8, "goal line -y"), (3.6, "goal mouth"), (-3.6, "goal mouth")],
)
@pytest.mark.parametrize(("end", "sign"), [("left", -1), ("right", 1)])
def test_a_goal_line_has_three_parts(end, sign, y_m, part):
    assert crossings([(sign * 52, y_m), (sign * 52.7, y_m)])[-1] == f"{end} {part} out"


def test_a_ball_over_the_corner_leaves_the_field_once():
    assert crossings([(52.0, 33.5), (52.9, 34.6)]) == ["left touch out"]


def test_a_jump_of_the_track_is_a_crossing_of_little_confidence():
    (event,) = fold(LineCrossing(SHEET), ball_track([(20.0, 20.0), (20.0, 34.5)]))
    assert event.payload.confidence < 0.5
    assert event.payload.detail["jump"] is True
    assert event.payload.detail["speed_m_s"] == BALL_SPEED_MAX_M_S, "no ball is faster"


def test_there_are_eight_ways_out_and_as_many_in():
    assert len(OUT_LINES) == len(IN_LINES) == 8
    assert set(OUT_LINES.values()) == {"left touch", "right touch", "left goal line", "right goal line"}


@pytest.mark.parametrize(
    ("y_m", "z_m", "expected"),
    [
        (0.0, 1.0, [("ball.in_goal", "right", "")]),
        (3.5, 2.2, [("ball.in_goal", "right", "")]),
        (0.0, 3.0, [("ball.over_bar", "right", "")]),
        (4.0, 1.0, []),
    ],
)
def test_between_the_posts_and_under_the_bar_is_a_goal(y_m, z_m, expected):
    assert rows_of(fold(GoalMouth(SHEET), ball_track([(52.0, y_m, z_m), (52.9, y_m, z_m)]))) == expected


def test_half_a_ball_over_the_goal_line_is_no_goal():
    assert fold(GoalMouth(SHEET), ball_track([(52.0, 0.0), (52.6, 0.0), (52.0, 0.0)])) == []


def test_a_ball_that_hits_bar_or_post_is_in_doubt():
    (event,) = fold(GoalMouth(SHEET), ball_track([(52.0, 3.6, 1.0), (52.9, 3.6, 1.0)]))
    assert event.payload.confidence == 0.5


def test_without_measured_height_a_ball_between_the_posts_is_in_doubt():
    sheet = MatchSheet(quality=Quality(ball_height=False))
    (event,) = fold(GoalMouth(sheet), ball_track([(-52.0, 0.0), (-52.9, 0.0)]))
    assert (event.kind, event.payload.variant, event.payload.confidence) == ("ball.in_goal", "left", 0.5)


@pytest.mark.parametrize(
    ("held", "came_m_s", "since_s"),
    [(True, 10.0, 0.96), (False, 10.0, 0.96), (True, 0.0, 2.8)],
    ids=["its position is repeated", "it is lost", "it lay there"],
)
def test_a_ball_that_is_found_in_the_goal_crossed_the_line_when_it_was_due(held: bool, came_m_s: float, since_s: float):
    """It is last seen moving 0.8 s in, 1.5 m before the line, and found two seconds later behind it."""
    before = [(51.0 - came_m_s * (0.8 - 0.04 * i), 0.0) for i in range(21)]
    track = ball_track([*before, *[(51.0, 0.0)] * 49, (54.5, 0.0)])
    track = track if held else [*track[:21], track[-1]]
    found = [*fold(LineCrossing(SHEET), track)[-1:], *fold(GoalMouth(SHEET), track)]
    assert [e.kind for e in found] == ["ball.crossed", "ball.in_goal"]
    assert [e.payload.detail["since_us"] / 1e6 for e in found] == pytest.approx([since_s] * 2, abs=0.05)


def test_a_ball_that_starts_in_the_net_is_no_goal():
    assert fold(GoalMouth(SHEET), ball_track([(53.0, 0.0), (53.1, 0.0)])) == []


def test_a_pitch_in_millimetres_is_refused_by_name():
    with pytest.raises(PitchError, match=r"'cup'.*length_m = 105000"):
        pitch_of(MatchSheet(match_id="cup", length_m=105_000.0))


def test_distances_of_the_pitch():
    pitch = Pitch()
    assert pitch.beyond_m(55.5, 38.0) == pytest.approx(5.0)
    assert pitch.beyond_m(50.0, 0.0) == pytest.approx(-2.5)
    assert pitch.in_goal_area(-48.0, 9.0, "left")
    assert not pitch.in_goal_area(-46.0, 9.0, "left")
    assert pitch.in_penalty_area(-46.0, 9.0, "left")
    assert pitch.corner_distance_m(-52.5, 33.0) == pytest.approx(1.0)
    assert pitch.penalty_mark("left") == (-41.5, 0.0)
