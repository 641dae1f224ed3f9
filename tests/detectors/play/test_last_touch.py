"""The last touch of a ball out: the restart amends it, or does not; who listens."""

from __future__ import annotations

import msgspec
import pytest

from detectors.chains.possession_chain import PossessionChain
from detectors.chains.sequences import DoublePass, PassSequence
from detectors.emission import make_event
from detectors.outcomes.receptions import PassOutcome
from detectors.parameters import Parameters
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload
from middleware.detector import Detector
from middleware.events import Event
from tests.detectors.disorder import stands_in_disorder
from tests.detectors.scene import Point, cast, concluded, fold, hit, path, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")
P = Parameters().last_touch

TOUCHLINE, GOAL_LINE = (5.0, 36.0), (54.0, 12.0)


def at_ball(player: str, since_s: float, until_s: float) -> list[Event]:
    """A player comes to the ball, and leaves it."""
    team: Team = "home" if player.startswith("home") else "away"
    around = ("near", since_s, team), ("not_near", until_s, "")
    return [
        make_event(kind, round(at_s * 1e6), f"{player}:{at_s}", EventPayload("", by, player, 0.0, 30.0))
        for kind, at_s, by in around
    ]


def out_and_restart(
    over: Point, spot: Point, to: Point, taker: str, toucher: str = "home_9", others: tuple[Event, ...] = ()
) -> list[Event]:
    """A player sends the ball out at 0.4 s; another one brings it back into play."""
    start = (over[0] - 5.0, over[1] - 6.0) if over == TOUCHLINE else (over[0] - 6.0, over[1])
    way = [*path(start, over, 1.0), *path(over, spot, 2.0), *stay(spot, 2.0), *path(spot, to, 0.8)]
    players = cast(**{taker: (spot[0], spot[1] + (0.3 if over == TOUCHLINE else 0.0))})
    return [*scene(way, players), hit(0.4, toucher, 2.0, 32.0), *others]


def throw_in(taker: str = "home_3", *others: Event) -> list[Event]:
    return out_and_restart(TOUCHLINE, (5.0, 34.0), (8.0, 22.0), taker, others=others)


def versions(events: list[Event]) -> list[tuple[str, str]]:
    """(team, player) of each version of ``out``."""
    return [(e.payload.team, e.payload.player) for e in concluded(events, SHEET, "out")]


FIRST = ("home", "home_9")


def test_a_throw_in_by_the_team_of_the_last_contact_gives_the_touch_to_the_opponent_who_was_at_the_ball():
    events = throw_in("home_3", *at_ball("away_5", 0.3, 0.5))
    first, amended = concluded(events, SHEET, "out")
    assert [(e.payload.team, e.payload.player) for e in (first, amended)] == [FIRST, ("away", "away_5")]
    assert amended.id == first.id
    assert amended.dated_us == first.ts_us < amended.ts_us
    assert amended.payload.detail["evidence"] == "home has the restart; away_5 was at the ball"
    assert amended.payload.confidence == P.right_share
    throw, live = concluded(events, SHEET, "restart.", "play.live")
    assert throw.payload.detail["out_by"] == live.payload.detail["out_by"] == "away"
    assert throw.payload.confidence == live.payload.confidence, "no doubt is left"


def test_the_last_touch_stays_if_the_others_throw():
    assert versions(throw_in("away_3", *at_ball("away_5", 0.3, 0.5))) == [FIRST]


@pytest.mark.parametrize(
    ("others", "player", "sign"),
    [
        ([], "", ""),
        (at_ball("away_5", 0.05, 0.2), "", ""),
        (at_ball("away_5", 1.0, 1.2), "", ""),
        (at_ball("home_5", 0.3, 0.5), "", ""),
        ([hit(0.1, "away_7", 1.0, 31.0)], "away_7", "; away_7 had the contact before"),
        ([hit(0.1, "away_7", 1.0, 31.0), *at_ball("away_5", 0.3, 0.5)], "away_5", "; away_5 was at the ball"),
    ],
    ids=[
        "nobody was at the ball",
        "he had left it",
        "he came when it was out",
        "a team mate",
        "an opponent had the contact before",
        "rather who was at the ball",
    ],
)
def test_the_other_team_touched_it_last_and_the_player_is_named_if_one_was_near(
    others: list[Event], player: str, sign: str
):
    first, amended = concluded(throw_in("home_3", *others), SHEET, "out")
    assert [(e.payload.team, e.payload.player) for e in (first, amended)] == [FIRST, ("away", player)]
    assert amended.payload.detail["evidence"] == f"home has the restart{sign}"


