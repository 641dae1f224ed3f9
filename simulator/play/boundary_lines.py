"""Lines and goals (IFAB Laws 9, 10, 15, 16, 17): when the ball is out or in, and what then follows."""

from __future__ import annotations

import math

import numpy as np

from simulator.physics.ball import BallTick
from simulator.play import flights, stoppages
from simulator.play.match_state import BAR_Z_M, POST_Y_M, State
from simulator.play.truth_writer import who
from simulator.records import REFEREES, STEP_S, Vector

_RADIUS_M = 0.11


def lines(state: State, tick: BallTick, begin_s: float) -> None:
    """Laws 9 and 10: the whole ball over a line of the pitch ends play, the moment between two steps of the ball."""
    end = tick.places[-1]
    limit_x, limit_y = state.half_x + _RADIUS_M, state.half_y + _RADIUS_M
    if abs(end[0]) <= limit_x and abs(end[1]) <= limit_y:
        state.is_entering = False
        return
    if state.is_entering:
        # A ball that is thrown in comes from outside (Law 15).
        return
    places = tick.places
    beyond = (np.abs(places[:, 0]) > limit_x) | (np.abs(places[:, 1]) > limit_y)
    k = int(np.argmax(beyond))
    over_x = abs(places[k, 0]) > limit_x
    axis, limit = (0, limit_x) if over_x else (1, limit_y)
    before = places[k - 1] if k else places[k]
    step = abs(places[k, axis]) - abs(before[axis])
    share = 1.0 if step <= 0 else (limit - abs(before[axis])) / step
    at = before + share * (places[k] - before)
    t_s = begin_s + (max(k - 1, 0) + share) * STEP_S
    place: Vector = (float(at[0]), float(at[1]), float(at[2]))
    # The whole ball is over: whichever side of post and bar its centre is on now it has passed on (Law 10).
    if over_x and abs(place[1]) < POST_Y_M and place[2] < BAR_Z_M:
        _goal(state, t_s, place)
    elif over_x:
        _over_goal_line(state, t_s, place)
    else:
        _over_touch_line(state, t_s, place)


def _over_touch_line(state: State, t_s: float, place: Vector) -> None:
    line = "left touch" if place[1] > 0 else "right touch"
    out = state.notes.note("out", t_s, state.last, place, line)
    flights.stopped(state, "out", t_s, out, place)
    dead = stoppages.end_play(state, t_s, place, "touch", out)
    spot = (float(np.clip(place[0], 0.5 - state.half_x, state.half_x - 0.5)), math.copysign(state.half_y, place[1]))
    stoppages.award_restart(state, "throw_in", 1 - int(state.team[state.last]), spot, dead, t_s)


def _over_goal_line(state: State, t_s: float, place: Vector) -> None:
    end = math.copysign(1.0, place[0])
    line = "right goal line" if end > 0 else "left goal line"
    attacking = 0 if state.sign[0] == end else 1
    out = state.notes.note("out", t_s, state.last, place, line)
    shooter = state.flight.team if state.flight is not None else -1
    variant = ""
    if shooter == attacking:
        over = abs(place[1]) < POST_Y_M
        # Left and right are the shooter's, who looks at the goal.
        variant = "over" if over else "wide left" if place[1] * end > 0 else "wide right"
    flights.stopped(state, "out", t_s, out, place, variant)
    dead = stoppages.end_play(state, t_s, place, "goal line", out)
    side = math.copysign(1.0, place[1])
    if state.team[state.last] == attacking:
        spot = (end * (state.half_x - 5.0), side * float(state.rng.uniform(3.0, 6.5)))
        stoppages.award_restart(state, "goal_kick", 1 - attacking, spot, dead, t_s)
    else:
        stoppages.award_restart(state, "corner", attacking, _corner(state, end, side), dead, t_s)


