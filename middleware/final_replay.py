"""Final replay: inputs that are final on arrival go through the detectors once, and only the last states are kept.

Theory of operation
-------------------
A host that plays a recording knows what is still to come. It promises that nothing dated before some time arrives any
more (:meth:`middleware.engine.Engine.push`). Then everything before that time is final at once: it is neither repaired
nor withdrawn, and the right-hand side of the law can be computed directly, push by push. The events of a kind are
sorted once for all its subscribers. Each unit merges its new inputs with those that wait, gives its detector all that
lie before the unit's own watermark, and keeps only the last state. It stores no states and outputs for repair, sends no
withdrawal, learns no slack, and purges nothing later.

    promised up to 10 s      1st push: 0..10 s folded, 10..11 s waits
    promised up to 20 s      2nd push: what waited and 11..20 s, sorted together, folded

Later inputs wait in the unit, as they do without final replay. So an engine may change from one to the other between
any two pushes. It begins final replay as soon as no unit holds released inputs.

An output that waited for nothing else is emitted when the input that led to it is there, however much is pushed at
once. So each output goes with the event time at which it *became known*: that of the input that led to it, or when the
inputs before it became known, if they were dated back. These times are kept until no unit waits for the input any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter, lt

from middleware.detector import KeyedDetector
from middleware.events import END_US, Event, Key, KnownEvent, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.ordering.unit import OrderingUnit
from middleware.ordering.unit_buffer import Input

_KEY_OF = itemgetter(0)
_KNOWN_US_OF, _EVENT_OF = itemgetter(0), itemgetter(1)
_NONE: Mapping[Key, int] = {}

#: What a walk leads to: updates to publish, in groups by the event time at which they became known (``END_US``: when
#: they are emitted); updates of watched kinds; the number of events that detectors emitted.
Walked = tuple[list[tuple[int, list[Update]]], list[Update], int]

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
        #: Inputs in this walk. Of a detector that is not keyed: of each kind that has some a run, sorted once for all
        #: subscribers. Of a keyed one: in the order in which they became known.
        self._runs: list[list[Sequence[Input]]] = [[] for _ in hierarchy.detectors]
        self._keyed_inputs: list[list[Input]] = [[] for _ in hierarchy.detectors]
        #: An ``append`` for each subscriber, by kind: of runs, and of inputs.
        self._subscribers = {
            kind: (
                tuple(self._runs[index].append for index in indices if keyed[index] is None),
                tuple(self._keyed_inputs[index].append for index in indices if keyed[index] is not None),
            )
            for kind, indices in hierarchy.subscribers.items()
        }
        self._outputs = [frozenset(detector.spec.outputs) for detector in hierarchy.detectors]
        #: True once two events of this walk have one key.
        self._has_doubles = False
        #: By index: may inputs, and outputs, be dated before they became known? When each such event became known.
        self._takes_late = [reach_us > 0 for reach_us in hierarchy.max_reach_us]
        self._emits_late = [
            late or detector.spec.horizon_us > 0
            for late, detector in zip(self._takes_late, hierarchy.detectors, strict=True)
        ]
        self.known_us: dict[Key, int] = {}

    def walk(self, events: Iterable[Event], final_us: int, watch: frozenset[str]) -> Walked:
        """Fold all that is final, level by level.

        Args:
            events: new raw ones, in any order.
            final_us: event time below which nothing arrives or changes any more.
            watch: internal kinds that are asked for.
        """
        published: list[KnownEvent] = []
        watched: list[Update] = []
        internal, routed = self._internal, 0
        hidden = internal - watch
        self._has_doubles = False
        self._route(events)
        for index, detector in enumerate(self._keyed):
            below_us = final_us if final_us == END_US else final_us - self._reach_us[index]
            if detector is None:
                emitted = self._process(index, below_us)
            else:
                emitted = self._process_keyed(index, detector, below_us)
            if not emitted:
                continue
            routed += len(emitted)
            self._route(map(_EVENT_OF, emitted))
            if self._emits_late[index]:
                self._keep_late(emitted)
            if self._outputs[index] <= hidden:
                continue
            for known in emitted:
                if known[1].kind not in internal:
                    published.append(known)
                elif known[1].kind in watch:
                    watched.append(Update(known[1], 1))
        oldest_us = final_us - max(self._reach_us, default=0)
        self.known_us = {key: known_us for key, known_us in self.known_us.items() if key[0] >= oldest_us}
        published.sort(key=_KNOWN_US_OF)  # what is known at once stays in the order of the walk
        groups = [
            (known_us, [Update(event, 1) for _, event in group])
            for known_us, group in groupby(published, key=_KNOWN_US_OF)
        ]
        return groups, watched, routed

    def _keep_late(self, emitted: Sequence[KnownEvent]) -> None:
        """Keep when those became known that are dated before it."""
        for known_us, event in emitted:
            if known_us > event.ts_us:
                key = canonical_key(event, self._rank)
                self.known_us[key] = max(known_us, self.known_us.get(key, known_us))

    def _route(self, events: Iterable[Event]) -> None:
        """Give events to the subscribers of their kinds."""
        rank, subscribers = self._rank, self._subscribers
        runs: dict[str, list[Input]] = {}
        for event in events:
            kind = event.kind
            plain, keyed = subscribers[kind]
            if plain or keyed:
                keyed_event = canonical_key(event, rank), event
                for append in keyed:
                    append(keyed_event)
                if kind in runs:
                    runs[kind].append(keyed_event)
                else:
                    runs[kind] = [keyed_event]
        for kind, run in runs.items():
            if not _rises(run):
                run.sort(key=_KEY_OF)
                self._has_doubles = self._has_doubles or not _rises(run)
            for append_run in subscribers[kind][0]:
                append_run(run)

    def _process(self, index: int, below_us: int) -> list[KnownEvent]:
        """Fold a detector that is not keyed; return its outputs."""
        runs = self._runs[index]
        if not runs and ((unit := self._units[index].get("")) is None or not unit.has_waiting):
            return []
        known_us = self.known_us if self._takes_late[index] else _NONE
        emitted = self._unit(index, "").process_final(runs, below_us, known_us, has_doubles=self._has_doubles)
        runs.clear()
        return emitted

    def _process_keyed(self, index: int, detector: KeyedDetector[object], below_us: int) -> list[KnownEvent]:
        """Fold each key of a keyed detector; return their outputs."""
        by_key: dict[str, list[Input]] = {name: [] for name, unit in self._units[index].items() if unit.has_waiting}
        inputs = self._keyed_inputs[index]
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
        inputs.clear()
        emitted: list[KnownEvent] = []
        known_us = self.known_us if self._takes_late[index] else _NONE
        for name, own in by_key.items():
            own.sort(key=_KEY_OF)
            emitted += self._unit(index, name).process_final((own,), below_us, known_us, has_doubles=self._has_doubles)
        return emitted


def _rises(run: Sequence[Input]) -> bool:
    """True if a run is in canonical order, with one event under each key."""
    keys = [key for key, _ in run]
    return all(map(lt, keys, islice(keys, 1, None)))
