"""A restart whose ball nobody sees: who stood ready, and that everybody sets off, name kind, team and time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from detectors.play.phase import PlayPhase
from detectors.play.phase_parameters import PhaseParameters
from football.match_sheet import MatchSheet
from football.payloads import BallState, BodyState, build_frame
from middleware.events import Event
from tests.detectors.scene import Point, ball_track, body, cast, concluded, fold, path, rows_of, stay

SHEET = MatchSheet(attacks_positive_x="home")
STEP_S = 0.04
#: Players run at this speed from the restart on.
RUNS_M_S = 3.0


def filmed(seen: Sequence[Point], seconds: float, off_s: float, players: Sequence[BodyState]) -> list[Event]:
    """A ball that is lost after ``seen`` among players who stand, and all run at the centre from ``off_s`` on."""
    balls = ball_track(seen)
    events: list[Event] = list(balls)
    for i in range(round(seconds / STEP_S)):
        ran_s = max(0.0, i * STEP_S - off_s)
        bodies = tuple(sorted((_running(body, ran_s) for body in players), key=lambda body: body.object_id))
        ball = balls[i].payload if i < len(balls) else None
        assert ball is None or isinstance(ball, BallState)
        events.append(Event("frame", round(i * STEP_S * 1e6), "frame", i, build_frame(ball, bodies)))
    return events


def _running(body: BodyState, ran_s: float) -> BodyState:
    # Nobody stands perfectly still: a velocity of zero is one that is not known.
    v_m_s = (RUNS_M_S if ran_s > 0.0 else 0.2) * (1.0 if body.y_m < 0.0 else -1.0)
    y_m = body.y_m + (v_m_s * ran_s if ran_s > 0.0 else 0.0)
    return msgspec.structs.replace(body, y_m=y_m, vy_m_s=v_m_s)


def found(events: list[Event]) -> list[Event]:
    return concluded(events, SHEET, "restart.", "play.live")


OUT = [*path((0.0, 25.0), (0.0, 36.0), 1.0), *stay((0.0, 36.0), 1.0)]


def test_who_stood_outside_the_line_has_thrown_a_lost_ball_when_everybody_sets_off():
    events = found(filmed(OUT, 9.0, 7.0, cast(away_6=(1.0, 34.3), home_8=(4.0, 30.0))))
    assert sorted(rows_of(events)) == [("play.live", "touch", "away"), ("restart.throw_in", "", "away")]
    restart = next(event for event in events if event.kind == "restart.throw_in")
    assert restart.payload.player == "away_6"
    assert 6.6e6 <= restart.ts_us <= 7.1e6


def test_teams_that_come_back_from_the_touchline_after_a_break_have_not_thrown_the_ball():
    players = [msgspec.structs.replace(one, y_m=33.0) for one in cast()] + [body("away_12", 1.0, 34.3)]
    assert found(filmed(OUT, 12.0, 7.0, players)) == []


def test_who_stood_at_the_corner_has_taken_the_kick():
    out = [*path((48.0, 20.0), (53.5, 20.0), 1.0), *stay((53.5, 20.0), 1.0)]
    events = found(filmed(out, 9.0, 7.0, cast(home_7=(53.0, 35.0))))
    assert ("restart.corner", "left", "home") in rows_of(events)


def test_a_kick_off_that_nobody_sees_is_taken_from_the_line_up():
    events = found(filmed(stay((0.1, 0.1), 2.0), 6.0, 4.0, cast(home_9=(0.4, 0.0), home_10=(-1.0, 2.0))))
    assert ("restart.kick_off", "", "home") in rows_of(events)


def test_a_ball_that_is_slow_for_moments_when_it_is_seen_again_has_been_kicked_off():
    """Its position was repeated until it was dribbled some metres away."""
    here, there = (-1.0, 3.5), (-3.0, 6.0)
    dribbled = [*stay(here, 0.16), *path(here, there, 0.4), *stay(there, 0.16), *path(there, here, 0.4)] * 3
    way = [*stay((0.1, 0.1), 4.6), *dribbled]
    events = found(filmed(way, len(way) * STEP_S, 4.0, cast(home_9=(0.4, 0.0), home_10=(-1.0, 2.0))))
    (kick_off,) = [event for event in events if event.kind == "restart.kick_off"]
    assert 3.8e6 <= kick_off.ts_us <= 4.1e6


@pytest.mark.parametrize("end_m", [(0.0, 36.0), (54.0, 25.0)], ids=["over touch", "over the goal line"])
def test_a_half_that_ended_with_the_ball_out_is_followed_by_a_kick_off_that_nobody_sees(end_m: Point):
    out = [*path((end_m[0] * 0.9, 25.0), end_m, 1.0), *stay(end_m, 1.0)]
    events = found(filmed(out, 9.0, 7.0, cast(home_9=(0.4, 0.0), home_10=(-1.0, 2.0))))
    assert [row for row in rows_of(events) if row[0].startswith("restart.")] == [("restart.kick_off", "", "home")]


@pytest.mark.parametrize("off_s", [7.0, 99.0], ids=["nobody stands ready", "nobody sets off"])
def test_one_sign_alone_is_no_restart(off_s):
    players = cast(home_8=(4.0, 30.0)) if off_s < 9.0 else cast(away_6=(1.0, 34.3))
    assert found(filmed(OUT, 9.0, off_s, players)) == []


def test_a_ball_that_is_seen_where_it_lies_has_not_been_taken():
    way = [*OUT, *path((0.0, 36.0), (1.0, 34.4), 0.6), *(((1.0 + 0.001 * (i % 3)), 34.4) for i in range(170))]
    assert found(filmed(way, 9.0, 7.0, cast(away_6=(1.0, 34.3)))) == []


def test_a_ball_whose_position_is_repeated_lies_there_while_its_taker_stays():
    """Attackers start their runs before a corner kick. The ball is kicked when it is seen to leave."""
    out = [*path((48.0, 20.0), (53.5, 20.0), 1.0), *stay((53.5, 20.0), 1.0)]
    lies = (52.0, 33.0)
    way = [*out, *path((53.5, 20.0), lies, 1.0), *stay(lies, 5.0), *path(lies, (45.0, 5.0), 1.4)]
    players = cast(home_7=(52.3, 33.6))
    events = filmed(way, len(way) * STEP_S, 6.5, players)
    for at, event in enumerate(events):
        if event.kind == "frame":  # the taker stays
            bodies = [players_at for players_at in event.payload.players if players_at.object_id != "home_7"]
            taker = next(body for body in players if body.object_id == "home_7")
            frame = build_frame(event.payload.ball, tuple(sorted((*bodies, taker), key=lambda body: body.object_id)))
            events[at] = msgspec.structs.replace(event, payload=frame)
    (corner,) = [event for event in found(events) if event.kind == "restart.corner"]
    assert 7.8e6 <= corner.ts_us <= 8.2e6


@pytest.mark.parametrize(
    ("off_s", "z_m"),
    [(5.0, 0.0), (99.0, 0.0), (5.0, 1.0)],
    ids=["everybody sets off with the kick", "nobody does", "he had it in his hands"],
)
def test_a_calm_before_a_kick_from_rest_was_a_stoppage_also_in_a_defenders_penalty_area(off_s, z_m):
    lies = (-45.0, 5.0, z_m)
    way = [*path((-40.0, 2.0, z_m), lies, 1.0), *stay(lies, 4.0), *path(lies, (-25.0, 15.0, z_m), 1.5)]
    # A mate meets the ball at the height of hands, too, before it is known that everybody has set off.
    events = filmed(way, len(way) * STEP_S, off_s, cast(home_1=(-45.4, 5.0), home_8=(-35.7, 11.8)))
    rows = rows_of(concluded(events, SHEET, "restart.", "play."))
    stopped = [("play.dead", "stop", ""), ("play.live", "stop", "home"), ("restart.free_kick", "short", "home")]
    assert sorted(rows) == (stopped if off_s < 9.0 and not z_m else [])


def test_who_has_left_a_repeated_position_has_taken_the_kick():
    lies = (20.0, -12.0)
    way = [*path((30.0, -5.0), lies, 1.0), *stay(lies, 9.0)]
    events = found(filmed(way, len(way) * STEP_S, 7.0, cast(home_7=(20.0, -12.5))))
    (kick,) = [event for event in events if event.kind == "restart.free_kick"]
    assert kick.payload.player == "home_7"
    assert 6.6e6 <= kick.ts_us <= 7.1e6


def test_a_position_that_is_repeated_for_a_minute_after_a_restart_was_none():
    """Everybody leaves at half-time, and the ball stays behind."""
    lies = (20.0, -12.0)
    way = [*path((30.0, -5.0), lies, 1.0), *stay(lies, 9.0)]
    events = filmed(way, len(way) * STEP_S, 7.0, cast(home_7=(20.0, -12.5)))
    last = next(event for event in reversed(events) if event.kind == "frame")
    later = [msgspec.structs.replace(last, ts_us=at_s * 1_000_000, seq=last.seq + at_s) for at_s in (40, 62)]
    first, live, dead = fold(PlayPhase(SHEET), [event for event in [*events, *later] if event.kind == "frame"])
    assert [first.kind, live.kind, dead.kind] == ["phase.dead", "phase.live", "phase.dead"]
    assert dead.payload.detail["since_us"] == live.ts_us


def test_a_long_calm_without_the_ball_is_a_stoppage_and_a_set_off_ends_it():
    lies = (20.0, -12.0)
    way = [*path((0.0, 0.0), lies, 2.0), *stay(lies, 0.4)]
    events = filmed(way, 9.0, 7.0, cast(home_7=(20.0, -12.5)))
    dead, live, kick = concluded(events, SHEET, "restart.", "play.")
    assert (dead.payload.variant, dead.payload.detail["sign"], dead.ts_us) == ("stop", "calm", 4_440_000)
    assert (live.kind, kick.kind, kick.payload.player) == ("play.live", "restart.free_kick", "home_7")
    assert 6.6e6 <= kick.ts_us <= 7.1e6


@pytest.mark.parametrize("off_s", [5.3, 99.0], ids=["everybody sets off with the kick", "nobody does"])
def test_after_a_ball_in_the_net_a_kick_with_which_everybody_sets_off_is_a_restart(off_s):
    """A ball that is fetched after a goal may be kicked on, but nobody runs then."""
    lies = (20.0, 12.0)
    way = [*path((45.0, 0.0), (53.5, 0.0), 0.6), *stay((53.5, 0.0), 1.0), *path((53.5, 0.0), lies, 2.5)]
    way += [*stay(lies, 1.2), *path(lies, (0.0, 0.0), 1.5)]
    events = filmed(way, len(way) * STEP_S, off_s, cast(home_7=(20.4, 12.0)))
    assert ("play.live", "goal", "home") in rows_of(found(events)) or off_s > 9.0
    assert off_s < 9.0 or found(events) == []


def test_a_goalkeeper_who_waited_with_a_lost_ball_after_a_supposed_goal_has_taken_the_goal_kick():
    lies = (49.0, 4.0)
    way = [
        *path((45.0, 0.0), (53.5, 0.0), 0.6),
        *stay((53.5, 0.0), 1.0),
        *path((53.5, 0.0), lies, 1.0),
        *stay(lies, 1.5),
    ]
    events = found(filmed(way, 11.0, 9.0, cast(away_1=(49.4, 4.0))))
    assert ("restart.goal_kick", "", "away") in rows_of(events)


@pytest.mark.parametrize(
    ("interval_us", "off_s", "lies", "kinds"),
    [
        (300_000_000, 99.0, (20.0, -12.0), ["phase.dead", "phase.live"]),
        (2_000_000, 99.0, (20.0, -12.0), ["phase.dead"]),
        (2_000_000, 10.0, (20.0, -12.0), ["phase.dead", "phase.live"]),
        (2_000_000, 99.0, (0.0, 0.0), ["phase.dead", "phase.live"]),
    ],
    ids=["a short pause", "who comes back kicks the ball about", "everybody sets off", "a kick-off"],
)
def test_after_a_pause_like_half_time_a_kick_that_is_no_kick_off_ends_it_only_if_everybody_sets_off(
    interval_us, off_s, lies, kinds
):
    way = [*path((30.0, -5.0), lies, 2.0), *stay(lies, 8.0), *path(lies, (lies[0] - 15.0, -2.0), 1.2)]
    events = filmed(way, len(way) * STEP_S, off_s, cast(home_7=(lies[0] + 0.3, lies[1])))
    phase = PlayPhase(SHEET, msgspec.structs.replace(PhaseParameters(), interval_us=interval_us))
    assert [event.kind for event in fold(phase, [event for event in events if event.kind == "frame"])] == kinds


@pytest.mark.parametrize("until_s", [4.0, 9.0], ids=["was lost before", "comes to rest outside as they set off"])
def test_a_ball_seen_outside_as_everybody_sets_off_has_not_been_kicked_from_the_corner(until_s: float):
    """At half-time all set off, and who would have taken the corner kick leaves with them."""
    goes = [*path((48.0, 20.0), (53.5, 20.0), 1.0), *stay((53.5, 20.0), 1.0)]
    begin_s = until_s - len(goes) * STEP_S
    rolls = [(57.3 + 0.002 * (i % 3), -16.0 - 0.001 * i) for i in range(round(begin_s / STEP_S))]
    way = [*goes, *rolls, *stay((56.0, -24.0), 14.0 - until_s)]
    events = found(filmed(way, len(way) * STEP_S, 9.0, cast(home_9=(52.7, 34.2))))
    assert [e.kind for e in events if e.kind.startswith("restart.")] == (["restart.corner"] if until_s < 8.0 else [])
