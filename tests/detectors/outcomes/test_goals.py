"""Goals: published at once, then confirmed by the kick-off or disallowed by any other restart."""

from __future__ import annotations

import msgspec
import pytest

from detectors.emission import make_event
from detectors.outcomes.goal_verdicts import GoalConfirmation
from detectors.outcomes.goals import Goal
from football.match_sheet import MatchSheet, Period, Quality
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import cast, concluded, fold, hit, path, rows_of, scene, stay

SHEET = MatchSheet(attacks_positive_x="home")
SHOT = [*path((30.0, 5.0, 0.5), (52.0, 1.0, 1.0), 1.0), *path((52.0, 1.0, 1.0), (54.0, 0.6, 1.0), 0.1)]
CENTRE = (0.0, 0.0, 0.1)


def goals(events):
    return concluded(events, SHEET, "goal.")


def test_a_ball_under_the_bar_is_a_goal_at_once_for_who_attacks_that_end():
    found = goals([*scene([*SHOT, *stay((54.0, 0.6, 0.1), 1.0)], cast()), hit(0.0, "home_9", 30.0, 5.0)])
    assert rows_of(found) == [("goal.candidate", "right", "home"), ("goal.scored", "right", "home")]
    assert found[1].payload.player == "home_9"
    assert found[1].ts_us == 984_400


def test_a_ball_over_the_bar_is_out():
    way = [*path((30.0, 5.0, 1.0), (54.0, 1.0, 3.5), 1.0), *stay((54.0, 1.0, 3.0), 1.0)]
    assert rows_of(concluded(scene(way, cast()), SHEET, "goal.", "out", "play.")) == [
        ("play.dead", "goal line", ""),
        ("out", "right goal line", ""),
    ]


def test_sides_follow_the_direction():
    away = msgspec.structs.replace(SHEET, attacks_positive_x="away")
    assert rows_of(concluded(scene(SHOT, cast()), away, "goal.scored")) == [("goal.scored", "right", "away")]


def test_the_kick_off_confirms():
    way = [*SHOT, *path((54.0, 0.6, 0.1), CENTRE, 20.0), *stay(CENTRE, 3.0), *path(CENTRE, (9.0, 1.0, 0.1), 1.0)]
    scorer = hit(0.0, "home_9", 30.0, 5.0)
    found = concluded([*scene(way, cast(away_9=(0.3, 0.3))), scorer], SHEET, "goal.", "restart.")
    assert rows_of(found)[1:] == [
        ("goal.scored", "right", "home"),
        ("restart.kick_off", "", "away"),
        ("goal.confirmed", "right", "home"),
    ]
    assert found[-1].payload.player == "home_9"


def test_another_restart_disallows_and_annuls():
    spot = (40.0, 10.0, 0.1)
    way = [*SHOT, *path((54.0, 0.6, 0.1), spot, 12.0), *stay(spot, 4.0), *path(spot, (20.0, 20.0, 0.1), 1.0)]
    found = concluded(scene(way, cast(away_4=(40.4, 10.0))), SHEET, "goal.", "restart.")
    kinds = [e.kind for e in found]
    assert kinds == ["goal.candidate", "goal.scored", "restart.free_kick", "goal.disallowed"]
    assert found[-1].annuls == found[1].id


def test_a_ball_carried_back_and_thrown_to_the_centre_decides_nothing():
    way = [*SHOT, *path((54.0, 0.6, 0.1), (40.0, 0.0, 1.0), 9.0), *path((40.0, 0.0, 1.0), (5.0, 0.0, 1.0), 3.0)]
    assert [e.kind for e in goals(scene(way, cast(away_4=(40.0, 0.4))))] == ["goal.candidate", "goal.scored"]


def candidate(at_s, team="home"):
    payload = EventPayload("right", team, x_m=52.6, y_m=1.0, detail={"since_us": round(at_s * 1e6)})
    return make_event("goal.candidate", round(at_s * 1e6), f"ball:{at_s}", payload)


def scored(*contacts):
    (goal,) = fold(Goal(SHEET), [*contacts, candidate(10.0)])
    return goal.kind, goal.payload.player


def test_a_defender_who_deflects_a_shot_on_target_does_not_score():
    assert scored(hit(9.0, "home_9", 35.0, 3.0), hit(9.5, "away_4", 45.0, 2.0)) == ("goal.scored", "home_9")


def test_a_defender_who_turns_a_ball_in_that_was_not_aimed_at_goal_scores_an_own_goal():
    assert scored(hit(9.0, "home_7", 45.0, 25.0), hit(9.6, "away_4", 46.0, 5.0)) == ("goal.own", "away_4")