def test_a_goal_kick_that_the_attackers_seem_to_take_is_doubted():
    (kick,) = concluded(out_and_restart(GOAL_LINE, (47.5, 5.0), (20.0, 10.0), "home_10"), SHEET, "restart.")
    assert (kick.kind, kick.payload.detail["out_by"]) == ("restart.goal_kick", "home")
    assert kick.payload.confidence == Parameters().restart.doubt


@pytest.mark.parametrize(
    ("spot", "to", "taker", "toucher", "opponent", "expected"),
    [
        ((52.2, 33.6), (43.0, 5.0), "home_10", "home_9", "away_5", [("home", "home_9"), ("away", "away_5")]),
        ((52.2, 33.6), (43.0, 5.0), "away_10", "away_9", "home_5", [("away", "away_9")]),
        ((47.5, 5.0), (20.0, 10.0), "away_1", "away_9", "home_5", [("away", "away_9"), ("home", "home_5")]),
        ((47.5, 5.0), (20.0, 10.0), "home_10", "home_9", "away_5", [("home", "home_9")]),
    ],
    ids=["corner", "free kick of the defenders beside the flag", "goal kick", "a goal kick by the attackers is none"],
)
def test_at_the_goal_line_place_and_taker_of_the_restart_agree(
    spot: Point, to: Point, taker: str, toucher: str, opponent: str, expected: list[tuple[str, str]]
):
    others = tuple(at_ball(opponent, 0.3, 0.5))
    assert versions(out_and_restart(GOAL_LINE, spot, to, taker, toucher, others)) == expected


def known(kind: str, at_s: float, **payload: object) -> Event:
    """An event by home, known at a time."""
    details = {"kick_us": 4_000_000, "receiver": "home_8", "speed_before_m_s": 9.0}
    made = EventPayload(team="home", player="home_3", x_m=5.0, y_m=34.0, detail=details)
    return make_event(kind, round(at_s * 1e6), f"ball:{at_s}", msgspec.structs.replace(made, **payload))


RETURNED = {"kick_us": 5_500_000, "receiver": "home_3"}
PASSED = known("pass.complete", 5.0), known("pass.complete", 6.0, player="home_8")


@pytest.mark.parametrize(
    ("listener", "before", "after"),
    [
        (PassOutcome(), (known("pass.attempt", 5.0),), ()),
        (PossessionChain(), (known("restart.throw_in", 5.0),), (known("shot.attempt", 7.0),)),
        (PassSequence(), PASSED, ()),
        (DoublePass(), PASSED[:1], (known("pass.complete", 6.5, player="home_8", detail={**RETURNED}),)),
    ],
    ids=["outcome of a pass", "chain", "sequence", "double pass"],
)
def test_a_newer_version_of_out_ends_nothing_that_has_begun_since(
    listener: Detector[object], before: tuple[Event, ...], after: tuple[Event, ...]
):
    amended = make_event(
        "out",
        6_200_000,
        "ball:1",
        EventPayload("left touch", "away", "away_5", 5.0, 34.0, detail={"since_us": 900_000}),
        dated_us=1_000_000,
    )
    assert fold(listener, [*before, amended, *after]) == fold(listener, [*before, *after])
    if not after:
        out = msgspec.structs.replace(amended, dated_us=None)
        assert len(fold(listener, [*before, out])) > len(fold(listener, before)), "a ball out does"


@pytest.mark.parametrize("seed", range(4))
def test_law_in_any_order_of_arrival_the_same_stands_as_sorted(seed: int):
    """Replay a case by its seed: it decides the order of arrival, and the push before which the state is restored."""
    stands, wanted, _ = stands_in_disorder(throw_in("home_3", *at_ball("away_5", 0.3, 0.5)), SHEET, seed)
    assert stands == wanted, f"seed {seed}"
    assert [e.payload.player for e in wanted if e.kind == "out"] == ["away_5"]
