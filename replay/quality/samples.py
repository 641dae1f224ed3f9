"""Samples of positions within bounded memory: of a growing number of them every k-th is retained."""

from __future__ import annotations

from array import array

import numpy as np

#: Positions retained at most. Of 512 the one-percent quantile still has five below it.
CAPACITY = 1_024

#: Share of positions beyond each side of the box.
_BEYOND = 0.01

#: Share of the heights that are below the one that stands for the high ones.
_HIGH = 0.95

Range = tuple[float, float]


class _Sample:
    """Every k-th of some rows of numbers; k doubles whenever the memory is full, so that all of the match counts alike.

    Args:
        width: numbers of a row.
    """

    def __init__(self, width: int) -> None:
        self._columns = tuple(array("d") for _ in range(width))
        self._every, self._next = 1, 0

    def _add(self, *row: float) -> None:
        self._next += 1
        if self._next % self._every:
            return
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)
        if len(self._columns[0]) >= CAPACITY:
            for column in self._columns:
                del column[::2]
            self._every *= 2


class SpotSample(_Sample):
    """A sample of positions on the ground."""

    def __init__(self) -> None:
        super().__init__(2)

    def add(self, x_m: float, y_m: float) -> None:
        """Take a spot."""
        self._add(x_m, y_m)

    def box(self) -> tuple[Range, Range]:
        """Ranges of x and y that have all but the outermost hundredth at each side; zeros without a spot."""
        if not self._columns[0]:
            return (0.0, 0.0), (0.0, 0.0)
        (low_x, low_y), (high_x, high_y) = np.quantile(self._columns, (_BEYOND, 1.0 - _BEYOND), axis=1)
        return (float(low_x), float(high_x)), (float(low_y), float(high_y))


class HeightSample(_Sample):
    """A sample of heights."""

    def __init__(self) -> None:
        super().__init__(1)

    def add(self, z_m: float) -> None:
        """Take a height."""
        self._add(z_m)

    def high_m(self) -> float:
        """The height that one in twenty exceeds; zero without any."""
        return float(np.quantile(self._columns[0], _HIGH)) if self._columns[0] else 0.0
