"""Stoppages: play ends, and a restart is awarded with its taker, its style and its usual dead time.

Boundary lines, the referee and the end of a period stop play through :func:`end_play`, and award what follows through
:func:`award_restart`. ``simulator.play.restarts`` then plays the restart.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.play import derived_truth, occasions, set_pieces
from simulator.play.match_state import Restart, State
from simulator.records import Vector

#: What one occasion adds, in seconds (IFAB Law 7.3 names them; the lengths are usual ones).
ADDED_S = {"goal": 35.0, "substitution": 25.0, "card": 12.0, "penalty": 40.0}
#: Median and spread (log-normal) of the seconds from the end of play to the restart, and the least it takes.
_DEAD_S = {
    "throw_in": (9.0, 0.4, 3.5),
    "goal_kick": (22.0, 0.3, 8.0),
    "corner": (27.0, 0.25, 14.0),
    "free_kick": (19.0, 0.45, 4.0),
    "kick_off": (48.0, 0.2, 30.0),
    "penalty": (70.0, 0.2, 45.0),
    "dropped": (18.0, 0.3, 8.0),
}
#: Dead time of a free kick with a wall or before the goal is longer by this factor.
_SET_PIECE = 1.7


def end_play(state: State, t_s: float, position: Vector, why: str, cause: int) -> int:
    """End play at ``t_s``; return the row of ``play.dead``."""
    dead = state.truth.add("play.dead", t_s, -1, position, why, (cause,))
    state.truth.end_play(t_s, dead, position)
    derived_truth.ended(state, t_s, position)
    state.live = False
    state.holder, state.in_hands, state.action, state.flight = -1, False, None, None
    return dead


def award_restart(
    state: State, kind: str, team: int, spot: tuple[float, float], cause: int, t_s: float, *, indirect: bool = False
) -> Restart:
    """Award ``kind`` to ``team`` at ``spot``, and choose taker, style and time."""
    restart = Restart(kind, team, spot, -1, t_s, t_s, cause, is_indirect=indirect)
    restart.taker = restart.fetcher = _taker(state, restart)
    if kind == "goal_kick":
        restart.style = "long" if state.chance(0.45 * state.squads.teams[team].directness) else "short"
    elif kind == "free_kick":
        restart.style = _free_kick_style(state, restart)
    elif kind == "corner":
        restart.style = "short" if state.chance(0.08) else "crossed"
    median, spread, min_s = _DEAD_S[kind]
    if restart.style in ("direct shot", "crossed") and kind == "free_kick":
        median, min_s = median * _SET_PIECE, 15.0
    median *= state.settings.occasions.dead_factor
    restart.earliest_s = t_s + max(min_s, median * math.exp(state.draw(0.0, spread)))
    state.restart = restart
    state.attack = team
    state.taker = -1
    occasions.hurry(state, restart)
    set_pieces.draw_positions(state, restart)
    return restart


def _taker(state: State, restart: Restart) -> int:
    rows = state.outfield[restart.team]
    kind = restart.kind
    if kind == "goal_kick":
        return state.keeper(restart.team)
    if kind == "kick_off":
        return int(rows[np.argmax(state.depth_of[rows])])
    if kind == "penalty":
        return int(rows[np.argmax(state.ability["shooting"][rows])])
    if kind == "corner":
        wide = rows[state.depth_of[rows] > 0.2]
        wide = wide if len(wide) else rows
        return int(wide[np.argmax(state.ability["passing"][wide] - 0.02 * state.gaps(wide, *restart.spot))])
    if kind == "throw_in":
        side = np.abs(state.side_of[rows] * state.half_y * state.sign[restart.team] - restart.spot[1])
        return int(rows[np.argmin(state.gaps(rows, *restart.spot) + 0.25 * side)])
    if kind == "free_kick" and state.goal_gap(restart.team, *restart.spot) < 40.0:
        return int(rows[np.argmax(state.ability["passing"][rows] - 0.02 * state.gaps(rows, *restart.spot))])
    if kind == "free_kick" and state.depth(restart.team, restart.spot[0]) > 88.0:
        return state.keeper(restart.team)
    return state.nearest(rows, *restart.spot)[0]


def _free_kick_style(state: State, restart: Restart) -> str:
    away = state.goal_gap(restart.team, *restart.spot)
    deep = state.depth(restart.team, restart.spot[0])
    if restart.is_indirect:
        return "short"
    if away < 29.0 and abs(restart.spot[1]) < 16.0 and state.chance(0.8):
        return "direct shot"
    if deep < 45.0 and state.chance(0.65):
        return "crossed"
    return "long" if deep > 60.0 and state.chance(0.2 * state.squads.teams[restart.team].directness) else "short"
