"""Where players are without the ball: their team's block, an open lane, a man to mark, a run.

A team's block is a band across the pitch: its last line, length and width follow the ball, with and without
possession differently; a slot's depth and side in the team's shape give everybody's place in it. On top of it
come what situations ask for: mates of the holder look for open lanes near their place and run behind the last line,
defenders near their goal mark goal-side, the nearest presses and the next covers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from replay.recording import Floats
from replay.sim.sight import lane
from replay.sim.state import State

#: Last line (u) by where the ball is (u), for a pitch of 105 m: without and with the ball.
_BALL_U = np.array([-52.5, -38.0, -20.0, 0.0, 20.0, 38.0, 52.5])
_LINE_WITHOUT = np.array([-46.0, -40.0, -33.0, -22.0, -12.0, -5.0, -2.0])
_LINE_WITH = np.array([-40.0, -33.0, -24.0, -14.0, -5.0, 3.0, 6.0])
_LENGTH_WITHOUT = np.array([22.0, 26.0, 29.0, 31.0, 33.0, 36.0, 38.0])
_LENGTH_WITH = np.array([44.0, 42.0, 40.0, 38.0, 37.0, 36.0, 35.0])
_WIDTH_WITHOUT, _WIDTH_WITH = 19.0, 28.0

#: Places that a mate of the holder looks at around his own, and how much a metre away from it costs him.
_LOOKS = np.array([(0.0, 0.0), *((r * math.cos(a), r * math.sin(a)) for r in (3.0, 6.0) for a in np.arange(6) * 1.05)])
_STRAY_COST = 0.16

#: How fast to go to a place so far away: distances in metres, paces in m/s. Who is nearly there walks.
_FAR_M = np.array([0.0, 1.5, 4.0, 8.0, 14.0, 22.0])
_PACE_M_S = np.array([0.6, 1.1, 1.9, 3.2, 4.8, 6.2])


def block(state: State, u_ball: float, w_ball: float, *, has_ball: bool) -> tuple[float, float, float, float]:
    """Last line, length, half width and shift across of a team's block, in its own upfield metres."""
    scale = state.half_x / 52.5
    u = u_ball / scale
    lines, lengths = (_LINE_WITH, _LENGTH_WITH) if has_ball else (_LINE_WITHOUT, _LENGTH_WITHOUT)
    line = float(np.interp(u, _BALL_U, lines)) * scale
    length = float(np.interp(u, _BALL_U, lengths)) * scale
    width = (_WIDTH_WITH if has_ball else _WIDTH_WITHOUT) * state.half_y / 34.0
    return line, length, width, (0.22 if has_ball else 0.42) * w_ball


def spread_out(state: State, u_balls: tuple[float, float], w_balls: tuple[float, float], attack: int) -> Floats:
    """(PERSONS, 2) places of everybody in his block, the goalkeepers' left out (NaN)."""
    depth, side = state.depth_of, state.side_of
    places = np.full((len(depth), 2), np.nan)
    for team in (0, 1):
        rows = state.outfield[team]
        line, length, width, shift = block(state, u_balls[team], w_balls[team], has_ball=team == attack)
        sign = state.sign[team]
        u = line + depth[rows] * length
        w = shift + side[rows] * width
        places[rows, 0] = sign * np.clip(u, 2.0 - state.half_x, state.half_x - 2.0)
        places[rows, 1] = sign * np.clip(w, 1.5 - state.half_y, state.half_y - 1.5)
    return places


def paces(state: State, rows: np.ndarray, targets: Floats, hurry: float = 1.0) -> Floats:
    """How fast to go to one's place: nobody runs for a metre."""
    far = np.hypot(targets[rows, 0] - state.columns[rows, 0], targets[rows, 1] - state.columns[rows, 1])
    return np.interp(far, _FAR_M, _PACE_M_S) * hurry


def plan(state: State) -> None:
    """Targets and paces of all players while the ball is in play; who goes for the ball gets his own elsewhere."""
    x, y, _ = state.ball.place
    if state.flight is not None and state.now_s - state.flight.born_s > 0.25:
        # After a moment everybody sees where a pass is going.
        x, y = 0.4 * x + 0.6 * state.flight.target[0], 0.4 * y + 0.6 * state.flight.target[1]
    us = (float(x * state.sign[0]), float(x * state.sign[1]))
    ws = (float(y * state.sign[0]), float(y * state.sign[1]))
    attack = state.attack
    places = spread_out(state, us, ws, attack)
    places += state.wander * np.sin(state.now_s * 0.35 + state.phase)
    _support(state, places, attack)
    _mark(state, places, 1 - attack, us[1 - attack])
    keep_goal(state, places, x, y)
    _stay_onside(state, places, attack)
    for team in (0, 1):
        rows = state.of_team[team]
        state.targets[rows] = places[rows]
        hurry = 1.0 + 0.15 * (team != attack) * (us[team] < -5.0)
        state.paces[rows] = paces(state, rows, places, hurry)
    aim = np.arctan2(y - state.columns[:, 1], x - state.columns[:, 0])
    slow = state.paces < 3.4
    state.facing[:] = np.where(slow, aim, np.nan)
    _runs(state, attack)


