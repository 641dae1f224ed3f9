"""Perception: estimates of the players of who arrives where how soon, of open passing lines and open space.

Agents decide by these estimates; what happens then is up to bodies and ball. A body at ``p`` with velocity ``v``
continues for its reaction time and then runs straight with bounded acceleration and speed (Spearman's time to
intercept, with an acceleration phase).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from football.packet_table import Floats

#: Nobody gets there.
NEVER_S = 99.0

#: Spread of what decides a race for the ball, in seconds (Spearman's sigma is 0.45 of a logistic).
_RACE_S = 0.22

#: Deceleration of a rolling ball and drag per metre, as far as estimates need them.
_ROLL_M_S2 = 1.4
_DRAG_PER_M = 0.013


@njit(cache=True)
def time_to(
    x: float, y: float, px: float, py: float, vx: float, vy: float, speed: float, acceleration: float, react: float
) -> float:
    """Return the seconds until a body at (px, py) moving with (vx, vy) runs through (x, y) at full speed."""
    px += vx * react
    py += vy * react
    dx, dy = x - px, y - py
    d = math.sqrt(dx * dx + dy * dy)
    if d < 1e-6:
        return react
    u = (vx * dx + vy * dy) / d
    if u > speed:
        u = speed
    t_up = (speed - u) / acceleration
    d_up = u * t_up + 0.5 * acceleration * t_up * t_up
    if d < d_up:
        return react + (-u + math.sqrt(u * u + 2.0 * acceleration * d)) / acceleration
    return react + t_up + (d - d_up) / speed


@njit(cache=True)
def nearest_pass(
    bx: float, by: float, vx: float, vy: float, columns: Floats, rows: np.ndarray, dt_s: float
) -> tuple[Floats, Floats]:
    """For each of ``rows``, return the least horizontal distance to a ball straight on for ``dt_s``, and its time."""
    n = len(rows)
    distance = np.empty(n)
    when = np.empty(n)
    for k in range(n):
        i = rows[k]
        rx, ry = bx - columns[i, 0], by - columns[i, 1]
        wx, wy = vx - columns[i, 2], vy - columns[i, 3]
        w2 = wx * wx + wy * wy
        t = 0.0 if w2 < 1e-9 else -(rx * wx + ry * wy) / w2
        t = min(max(t, 0.0), dt_s)
        when[k] = t
        distance[k] = math.sqrt((rx + wx * t) ** 2 + (ry + wy * t) ** 2)
    return distance, when


@njit(cache=True)
def meetings(
    path: Floats,
    columns: Floats,
    rows: np.ndarray,
    speed: Floats,
    acceleration: Floats,
    react: Floats,
    reach_m: float,
    low_m: float,
    high_m: Floats,
) -> tuple[Floats, np.ndarray]:
    """Return where each of ``rows`` can first meet a ball that follows ``path`` (k, 4: t, x, y, z).

    Up to ``low_m`` the foot takes the ball; between that and ``high_m`` (by row) it costs a little time.

    Returns:
        (rows,) earliest time, ``NEVER_S`` if not on the path; (rows,) index into the path, its last if never.
    """
    n = len(rows)
    when = np.full(n, NEVER_S)
    where = np.full(n, len(path) - 1)
    for k in range(n):
        i = rows[k]
        best = NEVER_S
        for s in range(len(path)):
            t = path[s, 0]
            if t > best:
                break
            z = path[s, 3]
            if z > high_m[k]:
                continue
            dx, dy = path[s, 1] - columns[i, 0], path[s, 2] - columns[i, 1]
            d = math.sqrt(dx * dx + dy * dy)
            if d > reach_m:
                cut = (d - reach_m) / d
                need = time_to(
                    columns[i, 0] + dx * cut,
                    columns[i, 1] + dy * cut,
                    columns[i, 0],
                    columns[i, 1],
                    columns[i, 2],
                    columns[i, 3],
                    speed[i],
                    acceleration[i],
                    react[k],
                )
                if need > t:
                    continue
            cost = t if z < low_m else t + 0.25
            if cost < best:
                best = cost
                where[k] = s
        when[k] = best
    return when, where


@njit(cache=True)
def rate_passes(
    bx: float,
    by: float,
    targets: Floats,
    mates: np.ndarray,
    columns: Floats,
    opponents: np.ndarray,
    speed: Floats,
    acceleration: Floats,
    react_s: float,
) -> Floats:
    """Rate how likely passes are to arrive.

    Args:
        bx, by: the ball.
        targets: (n, 4): x, y, speed over ground at the kick, and 1 for a ball in the air, 0 along the ground.
        mates: (n,) row of the intended receiver of each.
        opponents: rows.

    Returns:
        (n, 3): chance that no opponent cuts it out, seconds it takes, seconds by which the receiver is there first.
    """
    n = len(targets)
    out = np.empty((n, 3))
    for k in range(n):
        tx, ty, v0, is_air = targets[k, 0], targets[k, 1], targets[k, 2], targets[k, 3]
        dx, dy = tx - bx, ty - by
        length = max(math.sqrt(dx * dx + dy * dy), 0.5)
        keep = 1.0
        steps = 10
        taken = length / max(v0, 1.0) * (1.0 + 0.5 * _DRAG_PER_M * length)
        if is_air < 0.5:
            mean = v0 - 0.5 * (_ROLL_M_S2 + _DRAG_PER_M * v0 * v0) * length / max(v0, 1.0)
            taken = length / max(mean, 2.0)
        for o in opponents:
            worst = 99.0
            for s in range(1, steps + 1):
                share = s / steps
                # A lofted ball is within reach only where it rises and where it comes down.
                if is_air > 0.5 and (0.12 < share < 0.86 or (share < 0.2 and length > 60.0)):
                    continue
                x, y = bx + dx * share, by + dy * share
                when = taken * share * (1.0 if is_air > 0.5 else 0.8 + 0.2 * share)
                ox, oy = columns[o, 0], columns[o, 1]
                gap = math.sqrt((x - ox) ** 2 + (y - oy) ** 2)
                reach = 0.9 if when > 0.25 else 0.5
                if gap <= reach:
                    late = -0.3 if gap < 0.6 * reach else -0.12
                else:
                    cut = (gap - reach) / gap
                    late = (
                        time_to(
                            ox + (x - ox) * cut,
                            oy + (y - oy) * cut,
                            ox,
                            oy,
                            columns[o, 2],
                            columns[o, 3],
                            speed[o],
                            acceleration[o],
                            react_s,
                        )
                        - when
                    )
                worst = min(worst, late)
            keep *= 1.0 - 1.0 / (1.0 + math.exp((worst + 0.02) / (0.35 * _RACE_S)))
        m = mates[k]
        early = taken - time_to(
            tx, ty, columns[m, 0], columns[m, 1], columns[m, 2], columns[m, 3], speed[m], acceleration[m], 0.1
        )
        out[k, 0] = keep
        out[k, 1] = taken
        out[k, 2] = early
    return out


@njit(cache=True)
def open_space(xs: Floats, ys: Floats, columns: Floats, rows: np.ndarray, ahead_s: float) -> Floats:
    """Return the distance of each point to the nearest of ``rows`` as they will be in ``ahead_s``."""
    out = np.full(len(xs), 99.0)
    for k in range(len(xs)):
        for i in rows:
            dx = xs[k] - columns[i, 0] - columns[i, 2] * ahead_s
            dy = ys[k] - columns[i, 1] - columns[i, 3] * ahead_s
            out[k] = min(out[k], math.sqrt(dx * dx + dy * dy))
    return out


@njit(cache=True)
def pass_clearance(bx: float, by: float, xs: Floats, ys: Floats, columns: Floats, rows: np.ndarray) -> Floats:
    """Return how open passes are: the least distance of ``rows`` to the segment from (bx, by) to each point.

    A term that grows with length is subtracted. The result is positive where a ball gets through (hierarchy 4.8).
    """
    out = np.full(len(xs), 9.0)
    for k in range(len(xs)):
        dx, dy = xs[k] - bx, ys[k] - by
        l2 = max(dx * dx + dy * dy, 1e-6)
        for i in rows:
            rx, ry = columns[i, 0] - bx, columns[i, 1] - by
            t = (rx * dx + ry * dy) / l2
            t = min(max(t, 0.0), 1.0)
            gap = math.sqrt((rx - dx * t) ** 2 + (ry - dy * t) ** 2) - 0.6 - 0.1 * t * math.sqrt(l2)
            out[k] = min(out[k], gap)
    return out
