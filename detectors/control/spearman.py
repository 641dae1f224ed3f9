"""Who would have the ball where: Spearman's model, as kernels over arrays (shared by 10.7 and 10.9; pure).

Theory of operation
-------------------
A player reacts for a while, going on as he goes, then runs straight at full speed: that is his expected time to a
place. His chance to be there by time T is a logistic curve about it (spread sigma). While he is there he controls
the ball at a rate lambda, a goalkeeper more. Integrated over time, ball first on its way, these give each team's chance
to be the one who controls it (Spearman 2018, "Beyond expected goals"; in the form of LaurieOnTracking).

Over a step of ``dt`` the logistic's exponential shrinks by a constant factor, so the inner loop needs no exponential.
Where one team is there so much sooner that the other has no chance worth naming, nothing is integrated. And who asks
whether something holds, not how much it is, is answered as soon as what is left to look at cannot change it: a zone
stays its owner's, a pass comes through or not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.control.scene import Bodies

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: The ball is waited for at most so long after it has come (seconds).
MOST_S = 10.0
#: A place is decided when the chances add up to this.
SETTLED = 0.99
#: Who stands this near to the ball's way need not react to be there: he only puts a foot out (ours; without it a pass
#: straight at an opponent 8 m away would arrive with a chance of 0.7).
REACH_M = 1.0
#: Orders of magnitude that the slower team's chance must be smaller by not to be looked at.
HEAD_START_ORDERS = 3.0
#: What is told before all was looked at holds by so much more than sums are off by rounding.
SURE = 1e-9


class SpearmanParameters(msgspec.Struct, frozen=True):
    """Spearman's numbers in LaurieOnTracking's form; the acceleration of 7 m/s2 only enters by the reaction time.

    Attributes:
        reaction_s, speed_m_s: a player goes on for that long, then runs at that speed.
        sigma_s: spread of his time of arrival.
        control_per_s: lambda, rate at which who is there controls the ball.
        keeper_factor: a defending goalkeeper controls so many times as fast, with his hands.
        ball_m_s: mean speed of a pass.
        dt_s: step of the integration.
    """

    reaction_s: float = 0.7
    speed_m_s: float = 5.0
    sigma_s: float = 0.45
    control_per_s: float = 4.3
    keeper_factor: float = 3.0
    ball_m_s: float = 15.0
    dt_s: float = 0.04


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
        held: zones; of each whose it is (1: the attackers', -1: the defenders', 0: nobody's); and with what mean it
            stays whose it is. Of a zone that does, only so many points are looked at as tell it, and the others are
            NaN. Without it all are looked at.
    """
    if held is None:
        held = Zones(np.arange(len(x_m) * len(y_m)), np.array([0, len(x_m) * len(y_m)])), np.zeros(1, np.int64), 0.0
    (points, begins), owners, least = held
    return _grid(x_m, y_m, ball[0], ball[1], attackers, defenders, points, begins, owners, least, *_numbers(p))


def pass_success(
    target: tuple[float, float], ball: tuple[float, float], attackers: Floats, defenders: Floats, p: SpearmanParameters
) -> float:
    """Chance that the passing team controls a ball played to a place at ``ball_m_s``, by somebody on its way or there.

    Args:
        attackers: the passing team without the passer.
    """
    return float(_pass(target[0], target[1], ball[0], ball[1], attackers, defenders, math.nan, *_numbers(p)))


def passes_that_succeed(
    ball: tuple[float, float], attackers: Floats, defenders: Floats, least: float, p: SpearmanParameters
) -> int:
    """To how many of the passing team a pass succeeds with a chance of at least ``least`` (see :func:`pass_success`).

    A pass goes to where the mate, going on as he goes, is when the ball has come to where he is now.
    """
    flight_s = np.hypot(attackers[:, 0] - ball[0], attackers[:, 1] - ball[1]) / p.ball_m_s
    return int(_passes(flight_s, ball[0], ball[1], attackers, defenders, least, *_numbers(p)))


