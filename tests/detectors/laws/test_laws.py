"""Level 9 beyond the restarts: penalty kick, periods and clock, offences, who plays; and effective time (10.13)."""

from __future__ import annotations

import msgspec
import pytest

from detectors.arrivals import end_arrival
from detectors.control.effective import EffectiveTime
from detectors.emission import make_event
from detectors.laws.clock import MatchClock
from detectors.laws.numbers import PlayersOnPitch
from detectors.laws.offences import KeeperHolding, OffsideOffence
from football.match_sheet import MatchSheet, Period, Player, Quality
from football.payloads import EventPayload, Tick
from middleware.events import Event
from tests.detectors.contract import check_fold
from tests.detectors.scene import body, cast, concluded, fold, frame_event, path, rows_of, scene, stay
from tests.detectors.scene import decision as raw_decision
from tests.detectors.signals.test_official import officials

SHEET = MatchSheet(attacks_positive_x="home")


def decision(arrival_s: float, kind: str, number: int = 1, **more: object) -> Event:
    """A decision as an event of level 1."""
    (event,) = officials(raw_decision(arrival_s, kind, number, **more))
    return event


def event_of(at_s: float, kind: str, variant: str = "", team: str = "", player: str = "", **detail: object) -> Event:
    payload = EventPayload(variant, team, player, 0.0, 0.0, detail=detail)  # type: ignore[arg-type]
    return make_event(kind, round(at_s * 1e6), f"{kind}:{at_s}:{player}", payload)


def dead(at_s: float, variant: str = "stop") -> Event:
    return event_of(at_s, "play.dead", variant, since_us=round(at_s * 1e6), line="")


def live(
    at_s: float, after: str = "stop", x_m: float = 0.0, y_m: float = 0.0, *, kick_off: bool = False, team: str = "home"
) -> Event:
    detail = {"kick_us": round(at_s * 1e6), "fallback": False, "kick_off_shape": kick_off, "penalty_shape": False}
    detail |= {"shoot_out": False, "dropped": False}
    detail |= {"taker_y_m": None, "attacks_x": "home", "line": ""}
    payload = EventPayload(after, team, f"{team}_9", x_m, y_m, detail=detail)  # type: ignore[arg-type]
    return make_event("play.live", round(at_s * 1e6), f"ball:{at_s}", payload)


def tick(at_s: float) -> Event:
    return Event("clock.tick", round(at_s * 1e6), "clock", round(at_s * 5), Tick(()))


def in_order(*events: Event) -> list[Event]:
    return sorted(events, key=lambda e: e.ts_us)


# -- 9.6


def penalty(rest_s: float = 5.0, off_m: float = 0.0, **moved: tuple[float, float]):
    """A ball that lies on the right penalty mark, or is tracked beside it, and is then kicked at the goal."""
    mark = (41.5 + off_m, 0.0, 0.1)
    way = [*path((20.0, 0.0, 0.1), mark, 4.0), *stay(mark, rest_s), *path(mark, (53.5, 2.0, 0.8), 0.6)]
    others = {f"away_{n}": (30.0, -20.0 + 4 * n) for n in range(2, 12)} | {"away_1": (52.3, 0.0), "home_9": (41.0, 0.0)}
    return concluded(scene(way, cast(**{**others, **moved})), SHEET, "restart.")


def test_a_kick_from_the_mark_with_an_empty_area_is_a_penalty_kick():
    assert rows_of(penalty()) == [("restart.penalty", "", "home")]
    assert rows_of(penalty(away_4=(42.0, 6.0))) == [("restart.penalty", "", "home")]
    assert rows_of(penalty(off_m=1.3)) == [("restart.penalty", "", "home")]


def test_a_kick_from_the_mark_through_a_crowd_is_a_free_kick():
    """StreamTeam takes any free kick inside a penalty area for a penalty or a goal kick."""
    defenders = {f"away_{n}": (46.0, -6.0 + 2 * n) for n in range(2, 7)}
    assert [kind for kind, _, _ in rows_of(penalty(**defenders))] == ["restart.free_kick"]


