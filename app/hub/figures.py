"""Figures of a match's events, counted as its updates are applied.

Detection latency is measured on the stream's own clock: the arrival time at which an event was first asserted, less its
``ts_us``. Events below the watermark are counted and forgotten, so memory does not grow with the match.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable

import msgspec

from app.hub.latency import Histogram
from football.lifecycle import Lifecycle
from football.update_stream import EventRecord, UpdateRecord

#: Families whose detection latency is measured, by the kind of their first event.
FAMILIES = {"hit": "hit", "pass.attempt": "pass", "shot.attempt": "shot"}


class RunFigures:
    """Counts of events and their states. Not thread safe; its owner locks."""

    def __init__(self) -> None:
        self.retractions = 0
        self._lifecycle = Lifecycle(entries_per_group=sys.maxsize)
        self._final_kinds: Counter[str] = Counter()
        self._final_states: Counter[str] = Counter()
        self._detection: dict[str, Histogram] = {}

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Counts the next updates that a follower applied."""
        for update in updates:
            event = update.event
            is_known = self._lifecycle.get(event.id, event.kind) is not None
            if update.diff < 0:
                self.retractions += 1
                if not is_known:
                    self._recall(update)
            elif event.kind in FAMILIES and not is_known:
                histogram = self._detection.setdefault(FAMILIES[event.kind], Histogram())
                histogram.add(update.emitted_us - event.ts_us)
            self._lifecycle.apply((update,))

    def _recall(self, withdrawal: UpdateRecord) -> None:
        """Takes back that an event was final: an amendment or annulment may withdraw it minutes later."""
        self._final_states["confirmed"] -= 1
        self._final_kinds[withdrawal.event.kind] -= 1
        self._lifecycle.apply((msgspec.structs.replace(withdrawal, diff=1),))

    def settle(self, final: Iterable[EventRecord], frontier_us: int) -> None:
        """Forgets events that a follower found final, see ``football.update_stream.Follower.settle``."""
        self._lifecycle.advance(frontier_us)
        for event in final:
            entry = self._lifecycle.get(event.id, event.kind)
            if entry is not None and entry.record == event:
                self._final_states[entry.state] += 1
                self._final_kinds[event.kind] += entry.state != "withdrawn"
                self._lifecycle.forget(event.id, event.kind)

    def by_kind(self) -> dict[str, int]:
        """Number of currently asserted events, by kind."""
        entries = self._lifecycle.changes(0, [""])
        counts = self._final_kinds + Counter(e.record.kind for e in entries if e.state != "withdrawn")
        return dict(sorted(counts.items()))

    def states(self, frontier_us: int) -> dict[str, int]:
        """Number of events by state (15.8) at this watermark, and the number of amendments."""
        self._lifecycle.advance(frontier_us)
        states = self._final_states + Counter(entry.state for entry in self._lifecycle.changes(0, [""]))
        amended = {"amended": self._lifecycle.amended_ever}
        return {state: states[state] for state in ("tentative", "confirmed", "withdrawn")} | amended

    def detection_latency_ms(self) -> dict[str, dict[str, float]]:
        """Percentiles from event to first assertion, by family; an amended event counts once."""
        return {name: self._detection[name].summary_ms() for name in FAMILIES.values() if name in self._detection}
