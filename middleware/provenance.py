"""What a detector concluded, from what and in which state: for chosen events, once nothing can change them any more.

Another kind of ordering unit (the engine's ``make_unit``): before it forgets what is final, it tells a
:class:`Recording` what was concluded there. So what is recorded is what the sorted world holds, whatever was said and
taken back before.
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
    """``detector`` concluded ``told`` on the input ``by``, in the state ``before``."""

    told: Event
    by: Event
    before: object
    detector: Detector[object]


class Recording:
    """Conclusions of an engine whose units were made by :meth:`unit`.

    Args:
        keeps: whether an event is to be recorded.

    Attributes:
        found: by name (:func:`middleware.trace.name_of`); of an event with versions all of them, oldest first.
    """

    def __init__(self, keeps: Callable[[Event], bool]) -> None:
        self._keeps = keeps
        self.found: dict[str, list[Conclusion]] = {}

    def take(self, conclusion: Conclusion) -> None:
        """Records a conclusion, if it is one to be kept."""
        if self._keeps(conclusion.told):
            self.found.setdefault(name_of(conclusion.told), []).append(conclusion)

    def unit(self, detector: Detector[object], settings: UnitSettings, report: Report) -> OrderingUnit:
        """Makes a unit that tells this recording: the engine's ``make_unit``."""
        return RecordingUnit(self, detector, settings, report)


class RecordingUnit(OrderingUnit):
    """An ordering unit that tells what it forgets."""

    def __init__(
        self, recording: Recording, detector: Detector[object], settings: UnitSettings, report: Report
    ) -> None:
        super().__init__(detector, settings, report)
        self._recording = recording
        self._detector = detector

    def purge(self, final_us: int) -> None:
        """Tells what was concluded from inputs that are final, and forgets them."""
        for at in range(min(bisect_left(self._keys, (final_us,)), len(self._after))):
            for told in self._outputs[at]:
                self._recording.take(Conclusion(told, self._events[at], self._state_before(at), self._detector))
        super().purge(final_us)
