"""11.1 to 12.12 on hand-made causes: sequences, double passes, chains of possession, attacks, times to recover."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from detectors.chains.attacks import BuildUpAttack, CounterAttack, DirectAttack, RecoveryTime
from detectors.chains.possession_chain import PossessionChain
from detectors.chains.sequences import DoublePass, PassSequence
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar
from middleware.detector import Detector
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from tests.detectors.scene import fold

SHEET = MatchSheet()
Place = tuple[float, float]


def about(
    kind: str, at_s: float, who: str = "", place: Place = (0.0, 0.0), variant: str = "", **detail: Scalar
) -> Event:
    """An event of a kind; ``who`` is a player, or a team."""
    team: Team = "home" if who.startswith("home") else "away" if who else ""
    payload = EventPayload(variant, team, who if "_" in who else "", *place, detail=detail)
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}", payload)


def passed(at_s: float, passer: str, receiver: str, took_s: float = 1.0) -> Event:
    """A completed pass, kicked at ``at_s``."""
    return about("pass.complete", at_s + took_s, passer, receiver=receiver, kick_us=round(at_s * 1e6))


def shown(events: Iterable[Event]) -> list[tuple[str, str, float]]:
    return [(e.kind, e.payload.variant, e.ts_us / 1e6) for e in events]


def standing(detectors: Iterable[Detector[object]], *events: Event) -> list[Event]:
    """Return what stands in the end of what detectors conclude from events."""
    chosen = tuple(detectors)
    made = {kind for d in chosen for kind in d.spec.outputs}
    raw = dict.fromkeys(kind for d in chosen for kind in d.spec.inputs if kind not in made)
    given = [e for e in events if e.kind in raw]
    return [e for e in published(Hierarchy(tuple(raw), chosen), given) if e.kind in made]


# -- 11.1, 11.2 --------------------------------------------------------------------------------------------------


def test_the_second_pass_on_makes_a_sequence_and_its_loss_ends_it():
    lost = about("pass.intercepted", 7.0, "home_9")
    out = fold(PassSequence(), [passed(1, "home_6", "home_8"), passed(3, "home_8", "home_9"), lost])
    assert shown(out) == [("sequence.step", "", 4.0), ("sequence.end", "", 7.0)]
    assert out[1].payload.detail == {"passes": 2, "seconds": 3.0, "since_us": 7_000_000}


@pytest.mark.parametrize(
    "second",
    [passed(3, "home_9", "home_6"), passed(3, "away_8", "away_9"), passed(12.1, "home_8", "home_9")],
    ids=["another passer", "another team", "eleven seconds later"],
)
def test_a_pass_that_does_not_follow_makes_no_sequence(second):
    assert fold(PassSequence(), [passed(1, "home_6", "home_8"), second]) == []


def test_a_sequence_is_over_ten_seconds_after_its_last_pass_though_that_is_known_later():
    passes = [passed(1, "home_6", "home_8"), passed(3, "home_8", "home_9"), passed(30, "home_9", "home_6")]
    end = fold(PassSequence(), passes)[-1]
    assert (end.kind, end.ts_us, end.payload.detail["since_us"]) == ("sequence.end", 31_000_000, 14_000_000)


def test_a_double_pass_is_there_and_back_within_five_seconds():
    there = passed(1, "home_6", "home_8")
    (onetwo,) = fold(DoublePass(), [there, passed(3, "home_8", "home_6")])
    assert (onetwo.payload.player, dict(onetwo.payload.detail)) == ("home_6", {"mate": "home_8", "seconds": 3.0})
    assert fold(DoublePass(), [there, passed(5.2, "home_8", "home_6")]) == []
    assert fold(DoublePass(), [there, passed(3, "home_8", "home_9")]) == []
    assert fold(DoublePass(), [there, about("out", 2.5), passed(3, "home_8", "home_6")]) == []


# -- 11.5 --------------------------------------------------------------------------------------------------------

GAIN = about("possession.gain", 1.0, "home_6", variant="hit")


def ends(*events: Event) -> list[tuple[str, float]]:
    """How chains end, and when."""
    return [(e.payload.variant, e.payload.detail["since_us"] / 1e6) for e in standing([PossessionChain()], *events)
            if e.kind == "chain.end"]  # fmt: skip


@pytest.mark.parametrize(
    ("ending", "how", "since_s"),
    [
        (about("possession.gain", 4.0, "away_4", variant="touch"), "loss", 4.0),
        (about("shot.attempt", 4.0, "home_9"), "shot", 4.0),
        (about("goal.own", 4.0, "home_9"), "goal", 4.0),
        (about("goal.scored", 4.0, "away_9"), "out", 4.0),
        (about("out", 4.0, "away_9", since_us=3_500_000), "out", 3.5),
        (about("play.dead", 5.0, variant="stop", since_us=4_000_000), "foul", 4.0),
    ],
    ids=["loss", "shot", "own goal", "goal against", "out", "stop"],
)
def test_a_chain_ends(ending, how, since_s):
    assert ends(GAIN, ending) == [(how, since_s)]


def test_what_does_not_end_a_chain():
    mate, shot = about("possession.gain", 2.0, "home_8", variant="hit"), about("shot.attempt", 3.0, "away_9")
    assert ends(GAIN, mate, shot) == []


def test_offside_ends_a_chain_as_out():
    offside = about("offside.offence", 4.0, "home_9")
    assert ends(GAIN, offside, about("play.dead", 5.0, variant="stop", since_us=4_500_000)) == [("out", 4.5)]


def test_a_shot_that_becomes_a_goal_amends_the_end_of_its_chain():
    shot = about("shot.attempt", 4.0, "home_9")
    assert ends(GAIN, shot, about("goal.scored", 5.5, "home_9")) == [("goal", 4.0)]
    assert ends(GAIN, shot, about("goal.scored", 15.5, "home_9")) == [("shot", 4.0)]


def test_a_restart_begins_a_chain_once_and_a_shot_from_it_ends_it_at_once():
    kick, gain = about("restart.free_kick", 10.0, "home_6"), about("possession.gain", 10.8, "home_6", variant="restart")
    out = standing([PossessionChain()], kick, gain)
    assert [(e.kind, e.payload.detail["began"]) for e in out] == [("chain.start", "free_kick")]
    out = standing([PossessionChain()], about("shot.attempt", 10.0, "home_6"), kick, gain)
    assert sorted(shown(out)) == [("chain.end", "shot", 10.0), ("chain.start", "", 10.0)]


# -- 12.9 to 12.12 -----------------------------------------------------------------------------------------------


def attack(detectors: Iterable[Detector[object]], *places: tuple[float, float], began: str = "gain", passes: int = 0):
    """Kinds of attack of a chain that begins at (1.0 s, x) and has a contact at each further (time, x)."""
    (begin_s, begin_x), *contacts = places
    events = [
        about("direction", 0.0, "home"),
        about("chain.start", begin_s, "home_6", (begin_x, 0.0), began=began),
        *(passed(begin_s + 0.1 * n, "home_6", "home_8", 0.05) for n in range(1, passes + 1)),
        *(about("hit", at_s, "home_9", (x, 0.0)) for at_s, x in contacts),
        about("chain.end", contacts[-1][0] + 2.0, "home", variant="loss"),
    ]
    return shown(standing(detectors, *events))


def test_ten_passes_into_the_area_are_a_build_up():
    assert attack([BuildUpAttack(SHEET)], (1, -20), (9, 40), passes=10) == [("attack.buildup", "", 9.0)]
    assert attack([BuildUpAttack(SHEET)], (1, -20), (9, 40), passes=9) == []
    assert attack([BuildUpAttack(SHEET)], (1, -20), (9, 30), passes=10) == [], "not in the area"


def test_a_shot_from_outside_the_area_is_judged_too():
    events = [
        about("direction", 0.0, "home"),
        about("chain.start", 1.0, "home_6", (-20.0, 0.0), began="gain"),
        about("hit", 6.0, "home_9", (25.0, 0.0)),
        about("chain.end", 8.0, "home", variant="shot"),
    ]
    assert shown(standing([DirectAttack(SHEET)], *events)) == [("attack.direct", "", 8.0)]
    assert standing([DirectAttack(SHEET)], *events[:3], about("chain.end", 8.0, "home", variant="loss")) == []


def test_a_direct_attack_is_fast_and_straight_from_the_own_half():
    direct = [DirectAttack(SHEET)]
    assert attack(direct, (1, -20), (15, 40)) == [("attack.direct", "", 15.0)]
    assert attack(direct, (1, -20), (17, 40)) == [], "too slow"
    assert attack(direct, (1, 5), (9, 40)) == [], "from the other half"


def test_an_attack_that_wanders_across_the_pitch_is_not_direct():
    places = [(2.0, (-5.0, 30.0)), (4.0, (0.0, -30.0)), (6.0, (10.0, 30.0)), (9.0, (40.0, 0.0))]
    events = [about("direction", 0.0, "home"), about("chain.start", 1.0, "home_6", (-10.0, 0.0), began="gain")]
    across = [about("hit", at_s, "home_9", place) for at_s, place in places]
    straight = [about("hit", at_s, "home_9", (x, 0.0)) for at_s, (x, _) in places]
    assert standing([DirectAttack(SHEET)], *events, *across) == []
    assert len(standing([DirectAttack(SHEET)], *events, *straight)) == 1


def test_a_counter_attack_starts_runs_and_ends():
    assert attack([CounterAttack(SHEET)], (1, -20), (4, 10), (6, 20), (7, 25), (9, 40)) == [
        ("counter.start", "", 1.0), ("counter.active", "", 6.0), ("counter.end", "", 9.0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "places",
    [((1, -20), (4, 10), (6, 25)), ((1, -20), (4, 10), (30, 40)), ((1, -20), (4, 10), (10, -20), (15.5, 40))],
    ids=["never in the area", "too late", "within time, as 60 m in 14.5 s are fast enough"],
)
def test_a_counter_attack_that_does_not_arrive_is_withdrawn(places):
    kinds = [kind for kind, _, _ in attack([CounterAttack(SHEET)], *places)]
    arrived = places[-1][0] == 15.5
    assert [kind in kinds for kind in ("counter.start", "counter.active", "counter.end")] == [arrived] * 3


def test_nobody_counters_from_a_restart_or_from_the_attacking_third():
    assert attack([CounterAttack(SHEET)], (1, -20), (4, 10), (9, 40), began="throw_in") == []
    assert attack([CounterAttack(SHEET)], (1, 18), (4, 39), (5, 40)) == []


@pytest.mark.parametrize(("regained_s", "variant"), [(8.9, "<5"), (9.0, "-10"), (13.9, "-10"), (14.0, ">10")])
def test_the_time_to_recover_the_ball(regained_s, variant):
    lost = about("chain.end", 4.0, "home", variant="loss")
    again = about("chain.start", regained_s, "home_6", began="gain")
    assert shown(fold(RecoveryTime(), [lost, again])) == [("recovery.time", variant, regained_s)]


def test_dead_time_and_restarts_are_no_recovery():
    lost = about("chain.end", 4.0, "home", variant="loss")
    again = about("chain.start", 8.0, "home_6", began="gain")
    assert fold(RecoveryTime(), [lost, about("play.dead", 6.0), again]) == []
    assert fold(RecoveryTime(), [lost, about("chain.start", 8.0, "home_6", began="throw_in")]) == []
