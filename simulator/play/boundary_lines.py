"""Boundary lines and goals (IFAB Laws 9, 10, 15, 16, 17): the ball goes out or in, and the restart that follows."""

from __future__ import annotations

import math

import numpy as np

from football.constants import BALL_RADIUS_M
from simulator.physics.ball import BallTick
from simulator.play import ball_actions, flights, occasions, stoppages
from simulator.play.match_state import BAR_Z_M, POST_Y_M, State
from simulator.records import REFEREES, STEP_S, Vector


def lines(state: State, tick: BallTick, begin_s: float) -> None:
    """End play when the whole ball has crossed a line (Laws 9 and 10), dated between two steps of the ball."""
    end = tick.positions[-1]
    limit_x, limit_y = state.half_x + BALL_RADIUS_M, state.half_y + BALL_RADIUS_M
    if abs(end[0]) <= limit_x and abs(end[1]) <= limit_y:
        state.is_entering = False
        return
    if state.is_entering:
        # A ball that is thrown in comes from outside (Law 15).
        return
    positions = tick.positions
    beyond = (np.abs(positions[:, 0]) > limit_x) | (np.abs(positions[:, 1]) > limit_y)
    k = int(np.argmax(beyond))
    over_x = abs(positions[k, 0]) > limit_x
    axis, limit = (0, limit_x) if over_x else (1, limit_y)
    before = positions[k - 1] if k else positions[k]
    step = abs(positions[k, axis]) - abs(before[axis])
    share = 1.0 if step <= 0 else (limit - abs(before[axis])) / step
    at = before + share * (positions[k] - before)
    # A player may play it in the tick in which it crosses, after the crossing. It goes out by him, and not before.
    t_s = max(begin_s + (max(k - 1, 0) + share) * STEP_S, float(state.touched_s[state.last]))
    position: Vector = (float(at[0]), float(at[1]), float(at[2]))
    # The whole ball is over: whichever side of post and bar its centre is on now it has passed on (Law 10).
    if over_x and abs(position[1]) < POST_Y_M and position[2] < BAR_Z_M:
        _goal(state, t_s, position)
    elif over_x:
        _over_goal_line(state, t_s, position)
    else:
        _over_touch_line(state, t_s, position)


def _over_touch_line(state: State, t_s: float, position: Vector) -> None:
    line = "left touch" if position[1] > 0 else "right touch"
    out = state.truth.add("out", t_s, state.last, position, line)
    flights.stopped(state, "out", t_s, out, position)
    dead = stoppages.end_play(state, t_s, position, "touch", out)
    spot = (
        float(np.clip(position[0], 0.5 - state.half_x, state.half_x - 0.5)),
        math.copysign(state.half_y, position[1]),
    )
    stoppages.award_restart(state, "throw_in", 1 - int(state.team[state.last]), spot, dead, t_s)


def _over_goal_line(state: State, t_s: float, position: Vector) -> None:
    end = math.copysign(1.0, position[0])
    line = "right goal line" if end > 0 else "left goal line"
    attacking = 0 if state.sign[0] == end else 1
    out = state.truth.add("out", t_s, state.last, position, line)
    shooter = state.flight.team if state.flight is not None else -1
    variant = ""
    if shooter == attacking:
        over = abs(position[1]) < POST_Y_M
        # Left and right are the shooter's, who looks at the goal.
        variant = "over" if over else "wide left" if position[1] * end > 0 else "wide right"
    flights.stopped(state, "out", t_s, out, position, variant)
    dead = stoppages.end_play(state, t_s, position, "goal line", out)
    side = math.copysign(1.0, position[1])
    if state.team[state.last] == attacking:
        spot = (end * (state.half_x - 5.0), side * float(state.rng.uniform(3.0, 6.5)))
        stoppages.award_restart(state, "goal_kick", 1 - attacking, spot, dead, t_s)
    else:
        stoppages.award_restart(state, "corner", attacking, _corner(state, end, side), dead, t_s)


