"""Team shape: positions of players without the ball in their team's block, open passing lines, marking, runs.

A team's block is a band across the pitch. Its last line, length and width follow the ball, differently with and
without possession; a slot's depth and side in the team's shape give each position in it. Situations add to it:
team mates of the holder look for open passing lines and run behind the last line, defenders near their goal mark
goal-side, the nearest player presses and the next covers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numba import njit

from football.packet_table import Floats
from simulator.play.match_state import State
from simulator.play.perception import pass_clearance

#: By where the ball is (u), for a pitch of 105 by 68 m: last line, length, half width of a team's block, without and
#: with the ball. Medians of both teams of Portugal-Switzerland 2019 (25 Hz, first 20 minutes).
_BALL_U = np.array([-46.0, -32.0, -17.0, 0.0, 17.0, 32.0, 46.0])
_LINE_WITHOUT = np.array([-46.5, -39.0, -27.7, -17.5, -9.5, -5.6, -2.0])
_LINE_WITH = np.array([-44.0, -35.0, -25.0, -18.0, -7.0, 1.0, 5.0])
_LENGTH_WITHOUT = np.array([25.0, 31.0, 30.0, 27.5, 27.5, 34.0, 42.0])
_LENGTH_WITH = np.array([42.0, 40.0, 35.0, 34.0, 34.0, 37.0, 42.0])
_WIDTH_WITHOUT = np.array([16.5, 19.0, 21.5, 21.5, 21.5, 22.5, 22.5])
_WIDTH_WITH = np.array([28.0, 33.0, 33.5, 33.0, 31.0, 29.0, 26.0])
#: Share of the ball's movement across that a block follows.
_SHIFT_WITHOUT, _SHIFT_WITH = 0.38, 0.32

#: Places that a mate of the holder looks at around his own, and how much a metre away from it costs him.
_LOOKS = np.array([(0.0, 0.0), *((r * math.cos(a), r * math.sin(a)) for r in (3.0, 6.0) for a in np.arange(6) * 1.05)])
_STRAY_COST = 0.16

#: Plans are made anew so often; who has time gathers speed with no more than this.
PLAN_S, GENTLE_M_S2 = 0.1, 2.0

#: Places before the goal at a cross: metres from the goal line, and across, positive on the side of the ball.
_BOX = ((6.0, 2.5), (10.5, -1.5), (7.0, -6.0), (15.0, 3.0))

#: How fast to go to a place so far away: distances in metres, paces in m/s. Who is nearly there walks.
_FAR_M = np.array([0.0, 1.5, 4.0, 8.0, 14.0, 22.0])
_PACE_M_S = np.array([0.6, 1.1, 1.9, 3.2, 4.6, 5.9])


def block(state: State, u_ball: float, w_ball: float, *, has_ball: bool) -> tuple[float, float, float, float]:
    """Return last line, length, half width and shift across of a team's block, in its own upfield metres."""
    scale = state.half_x / 52.5
    u = u_ball / scale
    lines, lengths, widths, shift = (
        (_LINE_WITH, _LENGTH_WITH, _WIDTH_WITH, _SHIFT_WITH)
        if has_ball
        else (_LINE_WITHOUT, _LENGTH_WITHOUT, _WIDTH_WITHOUT, _SHIFT_WITHOUT)
    )
    line, length = (float(np.interp(u, _BALL_U, table)) * scale for table in (lines, lengths))
    return line, length, float(np.interp(u, _BALL_U, widths)) * state.half_y / 34.0, shift * w_ball


def spread_out(state: State, u_balls: Sequence[float], w_balls: Sequence[float], attack: int) -> Floats:
    """Return (PERSONS, 2) positions in the block; NaN for goalkeepers."""
    depth, side = state.depth_of, state.side_of
    positions = np.full((len(depth), 2), np.nan)
    for team in (0, 1):
        rows = state.outfield[team]
        line, length, width, shift = block(state, u_balls[team], w_balls[team], has_ball=team == attack)
        sign = state.sign[team]
        # Near the own goal midfield closes up to the last line, near the other one to the front.
        bow = (
            float(np.interp(u_balls[team], [-10.0, 20.0, 40.0], [1.0, 0.8, 0.65]))
            if team == attack
            else float(np.interp(u_balls[team], [-42.0, -18.0, 5.0], [1.8, 1.35, 1.0]))
        )
        u = line + depth[rows] ** (bow * state.bow[team]) * length
        w = shift + side[rows] * width
        positions[rows, 0] = sign * np.clip(u, 2.0 - state.half_x, state.half_x - 2.0)
        positions[rows, 1] = sign * np.clip(w, 1.5 - state.half_y, state.half_y - 1.5)
    return positions


