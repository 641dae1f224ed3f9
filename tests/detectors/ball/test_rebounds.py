"""2.6 and 2.11: the ground, the posts, the bar."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from detectors.ball.changes import AccelerationPeak
from detectors.ball.rebounds import POST_RADIUS_M, BallBounce, Woodwork
from football.constants import BALL_RADIUS_M, BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet
from football.pitch import BAR_HEIGHT_M, GOAL_HALF_WIDTH_M
from middleware.events import Event
from tests.detectors.scene import ball_track, chained, fold, path

SHEET = MatchSheet()
AXIS_X_M = 52.5 - POST_RADIUS_M
POST_Y_M = GOAL_HALF_WIDTH_M + POST_RADIUS_M
TOUCH_M = BALL_RADIUS_M + POST_RADIUS_M


def way(*points: tuple[float, float, float], seconds: float = 0.4) -> list[Event]:
    track = [points[0]]
    for start, end in pairwise(points):
        track += path(start, end, seconds)
    return ball_track(track)


def test_a_ball_that_comes_down_and_goes_on_bounces_once_where_it_was_lowest():
    out = chained(way((0, 0, 2), (4, 0, 0.11), (7, 0, 1.2)), AccelerationPeak(SHEET), BallBounce(SHEET))
    assert [e.kind for e in out] == ["ball.bounce"]
    assert abs(out[0].ts_us - 400_000) <= 10_000, "to a quarter of a frame"
    fall_m_s = out[0].payload.detail["fall_m_s"]
    assert 4.7 <= fall_m_s <= 6.3, "4.7 in the mean, and faster at the ground: what is in the air falls"


def test_no_ball_falls_faster_than_the_fastest():
    out = chained(way((0, 0, 22), (2, 0, 0.11), (4, 0, 1.2)), AccelerationPeak(SHEET), BallBounce(SHEET))
    assert [e.payload.detail["fall_m_s"] <= BALL_SPEED_MAX_M_S for e in out] == [True]


@pytest.mark.parametrize(
    "points",
    [
        ((0, 0, 0.11), (4, 0, 0.11), (8, 0, 0.11)),  # it rolls
        ((0, 0, 3), (4, 0, 1.8), (8, 0, 3)),  # a header
        ((0, 0, 2), (4, 0, 0.11), (1, 3, 1.5)),  # volleyed off the ground: its way changes as well
        ((0, 0, 2), (4, 0, 0.11), (7, 0, 0.11)),  # it stays down
        ((0, 0, 0.11), (4, 0, 0.11), (8, 0, 2)),  # a chip
    ],
)
def test_what_is_no_bounce(points):
    assert chained(way(*points), AccelerationPeak(SHEET), BallBounce(SHEET)) == []


def struck(sign: float, y_m: float, from_y_m: float, z_m: float = 1.0, seconds: float = 0.48) -> list[Event]:
    """A shot from 16 m that comes back from the frame's outside at ``y_m``."""
    at = AXIS_X_M - TOUCH_M
    return way((sign * (at - 16), from_y_m, z_m), (sign * at, y_m, z_m), (sign * (at - 6), y_m, z_m), seconds=seconds)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("y_m", "from_y_m", "part"),
    [
        (POST_Y_M, 6.0, "near post"),
        (POST_Y_M, -6.0, "far post"),
        (-POST_Y_M, -6.0, "near post"),
        (-POST_Y_M, 6.0, "far post"),
    ],
)
def test_the_post_on_the_side_that_the_ball_came_from_is_the_near_one(sign, y_m, from_y_m, part):
    out = fold(Woodwork(SHEET), struck(sign, y_m, from_y_m))
    assert [(e.kind, e.payload.variant, e.payload.detail["side"]) for e in out] == [
        ("ball.woodwork", part, "right" if sign > 0 else "left")
    ]
    assert out[0].ts_us == 480_000


def test_the_bar():
    out = fold(Woodwork(SHEET), struck(1.0, 1.0, 0.0, BAR_HEIGHT_M + POST_RADIUS_M))
    assert [e.payload.variant for e in out] == ["bar"]


@pytest.mark.parametrize(
    ("y_m", "z_m"),
    [(0.0, 1.0), (POST_Y_M - 0.6, 1.0), (POST_Y_M + 0.6, 1.0), (POST_Y_M, 3.2), (1.0, 2.0), (1.0, 3.0), (4.5, 2.5)],
)
def test_a_ball_that_turns_elsewhere_on_the_goal_line_met_no_frame(y_m, z_m):
    assert fold(Woodwork(SHEET), struck(1.0, y_m, y_m, z_m)) == []


def test_a_ball_that_flies_on_past_the_post_met_none():
    assert fold(Woodwork(SHEET), way((46, 3.72, 1), (52, 3.72, 1), (58, 3.72, 1))) == []


@pytest.mark.parametrize("speed_m_s", [1.5, 6.0, 20.0])
def test_heights_that_are_wrong_make_no_woodwork_of_a_ball_that_passes_a_post(speed_m_s: float):
    track, step_s, up_m = [(51.0, POST_Y_M, 0.5)], 0.12, 1.0
    while track[-1][0] < 54.0:
        x_m, _, z_m = track[-1]
        track += path(track[-1], (x_m + speed_m_s * step_s, POST_Y_M, z_m + up_m), step_s)
        up_m = -up_m
    assert fold(Woodwork(SHEET), ball_track(track)) == []


def test_without_height_there_are_posts_but_no_bar():
    flat = replace(SHEET, quality=replace(SHEET.quality, ball_height=False))
    assert fold(Woodwork(flat), struck(1.0, 1.0, 0.0, BAR_HEIGHT_M + POST_RADIUS_M)) == []
    assert [e.payload.variant for e in fold(Woodwork(flat), struck(1.0, POST_Y_M, 6.0))] == ["near post"]