def test_a_defender_who_passes_back_into_his_goal_scores_an_own_goal():
    assert scored(hit(2.0, "home_9", 35.0, 3.0), hit(9.5, "away_4", 45.0, 2.0)) == ("goal.own", "away_4")


def at_ball(kind: str, at_s: float, player: str) -> Event:
    payload = EventPayload("", "home" if player.startswith("home") else "away", player)
    return make_event(kind, round(at_s * 1e6), f"{player}:{at_s}", payload)


@pytest.mark.parametrize(
    ("left_s", "x_m", "limbs", "found"),
    [
        (9.9, 46.0, (), ("goal.scored", "home_9", 0.85)),
        (9.2, 46.0, (), ("goal.own", "away_4", 1.0)),
        (9.9, 10.0, (), ("goal.own", "away_4", 1.0)),
        (9.9, 46.0, ("left_foot", "right_foot"), ("goal.own", "away_4", 1.0)),
    ],
    ids=[
        "an attacker is at the ball",
        "he has left before",
        "nobody shoots from there",
        "limb tags show who played it",
    ],
)
def test_a_goal_after_a_defenders_contact_is_the_attackers_who_was_at_the_ball(left_s, x_m, limbs, found):
    sheet = MatchSheet(attacks_positive_x="home", quality=Quality(limbs=limbs))
    near = [at_ball("near", 9.1, "home_9"), at_ball("not_near", left_s, "home_9")]
    events = [hit(8.0, "home_7", 45.0, 25.0), *near, hit(9.6, "away_4", x_m, 5.0), candidate(10.0)]
    (goal,) = fold(Goal(sheet), sorted(events, key=lambda event: event.ts_us))
    assert (goal.kind, goal.payload.player, goal.payload.confidence) == found


def test_a_goal_without_a_known_contact_has_no_scorer():
    assert scored() == ("goal.scored", "")


def restart(kind: str, at_s: float) -> Event:
    return make_event(f"restart.{kind}", round(at_s * 1e6), f"ball:{at_s}", EventPayload(team="away"))


def goal(at_s: float) -> Event:
    return make_event("goal.scored", round(at_s * 1e6), f"ball:{at_s}", EventPayload("right", "home", "home_9"))


def test_only_the_first_restart_decides():
    found = fold(GoalConfirmation(SHEET), [goal(10.0), restart("kick_off", 60.0), restart("corner", 90.0)])
    assert rows_of(found) == [("goal.confirmed", "right", "home")]


def test_a_long_review_delays_the_decision():
    for kind, verdict in (("kick_off", "goal.confirmed"), ("free_kick", "goal.disallowed")):
        assert [e.kind for e in fold(GoalConfirmation(SHEET), [goal(10.0), restart(kind, 400.0)])] == [verdict]
    assert fold(GoalConfirmation(SHEET), [goal(10.0), restart("kick_off", 620.0)]) == []


def play(what: str, at_s: float, *, fallback: bool = True) -> Event:
    """A begin of play, or a stop: 10.14 asks when they were, and whether the restart was seen."""
    at_us = round(at_s * 1e6)
    detail = {"kick_us": at_us, "fallback": fallback} if what == "live" else {"since_us": at_us}
    return make_event(f"play.{what}", at_us, f"ball:{at_s}", EventPayload("goal", detail=detail))


@pytest.mark.parametrize(
    ("resumed", "verdicts"),
    [
        ([play("live", 45.0), play("dead", 60.0)], []),
        ([play("live", 45.0), play("dead", 51.0)], ["goal.disallowed"]),
        ([play("live", 12.2), play("dead", 36.0)], ["goal.disallowed"]),
        ([play("live", 45.0, fallback=False), play("dead", 60.0)], ["goal.disallowed"]),
        ([], ["goal.disallowed"]),
    ],
    ids=["played for long", "a ball that is fetched", "no kick-off is so soon", "its restart was seen", "the next"],
)
def test_a_goal_whose_restart_nobody_saw_is_not_taken_back_by_a_later_one(resumed, verdicts):
    events = [goal(10.0), *resumed, restart("throw_in", 70.0)]
    assert [e.kind for e in fold(GoalConfirmation(SHEET), events)] == verdicts
    # A kick-off confirms it at any time.
    events = [goal(10.0), *resumed, restart("kick_off", 70.0), restart("throw_in", 90.0)]
    assert [e.kind for e in fold(GoalConfirmation(SHEET), events)] == ["goal.confirmed"]


def period(at_s: float, kind: str, confidence: float = 1.0) -> Event:
    return make_event(f"period.{kind}", round(at_s * 1e6), f"clock:{kind}", EventPayload("1", confidence=confidence))


