"""The engine: ordering units and detectors wired by publish/subscribe, level by level.

Theory of operation
-------------------
A push takes what arrived at one arrival time. New arrivals are offered to the units that subscribe to them; then
the levels are walked upwards once: every unit that has something to do runs, and its updates are offered to its
subscribers, which all stand higher. There is no recursion, no thread, no clock, no I/O.

Three clocks are kept apart. ``now_us`` is arrival time and serves for silence and gaps only. ``clk`` is the largest
event time that came in (004, II-E1): the unit clock of all unkeyed units; a keyed unit has its own inputs' largest
event time, because a transmitter's filter must not wait for other transmitters. *Final* is the event time below
which nothing can change (``middleware.progress``); less the horizons on the way it is a kind's frontier.

The law: whatever the arrival order, duplicates, alpha and retraction mode, the consolidated output equals
:func:`middleware.oracle.sorted_replay` of the same detectors over the inputs that were not recorded as lost.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from middleware.consolidation import without_cancelled
from middleware.detector import KeyedDetector
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.policy import EngineSettings
from middleware.progress import BEGINNING_US, END_US, SourceProgress, Transmitter, Verdict
from middleware.unit import OrderingUnit

#: Version of the snapshot layout; a snapshot of another version is refused.
SNAPSHOT_VERSION = 3


class SnapshotError(ValueError):
    """A snapshot that this engine cannot continue from; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """What a push led to: published updates, and updates of the internal kinds that were asked to be watched."""

    updates: list[Update]
    watched: list[Update]


@dataclass(frozen=True)
class EngineHealth:
    """How the ordering is doing, since the beginning; by detector name where a mapping."""

    clk_us: int
    final_us: int
    slack_us: Mapping[str, int]
    alpha: Mapping[str, float]
    waiting: int
    held: int
    late: int
    redone: int
    retracted: int
    duplicates: int
    lost: int


@dataclass
class _Counts:
    duplicates: int = 0
    lost: int = 0


@dataclass
class _Publisher:
    """Last stage before updates leave: cancels what undoes itself, and carries out annulments.

    An annulment is a decision of the game (a goal disallowed), not a repair; so it may reach below the frontier.
    ``annulling`` counts the events that now declare an id void; events of that id are kept back meanwhile.
    """

    annullable: frozenset[str]
    known: dict[str, Event] = field(default_factory=dict)
    annulling: dict[str, int] = field(default_factory=dict)

    def publish(self, updates: list[Update]) -> list[Update]:
        """Updates as they leave the engine."""
        if not updates:
            return updates
        out: list[Update] = []
        for update in without_cancelled(updates):
            out.extend(self._pass_on(update))
        return without_cancelled(out)

    def _pass_on(self, update: Update) -> Iterator[Update]:
        event = update.event
        if event.kind in self.annullable:
            if update.diff > 0:
                self.known[event.id] = event
            else:
                self.known.pop(event.id, None)
        if not self.annulling.get(event.id):
            yield update
        if event.annuls:
            yield from self._annul(event.annuls, update.diff)

    def _annul(self, target_id: str, diff: int) -> Iterator[Update]:
        before = self.annulling.get(target_id, 0)
        self.annulling[target_id] = before + diff
        target = self.known.get(target_id)
        if target is not None and (before == 0 or before + diff == 0):
            yield Update(target, -diff)


class _Subscriber(NamedTuple):
    """A detector that listens to a kind: its key function if it is keyed, its units, and who of them was given."""

    keyed: KeyedDetector[object] | None
    number: int
    units: dict[str, OrderingUnit]
    touched: dict[str, None]


