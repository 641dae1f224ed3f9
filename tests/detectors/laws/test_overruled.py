"""A decision withdraws the events that it contradicts, and nothing else; in any order the last decision counts."""

from __future__ import annotations

import random

import pytest

from detectors.emission import make_event
from detectors.laws.clock import MatchClock
from detectors.laws.numbers import PlayersOnPitch
from detectors.laws.overruled import Overruled
from detectors.outcomes.goal_verdicts import GoalConfirmation
from detectors.outcomes.goals import Goal
from detectors.qualifiers.chances import KeyPass
from detectors.signals.official import Officials
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, Tick
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors import contract
from tests.detectors.scene import body, cast, decision, frame_event

SHEET = MatchSheet(attacks_positive_x="home")
DETECTORS = (
    Officials(), Goal(SHEET), GoalConfirmation(SHEET), KeyPass(), PlayersOnPitch(SHEET), MatchClock(SHEET), Overruled(),
)  # fmt: skip


def event_of(kind: str, at_s: float, team: Team, player: str = "", variant: str = "", **detail: Scalar) -> Event:
    payload = EventPayload(variant, team, player, 50.0, 0.0, detail=detail)
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def stands(*inputs: Event) -> set[str]:
    """Kinds, with players, that stand published after inputs."""
    given = {kind for detector in DETECTORS for kind in detector.spec.outputs}
    raw = tuple(dict.fromkeys(k for d in DETECTORS for k in d.spec.inputs if k not in given))
    events = published(Hierarchy(raw, DETECTORS), inputs)
    return {f"{e.kind} {e.payload.player}".strip() for e in events if not e.kind.startswith("official.")}


def completed(at_s: float, player: str, receiver: str, kick_s: float) -> Event:
    detail = {"start_x_m": 1.0, "start_y_m": 1.0, "kick_us": round(kick_s * 1e6), "receiver": receiver}
    return event_of("pass.complete", at_s, "home", player, **detail)


#: home_8 to home_6 to home_9, who scores; whoever else is told of with it.
GOAL = (
    completed(4.0, "home_8", "home_6", 3.0),
    completed(7.0, "home_6", "home_9", 6.0),
    event_of("hit", 8.5, "home", "home_9", speed_before_m_s=1.0),
    event_of("goal.candidate", 10.0, "home", "home_9", "right", since_us=10_000_000),
)
SCORED = {"goal.scored home_9", "assist home_6", "second_assist home_8"}
KICK_OFF, FREE_KICK = event_of("restart.kick_off", 50.0, "away"), event_of("restart.free_kick", 50.0, "away")


def test_a_goal_that_stands_keeps_its_assists():
    assert stands(*GOAL) == SCORED
    assert stands(*GOAL, KICK_OFF) == SCORED | {"goal.confirmed home_9"}


@pytest.mark.parametrize(
    "against",
    [
        decision(20.0, "no_goal", at_s=10.0),
        decision(20.0, "var", variant="no goal"),
        decision(14.0, "offside", at_s=9.8, team="home"),
        decision(14.0, "foul", at_s=8.0, team="home"),
        decision(60.0, "penalty", at_s=9.0, team="away"),
        decision(60.0, "var", at_s=9.0, variant="penalty", team="away"),
        FREE_KICK,
    ],
    ids=lambda e: f"{e.payload.kind} {e.payload.variant}" if e.kind == "raw.official" else e.kind,
)
def test_a_goal_that_is_taken_back_takes_its_assists_along(against: Event):
    found = stands(*GOAL, against)
    assert "goal.disallowed home_9" in found
    assert not {kind for kind in found if kind.startswith(("goal.scored", "assist", "second_assist"))}


@pytest.mark.parametrize(
    "other_decision",
    [
        decision(14.0, "offside", at_s=9.8, team="away"),
        decision(44.0, "offside", at_s=30.0, team="home"),
        decision(12.0, "foul", at_s=9.0, team="away"),
        decision(60.0, "penalty", at_s=9.0, team="home"),
        decision(60.0, "penalty", at_s=40.0, team="away"),
        decision(20.0, "var", variant="check"),
        decision(20.0, "var", variant="no goal", team="away"),
    ],
    ids=lambda e: f"{e.payload.kind} {e.payload.team} {e.payload.at_us}",
)
def test_what_a_goal_does_not_contradict_leaves_it(other_decision: Event):
    assert stands(*GOAL, other_decision) == SCORED


