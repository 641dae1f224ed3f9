"""The path of a ball through camera frames, with its touches sharpened into contacts.

Theory of operation
-------------------
A camera at 25 Hz sees a touch as a *break* of the path: the straight lines through a few frames before and after it
meet at a time between frames. Breaks cut the path into pieces. Each is smoothed separately, so that no break is
rounded, and extended to where it meets its neighbour. Within a contact of a few milliseconds around the break the
velocity changes from one piece's to the other's by a half-sine acceleration, as in the simulated ball: the break
becomes a peak that a detector can find. The time of the break is the middle of the contact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numba import njit

from football.constants import BALL_RADIUS_M
from football.packet_table import Floats
from simulator.from_tracking.tracked_paths import GRID_S, straight, whittaker

#: Half of a motion of 2.4 Hz survives within a piece; a flight (a parabola) passes unchanged.
STIFFNESS = 20.0
BALL_MAX_M_S = 42.0
#: Frames through which the lines before and after a corner go.
_FRAMES = 4
#: Least change of velocity of a corner in m/s, and what a fast ball's noise adds; height counts less, it is noisier.
_CORNER_M_S, _CORNER_SHARE, _HEIGHT_SHARE = 2.0, 0.05, 0.7
#: Corners are further apart than this; frames as near to a corner as the second are left out.
_APART_S, _CLEAR_S = 0.12, 0.012
#: Pieces are led to their common corner within this time, or slower than the given speed.
_LEAD_S, _LEAD_M_S = 0.15, 4.0
_ROUNDS, _TRUST_LEFT = 20, 0.3


@dataclass(frozen=True, eq=False)
class BallPath:
    """A path: knots at frames and breaks, cubic in between.

    Attributes:
        t_s: (k,) ascending; ``positions`` (k, 3); ``arriving``, ``leaving`` (k, 3) velocities before and after a knot.
        lasts_s: (k,) duration of the contact at a knot, 0 where it is none.
    """

    t_s: Floats
    positions: Floats
    arriving: Floats
    leaving: Floats
    lasts_s: Floats

    def at(self, times_s: Floats) -> tuple[Floats, Floats]:
        """Return positions and velocities (n, 3) at ascending times; the ball rests before and after its knots."""
        out = np.empty((2, len(times_s), 3))
        _follow(self.t_s, self.positions, self.arriving, self.leaving, self.lasts_s, times_s, out[0], out[1])
        return out[0], out[1]


def cleaned(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Remove single frames that no ball could have reached and returned from."""
    step = np.linalg.norm(np.diff(values, axis=0), axis=1)
    limit_m = BALL_MAX_M_S * GRID_S
    back = np.linalg.norm(values[2:] - values[:-2], axis=1) < 2.0 * limit_m
    spike = np.zeros(len(values), dtype=bool)
    spike[1:-1] = (step[:-1] > limit_m) & (step[1:] > limit_m) & back
    weights = np.where(spike, 0.0, weights)
    return straight(values, weights), weights


def path_breaks(values: Floats, weights: Floats) -> npt.NDArray[np.int64]:
    """Return grid indexes (relative) at which a path (n, 3) turns or changes speed too quickly for grass and air."""
    n = len(values)
    if n < 2 * _FRAMES:
        return np.zeros(0, dtype=np.int64)
    x = np.arange(_FRAMES) - (_FRAMES - 1) / 2.0
    share = (x / (x @ x) / GRID_S)[::-1]
    slopes = np.column_stack([np.convolve(column, share, mode="valid") for column in values.T])
    before, after = slopes[: n - 2 * _FRAMES + 2], slopes[_FRAMES - 1 :]
    size = np.linalg.norm((after - before) * (1.0, 1.0, _HEIGHT_SHARE), axis=1)
    speed = np.maximum(np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1))
    around = round(_APART_S / GRID_S)
    padded = np.pad(size, around)
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * around + 1).max(axis=1)
    break_frames = np.flatnonzero((size == highest) & (size > _CORNER_M_S + _CORNER_SHARE * speed)) + _FRAMES - 1
    is_measured = np.convolve(weights > 0.0, np.ones(3), mode="same") > 0.0
    return break_frames[is_measured[break_frames]]


