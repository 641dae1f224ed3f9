"""Offside positions by the true positions of bodies and feet at the moment of the kick (IFAB Law 11).

Head, body and feet count, arms do not. Feet are where the limbs' transmitters are (:mod:`simulator.physics.limbs`), a
boot longer; head and trunk extend a little before and behind the middle of the body. Detectors see these positions
with noise; this module is the truth that they are scored against.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from football.packet_table import Floats
from simulator.physics.limbs import limb_paths
from simulator.play.match_state import State
from simulator.records import BALLS, FEET, STEP_S, TICK_S, PlayedInterval

#: Half the depth of a trunk, and from a foot's transmitter to the toe, in metres.
TRUNK_M, TOE_M = 0.15, 0.12
#: The feet at an instant are known so long after it: they follow from the next two ticks.
KNOWN_S = 3 * TICK_S
#: No offence follows from these restarts (Law 11.3).
EXEMPT = ("throw_in", "goal_kick", "corner")
#: Who is further behind the line than this (by the middle of his body) is not looked at.
NEAR_M = 0.9


def may_be_ahead(state: State, row: int) -> tuple[int, ...]:
    """Return the team mates of ``row`` who may be in an offside position now; ``metres_beyond`` decides."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    us = np.sort(state.columns[state.of_team[1 - team], 0] * sign)
    line = max(float(us[-2]), state.ball.position[0] * sign, 0.0)
    mates = state.mates(row)
    u = state.columns[mates, 0] * sign
    return tuple(mates[u > line - NEAR_M].tolist())


def metres_beyond(state: State, rows: Sequence[int], team: int, t_s: float, ball_u: float) -> dict[int, float]:
    """Return those of some team mates who were in an offside position at ``t_s``, and how far beyond the line.

    Args:
        rows: players of ``team``.
        ball_u: place of the ball then, along the attack of ``team``.
    """
    sign = float(state.sign[team])
    opponents = state.of_team[1 - team]
    tick = round(t_s / TICK_S) - (state.tick - len(state.ticks))
    centres = state.ticks[min(max(tick, 0), len(state.ticks) - 1)][opponents, 0] * sign
    # Only the three who are nearest to their goal line can be the last two.
    last = opponents[np.argsort(-centres)][:3]
    window = _window(state, t_s)
    ends = sorted((_foremost(window, int(r), sign, t_s) for r in last), reverse=True)
    line = max(ends[1], ball_u, 0.0)
    beyond = {row: _foremost(window, row, sign, t_s) - line for row in rows}
    return {row: by_m for row, by_m in beyond.items() if by_m > 0.0}


def _window(state: State, t_s: float) -> PlayedInterval:
    """Return the played time around an instant as an interval of one tick."""
    first = max(state.tick - len(state.ticks), round(t_s / TICK_S) - 50)
    offset = state.tick - len(state.ticks)
    persons = np.array(state.ticks[first - offset :])
    ticks_s = np.arange(first, first + len(persons)) * TICK_S
    contacts = tuple(c for c in state.contacts if ticks_s[0] <= c.t_s + c.hold_s and c.t_s <= ticks_s[-1])
    steps = round(TICK_S / STEP_S)
    balls = np.zeros((len(BALLS), steps, 3))
    return PlayedInterval(
        t_s, t_s + TICK_S, ticks_s, persons, contacts, balls, np.zeros((steps, 3)), np.zeros(steps, np.int8)
    )


def _foremost(window: PlayedInterval, row: int, sign: float, t_s: float) -> float:
    """Return the upfield position of the part of a person that is nearest to the goal line."""
    at: Floats = np.array([t_s])
    k = min(max(round((t_s - window.ticks_s[0]) / TICK_S), 0), len(window.ticks_s) - 1)
    body = float(window.persons[k, row, 0]) * sign + TRUNK_M
    feet = (float(limb_paths(window, row, foot, at)[0, 0]) * sign + TOE_M for foot in FEET)
    return max(body, *feet)
