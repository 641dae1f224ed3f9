"""Records conclusions: which event a detector concluded, from which input and in which state.

Purpose: ``touchline explain`` shows the numbers behind an event, and for these it needs the state of the detector.
A :class:`ConclusionLog` makes another kind of ordering unit (the engine's ``make_unit``). Before such a unit forgets
what is final, it hands the conclusions below the watermark to the log. So the log holds what the sorted replay holds,
whatever was asserted and withdrawn before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import msgspec

from middleware.detector import Detector
from middleware.events import Event
from middleware.isolation import Report
from middleware.ordering.policy import UnitSettings
from middleware.ordering.unit import OrderingUnit
from middleware.trace import name_of


class Conclusion(msgspec.Struct, frozen=True):
    """``detector`` concluded ``event`` from the input ``trigger``, in the state ``before``."""

    event: Event
    trigger: Event
    before: object
    detector: Detector[object]


class ConclusionLog:
    """Conclusions of an engine whose units were made by :meth:`unit`.

    Args:
        records: True of an event that is to be recorded.

    Attributes:
        conclusions: by event name (:func:`middleware.trace.name_of`); of an event with versions all, oldest first.
    """

    def __init__(self, records: Callable[[Event], bool]) -> None:
        self._records = records
        self.conclusions: dict[str, list[Conclusion]] = {}

    def take(self, conclusion: Conclusion) -> None:
        """Record a conclusion if its event is one of those asked for."""
        if self._records(conclusion.event):
            self.conclusions.setdefault(name_of(conclusion.event), []).append(conclusion)

    def unit(self, detector: Detector[object], settings: UnitSettings, report: Report) -> OrderingUnit:
        """Make a unit that reports to this log: the engine's ``make_unit``."""
        return RecordingUnit(self, detector, settings, report)


class RecordingUnit(OrderingUnit):
    """An ordering unit that hands its conclusions to a log before it forgets them."""

    def __init__(self, log: ConclusionLog, detector: Detector[object], settings: UnitSettings, report: Report) -> None:
        super().__init__(detector, settings, report)
        self._log = log
        self._concluding = detector

    def purge(self, final_us: int) -> None:
        """Record what was concluded from inputs dated before ``final_us``, then forget them."""
        for at in range(min(bisect_left(self._keys, (final_us,)), len(self._states))):
            for event in self._outputs[at]:
                before = self.buffer.state_before(at)
                self._log.take(Conclusion(event, self._events[at], before, self._concluding))
        super().purge(final_us)
