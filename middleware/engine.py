"""The engine: ordering units and detectors wired by publish/subscribe, level by level.

Theory of operation
-------------------
A push takes what arrived at one arrival time. New arrivals are offered to the units that subscribe to them; then
the levels are walked upwards once: every unit that has something to do runs, and its updates are offered to its
subscribers, which all stand higher. There is no recursion, no thread, no clock, no I/O.

Three clocks are kept apart. ``now_us`` is arrival time and serves for silence and gaps only. ``clk`` is the largest
event time that came in (004, II-E1): the unit clock of all unkeyed units; a keyed unit has its own inputs' largest
event time, because a transmitter's filter must not wait for other transmitters. *Final* is the event time below
which nothing can change (``middleware.sources.progress``); less the horizons on the way it is a kind's frontier.

The law: whatever the arrival order, duplicates, alpha and retraction mode, the consolidated output equals
:func:`middleware.oracle.sorted_replay` of the same detectors over the inputs that were not recorded as lost.

What adapts (alpha, the way to take back) moves at the end of spans of arrival time, by the account
(``middleware.load_accounting``); so redoing a batch from its snapshot says the same again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter

from middleware.detector import Detector, KeyedDetector
from middleware.events import END_US, Arrival, Event, Loss, Update, canonical_key
from middleware.final_replay import Folding
from middleware.hierarchy import Hierarchy
from middleware.isolation import Faults, Report
from middleware.load_accounting import Costs, LoadAccounting, total
from middleware.metrics import DetectorMetrics, EngineHealth, detector_metrics, engine_health
from middleware.ordering.memory_bound import RECOUNT, final_within
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import RetractionChooser
from middleware.ordering.unit import Given, OrderingUnit
from middleware.publisher import Publisher
from middleware.purity_check import PurityCheck
from middleware.push_result import Counts, PushResult
from middleware.routing import wired
from middleware.sources.progress import SourceProgress, Verdict
from middleware.sources.source_state import SourceState

#: Version of the snapshot layout; a snapshot of another version is refused.
SNAPSHOT_VERSION = 9

#: Makes the unit of a detector.
MakeUnit = Callable[[Detector[object], UnitSettings, Report], OrderingUnit]


class SnapshotError(ValueError):
    """A snapshot that this engine cannot continue from; the message says why."""


class Engine:
    """One match's engine.

    Args:
        hierarchy: the detectors and their wiring.
        settings: slack, alpha, retraction and memory of the units.
        watch: internal kinds whose updates are handed out too (for views and the store of positions).
        make_unit: another kind of unit, such as one that keeps a trace.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        settings: EngineSettings | None = None,
        watch: Iterable[str] = (),
        make_unit: MakeUnit = OrderingUnit,
    ) -> None:
        self._hierarchy = hierarchy
        self._settings = settings or EngineSettings()
        self._configured: dict[str, UnitSettings] = {}
        self._make_unit = make_unit
        self._names = [detector.spec.name for detector in hierarchy.detectors]
        self._watch = frozenset(watch)
        self._units: list[dict[str, OrderingUnit]] = [{} for _ in hierarchy.detectors]
        #: The unit of a detector that is not keyed, once there is one.
        self._single: list[OrderingUnit | None] = [None] * len(hierarchy.detectors)
        self._keyed: list[KeyedDetector[object] | None] = [
            d if d.spec.keyed else None  # type: ignore[misc]
            for d in hierarchy.detectors
        ]
        self._takes_raw = [not set(hierarchy.raw_kinds).isdisjoint(d.spec.inputs) for d in hierarchy.detectors]
        #: What the units were given in this push: that of a detector which is not keyed, and those of a keyed one.
        self._given: list[list[Given]] = [[] for _ in hierarchy.detectors]
        self._given_by_key: list[dict[str, list[Given]]] = [{} for _ in hierarchy.detectors]
        self._waiting: list[set[str]] = [set() for _ in hierarchy.detectors]  # keyed units that hold something back
        self._own: list[dict[str, list[SourceState]]] = [{} for _ in hierarchy.detectors]
        self._delivers_late_us = [0] * len(hierarchy.detectors)
        self._told_late_us = [0] * len(hierarchy.detectors)
        self._rank = hierarchy.rank
        self._reach = [tuple(reach.items()) for reach in hierarchy.reach]
        self._reach_most = hierarchy.reach_most_us
        #: Detectors with the same reach are told the same progress: found once a walk, None until somebody asks.
        self._alike = [self._reach.index(reach) for reach in self._reach]
        self._told_us: list[int | None] = []
        self._listeners = wired(hierarchy, self._keyed, self._given, self._given_by_key)
        self._progress = SourceProgress(
            hierarchy.raw_kinds, self._settings.allowed_lateness_us, self._settings.progress
        )
        self._counts = Counts()
        self._lost: list[Loss] = []
        self._faults = Faults()
        self._account = LoadAccounting(self._names, hierarchy.above)
        self._choosers: dict[int, RetractionChooser] = {}
        self._publisher = Publisher(hierarchy.rank, hierarchy.amendable)
        self._folding = Folding(hierarchy, self._keyed, self._units, self._unit, self._note)
        #: Whether units are such as may be folded; whether the last push was; whether nobody waits in this one.
        self._folds, self._has_folded, self._patient = make_unit is OrderingUnit, False, False
        self._listeners_most = max(map(len, hierarchy.subscribers.values()), default=1)

    def push(self, arrivals: Iterable[Arrival], now_us: int, complete_us: int | None = None) -> PushResult:
        """Takes what arrived at ``now_us`` (arrival time) and returns what is to be said about it.

        Args:
            arrivals: in any order; doubled and late ones are dealt with.
            now_us: arrival time, carried by the input; never a wall clock. Does not go backwards.
            complete_us: nothing dated before it comes any more, as a host knows who plays a recording nobody waits for.
                Then that is final, and nothing is said before it is final (``middleware.final_replay``).
        """
        progress, account, counts = self._progress, self._account, self._counts
        counts.now_us = now_us
        self._be_patient(complete_us is not None)
        if not self._patient and account.is_over(now_us):
            self._turn(now_us)
        before = account.arrivals
        new: list[Event] = []
        for arrival in arrivals:
            account.arrivals += 1
            verdict = progress.offer(arrival, now_us)
            if verdict is Verdict.NEW:
                new.append(progress.event)
            elif verdict is Verdict.DUPLICATE:
                counts.duplicates += 1
            else:
                counts.lost += 1
                self._lost.append(Loss(arrival.event, arrival.until_us, verdict.value))
        progress.settle(now_us)
        moved = progress.check(now_us) | (complete_us is not None and progress.promise(complete_us))
        if moved and progress.forget(now_us):
            for own in self._own:
                own.clear()
        outcome = self._work(new, everything=moved)
        counts.uncounted += account.arrivals - before
        if counts.uncounted * self._listeners_most > RECOUNT * self._settings.max_held:
            self._bound(outcome)
        return outcome

    def finish(self) -> PushResult:
        """The stream is over: releases everything that waits and makes everything final."""
        self._progress.end()
        return self._work((), everything=True)

    def configure(self, name: str, settings: UnitSettings) -> None:
        """Changes slack, speculation or retraction of a detector's units from the next push on.

        What they hold stays, and so does the law. Part of the state: a host that may have to redo a batch does it
        between two batches.

        Raises:
            KeyError: there is no detector of that name.
        """
        if name not in self._names:
            raise KeyError(f"no detector is called {name}")
        index = self._names.index(name)
        self._configured[name] = settings
        self._choosers.pop(index, None)
        for unit in self._units[index].values():
            unit.configure(settings, self._account.busy)

    def set_costs(self, costs: Costs) -> None:
        """Costs that the host has measured, from now on. Part of the state: to be set between two batches."""
        self._account.costs = costs

    def take_lost(self) -> list[Loss]:
        """Arrivals past the bound of memory since the last call."""
        lost, self._lost = self._lost, []
        return lost

    def watermark_us(self, kind: str) -> int:
        """Event time below which no event of ``kind`` can change any more."""
        final_us = self._progress.final_us
        return END_US if final_us == END_US else final_us - self._hierarchy.lag_us[kind]

    def watermark_of_all_us(self) -> int:
        """Event time below which no published event can change any more."""
        final_us = self._progress.final_us
        return END_US if final_us == END_US else final_us - self._hierarchy.lag_max_us

    def health(self) -> EngineHealth:
        """Figures of the whole."""
        progress, counts = self._progress, self._counts
        return engine_health(
            self._names, self._units, progress.clk_us, progress.final_us, self._account.busy, counts.duplicates,
            counts.lost, self._faults.by_detector,
        )  # fmt: skip

    def metrics(self) -> dict[str, DetectorMetrics]:
        """Figures of each detector's units, by name. Costs some milliseconds: for people, not for each push."""
        parts = zip(self._hierarchy.detectors, self._units, strict=True)
        return {
            d.spec.name: detector_metrics(d.spec.level, by_key, self._account.costs.step(d.spec.name))
            for d, by_key in parts
            if by_key
        }

    def work_counts(self) -> tuple[int, int, dict[str, int]]:
        """Counts to spread a measured time over: arrivals, updates moved, steps by detector. Since the beginning."""
        steps: dict[str, int] = {}
        for name, units in zip(self._names, self._units, strict=True):
            done = total(unit.counters for unit in units.values())
            steps[name] = done.stepped + done.redone
        return self._account.arrivals, self._account.moved, steps

    def purity_check(self, name: str, steps: int) -> PurityCheck:
        """Some of a detector's last steps, to be done once more between two batches; for the host, to time them."""
        impure = partial(self._faults.note, name, "impure", "the same input on the same state led to something else")
        return PurityCheck(self._units[self._names.index(name)].values(), steps, impure)

    def check_purity(self, name: str, steps: int) -> int:
        """Finds out whether a detector is pure: if not, that is a fault. Says how many steps were done."""
        check = self.purity_check(name, steps)
        check.step()
        return check.compare()

    def snapshot(self) -> bytes:
        """The whole state, to be continued by an engine with the same detectors and settings."""
        units = [{key: unit.state() for key, unit in by_key.items()} for by_key in self._units]
        state = (
            SNAPSHOT_VERSION,
            self._names,
            units,
            self._progress,
            self._counts,
            self._publisher.state(),
            (
                self._lost, self._faults, self._account, self._choosers, self._configured,
                (self._delivers_late_us, self._told_late_us),
            ),
        )  # fmt: skip
        return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, snapshot: bytes) -> None:
        """Continues from ``snapshot``.

        Raises:
            SnapshotError: it was made by another version or with other detectors.
        """
        version, *rest = pickle.loads(snapshot)
        if version != SNAPSHOT_VERSION:
            raise SnapshotError(f"snapshot has layout {version}, this engine reads {SNAPSHOT_VERSION}")
        names, units, progress, counts, publisher, more = rest
        if names != self._names:
            raise SnapshotError(f"snapshot was made with other detectors: {sorted(set(names) ^ set(self._names))}")
        self._progress, self._counts = progress, counts
        self._publisher.resume(publisher)
        self._lost, faults, self._account, self._choosers, self._configured, late = more
        self._delivers_late_us, self._told_late_us = late
        for index, states in enumerate(units):
            self._units[index].clear()
            self._single[index] = None
            self._own[index].clear()
            for key, state in states.items():
                self._unit(index, key).resume(state)
        self._find_waiting()
        self._has_folded = False
        # Last: what the units stumble over while they do their steps again has been counted before.
        self._faults = faults

    def _be_patient(self, patient: bool) -> None:
        """Whether nothing is said before it is final."""
        if patient is not self._patient:
            self._patient = patient
            for units in self._units:
                for unit in units.values():
                    unit.patient = patient

    def _work(self, new: Iterable[Event], *, everything: bool) -> PushResult:
        """Works in what is new; folds it where nothing is said, or is still held that was said, before it was final."""
        folds = self._patient and self._folds
        if folds and not self._has_folded:
            folds = not any(unit.speculates for units in self._units for unit in units.values())
        if folds:
            published, watched, moved = self._folding.walk(new, self._progress.final_us, self._watch)
        else:
            if self._has_folded:
                self._find_waiting()
            for event in new:
                self._route(Update(event, 1))
            published, watched, moved = self._walk(everything=everything)
        self._has_folded = folds
        self._account.moved += moved
        self._counts.uncounted += moved
        published = self._publisher.publish(published, partial(self._note, ""))
        if folds or everything:
            self._publisher.forget(self.watermark_of_all_us())
        return PushResult(published, watched)

    def _find_waiting(self) -> None:
        for index, units in enumerate(self._units):
            waiting = {key for key, unit in units.items() if unit.unsettled}
            self._waiting[index] = waiting if self._keyed[index] is not None else set()

    def _settings_of(self, index: int) -> UnitSettings:
        name = self._names[index]
        return self._configured.get(name) or self._settings.of(name)

    def _unit(self, index: int, key: str) -> OrderingUnit:
        """The unit of a detector and key, made when first wanted."""
        unit = self._units[index].get(key)
        if unit is None:
            report = partial(self._note, self._names[index])
            unit = self._make_unit(self._hierarchy.detectors[index], self._settings_of(index), report)
            unit.speculation = self._settings_of(index).speculation.begin(self._account.busy)
            if (chooser := self._choosers.get(index)) is not None:
                unit.way = chooser.way
            unit.patient = self._patient
            self._units[index][key] = unit
            if self._keyed[index] is None:
                self._single[index] = unit
            unit.slack.announce(self._told_late_us[index])
        return unit

    def _announce(self, index: int, late_us: int) -> None:
        """Tells the units above how late a detector's outputs may come, whenever that grows (004, II-E2).

        The walk goes upwards, so they know before they release anything in the same push; and they tell those above
        them at once, whether they have anything to do in this push or not.
        """
        if late_us <= self._delivers_late_us[index]:
            return
        self._delivers_late_us[index] = late_us
        for above in self._hierarchy.above[index]:
            self._told_late_us[above] = max(self._told_late_us[above], late_us)
            for unit in self._units[above].values():
                unit.slack.announce(late_us)
                self._announce(above, unit.delivers_late_us)

    def _note(self, name: str, what: str, text: str) -> None:
        """Notes a fault; of inputs that contradict each other it is the fault of who gave them."""
        if what in ("doubled", "unmatched"):
            feeder = self._hierarchy.producer.get(text.partition(" ")[0])
            name = "the source" if feeder is None else self._names[feeder]
        self._faults.note(name, what, text)

    def _route(self, update: Update) -> None:
        event = update.event
        given = update, canonical_key(event, self._rank)
        plain, keyed = self._listeners[event.kind]
        for give in plain:
            give(given)
        for detector, number, by_key in keyed:
            try:
                name = detector.key(event)
            except Exception as error:
                self._note(self._names[number], "raised", f"key of {event.kind}: {type(error).__name__}: {error}")
                continue
            if name in by_key:
                by_key[name].append(given)
            else:
                by_key[name] = [given]

    def _walk(self, *, everything: bool) -> tuple[list[Update], list[Update], int]:
        """Runs units level by level; with ``everything`` all of them, and purges what is final."""
        published: list[Update] = []
        watched: list[Update] = []
        internal, watch, route = self._hierarchy.internal, self._watch, self._route
        moved = 0
        told: list[int | None] = [None] * len(self._reach)
        self._told_us = told
        now_us, clk_us, late_us = self._counts.now_us, self._progress.clk_us, self._delivers_late_us
        for index, (unit, given) in enumerate(zip(self._single, self._given, strict=True)):
            if given or (unit is not None and (everything or unit.unsettled)):
                if unit is None:
                    unit = self._unit(index, "")
                progress_us = told[self._alike[index]]
                if progress_us is None or unit.slack.ignores_progress or self._patient:
                    progress_us = self._progress_of(index, unit.slack.ignores_progress)
                updates = unit.work(given, clk_us, progress_us, now_us, settles=everything)
                given.clear()
                if unit.slack.k_us + unit.backset_us > late_us[index]:
                    self._announce(index, unit.delivers_late_us)
            elif self._given_by_key[index] or self._waiting[index] or everything:
                updates = self._run_keyed(index, everything=everything)
            else:
                continue
            if not updates:
                continue
            moved += len(updates)
            for update in updates:
                kind = update.event.kind
                route(update)
                if kind not in internal:
                    published.append(update)
                elif kind in watch:
                    watched.append(update)
        if everything:
            self._purge()
        return published, watched, moved

    def _run_keyed(self, index: int, *, everything: bool) -> list[Update]:
        """Runs the units that were given something, and those that wait for others: time may have come for them."""
        updates: list[Update] = []
        units, by_key = self._units[index], self._given_by_key[index]
        for name in by_key:
            if name not in units:
                self._unit(index, name)
        if not units:
            return updates
        now_us, waiting, late_us = self._counts.now_us, self._waiting[index], self._delivers_late_us[index]
        alone = next(iter(units.values())).slack.ignores_progress
        progress_us = self._progress_of(index, alone)
        own = self._takes_raw[index]
        names = list(units if everything else by_key)
        for name in () if everything else sorted(waiting.difference(names)):
            # The clock of a keyed unit stands while nothing comes for it. (What a smaller alpha makes due can wait.)
            if own or units[name].may_release(progress_us):
                names.append(name)
        for name in names:
            unit = units[name]
            told_us = self._own_progress_of(index, name, alone) if own else progress_us
            updates += unit.work(by_key.get(name, ()), None, told_us, now_us, settles=everything)
            if unit.slack.k_us + unit.backset_us > late_us:
                self._announce(index, late_us := unit.delivers_late_us)
            if unit.unsettled:
                waiting.add(name)
            elif name in waiting:
                waiting.discard(name)
        by_key.clear()
        if len(units) > 1 and any(update.diff < 0 for update in updates):
            # A corrected input may have moved from one key to another: who had it must let go before the other speaks.
            updates.sort(key=attrgetter("diff"))
        return updates

    def _progress_of(self, index: int, alone: bool) -> int:
        """Event time up to which a detector's inputs are complete: what is final is, and ``alone`` heeds only that."""
        known, below_final_us = self._progress.progress_us, self._progress.final_us - 1
        if alone or self._patient:
            return below_final_us - self._reach_most[index]
        if (told_us := self._told_us[self._alike[index]]) is not None:
            return told_us
        least_us = END_US
        for kind, lag_us in self._reach[index]:
            if kind in known:
                us = max(known[kind], below_final_us) - lag_us
                if us < least_us:
                    least_us = us
        self._told_us[self._alike[index]] = least_us
        return least_us

    def _own_progress_of(self, index: int, name: str, alone: bool) -> int:
        """The same for one key of a keyed detector: of a transmitter's own unit, that transmitter's progress."""
        if self._progress.final_us == END_US:
            return END_US
        own = self._own[index].get(name)
        if own is None:
            inputs = self._hierarchy.detectors[index].spec.inputs
            sources = [self._progress.source_state(kind, name) for kind in inputs if kind in self._hierarchy.raw_kinds]
            own = self._own[index][name] = [source for source in sources if source]
        if len(own) == 1 and not alone and not self._patient:
            return max(own[0].until_us, self._progress.final_us - 1)
        return self._progress_of(index, alone)

    def _purge(self) -> None:
        final_us = self._progress.final_us
        for units, reach_us in zip(self._units, self._reach_most, strict=True):
            below_us = final_us if final_us == END_US else final_us - reach_us
            for unit in units.values():
                unit.purge(below_us)

    def _bound(self, outcome: PushResult) -> None:
        """Where too many inputs are held, moves final on early and lets go of the oldest."""
        self._counts.uncounted = 0
        progress = self._progress
        final_us = final_within(self._units, self._reach_most, self._settings.max_held, progress.clk_us)
        if final_us is not None and final_us > progress.final_us:
            progress.final_us = final_us
            more = self._work((), everything=True)
            outcome.updates.extend(more.updates)
            outcome.watched.extend(more.watched)

    def _turn(self, now_us: int) -> None:
        """Ends a span: alpha and the way to take back move by what it cost."""
        account = self._account
        done = account.turn(now_us, [total(unit.counters for unit in units.values()) for units in self._units])
        prices_us: list[float] = []
        for index, units in enumerate(self._units):
            for unit in units.values():
                unit.speculation.turn(account.busy)
            if self._settings_of(index).retraction != "auto":
                continue
            name = self._names[index]
            chooser = self._choosers.setdefault(index, RetractionChooser())
            prices_us = prices_us or account.prices_us()
            step_us, compare_us = account.costs.step(name), account.costs.compare(name)
            way = chooser.turn(done[index], step_us, compare_us, prices_us[index])
            for unit in units.values():
                unit.way = way
