"""Spearman's model of pitch control (:mod:`detectors.control.spearman`), integrated over time.

Over a step of ``dt`` the logistic's exponential shrinks by a constant factor, so the inner loop needs no exponential.
Nothing is integrated where one team arrives so much sooner that the other has no chance worth naming. Questions whether
a threshold holds are answered as soon as the remaining points cannot change the answer: whether a zone keeps its owner,
whether a pass succeeds.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Time after the arrival of the ball at which the integration ends, in seconds.
WAIT_MAX_S = 10.0
#: A position is decided when the chances add up to this.
SETTLED = 0.99
#: A player this near to the ball's path need not react to be there: he only puts a foot out, in metres (ours; without
#: it a pass straight at an opponent 8 m away would arrive with a chance of 0.7).
REACH_M = 1.0
#: Margin of an early answer, greater than the rounding of sums.
ROUNDING_SLACK = 1e-9


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
def control_of_grid(
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
    """See :func:`detectors.control.spearman.control_grid`."""
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
def passes_likely(
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
    """See :func:`detectors.control.spearman.passes_that_succeed`."""
    count = 0
    for i in range(len(attackers)):
        x = attackers[i, 0] + attackers[i, 2] * flight_s[i]
        y = attackers[i, 1] + attackers[i, 3] * flight_s[i]
        chance = chance_of_pass(
            x, y, ball_x, ball_y, attackers, defenders, least,
            reaction_s, speed, sigma_s, ball_speed, dt_s, head_start_s,
        )  # fmt: skip
        count += chance >= least
    return count


@njit(cache=True, error_model="numpy")
def chance_of_pass(
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
