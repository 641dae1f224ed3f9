"""Positions at restarts: walls, boxes, the distances that the Laws ask for."""

from __future__ import annotations

import math

import numpy as np

from football.packet_table import Floats
from simulator.play.match_state import BOX_X_M, BOX_Y_M, CIRCLE_M, Restart, State
from simulator.play.team_shape import keep_goal, paces, spread_out

#: Opponents of a thrower stay so far away (Law 15), and a little more.
THROW_M = 2.4


def draw_positions(state: State, restart: Restart) -> None:
    """Draw who goes into the box or into a wall, and where; once a restart."""
    crowded = restart.kind == "corner" or (restart.kind == "free_kick" and restart.style in ("crossed", "direct shot"))
    if crowded:
        _gather_in_box(state, restart)
    if restart.kind == "free_kick" and restart.style in ("direct shot", "crossed"):
        _build_wall(state, restart)
    if restart.kind == "throw_in":
        _come_near(state, restart)


def _gather_in_box(state: State, restart: Restart) -> None:
    """Send attackers who head well before the goal, with defenders beside them; one or two stay back."""
    team, sign = restart.team, float(state.sign[restart.team])
    rows = state.outfield[team]
    rows = rows[rows != restart.taker]
    order = rows[np.argsort(-(state.ability["heading"][rows] + 0.4 * state.depth_of[rows]))]
    deep_m = (4.0, 13.0) if restart.kind == "corner" else (6.0, 15.0)
    for row in order[:6].tolist():
        deep = float(state.rng.uniform(*deep_m))
        restart.positions[row] = sign * (state.half_x - deep), float(state.rng.uniform(-8.0, 8.0))
    for row in order[6:7].tolist():
        restart.positions[row] = sign * (state.half_x - 20.0), float(state.rng.uniform(-9.0, 9.0))
    marks = list(restart.positions.values())
    others = state.outfield[1 - team]
    near = others[np.argsort(state.columns[others, 0] * -sign)]
    for number, row in enumerate(near[:9].tolist()):
        if number < len(marks):
            x, y = marks[number]
            restart.positions[row] = x + sign * 1.1, 0.92 * y
        else:
            deep = float(state.rng.uniform(2.0, 8.0))
            restart.positions[row] = sign * (state.half_x - deep), float(state.rng.uniform(-5.0, 5.0))


def _build_wall(state: State, restart: Restart) -> None:
    """Build a wall of one to five defenders 9.15 m from the ball, on its path to the goal (Law 13)."""
    team, sign = restart.team, float(state.sign[restart.team])
    x, y = restart.spot
    away = state.goal_gap(team, x, y)
    size = 5 if away < 21.0 else 4 if away < 25.0 else 3
    if restart.style == "crossed":
        size = 1 if away > 32.0 else 2
    dx, dy = sign * state.half_x - x, math.copysign(2.0, y) - y
    d = math.hypot(dx, dy)
    ux, uy = dx / d, dy / d
    rows = state.outfield[1 - team]
    for number, row in enumerate(rows[np.argsort(state.gaps(rows, x, y))][:size].tolist()):
        off = (number - (size - 1) / 2) * 0.55
        restart.positions[row] = x + ux * (CIRCLE_M + 0.3) - uy * off, y + uy * (CIRCLE_M + 0.3) + ux * off


def _come_near(state: State, restart: Restart) -> None:
    """Let two or three team mates approach the thrower, each with an opponent near."""
    x, y = restart.spot
    sign = float(state.sign[restart.team])
    rows = state.outfield[restart.team]
    rows = rows[rows != restart.taker]
    inwards = -math.copysign(1.0, y)
    order = rows[np.argsort(state.gaps(rows, x, y))][:3]
    others = state.outfield[1 - restart.team]
    others = others[np.argsort(state.gaps(others, x, y))][:4].tolist()
    for number, row in enumerate(order.tolist()):
        along = (9.0, 1.0, -8.0)[number] + state.draw(0.0, 2.0)
        inside = (5.0, 9.0, 7.0)[number] + state.draw(0.0, 1.5)
        px = float(np.clip(x + sign * along, 1.0 - state.half_x, state.half_x - 1.0))
        restart.positions[row] = px, y + inwards * inside
        if number < len(others):
            near = abs(state.draw(2.0, 1.2)) + 0.6
            restart.positions[others[number]] = px + sign * near, y + inwards * (inside + 0.6)


