"""Fit one break, or two, to the positions of a ball by least squares, in compiled kernels.

Theory of operation
-------------------
Between breaks each coordinate is linear in time; the height of an airborne ball falls freely besides. So with breaks at
given instants the path is linear in the position at the first break, the velocity before, and the change of velocity at
each break: one linear fit. The instants are searched: every position, or ``steps`` instants from one to the next. The
search that leaves the least residue is the result.

If positions were smoothed, so is the path: where it breaks, it bends as the filter has made it bend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from football.constants import GRAVITY_M_S2

Floats = npt.NDArray[np.float64]

#: Time in microseconds, then metres.
Position = tuple[int, float, float, float]

#: A point, a velocity, or a change of velocity.
Vector = tuple[float, float, float]

#: A ball whose centre is higher falls: heights of one that rolls are 0.11 m and noise.
AIRBORNE_M = 0.2

#: Least determinant of the normal equations of two breaks between positions.
_DETERMINANT_MIN = 1e-14


class OneBreak(NamedTuple):
    """A fitted break.

    Attributes:
        at: index of the position at the break, or of the last one before it.
        at_us: time of it.
        position_m: position at the break.
        before_m_s: velocity before.
        change_m_s: change of velocity.
        noise_m: noise of a position, as the fit leaves it.
        error_per_m: standard error of the change for a unit of noise.
        height_noise_m: noise of a height alone.
    """

    at: int
    at_us: float
    position_m: Vector
    before_m_s: Vector
    change_m_s: Vector
    noise_m: float
    error_per_m: float
    height_noise_m: float


class Search(NamedTuple):
    """Where two breaks are looked for, as indices of positions.

    Attributes:
        begin, end: the first break lies from ``begin`` on and before ``end``.
        second_end: the second one lies before it.
        apart: least distance of the second from the first.
        reach: distance of the second from the first, exclusive; 0 for any.
        steps: instants that are tried from one position to the next.
        gap_us: least time between the breaks.
        smoothing_s: of the positions (:attr:`football.match_sheet.Quality.ball_smoothing_s`).
    """

    begin: int
    end: int
    second_end: int
    apart: int
    reach: int = 0
    steps: int = 1
    gap_us: float = 0.0
    smoothing_s: float = 0.0


class TwoBreaks(NamedTuple):
    """Two fitted breaks; pairs are of the first and of the second.

    Attributes:
        indices: of the positions at the breaks, or of the last ones before them.
        at_us: times.
        positions_m: positions at the breaks.
        before_m_s: velocity before both.
        changes_m_s: changes of velocity.
        noise_m: noise of a position, as the fit leaves it.
        errors_per_m: standard errors of the changes for a unit of noise.
    """

    indices: tuple[int, int]
    at_us: tuple[float, float]
    positions_m: tuple[Vector, Vector]
    before_m_s: Vector
    changes_m_s: tuple[Vector, Vector]
    noise_m: float
    errors_per_m: tuple[float, float]


def fit_one_break(
    positions: Sequence[Position], edge: int, steps: int = 1, height_share: float = 1.0, smoothing_s: float = 0.0
) -> OneBreak | None:
    """The break that fits best; None if the positions are too few.

    Args:
        positions: oldest first.
        edge: positions at either end where no break is looked for.
        steps: instants that are tried from one position to the next.
        height_share: weight of heights in the search and in the noise; with 0 the path over the ground decides.
        smoothing_s: of the positions.
    """
    found = np.empty(13)
    index = int(_fit_one(np.array(positions), edge, steps, height_share, smoothing_s, found))
    if index < 0:
        return None
    x, y, z, vx, vy, vz, dx, dy, dz, at_us, noise_m, error, height_m = found.tolist()
    return OneBreak(index, at_us, (x, y, z), (vx, vy, vz), (dx, dy, dz), noise_m, error, height_m)


def fit_two_breaks(positions: Sequence[Position], search: Search) -> TwoBreaks | None:
    """The two breaks that fit best together; None if the search is empty."""
    found = np.empty(20)
    both = int(_fit_two(np.array(positions), search, found))
    if both < 0:
        return None
    v = found.tolist()
    return TwoBreaks(
        divmod(both, len(positions)),
        (v[15], v[16]),
        ((v[0], v[1], v[2]), (v[12], v[13], v[14])),
        (v[3], v[4], v[5]),
        ((v[6], v[7], v[8]), (v[9], v[10], v[11])),
        v[17],
        (v[18], v[19]),
    )


def is_compiled() -> bool:
    """True if numba's cache holds the kernels of this folder as they are now: numba compiles changed ones anew."""
    return are_compiled(Path(__file__).parent, Path(_fit_one.stats.cache_path or ""))


def are_compiled(folder: Path, cache: Path) -> bool:
    """True if ``cache`` has an index of each module with kernels in ``folder`` that is not older than the module."""
    return all(
        any(index.stat().st_mtime >= module.stat().st_mtime for index in cache.glob(f"{module.stem}.*.nbi"))
        for module in folder.glob("*.py")
        if b"@njit" in module.read_bytes()
    )


