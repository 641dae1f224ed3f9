"""The trace of one event: when it came, when it was released and why then, and what it displaced, through the levels.

Theory of operation
-------------------
Tracing is another kind of ordering unit, so an engine that is not traced pays nothing for it. A :class:`TracedUnit`
does what its parent does, and tells a :class:`Trace`: what was offered, what was released, what a repair redid,
withdrew and said again, and because of which inputs. A match is replayed with it; the trace keeps what happens in
windows of arrival time, which a first pass over the match finds. From that :func:`story` picks one event:

* below it, the chain of *deciding* inputs: the input on whose step it was first concluded, the input on whose step
  that was concluded, and so on down to what arrived from outside;
* above it, for each detector that listens: when it came, whether it had to wait and what let it go, and, if it came
  before AEP, the repair that it caused; and the same for everything that this repair withdrew or said.

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
from middleware.ordering.unit import OrderingUnit


class Came(msgspec.Struct, frozen=True):
    """An update reached a unit. ``late``: it belongs before AEP. ``clk_us`` is the unit's clock by then."""

    now_us: int
    unit: str
    event: str
    ts_us: int
    diff: int
    late: bool
    k_plus_us: int
    clk_us: int


class Released(msgspec.Struct, frozen=True):
    """An input was given to the detector for the first time in order.

    ``by``: ``slack`` (it had waited alpha * K) or ``frontier`` (the sources had told everything up to its time).
    """

    now_us: int
    unit: str
    event: str
    by: Literal["slack", "frontier"]
    k_us: int
    alpha: float
    clk_us: int


class Concluded(msgspec.Struct, frozen=True):
    """A detector concluded ``event`` on the input ``cause``."""

    now_us: int
    unit: str
    event: str
    cause: str


class Repaired(msgspec.Struct, frozen=True):
    """A unit redid some inputs: the ``late`` ones that came before AEP and those behind the ``gone`` ones.

    ``redone``: how many known inputs were given to the detector again. ``withdrew`` and ``said``: what came of it.
    """

    now_us: int
    unit: str
    late: tuple[str, ...]
    gone: tuple[str, ...]
    redone: int
    withdrew: tuple[str, ...]
    said: tuple[str, ...]


Record = Came | Released | Concluded | Repaired


class Line(msgspec.Struct, frozen=True):
    """One line of a story. ``depth`` counts levels of consequence from the event itself, below it negative."""

    depth: int
    record: Record


def name_of(event: Event) -> str:
    """What an event is called in a trace."""
    return event.id or f"{event.kind}:{event.source}:{event.seq}"


class Trace:
    """Records of some windows of arrival time.

    Args:
        watched: the event of which :attr:`seen_us` tells.
        windows: (begin, end) of each; nothing outside them is kept.

    Attributes:
        now_us: arrival time of the push that is under way.
        keeps: whether what happens in it is kept.
        seen_us: arrival times at which anything was said of the watched event, whatever the windows.
        records: in the order in which they happened.
    """

    def __init__(self, watched: str, windows: Sequence[tuple[int, int]] = ()) -> None:
        self._watched, self._windows = watched, tuple(windows)
        self.now_us = 0
        self.keeps = False
        self.seen_us: list[int] = []
        self.records: list[Record] = []

    def at(self, now_us: int) -> None:
        """A push at ``now_us`` follows."""
        self.now_us = now_us
        self.keeps = any(begin_us <= now_us < end_us for begin_us, end_us in self._windows)

    def look(self, event: Event) -> None:
        """Notes that something is said of ``event``, if it is the watched one."""
        if (event.id == self._watched or not event.id) and name_of(event) == self._watched:
            self.seen_us.append(self.now_us)

    def unit(self, detector: Detector[object], settings: UnitSettings, report: Report) -> OrderingUnit:
        """Makes a unit that tells this trace: the engine's ``make_unit``."""
        return TracedUnit(self, detector, settings, report)