def test_a_goal_given_again_has_its_assists_again_and_another_scorer_has_his_own():
    no, yes = decision(200.0, "no_goal", 1, at_s=10.0), decision(230.0, "var", 2, at_s=10.0, variant="goal")
    assert stands(*GOAL, KICK_OFF, no) == {"goal.disallowed home_9", "overruled home_6", "overruled home_8"}
    again = stands(*GOAL, KICK_OFF, no, yes)
    assert SCORED | {"goal.confirmed home_9"} <= again
    assert "goal.disallowed home_9" not in again
    other = stands(*GOAL, decision(30.0, "goal", at_s=10.0, team="home", player="home_10"))
    assert "goal.scored home_10" in other
    assert not {kind for kind in other if "assist" in kind}, "the pass was to another"
    own = stands(*GOAL, decision(30.0, "goal", at_s=10.0, team="home", variant="own", player="away_4"))
    assert "goal.own away_4" in own
    assert not {kind for kind in own if "assist" in kind}


def overruled(*inputs: Event) -> set[str]:
    """Players of overruled events. The inputs are events of lower levels, which are not published."""
    return {kind.removeprefix("overruled ") for kind in stands(*inputs) if kind.startswith("overruled ")}


def test_a_goal_that_stands_was_not_offside():
    offence = event_of("offside.offence", 7.5, "home", "home_9", "play", kick_us=6_000_000, margin_m=0.3)
    assert overruled(*GOAL, offence) == set()
    assert overruled(*GOAL, offence, KICK_OFF) == {"home_9"}
    assert overruled(*GOAL, offence, decision(90.0, "goal", at_s=10.0, team="home")) == {"home_9"}
    theirs = event_of("offside.offence", 7.5, "away", "away_9", "play", kick_us=6_000_000, margin_m=0.3)
    assert overruled(*GOAL, theirs, KICK_OFF) == set()


def test_who_fouled_has_not_won_the_ball():
    tackle = event_of("tackle.won", 20.0, "away", "away_4", other="home_7")
    lost = event_of("takeon.lost", 20.0, "home", "home_7", other="away_4")
    foul = decision(24.0, "foul", at_s=20.4, team="away", player="away_4")
    assert overruled(tackle, lost, foul) == {"away_4", "home_7"}
    for other in (
        decision(24.0, "foul", at_s=20.4, team="home"),
        decision(29.0, "foul", at_s=27.0, team="away"),
        decision(24.0, "foul", at_s=20.4, team="away", player="away_5"),
    ):
        assert overruled(tackle, lost, other) == set()


def cards(*decisions: Event) -> list[tuple[str, str, str]]:
    """Cards and sendings-off that stand."""
    given = {kind for detector in DETECTORS for kind in detector.spec.outputs}
    raw = tuple(dict.fromkeys(k for d in DETECTORS for k in d.spec.inputs if k not in given))
    events = published(Hierarchy(raw, DETECTORS), decisions)
    kinds = ("official.card", "official.penalty", "sendoff.suspected")
    return sorted((e.kind, e.payload.variant, e.payload.player) for e in events if e.kind in kinds)


RED = decision(10.0, "card", 1, variant="red", team="home", player="home_7")


def test_a_review_takes_back_a_red_card_and_the_sending_off():
    assert cards(RED) == [("official.card", "red", "home_7"), ("sendoff.suspected", "", "home_7")]
    assert cards(RED, decision(60.0, "var", 2, variant="no red card")) == []
    assert cards(RED, decision(60.0, "var", 2, variant="no red card", team="away")) == cards(RED)
    assert cards(RED, decision(60.0, "void", 2, event="official.card#official:operator:1")) == []
    assert cards(RED, decision(700.0, "var", 2, variant="no red card"))[:1] == [("official.card", "red", "home_7")]