def paces(state: State, rows: np.ndarray, targets: Floats) -> Floats:
    """Return the speeds at which to go to a position: nobody runs for a metre."""
    far = np.hypot(targets[rows, 0] - state.columns[rows, 0], targets[rows, 1] - state.columns[rows, 1])
    return np.interp(far, _FAR_M, _PACE_M_S)


def gently(state: State, rows: np.ndarray, paces_m_s: Floats) -> Floats:
    """Limit speeds of players without haste: they speed up and slow down gently."""
    speed = np.hypot(state.columns[rows, 2], state.columns[rows, 3])
    return np.clip(paces_m_s, speed - 1.2 * GENTLE_M_S2 * PLAN_S, np.maximum(speed, 0.5) + GENTLE_M_S2 * PLAN_S)


def plan(state: State) -> None:
    """Set targets and speeds of all players while the ball is in play; others set those of players who go for it."""
    x, y, _ = state.ball.position
    if state.flight is not None and state.now_s - state.flight.born_s > 0.25:
        # After a moment everybody sees where a pass is going.
        x, y = 0.4 * x + 0.6 * state.flight.target[0], 0.4 * y + 0.6 * state.flight.target[1]
    attack = state.attack
    us = [float(x * state.sign[0]), float(x * state.sign[1])]
    ws = (float(y * state.sign[0]), float(y * state.sign[1]))
    if state.holder >= 0:
        # Who comes running with the ball is fallen back from in time.
        ahead_m = max(0.0, state.ball.velocity[0] * float(state.sign[attack]))
        us[1 - attack] -= 0.9 * ahead_m
        us[attack] += 0.35 * ahead_m
    positions = spread_out(state, us, ws, attack)
    positions += state.sway()
    state.urgent[:] = False
    _support(state, positions, attack)
    _fill_box(state, positions, attack, us[attack], ws[attack])
    _mark(state, positions, 1 - attack, us[1 - attack])
    keep_goal(state, positions, x, y)
    _stay_onside(state, positions, attack)
    for team in (0, 1):
        rows = state.of_team[team]
        state.targets[rows] = positions[rows]
        paces_m_s = _desired_paces(state, team, rows, positions, us[team])
        paces_m_s = np.where(state.urgent[rows], np.maximum(paces_m_s, 7.5), paces_m_s)
        state.paces[rows] = np.where(paces_m_s > 5.0, paces_m_s, gently(state, rows, paces_m_s))
    aim = np.arctan2(y - state.columns[:, 1], x - state.columns[:, 0])
    slow = state.paces < 3.4
    state.facing[:] = np.where(slow, aim, np.nan)
    _runs(state, attack)


def _desired_paces(state: State, team: int, rows: np.ndarray, positions: Floats, u_ball: float) -> Floats:
    """Return a team's speeds: slow where there is time, fast back to the own goal, and forward after a gain."""
    sign = float(state.sign[team])
    pace = paces(state, rows, positions)
    back = (state.columns[rows, 0] - positions[rows, 0]) * sign
    since_s = state.now_s - state.turnover_s
    if team == state.attack:
        soon_s = 1.8 if since_s < 5.0 and u_ball < 30.0 else 2.4
        go = back < -3.0
        return np.where(go, np.maximum(pace, np.minimum(-back / soon_s, 7.3)), pace)
    soon_s = float(np.interp(u_ball, [-40.0, -15.0, 10.0, 35.0], [0.9, 1.45, 2.1, 2.9]))
    far = np.hypot(positions[rows, 0] - state.columns[rows, 0], positions[rows, 1] - state.columns[rows, 1])
    near_goal = u_ball < -10.0
    need = np.where(near_goal, far, np.maximum(back, 0.0)) - 1.0
    return np.where(need > 0.5, np.maximum(pace, np.minimum(need / soon_s, 7.3)), pace)