def _goal(state: State, t_s: float, place: Vector) -> None:
    """Law 10; unless the referee is about to whistle against the scorers, or the restart could not score directly."""
    end = math.copysign(1.0, place[0])
    team = 0 if state.sign[0] == end else 1
    notes = state.notes
    if state.indirect and state.taker == state.last:
        _no_goal_directly(state, t_s, place, team)
        return
    candidate = notes.note("goal.candidate", t_s, state.last, place, "right" if end > 0 else "left")
    notes.rows[candidate].team = ("home", "away")[team]
    flight = state.flight
    shot = flight if flight is not None and flight.kind == "shot" and flight.team == team and flight.on_target else None
    scorer = shot.kicker if shot is not None else state.last
    own = int(state.team[scorer]) != team
    flights.verdict(state, goal=True)
    if shot is not None:
        attempt = notes.rows[shot.row]
        attempt.detail["outcome"], attempt.open = "goal", False
        state.flight = None
    else:
        flights.stopped(state, "lost", t_s, candidate, place)
    stands = state.whistle is None or state.whistle.team == team
    state.score[team] += stands
    kind = "goal.own" if own else "goal.scored"
    score = {"home": state.score[0], "away": state.score[1]}
    scored = notes.note(kind, t_s, scorer, place, "", (candidate, shot.row if shot is not None else -1), **score)
    notes.rows[scored].team = ("home", "away")[team]
    if not stands:
        told = notes.note("goal.disallowed", t_s + 0.8, REFEREES[0], place, "", (scored, state.whistle.cause))
        notes.rows[told].team = ("home", "away")[team]
        # The whistle that was coming stops play: the ball is dead in the goal already.
        state.whistle.at_s = state.now_s
        return
    if not own and state.last_pass >= 0:
        made = notes.rows[state.last_pass]
        if t_s - made.t_s <= 10.0 and made.detail["receiver"] == who(scorer):
            notes.note("assist", t_s, made.person, made.place, "", (state.last_pass, scored))
    state.whistle = None
    dead = stoppages.end_play(state, t_s, place, "goal", scored)
    state.lost_s += stoppages.ADDED_S["goal"]
    told = notes.note("goal.confirmed", t_s + 1.2, REFEREES[0], place, "", (scored,), **score)
    notes.rows[told].team = ("home", "away")[team]
    stoppages.award_restart(state, "kick_off", 1 - team, (0.0, 0.0), dead, t_s)


def _no_goal_directly(state: State, t_s: float, place: Vector, team: int) -> None:
    """Laws 13 and 15: from a throw-in or an indirect free kick the ball went straight in: a goal kick, or a corner."""
    end = math.copysign(1.0, place[0])
    out = state.notes.note("out", t_s, state.last, place, "right goal line" if end > 0 else "left goal line")
    flights.stopped(state, "out", t_s, out, place)
    dead = stoppages.end_play(state, t_s, place, "goal line", out)
    side = math.copysign(1.0, place[1])
    if state.team[state.last] == team:
        stoppages.award_restart(state, "goal_kick", 1 - team, (end * (state.half_x - 5.0), side * 4.0), dead, t_s)
    else:
        stoppages.award_restart(state, "corner", team, _corner(state, end, side), dead, t_s)


def _corner(state: State, end: float, side: float) -> tuple[float, float]:
    return end * (state.half_x - 0.35), side * (state.half_y - 0.35)


def woodwork(state: State, tick: BallTick, begin_s: float) -> None:
    """Posts and bars that the ball in play has hit."""
    for bump in tick.bumps:
        if bump.what not in ("left post", "right post", "bar"):
            continue
        near = (bump.before[1] < 0) == (bump.place[1] < 0) if abs(bump.before[1]) > 1e-6 else True
        variant = "bar" if bump.what == "bar" else "far post" if near else "near post"
        cause = state.flight.row if state.flight is not None else -1
        t_s = begin_s + bump.t_s
        found = state.notes.note("ball.woodwork", t_s, state.last, bump.place, variant, (cause,))
        flight = state.flight
        if flight is not None and flight.kind == "shot":
            state.notes.note("shot.post", t_s, flight.kicker, bump.place, variant, (flight.row, found))
            state.notes.rows[flight.row].detail["post"] = True
        state.kicked()
