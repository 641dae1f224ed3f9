"""9.14: a goalkeeper handles a mate's kick or throw-in (Law 12)."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.laws.back_pass import BackPass
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import fold

SHEET = MatchSheet(players=tuple(Player(f"{t}_1", t, goalkeeper=True) for t in ("home", "away")))  # type: ignore[arg-type]


def event_of(at_s: float, kind: str, player: str = "", variant: str = "", x_m: float = -48.0, **detail) -> Event:
    payload = EventPayload(variant, player[:4], player, x_m, 2.0, detail=detail)  # type: ignore[arg-type]
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def found(*events: Event, x_m: float = -48.0) -> list[tuple[str, str, float]]:
    caught = event_of(4.0, "gk.catch", "home_1", x_m=x_m)
    out = fold(BackPass(SHEET), sorted((*events, caught), key=lambda e: e.ts_us))
    return [(e.payload.variant, e.payload.detail["passer"], e.payload.confidence) for e in out]


KICK, FOOT = event_of(2.0, "hit", "home_4"), event_of(2.0, "bodypart", "home_4", "left foot")


def test_a_mates_kick_with_the_foot_is_one_and_with_doubt_if_the_part_is_unknown():
    assert found(KICK, FOOT) == [("kick", "home_4", 0.7)]
    assert found(KICK) == found(KICK, event_of(2.0, "bodypart", "home_4", "other")) == [("kick", "home_4", 0.4)]


def test_it_remains_one_if_the_goalkeeper_stops_the_ball_with_his_foot_first():
    assert found(KICK, FOOT, event_of(3.0, "touch", "home_1"), event_of(3.9, "hit", "home_1")) != []


@pytest.mark.parametrize(
    "events",
    [
        (KICK, event_of(2.0, "bodypart", "home_4", "head")),
        (event_of(2.0, "touch", "home_4"),),
        (KICK, event_of(2.0, "deflection", "home_4")),
        (KICK, FOOT, event_of(3.0, "touch", "away_9")),
        (event_of(2.0, "hit", "away_9"),),
        (event_of(2.0, "hit", "home_1"),),
        (KICK, FOOT, event_of(3.0, "play.dead", variant="stop")),
    ],
    ids=["header", "no kick", "deflection", "an opponent in between", "an opponent's", "his own", "dead ball"],
)
def test_what_is_none(events):
    assert found(*events) == []


def test_outside_his_area_and_long_after_the_kick_it_is_none():
    assert found(KICK, FOOT, x_m=-30.0) == []
    early = [event_of(-4.0, "hit", "home_4"), event_of(-4.0, "bodypart", "home_4", "left foot")]
    assert found(*early) == []


def test_a_mates_throw_in_is_one_though_it_is_thrown_by_hand():
    detail = {"fallback": False, "kick_off_shape": False, "kick_us": 1_900_000}
    throw = event_of(2.3, "play.live", "home_4", "touch", **detail)
    assert found(KICK, event_of(2.0, "bodypart", "home_4", "other"), throw) == [("throw-in", "home_4", 0.7)]
