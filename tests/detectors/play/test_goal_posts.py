"""A ball that crosses the goal line by a post."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.play.goal_posts import in_net, near_post
from detectors.play.phase_parameters import PhaseParameters
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, payload_of
from football.pitch import pitch_of

PARAMETERS = PhaseParameters()


@pytest.mark.parametrize(
    ("line", "y_m", "z_m", "end"),
    [
        ("right goal line +y out", 3.9, 0.2, "right"),
        ("right goal line +y out", 4.1, 0.2, None),  # too wide
        ("right goal line +y out", 3.9, 2.6, None),  # over the bar
        ("right touch out", 3.9, 0.2, None),
    ],
)
def test_a_ball_that_is_tracked_outside_a_post_may_be_in(line: str, y_m: float, z_m: float, end: str | None) -> None:
    crossed = make_event("ball.crossed", 0, "b", EventPayload(line, x_m=52.6, y_m=y_m, z_m=z_m))
    entered = near_post(crossed, PARAMETERS.post_m)
    assert (None if entered is None else payload_of(entered).variant) == end


@pytest.mark.parametrize(("x_m", "y_m", "expected"), [(53.7, 3.7, True), (53.7, 5.5, False), (57.0, 3.7, False)])
def test_the_net_stops_a_ball(x_m: float, y_m: float, expected: bool) -> None:
    assert in_net(BallState(x_m, y_m, 0.0, 0.0, 0.0, 0.0, 40_000), pitch_of(MatchSheet()), PARAMETERS) is expected
