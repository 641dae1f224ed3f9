"""Restarts, from the award until the ball is in play: positions, readiness, the run-up and the kick.

``ball_retrieval`` brings the ball to the spot, ``set_pieces`` chooses where players stand; everybody walks there. A
restart is taken when the ball is there, its taker is there, the others keep their distance (or had time enough to),
and as much time has passed as such a restart usually takes.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.play import ball_actions, ball_retrieval, periods, set_pieces
from simulator.play.decisions import air_time, best_pass, shot
from simulator.play.match_state import BOX_X_M, BOX_Y_M, CIRCLE_M, Action, Restart, State

#: The ball lies still for so long before it is kicked.
STILL_S = 1.2
#: The same of a quick free kick.
QUICK_STILL_S = 0.3
#: Where a kicker waits behind the ball, by kind; None for who stands right at it.
_RUN_UP_M = {"corner": 2.4, "goal_kick": 2.6, "penalty": 4.2, "free_kick": 1.2, "kick_off": 0.6}


def plan(state: State) -> None:
    """Set everybody's target while the restart is awaited; ``ball_retrieval`` steers the fetcher."""
    restart = state.restart
    assert restart is not None
    restart.stand = stance(state, restart)
    set_pieces.plan(state, restart)
    if restart.stage in ("fetching", "brought", "carrying"):
        row = restart.fetcher
        state.targets[row], state.paces[row] = state.xy(row), 3.0
        state.facing[row] = math.nan


def stance(state: State, restart: Restart) -> tuple[float, float]:
    """Return where the taker waits: behind the ball, in line with the kick, or behind the touch line."""
    if restart.kind == "throw_in":
        return ball_retrieval.throw_stance(state, restart)
    x, y = restart.spot
    sign = float(state.sign[restart.team])
    far = _RUN_UP_M.get(restart.kind, 1.0)
    if restart.style in ("direct shot", "crossed") and restart.kind == "free_kick":
        far = 3.2
    if restart.kind == "corner":
        away = math.hypot(0.5, 0.8)
        return x + math.copysign(0.5 / away * far, x), y + math.copysign(0.8 / away * far, y)
    return x - 0.96 * far * sign, y + 0.28 * far


def step(state: State) -> None:
    """Play a tick of dead time."""
    restart = state.restart
    assert restart is not None
    if restart.stage == "run_up":
        _run_up(state, restart)
        return
    ball_retrieval.step(state, restart)
    if restart.stage not in ("placed", "held") or state.now_s < restart.placed_s:
        return
    still_s = state.now_s - restart.placed_s
    if restart.kind == "dropped":
        if still_s > 1.5 and state.now_s >= restart.earliest_s:
            _drop(state, restart)
        return
    taker = restart.taker
    waited_s = state.now_s - restart.since_s
    late = waited_s > 2.0 * (restart.earliest_s - restart.since_s) + 25.0
    if state.script_runner is not None and taker not in state.instructed and state.script_runner.waits_for(taker):
        return
    if state.now_s < restart.earliest_s or state.is_held_up or not (is_ready(state, restart) or late):
        return
    if restart.kind == "throw_in":
        if still_s > (0.1 if restart.is_quick else 0.4):
            take(state, restart)
        return
    at_ease = state.gap(taker, *stance(state, restart)) < 0.5 and not state.bodies.is_busy(taker)
    if still_s > (QUICK_STILL_S if restart.is_quick else STILL_S) and at_ease:
        restart.stage = "run_up"


def _run_up(state: State, restart: Restart) -> None:
    """Play the last steps to the ball, and the kick."""
    row = restart.taker
    x, y = restart.spot
    gap = state.gap(row, x, y)
    px, py = state.xy(row)
    beyond = 0.8 / max(gap, 0.1)
    state.targets[row] = x + (x - px) * beyond, y + (y - py) * beyond
    state.paces[row] = 3.0 if restart.style == "short" else 4.6
    state.facing[row] = math.nan
    if gap < 0.5:
        take(state, restart)


def is_ready(state: State, restart: Restart) -> bool:
    """True if opponents keep their distance (Laws 8, 13 to 17), and at a kick-off everybody is in the own half."""
    kind = restart.kind
    rows = state.of_team[1 - restart.team]
    if restart.is_quick:
        return True
    if kind == "throw_in":
        return bool(state.gaps(rows, *restart.spot).min() >= 1.9)
    if kind == "kick_off":
        own = state.players[state.players != restart.taker]
        if bool(np.any(state.columns[own, 0] * state.sign[state.team[own]] > 0.3)):
            return False
    if kind == "goal_kick":
        u = state.columns[rows, 0] * state.sign[restart.team]
        return bool(((u > BOX_X_M - state.half_x) | (np.abs(state.columns[rows, 1]) > BOX_Y_M)).all())
    if kind == "penalty":
        rows = np.concatenate([rows[rows != state.keeper(1 - restart.team)], state.of_team[restart.team]])
        rows = rows[(rows != restart.taker)]
        rows = rows[rows != state.keeper(restart.team)]
        deep = state.half_x - state.columns[rows, 0] * state.sign[restart.team]
        if bool(((deep < BOX_X_M) & (np.abs(state.columns[rows, 1]) < BOX_Y_M)).any()):
            return False
    quick = kind == "free_kick" and restart.style == "short"
    # At a quick free kick opponents may be nearer: he did not ask for the distance (Law 13.3).
    return bool(state.gaps(rows, *restart.spot).min() >= (4.0 if quick else CIRCLE_M - 0.05))


