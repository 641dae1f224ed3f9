"""13.6 on hand-made causes: whose momentum it is, and when it turns."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.tactics.momentum import Momentum
from football.match_sheet import MatchSheet
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold

SIDES = about("direction", 0.0, "home")


def minutes(*at_s: float) -> list[Event]:
    return [make_event("clock.minute", round(s * 1e6), f"minute:{s}", EventPayload()) for s in at_s]


def shifts(*events: Event) -> list[tuple[str, float, float]]:
    out = fold(Momentum(MatchSheet()), sorted([SIDES, *events], key=lambda e: e.ts_us))
    return [(e.payload.team, e.payload.detail["since_us"] / 1e6, e.ts_us / 1e6) for e in out]


def chance(at_s: float, who: str, xg: float) -> Event:
    return about("shot.xg", at_s, who, xg=xg)


def test_a_chance_gives_momentum_after_a_minute_and_the_other_teams_bigger_one_turns_it():
    assert shifts(chance(10, "home_9", 0.3), *minutes(60, 120)) == [("home", 10.0, 120.0)]
    turned = shifts(chance(10, "home_9", 0.3), chance(130, "away_9", 0.6), *minutes(60, 120, 180, 240))
    assert turned == [("home", 10.0, 120.0), ("away", 130.0, 240.0)]


@pytest.mark.parametrize(
    "events",
    [
        [chance(10, "home_9", 0.04), *minutes(60, 120)],
        [chance(10, "home_9", 0.3), chance(40, "away_9", 0.3), *minutes(60, 120)],
        [chance(10, "home_9", 0.07), *minutes(120, 180, 240)],
        [about("possession.gain", 10, "home_6", (0.0, 0.0)), *minutes(60, 120)],
        [about("possession.gain", 10, "home_6", (-45.0, 0.0)), *minutes(60, 120)],
    ],
    ids=["small", "answered", "fades", "in midfield", "in the own area"],
)
def test_no_momentum(events):
    assert shifts(*events) == []


def test_touches_in_the_area_and_progress_count():
    gains = [about("possession.gain", at_s, "away_9", (-45.0, 5.0)) for at_s in (10, 12)]
    assert shifts(*gains, *minutes(60, 120)) == [("away", 10.0, 120.0)]
    carries = [about("progress.carry", at_s, "home_9") for at_s in range(10, 16)]
    assert shifts(*carries, *minutes(60, 120)) == [("home", 12.0, 120.0)]