def warm_up() -> None:
    """Load the kernels, so that the first break of a match does not wait for them."""
    positions = [(40_000 * i, float(i % 2), 0.0, 0.0) for i in range(12)]
    fit_one_break(positions, 1)
    fit_two_breaks(positions, Search(3, 6, 6, 2))


@njit(cache=True)
def _fit_one(path: Floats, edge: int, steps: int, height_share: float, smoothing_s: float, found: Floats) -> int:
    """The index of the break that fits best, or of the last position before it.

    Args:
        path: (n, 4) microseconds and metres.
        edge: positions at either end where no break is looked for.
        steps: instants that are tried from one position to the next.
        height_share: weight of heights.
        smoothing_s: of the positions.
        found: to be filled: position (3), velocity before (3), change of velocity (3), time (microseconds), noise of a
            position, standard error of the change for a unit of noise, noise of a height.
    """
    n = len(path)
    best, least = -1, np.inf
    bend = np.empty(n)
    for c in range(edge, n - edge):
        airborne = _is_airborne(path[:c]), _is_airborne(path[c + 1 :])
        for step in range(steps):
            at_us = path[c, 0] + (path[c + 1, 0] - path[c, 0]) * step / steps
            s12 = s13 = s22 = s23 = s33 = 0.0
            for i in range(n):
                u = (path[i, 0] - at_us) * 1e-6
                bend[i] = w = bend_s(u, smoothing_s)
                s12 += u
                s13 += w
                s22 += u * u
                s23 += u * w
                s33 += w * w
            det = n * (s22 * s33 - s23 * s23) - s12 * (s12 * s33 - s23 * s13) + s13 * (s12 * s23 - s22 * s13)
            i11, i12, i13 = (s22 * s33 - s23 * s23) / det, (s13 * s23 - s12 * s33) / det, (s12 * s23 - s13 * s22) / det
            i22, i23, i33 = (n * s33 - s13 * s13) / det, (s13 * s12 - n * s23) / det, (n * s22 - s12 * s12) / det
            residue = high = 0.0
            position, velocity, change = np.empty(3), np.empty(3), np.empty(3)
            for axis in range(3):
                b1 = b2 = b3 = square = 0.0
                for i in range(n):
                    u = (path[i, 0] - at_us) * 1e-6
                    y = path[i, 1 + axis] - path[c, 1 + axis]
                    if axis == 2 and airborne[0 if i <= c else 1]:
                        y += 0.5 * GRAVITY_M_S2 * u * u
                    b1 += y
                    b2 += y * u
                    b3 += y * bend[i]
                    square += y * y
                x1 = i11 * b1 + i12 * b2 + i13 * b3
                x2 = i12 * b1 + i22 * b2 + i23 * b3
                x3 = i13 * b1 + i23 * b2 + i33 * b3
                high = max(square - x1 * b1 - x2 * b2 - x3 * b3, 0.0)
                residue += (height_share if axis == 2 else 1.0) * high
                position[axis], velocity[axis], change[axis] = path[c, 1 + axis] + x1, x2, x3
            if residue < least:
                best, least = c, residue
                # Not by slices: compiling their errors takes as long as the rest of the kernel.
                for axis in range(3):
                    found[axis], found[3 + axis], found[6 + axis] = position[axis], velocity[axis], change[axis]
                noise_m = math.sqrt(residue / ((2.0 + height_share) * (n - 3)))
                found[9], found[10], found[11], found[12] = at_us, noise_m, math.sqrt(i33), math.sqrt(high / (n - 3))
    return best


@njit(cache=True)
def bend_s(after_s: float, smoothing_s: float) -> float:
    """How far a change of velocity by 1 m/s has moved the ball, this time after it: a ramp, smoothed by a Gaussian."""
    if smoothing_s <= 0.0 or abs(after_s) > 5.0 * smoothing_s:
        return after_s if after_s > 0.0 else 0.0
    widths = after_s / smoothing_s
    density = math.exp(-0.5 * widths * widths) / math.sqrt(2.0 * math.pi)
    return after_s * 0.5 * (1.0 + math.erf(widths / math.sqrt(2.0))) + smoothing_s * density


@njit(cache=True)
def _is_airborne(path: Floats) -> bool:
    """True if the mean height of some positions is off the ground."""
    return float(np.mean(path[:, 3])) > AIRBORNE_M