def _support(state: State, places: Floats, attack: int) -> None:
    """Mates of the holder within 35 m step into lanes that are open to him."""
    if state.holder < 0:
        return
    x, y, _ = state.ball.place
    rows = state.outfield[attack]
    rows = rows[rows != state.holder]
    rows = rows[np.hypot(places[rows, 0] - x, places[rows, 1] - y) < 35.0]
    if not len(rows):
        return
    sign = state.sign[attack]
    xs = places[rows, 0][:, None] + _LOOKS[:, 0] * sign
    ys = np.clip(places[rows, 1][:, None] + _LOOKS[:, 1], 1.5 - state.half_y, state.half_y - 1.5)
    opponents = state.of_team[1 - attack]
    open_m = lane(x, y, xs.ravel(), ys.ravel(), state.columns, opponents).reshape(xs.shape)
    score = np.minimum(open_m, 2.5) - _STRAY_COST * np.hypot(_LOOKS[:, 0], _LOOKS[:, 1])
    score -= 0.12 * np.hypot(xs - state.targets[rows, 0][:, None], ys - state.targets[rows, 1][:, None])
    near = np.hypot(xs - x, ys - y)
    score -= np.maximum(7.0 - near, 0.0) * 0.4
    best = np.argmax(score, axis=1)
    places[rows, 0] = np.take_along_axis(xs, best[:, None], 1)[:, 0]
    places[rows, 1] = np.take_along_axis(ys, best[:, None], 1)[:, 0]


@njit(cache=True)
def _assign(defenders: np.ndarray, attackers: np.ndarray, places: Floats, columns: Floats, reach: float) -> np.ndarray:
    """For each attacker the nearest defender (by place) that is still free and within reach, -1 if none."""
    out = np.full(len(attackers), -1)
    taken = np.zeros(len(defenders))
    for k in range(len(attackers)):
        best, least = -1, reach
        for j in range(len(defenders)):
            if taken[j] > 0.0:
                continue
            dx = places[defenders[j], 0] - columns[attackers[k], 0]
            dy = places[defenders[j], 1] - columns[attackers[k], 1]
            d = math.sqrt(dx * dx + dy * dy)
            if d < least:
                best, least = j, d
        if best >= 0:
            taken[best] = 1.0
            out[k] = defenders[best]
    return out


def _mark(state: State, places: Floats, team: int, u_ball: float) -> None:
    """Defenders near their own goal stand goal-side of the attackers in their part of the block."""
    tight = float(np.interp(u_ball, [-45.0, -25.0, 5.0, 30.0], [0.9, 0.7, 0.4, 0.15]))
    sign = state.sign[team]
    attackers = state.outfield[1 - team]
    order = np.argsort(state.columns[attackers, 0] * sign)
    attackers = attackers[order]
    attackers = attackers[attackers != state.holder]
    of = _assign(state.outfield[team], attackers, places, state.columns, 9.0)
    goal_x = -sign * state.half_x
    for attacker, defender in zip(attackers.tolist(), of.tolist(), strict=True):
        if defender < 0:
            continue
        ax, ay = state.columns[attacker, 0] + 0.4 * state.columns[attacker, 2], state.columns[attacker, 1]
        ay += 0.4 * state.columns[attacker, 3]
        dx, dy = goal_x - ax, -ay
        d = max(math.hypot(dx, dy), 0.1)
        off = 1.2 + 2.5 * (1.0 - tight)
        places[defender, 0] += tight * (ax + dx / d * off - places[defender, 0])
        places[defender, 1] += tight * (ay + dy / d * off - places[defender, 1])


def keep_goal(state: State, places: Floats, x: float, y: float) -> None:
    """Goalkeepers stand between ball and goal, further out the further away the ball is."""
    for team in (0, 1):
        sign = float(state.sign[team])
        goal_x = -sign * state.half_x
        away = math.hypot(x - goal_x, y)
        out = float(np.interp(away, [6.0, 16.0, 35.0, 60.0, 100.0], [1.0, 2.6, 5.0, 11.0, 17.0]))
        dx, dy = x - goal_x, y
        d = max(math.hypot(dx, dy), 0.1)
        keeper = state.keeper(team)
        places[keeper] = goal_x + dx / d * out, dy / d * out


def last_line(state: State, team: int) -> float:
    """u of the offside line for a team that attacks (Law 11): the second-last opponent, the ball or the halfway line,
    whichever is nearest to the goal line."""
    sign = float(state.sign[team])
    us = np.sort(state.columns[state.of_team[1 - team], 0] * sign)
    return max(float(us[-2]), state.ball.place[0] * sign, 0.0)


def _stay_onside(state: State, places: Floats, attack: int) -> None:
    """Attackers keep to the last line, as well as they see it."""
    sign = float(state.sign[attack])
    line = last_line(state, attack)
    rows = state.outfield[attack]
    rows = rows[rows != state.holder]
    u = places[rows, 0] * sign
    places[rows, 0] = sign * np.minimum(u, line - 0.4 + state.keen[rows])


def _runs(state: State, attack: int) -> None:
    """A forward now and then runs behind the last line while a mate has the ball."""
    if state.holder < 0 or state.in_hands:
        return
    sign = float(state.sign[attack])
    line = last_line(state, attack)
    for row in state.outfield[attack].tolist():
        if row == state.holder or state.now_s > state.run_until_s[row]:
            continue
        x, y = state.xy(row)
        goal_y = float(np.clip(y, -9.0, 9.0))
        u = x * sign
        ahead = min(line - 0.3 + state.keen[row], state.half_x - 4.0) if u < line else line
        deep = state.half_x - 6.0 if state.now_s > state.run_until_s[row] - 0.7 else ahead
        state.targets[row] = sign * deep, y + 0.25 * (goal_y - y)
        state.paces[row] = 7.0
        state.facing[row] = np.nan
