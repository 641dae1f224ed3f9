"""10.11: penalties, the shoot-out (Law 10.3): both teams kick at one goal, and no kick is a goal of the match."""

from __future__ import annotations

import msgspec
import pytest

from detectors.emission import make_event
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Tick
from middleware.events import Event
from tests.detectors.scene import body, cast, concluded, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")
MARK = (41.5, 0.0, 0.1)
GOAL, WIDE, SAVED = (53.5, 2.0, 0.8), (54.0, 6.0, 0.5), (51.9, 1.0, 0.8)


def circle(taker: str):
    """Everybody in the centre circle but the taker and both goalkeepers; one waits beside the area."""
    places = {
        b.object_id: ((-1.0 if b.team == "home" else 1.0) * (1.0 + i % 5), -4.0 + i % 9) for i, b in enumerate(cast())
    }
    keeper = "away_1" if taker.startswith("home") else "home_1"
    other = "home_1" if taker.startswith("home") else "away_1"
    places |= {taker: (41.0, 0.1), keeper: (52.3, 0.0), other: (52.0, 22.0)}
    return tuple(body(name, *place) for name, place in places.items())


def kick(taker: str, target, players=None) -> list[Event]:
    """The ball is put on the right penalty mark, lies there, and is kicked."""
    way = [*path((36.0, 3.0, 0.1), MARK, 2.0), *stay(MARK, 5.0), *path(MARK, target, 0.6), *stay(target, 2.0)]
    if target != SAVED:
        way += path(target, (36.0, 3.0, 0.1), 8.0)
    else:
        way += [*stay(target, 6.0), *path(target, (36.0, 3.0, 0.1), 8.0)]
    events = scene(way, players or circle(taker))
    events.append(hit(7.02, taker, *MARK[:2]))
    if target == SAVED:
        payload = EventPayload("", "away" if taker.startswith("home") else "home", "keeper", 51.9, 1.0)
        events.append(make_event("gk.catch", 7_600_000, "ball:catch", payload))
    return events


def after(kicks: list[list[Event]]) -> list[Event]:
    """Kicks one after the other, with ticks."""
    begin_us, out = 0, []
    for number, events in enumerate(kicks):
        named = {"hit": f"hit#{number}", "gk.catch": f"gk.catch#{number}"}
        moved = [msgspec.structs.replace(e, ts_us=e.ts_us + begin_us, seq=e.seq + 1000 * number) for e in events]
        out += [msgspec.structs.replace(e, id=named[e.kind]) if e.kind in named else e for e in moved]
        begin_us = max(e.ts_us for e in moved) + 40_000
    ticks = range(0, begin_us, 200_000)
    return [*out, *(Event("clock.tick", ts_us, "clock", ts_us // 200_000, Tick(())) for ts_us in ticks)]


def test_both_teams_kick_at_one_goal_and_each_kick_has_its_outcome():
    kicks = [kick("home_9", GOAL), kick("away_9", WIDE), kick("home_8", SAVED), kick("away_8", GOAL)]
    found = concluded(after(kicks), SHEET, "restart.", "shootout.")
    assert rows_of(found) == [
        ("restart.penalty", "", "home"),
        ("shootout.kick", "scored", "home"),
        ("restart.penalty", "", "away"),
        ("shootout.kick", "missed", "away"),
        ("restart.penalty", "", "home"),
        ("shootout.kick", "saved", "home"),
        ("restart.penalty", "", "away"),
        ("shootout.kick", "scored", "away"),
    ]
    last = found[-1].payload
    assert (last.player, last.detail["kick"], last.detail["home"], last.detail["away"]) == ("away_8", 4, 1, 1)


def test_a_kick_that_scores_is_no_goal_of_the_match():
    found = concluded(after([kick("home_9", GOAL), kick("away_9", GOAL)]), SHEET, "goal.", "shootout.")
    goals = [e.id for e in found if e.kind in ("goal.scored", "goal.own")]
    assert len(goals) == 2
    assert [e.annuls for e in found if e.kind == "shootout.kick"] == goals
    assert not [e for e in found if e.kind in ("goal.confirmed", "goal.disallowed")]


@pytest.mark.parametrize("target", [GOAL, WIDE])
def test_a_penalty_kick_in_play_is_none(target):
    """Law 14: the others wait at the edge of the area, not in the centre circle."""
    edge = cast(**{f"away_{n}": (30.0, -20.0 + 4 * n) for n in range(2, 12)}, away_1=(52.3, 0.0), home_9=(41.0, 0.1))
    found = rows_of(concluded(after([kick("home_9", target, edge)]), SHEET, "restart.", "shootout."))
    assert found == [("restart.penalty", "", "home")]
