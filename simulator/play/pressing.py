"""Pressing: the opponent who attacks the holder of the ball, and those who cover."""

from __future__ import annotations

import math

import numpy as np

from simulator.play import provider_truth, referee
from simulator.play.match_state import State


def press(state: State) -> None:
    """Send the nearest opponent at the holder, and the next between holder and goal."""
    team = 1 - int(state.team[state.holder])
    rows = state.outfield[team]
    bx, by, _ = state.ball.position
    vx, vy, _ = state.ball.velocity
    gaps = np.hypot(
        state.columns[rows, 0] + 0.3 * state.columns[rows, 2] - bx,
        state.columns[rows, 1] + 0.3 * state.columns[rows, 3] - by,
    )
    order = rows[np.argsort(gaps)]
    u = bx * float(state.sign[team])
    pressing = state.squads.teams[team].pressing
    first = int(order[0])
    near = float(gaps.min())
    keen = pressing * float(np.interp(u, [-40.0, 0.0, 25.0, 45.0], [1.2, 1.0, 0.75, 0.5]))
    if near < 18.0 * keen:
        goal_x = -float(state.sign[team]) * state.half_x
        dx, dy = goal_x - bx, -by
        d = max(math.hypot(dx, dy), 0.1)
        # He comes from the side of the goal, to where the ball will be when he is there.
        off, lead = (0.25, 0.3) if near < 3.0 else (1.0, 0.5)
        state.targets[first] = bx + lead * vx + dx / d * off, by + lead * vy + dy / d * off
        state.paces[first] = 7.2 if near > 2.5 or math.hypot(vx, vy) > 4.0 else 5.5
        state.facing[first] = np.nan
        provider_truth.attacked(state, first)
        referee.pulled(state, first, state.holder)
        if len(order) > 2:
            _cover(state, order[1:3].tolist(), (dx / d, dy / d), d)


def _cover(state: State, rows: list[int], direction: tuple[float, float], away_m: float) -> None:
    """Place the next two between holder and goal; the second of them only where a shot may come."""
    bx, by, _ = state.ball.position
    for number, row in enumerate(rows):
        if number and away_m > 32.0:
            return
        back = min(4.5 + 4.0 * number, 0.6 * away_m)
        side = 0.8 * (1 - 2 * number)
        state.targets[row] = (
            bx + direction[0] * back - direction[1] * side,
            by + direction[1] * back + direction[0] * side,
        )
        state.paces[row] = 6.5 if away_m < 32.0 else 5.0
