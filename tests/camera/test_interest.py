"""The point of interest: pulls by situation and chance, and what must be in the picture."""

from __future__ import annotations

import pytest

from camera.chances import Chance, certain
from camera.framing import load_framing
from camera.interest import Circumstances, Interest, interest, pulls_of
from camera.lookahead import outlook
from football.update_stream import BallView, BodyView, EventRecord, View

TABLE, SIZE_M = load_framing(), (105.0, 68.0)


def half(event: EventRecord, age_us: int) -> float:
    return 0.5


def event(kind: str, x_m: float | None = None, y_m: float | None = None, **detail: str | float) -> EventRecord:
    return EventRecord(f"{kind}#a", kind, "", 6, 0, "home", "home_7", x_m, y_m, None, 1.0, (), detail)


def view(x_m: float = 0.0, y_m: float = 0.0, vx_m_s: float = 0.0) -> View:
    mate = BodyView("home_9", "home", 0, 20.0, 10.0, 0.0, 0.0)
    return View(0, BallView(0, x_m, y_m, 0.0, vx_m_s, 0.0, 0.0), (mate,))


def at(
    one: EventRecord | None, now_us: int = 0, frontier_us: int = 0, chance: Chance = certain, x_m: float = 0.0
) -> Interest:
    seen = view(x_m)
    ahead = outlook(seen)
    assert ahead is not None
    pulls = pulls_of(one, TABLE, seen, 0, SIZE_M[0]) if one else ()
    bodies = {body.object_id: body for body in seen.players}
    return interest(ahead, bodies, pulls, Circumstances(now_us, 0, frontier_us, SIZE_M), TABLE, chance)


def test_a_tentative_event_pulls_by_its_chance_and_a_confirmed_one_wholly_until_it_fades() -> None:
    restart = event("restart.throw_in", 50.0, 30.0)
    weight = TABLE.of("restart.throw_in")[0].weight
    assert at(restart, chance=half).x_m == pytest.approx(50 * 0.5 * weight / (1 + 0.5 * weight))
    assert at(restart, frontier_us=1, chance=half).x_m == pytest.approx(50 * weight / (1 + weight))
    assert 0 < at(restart, 1_200_000, 1).x_m < at(restart, 0, 1).x_m
    assert at(restart, 2_000_000, 1).x_m == 0.0
    assert at(restart, 2_000_000, 1).causes == ()


def test_a_pass_pulls_to_where_it_will_be_met_else_to_the_receiver_else_not_at_all() -> None:
    met = pulls_of(event("pass.attempt", end_x_m=30.0, end_y_m=-5.0, receiver="home_9"), TABLE, view(), 0, 105.0)
    at_him = pulls_of(event("pass.attempt", receiver="home_9"), TABLE, view(), 0, 105.0)
    assert [(pull.x_m, pull.y_m, pull.follows) for pull in met] == [(30.0, -5.0, "")]
    assert [(pull.x_m, pull.y_m, pull.follows) for pull in at_him] == [(20.0, 10.0, "home_9")]
    assert pulls_of(event("pass.attempt", receiver="nobody"), TABLE, view(), 0, 105.0) == ()
    assert pulls_of(event("possession.gain", 1.0, 1.0), TABLE, view(), 0, 105.0) == ()


def test_an_event_of_long_ago_does_not_pull() -> None:
    assert pulls_of(event("out", 1.0, 34.0), TABLE, view(), 10_000_000, 105.0) == ()


def test_a_goal_is_followed_by_its_celebration() -> None:
    goal = event("goal.scored", 52.5, 0.0)
    assert [pull.situation.name for pull in pulls_of(goal, TABLE, view(), 0, 105.0)] == ["goal", "celebration"]
    assert at(goal, 0, 1).width_m > at(goal, 8_000_000, 1).width_m


def test_a_ball_in_front_of_a_goal_brings_the_goal_into_the_picture() -> None:
    def posts(x_m: float) -> int:
        return sum(abs(one.x_m) == 52.5 for one in at(None, x_m=x_m).subjects)

    assert (posts(40.0), posts(-40.0), posts(20.0)) == (2, 2, 0)


def test_the_aim_never_runs_far_off_the_pitch() -> None:
    seen = view(51.0, 0.0, 30.0)
    ahead = outlook(View(0, seen.ball, ()))
    assert ahead is not None
    found = interest(ahead, {}, (), Circumstances(0, 1_000_000, 0, SIZE_M), TABLE, certain)
    assert found.x_m == pytest.approx(55.5)