def _drop(state: State, restart: Restart) -> None:
    """Drop the ball (Law 8.2); it is in play when it touches the ground."""
    ball_retrieval.let_go(state)
    state.ball.release((0.0, 0.0, -0.5))
    state.restart = None
    state.live = True
    state.attack = restart.team
    live = state.truth.add("play.live", state.now_s, -1, state.ball.position, "dropped", (restart.cause,))
    state.truth.add("restart.dropped", state.now_s, restart.fetcher, state.ball.position, "", (live, restart.cause))
    state.redirect_ball()


def take(state: State, restart: Restart) -> None:
    """Play the contact that brings the ball into play, and write its rows."""
    kind, taker = restart.kind, restart.taker
    action = _action(state, restart)
    periods.begin_period(state)
    ball_retrieval.let_go(state)
    state.restart, state.live = None, True
    position = state.ball.position
    live = state.truth.add("play.live", state.now_s, taker, position, kind, (restart.cause,))
    limb = "right_hand" if kind == "throw_in" else "foot"
    instructed = state.script_runner is not None and taker in state.instructed
    if instructed and state.script_runner is not None:
        state.script_runner.play(taker, 0.0, "foot", kind)
    attempt = (
        state.flight.row
        if instructed and state.flight is not None
        else ball_actions.kick(state, taker, action, limb, restart=kind)
    )
    variant = restart.style if kind in ("free_kick", "goal_kick") else ""
    if kind == "corner":
        variant = "left" if restart.spot[1] * float(state.sign[restart.team]) > 0 else "right"
    if kind == "free_kick" and variant == "long":
        variant = "short"
    contact = state.truth.rows[attempt].causes[0]
    state.truth.add(
        f"restart.{kind}", state.truth.rows[contact].t_s, taker, position, variant, (live, contact, restart.cause),
        dead_s=round(state.now_s - restart.since_s, 2), style=restart.style, indirect=restart.is_indirect,
    )  # fmt: skip
    state.taker = taker
    state.indirect = restart.is_indirect or kind == "throw_in"
    state.is_entering = kind == "throw_in"


def _action(state: State, restart: Restart) -> Action:
    taker, kind, style = restart.taker, restart.kind, restart.style
    if kind == "throw_in":
        return best_pass(state, taker, thrown=True, reach_m=24.0)
    if kind == "penalty" or style == "direct shot":
        action = shot(state, taker)
        action.what = "penalty" if kind == "penalty" else "free_kick"
        return action
    if style == "crossed":
        return _into_box(state, taker)
    if style == "long":
        return _long(state, taker)
    return best_pass(state, taker, reach_m=22.0 if kind in ("kick_off", "corner") else 60.0)


def _into_box(state: State, taker: int) -> Action:
    x, y, _ = state.ball.position
    team = int(state.team[taker])
    mates = state.mates(taker)
    u = state.columns[mates, 0] * state.sign[team]
    inside = mates[(u > state.half_x - BOX_X_M - 2.0) & (np.abs(state.columns[mates, 1]) < 13.0)]
    if not len(inside):
        return best_pass(state, taker)
    mate = int(inside[int(state.rng.integers(len(inside)))])
    mx, my = state.xy(mate)
    mx += 0.5 * float(state.columns[mate, 2])
    my += 0.5 * float(state.columns[mate, 3])
    d = math.hypot(mx - x, my - y)
    flight = 0.7 + d / 34.0
    return Action("pass", "cross", mate, (mx, my, 1.9), d / flight, flight)


def _long(state: State, taker: int) -> Action:
    x, y, _ = state.ball.position
    mates = state.mates(taker)
    u = state.columns[mates, 0] * state.sign[state.team[taker]]
    mate = int(mates[np.argmax(u + state.rng.gumbel(0.0, 5.0, len(mates)))])
    mx, my = state.xy(mate)
    d = math.hypot(mx - x, my - y)
    far = min(d, 58.0)
    target = (x + (mx - x) / d * far, y + (my - y) / d * far, 1.8)
    return Action("pass", "long", mate, target, far / air_time(far), air_time(far) + 0.4)
