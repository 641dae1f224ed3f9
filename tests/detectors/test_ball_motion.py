"""2.4: rest is a history, and a ball rolled slowly away from it moves."""

from __future__ import annotations

from detectors.ball.motion import BallMotion
from detectors.inputs import MatchSheet
from tests.detectors.scene import ball_track, fold, path, stay


def motions(points):
    return [(e.kind, e.ts_us) for e in fold(BallMotion(MatchSheet()), ball_track(points))]


def test_a_ball_rests_after_one_point_eight_seconds_of_slowness():
    way = [*path((0.0, 0.0), (10.0, 0.0), 1.0), *stay((10.0, 0.0), 3.0)]
    assert motions(way) == [("ball.static", 2_800_000)]


def test_a_pause_that_is_shorter_is_no_rest():
    way = [*stay((10.0, 0.0), 1.7), *path((10.0, 0.0), (20.0, 0.0), 1.0), *stay((20.0, 0.0), 1.7)]
    assert motions(way) == []


def test_a_kick_ends_the_rest_at_once():
    way = [*stay((10.0, 0.0), 2.0), *path((10.0, 0.0), (20.0, 0.0), 1.0)]
    assert motions(way) == [("ball.static", 1_800_000), ("ball.moving", 2_000_000)]


def test_a_nudge_does_not_end_it_but_leaving_the_place_does():
    nudged = [*stay((10.0, 0.0), 2.0), *path((10.0, 0.0), (10.5, 0.0), 0.2), *stay((10.5, 0.0), 2.0)]
    assert [kind for kind, _ in motions(nudged)] == ["ball.static"]
    rolled = [*stay((10.0, 0.0), 2.0), *path((10.0, 0.0), (14.0, 0.0), 2.0), *stay((14.0, 0.0), 2.0)]
    assert [kind for kind, _ in motions(rolled)] == ["ball.static", "ball.moving", "ball.static"]
