"""Purity check: repeats the last steps of a detector between two windows, to time them and to compare the results.

The same input on the same state must lead to the same state and outputs. If it does not, the detector is not pure,
which is a fault. The host times the steps apart from the comparisons, because the retraction modes differ in these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from middleware.detector import Step
from middleware.ordering.unit import OrderingUnit


class PurityCheck:
    """Repeated steps of one detector. They change no state, send no update and report no fault but impurity.

    Args:
        units: of the detector.
        steps: how many at most, over all units.
        on_impure: called by a comparison that shows it.
    """

    def __init__(self, units: Iterable[OrderingUnit], steps: int, on_impure: Callable[[], None]) -> None:
        self._parts: list[tuple[OrderingUnit, int]] = []
        self._on_impure = on_impure
        self._repeated: list[list[Step[object]]] = []
        for unit in units:
            share = min(steps, unit.held)
            if share:
                self._parts.append((unit, share))
            steps -= share

    def run(self) -> int:
        """Repeat the steps and compare; return how many there were. Between the two a host may look at a clock."""
        self.step()
        return self.compare()

    def step(self) -> int:
        """Repeat the steps; return how many there were."""
        self._repeated = [unit.repeat_steps(share) for unit, share in self._parts]
        return sum(map(len, self._repeated))

    def compare(self) -> int:
        """Compare the states and outputs of the repeated steps with those that are held; return how many."""
        agree = [unit.agrees(repeated) for (unit, _), repeated in zip(self._parts, self._repeated, strict=True)]
        if not all(agree):
            self._on_impure()
        return sum(map(len, self._repeated))
