"""10.10: what opponents, offside and the side of the pitch do to the space that passes reach."""

from __future__ import annotations

import random

import msgspec
import pytest

from detectors.control.access import DangerousSpace, onside, spaces
from detectors.control.scene import Scene
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState
from football.pitch import Pitch
from middleware.events import Event
from tests.detectors.scene import body, fold

HOLDER = body("home_9", 20.0, 0.0)
BALL = BallState(20.3, 0.0, 0.11, 0.0, 0.0, 0.0, 40_000)
Bodies = list[BodyState]


def scene(home: Bodies, away: Bodies, ball: BallState = BALL, attacks: str = "home") -> Scene:
    return Scene(ball, tuple(home), tuple(away), attacks, True, "home_9", "home")  # type: ignore[arg-type]


def space(home: Bodies, away: Bodies, ball: BallState = BALL, attacks: str = "home") -> tuple[float, float]:
    return spaces(scene(home, away, ball, attacks), ball, "home", Pitch())


def turned(b: BodyState) -> BodyState:
    return msgspec.structs.replace(b, x_m=-b.x_m, y_m=-b.y_m, vx_m_s=-b.vx_m_s, vy_m_s=-b.vy_m_s)


def test_the_same_space_is_more_dangerous_the_nearer_it_is_to_the_goal():
    def before_goal(x_m: float) -> tuple[float, float]:
        home = [body("home_9", x_m, 0.0), body("home_8", x_m - 1.0, 12.0)]
        away = [body(f"away_{n}", x_m + 6.0, y) for n, y in ((2, -10.0), (3, 0.0), (4, 10.0), (5, 20.0))]
        return space(home, away, msgspec.structs.replace(BALL, x_m=x_m + 0.3))

    far, near = before_goal(-20.0), before_goal(35.0)
    assert near[1] > 10 * far[1] > 0.0
    assert far[0] > 100 * far[1]


def test_an_opponent_on_each_mate_takes_the_space_and_one_far_away_does_not():
    mates = [HOLDER, body("home_8", 19.0, 15.0), body("home_7", 19.0, -15.0)]
    free = space(mates, [])
    marked = space(mates, [body("away_4", 20.5, 14.0), body("away_5", 20.5, -14.0), body("away_6", 21.5, 0.0)])
    far = space(mates, [body("away_1", -52.0, -33.0), body("away_4", -52.0, 33.0)])
    assert marked[0] < 0.3 * free[0]
    assert far[0] > 2 * marked[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_space_is_the_same_when_all_are_turned_and_the_team_attacks_the_other_way(seed: int):
    rng = random.Random(seed)
    names = [f"{team}_{n}" for team in ("home", "away") for n in range(2, 9)]
    people = [body(name, rng.uniform(-50, 50), rng.uniform(-30, 30)) for name in names]
    home, away = [HOLDER, *people[:7]], people[7:]
    ball = msgspec.structs.replace(BALL, x_m=-BALL.x_m, y_m=-BALL.y_m)
    found = space([turned(b) for b in home], [turned(b) for b in away], ball, "away")
    assert found == pytest.approx(space(home, away))


def test_who_is_offside_reaches_nothing_but_the_holder_and_who_is_level_do():
    away = (body("away_1", 50.0, 0.0), body("away_4", 30.0, 0.0), body("away_5", 25.0, 5.0))
    mates = tuple(body(f"home_{n}", x, 0.0) for n, x in ((7, 31.0), (8, 30.0), (9, 40.0), (10, 10.0)))
    assert [b.object_id for b in onside(mates, away, 1.0, 20.0, "home_9")] == ["home_8", "home_9", "home_10"]
    assert len(onside(mates, away, 1.0, 45.0, "")) == 4, "nobody is before the ball"
    assert len(onside(mates, away, -1.0, -20.0, "")) == 4, "all are in their own half"


def test_a_change_of_a_tenth_is_published_once_a_second_and_a_new_team_at_once():
    def look(at_s: float, x_m: float, **more: object) -> Event:
        one = scene([HOLDER, body("home_8", x_m, 10.0)], [body("away_1", 50.0, 0.0), body("away_4", 48.0, 5.0)])
        return Event("scene", round(at_s * 1e6), "scene", round(at_s * 5), msgspec.structs.replace(one, **more))

    looks = [look(1.0, 0.0), look(1.2, 35.0), look(2.0, 0.2), look(3.0, 35.0), look(4.0, 35.0, live=False)]
    other = look(5.0, 35.0, holder="away_4", holder_team="away")
    out = fold(DangerousSpace(MatchSheet()), [*looks, look(4.5, 0.0, holder="", holder_team=""), other])
    assert [(e.ts_us / 1e6, e.payload.team, e.payload.player) for e in out] == [
        (1.0, "home", "home_9"), (3.0, "home", "home_9"), (5.0, "away", "away_4"),
    ]  # fmt: skip
    assert out[1].payload.detail["dangerous_m2"] > out[0].payload.detail["dangerous_m2"]
