"""A ball that crosses the goal line by a post."""

from __future__ import annotations

import msgspec
import pytest

from detectors.emission import make_event
from detectors.play.goal_posts import in_net, near_post
from detectors.play.phase_parameters import PhaseParameters
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, payload_of
from football.pitch import pitch_of
from tests.detectors.scene import Point, cast, concluded, frame_event, path, rows_of, scene, stay

PARAMETERS = PhaseParameters()
SHEET = MatchSheet(attacks_positive_x="home")


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


@pytest.mark.parametrize(
    ("at_y_m", "x_m", "y_m", "expected"),
    [
        (3.5, 53.7, 3.7, True),
        (3.5, 53.7, 4.3, False),
        (2.1, 53.7, 4.3, True),
        (2.1, 57.0, 4.3, False),
    ],
    ids=["by the post, in it", "by the post, beside it", "tracked beside it", "over it"],
)
def test_the_net_stops_a_ball(at_y_m: float, x_m: float, y_m: float, expected: bool) -> None:
    crossed = make_event("ball.in_goal", 0, "b", EventPayload("right", x_m=52.6, y_m=at_y_m, z_m=0.0))
    behind = BallState(x_m, y_m, 0.0, 0.0, 0.0, 0.0, 40_000)
    assert in_net(crossed, behind, pitch_of(MatchSheet()), PARAMETERS) is expected


def shot(behind: list[Point], z_m: float = 0.0, lost_s: float = 0.0) -> list[tuple[str, str, str]]:
    """Rows of a ball that crosses the goal line at 20 m/s, goes on as said, and is lost then."""
    way = [*path((34.0, 0.0, z_m), (53.0, 0.5, z_m), 1.0), *behind]
    lost = [frame_event(0.04 * (len(way) + i), None, cast(), len(way) + i) for i in range(round(25 * lost_s))]
    return rows_of(concluded([*scene(way, cast()), *lost], SHEET, "play.dead", "out", "goal."))


def flight(m_s: float, seconds: float) -> list[Point]:
    """The way of a ball on from just behind the goal line."""
    return [*path((53.0, 0.5), (53.0 + m_s * seconds, 0.5), seconds)]


GOAL = [("play.dead", "goal", ""), ("goal.candidate", "right", "home"), ("goal.scored", "right", "home")]
OVER = [("play.dead", "goal line", ""), ("out", "right goal line", "")]


@pytest.mark.parametrize(
    ("behind", "lost_s", "found"),
    [
        ([*path((53.0, 0.5), (54.8, 0.5), 0.1), *stay((54.6, 0.5), 1.5)], 0.0, GOAL),
        ([*flight(20.0, 0.3), *stay((59.0, 0.5), 1.5)], 0.0, OVER),
        ([*flight(4.0, 1.5), *stay((59.0, 0.5), 1.0)], 0.0, OVER),
        (flight(20.0, 0.1), 3.0, GOAL),
    ],
    ids=["the net stops it", "it flies on", "it flies on, slowed by the bar", "it is lost in the net"],
)
def test_the_net_shows_of_a_ball_without_height_that_it_has_not_flown_over_the_bar(
    behind: list[Point], lost_s: float, found: list[tuple[str, str, str]]
) -> None:
    assert shot(behind, lost_s=lost_s) == found


def test_a_ball_that_is_seen_again_in_the_field_after_nothing_was_sent_was_in_the_net() -> None:
    before = scene([*path((34.0, 0.0), (53.0, 0.5), 1.0), *flight(20.0, 0.1)], cast())
    after = scene(path((30.0, 0.5), (20.0, 0.5), 2.0), cast())
    later = [msgspec.structs.replace(one, ts_us=one.ts_us + 9_000_000, seq=one.seq + 1_000) for one in after]
    rows = rows_of(concluded([*before, *later], SHEET, "play.dead", "out", "goal."))
    assert rows[:3] == GOAL


def test_a_ball_of_known_height_is_in_the_goal_at_once() -> None:
    assert shot(flight(20.0, 0.1), z_m=1.0)[0] == ("play.dead", "goal", "")
