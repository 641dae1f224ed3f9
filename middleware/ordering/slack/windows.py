"""Sliding windows over delays: mean, deviation and extremes in constant time per delay."""

from __future__ import annotations

from collections import deque
from math import sqrt
from typing import Literal


class Window:
    """The delays of the last ``span_us`` of time, or the last ``count`` of them; exactly one of the two is given.

    Sums are kept in whole microseconds, so nothing drifts however long it runs.
    """

    def __init__(self, *, span_us: int | None = None, count: int | None = None) -> None:
        if (span_us is None) == (count is None):
            raise ValueError("a window is bounded by time or by count")
        self._span_us = span_us
        self._count = count
        self._values: deque[tuple[int, int]] = deque()
        self._sum = self._sum_of_squares = 0
        self._by_age = self._by_age_squared = 0
        self._falling: deque[tuple[int, int]] = deque()
        self._rising: deque[tuple[int, int]] = deque()
        self._number = 0

    def __len__(self) -> int:
        """Number of delays in the window."""
        return len(self._values)

    def add(self, delay_us: int, now_us: int) -> None:
        """Add a delay and drop those that have left the window; the newest always stays."""
        # Every delay ages by one: the sums over age and age squared follow from those before.
        self._by_age_squared += 2 * self._by_age + self._sum
        self._by_age += self._sum
        self._values.append((now_us, delay_us))
        self._sum += delay_us
        self._sum_of_squares += delay_us * delay_us
        for extremes, sign in ((self._falling, 1), (self._rising, -1)):
            while extremes and sign * extremes[-1][1] <= sign * delay_us:
                extremes.pop()
            extremes.append((self._number, delay_us))
        self._number += 1
        while self._is_over(now_us):
            self._drop()

    @property
    def mean_us(self) -> float:
        """Arithmetic mean."""
        return self._sum / len(self._values)

    @property
    def mean_by_age_us(self) -> float | None:
        """Mean weighted by ((n - i) / n) ** 2, where i counts from 1, the oldest: the newest weighs nothing.

        None for a single delay: it weighs nothing.
        """
        ages = len(self._values) - 1
        weights = ages * (ages + 1) * (2 * ages + 1) // 6
        return self._by_age_squared / weights if weights else None

    @property
    def deviation_us(self) -> float:
        """Standard deviation."""
        n = len(self._values)
        return sqrt(max(0, n * self._sum_of_squares - self._sum * self._sum)) / n

    def extreme_us(self, which: Literal["highest", "lowest"]) -> int:
        """Return the highest or the lowest delay."""
        return (self._falling if which == "highest" else self._rising)[0][1]

    def _is_over(self, now_us: int) -> bool:
        if self._count is not None:
            return len(self._values) > self._count
        return self._span_us is not None and now_us - self._values[0][0] > self._span_us and len(self._values) > 1

    def _drop(self) -> None:
        _, delay_us = self._values.popleft()
        age = len(self._values)
        self._sum -= delay_us
        self._sum_of_squares -= delay_us * delay_us
        self._by_age -= age * delay_us
        self._by_age_squared -= age * age * delay_us
        dropped = self._number - len(self._values)
        for extremes in (self._falling, self._rising):
            while extremes[0][0] < dropped:
                extremes.popleft()
