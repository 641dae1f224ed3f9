"""6.9: aerial duels without jumps: a player plays a ball above his head beside an opponent."""

from __future__ import annotations

import pytest

from detectors.actions.aerials import AerialDuel
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Player, Quality
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event

OPTICAL = MatchSheet(players=(Player("away_1", "away", goalkeeper=True),))
TAGS = MatchSheet(quality=Quality(limbs=("left_foot", "right_foot")))


def look(rival: str = "away_4", away_m: float = 0.9) -> Event:
    return frame_event(1.0, (10.0, 5.0, 2.2), [body("home_9", 10.3, 5.0), body(rival, 10.0 + away_m, 5.0)])


def played(z_m: float | None = 2.2, player: str = "home_9") -> Event:
    team = "home" if player.startswith("home") else "away"
    return make_event("hit", 1_040_000, "ball:1", EventPayload("hit", team, player, 10.0, 5.0, z_m))


def test_who_plays_a_high_ball_beside_an_opponent_has_won_an_aerial_duel() -> None:
    start, won = fold(AerialDuel(OPTICAL), [look(), played()])
    assert (start.kind, start.payload.player, start.payload.detail["other"]) == ("aerial.start", "home_9", "away_4")
    assert (won.kind, won.payload.player, won.payload.detail["other"]) == ("aerial.won", "home_9", "away_4")
    assert start.id in won.causes


@pytest.mark.parametrize(
    "causes",
    [
        [look(), played(1.6)],
        [look(), played(None)],
        [look(away_m=2.0), played()],
        [look("home_8"), played()],
        [look("away_1"), played()],
        [look("away_1"), played(player="away_1")],
        [make_event("phase.dead", 900_000, "dead", EventPayload()), look(), played()],
        [played()],
    ],
    ids=["low", "no height", "out of reach", "a mate", "a goalkeeper comes", "a goalkeeper claims", "dead", "not seen"],
)  # fmt: skip
def test_no_aerial_duel(causes: list[Event]) -> None:
    assert fold(AerialDuel(OPTICAL), causes) == []


def test_where_jumps_are_seen_a_contact_alone_is_none() -> None:
    assert fold(AerialDuel(TAGS), [look(), played()]) == []