def break_times(values: Floats, first: int, break_frames: npt.NDArray[np.int64]) -> Floats:
    """Return the times (s) at which the lines before and after each break are nearest, at most a frame from it."""
    times = np.empty(len(break_frames))
    for n, i in enumerate(break_frames.tolist()):
        low = max(i - _FRAMES, int(break_frames[n - 1]) if n else 0)
        high = min(i + _FRAMES, int(break_frames[n + 1]) if n + 1 < len(break_frames) else len(values) - 1)
        times[n] = (first + i + _meet(values, i, low, high)) * GRID_S
    return times


def _meet(values: Floats, i: int, low: int, high: int) -> float:
    """Return where in [-1, 1] around frame ``i`` the lines through ``low..i-1`` and ``i+1..high`` are nearest."""
    if i - low < 2 or high - i < 2:
        return 0.0
    position_a, slope_a = _line(values[low:i], low - i)
    position_b, slope_b = _line(values[i + 1 : high + 1], 1)
    gap, turn = position_b - position_a, slope_b - slope_a
    size = float(turn @ turn)
    return float(np.clip(-(gap @ turn) / size, -1.0, 1.0)) if size > 1e-9 else 0.0


def _line(rows: Floats, begin: int) -> tuple[Floats, Floats]:
    """Return the straight line through rows at ``begin, begin + 1 ...``: its position at 0 and its slope."""
    x = np.arange(begin, begin + len(rows), dtype=float)
    slope = _slope(x, rows)
    return rows.mean(axis=0) - x.mean() * slope, slope


def ball_path(values: Floats, weights: Floats, first: int, times: Floats, lasts_s: Floats) -> BallPath:
    """Fit the path through (n, 3) positions on the grid from ``first`` on.

    Args:
        weights: (n,), 0 where nothing was measured.
        times: ascending times of breaks; ``lasts_s`` the duration of each contact.
    """
    frames_s = (first + np.arange(len(values))) * GRID_S
    times, lasts_s = _spaced(times, lasts_s, frames_s)
    bounds = [-math.inf, *times.tolist(), math.inf]
    pieces: list[tuple[Floats, Floats]] = []
    for a, b in pairwise(bounds):
        inside = (frames_s > a + _CLEAR_S) & (frames_s < b - _CLEAR_S)
        pieces.append((frames_s[inside], _smooth(values[inside], weights[inside])))
    joints = [_joint(pieces[k], pieces[k + 1], t) for k, t in enumerate(times.tolist())]
    t_s: list[Floats] = []
    positions: list[Floats] = []
    arriving: list[Floats] = []
    leaving: list[Floats] = []
    lasts: list[Floats] = []
    for k, (piece_s, piece) in enumerate(pieces):
        begin = (times[k - 1], joints[k - 1]) if k else None
        end = (times[k], joints[k]) if k < len(times) else None
        knot_s, knots, speed = _led(piece_s, piece, begin, end)
        skip = 1 if k else 0
        if k and len(knot_s):
            leaving[-1][-1] = speed[0]
        t_s.append(knot_s[skip:])
        positions.append(knots[skip:])
        arriving.append(speed[skip:])
        leaving.append(speed[skip:].copy())
        duration = np.zeros(len(knot_s) - skip)
        if end is not None and len(duration):
            duration[-1] = lasts_s[k]
        lasts.append(duration)
    path = [np.concatenate(parts) for parts in (t_s, positions, arriving, leaving, lasts)]
    return BallPath(*path)


def _spaced(times: Floats, lasts_s: Floats, frames_s: Floats) -> tuple[Floats, Floats]:
    """Return breaks within the frames that are far enough apart for separate pieces."""
    chosen: list[int] = []
    for k, t in enumerate(times.tolist()):
        if frames_s[0] < t - _CLEAR_S and t + _CLEAR_S < frames_s[-1] and (not chosen or t - times[chosen[-1]] > 0.05):
            chosen.append(k)
    return times[chosen], lasts_s[chosen]