def _goal(state: State, t_s: float, position: Vector) -> None:
    """Score (Law 10), unless a whistle against the scorers is due, or the restart could not score directly."""
    end = math.copysign(1.0, position[0])
    team = 0 if state.sign[0] == end else 1
    truth = state.truth
    if state.indirect and state.taker == state.last:
        _no_goal_directly(state, t_s, position, team)
        return
    candidate = truth.add("goal.candidate", t_s, state.last, position, "right" if end > 0 else "left")
    truth.rows[candidate].team = ("home", "away")[team]
    flight = state.flight
    shot = flight if flight is not None and flight.kind == "shot" and flight.team == team and flight.on_target else None
    row = shot.row if shot is not None else flights.settle_block(state, goal=True)
    scorer = truth.rows[row].person if row >= 0 else state.last
    own = int(state.team[scorer]) != team
    flights.verdict(state, goal=True)
    if shot is not None:
        attempt = truth.rows[shot.row]
        attempt.detail["outcome"], attempt.open = "goal", False
        state.flight = None
    else:
        flights.stopped(state, "lost", t_s, candidate, position)
    stands = state.whistle is None or state.whistle.team == team
    state.score[team] += stands
    kind = "goal.own" if own else "goal.scored"
    score = {"home": state.score[0], "away": state.score[1]}
    scored = truth.add(kind, t_s, scorer, position, "", (candidate, row), **score)
    truth.rows[scored].team = ("home", "away")[team]
    if not stands:
        instructed = truth.add("goal.disallowed", t_s + 0.8, REFEREES[0], position, "", (scored, state.whistle.cause))
        truth.rows[instructed].team = ("home", "away")[team]
        # The whistle that was coming stops play: the ball is dead in the goal already.
        state.whistle.at_s = state.now_s
        return
    if not own:
        ball_actions.credit(state, "assist", t_s, scored)
    state.whistle = None
    dead = stoppages.end_play(state, t_s, position, "goal", scored)
    state.lost_s += stoppages.ADDED_S["goal"]
    instructed = truth.add("goal.confirmed", t_s + 1.2, REFEREES[0], position, "", (scored,), **score)
    truth.rows[instructed].team = ("home", "away")[team]
    restart = stoppages.award_restart(state, "kick_off", 1 - team, (0.0, 0.0), dead, t_s)
    occasions.review(state, restart, scored)


def _no_goal_directly(state: State, t_s: float, position: Vector, team: int) -> None:
    """Award a goal kick or a corner for a ball straight in from a throw-in or an indirect free kick (Laws 13, 15)."""
    end = math.copysign(1.0, position[0])
    out = state.truth.add("out", t_s, state.last, position, "right goal line" if end > 0 else "left goal line")
    flights.stopped(state, "out", t_s, out, position)
    dead = stoppages.end_play(state, t_s, position, "goal line", out)
    side = math.copysign(1.0, position[1])
    if state.team[state.last] == team:
        stoppages.award_restart(state, "goal_kick", 1 - team, (end * (state.half_x - 5.0), side * 4.0), dead, t_s)
    else:
        stoppages.award_restart(state, "corner", team, _corner(state, end, side), dead, t_s)


def _corner(state: State, end: float, side: float) -> tuple[float, float]:
    return end * (state.half_x - 0.35), side * (state.half_y - 0.35)


def woodwork(state: State, tick: BallTick, begin_s: float) -> None:
    """Write the hits of posts and bars by the ball in play."""
    for bump in tick.bumps:
        if bump.what not in ("left post", "right post", "bar"):
            continue
        near = (bump.before[1] < 0) == (bump.position[1] < 0) if abs(bump.before[1]) > 1e-6 else True
        variant = "bar" if bump.what == "bar" else "far post" if near else "near post"
        cause = state.flight.row if state.flight is not None else -1
        t_s = begin_s + bump.t_s
        index = state.truth.add("ball.woodwork", t_s, -1, bump.position, variant, (cause,))
        flight = state.flight
        if flight is not None and flight.kind == "shot":
            state.truth.add("shot.post", t_s, flight.kicker, bump.position, variant, (flight.row, index))
            state.truth.rows[flight.row].detail["post"] = True
        state.redirect_ball()
