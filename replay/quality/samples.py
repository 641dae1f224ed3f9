"""A sample of positions within bounded memory: of a growing number of spots every k-th is retained."""

from __future__ import annotations

from array import array

import numpy as np

#: Spots retained at most. Of 512 the one-percent quantile still has five below it.
CAPACITY = 1_024

#: Share of positions beyond each side of the box.
_BEYOND = 0.01

Range = tuple[float, float]


class SpotSample:
    """Every k-th of the spots; k doubles whenever the memory is full, so that all of the match counts alike."""

    def __init__(self) -> None:
        self._x_m, self._y_m = array("d"), array("d")
        self._every, self._next = 1, 0

    def add(self, x_m: float, y_m: float) -> None:
        """Take a spot."""
        self._next += 1
        if self._next % self._every:
            return
        self._x_m.append(x_m)
        self._y_m.append(y_m)
        if len(self._x_m) >= CAPACITY:
            del self._x_m[::2], self._y_m[::2]
            self._every *= 2

    def box(self) -> tuple[Range, Range]:
        """Ranges of x and y that have all but the outermost hundredth at each side; zeros without a spot."""
        if not self._x_m:
            return (0.0, 0.0), (0.0, 0.0)
        (low_x, low_y), (high_x, high_y) = np.quantile((self._x_m, self._y_m), (_BEYOND, 1.0 - _BEYOND), axis=1)
        return (float(low_x), float(high_x)), (float(low_y), float(high_y))