@pytest.mark.parametrize("ends", [period(200.0, "end", 0.6), period(1000.0, "end"), period(1000.0, "start")])
def test_a_goal_at_the_end_of_a_half_needs_no_kick_off(ends):
    found = fold(GoalConfirmation(SHEET), [goal(10.0), ends, restart("kick_off", 1001.0), restart("corner", 1100.0)])
    assert [(e.kind, e.payload.detail["restart"]) for e in found] == [("goal.confirmed", ends.kind)]


def test_play_that_goes_on_after_a_supposed_end_decides():
    ended = period(200.0, "end", 0.6)
    withdrawn = msgspec.structs.replace(ended, ts_us=260_500_000, seq=1, annuls=ended.id, dated_us=200_000_000)
    confirmed, void, verdict = fold(
        GoalConfirmation(SHEET), [goal(10.0), ended, restart("free_kick", 260.0), withdrawn]
    )
    assert (confirmed.kind, void.annuls, verdict.kind) == ("goal.confirmed", confirmed.id, "goal.disallowed")
    for kick_off in (restart("kick_off", 260.0), restart("kick_off", 270.0)):
        events = sorted([goal(10.0), ended, withdrawn, kick_off], key=lambda event: event.ts_us)
        found = fold(GoalConfirmation(SHEET), events)
        assert [(e.kind, e.annuls != "", e.payload.detail["restart"]) for e in found] == [
            ("goal.confirmed", False, "period.end"),
            ("goal.confirmed", True, "period.end"),
            ("goal.confirmed", False, "restart.kick_off"),
        ]


@pytest.mark.parametrize("kind", ["throw_in", "corner", "goal_kick", "free_kick", "dropped"])
def test_every_other_restart_annuls_the_goal_by_its_id(kind):
    (void,) = fold(GoalConfirmation(SHEET), [goal(10.0), restart(kind, 30.0)])
    assert (void.kind, void.annuls, void.payload.team) == ("goal.disallowed", "goal.scored#ball:10.0", "home")


@pytest.mark.parametrize(
    ("at_line", "then", "kind"),
    [
        ((52.7, 3.4, 1.0), (54.4, 3.0, 0.3), "goal.scored"),
        ((52.7, 3.4, 1.0), (56.0, 6.5, 0.3), "out"),
        ((52.7, 3.4, 1.0), (58.0, 3.6, 0.3), "out"),
    ],
    ids=["into the net", "on past it", "on behind it"],
)
def test_a_ball_by_the_post_is_in_the_goal_if_the_net_holds_it(at_line, then, kind):
    """A camera errs by some decimetres: a ball that passes the goal is seen to cross the line by the post."""
    way = [*path((40.0, 0.0, 0.5), at_line, 0.5), *path(at_line, then, 0.24), *stay(then, 1.0)]
    found = concluded(scene(way, cast()), SHEET, "goal.scored", "out")
    assert [e.kind for e in found] == [kind]
    assert found[0].payload.detail["since_us"] == pytest.approx(440_000, abs=20_000)


PAST_THE_POST = [*path((30.0, 0.0, 0.5), (52.0, -3.9, 0.5), 1.0), *path((52.0, -3.9, 0.5), (54.6, -4.4, 0.1), 0.2)]


def after_a_ball_past(y_m: float, kick_off_by: str, sheet: MatchSheet = SHEET) -> list[Event]:
    """Goals of a ball that passes a post at ``y_m`` on its outer side, and of what follows from the centre spot."""
    past = [(x, y * (y_m / -4.0), z) for x, y, z in PAST_THE_POST]
    way = [*past, *stay(past[-1], 2.0), *path(past[-1], CENTRE, 20.0), *stay(CENTRE, 8.0)]
    way += path(CENTRE, (18.0 if kick_off_by == "away" else -18.0, 2.0, 0.1), 2.0)
    taker = {f"{kick_off_by}_9": (0.3, 0.3)}
    return concluded([*scene(way, cast(**taker)), hit(0.0, "home_9", 30.0, 0.0)], sheet, "goal.", "restart.", "out")


def test_a_kick_off_shows_that_a_ball_tracked_past_the_post_was_a_goal():
    found = after_a_ball_past(-4.0, "away")
    assert rows_of(sorted(found, key=lambda e: e.ts_us)) == [
        ("out", "right goal line", "home"),
        ("restart.kick_off", "", "away"),
        ("goal.scored", "right", "home"),
        ("goal.confirmed", "right", "home"),
    ]
    out, _, goal, confirmed = found
    assert (goal.payload.player, goal.dated_us, goal.payload.detail["kick_off"]) == ("home_9", out.ts_us, True)
    assert confirmed.payload.detail["restart"] == "restart.kick_off"


