"""Final replay: inputs that are final on arrival go through the detectors once, and only the last states are kept.

Theory of operation
-------------------
A host that plays a recording knows what is still to come. It promises that nothing dated before some time arrives any
more (:meth:`middleware.engine.Engine.push`). Then everything before that time is final at once: it is neither repaired
nor withdrawn, and the right-hand side of the law can be computed directly, push by push. Each unit sorts its new inputs
with those that wait, gives its detector all that lie before the unit's own watermark, and keeps only the last state. It
stores no states and outputs for repair, sends no withdrawal, learns no slack, and purges nothing later.

    promised up to 10 s      1st push: 0..10 s folded, 10..11 s waits
    promised up to 20 s      2nd push: what waited and 11..20 s, sorted together, folded

Later inputs wait in the unit, as they do without final replay. So an engine may change from one to the other between
any two pushes. It begins final replay as soon as no unit holds released inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from middleware.detector import KeyedDetector
from middleware.events import END_US, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.ordering.unit import OrderingUnit
from middleware.ordering.unit_buffer import Input

#: Receives a fault: the detector, what, and a text for people.
NoteFault = Callable[[str, str, str], None]


class FinalReplay:
    """The walk through the levels where everything is final at once.

    Args:
        hierarchy: detectors and wiring.
        keyed: at the index of each keyed detector that detector, else None.
        units: of each detector, by key.
        unit: returns the unit of a detector's index and a key, and makes it if there is none.
        note_fault: receives faults.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        keyed: Sequence[KeyedDetector[object] | None],
        units: Sequence[Mapping[str, OrderingUnit]],
        unit: Callable[[int, str], OrderingUnit],
        note_fault: NoteFault,
    ) -> None:
        self._names = [detector.spec.name for detector in hierarchy.detectors]
        self._keyed, self._units, self._unit, self._note_fault = keyed, units, unit, note_fault
        self._rank, self._internal = hierarchy.rank, hierarchy.internal
        self._reach_us = hierarchy.max_reach_us
        #: Inputs of each detector in this walk.
        self._inputs: list[list[Input]] = [[] for _ in hierarchy.detectors]
        #: An ``append`` for each subscriber, by kind.
        self._subscribers = {
            kind: tuple(self._inputs[index].append for index in indices)
            for kind, indices in hierarchy.subscribers.items()
        }

    def walk(
        self, events: Iterable[Event], final_us: int, watch: frozenset[str]
    ) -> tuple[list[Update], list[Update], int]:
        """Fold all that is final, level by level.

        Args:
            events: new raw ones, in any order.
            final_us: event time below which nothing arrives or changes any more.
            watch: internal kinds that are asked for.

        Returns:
            Updates to publish, updates of watched kinds, and the number of events that detectors emitted.
        """
        published: list[Update] = []
        watched: list[Update] = []
        internal, routed = self._internal, 0
        self._route(events)
        for index, inputs in enumerate(self._inputs):
            below_us = final_us if final_us == END_US else final_us - self._reach_us[index]
            emitted = self._process(index, inputs, below_us)
            inputs.clear()
            if not emitted:
                continue
            routed += len(emitted)
            self._route(emitted)
            for event in emitted:
                if event.kind not in internal:
                    published.append(Update(event, 1))
                elif event.kind in watch:
                    watched.append(Update(event, 1))
        return published, watched, routed

    def _route(self, events: Iterable[Event]) -> None:
        """Give events to their subscribers."""
        rank, subscribers = self._rank, self._subscribers
        for event in events:
            keyed_event = canonical_key(event, rank), event
            for append in subscribers[event.kind]:
                append(keyed_event)

    def _process(self, index: int, inputs: list[Input], below_us: int) -> list[Event]:
        """Fold one detector, or each key of a keyed one; return its outputs."""
        units, detector = self._units[index], self._keyed[index]
        if detector is None:
            return self._unit(index, "").process_final(inputs, below_us) if inputs or units else []
        by_key: dict[str, list[Input]] = {name: [] for name, unit in units.items() if unit.waiting}
        for keyed_event in inputs:
            try:
                name = detector.key(keyed_event[1])
            except Exception as error:
                text = f"key of {keyed_event[1].kind}: {type(error).__name__}: {error}"
                self._note_fault(self._names[index], "raised", text)
                continue
            if name in by_key:
                by_key[name].append(keyed_event)
            else:
                by_key[name] = [keyed_event]
        emitted: list[Event] = []
        for name, own in by_key.items():
            emitted += self._unit(index, name).process_final(own, below_us)
        return emitted
