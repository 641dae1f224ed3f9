"""15.8, the life of an event: its state (tentative, confirmed, withdrawn) from the update log and the watermark.

Theory of operation
-------------------
The log has only +1 and -1. A person wants to see each event once, with its state:

* *tentative*: asserted, and input that may still arrive could change it (it is not below the frontier of its
  kind, the watermark);
* *confirmed*: asserted, and below that frontier. No message announces it: the frontier passes;
* *withdrawn*: its newest update was -1. It stays in the list, struck through, because people have seen it;
* *amended* is no state but a history: -1 of the old record and +1 of another with the same id. ``revision``
  counts how often that happened. A -1 followed by +1 of the very same record (a stage that was redone) is none.

An amendment may also arrive as +1 of the new record, then -1 of the old one. So a -1 of another record than the stored
one changes nothing (as in ``football.update_stream.Follower``).

Each change gets the next *version*, so that a reader that knows version v asks for later changes. Memory is bounded:
each group of kinds stores its newest entries. Counts (score, totals) do not depend on the stored entries.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Final, Literal

import msgspec

from football.update_stream import EventRecord, UpdateRecord

State = Literal["tentative", "confirmed", "withdrawn"]

#: Entries kept of one group, if the owner does not say: more than a page shows, half a minute of the densest kinds.
ENTRIES_PER_GROUP: Final = 500
#: Older versions of an amended event that its entry holds.
OLDER_MAX: Final = 3


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One event of the timeline with its state at ``version``.

    ``emitted_us`` is the arrival time at which it was first asserted, ``changed_us`` that of the newest update.
    ``older`` has the newest versions that ``record`` replaced, oldest first.
    """

    record: EventRecord
    state: State
    revision: int
    emitted_us: int
    changed_us: int
    version: int
    older: tuple[EventRecord, ...] = ()


class Lifecycle:
    """Events of one match with their states. Not thread safe; its owner locks.

    Every published event has exactly one state at any time, and at the end it is either confirmed or withdrawn.

    Args:
        group_of: group of a kind; limits and queries are by group. Default: all in one.
        entries_per_group: number of newest entries stored of each group.
    """

    def __init__(
        self, group_of: Callable[[str], str] = lambda kind: "", entries_per_group: int = ENTRIES_PER_GROUP
    ) -> None:
        assert entries_per_group > 0
        self._group_of = group_of
        self.version = 0
        self.frontier_us = -(2**62)
        #: Sum of diffs by kind: how many events of the kind are held true now.
        self.totals: Counter[str] = Counter()
        self.withdrawn_ever = 0
        self.amended_ever = 0
        self._entries_per_group = entries_per_group
        # Dicts keep the order of insertion, and a changed entry is inserted anew: so each is sorted by version.
        self._groups: dict[str, dict[str, Entry]] = {}
        self._open: list[tuple[int, str, str]] = []

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Apply the next updates of the log, in its order."""
        for update in updates:
            assert update.diff in (-1, 1), f"update {update.seq}: diff {update.diff} is neither +1 nor -1"
            self.totals[update.event.kind] += update.diff
            if update.diff > 0:
                self._assert(update)
            else:
                self._withdraw(update)

    def advance(self, frontier_us: int) -> None:
        """Confirm all that the frontier of the inputs confirms. A lower one than before changes nothing."""
        self.frontier_us = max(self.frontier_us, frontier_us)
        while self._open and self._open[0][0] < self.frontier_us:
            settled_us, group, event_id = heapq.heappop(self._open)
            entry = self._groups[group].get(event_id)
            if entry is not None and entry.state == "tentative" and _settled_us(entry.record) == settled_us:
                self._put(group, entry, state="confirmed")

    def forget(self, event_id: str, kind: str) -> None:
        """Drop the entry of an event that can change no more."""
        self._groups.get(self._group_of(kind), {}).pop(event_id, None)

    def get(self, event_id: str, kind: str) -> Entry | None:
        """Return the entry of an event, or None if it is unknown or no longer stored."""
        return self._groups.get(self._group_of(kind), {}).get(event_id)

    def changes(self, since: int, groups: Collection[str], limit: int | None = None) -> list[Entry]:
        """Return entries of ``groups`` that changed after version ``since``, oldest change first.

        A page that is being opened may ask for the newest ``limit`` only. A page that continues may not, because it
        would miss the changes that were left out.
        """
        changed: list[Entry] = []
        for name in groups:
            newest: list[Entry] = []
            for entry in reversed(self._groups.get(name, {}).values()):
                if entry.version <= since or len(newest) == limit:
                    break
                newest.append(entry)
            changed.extend(newest)
        changed.sort(key=lambda entry: entry.version)
        return changed if limit is None else changed[-limit:]

    def recent(self, group: str, from_us: int) -> list[Entry]:
        """Return entries of a group that happened at or after ``from_us``, sorted by event time.

        It reads the newest changes first and stops after a run of old ones: an old event may change late, but the page
        draws only events of the last seconds.
        """
        changed: list[Entry] = []
        old = 0
        for entry in reversed(self._groups.get(group, {}).values()):
            if entry.record.ts_us >= from_us:
                changed.append(entry)
            else:
                old += 1
                if old > 100:
                    break
        return sorted(changed, key=lambda entry: (entry.record.ts_us, entry.record.id))

    def _assert(self, update: UpdateRecord) -> None:
        record = update.event
        group = self._group_of(record.kind)
        before = self._groups.get(group, {}).get(record.id)
        state: State = "confirmed" if record.is_confirmed(self.frontier_us) else "tentative"
        amended = before is not None and before.record != record
        self.amended_ever += amended
        entry = Entry(
            record,
            state,
            before.revision + amended if before else 0,
            before.emitted_us if before else update.emitted_us,
            update.emitted_us,
            0,
            _older(before, record),
        )
        self._put(group, entry)
        if state == "tentative":
            heapq.heappush(self._open, (_settled_us(record), group, record.id))

    def _withdraw(self, update: UpdateRecord) -> None:
        self.withdrawn_ever += 1
        group = self._group_of(update.event.kind)
        entry = self._groups.get(group, {}).get(update.event.id)
        if entry is not None and entry.state != "withdrawn" and entry.record == update.event:
            self._put(group, entry, state="withdrawn", changed_us=update.emitted_us)

    def _put(self, group: str, entry: Entry, **changes: object) -> None:
        """Store an entry as the newest change of its group, and drop the oldest if there are too many."""
        self.version += 1
        entries = self._groups.setdefault(group, {})
        entries.pop(entry.record.id, None)
        entries[entry.record.id] = msgspec.structs.replace(entry, version=self.version, **changes)
        if len(entries) > self._entries_per_group:
            del entries[next(iter(entries))]


def _settled_us(record: EventRecord) -> int:
    """Return the event time that the frontier of the inputs must pass to confirm an event."""
    return record.ts_us + record.lag_us


def _older(before: Entry | None, record: EventRecord) -> tuple[EventRecord, ...]:
    if before is None or before.record == record:
        return before.older if before else ()
    return (*before.older, before.record)[-OLDER_MAX:]
