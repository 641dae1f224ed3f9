"""2.4: rest is a history, and a ball rolled slowly away from it moves."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from detectors.ball.motion import BallMotion
from football.match_sheet import MatchSheet, Quality
from middleware.events import Event
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


def on_radio(points, seed: int = 1):
    """The points at 200 Hz with errors of 2 cm, and velocities that err by 0.5 m/s in each direction."""
    rng = random.Random(seed)
    sheet = MatchSheet(quality=Quality(200.0, 50.0, ("left_foot", "right_foot"), True, 0.02, "rtls"))
    track = ball_track(points, 0.005)
    noisy = [
        replace(
            event.payload,
            **{n: getattr(event.payload, n) + rng.gauss(0.0, 0.02) for n in ("x_m", "y_m", "z_m")},
            **{n: getattr(event.payload, n) + rng.gauss(0.0, 0.5) for n in ("vx_m_s", "vy_m_s", "vz_m_s")},
        )
        for event in track
    ]
    events = [Event(e.kind, e.ts_us, e.source, e.seq, ball) for e, ball in zip(track, noisy, strict=True)]
    return [(e.kind, e.ts_us) for e in fold(BallMotion(sheet), events)]


def test_on_radio_a_ball_rests_though_no_velocity_says_so_at_every_instant():
    (kind, ts_us), *others = on_radio(stay((10.0, 0.0), 4.0, 0.005))
    assert (kind, others) == ("ball.static", [])
    assert 1_800_000 <= ts_us <= 2_600_000


@pytest.mark.parametrize("speed_m_s", [1.4, 2.0, 3.0])
def test_on_radio_a_ball_that_rolls_slowly_does_not_rest(speed_m_s: float):
    assert on_radio(path((0.0, 0.0), (5.0 * speed_m_s, 0.0), 5.0, 0.005)) == []