class Engine:
    """One match's engine.

    Args:
        hierarchy: the detectors and their wiring.
        settings: slack, alpha, retraction and memory of the units.
        watch: internal kinds whose updates are handed out too (for views and the store of positions).
    """

    def __init__(self, hierarchy: Hierarchy, settings: EngineSettings | None = None, watch: Iterable[str] = ()) -> None:
        self._hierarchy = hierarchy
        self._settings = settings or EngineSettings()
        self._watch = frozenset(watch)
        self._units: list[dict[str, OrderingUnit]] = [{} for _ in hierarchy.detectors]
        self._keyed: list[KeyedDetector[object] | None] = [
            d if d.spec.keyed else None  # type: ignore[misc]
            for d in hierarchy.detectors
        ]
        self._touched: list[dict[str, None]] = [{} for _ in hierarchy.detectors]
        self._own: list[dict[str, list[Transmitter]]] = [{} for _ in hierarchy.detectors]
        self._rank = hierarchy.rank
        self._reach = [tuple(reach.items()) for reach in hierarchy.reach]
        self._subscribers = self._wire()
        self._progress = SourceProgress(hierarchy.raw_kinds, self._settings.memory_us)
        self._counts = _Counts()
        self._lost: list[Arrival] = []
        self._now_us = BEGINNING_US
        self._publisher = _Publisher(frozenset(k for d in hierarchy.detectors for k in d.spec.annuls))

    def push(self, arrivals: Iterable[Arrival], now_us: int, load: float = 0.0) -> Outcome:
        """Takes what arrived at ``now_us`` (arrival time) and returns what is to be said about it.

        Args:
            arrivals: in any order; doubled and late ones are dealt with.
            now_us: arrival time, carried by the input; never a wall clock. Does not go backwards.
            load: busy factor of the host in [0, 1] for units whose speculation adapts to it.
        """
        progress = self._progress
        for arrival in arrivals:
            verdict = progress.offer(arrival, now_us)
            if verdict is Verdict.NEW:
                self._route(Update(arrival.event, 1))
            elif verdict is Verdict.DUPLICATE:
                self._counts.duplicates += 1
            else:
                self._counts.lost += 1
                self._lost.append(arrival)
        progress.settle(now_us)
        moved = progress.check(now_us)
        self._now_us = now_us
        return self._walk(load, everything=moved)

    def finish(self) -> Outcome:
        """The stream is over: releases everything that waits and makes everything final."""
        self._progress.end()
        return self._walk(0.0, everything=True)

    def take_lost(self) -> list[Arrival]:
        """Arrivals past the bound of memory since the last call."""
        lost, self._lost = self._lost, []
        return lost

    def frontier_us(self, kind: str) -> int:
        """Event time below which no event of ``kind`` can change any more."""
        final_us = self._progress.final_us
        return END_US if final_us == END_US else final_us - self._hierarchy.lag_us[kind]

    def frontier_of_all_us(self) -> int:
        """Event time below which no published event can change any more."""
        final_us = self._progress.final_us
        return END_US if final_us == END_US else final_us - self._hierarchy.lag_max_us

    def health(self) -> EngineHealth:
        """Figures of the ordering units."""
        slack: dict[str, int] = {}
        alpha: dict[str, float] = {}
        every: list[OrderingUnit] = []
        for detector, units in zip(self._hierarchy.detectors, self._units, strict=True):
            if not units:
                continue
            settings = self._settings.of(detector.spec.name)
            slack[detector.spec.name] = max(unit.slack.k_us for unit in units.values())
            alpha[detector.spec.name] = settings.speculation.alpha(0.0) if detector.spec.speculative else 1.0
            every.extend(units.values())
        return EngineHealth(
            clk_us=self._progress.clk_us,
            final_us=self._progress.final_us,
            slack_us=slack,
            alpha=alpha,
            waiting=sum(unit.waiting for unit in every),
            held=sum(unit.held for unit in every),
            late=sum(unit.counters.late for unit in every),
            redone=sum(unit.counters.redone for unit in every),
            retracted=sum(unit.counters.retracted for unit in every),
            duplicates=self._counts.duplicates,
            lost=self._counts.lost,
        )

    def snapshot(self) -> bytes:
        """The whole state, to be continued by an engine with the same detectors and settings."""
        units = [{key: unit.state() for key, unit in by_key.items()} for by_key in self._units]
        names = [detector.spec.name for detector in self._hierarchy.detectors]
        state = (
            SNAPSHOT_VERSION, names, units, self._progress, self._counts, self._publisher, self._lost, self._now_us
        )  # fmt: skip
        return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, snapshot: bytes) -> None:
        """Continues from ``snapshot``.

        Raises:
            SnapshotError: it was made by another version or with other detectors.
        """
        version, names, units, progress, counts, publisher, lost, now_us = pickle.loads(snapshot)
        if version != SNAPSHOT_VERSION:
            raise SnapshotError(f"snapshot has layout {version}, this engine reads {SNAPSHOT_VERSION}")
        mine = [detector.spec.name for detector in self._hierarchy.detectors]
        if names != mine:
            raise SnapshotError(f"snapshot was made with other detectors: {sorted(set(names) ^ set(mine))}")
        self._progress, self._counts, self._publisher, self._lost = progress, counts, publisher, lost
        self._now_us = now_us
        for index, states in enumerate(units):
            self._units[index].clear()
            self._own[index].clear()
            for key, state in states.items():
                self._unit(index, key).resume(state)

    def _unit(self, index: int, key: str) -> OrderingUnit:
        """The unit of a detector and key, made when first wanted."""
        unit = self._units[index].get(key)
        if unit is None:
            detector = self._hierarchy.detectors[index]
            unit = self._units[index][key] = OrderingUnit(detector, self._settings.of(detector.spec.name))
        return unit

    def _wire(self) -> dict[str, tuple[_Subscriber, ...]]:
        return {
            kind: tuple(_Subscriber(self._keyed[i], i, self._units[i], self._touched[i]) for i in indices)
            for kind, indices in self._hierarchy.subscribers.items()
        }

    def _route(self, update: Update) -> None:
        event = update.event
        key = canonical_key(event, self._rank)
        for keyed, number, units, touched in self._subscribers[event.kind]:
            name = "" if keyed is None else keyed.key(event)
            (units.get(name) or self._unit(number, name)).offer(update, key)
            touched[name] = None

    def _walk(self, load: float, *, everything: bool) -> Outcome:
        """Runs units level by level; with ``everything`` all of them, and purges what is final."""
        published: list[Update] = []
        watched: list[Update] = []
        internal, watch, route = self._hierarchy.internal, self._watch, self._route
        for index, units in enumerate(self._units):
            touched = self._touched[index]
            for update in self._run_detector(index, units, list(units if everything else touched), load):
                kind = update.event.kind
                route(update)
                if kind not in internal:
                    published.append(update)
                elif kind in watch:
                    watched.append(update)
            touched.clear()
        if everything:
            self._purge()
        return Outcome(self._publisher.publish(published), watched)

    def _run_detector(self, index: int, units: dict[str, OrderingUnit], names: list[str], load: float) -> list[Update]:
        """Runs the named units of one detector, and an unkeyed one that waits: time may have come for it."""
        if self._keyed[index] is None:
            if not names and not (units and units[""].waiting):
                return []
            return units[""].run(self._progress.clk_us, self._progress_of(index), load, self._now_us)
        updates: list[Update] = []
        for name in names:
            unit = units[name]
            updates += unit.run(unit.newest_us, self._own_progress_of(index, name), load, self._now_us)
        if len(names) > 1 and any(update.diff < 0 for update in updates):
            # A corrected input may have moved from one key to another: who had it must let go before the other speaks.
            updates.sort(key=_diff)
        return updates

    def _progress_of(self, index: int) -> int:
        """Event time up to which the inputs of a detector are complete."""
        known = self._progress.progress_us
        least_us = END_US
        for kind, lag_us in self._reach[index]:
            if kind in known and known[kind] - lag_us < least_us:
                least_us = known[kind] - lag_us
        return least_us

    def _own_progress_of(self, index: int, name: str) -> int:
        """The same for one key of a keyed detector: of a transmitter's own unit, that transmitter's progress."""
        if self._progress.final_us == END_US:
            return END_US
        own = self._own[index].get(name)
        if own is None:
            inputs = self._hierarchy.detectors[index].spec.inputs
            sources = [self._progress.transmitter(kind, name) for kind in inputs if kind in self._hierarchy.raw_kinds]
            own = self._own[index][name] = [source for source in sources if source]
        if len(own) == 1:
            return own[0].until_us
        return self._progress_of(index)

    def _purge(self) -> None:
        final_us = self._progress.final_us
        for units, reach in zip(self._units, self._hierarchy.reach, strict=True):
            below_us = final_us - (max(reach.values(), default=0) if final_us != END_US else 0)
            for unit in units.values():
                unit.purge(below_us)


def _diff(update: Update) -> int:
    return update.diff