def test_a_card_for_another_and_a_penalty_that_is_none():
    yellow = decision(10.0, "card", 1, variant="yellow", team="home", player="home_7")
    mistaken = decision(40.0, "var", 2, variant="identity", team="home", player="home_8", other="home_7")
    assert cards(yellow, mistaken) == []
    assert cards(yellow, decision(40.0, "var", 2, variant="no red card")) == cards(yellow)
    penalty = decision(20.0, "penalty", 3, team="away")
    assert cards(penalty) == [("official.penalty", "", "")]
    assert cards(penalty, decision(70.0, "var", 4, variant="no penalty")) == []
    assert cards(penalty, decision(70.0, "var", 4, variant="no penalty", team="home")) == cards(penalty)


def test_officials_changes_are_believed_against_ours():
    """home_8 has left and home_14 plays; officials report that home_15 replaced home_8."""
    looks = [frame_event(float(s), (0.0, 0.0), cast(), s) for s in range(12)]
    on, off = [b for b in cast(home_14=(1.0, 1.0)) if b.object_id != "home_8"], [body("home_8", 0.0, 40.0)]
    looks += [frame_event(float(s), (0.0, 0.0), on, s, off) for s in range(12, 20)]
    seen = {"sub.out home_8", "sub.in home_14"}
    assert stands(*looks) == seen
    same = decision(25.0, "substitution", at_s=24.0, team="home", player="home_14", other="home_8")
    assert stands(*looks, same) == seen
    other = decision(25.0, "substitution", at_s=24.0, team="home", player="home_15", other="home_8")
    assert stands(*looks, other) == {
        "sub.out home_8", "sub.in home_15", "overruled home_8", "overruled home_14",
    }  # fmt: skip


def periods(*inputs: Event, until_s: int) -> list[tuple[str, float]]:
    ticks = [Event("clock.tick", s * 1_000_000, "clock", s, Tick(())) for s in range(0, until_s, 10)]
    dead = event_of("play.dead", 2_710.0, "", variant="touch", since_us=2_710_000_000)
    begun = decision(1.0, "period_start", 90, variant="1")
    given = {kind for detector in DETECTORS for kind in detector.spec.outputs}
    raw = tuple(dict.fromkeys(k for d in DETECTORS for k in d.spec.inputs if k not in given))
    events = published(Hierarchy(raw, DETECTORS), [begun, dead, *ticks, *inputs])
    return [(e.kind, e.ts_us / 1e6) for e in events if e.kind == "period.end"]


def test_added_time_takes_back_an_end_that_was_too_early():
    assert periods(until_s=2_900) == [("period.end", 2_770.0)]
    added_time = decision(2_820.0, "added_time", minutes=4)
    assert periods(added_time, until_s=2_900) == []
    assert periods(added_time, until_s=3_000) == [("period.end", 2_950.0)]
    before = decision(2_690.0, "added_time", minutes=4)
    assert periods(before, until_s=2_900) == []


def test_a_void_takes_what_was_concluded_along():
    confirmed = stands(*GOAL, KICK_OFF, decision(100.0, "void", event="goal.scored#goal.candidate:10.0"))
    assert not {kind for kind in confirmed if kind.startswith(("goal.", "assist", "second_assist"))}


def test_decisions_in_any_order_of_arrival_come_to_the_same():
    inputs = [
        *GOAL, KICK_OFF, RED, event_of("tackle.won", 20.0, "away", "away_4", other="home_7"),
        decision(24.0, "foul", 3, at_s=20.4, team="away"), decision(60.0, "var", 4, variant="no red card"),
        decision(200.0, "no_goal", 5, at_s=10.0), decision(230.0, "goal", 6, at_s=10.0, team="home"),
    ]  # fmt: skip
    expected = stands(*inputs)
    for seed in range(5):
        mixed = list(inputs)
        random.Random(seed).shuffle(mixed)
        assert stands(*mixed) == expected


def test_it_keeps_the_contract():
    inputs = [
        event_of("tackle.won", 20.0, "away", "away_4", other="home_7"), event_of("assist", 21.0, "home", "home_6"),
        *(event_of("tackle.won", 22.0 + n, "away", f"away_{n}", other="home_7") for n in range(60)),
        event_of("goal.disallowed", 90.0, "home", "home_9", goal="goal.scored#x"),
    ]  # fmt: skip
    assert contract.check_fold(Overruled(), inputs)[1] == []
