"""A sample of positions within bounded memory: of a growing number of spots every k-th is retained."""

from __future__ import annotations

import numpy as np

#: Spots retained at most. Of 512 the one-percent quantile still has five below it.
CAPACITY = 1_024

#: Share of positions beyond each side of the box.
_BEYOND = 0.01

Range = tuple[float, float]


class SpotSample:
    """Every k-th of the spots; k doubles whenever the memory is full, so that all of the match counts alike."""

    def __init__(self) -> None:
        self._spots: list[Range] = []
        self._every, self._next = 1, 0

    def add(self, x_m: float, y_m: float) -> None:
        """Take a spot."""
        self._next += 1
        if self._next % self._every:
            return
        self._spots.append((x_m, y_m))
        if len(self._spots) >= CAPACITY:
            del self._spots[::2]
            self._every *= 2

    def box(self) -> tuple[Range, Range]:
        """Ranges of x and y that have all but the outermost hundredth at each side; zeros without a spot."""
        if not self._spots:
            return (0.0, 0.0), (0.0, 0.0)
        low, high = np.quantile(np.array(self._spots), (_BEYOND, 1.0 - _BEYOND), axis=0)
        return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))