@pytest.mark.parametrize(
    ("y_m", "kick_off_by"), [(-6.5, "away"), (-4.0, "home")], ids=["far from the post", "the attackers kick off"]
)
def test_a_kick_off_after_another_ball_shows_no_goal(y_m: float, kick_off_by: str):
    assert not [e for e in after_a_ball_past(y_m, kick_off_by) if e.kind.startswith("goal.")]


def kick_off(at_s: float, team: str) -> Event:
    detail = {"kick_us": round(at_s * 1e6), "fallback": False, "kick_off_shape": True, "penalty_shape": False}
    detail |= {"shoot_out": False, "dropped": False, "taker_y_m": None, "line": "", "indirect": False}
    payload = EventPayload("stop", team, f"{team}_9", 0.0, 0.0, detail=detail)
    return make_event("play.live", round(at_s * 1e6), f"ball:{at_s}", payload)


def test_a_kick_off_after_a_change_of_ends_shows_no_goal():
    crossed = EventPayload("right goal line", "home", "home_9", 52.6, 4.0, detail={"since_us": 1_000_000})
    events = [
        make_event("direction", 0, "d", EventPayload("", "home")),
        make_event("out", 1_000_000, "b", crossed),
        make_event("direction", 900_000_000, "e", EventPayload("", "away")),
        kick_off(901.0, "away"),
    ]
    assert fold(Goal(SHEET), events) == []
    assert len(fold(Goal(SHEET), [*events[:2], kick_off(21.0, "away")])) == 1
    assert len(fold(Goal(SHEET), [*events[:2], kick_off(701.0, "away")])) == 0, "no review takes so long"


def test_a_ball_that_is_found_in_the_goal_was_a_goal_if_a_kick_off_follows():
    """A penalty kick that the track repeats: nothing is seen before the ball lies in the net."""
    attacks = make_event("direction", 0, "d", EventPayload("", "home"))
    found = EventPayload("right goal mouth out", "", "", 52.6, -3.0, 0.1, 0.15, {"since_us": 90_000_000})
    crossed = make_event("ball.crossed", 90_000_000, "b", found)
    (goal,) = fold(Goal(SHEET), [hit(20.0, "home_9", 40.0, 0.0), attacks, crossed, kick_off(150.0, "away")])
    assert (goal.kind, goal.payload.team, goal.payload.player, goal.dated_us) == ("goal.scored", "home", "", 90_000_000)
    again = make_event("ball.crossed", 140_000_000, "c", found)
    (goal,) = fold(Goal(SHEET), [attacks, candidate(90.0), again, kick_off(150.0, "away")])
    assert goal.ts_us == 90_000_000, "one kick-off, one goal"


@pytest.mark.parametrize(("x_m", "y_m", "scored"), [(52.4, 1.0, True), (50.8, 1.0, False), (52.4, 8.0, False)])
def test_a_ball_that_is_seen_last_in_the_goal_mouth_and_counts_as_stopped_was_a_goal_if_a_kick_off_follows(
    x_m: float, y_m: float, scored: bool
):
    attacks = make_event("direction", 0, "d", EventPayload("", "home"))
    stopped = EventPayload("stop", "", "", x_m, y_m, 4.8, 0.7, {"line": "", "sign": "alone", "since_us": 59_880_000})
    dead = make_event("play.dead", 67_000_000, "b", stopped)
    events = [attacks, hit(57.0, "home_9", 35.0, 16.0), dead, kick_off(112.0, "away")]
    goals = [(g.payload.team, g.payload.player, g.dated_us) for g in fold(Goal(SHEET), events)]
    assert goals == ([("home", "home_9", 59_880_000)] if scored else [])
    assert fold(Goal(SHEET), [*events[:-1], kick_off(112.0, "home")]) == []


def turn(at_s: float, team: str) -> Event:
    return make_event("direction", round(at_s * 1e6), f"d{at_s}", EventPayload("", team))


def stop(since_s: float) -> Event:
    """A stop that says nothing of a goal, known seven seconds later."""
    since_us = round(since_s * 1e6)
    stopped = EventPayload("stop", detail={"line": "", "sign": "alone", "since_us": since_us})
    return make_event("play.dead", since_us + 7_000_000, f"b{since_s}", stopped)


def live(at_s: float) -> Event:
    """A throw-in."""
    thrown = kick_off(at_s, "home")
    place = msgspec.structs.replace(thrown.payload, variant="touch", y_m=34.0)
    return msgspec.structs.replace(thrown, payload=place)


