"""Trace of one event: when it arrived, when and why it was released, and what it displaced, through the levels.

Theory of operation
-------------------
Tracing is another kind of ordering unit, so an engine that is not traced pays nothing for it. A :class:`TracedUnit`
does what its parent does, and reports to a :class:`Trace`: what was offered, what was released, and of each repair
what it redid, withdrew and asserted, and because of which inputs. The host replays a match with such units. The trace
records what happens in windows of arrival time, which a first pass over the match finds; outside them a unit costs what
its parent costs. From the records :func:`event_history` picks one event:

* below it, the chain of *deciding* inputs: the input on whose step it was first concluded, the input on whose step
  that one was concluded, and so on down to what arrived from outside;
* above it, for each subscriber: when it arrived, whether it had to wait and what released it, and, if it was late, the
  repair that it caused; and the same for everything that this repair withdrew or asserted.

Events are named by their id, those without one by kind, source and sequence (``raw.player:home_7:123``).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from middleware.detector import Detector
from middleware.events import END_US, Event, Key, Update
from middleware.isolation import Report
from middleware.ordering.policy import UnitSettings
from middleware.ordering.unit import KeyedUpdate, OrderingUnit


class Arrived(msgspec.Struct, frozen=True, tag_field="what", tag="came"):
    """An update reached a unit. ``late``: it belongs before AEP. ``clk_us`` is the unit's clock then."""

    now_us: int
    unit: str
    event: str
    ts_us: int
    diff: int
    late: bool
    k_plus_us: int
    clk_us: int


class Released(msgspec.Struct, frozen=True, tag_field="what", tag="released"):
    """An input was given to the detector for the first time, in order.

    ``by``: ``slack`` (it had waited alpha * K) or ``progress`` (the sources had reported everything up to its time).
    """

    now_us: int
    unit: str
    event: str
    by: Literal["slack", "progress"]
    k_us: int
    alpha: float
    clk_us: int


class Concluded(msgspec.Struct, frozen=True, tag_field="what", tag="concluded"):
    """A detector concluded ``event`` from the input ``cause``."""

    now_us: int
    unit: str
    event: str
    cause: str


class Repaired(msgspec.Struct, frozen=True, tag_field="what", tag="repaired"):
    """A unit redid inputs because of ``late`` ones, and because of ``withdrawn`` ones.

    ``redone``: number of known inputs that the detector was given again. ``withdrew``, ``asserted``: outputs.
    The JSON names of two fields are older: ``gone`` and ``said``.
    """

    now_us: int
    unit: str
    late: tuple[str, ...]
    withdrawn: tuple[str, ...] = msgspec.field(name="gone")
    redone: int
    withdrew: tuple[str, ...]
    asserted: tuple[str, ...] = msgspec.field(name="said")


Record = Arrived | Released | Concluded | Repaired


class HistoryLine(msgspec.Struct, frozen=True):
    """One line of a history. ``depth`` counts levels of consequence from the event itself; below it it is negative."""

    depth: int
    record: Record


def name_of(event: Event) -> str:
    """Return the name of an event in a trace."""
    return event.id or f"{event.kind}:{event.source}:{event.seq}"


class Trace:
    """Records of some windows of arrival time.

    Args:
        watched: name of the event whose :attr:`mentioned_us` are noted.
        windows: (begin, end) of each; nothing outside them is recorded.

    Attributes:
        now_us: arrival time of the current push.
        records_now: True if the current push is recorded.
        listens: True if units report in the current push: it is recorded, or the windows are still looked for.
        mentioned_us: arrival times of all updates of the watched event, within the windows if there are some.
        awaiting: names of the units that the watched event has reached and that have not worked on it yet.
        records: in the order in which they happened.
    """

    def __init__(self, watched: str, windows: Sequence[tuple[int, int]] = ()) -> None:
        self._watched, self._windows = watched, tuple(windows)
        self.now_us = 0
        self.records_now = False
        self.listens = not self._windows
        self.mentioned_us: list[int] = []
        self.awaiting: set[str] = set()
        self.records: list[Record] = []

    def at(self, now_us: int) -> None:
        """Begin a push at ``now_us``."""
        self.now_us = now_us
        self.records_now = any(begin_us <= now_us < end_us for begin_us, end_us in self._windows)
        self.listens = self.records_now or not self._windows

    def mention(self, event: Event) -> None:
        """Note an update of ``event`` if that is the watched one."""
        if (event.id == self._watched or not event.id) and name_of(event) == self._watched:
            self.mentioned_us.append(self.now_us)

    def await_unit(self, event: Event, unit: str, *, late: bool, diff: int) -> None:
        """Note that a unit has been offered the watched event; one that takes a waiting input out is done with it."""
        if name_of(event) == self._watched:
            if late or diff > 0:
                self.awaiting.add(unit)
            else:
                self.awaiting.discard(unit)

    def done(self, unit: str, names: Iterable[str]) -> None:
        """Note what a unit has released or repaired."""
        if unit in self.awaiting and self._watched in names:
            self.awaiting.discard(unit)

    def unit(self, detector: Detector[object], settings: UnitSettings, report: Report) -> OrderingUnit:
        """Make a unit that reports to this trace: the engine's ``make_unit``."""
        return TracedUnit(self, detector, settings, report)


