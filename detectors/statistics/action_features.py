"""Features of the newest three actions, as VAEP sees them (Decroos et al. 2019; pure).

An action is a pass, a dribble or a shot, a subset of SPADL. Names and values of the features are those of socceraction
1.5.3 (``vaep/features.py``, MIT licence) for the same actions: the pitch is 105 x 68 m with the origin in a corner, and
the team of the newest action attacks to the right. A missing action is the first one of the period once more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from football.match_sheet import Team
from football.pitch import Pitch

LENGTH_M, WIDTH_M = 105.0, 68.0
TYPES = ("pass", "dribble", "shot")
#: Actions of a state.
STATE = 3

_ONE = (
    *(f"actiontype_{name}" for name in TYPES), "result_success", "actiontype_shot_result_success", "start_x", "start_y",
    "end_x", "end_y", "start_dist_to_goal", "start_angle_to_goal", "end_dist_to_goal", "end_angle_to_goal", "dx", "dy",
    "movement",
)  # fmt: skip
_BETWEEN = ("team_{}", "time_delta_{}", "dx_a0{}", "dy_a0{}", "mov_a0{}")
#: In the order of :func:`features`.
NAMES = (
    *(f"{name}_a{number}" for number in range(STATE) for name in _ONE),
    *(name.format(number) for number in range(1, STATE) for name in _BETWEEN),
)


class Action(msgspec.Struct, frozen=True, gc=False):
    """An action with the ball.

    Attributes:
        type: one of ``TYPES``.
        success: True if the pass arrived, the shot was a goal; a dribble always is.
        team: of the player.
        player: who plays the ball.
        start_us: event time of its begin.
        start: place in metres from the centre spot.
        end: the same of its end.
    """

    type: str
    success: bool
    team: Team
    player: str
    start_us: int
    start: tuple[float, float]
    end: tuple[float, float]


def features(actions: Sequence[Action], attacks: Team, pitch: Pitch) -> list[float]:
    """Values of ``NAMES``.

    Args:
        actions: the newest ones of a period, oldest first; at least one.
        attacks: the team that attacks +x.
        pitch: on which they were.
    """
    newest = actions[-1]
    sign = 1.0 if newest.team == attacks else -1.0
    states = [actions[-1 - number] if number < len(actions) else actions[0] for number in range(STATE)]
    places = [(_place(one.start, sign, pitch), _place(one.end, sign, pitch)) for one in states]
    values: list[float] = []
    for one, ((x, y), (end_x, end_y)) in zip(states, places, strict=True):
        values += [float(one.type == name) for name in TYPES]
        values += [float(one.success), float(one.success and one.type == "shot"), x, y, end_x, end_y]
        values += [*_to_goal(x, y), *_to_goal(end_x, end_y), end_x - x, end_y - y, math.hypot(end_x - x, end_y - y)]
    x, y = places[0][0]
    for one, (_, (end_x, end_y)) in zip(states[1:], places[1:], strict=True):
        values += [float(one.team == newest.team), (newest.start_us - one.start_us) / 1e6]
        values += [end_x - x, end_y - y, math.hypot(end_x - x, end_y - y)]
    return values


def _place(at: tuple[float, float], sign: float, pitch: Pitch) -> tuple[float, float]:
    x = (at[0] * sign / (2.0 * pitch.half_length_m) + 0.5) * LENGTH_M
    y = (at[1] * sign / (2.0 * pitch.half_width_m) + 0.5) * WIDTH_M
    return min(max(x, 0.0), LENGTH_M), min(max(y, 0.0), WIDTH_M)


def _to_goal(x: float, y: float) -> tuple[float, float]:
    """Distance from the middle of the opponents' goal, and angle to the axis of the pitch."""
    dx, dy = LENGTH_M - x, abs(WIDTH_M / 2.0 - y)
    return math.hypot(dx, dy), math.atan2(dy, dx)