TAKEN_AGAIN = [turn(0, "home"), kick_off(5, "home"), candidate(100), kick_off(150, "away")]
SECOND_HALF = [turn(0, "home"), kick_off(5, "home"), stop(2_700), kick_off(3_600, "away"), turn(3_605, "away")]


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ([turn(0, "home"), kick_off(5, "home"), stop(100), kick_off(150, "away")], True),
        ([turn(0, "home"), kick_off(5, "home"), stop(100), kick_off(150, "away"), turn(160, "away")], False),
        ([turn(0, "home"), kick_off(5, "home"), stop(100), turn(140, "away"), kick_off(150, "home")], False),
        ([turn(0, "home"), stop(100), kick_off(150, "away")], False),
        ([turn(0, "home"), kick_off(5, "home"), stop(100), candidate(100), kick_off(150, "away")], False),
        ([turn(0, "home"), kick_off(5, "home"), stop(10), kick_off(40, "home")], False),
        ([turn(0, "home"), kick_off(5, "home"), stop(2_700), kick_off(2_760, "away")], False),
        ([turn(0, "home"), kick_off(5, "home"), stop(100), kick_off(710, "away")], False),
        ([*SECOND_HALF, stop(3_700), kick_off(3_750, "home")], True),
        ([*TAKEN_AGAIN, stop(150.1), kick_off(262, "away")], False),
        ([*TAKEN_AGAIN, stop(157.1), kick_off(262, "away")], True),
        ([*TAKEN_AGAIN, stop(150.1), live(160.0), stop(167.0), kick_off(262, "away")], True),
    ],
    ids=[
        "nothing else explains it", "teams change ends", "they did before", "the first one", "a goal is known",
        "taken again", "a new half, without a change of ends", "no review takes so long", "in the second half",
        "hardly any play", "some seconds of play", "some seconds of play in two parts",
    ],
)  # fmt: skip
def test_a_kick_off_that_nothing_explains_shows_a_goal_that_nobody_saw(events: list[Event], shown: bool):
    at_s = events[-1].ts_us / 1e6 + (21.0 if events[-1].kind == "play.live" else 12.0)
    early, late = ([*events, hit(at_s - back_s, "away_5", 0.0, 0.0)] for back_s in (2.0, 0.0))
    before, goals = (len(fold(Goal(SHEET), e)) for e in (early, late)), fold(Goal(SHEET), late)
    known = sum(event.kind == "goal.candidate" for event in events)
    assert tuple(before) == (known, known + shown)
    if shown:
        goal, since_us = goals[-1], events[-2].payload.detail["since_us"]
        taker = events[-1].payload.team
        assert (goal.kind, goal.payload.variant, goal.dated_us) == ("goal.scored", "right", since_us)
        assert goal.payload.team == ("home" if taker == "away" else "away")
        assert goal.payload.detail["kick_off"] is True
        verdicts = fold(GoalConfirmation(SHEET), goals)
        assert [verdict.kind for verdict in verdicts] == ["goal.confirmed"]


@pytest.mark.parametrize(
    ("begun_s", "kick_s", "shown"), [(0, 1_062, True), (0, 2_750, True), (1_020, 1_062, False), (1_100, 1_062, False)],
    ids=["long after its begin", "in added time", "its own", "before it"],
)  # fmt: skip
def test_the_first_kick_off_of_a_period_that_had_begun_before_shows_a_goal(begun_s: int, kick_s: int, shown: bool):
    """The source knows when the period began; its own kick-off was not seen."""
    sheet = MatchSheet(periods=(Period(1, begun_s * 1_000_000, "home"),))
    events = [turn(0, "home"), live(60), stop(990), kick_off(kick_s, "away"), hit(kick_s + 21.0, "away_5", 0.0, 0.0)]
    events[2] = stop(kick_s - 70)
    goals = fold(Goal(sheet), events)
    assert [(goal.payload.team, goal.dated_us) for goal in goals] == [("home", (kick_s - 70) * 1_000_000)] * shown
    assert fold(Goal(MatchSheet()), events) == [], "without the periods it is the first one"


def test_officials_who_give_the_goal_make_the_kick_off_explained():
    decided = EventPayload("scored", "home", "home_9", detail={"at_us": 100_000_000})
    official = make_event("official.goal", 155_000_000, "o", decided)
    events = [turn(0, "home"), kick_off(5, "home"), stop(100), kick_off(150, "away"), official]
    (goal,) = fold(Goal(SHEET), [*events, hit(171.0, "away_5", 0.0, 0.0)])
    assert (goal.payload.player, goal.payload.detail["official"]) == ("home_9", True)