def test_a_defenders_kick_from_the_mark_is_none():
    found = penalty(14.0, away_5=(41.4, 0.0), home_9=(20.0, 0.0))
    assert [kind for kind, _, _ in rows_of(found)] == ["restart.free_kick"]


# -- 9.8


def teams(at_s: float, home_left: bool) -> Event:
    side = -1.0 if home_left else 1.0
    players = [body(f"home_{n}", side * 20.0, n) for n in range(11)]
    players += [body(f"away_{n}", -side * 20.0, n) for n in range(10)]
    return frame_event(at_s, (0, 0, 0.1), players)


def match(*more: Event) -> list[Event]:
    """A first half of 46 minutes with a goal, a pause, and a second half with ends changed."""
    events = [
        teams(1.0, True),
        live(2.0, "start", kick_off=True),
        dead(600.0, "goal"),
        live(640.0, "goal", kick_off=True),
    ]
    events += [teams(2700.0, True), dead(2762.0), teams(3600.0, False), live(3662.0, kick_off=True)]
    return in_order(*events, *more)


def test_periods_begin_with_kick_offs_and_changed_ends_and_goals_begin_none():
    found = fold(MatchClock(SHEET), match())
    assert [(e.kind, e.payload.variant, e.ts_us // 1_000_000) for e in found] == [
        ("period.start", "1", 2),
        ("period.end", "1", 3662),
        ("period.start", "2", 3662),
    ]
    assert found[1].payload.detail["since_us"] == 2_762_000_000


def test_periods_that_the_source_knows_begin_without_a_kick_off_and_no_kick_off_before_them_begins_one():
    """A broadcast that shows no kick-off of a half, but the one after a goal; its second half is 15 minutes later."""
    sheet = msgspec.structs.replace(SHEET, periods=(Period(1, 0, "home"), Period(2, 3_600_000_000, "away")))
    events = [teams(11.0, True), dead(990.0), teams(1_060.0, True), live(1_062.0, kick_off=True)]
    events += [teams(2_750.0, True), teams(3_603.0, False), teams(3_604.0, False)]
    found = fold(MatchClock(sheet), events)
    assert [(e.kind, e.payload.variant, e.ts_us // 1_000_000, e.payload.detail["since_us"]) for e in found] == [
        ("period.start", "1", 11, 0),
        ("period.end", "1", 3_603, 2_750_000_000),
        ("period.start", "2", 3_603, 3_600_000_000),
    ]
    assert [e.payload.detail["left"] for e in found if e.kind == "period.start"] == ["home", "away"]
    third = fold(MatchClock(sheet), [*events, dead(6_500.0), teams(6_600.0, True), live(6_700.0, kick_off=True)])
    assert [e.payload.variant for e in third if e.kind == "period.start"] == ["1", "2", "3"], "the source knows of two"


def test_the_end_of_a_half_is_told_with_doubt_and_taken_back_if_play_goes_on():
    ticks = [tick(s) for s in range(2700, 2900)]
    found = [e for e in fold(MatchClock(SHEET), match(*ticks)) if e.kind == "period.end"]
    assert [(e.ts_us // 1_000_000, e.payload.confidence) for e in found] == [(2822, 0.6)]
    clock = MatchClock(SHEET)
    events = in_order(*match()[:-2], *ticks, live(2850.0))
    emitted, broken = check_fold(clock, events)
    assert broken == []
    first, second = (e for e in emitted if e.kind == "period.end")
    assert (second.id, second.annuls, second.dated_us) == (first.id, first.id, first.ts_us)


def test_a_ball_that_is_kicked_about_after_half_time_does_not_take_the_end_back():
    ticks = [tick(s) for s in (2830.0, 3640.0)]
    found = fold(MatchClock(SHEET), match(*ticks, live(3630.0, x_m=20.0), dead(3633.0)))
    periods = [(e.kind, e.payload.variant, bool(e.annuls)) for e in found if e.kind != "clock.minute"]
    assert periods == [("period.start", "1", False), ("period.end", "1", False), ("period.start", "2", False)]


@pytest.mark.parametrize(
    ("x_m", "dead_s", "at_s", "begins"),
    [(0.5, 2762.0, 3640.0, True), (20.0, 2762.0, 3640.0, False), (0.5, 3600.0, 3640.0, False)],
    ids=["from the centre spot", "from elsewhere", "no pause"],
)
def test_a_picture_of_a_kick_off_that_does_not_show_all_players_begins_the_second_half(x_m, dead_s, at_s, begins):
    half = [teams(1.0, True), live(2.0, "start", kick_off=True), teams(2700.0, True), dead(dead_s)]
    found = fold(MatchClock(SHEET), [*half, teams(3605.0, False), live(at_s, x_m=x_m)])
    started = [event.payload.variant for event in found if event.kind == "period.start"]
    assert started == (["1", "2"] if begins else ["1"])


def test_extra_time_may_keep_the_ends_but_a_long_review_begins_no_period():
    def begun(at_s: float) -> list[str]:
        found = fold(MatchClock(SHEET), match(dead(at_s - 130.0), live(at_s, kick_off=True)))
        return [e.payload.variant for e in found if e.kind == "period.start"]

    assert begun(5000.0) == ["1", "2"], "a goal that was not seen, and its review"
    assert begun(6600.0) == ["1", "2", "3"]


def test_a_period_whose_time_is_over_ends_with_the_stream():
    def ends(end_s: float, *more: Event) -> list[tuple[str, int, float]]:
        events = in_order(*match(*more), end_arrival(round(end_s * 1e6)).event)
        found = [e for e in fold(MatchClock(SHEET), events) if e.kind == "period.end"]
        return [(e.payload.variant, e.payload.detail["since_us"] // 1_000_000, e.payload.confidence) for e in found][1:]

    assert ends(6300.0) == []
    assert ends(6400.0) == [("2", 6400, 1.0)]
    assert ends(6400.0, dead(6390.0)) == [("2", 6390, 1.0)]
    assert ends(6500.0, dead(6390.0), tick(6460.0)) == [("2", 6390, 0.6)]


def test_minutes_run_from_the_kick_off_on_and_the_second_half_begins_with_the_46th():
    ticks = [tick(s) for s in (61.0, 62.0, 62.5, 123.0, 3700.0, 3723.0)]
    found = [e for e in fold(MatchClock(SHEET), match(*ticks)) if e.kind == "clock.minute"]
    assert [e.payload.detail for e in found][:2] == [
        {"minute": 1, "shown": "1", "period": 1},
        {"minute": 2, "shown": "2", "period": 1},
    ]
    assert found[-1].payload.detail == {"minute": 46, "shown": "46", "period": 2}


def test_added_time_is_shown_as_such():
    def minutes(*at_s: float) -> list[str]:
        found = fold(MatchClock(SHEET), match(*[tick(s) for s in at_s]))
        return [e.payload.detail["shown"] for e in found if e.kind == "clock.minute"]

    assert minutes(2701.0, 2702.5, 2762.5) == ["44", "45", "45+1"]
    assert minutes(6362.5, 6500.0) == ["90", "90+2"]


def test_officials_say_periods_too_and_are_not_contradicted():
    decisions = [decision(2770.0, "period_end", 1, variant="1"), decision(3661.0, "period_start", 2, variant="2")]
    found = fold(MatchClock(SHEET), match(*decisions))
    assert [(e.kind, e.payload.variant, e.ts_us // 1_000_000) for e in found] == [
        ("period.start", "1", 2),
        ("period.end", "1", 2770),
        ("period.start", "2", 3661),
    ]


# -- 9.9


def position(at_s: float, player: str = "home_9", *, close: bool = False) -> Event:
    return event_of(at_s, "offside.position", "", "home", player, margin_m=0.8, close=close, kick_us=round(at_s * 1e6))


def gain(at_s: float, player: str) -> Event:
    return event_of(at_s, "possession.gain", "hit", player[:4], player)


def offside(*events: Event) -> list[tuple[str, str]]:
    return [(e.payload.variant, e.payload.player) for e in fold(OffsideOffence(SHEET), in_order(*events))]


def test_who_was_offside_and_has_the_ball_next_offends():
    assert offside(position(1.0), gain(2.0, "home_9")) == [("play", "home_9")]
    assert offside(position(1.0), position(1.0, "home_7"), gain(2.0, "home_7")) == [("play", "home_7")]
    assert offside(position(1.0), gain(2.0, "home_8"), gain(3.0, "home_9")) == []
    assert offside(position(1.0), gain(2.0, "away_4"), gain(3.0, "home_9")) == []
    assert offside(position(1.0), gain(9.0, "home_9")) == []
    assert offside(gain(2.0, "home_9")) == []


def test_a_rebound_gives_an_advantage():
    parry = event_of(1.8, "gk.parry", "", "away", "away_1")
    assert offside(position(1.0), parry, gain(1.9, "away_1"), gain(2.5, "home_9")) == [("advantage", "home_9")]
    assert offside(position(1.0), parry, gain(2.5, "home_8"), gain(3.0, "home_9")) == []


def test_a_deflection_or_block_of_an_outfield_opponent_gives_an_advantage_and_his_deliberate_play_ends_it():
    turned = event_of(2.0, "deflection", "", "away", "away_4")
    assert offside(position(1.0), turned, gain(2.0, "away_4"), gain(2.6, "home_9")) == [("advantage", "home_9")]
    assert offside(position(1.0), gain(1.2, "away_4"), gain(2.0, "home_9")) == [("advantage", "home_9")]
    assert offside(position(1.0), gain(2.0, "away_4"), gain(2.6, "home_9")) == []
    by_mate = event_of(2.0, "deflection", "", "home", "home_8")
    assert offside(position(1.0), by_mate, gain(2.5, "home_9")) == [("play", "home_9")]


def test_interfering_needs_the_opponents_free_kick_where_he_was():
    stop, kick = dead(3.0), live(20.0, "stop", 5.0, 0.0, team="away")
    found = fold(OffsideOffence(SHEET), in_order(position(1.0), stop, kick))
    assert [(e.payload.variant, e.payload.confidence) for e in found] == [("interfere", 0.6)]
    then = event_of(20.0, "offside.position", "", "away", "away_9", margin_m=1.0, close=False, kick_us=20_000_000)
    assert offside(position(1.0), stop, then, kick, gain(21.0, "away_9")) == [
        ("interfere", "home_9"),
        ("play", "away_9"),
    ], "somebody was offside at the free kick, too"
    assert offside(position(1.0), stop) == []
    assert offside(position(1.0), stop, live(20.0, "stop", 5.0, 0.0)) == [], "his own team has it"
    assert offside(position(1.0), stop, live(20.0, "stop", -40.0, 10.0, team="away")) == [], "somewhere else"
    assert offside(position(1.0), dead(3.0, "touch"), live(20.0, "touch", 5.0, 33.8, team="away")) == []
    assert offside(position(1.0), dead(6.0), kick) == [], "long after the kick"


def stands(*events: Event) -> bool:
    """True if an offence was published and not withdrawn."""
    emitted, broken = check_fold(OffsideOffence(SHEET), in_order(position(1.0), gain(2.0, "home_9"), *events))
    assert broken == []
    assert [e.kind for e in emitted[:1]] == ["offside.offence"]
    assert [(e.annuls, e.dated_us) for e in emitted[1:]] in ([], [(emitted[0].id, emitted[0].ts_us)])
    return len(emitted) == 1


def test_an_offence_stands_if_the_opponents_get_a_free_kick():
    ticks = [tick(s) for s in range(2, 60)]
    assert stands(*ticks, dead(4.0), live(20.0, "stop", 5.0, 0.0, team="away"))
    assert stands(*ticks, dead(4.0)), "nothing else is known yet"
    offside_then = event_of(
        20.0, "offside.position", "", "away", "away_9", margin_m=1.0, close=False, kick_us=20_000_000
    )
    known = live(20.4, "stop", 5.0, 0.0, team="away")
    assert stands(*ticks, dead(4.0), offside_then, tick(20.2), known), "somebody was offside at the free kick, too"


@pytest.mark.parametrize(
    "what_follows",
    [
        (),
        (dead(14.0), live(20.0, "stop", 5.0, 0.0, team="away")),
        (dead(4.0, "goal"), live(40.0, "goal", kick_off=True, team="away")),
        (dead(4.0, "touch"), live(9.0, "touch", 5.0, 33.8, team="away")),
        (dead(4.0), live(20.0, "stop", 5.0, 0.0)),
    ],
    ids=["play runs on", "stopped for something later", "a goal that counts", "a throw-in", "a free kick for his team"],
)
def test_an_offence_that_play_runs_on_from_is_withdrawn(what_follows: tuple[Event, ...]):
    assert not stands(*[tick(s) for s in range(2, 60)], *what_follows)


@pytest.mark.parametrize(
    ("after", "place"), [("touch", (10.0, 33.5)), ("goal line", (52.0, 33.5)), ("goal line", (-50.0, 0.0))]
)
def test_nobody_is_offside_from_throw_in_corner_and_goal_kick(after: str, place: tuple[float, float]):
    restart = live(1.0, after, *place)
    assert offside(position(1.0), restart, gain(2.0, "home_9")) == []
    assert offside(restart, position(1.2), gain(2.0, "home_9")) == []
    assert offside(restart, gain(2.0, "home_6"), position(4.0), gain(5.0, "home_9")) == [("play", "home_9")]


def test_from_a_free_kick_he_is():
    assert offside(position(1.0), live(1.0, "stop", 20.0, 10.0), gain(2.0, "home_9")) == [("play", "home_9")]


# -- 9.11


def held(*events: Event) -> list[tuple[str, int]]:
    ticks = [tick(k / 5) for k in range(1, 75)]
    catch = event_of(1.0, "gk.catch", "", "home", "home_1")
    return [(e.kind, e.ts_us) for e in fold(KeeperHolding(), in_order(catch, *ticks, *events))]


def test_the_referee_counts_from_three_seconds_on_and_a_keeper_offends_after_eight():
    assert held() == [("gk.hold_warn", 4_000_000), ("gk.hold_offence", 9_000_000)]


def height(at_s: float, band: str) -> Event:
    return event_of(at_s, "ball.height", band)


def test_a_ball_at_his_feet_is_not_held_and_a_bounced_one_is():
    assert held(height(2.0, "ground")) == []
    assert held(height(5.0, "ground")) == [("gk.hold_warn", 4_000_000)]
    assert len(held(height(5.0, "ground"), height(5.3, "low"))) == 2


@pytest.mark.parametrize("kind", ["kick.released", "pz.leave", "gk.drop", "play.dead"])
def test_what_ends_the_hold(kind: str):
    assert held(event_of(7.0, kind, "", "home", "home_1")) == [("gk.hold_warn", 4_000_000)]


def test_a_keeper_who_handles_the_ball_still_holds_it_and_another_who_hits_it_ends_that():
    assert len(held(event_of(7.0, "hit", "", "home", "home_1"))) == 2
    assert len(held(event_of(7.0, "hit", "", "away", "away_9"))) == 1


def test_others_who_leave_him_and_a_dead_ball_are_no_hold():
    assert len(held(event_of(3.0, "pz.leave", "", "away", "away_9"))) == 2
    assert held(dead(0.5)) == []


# -- 9.12

SQUADS = MatchSheet(
    players=tuple(Player(f"{t}_{n}", t, starts=n < 12) for t in ("home", "away") for n in range(1, 15)),  # type: ignore[arg-type]
)


def looks(
    begin_s: int, end_s: int, off: dict[str, tuple[float, float] | None] | None = None, size: int = 11
) -> list[Event]:
    """Frames a second apart: eleven of home, ten of away on the pitch; benches outside; ``off`` elsewhere or lost."""
    places: dict[str, tuple[float, float] | None] = {f"home_{n}": (-10.0, 3.0 * n) for n in range(1, size + 1)}
    places |= {f"away_{n}": (10.0, 3.0 * n) for n in range(1, 11)}
    places |= {f"home_{n}": (-5.0, 38.0) for n in range(12, 15)} | {"away_12": (5.0, 38.0)} | (off or {})
    players = [body(name, *place) for name, place in places.items() if place]
    on, off_pitch = ([b for b in players if (abs(b.y_m) < 35.0) == inside] for inside in (True, False))
    return [frame_event(float(s), (0, 0, 0.1), on, others=off_pitch) for s in range(begin_s, end_s)]


def numbers(*events: Event) -> list[Event]:
    return fold(PlayersOnPitch(SQUADS), in_order(live(0.0), *events))


def test_a_stream_may_begin_in_play_and_who_warms_up_before_the_match_does_not_play():
    changed = {"home_7": (-5.0, 38.0), "home_12": (0.0, 0.0)}
    assert len(fold(PlayersOnPitch(SQUADS), [*looks(1, 30), *looks(30, 40, changed)])) == 2
    warming = {f"home_{n}": (-20.0, 2.0 * n) for n in range(12, 15)}
    assert fold(PlayersOnPitch(SQUADS), in_order(*looks(1, 30, warming), live(30.0, "start"), *looks(31, 200))) == []


def test_an_uneven_match_without_changes_says_nothing():
    assert numbers(*looks(1, 200)) == []


def test_a_substitution_is_told_when_the_new_one_stays():
    changed = {"home_7": (-5.0, 38.0), "home_12": (0.0, 0.0)}
    found = numbers(*looks(1, 30), dead(30.0), *looks(31, 60, changed), live(60.0), *looks(61, 90, changed))
    assert [(e.kind, e.payload.player, e.payload.detail["other"], e.ts_us) for e in found] == [
        ("sub.out", "home_7", "home_12", 63_000_000),
        ("sub.in", "home_12", "home_7", 63_000_000),
    ]


def test_the_tag_that_was_taken_off_is_a_substitution_too():
    """A tag may end at the line; who is lost on the pitch, with nobody coming for him, has not gone."""
    walks, off = {"home_7": (-5.0, 36.0)}, {"home_7": None, "home_12": (0.0, 0.0)}
    found = numbers(*looks(1, 30), *looks(30, 33, walks), *looks(33, 60, off))
    assert [e.kind for e in found] == ["sub.out", "sub.in"]
    assert [e.payload.player for e in numbers(*looks(1, 30), *looks(30, 60, off))] == ["home_7", "home_12"]
    assert numbers(*looks(1, 30), *looks(30, 200, {"home_7": None})) == []


def test_who_walks_off_in_dead_play_and_is_no_more_seen_when_it_goes_on_is_off():
    walks, off = {"home_7": (-5.0, 36.0)}, {"home_7": None, "home_12": (0.0, 0.0)}
    events = [*looks(1, 30), dead(29.5), *looks(30, 33, walks), *looks(33, 40, off), live(40.0), *looks(41, 60, off)]
    found = numbers(*events)
    assert [(e.kind, e.payload.detail["since_us"]) for e in found] == [("sub.out", 30_000_000), ("sub.in", 33_000_000)]


def test_at_half_time_all_go_and_nobody_is_changed():
    outside = {f"{t}_{n}": (0.0, 40.0) for t in ("home", "away") for n in range(1, 12)}
    assert (
        numbers(*looks(1, 30), dead(30.0), *looks(31, 900, outside), *looks(900, 910), live(910.0), *looks(911, 990))
        == []
    )
    assert numbers(*looks(1, 30), *looks(30, 200, outside), *looks(200, 300)) == [], "a ball that lies there looks live"


def test_who_does_not_come_back_from_half_time_with_his_team_is_changed_then():
    nobody = {f"{t}_{n}": None for t in ("home", "away") for n in range(1, 12)}
    events = [*looks(1, 30), dead(30.0), *looks(31, 900, nobody), *looks(900, 910, {"home_7": None}), live(910.0)]
    found = numbers(*events, *looks(911, 930, {"home_7": None, "home_12": (0.0, 0.0)}))
    since = [(e.kind, e.payload.detail["since_us"]) for e in found]
    assert since == [("sub.out", 899_000_000), ("sub.in", 911_000_000)]


def test_a_player_off_for_a_minute_may_be_sent_off_and_is_not_if_he_comes_back():
    off = {"away_5": (5.0, 40.0)}
    found = numbers(*looks(1, 30), *looks(30, 100, off))
    assert [(e.kind, e.payload.player, e.ts_us) for e in found] == [("sendoff.suspected", "away_5", 89_000_000)]
    events = in_order(live(0.0), *looks(1, 30), *looks(30, 100, off), *looks(100, 110))
    emitted, broken = check_fold(PlayersOnPitch(SQUADS), events)
    assert broken == []
    assert [e.annuls for e in emitted] == ["", emitted[0].id]


def test_who_is_lost_for_minutes_while_all_others_are_tracked_may_be_sent_off():
    """Cameras do not follow him off; a tag that is lost has failed."""
    lost = {"away_5": None, "home_3": None}
    found = numbers(*looks(1, 30), *looks(30, 220, lost))
    assert [(e.kind, e.payload.player, e.ts_us) for e in found] == [
        ("sendoff.suspected", "away_5", 209_000_000),
        ("sendoff.suspected", "home_3", 209_000_000),
    ]
    assert numbers(*looks(1, 30), *looks(30, 300, {"away_5": None, "away_6": None})) == [], "cameras do not see them"
    unseen = [*looks(30, 250, {"away_5": None, "home_3": None, "home_4": None}), *looks(250, 440, lost)]
    assert numbers(*looks(1, 30), *unseen) == [], "mostly they do not see others, either"
    radio = msgspec.structs.replace(SQUADS, quality=Quality(kind="rtls"))
    assert fold(PlayersOnPitch(radio), in_order(live(0.0), *looks(1, 30), *looks(30, 300, lost))) == []


def test_who_was_lost_for_minutes_is_not_whom_a_substitute_comes_for_if_another_one_goes():
    lost, changed = {"home_3": None}, {"home_3": None, "home_7": None, "home_12": (0.0, 0.0)}
    found = numbers(*looks(1, 30), *looks(30, 220, lost), *looks(220, 240, changed))
    assert [(e.kind, e.payload.player) for e in found] == [
        ("sendoff.suspected", "home_3"),
        ("sub.out", "home_7"),
        ("sub.in", "home_12"),
    ]
    found = numbers(*looks(1, 30), *looks(30, 220, lost), *looks(220, 240, lost | {"home_12": (0.0, 0.0)}))
    assert [e.payload.player for e in found if e.kind.startswith("sub.")] == ["home_3", "home_12"], "he was hurt"
    assert [e.annuls for e in found if e.annuls] == [found[0].id]


def test_nobody_is_sent_off_while_a_mate_plays_who_was_taken_for_changed():
    """A camera loses one player for a moment as a substitute comes for another one."""
    both = {"home_3": None, "home_7": None, "home_12": (0.0, 0.0)}
    events = [
        *looks(30, 32, {"home_3": None}),
        *looks(32, 40, both),
        *looks(40, 300, {"home_7": None} | {"home_12": (0.0, 0.0)}),
    ]
    found = numbers(*looks(1, 30), *events)
    assert [(e.kind, e.payload.player) for e in found] == [("sub.out", "home_3"), ("sub.in", "home_12")]


def test_time_off_counts_in_live_play_only():
    off = {"away_5": (5.0, 40.0)}
    assert numbers(*looks(1, 30), *looks(30, 60, off), dead(60.0), *looks(61, 300, off)) == []


def test_officials_are_believed_at_once_and_not_told_again():
    sub = decision(30.0, "substitution", 1, team="home", player="home_12", other="home_7")
    changed = {"home_7": (-5.0, 38.0), "home_12": (0.0, 0.0)}
    found = numbers(*looks(1, 30), sub, *looks(31, 90, changed))
    assert [(e.kind, e.ts_us) for e in found] == [("sub.out", 30_000_000), ("sub.in", 30_000_000)]
    late = decision(80.0, "substitution", 1, team="home", player="home_12", other="home_7")
    assert len(numbers(*looks(1, 30), *looks(31, 80, changed), late, *looks(81, 90, changed))) == 2
    red = decision(30.5, "card", 2, team="away", player="away_5", variant="red")
    found = numbers(*looks(1, 30), red, *looks(31, 120, {"away_5": (5.0, 40.0)}))
    assert [(e.kind, e.payload.player, e.payload.confidence) for e in found] == [("sendoff.suspected", "away_5", 1.0)]
    assert numbers(*looks(1, 30), decision(30.5, "card", 2, team="away", player="away_5", variant="yellow")) == []


# -- 10.13


def restart(at_s: float, kind: str) -> Event:
    return event_of(at_s, f"restart.{kind}", "", "home", "home_6")


def times(*events: Event) -> list[tuple[str, str, float, float]]:
    found = fold(EffectiveTime(), in_order(live(0.0, kick_off=True), restart(0.0, "kick_off"), *events))
    return [(e.kind, e.payload.variant, e.payload.detail["seconds"], e.payload.detail["total_s"]) for e in found]


def test_time_is_live_until_the_stop_and_lost_until_the_restart():
    assert times(
        dead(10.0, "touch"), restart(16.0, "throw_in"), live(16.5), dead(20.0), restart(31.0, "free_kick")
    ) == [
        ("time.live", "", 10.0, 10.0),
        ("time.lost", "throw-in", 6.0, 6.0),
        ("time.live", "", 4.0, 14.0),
        ("time.lost", "free kick", 11.0, 17.0),
    ]


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (decision(12.0, "stop", variant="injury"), "injury"),
        (decision(12.0, "var", variant="check"), "VAR"),
        (event_of(12.0, "sub.in", "", "home", "home_12"), "sub"),
        (decision(12.0, "substitution", team="home", player="home_12", other="home_7"), "sub"),
        (decision(12.0, "stop", variant="foul"), "free kick"),
    ],
)
def test_what_was_told_meanwhile_is_what_time_was_lost_for(event: Event, cause: str):
    assert times(dead(10.0), event, restart(40.0, "free_kick"))[-1][:3] == ("time.lost", cause, 30.0)


def test_a_goal_is_a_goal_and_half_time_is_not_lost():
    check = decision(12.0, "var", variant="check")
    assert times(dead(10.0, "goal"), check, restart(50.0, "kick_off"))[-1][1] == "goal"
    end = event_of(90.0, "period.end", "1", since_us=10_000_000)
    assert times(dead(10.0), end, restart(900.0, "kick_off"))[-1][0] == "time.live"


def test_time_is_lost_once_whether_a_restart_comes_before_play_is_live_with_it_or_never():
    kick = restart(16.0, "throw_in")
    before = fold(EffectiveTime(), [live(0.0), dead(10.0, "touch"), kick, live(16.5), dead(20.0)])
    with_it = fold(EffectiveTime(), [live(0.0), dead(10.0, "touch"), live(16.0), kick, dead(20.0)])
    assert [e.payload for e in before] == [e.payload for e in with_it]
    assert [e.kind for e in with_it] == ["time.live", "time.lost", "time.live"]
    went_on = fold(EffectiveTime(), [live(0.0), dead(10.0), live(16.0), dead(20.0), restart(22.0, "free_kick")])
    assert [(e.kind, e.payload.detail["seconds"]) for e in went_on] == [
        ("time.live", 10.0),
        ("time.live", 4.0),
        ("time.lost", 2.0),
    ]


def test_a_dropped_ball_follows_an_injury():
    assert times(dead(10.0), restart(40.0, "dropped"))[-1][:3] == ("time.lost", "injury", 30.0)


def test_before_the_first_kick_off_no_time_is_lost():
    found = fold(EffectiveTime(), in_order(dead(0.1), restart(4.2, "kick_off"), live(4.2), dead(9.2)))
    assert [(e.kind, e.payload.detail["seconds"]) for e in found] == [("time.live", 5.0)]
