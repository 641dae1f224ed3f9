"""What an ordering unit holds: its inputs in canonical order, and how far the detector behind it was given them.

Parallel lists. ``_keys`` and ``_events`` hold all inputs, ``_after`` (the state after each) and ``_outputs`` (what each
led to) those that were released, so that AEP (:mod:`middleware.ordering.unit`) is their length. Inputs that come before
AEP, or go from there, mark what is to be redone; the redoing is the unit's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import groupby, islice, pairwise
from operator import itemgetter, lt

from middleware.detector import NOTHING
from middleware.events import Event, Key
from middleware.isolation import Report, deciding_event
from middleware.load_accounting import Counters

#: An input that can't go any more, behind its key.
Input = tuple[Key, Event]

_KEY_OF: Callable[[Input], Key] = itemgetter(0)

#: In place of a state: the input belongs before AEP and was never given to the detector.
FRESH = object()


class UnitBuffer:
    """Sorted inputs with what followed from them.

    Args:
        base: the state before all that is held.
        report: told of inputs that contradict each other.

    Attributes:
        counters: what the unit has done since it began.
    """

    def __init__(self, base: object, report: Report) -> None:
        self._report = report
        self.counters = Counters()
        self._base = base
        self._keys: list[Key] = []
        self._events: list[Event] = []
        self._after: list[object] = []
        self._outputs: list[Sequence[Event]] = []
        #: All events under a key that several claim; ``_events`` has the one that counts.
        self._doubles: dict[Key, list[Event]] = {}
        #: To be redone: how many inputs before AEP are fresh, which of the others, and from where on.
        self._fresh = 0
        self._stale: set[Key] = set()
        self._dirty: Key | None = None
        #: What inputs that went had led to.
        self._gone: list[Event] = []

    @property
    def held(self) -> int:
        """Inputs kept for repair."""
        return len(self._after)

    @property
    def snapshots(self) -> int:
        """States kept for repair: equal references of neighbours are one."""
        return sum(state is not before for before, state in pairwise([self._base, *self._after]))

    def buffer(self) -> list[tuple[Event, bool]]:
        """All inputs held or waiting, in order, each with whether it lies before AEP (000, Fig. 6)."""
        return [(event, at < len(self._after)) for at, event in enumerate(self._events)]

    @property
    def newest_state(self) -> object:
        """State after the newest released input."""
        return self._after[-1] if self._after else self._base

    def purge(self, final_us: int) -> None:
        """Forgets released inputs dated before ``final_us``; their effect stays in the base state."""
        cut = min(bisect_left(self._keys, (final_us,)), len(self._after))
        if cut:
            assert self._dirty is None, "purge before the repair was run"
            self._base = self._after[cut - 1]
            del self._keys[:cut], self._events[:cut], self._after[:cut], self._outputs[:cut]
            if self._doubles:
                self._doubles = {key: events for key, events in self._doubles.items() if key[0] >= final_us}

    def _due(self, given: Sequence[Input], below_us: int) -> Sequence[Input]:
        """What comes before ``below_us`` of new inputs and of those that wait, in order; the rest waits on.

        Nothing that was given to the detector is held.
        """
        assert not self._after, "what was said before its time is still held"
        if self._keys:
            given = [*zip(self._keys, self._events, strict=True), *given]
        keys = [key for key, _ in given]
        if not all(map(lt, keys, islice(keys, 1, None))):
            given = sorted(given, key=_KEY_OF)
            if any(one[0] == other[0] for one, other in pairwise(given)):
                given = self._without_doubles(given)
        if not given or given[-1][0][0] < below_us:
            self._keys, self._events = [], []
            return given
        cut = bisect_left(given, (below_us,), key=_KEY_OF)  # type: ignore[arg-type]
        self._keys = [key for key, _ in given[cut:]]
        self._events = [event for _, event in given[cut:]]
        return given[:cut]

    def _without_doubles(self, given: Sequence[Input]) -> list[Input]:
        """Of several events under one key the one that counts."""
        good = []
        for key, several in groupby(given, key=_KEY_OF):
            events = [event for _, event in several]
            for event in events[1:]:
                self._report("doubled", f"{event.kind} at {event.ts_us} us from {event.source} {event.seq} {event.id}")
            good.append((key, deciding_event(events)))
        return good

    def _insert(self, event: Event, key: Key) -> bool:
        """Takes an input that is not the newest; True if it belongs before AEP and was not there."""
        keys = self._keys
        at = bisect_left(keys, key)
        if keys[at] == key:
            self._double(event, key, at)
            return False
        keys.insert(at, key)
        self._events.insert(at, event)
        if at >= len(self._after):
            return False
        self._after.insert(at, FRESH)
        self._outputs.insert(at, NOTHING)
        self._fresh += 1
        self._mark(key)
        return True

    def _double(self, event: Event, key: Key, at: int) -> None:
        """Another event claims a key that is taken."""
        self._report("doubled", f"{event.kind} at {event.ts_us} us from {event.source} {event.seq} {event.id}")
        self._doubles.setdefault(key, [self._events[at]]).append(event)
        self._settle_double(key, at)

    def _settle_double(self, key: Key, at: int) -> None:
        counts = deciding_event(self._doubles[key])
        if counts is not self._events[at] and at < len(self._after):
            if self._after[at] is not FRESH:
                self._stale.add(key)
            self._mark(key)
        self._events[at] = counts
        if len(self._doubles[key]) == 1:
            del self._doubles[key]

    def _remove(self, event: Event, key: Key) -> None:
        keys = self._keys
        at = bisect_left(keys, key)
        if at == len(keys) or keys[at] != key:
            self._report("unmatched", f"{event.kind} at {event.ts_us} us was withdrawn and is not held")
            return
        if key in self._doubles and event in self._doubles[key]:
            self._doubles[key].remove(event)
            self._settle_double(key, at)
            return
        if self._events[at] is not event and self._events[at] != event:
            self._report("unmatched", f"{event.kind} at {event.ts_us} us was withdrawn and another is held")
            return
        del keys[at], self._events[at]
        after = self._after
        if at >= len(after):
            return
        if after[at] is FRESH:
            self._fresh -= 1
        self._stale.discard(key)
        self._gone.extend(self._outputs[at])
        del after[at], self._outputs[at]
        # The next input that the detector knows was given the state after the one that goes. Fresh ones between the
        # two do not tell: they were never given any.
        while at < len(after) and after[at] is FRESH:
            at += 1
        if at < len(after):
            self._stale.add(keys[at])
            self._mark(keys[at])

    def _mark(self, key: Key) -> None:
        """The input of ``key``, before AEP, is to be given to the detector again."""
        self.counters.disturbed += 1
        if self._dirty is None or key < self._dirty:
            self._dirty = key

    def _fresh_inputs(self) -> list[Event]:
        """Inputs before AEP that the detector was never given."""
        return [event for event, after in zip(self._events, self._after, strict=False) if after is FRESH]

    def _said_from(self, at: int) -> int:
        """How many events the inputs from ``at`` on led to."""
        return sum(map(len, self._outputs[at:]))

    def _state_before(self, at: int) -> object:
        return self._after[at - 1] if at else self._base
