"""The Laws as far as play meets them: lines and goals, offside, fouls and what the referee does about them."""

from __future__ import annotations

import math

import numpy as np

from replay.sim import flights, restarts
from replay.sim.ball import BallTick
from replay.sim.notes import who
from replay.sim.state import BAR_Z_M, BOX_X_M, MARK_M, POST_Y_M, State
from replay.sim.world import STEP_S, Vector

_RADIUS_M = 0.11


def lines(state: State, tick: BallTick, begin_s: float) -> None:
    """Laws 9 and 10: the whole ball over a line of the pitch ends play, the moment between two steps of the ball."""
    end = tick.places[-1]
    limit_x, limit_y = state.half_x + _RADIUS_M, state.half_y + _RADIUS_M
    if abs(end[0]) <= limit_x and abs(end[1]) <= limit_y:
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
    if over_x and abs(place[1]) < POST_Y_M - _RADIUS_M and place[2] < BAR_Z_M - _RADIUS_M:
        _goal(state, t_s, place)
    elif over_x:
        _over_goal_line(state, t_s, place)
    else:
        _over_touch_line(state, t_s, place)


def _over_touch_line(state: State, t_s: float, place: Vector) -> None:
    line = "left touch" if place[1] > 0 else "right touch"
    out = state.notes.note("out", t_s, state.last, place, line)
    flights.stopped(state, "out", t_s, out, place)
    dead = die(state, t_s, place, "touch", out)
    spot = (float(np.clip(place[0], 0.5 - state.half_x, state.half_x - 0.5)), math.copysign(state.half_y, place[1]))
    restarts.await_restart(state, "throw_in", 1 - int(state.team[state.last]), spot, dead, t_s)


def _over_goal_line(state: State, t_s: float, place: Vector) -> None:
    end = math.copysign(1.0, place[0])
    line = "right goal line" if end > 0 else "left goal line"
    attacking = 0 if state.sign[0] == end else 1
    out = state.notes.note("out", t_s, state.last, place, line)
    shooter = state.flight.team if state.flight is not None else -1
    variant = ""
    if shooter == attacking:
        over = abs(place[1]) < POST_Y_M + _RADIUS_M
        # Left and right are the shooter's, who looks at the goal.
        variant = "over" if over else "wide left" if place[1] * end > 0 else "wide right"
    flights.stopped(state, "out", t_s, out, place, variant)
    dead = die(state, t_s, place, "goal line", out)
    side = math.copysign(1.0, place[1])
    if state.team[state.last] == attacking:
        spot = (end * (state.half_x - 5.0), side * float(state.rng.uniform(3.0, 6.5)))
        restarts.await_restart(state, "goal_kick", 1 - attacking, spot, dead, t_s)
    else:
        spot = (end * (state.half_x - 0.35), side * (state.half_y - 0.35))
        restarts.await_restart(state, "corner", attacking, spot, dead, t_s)


def _goal(state: State, t_s: float, place: Vector) -> None:
    end = math.copysign(1.0, place[0])
    team = 0 if state.sign[0] == end else 1
    notes = state.notes
    candidate = notes.note("goal.candidate", t_s, state.last, place, "right" if end > 0 else "left")
    notes.rows[candidate].team = ("home", "away")[team]
    flight = state.flight
    shot = flight is not None and flight.kind == "shot" and flight.team == team and flight.on_target
    scorer = flight.kicker if shot and flight is not None else state.last
    own = int(state.team[scorer]) != team
    cause = flight.row if shot and flight is not None else -1
    flights.verdict(state, goal=True)
    if shot and flight is not None:
        attempt = notes.rows[flight.row]
        attempt.detail["outcome"], attempt.open = "goal", False
        state.flight = None
    else:
        flights.stopped(state, "lost", t_s, candidate, place)
    state.score[team] += 1
    scored = notes.note(
        "goal.own" if own else "goal.scored", t_s, scorer, place, "", (candidate, cause),
        home=state.score[0], away=state.score[1],
    )  # fmt: skip
    notes.rows[scored].team = ("home", "away")[team]
    if not own and state.last_pass >= 0:
        made = notes.rows[state.last_pass]
        if t_s - made.t_s <= 10.0 and made.detail["receiver"] == who(scorer):
            notes.note("assist", t_s, made.person, made.place, "", (state.last_pass, scored))
    dead = die(state, t_s, place, "goal", scored)
    told = notes.note("goal.confirmed", t_s + 1.2, -1, place, "", (scored,), home=state.score[0], away=state.score[1])
    notes.rows[told].team = ("home", "away")[team]
    restarts.await_restart(state, "kick_off", 1 - team, (0.0, 0.0), dead, t_s)