@njit(cache=True)
def _fit_two(path: Floats, search: Search, found: Floats) -> int:
    """The two breaks that fit best: the index of the first times the length of the path, and that of the second.

    Args:
        path: (n, 4) microseconds and metres.
        search: where they are looked for.
        found: to be filled: position of the first (3), velocity before it (3), change at it (3) and at the second (3),
            position of the second (3), their times (2), noise of a position, and the standard error of either change
            for a unit of noise (2).
    """
    n, steps = len(path), search.steps
    best, least = -1, np.inf
    measured, design = np.empty((n, 3)), np.empty((n, 4))
    gram, sums, lower = np.empty((4, 4)), np.empty((4, 3)), np.empty((4, 4))
    # Breaks between positions have two free instants more, and may lie so close that the fit is not determined.
    between = steps > 1
    freedom, determinant_min = (3 * n - 14, _DETERMINANT_MIN) if between else (3 * n - 12, 0.0)
    for first in range(search.begin, search.end):
        airborne = _is_airborne(path[: first + 1 if between else first]), _is_airborne(path[first + 1 :])
        second_end = min(search.second_end, first + search.reach) if search.reach else search.second_end
        for step in range(steps):
            t = path[first, 0]
            if step:
                t += (path[first + 1, 0] - path[first, 0]) * step / steps
            for i in range(n):
                u = (path[i, 0] - t) * 1e-6
                design[i, 0], design[i, 1], design[i, 2] = 1.0, u, bend_s(u, search.smoothing_s)
                for axis in range(3):
                    measured[i, axis] = path[i, 1 + axis] - path[0, 1 + axis]
                if airborne[0 if i <= first else 1]:
                    measured[i, 2] += 0.5 * GRAVITY_M_S2 * u * u
            for second in range(first + search.apart, second_end):
                for more in range(steps):
                    s = path[second, 0]
                    if more:
                        s += (path[second + 1, 0] - path[second, 0]) * more / steps
                    if s < t + search.gap_us:
                        continue
                    for i in range(n):
                        design[i, 3] = bend_s((path[i, 0] - s) * 1e-6, search.smoothing_s)
                    _normal(design, measured, gram, sums)
                    if not _solve(gram, sums, lower, determinant_min):
                        continue
                    residue = 0.0
                    for i in range(n):
                        for axis in range(3):
                            off = measured[i, axis]
                            for j in range(4):
                                off -= design[i, j] * sums[j, axis]
                            residue += off * off
                    if residue < least:
                        best, least = first * n + second, residue
                        w = (s - t) * 1e-6
                        for axis in range(3):
                            at = path[0, 1 + axis] + sums[0, axis]
                            found[axis] = at
                            found[3 + axis], found[6 + axis] = sums[1, axis], sums[2, axis]
                            found[9 + axis] = sums[3, axis]
                            found[12 + axis] = at + (sums[1, axis] + sums[2, axis]) * w
                        if airborne[1]:
                            found[14] -= 0.5 * GRAVITY_M_S2 * w * w
                        found[15], found[16] = t, s
                        found[17] = math.sqrt(residue / max(freedom, 1))
                        for k in range(2):
                            found[18 + k] = _standard_error(lower, 2 + k)
    return best


@njit(cache=True)
def _normal(design: Floats, measured: Floats, gram: Floats, sums: Floats) -> None:
    """Fill the normal equations of a fit: the lower half of ``gram`` (4, 4), and ``sums`` (4, 3)."""
    gram[:] = 0.0
    sums[:] = 0.0
    for i in range(len(design)):
        for j in range(4):
            for k in range(j + 1):
                gram[j, k] += design[i, j] * design[i, k]
            for axis in range(3):
                sums[j, axis] += design[i, j] * measured[i, axis]


@njit(cache=True)
def _solve(gram: Floats, sums: Floats, lower: Floats, determinant_min: float) -> bool:
    """Solve them by Cholesky's decomposition, which fills ``lower``; the solution replaces ``sums``.

    Returns:
        False if the determinant is below ``determinant_min``: the positions do not determine the fit.
    """
    product = 1.0
    for j in range(4):
        for k in range(j + 1):
            rest = gram[j, k]
            for q in range(k):
                rest -= lower[j, q] * lower[k, q]
            if j > k:
                lower[j, k] = rest / lower[k, k]
            elif rest <= 0.0:
                return False
            else:
                lower[j, j] = math.sqrt(rest)
                product *= rest
    if product < determinant_min:
        return False
    for axis in range(3):
        for j in range(4):
            for q in range(j):
                sums[j, axis] -= lower[j, q] * sums[q, axis]
            sums[j, axis] /= lower[j, j]
        for j in range(3, -1, -1):
            for q in range(j + 1, 4):
                sums[j, axis] -= lower[q, j] * sums[q, axis]
            sums[j, axis] /= lower[j, j]
    return True


@njit(cache=True)
def _standard_error(lower: Floats, index: int) -> float:
    """Root of a diagonal element of the inverse of the decomposed matrix."""
    total = 0.0
    column = np.zeros(4)
    for j in range(index, 4):
        value = 1.0 if j == index else 0.0
        for q in range(index, j):
            value -= lower[j, q] * column[q]
        column[j] = value / lower[j, j]
        total += column[j] * column[j]
    return math.sqrt(total)