class TracedUnit(OrderingUnit):
    """An ordering unit that tells what it does."""

    def __init__(self, trace: Trace, detector: Detector[object], settings: UnitSettings, report: Report) -> None:
        super().__init__(detector, settings, report)
        self._trace = trace
        self._name = detector.spec.name
        self._progress_us = -END_US
        self._taken_out: list[Event] = []

    def _take(self, settings: UnitSettings) -> None:
        super()._take(settings)
        self._direct = False  # every input is offered, so that it can be told of

    def offer(self, update: Update, key: Key) -> None:
        """Takes an update of an input, and tells of it."""
        trace, event = self._trace, update.event
        trace.look(event)
        if trace.keeps:
            late = bool(self._after) and key <= self._keys[len(self._after) - 1]
            trace.records.append(
                Came(
                    trace.now_us, self._name, name_of(event), event.ts_us, update.diff, late, update.k_plus_us,
                    self.clk_us,
                )
            )  # fmt: skip
            if late and update.diff < 0:
                self._taken_out.append(event)
        super().offer(update, key)

    def run(self, clk_us: int, progress_us: int, now_us: int, *, settles: bool = False) -> list[Update]:
        """Repairs and releases, and remembers how far the sources had told everything by then."""
        self._progress_us = progress_us
        return super().run(clk_us, progress_us, now_us, settles=settles)

    def _release(self, limit_us: int, clock_us: int, updates: list[Update]) -> None:
        first = len(self._after)
        super()._release(limit_us, clock_us, updates)
        trace = self._trace
        for at in range(first, len(self._after)):
            event = self._events[at]
            for out in self._outputs[at]:
                trace.look(out)
            if trace.keeps:
                by: Literal["slack", "frontier"] = "frontier" if event.ts_us <= self._progress_us else "slack"
                released = Released(trace.now_us, self._name, name_of(event), by, self.slack.k_us, self.alpha, clock_us)
                trace.records.append(released)
                self._conclude(at)

    def _repair(self, clock_us: int, updates: list[Update]) -> None:
        trace = self._trace
        dirty, late = self._dirty, self._fresh_inputs()
        gone = tuple(map(name_of, self._taken_out))
        self._taken_out.clear()
        redone, before = self.counters.redone, len(updates)
        super()._repair(clock_us, updates)
        told = updates[before:]
        for update in told:
            trace.look(update.event)
        if not trace.keeps:
            return
        trace.records.append(
            Repaired(
                trace.now_us,
                self._name,
                tuple(map(name_of, late)),
                gone,
                self.counters.redone - redone,
                tuple(name_of(u.event) for u in told if u.diff < 0),
                tuple(name_of(u.event) for u in told if u.diff > 0),
            )
        )
        said = {name_of(u.event) for u in told if u.diff > 0}
        if said:
            first = bisect_left(self._keys, dirty) if dirty else 0
            for at in range(first, len(self._after)):
                if any(name_of(out) in said for out in self._outputs[at]):
                    self._conclude(at)

    def _conclude(self, at: int) -> None:
        cause = name_of(self._events[at])
        for out in self._outputs[at]:
            self._trace.records.append(Concluded(self._trace.now_us, self._name, name_of(out), cause))


def story(records: Iterable[Record], event: str) -> list[Line]:
    """What a trace tells of one event: the chain below it, itself, and what it displaced above.

    Returns:
        Lines in order of depth as they are to be read: the lowest cause first. Empty if nothing is told of it.
    """
    every = list(records)
    first_us = min((r.now_us for r in every if isinstance(r, Concluded) and r.event == event), default=END_US)
    chain = list(_causes([r for r in every if r.now_us <= first_us], event))
    lines: list[Line] = []
    for depth, (name, unit) in zip(range(-len(chain), 0), reversed(chain), strict=True):
        for record in every:
            here = record.unit == unit or isinstance(record, Concluded)
            if here and record.now_us <= first_us and _is_about(record, name):
                lines.append(Line(depth, record))
    lines.extend(_consequences(every, event, 0, set()))
    return lines


def _causes(records: list[Record], event: str) -> Iterator[tuple[str, str]]:
    """Deciding inputs and where they decided, from the nearest down; of several conclusions the last counts."""
    seen = {event}
    while True:
        found = [(r.cause, r.unit) for r in records if isinstance(r, Concluded) and r.event == event]
        if not found or found[-1][0] in seen:
            return
        event = found[-1][0]
        seen.add(event)
        yield found[-1]


def _is_about(record: Record, event: str) -> bool:
    if isinstance(record, Repaired):
        return event in record.late or event in record.gone
    return record.event == event


def _consequences(records: list[Record], event: str, depth: int, told: set[tuple[str, int]]) -> Iterator[Line]:
    """The event's own records, and those of what its repairs withdrew or said, each once."""
    for record in records:
        if not _is_about(record, event):
            continue
        if isinstance(record, Repaired):
            if (record.unit, record.now_us) in told:
                continue
            told.add((record.unit, record.now_us))
        yield Line(depth, record)
        if isinstance(record, Repaired):
            behind = [r for r in records if r.now_us == record.now_us]
            for name in dict.fromkeys((*record.withdrew, *record.said)):
                yield from _consequences(behind, name, depth + 1, told)
