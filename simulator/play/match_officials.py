"""Positions of referee, assistants and substitutes: of everybody who does not play."""

from __future__ import annotations

import math

import numpy as np

from simulator.play import occasions
from simulator.play.match_state import BENCH_Y_M, State
from simulator.play.team_shape import last_line
from simulator.records import REFEREES, SQUAD, STARTERS


def bench_position(state: State, row: int) -> tuple[float, float]:
    """Return where a substitute sits."""
    side = -1.0 if row < SQUAD else 1.0
    return side * (8.0 + 1.1 * (row % SQUAD - STARTERS)), -state.half_y - BENCH_Y_M


def plan(state: State) -> None:
    """Move the referee along a diagonal after play, and the assistants in line with the second-last defender."""
    x, y, _ = state.ball.position
    referee, first, second = REFEREES
    back = 11.0 if state.live else 8.0
    tx = float(np.clip(0.85 * x - math.copysign(3.0, x), 8 - state.half_x, state.half_x - 8))
    ty = 0.55 * y + (back if x < 0 else -back)
    state.targets[referee] = tx, float(np.clip(ty, 8 - state.half_y, state.half_y - 8))
    gap = state.gap(referee, tx, ty)
    state.paces[referee] = float(np.interp(gap, [0.0, 4.0, 12.0, 25.0], [0.6, 1.6, 4.0, 6.5]))
    for row, side in ((first, 1.0), (second, -1.0)):
        team = 0 if state.sign[0] == side else 1
        u = max(last_line(state, team), 0.0)
        state.targets[row] = side * min(u, state.half_x), side * (state.half_y + 0.9)
        gap = state.gap(row, *state.targets[row])
        state.paces[row] = float(np.interp(gap, [0.0, 2.0, 6.0, 12.0], [0.5, 2.0, 4.5, 7.0]))
    for row in REFEREES:
        cx, cy = state.xy(row)
        state.facing[row] = math.atan2(y - cy, x - cx)


def seat_substitutes(state: State) -> None:
    """Send every substitute who is not about to come on to a seat on the bench."""
    busy = {change.on for change in state.changes} | set(state.walking)
    for row in np.flatnonzero(~state.is_playing[: 2 * SQUAD]).tolist():
        if row in busy:
            continue
        seat = state.seats.get(row) or bench_position(state, row)
        state.targets[row], state.paces[row], state.facing[row] = seat, 1.5, math.pi / 2
        if state.settings.occasions.warm_ups and row not in state.seats:
            state.targets[row], state.paces[row] = occasions.warming_position(state, row, seat)
            state.facing[row] = math.nan