class TracedUnit(OrderingUnit):
    """An ordering unit that reports to a trace what it does."""

    def __init__(self, trace: Trace, detector: Detector[object], settings: UnitSettings, report: Report) -> None:
        super().__init__(detector, settings, report)
        self._trace = trace
        self._name = detector.spec.name
        self._progress_us = -END_US
        self._withdrawn_inputs: list[Event] = []

    def offer(self, update: Update, key: Key) -> None:
        """Take one update of an input, and record it."""
        trace, event = self._trace, update.event
        if trace.listens:
            trace.mention(event)
        if trace.records_now:
            late = bool(self._states) and key <= self._keys[len(self._states) - 1]
            trace.records.append(
                Arrived(
                    trace.now_us, self._name, name_of(event), event.ts_us, update.diff, late, update.k_plus_us,
                    self.clk_us,
                )
            )  # fmt: skip
            if late and update.diff < 0:
                self._withdrawn_inputs.append(event)
            trace.await_unit(event, self._name, late=late, diff=update.diff)
        super().offer(update, key)

    def process(
        self, inputs: Sequence[KeyedUpdate], clk_us: int | None, progress_us: int, now_us: int, *, flush: bool = False
    ) -> Sequence[Update]:
        """Process as the parent does, and remember how far the sources had reported then."""
        self._progress_us = progress_us
        # On the fast path an input does not pass through offer(), where it is recorded.
        self._has_fast_path = self.slack.ignores_delays_within_k and not self._trace.listens
        return super().process(inputs, clk_us, progress_us, now_us, flush=flush)

    def takes_at_once(self, keyed_update: KeyedUpdate, clk_us: int | None, progress_us: int) -> bool:
        """Answer as the parent does, but never while steps are recorded."""
        return not self._trace.listens and super().takes_at_once(keyed_update, clk_us, progress_us)

    def _release(self, limit_us: int, clock_us: int) -> list[Update]:
        first = len(self._states)
        updates = super()._release(limit_us, clock_us)
        trace = self._trace
        if not trace.listens:
            return updates
        for at in range(first, len(self._states)):
            event = self._events[at]
            for out in self._outputs[at]:
                trace.mention(out)
            if trace.records_now:
                by: Literal["slack", "progress"] = "progress" if event.ts_us <= self._progress_us else "slack"
                released = Released(trace.now_us, self._name, name_of(event), by, self.slack.k_us, self.alpha, clock_us)
                trace.records.append(released)
                trace.done(self._name, (released.event,))
                self._record_conclusions(at)
        return updates

    def _repair(self, clock_us: int) -> list[Update]:
        trace, first_stale = self._trace, self.buffer.first_stale
        if not trace.listens:
            return super()._repair(clock_us)
        late = tuple(map(name_of, self.buffer.fresh_inputs()))
        withdrawn = tuple(map(name_of, self._withdrawn_inputs))
        self._withdrawn_inputs.clear()
        redone = self.counters.redone
        updates = super()._repair(clock_us)
        for update in updates:
            trace.mention(update.event)
        if trace.records_now:
            withdrew = tuple(name_of(update.event) for update in updates if update.diff < 0)
            asserted = tuple(name_of(update.event) for update in updates if update.diff > 0)
            redone = self.counters.redone - redone
            trace.records.append(Repaired(trace.now_us, self._name, late, withdrawn, redone, withdrew, asserted))
            trace.done(self._name, (*late, *withdrawn))
            first = bisect_left(self._keys, first_stale) if first_stale else 0
            for at in range(first, len(self._states)) if asserted else ():
                if any(name_of(out) in asserted for out in self._outputs[at]):
                    self._record_conclusions(at)
        return updates

    def _record_conclusions(self, at: int) -> None:
        cause = name_of(self._events[at])
        for out in self._outputs[at]:
            self._trace.records.append(Concluded(self._trace.now_us, self._name, name_of(out), cause))


def event_history(records: Iterable[Record], event: str) -> list[HistoryLine]:
    """Return what a trace has of one event: the chain below it, itself, and what it displaced above.

    Returns:
        Lines in order of depth, the lowest cause first. Empty if the trace has nothing of it.
    """
    every = list(records)
    first_us = min((r.now_us for r in every if isinstance(r, Concluded) and r.event == event), default=END_US)
    chain = list(_causes([r for r in every if r.now_us <= first_us], event))
    lines: list[HistoryLine] = []
    for depth, (name, unit) in zip(range(-len(chain), 0), reversed(chain), strict=True):
        for record in every:
            here = record.unit == unit or isinstance(record, Concluded)
            if here and record.now_us <= first_us and _concerns(record, name):
                lines.append(HistoryLine(depth, record))
    lines.extend(_consequences(every, event, 0, set()))
    return lines


def _causes(records: list[Record], event: str) -> Iterator[tuple[str, str]]:
    """Yield deciding inputs and their units, from the nearest down; of several conclusions the last counts."""
    known = {event}
    while True:
        conclusions = [(r.cause, r.unit) for r in records if isinstance(r, Concluded) and r.event == event]
        if not conclusions or conclusions[-1][0] in known:
            return
        event = conclusions[-1][0]
        known.add(event)
        yield conclusions[-1]


def _concerns(record: Record, event: str) -> bool:
    if isinstance(record, Repaired):
        return event in record.late or event in record.withdrawn
    return record.event == event


def _consequences(records: list[Record], event: str, depth: int, shown: set[tuple[str, int]]) -> Iterator[HistoryLine]:
    """Yield the event's own records, and those of what its repairs withdrew or asserted, each once."""
    for record in records:
        if not _concerns(record, event):
            continue
        if isinstance(record, Repaired):
            if (record.unit, record.now_us) in shown:
                continue
            shown.add((record.unit, record.now_us))
        yield HistoryLine(depth, record)
        if isinstance(record, Repaired):
            same_push = [r for r in records if r.now_us == record.now_us]
            for name in dict.fromkeys((*record.withdrew, *record.asserted)):
                yield from _consequences(same_push, name, depth + 1, shown)
