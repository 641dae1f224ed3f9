"""Strokes and markers on the pitch."""

from __future__ import annotations

from dashboard.demo import demo_event
from dashboard.families import family_of
from dashboard.marks import WINDOW_US, Mark, marks
from football.lifecycle import Lifecycle
from football.update_stream import EventRecord, UpdateRecord

ATTEMPT = demo_event("pass.attempt", 1_000_000, "ball:7", team="home", x_m=1.0, y_m=2.0)
COMPLETE = demo_event("pass.complete", 2_000_000, "ball:9", team="home", x_m=11.0, y_m=12.0, causes=(ATTEMPT.id,))


def marks_after(*updates: tuple[int, EventRecord], frontier_us: int = 0, now_us: int = 3_000_000) -> list[Mark]:
    timeline = Lifecycle(family_of)
    timeline.apply(UpdateRecord(i, diff, now_us, event) for i, (diff, event) in enumerate(updates))
    timeline.advance(frontier_us)
    return marks(timeline, now_us)


def test_a_pass_without_an_outcome_has_no_end():
    (mark,) = marks_after((1, ATTEMPT))
    assert (mark.shape, mark.state, mark.to_x_m) == ("pass", "tentative", None)


def test_an_outcome_that_names_the_attempt_ends_the_stroke():
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE))
    assert (mark.x_m, mark.y_m, mark.to_x_m, mark.to_y_m) == (1.0, 2.0, 11.0, 12.0)
    assert mark.outcome == "pass.complete"


def test_an_outcome_with_the_same_anchor_ends_the_stroke():
    out = demo_event("pass.out", 2_000_000, "ball:7", team="home", x_m=5.0, y_m=34.0)
    (mark,) = marks_after((1, ATTEMPT), (1, out))
    assert mark.outcome == "pass.out"


def test_an_attempt_that_is_confirmed_with_a_tentative_outcome_is_drawn_tentative():
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE), frontier_us=1_500_000)
    assert mark.state == "tentative"
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE), frontier_us=2_500_000)
    assert mark.state == "confirmed"


def test_a_withdrawn_outcome_leaves_the_attempt_open_and_the_next_one_counts():
    failed = demo_event("pass.intercepted", 2_000_000, "ball:9", x_m=9.0, y_m=9.0, causes=(ATTEMPT.id,))
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE), (-1, COMPLETE))
    assert (mark.state, mark.to_x_m) == ("tentative", None)
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE), (-1, COMPLETE), (1, failed))
    assert (mark.outcome, mark.to_x_m) == ("pass.intercepted", 9.0)


def test_a_withdrawn_attempt_is_withdrawn_whatever_its_outcome():
    (mark,) = marks_after((1, ATTEMPT), (1, COMPLETE), (-1, ATTEMPT))
    assert (mark.state, mark.to_x_m) == ("withdrawn", None)


def test_shots_end_in_goals_and_restarts_are_markers_with_words():
    shot = demo_event("shot.attempt", 1_000_000, "ball:1", team="away", x_m=-30.0, y_m=0.0)
    goal = demo_event("goal.scored", 1_900_000, "ball:1", team="away", x_m=-52.5, y_m=1.0, causes=(shot.id,))
    corner = demo_event("restart.corner", 2_000_000, "ball:4", team="home", x_m=52.0, y_m=33.5)
    stroke, marker = marks_after((1, shot), (1, goal), (1, corner))
    assert (stroke.shape, stroke.label, stroke.to_x_m) == ("shot", "Goal", -52.5)
    assert (marker.shape, marker.label, marker.state) == ("restart", "Corner kick", "tentative")


def test_marks_leave_the_pitch_after_their_window():
    assert marks_after((1, ATTEMPT), now_us=1_000_000 + WINDOW_US["pass"]) != []
    assert marks_after((1, ATTEMPT), now_us=1_000_001 + WINDOW_US["pass"]) == []


def test_events_without_a_place_are_not_drawn():
    nowhere = demo_event("restart.throw_in", 1_000_000, "ball:3", team="home")
    assert marks_after((1, nowhere), (1, demo_event("pass.attempt", 1_000_000, "ball:8"))) == []


def test_a_broken_line_has_the_way_of_the_ball_and_where_the_line_was():
    start = {"start_x_m": 1.0, "start_y_m": 2.0}
    done = demo_event("pass.complete", 2_000_000, "ball:7", team="home", x_m=21.0, y_m=12.0, detail=start)
    carry = demo_event(
        "carry.end", 2_500_000, "ball:9", team="home", x_m=30.0, y_m=0.0, detail={"from_x_m": 21.0, "from_y_m": 1.0}
    )

    def broken(of: EventRecord, name: str, line_x_m: float) -> EventRecord:
        values = {"team": "home", "x_m": of.x_m, "y_m": of.y_m, "causes": (of.id,), "variant": name}
        return demo_event(
            "linebreak", of.ts_us, of.id.partition("#")[2] + "/line", **values, detail={"line_x_m": line_x_m}
        )

    by_pass, by_carry = broken(done, "midfield through", 11.0), broken(carry, "defence around", 25.0)
    unknown = broken(demo_event("pass.complete", 2_000_000, "ball:1", x_m=1.0, y_m=1.0), "attack over", 0.0)
    shown = [
        mark
        for mark in marks_after(*((1, one) for one in (done, carry, by_pass, by_carry, unknown)))
        if mark.shape == "break"
    ]
    assert [(mark.x_m, mark.y_m, mark.to_x_m, mark.to_y_m, mark.line_x_m, mark.label) for mark in shown] == [
        (1.0, 2.0, 21.0, 12.0, 11.0, "midfield through"),
        (21.0, 1.0, 30.0, 0.0, 25.0, "defence around"),
    ]
    (withdrawn,) = [mark for mark in marks_after((1, done), (1, by_pass), (-1, by_pass)) if mark.shape == "break"]
    assert withdrawn.state == "withdrawn"
