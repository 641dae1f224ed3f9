"""The unit buffer: the sorted inputs of an ordering unit, with the states and outputs of those it has released.

Layout: four parallel lists in canonical order.

    keys, events      all inputs: the released ones first, then those that wait
    states, outputs   of each released input, the state after it and the events that the detector emitted on it

So the length of ``states`` is AEP, the already-emitted pointer of paper 000 (section 4.1). The snapshot before an input
is the state after the input before it: states are immutable, and a snapshot is a reference.

The buffer inserts and removes inputs, and notes what is to be redone: ``needs_repair``, ``first_stale``. Redoing is the
work of :mod:`middleware.ordering.repair`, releasing that of :mod:`middleware.ordering.unit`. Both read and write
the four lists directly, because a method call an input would cost more than the work itself; so the lists are never
replaced, only changed in place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain, groupby, islice, pairwise
from operator import itemgetter, lt
from typing import NamedTuple

from middleware.detector import NOTHING
from middleware.events import Event, Key
from middleware.isolation import Report, deciding_event
from middleware.load_accounting import Counters

#: An input that cannot be withdrawn any more, behind its key.
Input = tuple[Key, Event]

_KEY_OF: Callable[[Input], Key] = itemgetter(0)

#: Inputs among which a late one is looked for first, and then: few are later, and older keys are far in memory.
_NEWEST = (16, 256)

#: In place of a state: the input lies before AEP, but the detector has not been given it yet.
FRESH = object()


class UnitBufferError(RuntimeError):
    """A call of the unit buffer that would break the order or lose an update; the message has the reason."""


class BufferContent(NamedTuple):
    """Content of a buffer in a snapshot; ``released`` is the number of inputs before AEP."""

    base: object
    keys: list[Key]
    events: list[Event]
    doubles: dict[Key, list[Event]]
    released: int


class UnitBuffer:
    """Sorted inputs, and what followed from the released ones.

    Args:
        base: the state before all inputs that are held.
        counters: of the unit; a disturbed input is counted here.
        report: receives faults: inputs that contradict each other.

    Attributes:
        keys, events, states, outputs: see the module.
        base: state before the first input that is held.
        needs_repair: True if a released input was inserted, removed or replaced since the last repair.
        first_stale: key of the first fresh or stale input; None if there is none, though outputs of removed inputs may
            have to be withdrawn.
        fresh: number of fresh inputs: before AEP, and not given to the detector yet.
        stale: keys of inputs that the detector must be given again, because they, or the one before them, changed.
        orphaned: outputs of inputs that were removed.
    """

    __slots__ = (
        "_counters", "_doubles", "_report", "base", "events", "first_stale", "fresh", "keys", "needs_repair",
        "orphaned", "outputs", "stale", "states",
    )  # fmt: skip

    def __init__(self, base: object, counters: Counters, report: Report) -> None:
        self.base = base
        self.keys: list[Key] = []
        self.events: list[Event] = []
        self.states: list[object] = []
        self.outputs: list[Sequence[Event]] = []
        self.needs_repair = False
        self.first_stale: Key | None = None
        self.fresh = 0
        self.stale: set[Key] = set()
        self.orphaned: list[Event] = []
        #: All events under a key that several events have; ``events`` has the one that counts.
        self._doubles: dict[Key, list[Event]] = {}
        self._counters = counters
        self._report = report

    @property
    def is_empty(self) -> bool:
        """True if no released input is held and nothing is to be repaired."""
        return not (self.states or self._doubles or self.needs_repair)

    @property
    def snapshots(self) -> int:
        """Number of states held for repair; equal references of neighbours count once."""
        return sum(state is not before for before, state in pairwise([self.base, *self.states]))

    @property
    def newest_state(self) -> object:
        """State after the newest released input."""
        return self.states[-1] if self.states else self.base

    def listing(self) -> list[tuple[Event, bool]]:
        """All inputs in order, each with True if it lies before AEP (000, Fig. 6)."""
        return [(event, at < len(self.states)) for at, event in enumerate(self.events)]

    def state_before(self, at: int) -> object:
        """State before the input at index ``at``."""
        return self.states[at - 1] if at else self.base

    def index_of(self, key: Key) -> int:
        """Index of the first input whose key is not less than ``key``."""
        keys = self.keys
        for newest in _NEWEST:
            first = len(keys) - newest
            if first > 0 and keys[first] < key:
                return bisect_left(keys, key, first + 1)
        return bisect_left(keys, key)

    def outputs_from(self, at: int) -> int:
        """Number of events that the inputs from index ``at`` on led to."""
        return sum(map(len, self.outputs[at:]))

    def fresh_inputs(self) -> list[Event]:
        """Inputs before AEP that the detector has not been given."""
        return [event for event, state in zip(self.events, self.states, strict=False) if state is FRESH]

    def insert(self, event: Event, key: Key) -> bool:
        """Insert an input that is not the newest; True if it is new and lies before AEP, that is, if it is late."""
        keys = self.keys
        at = self.index_of(key)
        if keys[at] == key:
            self._add_double(event, key, at)
            return False
        keys.insert(at, key)
        self.events.insert(at, event)
        states = self.states
        if at >= len(states):
            return False
        states.insert(at, FRESH)
        self.outputs.insert(at, NOTHING)
        self.fresh += 1
        self._mark(key)
        return True

    def remove(self, event: Event, key: Key) -> None:
        """Remove a withdrawn input; one that is not held is reported as a fault."""
        keys, events = self.keys, self.events
        at = self.index_of(key)
        if at == len(keys) or keys[at] != key:
            self._report("unmatched", f"{event.kind} at {event.ts_us} us was withdrawn and is not held")
            return
        if self._doubles and key in self._doubles and event in self._doubles[key]:
            self._doubles[key].remove(event)
            self._choose_double(key, at)
            return
        if events[at] is not event and events[at] != event:
            self._report("unmatched", f"{event.kind} at {event.ts_us} us was withdrawn and another is held")
            return
        del keys[at], events[at]
        states, all_outputs = self.states, self.outputs
        if at >= len(states):
            return
        if states[at] is FRESH:
            self.fresh -= 1
        if self.stale:
            self.stale.discard(key)
        if all_outputs[at]:
            self.orphaned.extend(all_outputs[at])
        self.needs_repair = True
        del states[at], all_outputs[at]
        # The next input that the detector was given saw the state after the removed one. Fresh inputs between the two
        # are passed over: the detector has not been given them.
        while at < len(states) and states[at] is FRESH:
            at += 1
        if at < len(states):
            self.stale.add(keys[at])
            self._mark(keys[at])

    def repaired(self) -> None:
        """Clear the marks of what was to be redone, after the repair."""
        self.fresh = 0
        self.stale.clear()
        self.first_stale = None
        self.orphaned = []
        self.needs_repair = False

    def purge(self, final_us: int) -> None:
        """Forget released inputs dated before ``final_us``; their effect stays in the base state.

        Raises:
            UnitBufferError: a repair is due; the base state would be wrong for good.
        """
        cut = min(bisect_left(self.keys, (final_us,)), len(self.states))
        if cut:
            if self.needs_repair:
                raise UnitBufferError("purged before the repair was made")
            self.base = self.states[cut - 1]
            del self.keys[:cut], self.events[:cut], self.states[:cut], self.outputs[:cut]
            if self._doubles:
                self._doubles = {key: events for key, events in self._doubles.items() if key[0] >= final_us}

    def take_below(self, runs: Sequence[Sequence[Input]], below_us: int, *, has_doubles: bool) -> Sequence[Input]:
        """Take out the inputs dated before ``below_us``, of new ones and of those that wait; the others wait.

        Args:
            runs: new ones, each run in canonical order; no two runs have a key in common.
            below_us: nothing dated before it arrives or is withdrawn any more.
            has_doubles: True if a run may have several events under one key.

        Returns:
            The inputs in canonical order, one under each key.

        Raises:
            UnitBufferError: released inputs are held, so the new ones could lie before them.
        """
        if self.states:
            raise UnitBufferError("inputs are taken out of a buffer that still holds released ones")
        if self.keys:
            runs, has_doubles = [list(zip(self.keys, self.events, strict=True)), *runs], True
        new = runs[0] if len(runs) == 1 else sorted(chain.from_iterable(runs), key=_KEY_OF)
        if has_doubles:
            keys = [key for key, _ in new]
            if not all(map(lt, keys, islice(keys, 1, None))):
                new = self._one_under_each_key(new)
        if not new or new[-1][0][0] < below_us:
            self.keys.clear()
            self.events.clear()
            return new
        cut = bisect_left(new, (below_us,), key=_KEY_OF)  # type: ignore[arg-type]
        self.keys[:] = [key for key, _ in new[cut:]]
        self.events[:] = [event for _, event in new[cut:]]
        return new[:cut]

    def content(self) -> BufferContent:
        """Return what a snapshot needs: states and outputs follow again from the events.

        Raises:
            UnitBufferError: a repair is due; between two pushes there is none.
        """
        if self.needs_repair:
            raise UnitBufferError("a snapshot was asked for before the repair was made")
        return BufferContent(self.base, self.keys, self.events, self._doubles, len(self.states))

    def load(self, content: BufferContent, counters: Counters) -> None:
        """Continue with the inputs that :meth:`content` returned; none of them counts as released yet."""
        self._counters = counters
        self.base, self.keys[:], self.events[:], self._doubles, _ = content
        self.states.clear()
        self.outputs.clear()

    def _one_under_each_key(self, inputs: Sequence[Input]) -> list[Input]:
        chosen = []
        for key, several in groupby(inputs, key=_KEY_OF):
            events = [event for _, event in several]
            for event in events[1:]:
                self._report_double(event)
            chosen.append((key, deciding_event(events)))
        return chosen

    def _add_double(self, event: Event, key: Key, at: int) -> None:
        """Store a further event under a key that the buffer holds already."""
        self._report_double(event)
        self._doubles.setdefault(key, [self.events[at]]).append(event)
        self._choose_double(key, at)

    def _choose_double(self, key: Key, at: int) -> None:
        """Put the event that counts under its key; if it changed before AEP, it is to be redone."""
        counts = deciding_event(self._doubles[key])
        if counts is not self.events[at] and at < len(self.states):
            if self.states[at] is not FRESH:
                self.stale.add(key)
            self._mark(key)
        self.events[at] = counts
        if len(self._doubles[key]) == 1:
            del self._doubles[key]

    def _report_double(self, event: Event) -> None:
        self._report("doubled", f"{event.kind} at {event.ts_us} us from {event.source} {event.seq} {event.id}")

    def _mark(self, key: Key) -> None:
        """Mark the input under ``key``, which lies before AEP, for the next repair."""
        self._counters.disturbed += 1
        self.needs_repair = True
        if self.first_stale is None or key < self.first_stale:
            self.first_stale = key
