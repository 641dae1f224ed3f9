"""Cut sorted numbers into three groups and into four, so that the numbers of a group are near to each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True)
def best_groups(order: npt.NDArray[np.float64]) -> tuple[float, int, int, float, int, int]:
    """The least squares that are left by three groups, and where the second and the third begin; the same of four
    groups, and where the second and the fourth begin. Of equal ways the first."""
    count = len(order)
    # Sums of places and of their squares up to each, so that a group's squares are a difference.
    sums, squares = np.zeros(count + 1), np.zeros(count + 1)
    for i in range(count):
        sums[i + 1] = sums[i] + order[i]
        squares[i + 1] = squares[i] + order[i] * order[i]
    # Of each group that there may be, once: it is part of many ways to cut.
    spread = np.zeros((count, count + 1))
    for i in range(count):
        for j in range(i + 1, count + 1):
            total = sums[j] - sums[i]
            spread[i, j] = squares[j] - squares[i] - total * total / (j - i)
    three = four = np.inf
    first = second = one = third = 0
    for a in range(1, count):
        for b in range(a + 1, count):
            inner = spread[0, a] + spread[a, b]
            if inner + spread[b, count] < three:
                three, first, second = inner + spread[b, count], a, b
            for c in range(b + 1, count):
                left = inner + spread[b, c] + spread[c, count]
                if left < four:
                    four, one, third = left, a, c
    return three, first, second, four, one, third
