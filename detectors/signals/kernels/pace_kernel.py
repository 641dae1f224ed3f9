"""Paces of everybody, and sums over them: of the physical load, and of what fatigue is seen by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]


@njit(cache=True)
def chord_speeds(places: bytes, count: int, apart: int, took_s: Floats) -> Floats:
    """Mean speeds of everybody over chords of their paths, m/s.

    Args:
        places: of each look all x, then all y in metres, as the memory of float64 numbers.
        count: number of people.
        apart: number of looks from one end of a chord to the other.
        took_s: time of each chord; they begin at one look after the other.
    """
    at = np.frombuffer(places, np.float64).reshape(-1, 2, count)
    out = np.empty(count)
    for i in range(count):
        total = 0.0
        for k in range(len(took_s)):
            dx, dy = at[k + apart, 0, i] - at[k, 0, i], at[k + apart, 1, i] - at[k, 1, i]
            total += np.sqrt(dx * dx + dy * dy) / took_s[k]
        out[i] = total / len(took_s)
    return out


@njit(cache=True)
def add_load(
    sums: Floats, before: bytes, now: bytes, dt_s: float, cost_j_kg_m: tuple[float, ...], g_m_s2: float,
    steepest: float, fast_m_s: float, sprint_m_s: float,
) -> None:  # fmt: skip
    """Add the way between two paces to the rows energy, seconds, fast metres and sprinted metres of ``sums``.

    Args:
        sums: rows x players, changed in place.
        before, now: paces of all players in m/s, as the memory of float64 numbers; NaN of who has none, and nothing is
            added for who has not both.
        dt_s: time between them.
        cost_j_kg_m: polynomial of the cost of a metre in the slope, highest power first.
        g_m_s2: gravity.
        steepest: greatest slope.
        fast_m_s, sprint_m_s: from which pace on metres count as fast, and as a sprint's.
    """
    first, second = np.frombuffer(before, np.float64), np.frombuffer(now, np.float64)
    for i in range(len(second)):
        m_s = 0.5 * (first[i] + second[i])
        if np.isnan(m_s):
            continue
        slope = min(max((second[i] - first[i]) / (dt_s * g_m_s2), -steepest), steepest)
        cost = 0.0
        for factor in cost_j_kg_m:
            cost = cost * slope + factor
        cost = np.sqrt(1.0 + slope * slope) * cost
        metres = m_s * dt_s
        sums[0, i] += max(cost, 0.0) * metres
        sums[1, i] += dt_s
        if m_s >= fast_m_s:
            sums[2, i] += metres
        if m_s >= sprint_m_s:
            sums[3, i] += metres


@njit(cache=True)
def add_window(sums: Floats, now: bytes, dt_s: float, base_s: float, fast_m_s: float) -> float:
    """Add paces to the rows seconds, fast metres and greatest pace of each player's base, or of his window once the
    base is full.

    Args:
        sums: rows x players, three rows of the base before three of the window; changed in place.
        now: paces of all players in m/s, as the memory of float64 numbers; NaN of who has none.
        dt_s: time that they stand for.
        base_s: seconds of a full base.
        fast_m_s: from which pace on metres count as fast.

    Returns:
        Seconds of the longest window.
    """
    paces = np.frombuffer(now, np.float64)
    for i in range(len(paces)):
        pace = paces[i]
        if np.isnan(pace):
            continue
        row = 0 if sums[0, i] < base_s else 3
        sums[row, i] += dt_s
        if pace >= fast_m_s:
            sums[row + 1, i] += pace * dt_s
        sums[row + 2, i] = max(sums[row + 2, i], pace)
    longest_s = 0.0
    for i in range(len(paces)):
        longest_s = max(longest_s, sums[3, i])
    return longest_s
