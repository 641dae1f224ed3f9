"""Indirect free kicks, and goals straight from a restart (IFAB Laws 8, 13, 15 to 17, season 2025/26)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from football.match_sheet import MatchSheet
from middleware.events import Event
from tests.detectors.scene import Point, cast, concluded, decision, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")
SPOT, CENTRE = (30.0, 5.0, 0.1), (0.0, 0.0, 0.1)
#: The ball comes to the spot, lies there for six seconds, and is kicked into the right goal.
KICK_S = 8.0
FREE_KICK = [*path((20.0, 0.0, 0.1), SPOT, 2.0), *stay(SPOT, 6.0)]
IN_GOAL = [*path(SPOT, (52.0, 1.0, 1.0), 1.0), *path((52.0, 1.0, 1.0), (54.0, 0.6, 1.0), 0.1)]
IN_NET = stay((54.0, 0.6, 0.1), 1.0)
GOAL_KICK = [*path((54.0, 0.6, 0.1), (47.5, 5.0, 0.1), 12.0), *stay((47.5, 5.0, 0.1), 3.0)]
GOAL_KICK += path((47.5, 5.0, 0.1), (20.0, 10.0, 0.1), 1.0)
KICK_OFF = [*path((54.0, 0.6, 0.1), CENTRE, 20.0), *stay(CENTRE, 3.0), *path(CENTRE, (9.0, 1.0, 0.1), 1.0)]
TAKERS = {"home_8": (30.0, 5.4), "away_1": (47.5, 5.3)}


def played(
    way: Sequence[Point], *more: Event, after: Sequence[Point] = (), **moved: tuple[float, float]
) -> list[Event]:
    """Conclusions from a ball's way among ``moved`` players, then among those of a kick-off."""
    first, second = scene(way, cast(**moved)), scene(after, cast(away_9=(0.3, 0.3))) if after else []
    shift_us = round(len(way) * 40_000)
    later = [msgspec.structs.replace(e, ts_us=e.ts_us + shift_us, seq=e.seq + len(way)) for e in second]
    return concluded([*first, *later, *more], SHEET, "restart.", "goal.")


def outcome(found: Sequence[Event]) -> tuple[list[str], str, float]:
    """Kinds after the first restart; of the goal the restart that it came directly from, and the confidence."""
    goal = next(e.payload for e in found if e.kind in ("goal.scored", "goal.own"))
    kinds = [e.kind for e in found if e.kind != "goal.candidate"]
    return kinds[1:], str(goal.detail.get("directly", "")), goal.confidence


OFFSIDE = decision(3.0, "offside", team="away", player="away_9")
BACK_PASS = decision(3.0, "foul", team="away", player="away_1", variant="indirect")
FOUL = decision(3.0, "foul", team="away", player="away_4")


@pytest.mark.parametrize("given", [OFFSIDE, BACK_PASS], ids=["offside", "an offence such as a back-pass"])
def test_a_ball_straight_from_an_indirect_free_kick_is_doubted_and_the_goal_kick_disallows_it(given: Event):
    found = played([*FREE_KICK, *IN_GOAL, *IN_NET, *GOAL_KICK], hit(KICK_S, "home_8", *SPOT[:2]), given, **TAKERS)
    assert outcome(found) == (["goal.scored", "restart.goal_kick", "goal.disallowed"], "indirect free kick", 0.2)
    assert found[0].payload.detail["indirect"] is True


def test_another_players_touch_makes_it_a_goal():
    touches = hit(KICK_S, "home_8", *SPOT[:2]), hit(KICK_S + 0.5, "home_9", 40.0, 3.0)
    found = played([*FREE_KICK, *IN_GOAL, *IN_NET], *touches, OFFSIDE, after=KICK_OFF, **TAKERS)
    kinds, directly, confidence = outcome(found)
    assert (kinds, directly) == (["goal.scored", "restart.kick_off", "goal.confirmed"], "")
    assert confidence > 0.5


def test_a_touch_that_was_not_seen_does_not_cost_the_goal():
    found = played([*FREE_KICK, *IN_GOAL, *IN_NET], hit(KICK_S, "home_8", *SPOT[:2]), OFFSIDE, after=KICK_OFF, **TAKERS)
    assert outcome(found)[0] == ["goal.scored", "restart.kick_off", "goal.confirmed"]


@pytest.mark.parametrize(
    "given",
    [(), (FOUL,), (OFFSIDE, decision(4.0, "foul", 2, team="away")), (decision(3.0, "offside", team="home"),)],
    ids=["nothing is known", "a foul", "a foul after the offside", "their own offside"],
)
def test_a_goal_straight_from_a_direct_free_kick_counts(given: tuple[Event, ...]):
    found = played([*FREE_KICK, *IN_GOAL, *IN_NET], hit(KICK_S, "home_8", *SPOT[:2]), *given, after=KICK_OFF, **TAKERS)
    assert found[0].payload.detail["indirect"] is False
    kinds, directly, confidence = outcome(found)
    assert (kinds, directly) == (["goal.scored", "restart.kick_off", "goal.confirmed"], "")
    assert confidence > 0.5


@pytest.mark.parametrize(("thrower", "directly"), [("home_3", "throw-in"), ("away_3", "throw-in into the own goal")])
def test_a_throw_in_straight_into_a_goal_is_none(thrower: str, directly: str):
    spot = (40.0, 34.5, 1.5)
    way = [*path((38.0, 30.0, 0.1), (40.0, 36.0, 0.1), 1.0), *path((40.0, 36.0, 0.1), spot, 3.0), *stay(spot, 3.0)]
    thrown_s = len(way) * 0.04
    way += [*path(spot, (51.5, 3.0, 1.5), 1.6), *path((51.5, 3.0, 1.5), (54.0, 0.6, 1.0), 0.3), *IN_NET]
    found = played(way, hit(thrown_s, thrower, *spot[:2]), **{thrower: (40.0, 34.9)})
    assert rows_of(found[:1]) == [("restart.throw_in", "", thrower[:4])]
    assert outcome(found)[1:] == (directly, 0.2)


def test_a_free_kick_straight_into_the_own_goal_is_none():
    found = played([*FREE_KICK, *IN_GOAL, *IN_NET], hit(KICK_S, "away_8", *SPOT[:2]), away_8=(30.0, 5.4))
    assert outcome(found)[1:] == ("free kick into the own goal", 0.2)


def test_a_dropped_ball_that_a_player_kicks_straight_into_the_goal_is_none():
    held = (*SPOT[:2], 1.1)
    way = [*FREE_KICK, *path(SPOT, held, 0.4), *stay(held, 3.0), *path(held, SPOT, 0.4), *stay(SPOT, 1.0)]
    found = played([*way, *IN_GOAL, *IN_NET], hit(len(way) * 0.04, "home_8", *SPOT[:2]), home_8=(30.0, 6.2))
    assert rows_of(found[:1]) == [("restart.dropped", "", "home")]
    assert outcome(found)[1:] == ("dropped ball", 0.2)
