"""Folding: what is final as soon as it is taken in goes through the detectors once, and nothing is kept of it.

Theory of operation
-------------------
Whoever plays a recording knows what is still to come. Where the host says "nothing dated before this comes any more"
(``Engine.push``), all before it is final already: it can neither be repaired nor taken back. Then the law's right-hand
side can be calculated directly, a stretch at a time: each unit sorts what it was given with what still waits, its
detector is folded over all that lies before the unit's own bound, and only the last state stays. No state or
conclusion is kept for repair, no update is a withdrawal, no slack is learned, and nothing has to be let go of later.

What lies behind the bound waits in the unit as it does before any other release, so an engine may go over from one way
to the other between any two pushes. It begins to fold once nothing is held any more that was said before its time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from middleware.detector import KeyedDetector
from middleware.events import END_US, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.ordering.unit import OrderingUnit
from middleware.ordering.unit_buffer import Input

#: Is told of a fault: the detector, what, and a text for people.
Note = Callable[[str, str, str], None]


class Folding:
    """The walk through the levels where everything is final at once.

    Args:
        hierarchy: detectors and wiring.
        keyed: the detectors that are keyed, at their places.
        units: of each detector, by key.
        unit: makes the unit of a detector's place and key, or gives the one that is there.
        note: is told of faults.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        keyed: Sequence[KeyedDetector[object] | None],
        units: Sequence[Mapping[str, OrderingUnit]],
        unit: Callable[[int, str], OrderingUnit],
        note: Note,
    ) -> None:
        self._names = [detector.spec.name for detector in hierarchy.detectors]
        self._keyed, self._units, self._unit, self._note = keyed, units, unit, note
        self._rank, self._internal = hierarchy.rank, hierarchy.internal
        self._reach_us = hierarchy.reach_most_us
        #: What each detector was given in this walk.
        self._given: list[list[Input]] = [[] for _ in hierarchy.detectors]
        #: Who takes a word of a kind.
        self._takers = {
            kind: tuple(self._given[place].append for place in places) for kind, places in hierarchy.subscribers.items()
        }

    def walk(
        self, events: Iterable[Event], final_us: int, watch: frozenset[str]
    ) -> tuple[list[Update], list[Update], int]:
        """Folds all that is final through the levels.

        Args:
            events: new raw ones, in any order.
            final_us: event time below which nothing comes or changes any more.
            watch: internal kinds that are asked for.

        Returns:
            What is to be published, what is watched, and how many events there were in all.
        """
        published: list[Update] = []
        watched: list[Update] = []
        internal, moved = self._internal, 0
        self._give(events)
        for index, given in enumerate(self._given):
            below_us = final_us if final_us == END_US else final_us - self._reach_us[index]
            concluded = self._concluded(index, given, below_us)
            given.clear()
            if not concluded:
                continue
            moved += len(concluded)
            self._give(concluded)
            for event in concluded:
                if event.kind not in internal:
                    published.append(Update(event, 1))
                elif event.kind in watch:
                    watched.append(Update(event, 1))
        return published, watched, moved

    def _give(self, events: Iterable[Event]) -> None:
        """Puts events down for whoever listens."""
        rank, takers = self._rank, self._takers
        for event in events:
            word = canonical_key(event, rank), event
            for take in takers[event.kind]:
                take(word)

    def _concluded(self, index: int, given: list[Input], below_us: int) -> list[Event]:
        units, detector = self._units[index], self._keyed[index]
        if detector is None:
            return self._unit(index, "").fold(given, below_us) if given or units else []
        by_key: dict[str, list[Input]] = {name: [] for name, unit in units.items() if unit.waiting}
        for word in given:
            try:
                name = detector.key(word[1])
            except Exception as error:
                text = f"key of {word[1].kind}: {type(error).__name__}: {error}"
                self._note(self._names[index], "raised", text)
                continue
            if name in by_key:
                by_key[name].append(word)
            else:
                by_key[name] = [word]
        concluded: list[Event] = []
        for name, mine in by_key.items():
            concluded += self._unit(index, name).fold(mine, below_us)
        return concluded