def _support(state: State, positions: Floats, attack: int) -> None:
    """Let team mates within 35 m of the holder step into open passing lines."""
    if state.holder < 0:
        return
    x, y, _ = state.ball.position
    rows = state.outfield[attack]
    rows = rows[rows != state.holder]
    rows = rows[np.hypot(positions[rows, 0] - x, positions[rows, 1] - y) < 35.0]
    if not len(rows):
        return
    sign = state.sign[attack]
    xs = positions[rows, 0][:, None] + _LOOKS[:, 0] * sign
    ys = np.clip(positions[rows, 1][:, None] + _LOOKS[:, 1], 1.5 - state.half_y, state.half_y - 1.5)
    opponents = state.of_team[1 - attack]
    open_m = pass_clearance(x, y, xs.ravel(), ys.ravel(), state.columns, opponents).reshape(xs.shape)
    score = np.minimum(open_m, 2.5) - _STRAY_COST * np.hypot(_LOOKS[:, 0], _LOOKS[:, 1])
    score -= 0.12 * np.hypot(xs - state.targets[rows, 0][:, None], ys - state.targets[rows, 1][:, None])
    near = np.hypot(xs - x, ys - y)
    score -= np.maximum(7.0 - near, 0.0) * 0.4
    best = np.argmax(score, axis=1)
    positions[rows, 0] = np.take_along_axis(xs, best[:, None], 1)[:, 0]
    positions[rows, 1] = np.take_along_axis(ys, best[:, None], 1)[:, 0]


def _fill_box(state: State, positions: Floats, attack: int, u_ball: float, w_ball: float) -> None:
    """Send forwards before the goal, one to each position, while a team mate has the ball on the wing."""
    if u_ball < state.half_x - 30.0 or abs(w_ball) < 13.0:
        return
    rows = state.outfield[attack]
    rows = rows[(rows != state.holder) & (state.depth_of[rows] > 0.4)]
    sign, side = float(state.sign[attack]), math.copysign(1.0, w_ball)
    us = state.columns[rows, 0] * sign
    near = rows[np.argsort(-us)][: len(_BOX)]
    for row, (deep, across) in zip(near.tolist(), _BOX, strict=False):
        positions[row] = sign * (state.half_x - deep), sign * side * across
        state.urgent[row] = state.gap(row, *positions[row]) > 4.0


@njit(cache=True)
def _assign(
    defenders: np.ndarray, attackers: np.ndarray, positions: Floats, columns: Floats, reach: float
) -> np.ndarray:
    """For each attacker return the nearest free defender within reach, -1 if none."""
    out = np.full(len(attackers), -1)
    taken = np.zeros(len(defenders))
    for k in range(len(attackers)):
        best, nearest_m = -1, reach
        for j in range(len(defenders)):
            if taken[j] > 0.0:
                continue
            dx = positions[defenders[j], 0] - columns[attackers[k], 0]
            dy = positions[defenders[j], 1] - columns[attackers[k], 1]
            d = math.sqrt(dx * dx + dy * dy)
            if d < nearest_m:
                best, nearest_m = j, d
        if best >= 0:
            taken[best] = 1.0
            out[k] = defenders[best]
    return out


