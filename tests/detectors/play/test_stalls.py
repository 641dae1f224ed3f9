"""A ball that goes with a walking player: in his hands it is dead, at his feet it is not."""

from __future__ import annotations

import itertools

import pytest

from detectors.emission import make_event
from detectors.play.phase import PlayPhase
from detectors.play.stalls import NOT_HANDLED, Handled, StallParameters, stopped_us
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, build_frame
from middleware.events import Event
from tests.detectors.scene import cast, fold

#: Heights that a camera gives for a ball at the hip, frame by frame.
ERRING = (0.3, 1.7, 0.9, 1.1, 0.2, 1.8)


def walk(heights_m: tuple[float, ...], *, at_x_m: float = -10.0, away_m: float = 0.4, seconds: float = 4.0):
    """Half a second of a rolling ball, then one that home_7 takes on at walking pace."""
    frames = []
    for i, z_m in zip(range(round(seconds * 25)), itertools.cycle(heights_m), strict=False):
        walks = i >= 12
        v_m_s, x_m = (1.2, at_x_m + 0.048 * (i - 12)) if walks else (6.0, at_x_m + 0.24 * (i - 12))
        bodies = cast(home_7=(x_m - away_m if walks else at_x_m, 5.0), away_6=(at_x_m + 20.0, 5.0))
        ball = BallState(x_m, 5.0, z_m if walks else 0.1, v_m_s, 0.0, 0.0, 40_000)
        ordered = tuple(sorted(bodies, key=lambda body: body.object_id))
        frames.append(Event("frame", 40_000 * i, "frame", i, build_frame(ball, ordered)))
    return fold(PlayPhase(MatchSheet()), frames)


def test_a_ball_in_hands_is_dead_since_it_was_picked_up_though_its_heights_err():
    (dead,) = walk(ERRING)
    assert (dead.kind, dead.payload.variant, dead.payload.detail["sign"]) == ("phase.dead", "stop", "carried")
    assert (dead.ts_us, dead.payload.detail["since_us"]) == (2_480_000, 480_000)


def test_the_right_heights_show_it_sooner():
    (dead,) = walk((1.1, 1.2))
    assert (dead.ts_us, dead.payload.detail["since_us"]) == (1_280_000, 480_000)


@pytest.mark.parametrize(
    "other",
    [
        {"heights_m": (0.0, 0.2, 0.9)},
        {"heights_m": (2.0, 2.6)},
        {"heights_m": ERRING, "away_m": 1.0},
        {"heights_m": ERRING, "seconds": 2.4},
    ],
    ids=["at his feet", "above his head", "beyond an arm's length", "too short"],
)
def test_any_other_ball_is_live(other):
    assert walk(**other) == []


@pytest.mark.parametrize(("keeper_m", "signs"), [(0.9, []), (3.0, ["carried"])], ids=["a goalkeeper", "nobody else"])
def test_an_attacker_tracked_nearer_than_the_goalkeeper_has_not_taken_the_ball_from_his_hands(keeper_m, signs):
    frames = [make_event("direction", 0, "match", EventPayload("right", "home"))]
    for i in range(100):
        x_m = 42.0 + 0.04 * i
        bodies = cast(home_9=(x_m - 0.3, -9.0), away_1=(x_m - keeper_m, -9.0))
        ball = BallState(x_m, -9.0, ERRING[i % 6], 1.0, 0.0, 0.0, 40_000)
        ordered = tuple(sorted(bodies, key=lambda body: body.object_id))
        frames.append(Event("frame", 40_000 * i, "frame", i, build_frame(ball, ordered)))
    assert [dead.payload.detail["sign"] for dead in fold(PlayPhase(MatchSheet()), frames)] == signs


@pytest.mark.parametrize(
    ("by_hand", "handled", "stopped_s"),
    [
        (False, NOT_HANDLED, 5.0),
        (True, NOT_HANDLED, 1.4),
        (False, Handled(4_500_000, 5_500_000), 1.4),
        (True, Handled(4_500_000, 5_500_000), 1.4),
        (False, Handled(4_500_000, 5_500_000, in_area=True), 5.0),
    ],
    ids=["at rest", "carried", "seen at the height of hands", "both", "perhaps a goalkeeper"],
)
def test_who_picks_a_ball_up_has_not_played_it(by_hand: bool, handled: Handled, stopped_s: float):
    """It was played after one second, and has stalled since the fifth; he bends for it then."""
    at_us = stopped_us(5_000_000, (1_000_000, 5_200_000), handled, StallParameters(), by_hand=by_hand)
    assert at_us / 1e6 == stopped_s