def plan(state: State, restart: Restart) -> None:
    """Set targets and speeds of all players while the restart is awaited."""
    team = restart.team
    x, y = restart.spot
    if restart.kind == "kick_off":
        positions = kick_off_positions(state, restart)
    else:
        us = (float(x * state.sign[0]), float(x * state.sign[1]))
        ws = (float(y * state.sign[0]), float(y * state.sign[1]))
        positions = spread_out(state, us, ws, team)
    positions += state.sway() * (restart.kind != "kick_off")
    keep_goal(state, positions, x, y)
    for row, position in restart.positions.items():
        if state.is_playing[row]:
            positions[row] = position
    if restart.kind == "penalty":
        _clear_box(state, restart, positions)
    if restart.kind == "goal_kick":
        _leave_box(state, restart, positions)
    keep_distance(state, restart, positions)
    positions[restart.taker] = restart.stand or restart.spot
    rows = state.players
    state.targets[rows] = positions[rows]
    # Nobody hurries before he must; but all want to be there in time.
    left_s = max(restart.earliest_s - state.now_s - 1.0, 1.0)
    far = np.hypot(*(positions[rows] - state.columns[rows, :2]).T)
    lazy = paces(state, rows, positions)
    state.paces[rows] = np.clip(np.maximum(0.55 * lazy, 1.15 * far / left_s), 0.4, 6.0)
    bx, by, _ = state.ball.position
    state.facing[:] = np.arctan2(by - state.columns[:, 1], bx - state.columns[:, 0])
    state.facing[state.paces > 2.6] = np.nan


def kick_off_positions(state: State, restart: Restart) -> Floats:
    """Place everybody in the own half, and the opponents outside the circle (Law 8)."""
    positions = np.full((len(state.team), 2), np.nan)
    for team in (0, 1):
        rows = state.outfield[team]
        sign = state.sign[team]
        u = -38.0 + 36.5 * state.depth_of[rows]
        positions[rows, 0] = sign * np.minimum(u * state.half_x / 52.5, -0.8)
        positions[rows, 1] = sign * state.side_of[rows] * state.half_y * 0.75
    near = state.outfield[restart.team]
    near = near[near != restart.taker]
    mate = int(near[np.argmax(state.depth_of[near])])
    positions[mate] = -2.0 * state.sign[restart.team], 5.0
    return positions


def _clear_box(state: State, restart: Restart, positions: Floats) -> None:
    """Keep all but taker and goalkeeper out of the box, 9.15 m from the mark and behind it (Law 14)."""
    team, sign = restart.team, float(state.sign[restart.team])
    keeper = state.keeper(1 - team)
    limit_m = state.half_x - BOX_X_M - 1.0
    waiting = [r for r in state.players.tolist() if r not in (restart.taker, keeper, state.keeper(team))]
    positions[keeper] = sign * (state.half_x - 0.05), 0.0
    near = [r for r in waiting if positions[r, 0] * sign > limit_m - 6.0]
    for number, row in enumerate(sorted(near, key=lambda r: float(positions[r, 1]))):
        y = -14.0 + 28.0 * (number + 0.5) / len(near)
        # The arc keeps them off the middle.
        back = max(0.0, math.sqrt(max(10.2**2 - y * y, 0.0)) - 5.5)
        positions[row] = sign * (limit_m - back - 0.5 * (number % 2)), y


def _leave_box(state: State, restart: Restart, positions: Floats) -> None:
    rows = state.of_team[1 - restart.team]
    side = math.copysign(1.0, restart.spot[0])
    edge = state.half_x - BOX_X_M - 1.0
    inside = (positions[rows, 0] * side > edge) & (np.abs(positions[rows, 1]) < BOX_Y_M + 1.0)
    positions[rows[inside], 0] = side * edge


def keep_distance(state: State, restart: Restart, positions: Floats) -> None:
    """Move opponents in ``positions`` to their distance from the ball (Laws 8, 13, 15, 17)."""
    if restart.kind in ("goal_kick", "penalty", "dropped"):
        return
    distance_m = THROW_M if restart.kind == "throw_in" else CIRCLE_M + 0.35
    rows = state.of_team[1 - restart.team]
    sx, sy = restart.spot
    dx, dy = positions[rows, 0] - sx, positions[rows, 1] - sy
    # Who would stand on the spot goes back towards his own goal.
    home = -float(state.sign[1 - restart.team])
    dx = np.where(np.hypot(dx, dy) < 0.5, home, dx)
    d = np.maximum(np.hypot(dx, dy), 1e-6)
    near = d < distance_m
    positions[rows[near], 0] = sx + dx[near] / d[near] * distance_m
    positions[rows[near], 1] = sy + dy[near] / d[near] * distance_m
    limit_x, limit_y = state.half_x - 0.3, state.half_y - 0.3
    outside = rows[(np.abs(positions[rows, 0]) > limit_x) | (np.abs(positions[rows, 1]) > limit_y)]
    for row in outside.tolist():
        # Beside a line the distance is kept along it.
        x, y = (
            float(np.clip(positions[row, 0], -limit_x, limit_x)),
            float(np.clip(positions[row, 1], -limit_y, limit_y)),
        )
        if math.hypot(x - sx, y - sy) < distance_m:
            x = sx + home * math.sqrt(max(distance_m**2 - (y - sy) ** 2, 0.0))
            if abs(x) > limit_x:
                x = float(np.clip(x, -limit_x, limit_x))
                y = sy - math.copysign(math.sqrt(max(distance_m**2 - (x - sx) ** 2, 0.0)), sy)
        positions[row] = x, y
