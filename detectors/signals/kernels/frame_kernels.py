"""Questions about a frame: players outside their boxes, opponents near each other, players nearest to the ball."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from football.payloads import Frame

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@njit(cache=True)
def nearest(emitted: Floats, begin: int, end: int, sides: bytes) -> tuple[int, float, int, float, int, int, float]:
    """:func:`football.payloads.nearest_players`, of columns of x and y of which the last one is the ball's."""
    x_m, y_m = emitted[0, -1], emitted[1, -1]
    home = away = first = second = -1
    home_m2 = away_m2 = first_m2 = second_m2 = np.inf
    for i in range(end - begin):
        dx, dy = emitted[0, begin + i] - x_m, emitted[1, begin + i] - y_m
        d2 = dx * dx + dy * dy
        if d2 < second_m2:
            if d2 < first_m2:
                first, second, first_m2, second_m2 = i, first, d2, first_m2
            else:
                second, second_m2 = i, d2
        if d2 < home_m2 and sides[i] == 0:
            home, home_m2 = i, d2
        elif d2 < away_m2 and sides[i] == 1:
            away, away_m2 = i, d2
    return home, home_m2, away, away_m2, first, second, first_m2


def first_outside(frame: Frame, boxes: bytes, begin: int = 0) -> int:
    """Index of the first player, from ``begin`` on, outside their boxes; -1 if there is none.

    Args:
        frame: has the players.
        boxes: of its players all low x, all high x, all low y, all high y in metres, as the memory of float64 numbers.
        begin: index of the first player that is looked at.
    """
    index: int = _first_outside(frame.packed_xy_m, boxes, begin)
    return index


def opponents_within(frame: Frame, enter_m: float, leave_m: float) -> list[list[int]]:
    """Pairs of opponents within ``leave_m``: index of the home player, of the away player; 1 if within ``enter_m``."""
    pairs: list[list[int]] = _opponents_within(frame.packed_xy_m, frame.packed_sides, enter_m, leave_m).tolist()
    return pairs


def players_within(frame: Frame, x_m: float, y_m: float, reach_m2: float) -> list[int]:
    """Indices of the players at most ``reach_m2`` (square metres, of the distance squared) from a point."""
    indices: list[int] = _players_within(frame.packed_xy_m, x_m, y_m, reach_m2).tolist()
    return indices


@njit(cache=True)
def _players_within(xy_m: bytes, x_m: float, y_m: float, reach_m2: float) -> Ints:
    at = np.frombuffer(xy_m, np.float64)
    n = len(at) // 2
    out = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        dx, dy = at[i] - x_m, at[n + i] - y_m
        if dx * dx + dy * dy <= reach_m2:
            out[count] = i
            count += 1
    return out[:count]


@njit(cache=True)
def _first_outside(xy_m: bytes, boxes: bytes, begin: int) -> int:
    at, box = np.frombuffer(xy_m, np.float64), np.frombuffer(boxes, np.float64)
    n = len(at) // 2
    for i in range(begin, n):
        x_m, y_m = at[i], at[n + i]
        if not (box[i] < x_m < box[n + i] and box[2 * n + i] < y_m < box[3 * n + i]):
            return i
    return -1


@njit(cache=True)
def _opponents_within(xy_m: bytes, sides: bytes, enter_m: float, leave_m: float) -> Ints:
    n = len(sides)
    at = np.frombuffer(xy_m, np.float64)
    out = np.empty((n * n // 4 + 1, 3), np.int64)
    count = 0
    for i in range(n):
        for j in range(n):
            if sides[i] == 0 and sides[j] == 1:
                dx, dy = at[j] - at[i], at[n + j] - at[n + i]
                d2 = dx * dx + dy * dy
                if d2 <= leave_m * leave_m:
                    out[count, 0], out[count, 1], out[count, 2] = i, j, d2 < enter_m * enter_m
                    count += 1
    return out[:count]