def _smooth(values: Floats, weights: Floats) -> Floats:
    """Smooth a piece between breaks: on or above the ground, and never faster than a ball can be."""
    if len(values) < 3 or np.count_nonzero(weights) < 3:
        return values.copy()
    if len(values) == 3:
        # Too few to tell a bend from noise.
        x = np.array([-1.0, 0.0, 1.0])
        return values.mean(axis=0) + x[:, None] * _slope(x, values)
    weights = weights.copy()
    path = values
    for _ in range(_ROUNDS):
        path = whittaker(values, weights + 1e-3, STIFFNESS)
        step = np.diff(path, axis=0)
        fast = np.sqrt((step * step).sum(axis=1)) > BALL_MAX_M_S * GRID_S
        if not fast.any():
            break
        near = np.convolve(np.append(fast, False) | np.append(False, fast), np.ones(5), mode="same") > 0.0
        weights[near] *= _TRUST_LEFT
    path[:, 2] = np.maximum(path[:, 2], BALL_RADIUS_M)
    return path


def _joint(left: tuple[Floats, Floats], right: tuple[Floats, Floats], t: float) -> Floats:
    """Return where two pieces meet: in the middle of both extensions to the break's time."""
    ends = [_reach(piece_s, piece, t)[0] for piece_s, piece in (left, right) if len(piece_s)]
    position = np.mean(ends, axis=0) if ends else np.array([0.0, 0.0, BALL_RADIUS_M])
    position[2] = max(position[2], BALL_RADIUS_M)
    return position


def _reach(piece_s: Floats, piece: Floats, t: float) -> tuple[Floats, Floats]:
    """Extend a piece straight to a time just beyond one of its ends; return position and velocity."""
    if len(piece_s) == 1:
        return piece[0].copy(), np.zeros(3)
    part = slice(None, 3) if t < piece_s[0] else slice(-3, None)
    x, rows = piece_s[part] - t, piece[part]
    slope = _slope(x, rows)
    return rows.mean(axis=0) - x.mean() * slope, slope


def _slope(x: Floats, rows: Floats) -> Floats:
    """Return the slope of the straight line through rows at ``x``."""
    off = x - x.mean()
    return off @ rows / (off @ off)


def _led(
    piece_s: Floats, piece: Floats, begin: tuple[float, Floats] | None, end: tuple[float, Floats] | None
) -> tuple[Floats, Floats, Floats]:
    """Return knots and velocities of a piece: its frames, bent towards the breaks, and the breaks themselves."""
    joints = [c for c in (begin, end) if c is not None]
    times = np.array([t for t, _ in joints])
    if not len(piece_s):
        knots = np.array([position for _, position in joints])
        return times, knots, _slopes(times, knots, None, None)
    knots, slopes = piece.copy(), []
    if joints:
        # A bend fades into the piece from its corner; how much of each meets both corners is a small linear system.
        sense = np.array([-1.0 if c is begin else 1.0 for c in joints])
        reached = [_reach(piece_s, piece, t) for t in times.tolist()]
        off = np.array([position - r[0] for (_, position), r in zip(joints, reached, strict=True)])
        lead = np.maximum(_LEAD_S, np.linalg.norm(off, axis=1) / _LEAD_M_S)
        fade = np.exp(-np.abs(times[:, None] - times) / lead)
        size = np.linalg.solve(fade, off)
        knots += np.exp(-np.abs(piece_s[:, None] - times) / lead) @ size
        slopes = [r[1] + (f * sense / lead) @ size for r, f in zip(reached, fade, strict=True)]
    t_s = piece_s
    if begin is not None:
        t_s, knots = np.append(begin[0], t_s), np.vstack([begin[1], knots])
    if end is not None:
        t_s, knots = np.append(t_s, end[0]), np.vstack([knots, end[1]])
    knots[:, 2] = np.maximum(knots[:, 2], BALL_RADIUS_M)
    first = slopes[0] if begin is not None else None
    last = slopes[-1] if end is not None else None
    return t_s, knots, _slopes(t_s, knots, first, last)


