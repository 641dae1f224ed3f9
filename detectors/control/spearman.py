"""Who would have the ball where: Spearman's model, as kernels over arrays (shared by 10.7 and 10.9; pure).

Theory of operation
-------------------
A player reacts for a while, going on as he goes, then runs straight at full speed: that is his expected time to a
place. His chance to be there by time T is a logistic curve about it (spread sigma). While he is there he controls
the ball at a rate lambda, a goalkeeper more. Integrated over time, ball first on its way, these give each team's chance
to be the one who controls it (Spearman 2018, "Beyond expected goals"; in the form of LaurieOnTracking).

Over a step of ``dt`` the logistic's exponential shrinks by a constant factor, so the inner loop needs no exponential.
Where one team is there so much sooner that the other has no chance worth naming, nothing is integrated.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.control.scene import Bodies

Floats = npt.NDArray[np.float64]

#: The ball is waited for at most so long after it has come (seconds).
MOST_S = 10.0
#: A place is decided when the chances add up to this.
SETTLED = 0.99
#: Who stands this near to the ball's way need not react to be there: he only puts a foot out (ours; without it a pass
#: straight at an opponent 8 m away would arrive with a chance of 0.7).
REACH_M = 1.0
#: Orders of magnitude that the slower team's chance must be smaller by not to be looked at.
HEAD_START_ORDERS = 3.0


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


def control_grid(
    x_m: Floats, y_m: Floats, ball: tuple[float, float], attackers: Floats, defenders: Floats, p: SpearmanParameters
) -> Floats:
    """The attackers' chance of control at each point of a grid, shape (len(y_m), len(x_m))."""
    return _grid(x_m, y_m, ball[0], ball[1], attackers, defenders, *_numbers(p))


def pass_success(
    target: tuple[float, float], ball: tuple[float, float], attackers: Floats, defenders: Floats, p: SpearmanParameters
) -> float:
    """Chance that the passing team controls a ball played to a place at ``ball_m_s``, by somebody on its way or there.

    Args:
        attackers: the passing team without the passer.
    """
    return float(_pass(target[0], target[1], ball[0], ball[1], attackers, defenders, *_numbers(p)))


def load() -> None:
    """Loads the kernels, or compiles them the first time: not at the first look at a match, which would be late."""
    p, nobody, somewhere = SpearmanParameters(), np.empty((0, 5)), np.zeros(1)
    control_grid(somewhere, somewhere, (0.0, 0.0), nobody, nobody, p)
    pass_success((0.0, 0.0), (0.0, 0.0), nobody, nobody, p)


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
    return np.empty((6, max(len(attackers), len(defenders))))


@njit(cache=True)
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
    """The attackers' chance of control at a place that the ball takes ``ball_s`` to. ``room``: six rows to work in."""
    own, own_e, own_rate, other, other_e, other_rate = room[0], room[1], room[2], room[3], room[4], room[5]
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
    owns = _in_time(own, attackers, own_s, ball_s, steep, head_start_s, own_e, own_rate)
    others = _in_time(other, defenders, other_s, ball_s, steep, head_start_s, other_e, other_rate)
    attack = defence = 0.0
    for _ in range(int(MOST_S / dt_s)):
        rest = 1.0 - attack - defence
        if rest < 1.0 - SETTLED:
            break
        rate = 0.0
        for i in range(owns):
            rate += own_rate[i] / (1.0 + own_e[i])
            own_e[i] *= shrink
        against = 0.0
        for i in range(others):
            against += other_rate[i] / (1.0 + other_e[i])
            other_e[i] *= shrink
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
    reaction_s: float,
    speed: float,
    sigma_s: float,
    ball_speed: float,
    dt_s: float,
    head_start_s: float,
) -> Floats:
    """See :func:`control_grid`."""
    out = np.empty((len(ys), len(xs)))
    room = _room(attackers, defenders)
    for i in range(len(ys)):
        for j in range(len(xs)):
            dx, dy = xs[j] - ball_x, ys[i] - ball_y
            ball_s = math.sqrt(dx * dx + dy * dy) / ball_speed
            out[i, j] = _at(
                xs[j], ys[i], ball_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, room
            )
    return out


@njit(cache=True)
def _pass(
    x: float,
    y: float,
    ball_x: float,
    ball_y: float,
    attackers: Floats,
    defenders: Floats,
    reaction_s: float,
    speed: float,
    sigma_s: float,
    ball_speed: float,
    dt_s: float,
    head_start_s: float,
) -> float:
    """Along the flight everybody may intervene where the ball just is, at its end it waits."""
    length = math.sqrt((x - ball_x) ** 2 + (y - ball_y) ** 2)
    arrival_s = length / ball_speed
    steep = math.pi / math.sqrt(3.0) / sigma_s
    attack = defence = 0.0
    t_s = 0.0
    while t_s < arrival_s:
        share = t_s / arrival_s
        px, py = ball_x + (x - ball_x) * share, ball_y + (y - ball_y) * share
        rest = 1.0 - attack - defence
        for team in range(2):
            players = attackers if team == 0 else defenders
            rate = 0.0
            for i in range(len(players)):
                dx = px - players[i, 0] - players[i, 2] * reaction_s
                dy = py - players[i, 1] - players[i, 3] * reaction_s
                away = math.sqrt((px - players[i, 0]) ** 2 + (py - players[i, 1]) ** 2)
                react_s = reaction_s * min(1.0, away / REACH_M)
                late_s = react_s + math.sqrt(dx * dx + dy * dy) / speed - t_s
                rate += players[i, 4] / (1.0 + math.exp(min(steep * late_s, 700.0)))
            if team == 0:
                attack += rest * rate * dt_s
            else:
                defence += rest * rate * dt_s
        if attack + defence > SETTLED:
            break
        t_s += dt_s
    rest = max(0.0, 1.0 - attack - defence)
    if len(attackers) == 0 or rest == 0.0:
        return attack
    room = _room(attackers, defenders)
    last = _at(x, y, arrival_s, attackers, defenders, reaction_s, speed, sigma_s, dt_s, head_start_s, room)
    return attack + rest * last
