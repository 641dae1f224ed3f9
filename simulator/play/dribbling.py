"""The holder of the ball at the feet: pushes it along, shields it, and acts once the decision is due."""

from __future__ import annotations

import math

import numpy as np

from simulator.play import ball_actions, derived_truth, take_ons
from simulator.play.decisions import carry, choose
from simulator.play.match_state import State

#: A ball further away than this is nobody's.
LOST_M = 2.6
#: Between two touches of a dribble, and the reach for them.
PUSH_S, PUSH_M = 0.3, 0.62


def hold(state: State) -> None:
    """Play one tick of the holder."""
    row = state.holder
    bx, by, bz = state.ball.position
    gap = state.gap(row, bx, by)
    if gap > LOST_M or bz > 1.3:
        state.holder, state.action = -1, None
        state.redirect_ball()
        return
    vx, vy, _ = state.ball.velocity
    state.facing[row] = np.nan
    since = state.now_s - state.touched_s[row]
    able = state.idle_s[row] <= state.now_s and state.contact_end_s < state.now_s
    within = gap < PUSH_M + 0.15 and bz < 0.6
    if state.is_mute and row not in state.instructed:
        return
    if row in state.instructed and state.script_runner is not None and able and within and state.action is None:
        state.script_runner.play(row, 0.0, "foot")
        return
    if able and within and since > 0.24 and (daring := take_ons.take_on(state, row)) is not None:
        state.action = daring
    elif able and within and since > 0.24 and state.now_s >= state.decide_s:
        action = choose(state, row)
        if action.kind == "carry":
            state.action = action
            state.decide_s = state.now_s + float(state.rng.uniform(0.25, 0.6))
        else:
            ball_actions.kick(state, row, action)
            return
    if able and gap < PUSH_M and bz < 0.5 and since > PUSH_S and _needs_push(state, row, gap):
        _push(state, row)
    lead = min(0.35 + 0.1 * math.hypot(vx, vy), 0.8)
    state.targets[row] = bx + lead * vx, by + lead * vy
    state.paces[row] = 9.0 if gap > 0.9 else 7.0


def _needs_push(state: State, row: int, gap: float) -> bool:
    """True if the ball is no longer ahead of the holder, or slower than the holder wants to run."""
    action = state.action
    desired_m_s = action.speed_m_s if action is not None else 2.0
    vx, vy, _ = state.ball.velocity
    return math.hypot(vx, vy) < 0.75 * desired_m_s + 0.4 or gap < 0.35


def _push(state: State, row: int) -> None:
    """Touch the ball a step ahead, towards where the holder wants to go."""
    action = state.action
    if action is None:
        action = state.action = carry(state, row)
    bx, by, _ = state.ball.position
    dx, dy = action.target[0] - bx, action.target[1] - by
    d = max(math.hypot(dx, dy), 0.1)
    near = state.pressure(row)
    pace = state.speed(row)
    ahead = min(action.speed_m_s, pace + 2.2) * (1.12 if near > 3.0 else 1.0) + 0.5
    rough = 0.04 * ahead * (1.0 - 0.2 * state.ability["dribbling"][row]) * (1.0 + 1.2 * (near < 1.6))
    velocity = (
        dx / d * ahead + state.draw(0.0, rough),
        dy / d * ahead + state.draw(0.0, rough),
        abs(state.draw(0.0, 0.05)),
    )
    index = ball_actions.contact(state, row, "foot", velocity, "dribble", duration_s=0.011)
    derived_truth.controlled(state, row, index)
