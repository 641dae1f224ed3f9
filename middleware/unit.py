"""The ordering unit: what stands before one detector. It sorts, waits, speculates, and takes back.

Theory of operation
-------------------
Inputs come as updates in any order. The unit keeps them sorted by canonical key. The first ``aep`` of them (AEP,
the already-emitted pointer of paper 000, section 4.1) have been given to the detector; the rest wait.

* *Release.* An input goes to the detector when ``ts + alpha*K <= clk`` (000, inequation 1), or when the sources
  have told everything up to its time: then waiting on would be waiting for nothing. Always in order.
* *Snapshot.* With each released input the unit keeps the state after it (a reference; states are immutable) and
  the events it led to. The snapshot before an input is the state after the one before it.
* *Late input, withdrawn input.* One that belongs before AEP, or the withdrawal of one before AEP, makes the unit
  restore the state before that place and redo what follows. ``on-demand`` compares: it sends only what differs,
  and stops as soon as state and position agree with what was kept (000, section 4.3.2). ``full`` first withdraws
  everything that was concluded from there on (4.3.1), then emits again. Several such inputs of one push are
  redone together.
* *Purge.* Below ``final`` nothing can change: those inputs are folded into ``base`` and forgotten.

Never happens: an input below the purged part (the engine turns those away); two inputs with one key.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import ceil

import msgspec

from middleware.consolidation import identity
from middleware.detector import Detector
from middleware.events import Event, Key, Update
from middleware.policy import UnitSettings
from middleware.progress import BEGINNING_US, END_US
from middleware.slack.protocol import Seen

#: Attributes that come from the detector and the settings, not from what was seen.
_GIVEN = frozenset({"_detector", "_horizon_us", "_full", "_speculation", "_waits", "_unpacks"})


class Entry(msgspec.Struct, gc=False):
    """An input in the buffer: the event, the state after it, what it led to, and how premature that was.

    ``fresh``: not yet given to the detector. ``stale``: one before it was removed.
    """

    event: Event
    after: object = None
    outputs: Sequence[Event] = ()
    k_plus_us: int = 0
    fresh: bool = True
    stale: bool = False


class Counters:
    """What a unit has done since it began.

    ``stepped``, ``redone``: inputs given to the detector for the first time, and again. ``late``: inputs that came
    later than the whole slack, so that pure buffering would have missed their place too. ``retracted``: events
    taken back.
    """

    __slots__ = ("late", "redone", "retracted", "stepped")

    def __init__(self) -> None:
        self.stepped = 0
        self.late = 0
        self.redone = 0
        self.retracted = 0


class OrderingUnit:
    """Sorts, releases and repairs the inputs of one detector (or of one key of a keyed one).

    Args:
        detector: the fold behind it.
        settings: slack, speculation and retraction.
    """

    def __init__(self, detector: Detector[object], settings: UnitSettings) -> None:
        self._detector = detector
        self._horizon_us = detector.spec.horizon_us
        self._full = settings.retraction == "full"
        self._speculation = settings.speculation
        self._waits = not detector.spec.speculative
        # A packet is dated by its first position: what level 1 unpacks from it may be later.
        self._unpacks = detector.spec.level == 1
        self.slack = settings.slack()
        self.clk_us = BEGINNING_US
        self.counters = Counters()
        self._base: object = detector.initial()
        self._keys: list[Key] = []
        self._entries: list[Entry] = []
        self._aep = 0
        self._dirty = 0
        self._first_dirty: Key | None = None
        self._gone: list[Event] = []
        self._unmeasured: list[tuple[int, Event]] = []
        self._newest_us = BEGINNING_US

    @property
    def newest_us(self) -> int:
        """Largest event time among its own inputs: the clock of a keyed unit."""
        return self._newest_us

    @property
    def waiting(self) -> int:
        """Inputs not yet given to the detector."""
        return len(self._entries) - self._aep

    @property
    def held(self) -> int:
        """Inputs kept for repair."""
        return self._aep

    def offer(self, update: Update, key: Key) -> None:
        """Takes an update of an input; nothing is emitted before :meth:`run`."""
        if update.diff < 0:
            self._remove(update.event, key)
            return
        ts_us = key[0]
        if ts_us > self._newest_us:
            self._newest_us = ts_us
        ts_us -= update.k_plus_us
        unmeasured = self._unmeasured
        if not unmeasured or self.slack.each:
            unmeasured.append((ts_us, update.event))
        elif ts_us < unmeasured[0][0]:
            unmeasured[0] = (ts_us, update.event)
        keys = self._keys
        if keys and key <= keys[-1]:
            self._insert(Entry(update.event), key)
        else:
            keys.append(key)
            self._entries.append(Entry(update.event))

    def run(self, clk_us: int, progress_us: int, load: float, now_us: int) -> list[Update]:
        """Repairs what is dirty, then releases what is due.

        Args:
            clk_us: the unit's clock, the largest event time among its clock kinds.
            progress_us: event time up to which (inclusive) its inputs are complete.
            load: busy factor known to the engine.
            now_us: arrival time of the push.

        Returns:
            Updates of the detector's outputs, in the order in which they became known.
        """
        moved = clk_us > self.clk_us
        if moved:
            self.clk_us = clk_us
        by_arrival = self.slack.clock == "arrival"
        if self._unmeasured and (moved or by_arrival):
            self._measure(now_us)
        updates: list[Update] = []
        if self._dirty or self._gone:
            self._repair(updates)
        if self._aep < len(self._entries):
            clock_us = now_us if by_arrival else self.clk_us
            limit_us = progress_us
            if progress_us < self._keys[-1][0]:
                alpha = 1.0 if self._waits else self._speculation.alpha(load)
                limit_us = max(clock_us - ceil(alpha * self.slack.k_us), progress_us)
            self._release(limit_us, clock_us, updates)
        return updates

    def _measure(self, now_us: int) -> None:
        """Tells the slack policy what came since it was told last; premature inputs as if they had waited."""
        clk_us, measure = self.clk_us, self.slack.measure
        for ts_us, event in self._unmeasured:
            measure(Seen(event.ts_us, clk_us - ts_us, now_us, event.source, event.seq))
        self._unmeasured.clear()

    def purge(self, final_us: int) -> None:
        """Forgets released inputs dated before ``final_us``; their effect stays in the base state."""
        cut = min(bisect_left(self._keys, (final_us,)), self._aep)
        if cut:
            assert not self._dirty, "purge before the repair was run"
            self._base = self._entries[cut - 1].after
            del self._keys[:cut], self._entries[:cut]
            self._aep -= cut

    def _insert(self, entry: Entry, key: Key) -> None:
        """Takes an input that is not the newest."""
        at = bisect_left(self._keys, key)
        assert self._keys[at] != key, f"two inputs with one key {key}"
        self._keys.insert(at, key)
        self._entries.insert(at, entry)
        if at < self._aep:
            self._aep += 1
            if key[0] + self.slack.k_us <= self.clk_us:
                self.counters.late += 1
            self._mark(key)

    def _remove(self, event: Event, key: Key) -> None:
        at = bisect_left(self._keys, key)
        assert self._keys[at : at + 1] == [key], f"withdrawn but never given: {event}"
        entry = self._entries[at]
        assert entry.event == event, f"withdrawn {event} but holding {entry.event}"
        del self._keys[at], self._entries[at]
        if at >= self._aep:
            return
        self._aep -= 1
        if entry.fresh or entry.stale:
            self._dirty -= 1
        self._gone.extend(entry.outputs)
        # The next input that the detector knows was given the state after the one that goes. Fresh ones between the
        # two do not tell: they were never given any.
        while at < self._aep and self._entries[at].fresh:
            at += 1
        if at < self._aep and not self._entries[at].stale:
            self._entries[at].stale = True
            self._mark(self._keys[at])

    def _mark(self, key: Key) -> None:
        self._dirty += 1
        if self._first_dirty is None or key < self._first_dirty:
            self._first_dirty = key

    def _state_before(self, at: int) -> object:
        return self._entries[at - 1].after if at else self._base

    def _repair(self, updates: list[Update]) -> None:
        """Redoes what is dirty and sends the difference, withdrawals first.

        Withdrawals go first because the redone stretch may emit at an earlier input what it used to emit at a
        later one; a unit above must not hold both.
        """
        gone, came = self._gone, []
        self._gone = []
        if self._dirty:
            came = self._redo(gone)
        self._first_dirty = None
        if not self._full:
            gone, came = _differences(gone, came)
        self.counters.retracted += len(gone)
        updates.extend(Update(event, -1) for event in gone)
        updates.extend(came)

    def _redo(self, gone: list[Event]) -> list[Update]:
        """Runs the detector again from the first dirty input on.

        Args:
            gone: receives what no longer follows from the inputs.

        Returns:
            Assertions of what follows now.

        ``kept`` is the state that the next input had been given before: while redoing agrees with it and nothing
        dirty lies ahead, everything further on stands.
        """
        assert self._first_dirty is not None
        came: list[Update] = []
        at = bisect_left(self._keys, self._first_dirty)
        state = kept = self._state_before(at)
        while at < self._aep:
            entry = self._entries[at]
            if entry.fresh or entry.stale:
                self._dirty -= 1
            before, known = entry.outputs, entry.after
            state, outputs = self._detector.step(state, entry.event)
            self.counters.redone += 1
            if not entry.fresh:
                kept = known
            if before or outputs:
                self._check_dates(entry.event, outputs)
                gone.extend(before)
                came.extend(Update(event, 1, entry.k_plus_us) for event in outputs)
                entry.outputs = outputs
            entry.after = state
            entry.fresh = entry.stale = False
            at += 1
            if self._full or not (state is kept or state == kept):
                continue
            if not self._dirty:
                break
            at = self._next_dirty(at)
            state = kept = self._state_before(at)
        assert self._dirty == 0, "a dirty input was passed over"
        return came

    def _next_dirty(self, at: int) -> int:
        while not (self._entries[at].fresh or self._entries[at].stale):
            at += 1
        return at

    def _release(self, limit_us: int, clock_us: int, updates: list[Update]) -> None:
        entries, keys, step = self._entries, self._keys, self._detector.step
        at, end = self._aep, len(entries)
        state = entries[at - 1].after if at else self._base
        first = at
        while at < end and keys[at][0] <= limit_us:
            entry = entries[at]
            event = entry.event
            state, outputs = step(state, event)
            entry.after = state
            entry.fresh = False
            if outputs:
                self._check_dates(event, outputs)
                entry.outputs = outputs
                entry.k_plus_us = max(0, event.ts_us + self.slack.k_us - clock_us)
                for out in outputs:
                    updates.append(Update(out, 1, entry.k_plus_us))
            at += 1
        self._aep = at
        self.counters.stepped += at - first

    def _check_dates(self, event: Event, outputs: Sequence[Event]) -> None:
        """A detector that dates beyond its horizon would break the frontier: better to stop than to be wrong."""
        oldest_us = event.ts_us - self._horizon_us
        newest_us = END_US if self._unpacks else event.ts_us
        for out in outputs:
            assert oldest_us <= out.ts_us <= newest_us, (
                f"{self._detector.spec.name}: dated {out.kind} at {out.ts_us} on an input of {event.ts_us}; "
                f"its horizon is {self._horizon_us}"
            )

    def state(self) -> dict[str, object]:
        """All that must survive a restart. Detector and settings are given anew.

        Of the inputs kept for repair only the events are told: what followed from them follows again, because a
        detector is pure. That makes a snapshot several times smaller and faster, for some steps at a restart.
        """
        assert not self._dirty, "a unit is snapshot between two runs"
        told = {name: value for name, value in self.__dict__.items() if name not in _GIVEN}
        told["_entries"] = [Entry(entry.event, k_plus_us=entry.k_plus_us) for entry in self._entries]
        return told

    def resume(self, state: Mapping[str, object]) -> None:
        """Goes on from what :meth:`state` gave."""
        self.__dict__.update(state)
        known = self._base
        for entry in self._entries[: self._aep]:
            known, entry.outputs = self._detector.step(known, entry.event)
            entry.after = known
            entry.fresh = False


def _differences(gone: list[Event], came: list[Update]) -> tuple[list[Event], list[Update]]:
    """Both lists less what stands in both: an event that was concluded again has not changed."""
    if not gone or not came:
        return gone, came
    old = {identity(event): event for event in gone}
    same = {name for u in came if old.get(name := identity(u.event)) == u.event}
    if not same:
        return gone, came
    return (
        [event for event in gone if identity(event) not in same],
        [update for update in came if identity(update.event) not in same],
    )