def _slopes(t_s: Floats, knots: Floats, first: Floats | None, last: Floats | None) -> Floats:
    """Return velocities at a piece's knots, of the parabola through each and its neighbours, or as given.

    None leads below the ground.
    """
    n = len(t_s)
    out = np.zeros((n, 3))
    if n < 2:
        return out
    h = np.diff(t_s)[:, None]
    chord = np.diff(knots, axis=0) / h
    out[0], out[-1] = chord[0], chord[-1]
    out[1:-1] = (chord[:-1] * h[1:] + chord[1:] * h[:-1]) / (h[:-1] + h[1:])
    if n > 3 and first is not None:
        out[0] = first
    if n > 3 and last is not None:
        out[-1] = last
    # A cubic does not leave the range of its ends if its slopes have the chord's sense and at most thrice its size.
    low = knots[:, 2] <= BALL_RADIUS_M + 1e-9
    out[1:-1, 2][low[1:-1]] = 0.0
    if low[0]:
        out[0, 2] = min(max(out[0, 2], 0.0), 3.0 * max(chord[0, 2], 0.0))
    if low[-1]:
        out[-1, 2] = max(min(out[-1, 2], 0.0), 3.0 * min(chord[-1, 2], 0.0))
    return out


@njit(cache=True)
def _cubic(
    t_s: Floats,
    positions: Floats,
    arriving: Floats,
    leaving: Floats,
    k: int,
    t: float,
    position: Floats,
    velocity: Floats,
) -> None:
    h = t_s[k + 1] - t_s[k]
    s = (t - t_s[k]) / h
    for c in range(3):
        p, q, u, v = positions[k, c], positions[k + 1, c], leaving[k, c], arriving[k + 1, c]
        position[c] = p + (q - p) * s * s * (3.0 - 2.0 * s) + h * s * (1.0 - s) * ((1.0 - s) * u - s * v)
        velocity[c] = 6.0 * s * (1.0 - s) * (q - p) / h + (1.0 - s) * (1.0 - 3.0 * s) * u + s * (3.0 * s - 2.0) * v


@njit(cache=True)
def _follow(
    t_s: Floats, positions: Floats, arriving: Floats, leaving: Floats, lasts_s: Floats, times: Floats,
    out: Floats, speed: Floats,
) -> None:  # fmt: skip
    n = len(t_s)
    pa, va, pb, vb = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(times)):
        t = times[i]
        if t < t_s[0] or t > t_s[n - 1]:
            out[i] = positions[0] if t < t_s[0] else positions[n - 1]
            speed[i] = 0.0
            continue
        k = min(np.searchsorted(t_s, t, side="right") - 1, n - 2)
        corner = -1
        if lasts_s[k] > 0.0 and t - t_s[k] < 0.5 * lasts_s[k]:
            corner = k
        elif lasts_s[k + 1] > 0.0 and t_s[k + 1] - t < 0.5 * lasts_s[k + 1]:
            corner = k + 1
        if corner < 1:
            _cubic(t_s, positions, arriving, leaving, k, t, out[i], speed[i])
            continue
        d = lasts_s[corner]
        begin = t_s[corner] - 0.5 * d
        _cubic(t_s, positions, arriving, leaving, corner - 1, begin, pa, va)
        _cubic(t_s, positions, arriving, leaving, corner, begin + d, pb, vb)
        a = (t - begin) / d
        share, run = 0.5 * (1.0 - math.cos(math.pi * a)), d * (0.5 * a - math.sin(math.pi * a) / (2.0 * math.pi))
        lead, d_lead = a * a * a * (10.0 - 15.0 * a + 6.0 * a * a), 30.0 * a * a * (1.0 - a) * (1.0 - a) / d
        for c in range(3):
            left = pb[c] - pa[c] - 0.5 * (va[c] + vb[c]) * d
            out[i, c] = pa[c] + va[c] * a * d + (vb[c] - va[c]) * run + left * lead
            speed[i, c] = va[c] + (vb[c] - va[c]) * share + left * d_lead
