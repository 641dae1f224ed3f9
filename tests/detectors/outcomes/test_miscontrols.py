"""7.11 on hand-made causes: a bad touch is one that nobody has forced."""

from __future__ import annotations

import msgspec
import pytest

from detectors.outcomes.miscontrols import Miscontrol
from middleware.events import Event
from tests.detectors.chains.test_chains import about, standing

GAIN, TOUCH = about("possession.gain", 1.0, "home_8"), about("hit", 2.0, "home_8")
LOSS = [about("hit", 3.0, "away_4", (4.0, 0.0)), about("possession.gain", 3.0, "away_4", (4.0, 0.0))]


def duel(at_s: float, known_s: float, winner: str, other: str, variant: str = "ground") -> Event:
    event = about("duel.end", at_s, winner, variant=variant, other=other)
    return msgspec.structs.replace(event, ts_us=round(known_s * 1e6), dated_us=event.ts_us)


def missed_touches(*events: Event) -> list[str]:
    return [e.payload.player for e in standing([Miscontrol()], GAIN, TOUCH, *LOSS, *events)]


def test_a_touch_four_metres_away_that_an_opponent_gets_is_one():
    assert missed_touches() == ["home_8"]


@pytest.mark.parametrize("known_s", [2.9, 3.6], ids=["before the loss", "after it"])
@pytest.mark.parametrize("at_s", [2.0, 2.8], ids=["with a tackle of his own", "tackled"])
def test_a_duel_on_the_ground_between_touch_and_loss_makes_it_none(at_s: float, known_s: float):
    pair = ("home_8", "away_5") if at_s == 2.0 else ("away_4", "home_8")
    assert missed_touches(duel(at_s, known_s, *pair)) == []


@pytest.mark.parametrize(
    "other",
    [
        duel(1.9, 3.6, "away_4", "home_8"),
        duel(2.8, 3.6, "away_4", "home_9"),
        duel(2.8, 3.6, "away_4", "home_8", "loose"),
    ],
    ids=["before the touch", "of a mate", "for a loose ball"],
)
def test_another_duel_does_not(other: Event):
    assert missed_touches(other) == ["home_8"]


@pytest.mark.parametrize("at_s", [1.0, 2.0], ids=["as he gains it", "as he loses it"])
def test_who_only_deflects_the_ball_does_not_control_it(at_s: float):
    assert missed_touches(about("deflection", at_s, "home_8")) == []