def load() -> None:
    """Loads the kernels, or compiles them the first time: not at the first look at a match, which would be late."""
    p, nobody, somewhere = SpearmanParameters(), np.empty((0, 5)), np.zeros(1)
    control_grid(somewhere, somewhere, (0.0, 0.0), nobody, nobody, p)
    pass_success((0.0, 0.0), (0.0, 0.0), nobody, nobody, p)
    passes_that_succeed((0.0, 0.0), nobody, nobody, 1.0, p)


def _numbers(p: SpearmanParameters) -> tuple[float, float, float, float, float, float]:
    head_start_s = HEAD_START_ORDERS * math.log(10.0) * (math.sqrt(3.0) * p.sigma_s / math.pi + 1.0 / p.control_per_s)
    return p.reaction_s, p.speed_m_s, p.sigma_s, p.ball_m_s, p.dt_s, head_start_s


@njit(cache=True)
def _times(players: Floats, x: float, y: float, reaction_s: float, speed: float, times: Floats) -> float:
    """Expected times of arrival at a place, into ``times``; the least of them."""
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
    """Exponentials at the ball's arrival, and rates, of those who are less than a head start behind the first: how
    many they are."""
    count = 0
    for i in range(len(players)):
        if times[i] - max(least_s, ball_s) < head_start_s:
            e[count] = math.exp(min(steep * (times[i] - ball_s), 700.0))
            rates[count] = players[i, 4]
            count += 1
    return count


@njit(cache=True)
def _room(attackers: Floats, defenders: Floats) -> Floats:
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
    room: Floats,
) -> float:
    """The attackers' chance of control at a place that the ball takes ``ball_s`` to. ``room``: five rows to work in."""
    own, other, e, rates, each = room[0], room[1], room[2], room[3], room[4]
    own_s = _times(attackers, x, y, reaction_s, speed, own)
    other_s = _times(defenders, x, y, reaction_s, speed, other)
    if own_s - max(ball_s, other_s) >= head_start_s:
        return 0.0
    if other_s - max(ball_s, own_s) >= head_start_s:
        return 1.0
    steep = math.pi / math.sqrt(3.0) / sigma_s
    shrink = math.exp(-steep * dt_s)
    # What is under the logistic's fraction, 1 + e, of each player at the ball's arrival; each step shrinks e. Who is a
    # head start behind the first of his team would come too late to matter.
    owns = _in_time(own, attackers, own_s, ball_s, steep, head_start_s, e, rates)
    others = _in_time(other, defenders, other_s, ball_s, steep, head_start_s, e[owns:], rates[owns:])
    attack = defence = 0.0
    n = owns + others
    many = (n + 7) // 8 * 8
    for k in range(n, many):
        e[k] = 0.0
        rates[k] = 0.0
    for _ in range(int(MOST_S / dt_s)):
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
    room = _room(attackers, defenders)
    for zone in range(len(begins) - 1):
        enough = (least + SURE) * (begins[zone + 1] - begins[zone])
        share = 0.0
        for point in points[begins[zone] : begins[zone + 1]]:
            i, j = point // columns, point % columns
            dx, dy = xs[j] - ball_x, ys[i] - ball_y
            ball_s = math.sqrt(dx * dx + dy * dy) / ball_speed
            out[i, j] = _at(
                xs[j], ys[i], ball_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, room
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
    """Along the flight everybody may intervene where the ball just is, at its end it waits.

    Once it is sure whether the chance is ``least`` or more, something on that side of it; if that is NaN, the chance.
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
        if attack >= least or defence > 1.0 - least + SURE:
            return attack
        t_s += dt_s
    rest = max(0.0, 1.0 - attack - defence)
    if len(attackers) == 0 or rest == 0.0 or attack >= least or attack + rest < least - SURE:
        return attack
    room = _room(attackers, defenders)
    last = _at(x, y, arrival_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, room)
    return attack + rest * last
