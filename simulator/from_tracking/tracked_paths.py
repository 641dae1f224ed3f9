"""Smooth paths of persons through camera frames: no jumps, bounded accelerations, within a few centimetres.

Theory of operation
-------------------
A path is fitted on a fixed grid as the sequence that stays near the measurements and changes its acceleration little
(Whittaker 1923: squared distances plus a multiple of squared third differences). Missing measurements have no
weight; over a longer gap the straight line across it has a little. Where the path needs more speed or acceleration
than a person has, the source has jumped (an identity was corrected): the measurements around it lose weight each
round, until the person can run the distance.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from football.packet_table import Floats
from simulator.physics.bodies import STRIDE_HZ, STRIDE_HZ_PER_M_S
from simulator.records import Col
from simulator.runs import runs_of

#: Distance of the grid's points: the usual frame of a camera.
GRID_S = 0.04
#: Half of a motion of 2 Hz survives; a body's own is slower.
BODY_STIFFNESS = 60.0
PERSON_MAX_M_S, PERSON_MAX_M_S2 = 10.5, 9.0
#: A frame that is so far from the median of five is alone with its opinion.
_ALONE_M = 0.5
#: A gap longer than this is crossed near the straight line.
_GAP_S = 1.0
_GAP_WEIGHT = 0.02
#: Where the way is impossible, what was measured so many grid points around (more each third round) keeps this share
#: of its weight.
_AROUND, _TRUST_LEFT = 4, 0.3
_ROUNDS = 40
#: Above the second speed a person looks where he runs, below the first one to the ball.
_LOOKS_M_S = (0.6, 1.8)
_TURN_RAD_S = 7.0


@njit(cache=True)
def whittaker(values: Floats, weights: Floats, stiffness: float) -> Floats:
    """Return the smooth sequence (n, d) nearest to ``values`` (n, d), of which row ``i`` has ``weights[i]``.

    At least three weights are not zero; a quadratic function of the index passes unchanged.
    """
    n, d = values.shape
    band = np.zeros((n, 4))
    for i in range(n):
        band[i, 0] = weights[i] + 1e-12
    row = (-1.0, 3.0, -3.0, 1.0)
    for i in range(n - 3):
        for a in range(4):
            for b in range(a, 4):
                band[i + a, b - a] += stiffness * row[a] * row[b]
    out = np.empty((n, d))
    for i in range(n):
        for k in range(d):
            out[i, k] = weights[i] * values[i, k] if weights[i] > 0.0 else 0.0
    # Cholesky's L D L' within the band, forwards; then backwards.
    for i in range(n):
        pivot = band[i, 0]
        for j in range(1, min(4, n - i)):
            share = band[i, j] / pivot
            for m in range(j, min(4, n - i)):
                band[i + j, m - j] -= share * band[i, m]
            for k in range(d):
                out[i + j, k] -= share * out[i, k]
    for i in range(n - 1, -1, -1):
        for j in range(1, min(4, n - i)):
            for k in range(d):
                out[i, k] -= band[i, j] * out[i + j, k]
        for k in range(d):
            out[i, k] /= band[i, 0]
    return out


def on_grid(ts_s: Floats, positions: Floats, first: int, count: int) -> tuple[Floats, Floats]:
    """Bring measured positions (m, d) at ascending times to grid points ``first`` to ``first + count - 1``.

    Returns:
        (count, d) positions, straight between two measurements and constant before the first and after the last;
        (count,) weights: 1 where a point is measured or lies between neighbours of the source's own frame rate.
    """
    points_s = (first + np.arange(count)) * GRID_S
    values = np.column_stack([np.interp(points_s, ts_s, column) for column in positions.T])
    frame_s = max(float(np.median(np.diff(ts_s))), GRID_S) if len(ts_s) > 1 else GRID_S
    after = np.clip(np.searchsorted(ts_s, points_s), 1, max(len(ts_s) - 1, 1))
    low, high = ts_s[after - 1], ts_s[np.minimum(after, len(ts_s) - 1)]
    nearest = np.minimum(np.abs(points_s - low), np.abs(points_s - high))
    weights = ((high - low <= 1.6 * frame_s) | (nearest < 1e-3)).astype(float)
    # What a slow source has not seen is left to the smoothing, not to straight lines.
    weights[nearest > 0.5 * GRID_S + 1e-6] = 0.0
    outside = (points_s < ts_s[0] - 1e-6) | (points_s > ts_s[-1] + 1e-6)
    weights[outside & (nearest > 0.5 * GRID_S + 1e-6)] = 0.0
    return values, weights


def bridged(weights: Floats) -> Floats:
    """Return weights in which longer runs of zeros follow the straight line a little."""
    out = weights.copy()
    for begin, end in runs_of(weights == 0.0):
        if (end - begin) * GRID_S > _GAP_S:
            out[begin:end] = _GAP_WEIGHT
    return out


def straight(values: Floats, weights: Floats) -> Floats:
    """Return positions in which those without weight lie straight between their neighbours."""
    known = np.flatnonzero(weights > 0.0)
    index = np.arange(len(values))
    return np.column_stack([np.interp(index, known, column[known]) for column in values.T])


def body_path(values: Floats, weights: Floats) -> Floats:
    """Fit a person's path on the grid: (n, 2) smooth positions within the limits of ``PERSON_MAX``.

    Args:
        values: (n, 2) positions; ``weights`` (n,): 0 where nothing was measured.
    """
    if len(values) < 5:
        return values.copy()
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, ((2, 2), (0, 0)), mode="edge"), 5, axis=0)
    alone = np.hypot(*(values - np.median(windows, axis=-1)).T) > _ALONE_M
    weights = np.where(alone, 0.0, weights)
    if np.count_nonzero(weights) < 3:
        weights[:] = 1.0
    path = values
    for turn in range(_ROUNDS):
        path = whittaker(straight(values, weights), bridged(weights), BODY_STIFFNESS)
        bad = _too_much(path)
        if not bad.any():
            break
        weights[_around(bad, _AROUND + turn // 3)] *= _TRUST_LEFT
    return path


def _around(flags: npt.NDArray[np.bool_], reach: int) -> npt.NDArray[np.bool_]:
    """Extend flags by ``reach`` to both sides."""
    count = np.cumsum(np.concatenate([np.zeros(reach + 1), flags, np.zeros(reach)]))
    near: npt.NDArray[np.bool_] = count[2 * reach + 1 :] > count[: -2 * reach - 1]
    return near


@njit(cache=True)
def _too_much(path: Floats) -> npt.NDArray[np.bool_]:
    """Return where a path is faster than persons run, or changes its velocity more than they can."""
    n = len(path)
    bad = np.zeros(n, dtype=np.bool_)
    for i in range(n - 1):
        vx, vy = (path[i + 1, 0] - path[i, 0]) / GRID_S, (path[i + 1, 1] - path[i, 1]) / GRID_S
        if vx * vx + vy * vy > PERSON_MAX_M_S * PERSON_MAX_M_S:
            bad[i] = bad[i + 1] = True
        if i:
            ax = vx - (path[i, 0] - path[i - 1, 0]) / GRID_S
            ay = vy - (path[i, 1] - path[i - 1, 1]) / GRID_S
            if ax * ax + ay * ay > (PERSON_MAX_M_S2 * GRID_S) ** 2:
                bad[i] = True
    return bad


@njit(cache=True)
def _turned(angle: float) -> float:
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@njit(cache=True)
def posture(path: Floats, ball: Floats, first_gait: float) -> Floats:
    """Return the heading and the stride of a person along a path.

    Args:
        path: (n, 2) on the grid; ``ball``: (n, 2) position of the ball meanwhile.
        first_gait: phase that the stride begins with.

    Returns:
        (n, 2) heading (rad, unwrapped) and phase of the stride (rad), from speed and direction. A runner looks ahead,
        a standing person to the ball: a camera does not show more.
    """
    n = len(path)
    out = np.empty((n, 2))
    heading, gait = 0.0, first_gait
    for i in range(n):
        a, b = max(i - 1, 0), min(i + 1, n - 1)
        span = max(b - a, 1) * GRID_S
        vx, vy = (path[b, 0] - path[a, 0]) / span, (path[b, 1] - path[a, 1]) / span
        speed = math.hypot(vx, vy)
        s = min(max((speed - _LOOKS_M_S[0]) / (_LOOKS_M_S[1] - _LOOKS_M_S[0]), 0.0), 1.0)
        s = s * s * (3.0 - 2.0 * s)
        bx, by = ball[i, 0] - path[i, 0], ball[i, 1] - path[i, 1]
        far = max(math.hypot(bx, by), 0.5)
        x = s * vx / max(speed, 1e-6) + (1.0 - s) * bx / far
        y = s * vy / max(speed, 1e-6) + (1.0 - s) * by / far
        off = _turned(math.atan2(y, x) - heading)
        if i == 0:
            heading += off
        else:
            max_turn = _TURN_RAD_S * GRID_S
            heading += min(max(0.3 * off, -max_turn), max_turn)
            hz = STRIDE_HZ + STRIDE_HZ_PER_M_S * speed
            gait += 2.0 * math.pi * hz * min(speed / 0.3, 1.0) * GRID_S
        out[i, 0], out[i, 1] = heading, gait
    return out


@njit(cache=True)
def columns_at(knots: Floats, first: int, ticks_s: Floats, out: Floats) -> None:
    """Return a person's columns (T, COLUMNS) at ticks, from knots (n, 4) x, y, heading, gait from ``first`` on.

    Positions are cubic between grid points, with the velocities of central differences; before the first and after the
    last knot the person stands.
    """
    n = len(knots)
    for i in range(len(ticks_s)):
        at = ticks_s[i] / GRID_S - first
        row = out[i]
        row[:] = 0.0
        if at < 0.0 or at > n - 1:
            k = 0 if at < 0.0 else n - 1
            row[Col.X], row[Col.Y], row[Col.HEADING], row[Col.GAIT] = knots[k]
            continue
        k = min(int(at), n - 2)
        s = at - k
        a, d = max(k - 1, 0), min(k + 2, n - 1)
        for c in range(4):
            p, q = knots[k, c], knots[k + 1, c]
            u = (q - knots[a, c]) / (k + 1 - a)
            v = (knots[d, c] - p) / (d - k)
            value = p + (q - p) * s * s * (3.0 - 2.0 * s) + s * (1.0 - s) * ((1.0 - s) * u - s * v)
            if c < 2:
                row[c] = value
                slope = 6.0 * s * (1.0 - s) * (q - p) + (1.0 - s) * (1.0 - 3.0 * s) * u + s * (3.0 * s - 2.0) * v
                row[2 + c] = slope / GRID_S
            else:
                row[2 + c] = value
