"""Pitch control: Spearman's model, as kernels over arrays (shared by 10.7 and 10.9; pure).

Theory of operation
-------------------
A player keeps his velocity for a reaction time, then runs straight at full speed: that is his expected time of arrival
at a position. His chance to be there by time T is a logistic curve about it (spread sigma). While he is there, he
controls the ball at a rate lambda, a goalkeeper at a higher one. Integrated over time, from the arrival of the ball,
these rates give each team's chance to control it (Spearman 2018, "Beyond expected goals"; in the form of
LaurieOnTracking).

Over a step of ``dt`` the logistic's exponential shrinks by a constant factor, so the inner loop needs no exponential.
Nothing is integrated where one team arrives so much sooner that the other has no chance worth naming. Questions whether
a threshold holds are answered as soon as the remaining points cannot change the answer: whether a zone keeps its owner,
whether a pass succeeds.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.control.scene import Bodies
from detectors.reasons import reason

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Time after the arrival of the ball at which the integration ends, in seconds.
WAIT_MAX_S = 10.0
#: A position is decided when the chances add up to this.
SETTLED = 0.99
#: A player this near to the ball's path need not react to be there: he only puts a foot out, in metres (ours; without
#: it a pass straight at an opponent 8 m away would arrive with a chance of 0.7).
REACH_M = 1.0
#: The slower team is left out when its chance is smaller by this many orders of magnitude.
HEAD_START_ORDERS = 3.0
#: Margin of an early answer, greater than the rounding of sums.
ROUNDING_SLACK = 1e-9


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
    return _grid(x_m, y_m, ball[0], ball[1], attackers, defenders, points, begins, owners, least, *_numbers(p))


def pass_success(
    target: tuple[float, float], ball: tuple[float, float], attackers: Floats, defenders: Floats, p: SpearmanParameters
) -> float:
    """Chance that the passing team controls a ball played to a position at ``ball_m_s``, on its path or at its end.

    Args:
        attackers: the passing team without the passer.
    """
    return float(_pass(target[0], target[1], ball[0], ball[1], attackers, defenders, math.nan, *_numbers(p)))


def passes_that_succeed(
    ball: tuple[float, float], attackers: Floats, defenders: Floats, least: float, p: SpearmanParameters
) -> int:
    """Number of mates to whom a pass succeeds with a chance of at least ``least`` (see :func:`pass_success`).

    A pass goes to the mate's position after the time that the ball needs to his present one.
    """
    flight_s = np.hypot(attackers[:, 0] - ball[0], attackers[:, 1] - ball[1]) / p.ball_m_s
    return int(_passes(flight_s, ball[0], ball[1], attackers, defenders, least, *_numbers(p)))


def load() -> None:
    """Load the kernels, or compile them the first time, so that the first sample of a match is not late."""
    p, players, axis = SpearmanParameters(), np.empty((0, 5)), np.zeros(1)
    control_grid(axis, axis, (0.0, 0.0), players, players, p)
    pass_success((0.0, 0.0), (0.0, 0.0), players, players, p)
    passes_that_succeed((0.0, 0.0), players, players, 1.0, p)


def _numbers(p: SpearmanParameters) -> tuple[float, float, float, float, float, float]:
    head_start_s = HEAD_START_ORDERS * math.log(10.0) * (math.sqrt(3.0) * p.sigma_s / math.pi + 1.0 / p.control_per_s)
    return p.reaction_s, p.speed_m_s, p.sigma_s, p.ball_m_s, p.dt_s, head_start_s


@njit(cache=True)
def _times(players: Floats, x: float, y: float, reaction_s: float, speed: float, times: Floats) -> float:
    """Expected times of arrival at a position, into ``times``; the least of them."""
    least = np.inf
    for i in range(len(players)):
        dx = x - players[i, 0] - players[i, 2] * reaction_s
        dy = y - players[i, 1] - players[i, 3] * reaction_s
        times[i] = reaction_s + math.sqrt(dx * dx + dy * dy) / speed
        least = min(least, times[i])
    return least


@njit(cache=True)
def _in_time(
    times: Floats,
    players: Floats,
    least_s: float,
    ball_s: float,
    steep: float,
    head_start_s: float,
    e: Floats,
    rates: Floats,
) -> int:
    """Write exponentials at the ball's arrival, and rates, of the players less than a head start behind the first;
    return their number."""
    count = 0
    for i in range(len(players)):
        if times[i] - max(least_s, ball_s) < head_start_s:
            e[count] = math.exp(min(steep * (times[i] - ball_s), 700.0))
            rates[count] = players[i, 4]
            count += 1
    return count


@njit(cache=True)
def _workspace(attackers: Floats, defenders: Floats) -> Floats:
    return np.empty((5, (len(attackers) + len(defenders) + 7) // 8 * 8))


@njit(cache=True, error_model="numpy")
def _at(
    x: float,
    y: float,
    ball_s: float,
    attackers: Floats,
    defenders: Floats,
    reaction_s: float,
    speed: float,
    sigma_s: float,
    dt_s: float,
    head_start_s: float,
    workspace: Floats,
) -> float:
    """The attackers' chance of control at a position that the ball reaches after ``ball_s``; ``workspace``: five
    rows."""
    own, other, e, rates, each = workspace[0], workspace[1], workspace[2], workspace[3], workspace[4]
    own_s = _times(attackers, x, y, reaction_s, speed, own)
    other_s = _times(defenders, x, y, reaction_s, speed, other)
    if own_s - max(ball_s, other_s) >= head_start_s:
        return 0.0
    if other_s - max(ball_s, own_s) >= head_start_s:
        return 1.0
    steep = math.pi / math.sqrt(3.0) / sigma_s
    shrink = math.exp(-steep * dt_s)
    # The denominator of the logistic is 1 + e, of each player at the ball's arrival; each step shrinks e. A player who
    # is a head start behind the first of his team would arrive too late to matter.
    owns = _in_time(own, attackers, own_s, ball_s, steep, head_start_s, e, rates)
    others = _in_time(other, defenders, other_s, ball_s, steep, head_start_s, e[owns:], rates[owns:])
    attack = defence = 0.0
    n = owns + others
    many = (n + 7) // 8 * 8
    for k in range(n, many):
        e[k] = 0.0
        rates[k] = 0.0
    for _ in range(int(WAIT_MAX_S / dt_s)):
        rest = 1.0 - attack - defence
        if rest < 1.0 - SETTLED:
            break
        for k in range(many):
            each[k] = rates[k] / (1.0 + e[k])
            e[k] *= shrink
        rate = against = 0.0
        for k in range(owns):
            rate += each[k]
        for k in range(owns, n):
            against += each[k]
        attack += rest * rate * dt_s
        defence += rest * against * dt_s
    total = attack + defence
    return attack / total if total > 0.0 else 0.5


@njit(cache=True)
def _grid(
    xs: Floats,
    ys: Floats,
    ball_x: float,
    ball_y: float,
    attackers: Floats,
    defenders: Floats,
    points: Ints,
    begins: Ints,
    owners: Ints,
    least: float,
    reaction_s: float,
    speed: float,
    sigma_s: float,
    ball_speed: float,
    dt_s: float,
    head_start_s: float,
) -> Floats:
    """See :func:`control_grid`."""
    columns = len(xs)
    out = np.full((len(ys), columns), np.nan)
    workspace = _workspace(attackers, defenders)
    for zone in range(len(begins) - 1):
        enough = (least + ROUNDING_SLACK) * (begins[zone + 1] - begins[zone])
        share = 0.0
        for point in points[begins[zone] : begins[zone + 1]]:
            i, j = point // columns, point % columns
            dx, dy = xs[j] - ball_x, ys[i] - ball_y
            ball_s = math.sqrt(dx * dx + dy * dy) / ball_speed
            out[i, j] = _at(
                xs[j], ys[i], ball_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, workspace
            )
            if owners[zone]:
                share += out[i, j] if owners[zone] > 0 else 1.0 - out[i, j]
                if share > enough:
                    break
    return out


@njit(cache=True)
def _passes(
    flight_s: Floats,
    ball_x: float,
    ball_y: float,
    attackers: Floats,
    defenders: Floats,
    least: float,
    reaction_s: float,
    speed: float,
    sigma_s: float,
    ball_speed: float,
    dt_s: float,
    head_start_s: float,
) -> int:
    """See :func:`passes_that_succeed`."""
    count = 0
    for i in range(len(attackers)):
        x = attackers[i, 0] + attackers[i, 2] * flight_s[i]
        y = attackers[i, 1] + attackers[i, 3] * flight_s[i]
        chance = _pass(
            x, y, ball_x, ball_y, attackers, defenders, least,
            reaction_s, speed, sigma_s, ball_speed, dt_s, head_start_s,
        )  # fmt: skip
        count += chance >= least
    return count


@njit(cache=True, error_model="numpy")
def _pass(
    x: float,
    y: float,
    ball_x: float,
    ball_y: float,
    attackers: Floats,
    defenders: Floats,
    least: float,
    reaction_s: float,
    speed: float,
    sigma_s: float,
    ball_speed: float,
    dt_s: float,
    head_start_s: float,
) -> float:
    """Chance of a pass: along the flight each player may intervene at the ball's position; at its end the ball waits.

    Once it is certain whether the chance is at least ``least``, any value on that side of it; if ``least`` is NaN, the
    chance itself.
    """
    length = math.sqrt((x - ball_x) ** 2 + (y - ball_y) ** 2)
    arrival_s = length / ball_speed
    steep = math.pi / math.sqrt(3.0) / sigma_s
    attack = defence = 0.0
    own, n = len(attackers), len(attackers) + len(defenders)
    columns = np.empty((6, n))
    x_m, y_m, onward_x, onward_y, rates, late = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    for i in range(n):
        player = attackers[i] if i < own else defenders[i - own]
        x_m[i], y_m[i], rates[i] = player[0], player[1], player[4]
        onward_x[i], onward_y[i] = player[2] * reaction_s, player[3] * reaction_s
    t_s = 0.0
    while t_s < arrival_s:
        share = t_s / arrival_s
        px, py = ball_x + (x - ball_x) * share, ball_y + (y - ball_y) * share
        rest = 1.0 - attack - defence
        for i in range(n):
            dx = px - x_m[i] - onward_x[i]
            dy = py - y_m[i] - onward_y[i]
            away = math.sqrt((px - x_m[i]) ** 2 + (py - y_m[i]) ** 2)
            react_s = reaction_s * min(1.0, away / REACH_M)
            late[i] = steep * (react_s + math.sqrt(dx * dx + dy * dy) / speed - t_s)
        for i in range(n):
            late[i] = math.exp(min(late[i], 700.0))
        rate = against = 0.0
        for i in range(n):
            late[i] = rates[i] / (1.0 + late[i])
        for i in range(own):
            rate += late[i]
        for i in range(own, n):
            against += late[i]
        attack += rest * rate * dt_s
        defence += rest * against * dt_s
        if attack + defence > SETTLED:
            break
        if attack >= least or defence > 1.0 - least + ROUNDING_SLACK:
            return attack
        t_s += dt_s
    rest = max(0.0, 1.0 - attack - defence)
    if len(attackers) == 0 or rest == 0.0 or attack >= least or attack + rest < least - ROUNDING_SLACK:
        return attack
    workspace = _workspace(attackers, defenders)
    last = _at(x, y, arrival_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, workspace)
    return attack + rest * last
