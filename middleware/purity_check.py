"""Rehearsal: a detector does its last steps once more, between two batches, for nothing but to see how it does them.

The host times them: steps apart from comparisons, because the ways to take back differ in just these. And they
show whether the detector is pure: the same input on the same state must lead to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from middleware.detector import Step
from middleware.ordering.unit import OrderingUnit


class PurityCheck:
    """Of one detector. Nothing comes of it: no state, no update, and no fault but that it is not pure.

    Args:
        units: of the detector.
        steps: how many at most, over all units.
        impure: is called if a comparison shows it, once each time.
    """

    def __init__(self, units: Iterable[OrderingUnit], steps: int, impure: Callable[[], None]) -> None:
        self._parts: list[tuple[OrderingUnit, int]] = []
        self._impure = impure
        self._redone: list[list[Step[object]]] = []
        for unit in units:
            share = min(steps, unit.held)
            if share:
                self._parts.append((unit, share))
            steps -= share

    def step(self) -> int:
        """Does the steps; says how many."""
        self._redone = [unit.repeat_steps(share) for unit, share in self._parts]
        return sum(map(len, self._redone))

    def compare(self) -> int:
        """Compares the states and outputs that the steps led to with those that are held; says how many."""
        agree = [unit.agrees(redone) for (unit, _), redone in zip(self._parts, self._redone, strict=True)]
        if not all(agree):
            self._impure()
        return sum(map(len, self._redone))