def _mark(state: State, positions: Floats, team: int, u_ball: float) -> None:
    """Place defenders near their own goal goal-side of the attackers in their part of the block."""
    tight = float(np.interp(u_ball, [-45.0, -25.0, 5.0, 30.0], [0.9, 0.7, 0.4, 0.15]))
    sign, y_ball = state.sign[team], state.ball.position[1]
    attackers = state.outfield[1 - team]
    order = np.argsort(state.columns[attackers, 0] * sign)
    attackers = attackers[order]
    attackers = attackers[attackers != state.holder]
    of = _assign(state.outfield[team], attackers, positions, state.columns, 9.0)
    goal_x = -sign * state.half_x
    for attacker, defender in zip(attackers.tolist(), of.tolist(), strict=True):
        if defender < 0:
            continue
        ax, ay = state.columns[attacker, 0] + 0.4 * state.columns[attacker, 2], state.columns[attacker, 1]
        ay += 0.4 * state.columns[attacker, 3]
        dx, dy = goal_x - ax, -ay
        d = max(math.hypot(dx, dy), 0.1)
        off = 0.9 + 2.7 * (1.0 - tight)
        # Wide ones far from the ball can wait: the middle comes first.
        firm = tight * (0.45 if abs(ay) > 17.0 and abs(ay - y_ball) > 20.0 else 1.0)
        if -sign * state.columns[attacker, 2] > 3.5:
            # A runner is run after.
            state.urgent[defender] = True
        positions[defender, 0] += firm * (ax + dx / d * off - positions[defender, 0])
        positions[defender, 1] += firm * (ay + dy / d * off - positions[defender, 1])


def keep_goal(state: State, positions: Floats, x: float, y: float) -> None:
    """Place goalkeepers between ball and goal, further out the further away the ball is."""
    sway = state.sway()
    for team in (0, 1):
        sign = float(state.sign[team])
        goal_x = -sign * state.half_x
        away = math.hypot(x - goal_x, y)
        out = float(np.interp(away, [6.0, 12.0, 20.0, 35.0, 52.0, 85.0, 100.0], [2.4, 3.2, 4.5, 9.0, 13.0, 19.0, 21.0]))
        dx, dy = x - goal_x, y
        d = max(math.hypot(dx, dy), 0.1)
        keeper = state.keeper(team)
        calm = float(np.interp(away, [32.0, 55.0], [0.0, 0.8]))
        positions[keeper] = goal_x + dx / d * out + calm * sway[keeper, 0], dy / d * out + calm * sway[keeper, 1]


def last_line(state: State, team: int) -> float:
    """Return u of the offside line for an attacking team (Law 11).

    The line is the second-last opponent, the ball or the halfway line, whichever is nearest to the goal line.
    """
    sign = float(state.sign[team])
    us = np.sort(state.columns[state.of_team[1 - team], 0] * sign)
    return max(float(us[-2]), state.ball.position[0] * sign, 0.0)


def _stay_onside(state: State, positions: Floats, attack: int) -> None:
    """Keep attackers behind the last line, as well as they see it."""
    sign = float(state.sign[attack])
    line = last_line(state, attack)
    rows = state.outfield[attack]
    rows = rows[rows != state.holder]
    u = positions[rows, 0] * sign
    positions[rows, 0] = sign * np.minimum(u, line - 0.4 + state.keen[rows])


def _runs(state: State, attack: int) -> None:
    """Start and steer runs behind the last line, or past the holder on the wing."""
    if state.holder < 0 or state.in_hands:
        return
    sign = float(state.sign[attack])
    line = last_line(state, attack)
    u_ball = state.ball.position[0] * sign
    rows = state.outfield[attack]
    running = state.run_until_s[rows] > state.now_s
    if running.sum() < 3 and u_ball > -30.0:
        fresh = state.now_s - state.turnover_s < 5.0
        for row in rows[~running].tolist():
            u = state.columns[row, 0] * sign
            front = state.depth_of[row] > 0.6
            wing = abs(state.side_of[row]) > 0.8
            rate = (0.055 if front else 0.035 if wing else 0.015) * (2.0 if fresh else 1.0)
            if u > u_ball - 12.0 and u < line + 0.5 and state.chance(rate * PLAN_S):
                state.run_until_s[row] = state.now_s + float(state.rng.uniform(1.3, 2.6))
    for row in rows.tolist():
        if row == state.holder or state.now_s > state.run_until_s[row]:
            continue
        x, y = state.xy(row)
        inside = float(np.clip(y, -10.0, 10.0)) if state.depth_of[row] > 0.6 else y
        deep = min(x * sign + 14.0, state.half_x - 5.0)
        if x * sign > line + 1.5:
            # Too early: he comes back before he is of no use.
            state.run_until_s[row] = state.now_s
        state.targets[row] = sign * deep, y + 0.4 * (inside - y)
        state.paces[row] = 8.8
        state.facing[row] = np.nan
