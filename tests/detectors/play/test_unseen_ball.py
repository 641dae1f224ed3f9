"""A ball in play that nobody sees: found outside, it went out."""

from __future__ import annotations

import pytest

from football.match_sheet import MatchSheet
from middleware.events import Event
from tests.detectors.scene import Point, cast, concluded, decision, frame_event, rows_of


def lost_and_found(found: Point) -> list[Event]:
    """A ball that lay outside is lost when play is resumed, and found elsewhere two seconds later."""
    lay = [frame_event(0.04 * i, (0.0, 36.0), cast(), i) for i in range(25)]
    unseen = [frame_event(1.0 + 0.04 * i, None, cast(), 25 + i) for i in range(1, 50)]
    seen = [frame_event(3.0 + 0.04 * i, found, cast(), 75 + i) for i in range(15)]
    return [*lay, decision(1.0, "resume"), *unseen, *seen]


@pytest.mark.parametrize(
    ("found", "cause", "line"),
    [((6.0, -35.5), "touch", "right touch"), ((54.5, 9.0), "goal line", "right goal line"), ((6.0, 34.3), "", "")],
    ids=["over a touchline", "over a goal line", "the track may err"],
)
def test_a_ball_that_is_found_outside_without_a_crossing_went_out_while_it_was_not_seen(found, cause, line):
    events = concluded(lost_and_found(found), MatchSheet(), "play.dead", "out")
    assert rows_of(events) == ([("play.dead", cause, ""), ("out", line, "")] if cause else [])
    for event in events:
        assert (event.ts_us, event.payload.detail["since_us"]) == (3_400_000, 2_020_000)
