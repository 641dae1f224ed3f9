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
each group of kinds stores its newest entries. Counts (score, totals) do not depend on the stored entries. Rare kinds
fill their group for the whole match, so an owner that keeps entries that long has them *packed*: their records are
bytes, a fifth of the memory, and are read again when somebody asks for them.
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
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(tuple[EventRecord, ...]).decode

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


class _Stored(msgspec.Struct, frozen=True, gc=False):
    """An entry as it is kept: what is asked of every entry, and the records, packed or not.

    ``settled_us`` is the event time that the frontier of the inputs must pass to confirm the event.
    """

    ts_us: int
    settled_us: int
    state: State
    revision: int
    emitted_us: int
    changed_us: int
    version: int
    #: Older ones first, the entry's own last.
    records: bytes | tuple[EventRecord, ...]

    def entry(self) -> Entry:
        """The entry as readers get it."""
        *older, record = _unpack(self.records) if isinstance(self.records, bytes) else self.records
        times = self.emitted_us, self.changed_us
        return Entry(record, self.state, self.revision, *times, self.version, tuple(older))


class Lifecycle:
    """Events of one match with their states. Not thread safe; its owner locks.

    Every published event has exactly one state at any time, and at the end it is either confirmed or withdrawn.

    Args:
        group_of: group of a kind; limits and queries are by group. Default: all in one.
        entries_per_group: number of newest entries stored of each group.
        packed: store records as bytes, for an owner that keeps many for long and reads few.
    """

    def __init__(
        self,
        group_of: Callable[[str], str] = lambda kind: "",
        entries_per_group: int = ENTRIES_PER_GROUP,
        *,
        packed: bool = False,
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
        self._groups: dict[str, dict[str, _Stored]] = {}
        self._packed = packed
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
            stored = self._groups[group].get(event_id)
            if stored is not None and stored.state == "tentative" and stored.settled_us == settled_us:
                self._put(group, event_id, msgspec.structs.replace(stored, state="confirmed"))

    def forget(self, event_id: str, kind: str) -> None:
        """Drop the entry of an event that can change no more."""
        self._groups.get(self._group_of(kind), {}).pop(event_id, None)

    def get(self, event_id: str, kind: str) -> Entry | None:
        """Return the entry of an event, or None if it is unknown or no longer stored."""
        stored = self._groups.get(self._group_of(kind), {}).get(event_id)
        return stored.entry() if stored is not None else None

    def changes(self, since: int, groups: Collection[str], limit: int | None = None) -> list[Entry]:
        """Return entries of ``groups`` that changed after version ``since``, oldest change first.

        A page that is being opened may ask for the newest ``limit`` only. A page that continues may not, because it
        would miss the changes that were left out.
        """
        changed: list[_Stored] = []
        for name in groups:
            newest: list[_Stored] = []
            for stored in reversed(self._groups.get(name, {}).values()):
                if stored.version <= since or len(newest) == limit:
                    break
                newest.append(stored)
            changed.extend(newest)
        changed.sort(key=lambda stored: stored.version)
        return [stored.entry() for stored in (changed if limit is None else changed[-limit:])]

    def recent(self, group: str, from_us: int) -> list[Entry]:
        """Return entries of a group that happened at or after ``from_us``, sorted by event time.

        It reads the newest changes first and stops after a run of old ones: an old event may change late, but the page
        draws only events of the last seconds.
        """
        changed: list[Entry] = []
        old = 0
        for stored in reversed(self._groups.get(group, {}).values()):
            if stored.ts_us >= from_us:
                changed.append(stored.entry())
            else:
                old += 1
                if old > 100:
                    break
        return sorted(changed, key=lambda entry: (entry.record.ts_us, entry.record.id))

    def _assert(self, update: UpdateRecord) -> None:
        record = update.event
        group = self._group_of(record.kind)
        before = self.get(record.id, record.kind)
        state: State = "confirmed" if record.is_confirmed(self.frontier_us) else "tentative"
        amended = before is not None and before.record != record
        self.amended_ever += amended
        records = (*_older(before, record), record)
        stored = _Stored(
            record.ts_us,
            record.ts_us + record.lag_us,
            state,
            before.revision + amended if before else 0,
            before.emitted_us if before else update.emitted_us,
            update.emitted_us,
            0,
            _pack(records) if self._packed else records,
        )
        self._put(group, record.id, stored)
        if state == "tentative":
            heapq.heappush(self._open, (stored.settled_us, group, record.id))

    def _withdraw(self, update: UpdateRecord) -> None:
        self.withdrawn_ever += 1
        group = self._group_of(update.event.kind)
        event_id = update.event.id
        stored = self._groups.get(group, {}).get(event_id)
        if stored is not None and stored.state != "withdrawn" and stored.entry().record == update.event:
            changed = msgspec.structs.replace(stored, state="withdrawn", changed_us=update.emitted_us)
            self._put(group, event_id, changed)

    def _put(self, group: str, event_id: str, stored: _Stored) -> None:
        """Store an entry as the newest change of its group, and drop the oldest if there are too many."""
        self.version += 1
        entries = self._groups.setdefault(group, {})
        entries.pop(event_id, None)
        entries[event_id] = msgspec.structs.replace(stored, version=self.version)
        if len(entries) > self._entries_per_group:
            del entries[next(iter(entries))]


def _older(before: Entry | None, record: EventRecord) -> tuple[EventRecord, ...]:
    if before is None or before.record == record:
        return before.older if before else ()
    return (*before.older, before.record)[-OLDER_MAX:]