def die(state: State, t_s: float, place: Vector, why: str, cause: int) -> int:
    """Play is dead from ``t_s`` on; returns the row."""
    dead = state.notes.note("play.dead", t_s, -1, place, why, (cause,))
    state.notes.died(t_s, dead, place)
    state.live = False
    state.holder, state.in_hands, state.action, state.flight = -1, False, None, None
    return dead


def woodwork(state: State, tick: BallTick, begin_s: float) -> None:
    """Posts and bars that the ball in play has hit."""
    for bump in tick.bumps:
        if bump.what not in ("left post", "right post", "bar"):
            continue
        near = (bump.before[1] < 0) == (bump.place[1] < 0) if abs(bump.before[1]) > 1e-6 else True
        variant = "bar" if bump.what == "bar" else "far post" if near else "near post"
        cause = state.flight.row if state.flight is not None else -1
        t_s = begin_s + bump.t_s
        found = state.notes.note("woodwork", t_s, state.last, bump.place, variant, (cause,))
        flight = state.flight
        if flight is not None and flight.kind == "shot":
            state.notes.note("shot.post", t_s, flight.kicker, bump.place, variant, (flight.row, found))
            state.notes.rows[flight.row].detail["post"] = True
        state.kicked()


def offside(state: State, row: int, t_s: float, place: Vector | None) -> bool:
    """Law 11: whether ``row`` commits an offside offence by playing the ball now; the whistle follows."""
    flight = state.flight
    if flight is None or row not in flight.ahead or state.whistle is not None:
        return False
    pass_s = round(flight.born_s, 4)
    index = state.notes.note(
        "offside.position", flight.born_s, row, state.notes.rows[flight.row].place, "", (flight.row,)
    )
    offence = state.notes.note("offside.offence", t_s, row, place, "play", (flight.row, index), pass_s=pass_s)
    state.notes.rows[flight.row].detail["offside"] = True
    spot = state.xy(row)
    state.whistle = (state.now_s + float(state.rng.uniform(0.3, 1.0)), "offside", 1 - flight.team, spot, offence)
    return True


def tripped(state: State, row: int, victim: int) -> None:
    """A try for the ball went wrong: perhaps it was a foul (Law 12)."""
    if state.whistle is not None or not state.chance(0.42 * state.settings.interruptions):
        return
    x, y = state.xy(victim)
    foul = state.notes.note("foul", state.now_s, row, (x, y, 0.9), "careless", (), on=who(victim))
    state.notes.rows[foul].detail["advantage"] = False
    team = int(state.team[victim])
    if state.chance(0.6):
        state.bodies.fall(victim, float(state.rng.uniform(2.0, 4.5)))
        state.idle_s[victim] = state.now_s + 2.0
    state.whistle = (state.now_s + float(state.rng.uniform(0.3, 0.9)), "foul", team, (x, y), foul)


def whistle(state: State) -> None:
    """The referee stops play when he has made up his mind."""
    assert state.whistle is not None
    at_s, why, team, (x, y), cause = state.whistle
    if state.now_s < at_s:
        return
    state.whistle = None
    place = state.ball.place
    blown = state.notes.note("whistle", state.now_s, 32, place, why, (cause,))
    flights.stopped(state, "offside" if why == "offside" else "stopped", state.now_s, blown, place)
    dead = die(state, state.now_s, place, "whistle", blown)
    deep = state.depth(team, x)
    kind = "free_kick"
    if why == "foul" and deep < BOX_X_M and abs(y) < 20.16:
        kind, x, y = "penalty", float(state.sign[team]) * (state.half_x - MARK_M), 0.0
    x = float(np.clip(x, 1.0 - state.half_x, state.half_x - 1.0))
    y = float(np.clip(y, 1.0 - state.half_y, state.half_y - 1.0))
    if kind == "free_kick" and deep < 5.5:
        x = float(state.sign[team]) * (state.half_x - 5.5)
    restarts.await_restart(state, kind, team, (x, y), dead, state.now_s)
