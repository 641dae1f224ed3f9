"""Pitch control: Spearman's model, as kernels over arrays (shared by 10.7 and 10.9; pure).

Theory of operation
-------------------
A player keeps his velocity for a reaction time, then runs straight at full speed: that is his expected time of arrival
at a position. His chance to be there by time T is a logistic curve about it (spread sigma). While he is there, he
controls the ball at a rate lambda, a goalkeeper at a higher one. Integrated over time, from the arrival of the ball,
these rates give each team's chance to control it (Spearman 2018, "Beyond expected goals"; in the form of
LaurieOnTracking).
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.control.scene import Bodies
from detectors.reasons import reason
from detectors.signals.kernels.control_kernel import Floats, Ints, chance_of_pass, control_of_grid, passes_likely

#: The slower team is left out when its chance is smaller by this many orders of magnitude.
HEAD_START_ORDERS = 3.0


class SpearmanParameters(msgspec.Struct, frozen=True):
    """Numbers of Spearman's model.

    Attributes:
        reaction_s: reaction time of a player, for which he keeps his velocity.
        speed_m_s: speed of a running player.
        sigma_s: spread of his time of arrival.
        control_per_s: rate at which a player who has arrived controls the ball (lambda).
        keeper_factor: factor of that rate of a defending goalkeeper, who has hands.
        ball_m_s: mean speed of a pass.
        dt_s: step of the integration.
    """

    reaction_s: Annotated[float, reason("LaurieOnTracking; Spearman's acceleration of 7 m/s² enters by it only.")] = 0.7
    speed_m_s: Annotated[float, reason("LaurieOnTracking.")] = 5.0
    sigma_s: Annotated[float, reason("LaurieOnTracking.")] = 0.45
    control_per_s: Annotated[float, reason("LaurieOnTracking.")] = 4.3
    keeper_factor: Annotated[float, reason("LaurieOnTracking.")] = 3.0
    ball_m_s: Annotated[float, reason("LaurieOnTracking.")] = 15.0
    dt_s: Annotated[float, reason("LaurieOnTracking.")] = 0.04


def players_array(bodies: Bodies, keeper: str, p: SpearmanParameters) -> Floats:
    """A team for the kernels, a row (x, y, vx, vy, rate) a player; ``keeper`` controls faster, if not empty."""
    rows = [
        (b.x_m, b.y_m, b.vx_m_s, b.vy_m_s, p.control_per_s * (p.keeper_factor if b.object_id == keeper else 1.0))
        for b in bodies
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 5)


class Zones(NamedTuple):
    """A grid's points by zone: indices into the grid, zone after zone, row by row; where each begins, and the end."""

    points: Ints
    begins: Ints


def zones_of(zone: npt.NDArray[np.intp]) -> Zones:
    """The points of a grid by zone; ``zone``: of each point the number of its zone, shape (rows, columns)."""
    flat = zone.ravel()
    return Zones(np.argsort(flat, kind="stable"), np.searchsorted(np.sort(flat), np.arange(flat.max() + 2)))


def control_grid(
    x_m: Floats,
    y_m: Floats,
    ball: tuple[float, float],
    attackers: Floats,
    defenders: Floats,
    p: SpearmanParameters,
    held: tuple[Zones, Ints, float] | None = None,
) -> Floats:
    """The attackers' chance of control at each point of a grid, shape (len(y_m), len(x_m)).

    Args:
        held: zones; the owner of each (1: the attackers, -1: the defenders, 0: none); and the mean with which a zone
            keeps its owner. Of a zone that does, only as many points are evaluated as show it; the others are NaN.
            Without ``held`` all points are evaluated.
    """
    if held is None:
        held = Zones(np.arange(len(x_m) * len(y_m)), np.array([0, len(x_m) * len(y_m)])), np.zeros(1, np.int64), 0.0
    (points, begins), owners, least = held
    return control_of_grid(
        x_m, y_m, ball[0], ball[1], attackers, defenders, points, begins, owners, least, *_numbers(p)
    )


def pass_success(
    target: tuple[float, float], ball: tuple[float, float], attackers: Floats, defenders: Floats, p: SpearmanParameters
) -> float:
    """Chance that the passing team controls a ball played to a position at ``ball_m_s``, on its path or at its end.

    Args:
        attackers: the passing team without the passer.
    """
    return float(chance_of_pass(target[0], target[1], ball[0], ball[1], attackers, defenders, math.nan, *_numbers(p)))


def passes_that_succeed(
    ball: tuple[float, float], attackers: Floats, defenders: Floats, least: float, p: SpearmanParameters
) -> int:
    """Number of mates to whom a pass succeeds with a chance of at least ``least`` (see :func:`pass_success`).

    A pass goes to the mate's position after the time that the ball needs to his present one.
    """
    flight_s = np.hypot(attackers[:, 0] - ball[0], attackers[:, 1] - ball[1]) / p.ball_m_s
    return int(passes_likely(flight_s, ball[0], ball[1], attackers, defenders, least, *_numbers(p)))


def load() -> None:
    """Load the kernels, or compile them the first time, so that the first sample of a match is not late."""
    p, players, axis = SpearmanParameters(), np.empty((0, 5)), np.zeros(1)
    control_grid(axis, axis, (0.0, 0.0), players, players, p)
    pass_success((0.0, 0.0), (0.0, 0.0), players, players, p)
    passes_that_succeed((0.0, 0.0), players, players, 1.0, p)


def _numbers(p: SpearmanParameters) -> tuple[float, float, float, float, float, float]:
    head_start_s = HEAD_START_ORDERS * math.log(10.0) * (math.sqrt(3.0) * p.sigma_s / math.pi + 1.0 / p.control_per_s)
    return p.reaction_s, p.speed_m_s, p.sigma_s, p.ball_m_s, p.dt_s, head_start_s
