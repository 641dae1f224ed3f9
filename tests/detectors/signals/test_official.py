"""Decisions of officials and their effect on goals and play; late, doubled, against concluded events."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from detectors.catalogue import build_detectors
from detectors.emission import make_event
from detectors.outcomes.goal_verdicts import GoalConfirmation
from detectors.outcomes.goals import Goal
from detectors.signals.official import KINDS, OVERRULED, Officials
from football.match_sheet import MatchSheet
from football.officials import DECISIONS
from football.packets import RAW_KINDS, UNPACED_KINDS
from football.payloads import EventPayload
from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings
from middleware.sources.progress import ProgressSettings
from tests.detectors import contract, stage
from tests.detectors.scene import (
    cast,
    concluded,
    decision,
    fold,
    path,
    rows_of,
    scene,
    stay,
)

SHEET = MatchSheet(attacks_positive_x="home")


def officials(*decisions: Event) -> list[Event]:
    return fold(Officials(), decisions)


@pytest.mark.parametrize("kind", DECISIONS)
def test_a_decision_has_its_name_and_says_what_was_said(kind: str):
    variant = DECISIONS[kind].variants[0]
    sent = decision(
        10.0, kind, 7, variant=variant, team="home", player="home_7", minutes=3, event="out#ball:1", note="n"
    )
    (event,) = officials(sent)
    assert (event.kind, event.ts_us, event.id) == (
        f"official.{kind}",
        10_000_000,
        f"official.{kind}#official:operator:7",
    )
    assert event.payload.detail == {
        "by": "operator",
        "at_us": 10_000_000,
        "minutes": 3,
        "event": "out#ball:1",
        "note": "n",
    }
    assert event.annuls == ("out#ball:1" if kind in ("void", "correction") else "")


def test_what_is_said_soon_is_dated_when_it_happened_and_what_is_said_late_is_shown_then():
    soon, late = officials(
        decision(10.0, "foul", at_s=8.5, team="home"), decision(10.0, "foul", 2, at_s=3.0, team="away")
    )
    assert (soon.ts_us, soon.dated_us) == (8_500_000, None)
    assert (late.ts_us, late.dated_us) == (10_000_000, 3_000_000)


def test_an_unknown_kind_and_a_void_of_what_cannot_be_overruled_take_nothing_back():
    assert officials(decision(1.0, "weather")) == []
    (void,) = officials(decision(1.0, "void", event="hit#ball:1"))
    assert void.annuls == ""


def test_the_officials_keep_the_contract():
    every = [
        decision(
            float(n), kind, n, at_s=n - 0.5 * (n % 8), variant=variant, team="home", player="home_7", event="out#1"
        )
        for n, (kind, variant) in enumerate((k, v) for k, d in DECISIONS.items() for v in d.variants)
    ]
    assert contract.check_fold(Officials(), sorted(every, key=lambda e: e.ts_us))[1] == []


def test_all_that_may_be_overruled_is_published_by_somebody():
    kinds = {kind for d in build_detectors(MatchSheet()) for kind in d.spec.outputs}
    assert set(KINDS) <= kinds
    assert {"goal.scored", "goal.own", "out", "restart.corner"} <= set(OVERRULED) & kinds


# -- goals


def seen(at_s: float, team: str = "home", player: str = "home_9") -> Event:
    detail = {"since_us": round(at_s * 1e6) - 100_000, "last_team": team}
    return make_event(
        "goal.candidate",
        round(at_s * 1e6),
        f"ball:{at_s}",
        EventPayload("right", team, player, 52.7, 0.0, detail=detail),
    )


def restart(at_s: float, kind: str) -> Event:
    return make_event(
        f"restart.{kind}", round(at_s * 1e6), f"ball:{at_s}", EventPayload("", "away", "away_9", 0.0, 0.0)
    )


#: What goals are concluded from, beside restarts, periods and decisions.
_PLAY = (
    "ball.crossed", "not_near", "near", "hit", "touch", "direction", "out", "play.dead", "play.live", "goal.candidate",
)  # fmt: skip


def goal_story(*inputs: Event) -> tuple[list[tuple[str, str, str]], list[Event]]:
    """Published events of goals after candidates, restarts and decisions: as rows, and as they are."""
    raw = (*_PLAY, *(e.kind for e in inputs), "raw.official")
    raw += tuple(k for k in GoalConfirmation(SHEET).spec.inputs if k.startswith(("restart.", "period.")))
    hierarchy = Hierarchy(dict.fromkeys(raw), [Officials(), Goal(SHEET), GoalConfirmation(SHEET)])
    events = [e for e in published(hierarchy, inputs) if e.kind.startswith("goal.") and e.kind != "goal.candidate"]
    return [(e.kind, e.payload.team, e.payload.player) for e in events], events


def test_officials_confirm_a_goal_at_once_and_name_the_scorer():
    story, events = goal_story(seen(10.0), decision(25.0, "goal", at_s=11.0, team="home", player="home_10"))
    assert story == [("goal.scored", "home", "home_10"), ("goal.confirmed", "home", "home_10")]
    assert [e.ts_us for e in events] == [10_000_000, 25_000_000]
    later, _ = goal_story(
        seen(10.0), decision(25.0, "goal", at_s=11.0, team="home", player="home_10"), restart(60.0, "free_kick")
    )
    assert later == story


def test_officials_disallow_a_goal_before_any_restart():
    story, events = goal_story(seen(10.0), decision(20.0, "no_goal", at_s=10.0, variant="offside"))
    assert story == [("goal.disallowed", "home", "")]
    assert events[0].payload.detail["restart"] == "official.no_goal"


def test_a_confirmed_goal_is_taken_back_by_a_review_and_given_again():
    first = seen(10.0), restart(55.0, "kick_off")
    no = decision(200.0, "var", 1, variant="no goal")
    yes = decision(230.0, "goal", 2, at_s=10.0, team="home")
    assert goal_story(*first)[0] == [("goal.scored", "home", ""), ("goal.confirmed", "home", "")]
    assert goal_story(*first, no)[0] == [("goal.disallowed", "home", "")]
    assert goal_story(*first, no, yes)[0] == [("goal.scored", "home", ""), ("goal.confirmed", "home", "")]


def test_officials_undo_what_a_wrong_restart_had_disallowed():
    story = goal_story(seen(10.0), restart(50.0, "throw_in"), decision(60.0, "goal", at_s=10.0, team="home"))[0]
    assert story == [("goal.scored", "home", ""), ("goal.confirmed", "home", "")]


def test_a_goal_that_nobody_saw_is_the_officials_own_and_told_once():
    alone, events = goal_story(decision(12.0, "goal", at_s=10.0, team="away", player="away_9"))
    assert alone == [("goal.scored", "away", "away_9"), ("goal.confirmed", "away", "away_9")]
    assert events[0].id == "goal.scored#official:operator:1"
    assert goal_story(decision(9.8, "goal", team="home"), seen(10.0))[0] == [
        ("goal.scored", "home", ""),
        ("goal.confirmed", "home", ""),
    ]


def test_an_own_goal_by_the_officials_word_is_one_goal():
    story = goal_story(seen(10.0), decision(30.0, "goal", at_s=10.0, team="home", variant="own", player="away_4"))[0]
    assert story == [("goal.own", "home", "away_4"), ("goal.confirmed", "home", "away_4")]


def test_another_teams_or_another_minutes_word_is_another_goal():
    assert len(goal_story(seen(10.0), decision(30.0, "goal", at_s=10.0, team="away"))[0]) == 3
    assert goal_story(seen(10.0), decision(90.0, "no_goal", team="away"))[0] == [("goal.scored", "home", "")]
    assert goal_story(seen(10.0), decision(800.0, "no_goal"))[0] == [("goal.scored", "home", "")]


def test_officials_void_any_one_event():
    void = decision(30.0, "void", event="goal.scored#ball:10.0")
    assert goal_story(seen(10.0), void)[0] == []
    assert goal_story(seen(10.0), void, restart(60.0, "kick_off"))[0] == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_story_of_a_goal_is_the_same_in_any_order_of_arrival(order: tuple[int, ...]):
    """Decisions may come before the positions that they are about; doubled ones change nothing."""
    inputs = [
        seen(10.0),
        decision(11.0, "no_goal", 1),
        restart(14.0, "goal_kick"),
        decision(15.0, "goal", 2, at_s=14.8, team="home"),
    ]
    detectors = [Officials(), Goal(SHEET), GoalConfirmation(SHEET)]
    raw = (*_PLAY, "raw.official")
    raw += tuple(k for k in GoalConfirmation(SHEET).spec.inputs if k.startswith(("restart.", "period.")))
    progress = ProgressSettings(unpaced_kinds=UNPACED_KINDS)
    engine = Engine(Hierarchy(raw, detectors), EngineSettings(allowed_lateness_us=20_000_000, progress=progress))
    updates = []
    for place in (*order, *order):
        event = inputs[place]
        updates += engine.push([Arrival(event, event.ts_us)], 16_000_000).updates
    updates += engine.finish().updates
    stands = sorted(consolidate(updates).values(), key=lambda e: (e.ts_us, e.kind))
    expected = published(Hierarchy(raw, detectors), inputs)
    assert sorted(expected, key=lambda e: (e.ts_us, e.kind)) == stands
    assert [e.kind for e in stands if e.kind.startswith("goal.c")] == ["goal.candidate", "goal.confirmed"][1:]


# -- play


def play_story(events: Iterable[Event]) -> list[tuple[str, str, str]]:
    return rows_of(concluded(events, SHEET, "play."))


def test_officials_stop_play_and_let_it_go_on():
    running = scene(path((0.0, 0.0, 0.1), (30.0, 20.0, 0.1), 6.0), cast())
    decisions = [decision(2.0, "stop", 1, variant="foul"), decision(4.0, "resume", 2)]
    assert play_story(running) == []
    assert play_story([*running, *decisions]) == [("play.dead", "stop", ""), ("play.live", "stop", "")]
    dead, live = concluded([*running, *decisions], SHEET, "play.")
    assert (dead.ts_us, live.ts_us, dead.payload.detail["sign"]) == (2_000_000, 4_000_000, "official")


def test_a_ball_that_is_kicked_about_after_an_official_stop_stays_dead():
    way = [*path((0.0, 0.0, 0.1), (30.0, 20.0, 0.1), 6.0), *path((30.0, 20.0, 0.1), (-30.0, 20.0, 0.1), 12.0)]
    events = scene(way, cast())
    assert play_story([*events, decision(1.0, "stop")]) == [("play.dead", "stop", "")]


def test_a_ball_that_lay_before_the_whistle_and_is_kicked_on_after_it_was_no_free_kick():
    """A player who did not hear the whistle plays on; the ball must lie again before a kick restarts play."""
    spot, far = (20.0, 10.0, 0.1), (45.0, 20.0, 0.1)
    events = scene(
        [*path((0.0, 0.0, 0.1), spot, 2.0), *stay(spot, 2.0), *path(spot, far, 2.0)], cast(home_8=(20.4, 10.0))
    )
    assert play_story([*events, decision(3.9, "stop", variant="foul")]) == [("play.dead", "stop", "")]
    late = scene(
        [*path((0.0, 0.0, 0.1), spot, 2.0), *stay(spot, 3.5), *path(spot, far, 2.0)], cast(home_8=(20.4, 10.0))
    )
    assert [kind for kind, *_ in play_story([*late, decision(3.9, "stop")])] == ["play.dead", "play.live"]


def test_a_second_stop_or_a_needless_word_says_nothing_new():
    running = scene(path((0.0, 0.0, 0.1), (30.0, 20.0, 0.1), 6.0), cast())
    rows = ((2.0, "stop"), (2.5, "stop"), (4.0, "resume"), (4.5, "resume"))
    decisions = [decision(at_s, kind, number) for number, (at_s, kind) in enumerate(rows, 1)]
    assert play_story([*running, *decisions]) == [("play.dead", "stop", ""), ("play.live", "stop", "")]


def test_a_restart_ends_an_official_stop_as_any_other():
    spot = (20.0, 10.0, 0.1)
    way = [*path((0.0, 0.0, 0.1), spot, 2.0), *stay(spot, 5.0), *path(spot, (40.0, 20.0, 0.1), 1.5)]
    found = concluded(
        [*scene(way, cast(home_8=(20.4, 10.0))), decision(1.0, "stop", variant="foul")], SHEET, "play.", "restart."
    )
    assert rows_of(found) == [
        ("play.dead", "stop", ""),
        ("restart.free_kick", "crossed", "home"),
        ("play.live", "stop", "home"),
    ]
    assert found[0].ts_us == 1_000_000


def test_a_stop_said_late_is_dated_when_known_and_tells_since_when():
    running = scene(path((0.0, 0.0, 0.1), (50.0, 30.0, 0.1), 10.0), cast())
    (dead,) = concluded([*running, decision(9.0, "stop", at_s=2.0)], SHEET, "play.dead")
    assert (dead.ts_us, dead.payload.detail["since_us"]) == (9_000_000, 2_000_000)


@pytest.mark.parametrize("quality", [stage.OPTICAL, stage.RTLS], ids=["optical", "rtls"])
def test_the_whole_catalogue_takes_officials_on_either_input(quality):
    """A pass in play, a stop a second later: nobody has the ball any more, and no restart is told."""
    players = {"home_6": [(0, 0, 0)], "home_8": [(0, 15, 0)], "away_4": [(0, 8, 9)]}
    ball = [(0, 0.3, 0, 0.1), (2, 0.3, 0, 0.1), (3.2, 14.7, 0, 0.1)]
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(stage.sheet(players, quality)))
    from detectors.arrivals import arrival

    raw = [arrival(p).event for p in stage.packets(ball, players, 6.0, quality)]
    decisions = [
        decision(4.5, "stop", 1, variant="injury"),
        decision(5.5, "card", 2, variant="red", team="away", player="away_4"),
    ]
    events = published(hierarchy, [*raw, *decisions])
    kinds = [e.kind for e in events]
    assert kinds.count("play.dead") == 1
    assert [e.payload.variant for e in events if e.kind == "team.possession"][-1] == "dead"
    assert "official.card" in kinds
