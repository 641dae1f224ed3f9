"""The engine: ordering units and detectors wired by publish/subscribe, level by level.

Theory of operation
-------------------
A push takes what arrived at one arrival time. New arrivals are routed to the units that subscribe to their kind. Then
the levels are walked upwards once: every unit that has something to do processes its inputs, and its updates are routed
to its subscribers, which all stand higher. There is no recursion, no thread, no clock of its own, no I/O.

    push(arrivals, now_us)
      SourceProgress.offer     is an arrival new, a duplicate or lost?         sources/progress.py
        .update_progress, .advance_final    how far sources have reported; the watermark
      _route                   to the inputs of each subscriber                routing.py
      _walk, level by level    OrderingUnit.process: sort, repair, release     ordering/unit.py, ordering/repair.py
        _purge                 where final advanced: forget what is below it   ordering/unit_buffer.py
      Publisher.publish        cancel what undoes itself, apply amendments     publisher.py

Three times are distinct. ``now_us`` is arrival time; it measures silence and gaps only. ``clk`` is the largest event
time that has arrived (004, II-E1): the logical clock of all units that are not keyed. A keyed unit has a clock of its
own inputs, because a transmitter's filter must not wait for other transmitters. *Final* is the event time below which
no raw input can change (:mod:`middleware.sources.progress`); less the horizons below a kind, its watermark.

The law: whatever the arrival order, duplicates, alpha and retraction mode, the consolidated output equals
:func:`middleware.oracle.sorted_replay` of the same detectors over the inputs that were not recorded as lost.

What adapts (alpha, the retraction mode) changes at the end of spans of arrival time, by load accounting
(:mod:`middleware.load_accounting`). So redoing a window from its snapshot gives the same updates again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter

from middleware.delay_announcement import DelayAnnouncement
from middleware.detector import Detector, KeyedDetector
from middleware.events import END_US, Arrival, Event, Loss, Update, canonical_key
from middleware.final_replay import FinalReplay, Walked
from middleware.hierarchy import Hierarchy
from middleware.isolation import Faults, Report
from middleware.load_accounting import Costs, LoadAccounting, total
from middleware.metrics import DetectorMetrics, EngineHealth, detector_metrics, engine_health
from middleware.ordering.memory_bound import FULL, RECOUNT, count_held, final_within
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import RetractionChooser
from middleware.ordering.speculation import TARGET
from middleware.ordering.together import NO_STEPS, step_of, steps_of_keys
from middleware.ordering.unit import KeyedUpdate, OrderingUnit
from middleware.publisher import Publisher
from middleware.purity_check import PurityCheck
from middleware.push_result import Counts, PushResult
from middleware.routing import subscriptions
from middleware.sources.progress import SourceProgress, Verdict
from middleware.walk_progress import WalkProgress

#: Version of the snapshot layout; a snapshot of another version is refused.
SNAPSHOT_VERSION = 44

#: Makes the unit of a detector.
MakeUnit = Callable[[Detector[object], UnitSettings, Report], OrderingUnit]


class SnapshotError(ValueError):
    """A snapshot that this engine cannot continue from; the message says why."""


class Engine:
    """One match's engine.

    Args:
        hierarchy: the detectors and their wiring.
        settings: slack, alpha, retraction and memory of the units.
        watch: internal kinds whose updates are returned too (for views and the store of positions).
        make_unit: makes another kind of unit, such as a traced one.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        settings: EngineSettings | None = None,
        watch: Iterable[str] = (),
        make_unit: MakeUnit = OrderingUnit,
    ) -> None:
        self._hierarchy, self._make_unit = hierarchy, make_unit
        self._settings = settings = settings or EngineSettings()
        self._configured: dict[str, UnitSettings] = {}
        self._names = [detector.spec.name for detector in hierarchy.detectors]
        self._watch = frozenset(watch)
        self._units: list[dict[str, OrderingUnit]] = [{} for _ in hierarchy.detectors]
        #: The unit of a detector that is not keyed, once it is made.
        self._single: list[OrderingUnit | None] = [None] * len(hierarchy.detectors)
        self._keyed: list[KeyedDetector[object] | None] = [
            d if d.spec.keyed else None  # type: ignore[misc]
            for d in hierarchy.detectors
        ]
        #: Inputs of this push: of a detector that is not keyed, and of the units of a keyed one.
        self._inputs: list[list[KeyedUpdate]] = [[] for _ in hierarchy.detectors]
        self._inputs_by_key: list[dict[str, list[KeyedUpdate]]] = [{} for _ in hierarchy.detectors]
        self._waiting: list[set[str]] = [set() for _ in hierarchy.detectors]  # keys of units in which something waits
        self._delays = DelayAnnouncement(hierarchy.above, self._units)
        self._rank, self._max_reach = hierarchy.rank, hierarchy.max_reach_us
        self._walk_progress = WalkProgress(hierarchy)
        self._subscriptions = subscriptions(hierarchy, self._keyed, self._inputs, self._inputs_by_key)
        self._progress = SourceProgress(hierarchy.raw_kinds, settings.allowed_lateness_us, settings.progress)
        self._follow_targets()
        self._counts, self._faults = Counts(), Faults()
        self._lost: list[Loss] = []
        self._load = LoadAccounting(self._names, hierarchy.above)
        self._choosers: dict[int, RetractionChooser] = {}
        self._publisher = Publisher(hierarchy.rank, hierarchy.amendable)
        self._final_replay = FinalReplay(hierarchy, self._keyed, self._units, self._unit, self._note_fault)
        #: Traced units take one input after the other.
        self._together = [step_of(d) if make_unit is OrderingUnit else None for d in self._keyed]
        #: True if the units can do final replay; if the last push did; if units release only what is final.
        self._may_replay, self._has_replayed = make_unit is OrderingUnit, False
        self._final_only, self._learns = False, True
        self._max_subscribers = max(map(len, hierarchy.subscribers.values()), default=1)
        if any(one.slack.backset_us for one in (settings.unit, *settings.by_detector.values())):
            for index, keyed in enumerate(self._keyed):  # upwards, as the pseudo events of 004, algorithm 3
                known = self._settings_of(index).slack if keyed is not None else self._unit(index, "")
                self._delays.announce(index, known.output_delay_us)

    def push(self, arrivals: Iterable[Arrival], now_us: int, complete_us: int | None = None) -> PushResult:
        """Take what arrived at ``now_us`` (arrival time) and return the updates that it leads to.

        Args:
            arrivals: in any order, with duplicates and late ones.
            now_us: arrival time, carried by the input; never a wall clock. Does not go backwards.
            complete_us: None: units speculate. A time: nothing dated before it arrives any more, and units release only
                final inputs (``middleware.final_replay``); ``BEGINNING_US`` is for a host that is far behind.
        """
        progress, load, counts = self._progress, self._load, self._counts
        counts.now_us = now_us
        counts.late_us = counts.late_us if complete_us is None else now_us - complete_us
        if turns := (complete_us is None) is self._final_only:
            self._set_final_only(complete_us is not None, learns=False)
        if not self._final_only and load.is_over(now_us):
            self._end_span(now_us)
        before, new = load.arrivals, list[Event]()
        for arrival in arrivals:
            load.arrivals += 1
            verdict = progress.offer(arrival, now_us)
            if verdict is Verdict.NEW:
                new.append(progress.event)
            elif verdict is Verdict.DUPLICATE:
                counts.duplicates += 1
            else:
                counts.lost += 1
                counts.differing += verdict is Verdict.COPY_DIFFERS
                self._lost.append(progress.loss_of(arrival, verdict))
        progress.update_progress(now_us)
        final_advanced = progress.advance_final(now_us)
        promised = complete_us is not None and progress.promise(complete_us)
        purges = promised or (final_advanced and progress.is_purge_due(now_us))
        if purges and progress.forget(now_us):
            self._walk_progress.own_sources.clear()
        new, withdrawn = progress.net_of(new)
        result = self._process(new, withdrawn, final_advanced=final_advanced or promised, purges=purges)
        if turns and complete_us is None:  # the inputs that had waited, with delays of no source's, are released now
            self._set_final_only(False, learns=True)
        counts.since_recount += load.arrivals - before
        if counts.since_recount * self._max_subscribers > RECOUNT * self._settings.max_held:
            self._bound_memory(result)
        return result

    def finish(self, last: Iterable[Arrival] = ()) -> PushResult:
        """End the stream with the ``last`` arrivals: release everything that waits and make everything final."""
        progress, now_us = self._progress, self._counts.now_us
        new = [progress.event for arrival in last if progress.offer(arrival, now_us) is Verdict.NEW]
        progress.end()
        return self._process(new, final_advanced=True, purges=True)

    def configure(self, name: str, settings: UnitSettings) -> None:
        """Change slack, speculation or retraction of a detector's units from the next push on.

        Their inputs stay, and the law holds. The change is part of the state. So a host that may have to redo a window
        makes it between two windows.

        Raises:
            KeyError: there is no detector of that name.
        """
        if name not in self._names:
            raise KeyError(f"no detector is called {name}")
        index = self._names.index(name)
        self._configured[name] = settings
        self._choosers.pop(index, None)
        for unit in self._units[index].values():
            unit.configure(settings, self._load.busy)
        self._follow_targets()

    def set_costs(self, costs: Costs) -> None:
        """Use costs that the host has measured. They are part of the state, so they change between two windows only."""
        self._load.costs = costs

    def take_lost(self) -> list[Loss]:
        """Return the lost arrivals since the last call, each with the reason."""
        lost, self._lost = self._lost, []
        return lost

    def watermark_us(self, kind: str) -> int:
        """Return the watermark of a kind: event time below which none of its events can change any more."""
        return END_US if self.final_us == END_US else self.final_us - self._hierarchy.lag_us[kind]

    @property
    def final_us(self) -> int:
        """Watermark of the raw inputs; the update stream sends it as ``frontier_us``."""
        return self._progress.final_us

    def health(self) -> EngineHealth:
        """Return the health of the whole engine."""
        progress, counts = self._progress, self._counts
        return engine_health(
            self._names, self._units, progress.clk_us, progress.final_us, self._load.busy, counts.duplicates,
            counts.lost, counts.differing, self._faults.by_detector, progress.final_hold(counts.now_us),
            self._load.costs.step_us,
        )  # fmt: skip

    def metrics(self) -> dict[str, DetectorMetrics]:
        """Return the metrics of each detector's units, by name. Costs some milliseconds: not for each push."""
        parts = zip([d.spec for d in self._hierarchy.detectors], self._units, strict=True)
        step = self._load.costs.step
        return {spec.name: detector_metrics(spec.level, units, step(spec.name)) for spec, units in parts if units}

    def work_counts(self) -> tuple[int, int, dict[str, int]]:
        """Return counts since the beginning: arrivals, updates, steps by detector. The host divides times by them."""
        steps: dict[str, int] = {}
        for name, units in zip(self._names, self._units, strict=True):
            done = total([unit.counters for unit in units.values()])
            steps[name] = done.stepped + done.redone
        return self._load.arrivals, self._load.moved, steps

    def purity_check(self, name: str, steps: int) -> PurityCheck:
        """Return a check that repeats some of a detector's last steps, for the host to time between two windows."""
        impure = partial(self._faults.note, name, "impure", "the same input on the same state led to something else")
        return PurityCheck(self._units[self._names.index(name)].values(), steps, impure)

    def check_purity(self, name: str, steps: int) -> int:
        """Repeat some of a detector's last steps; note a fault if it is not pure. Return the number of steps."""
        return self.purity_check(name, steps).run()

    def snapshot(self) -> bytes:
        """Return the whole state, for an engine with the same detectors and settings to continue."""
        units = [{key: unit.state() for key, unit in by_key.items()} for by_key in self._units]
        state = (
            SNAPSHOT_VERSION,
            self._names,
            units,
            self._progress,
            self._counts,
            self._publisher.state(),
            (self._lost, self._faults, self._load, self._choosers, self._configured),
            (self._delays.output_us, self._delays.input_us, self._final_only, self._final_replay.known_us),
        )
        return pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, snapshot: bytes) -> None:
        """Continue from ``snapshot``.

        Raises:
            SnapshotError: it was made by another version or with other detectors.
        """
        try:
            version, *rest = pickle.loads(snapshot)
        except (AttributeError, ImportError, TypeError) as error:
            raise SnapshotError(f"snapshot was made by another version: {error}") from error
        if version != SNAPSHOT_VERSION:
            raise SnapshotError(f"snapshot has layout {version}, this engine reads {SNAPSHOT_VERSION}")
        names, units, progress, counts, publisher, more, delays = rest
        if names != self._names:
            raise SnapshotError(f"snapshot was made with other detectors: {sorted(set(names) ^ set(self._names))}")
        self._progress, self._counts = progress, counts
        self._publisher.resume(publisher)
        self._lost, faults, self._load, self._choosers, self._configured = more
        self._delays.output_us, self._delays.input_us, self._final_only, self._final_replay.known_us = delays
        self._walk_progress.own_sources.clear()
        self._follow_targets()
        for index, states in enumerate(units):
            self._units[index].clear()
            self._single[index] = None
            for key, state in states.items():
                self._unit(index, key).resume(state)
        self._find_waiting()
        self._has_replayed, self._learns = False, not self._final_only
        # Last: the faults of the steps that the units repeat here have been counted before.
        self._faults = faults

    def _set_final_only(self, final_only: bool, *, learns: bool) -> None:
        """Set whether units release nothing before it is final, and whether they learn from delays."""
        self._final_only, self._learns = final_only, learns
        for units in self._units:
            for unit in units.values():
                unit.set_final_only(final_only, learns=learns)

    def _process(
        self, new: Iterable[Event], withdrawn: Iterable[Event] = (), *, final_advanced: bool, purges: bool
    ) -> PushResult:
        """Process new events: by final replay if units release and hold only what is final, else by a walk."""
        replays = self._final_only and self._may_replay and not withdrawn
        if replays and not self._has_replayed:
            replays = not any(unit.holds_released for units in self._units for unit in units.values())
        if replays:
            groups, watched, routed = self._final_replay.walk(new, self._progress.final_us, self._watch)
        else:
            if self._has_replayed:
                self._find_waiting()
            for diff, events in ((-1, withdrawn), (1, new)):
                for event in events:
                    self._route(Update(event, diff))
            groups, watched, routed = self._walk(final_advanced=final_advanced)
            if purges:
                self._purge()
        self._has_replayed, counts = replays, self._counts
        self._load.moved += routed
        counts.since_recount += routed
        result = PushResult([], [], watched)
        for known_us, updates in groups:
            updates = self._publisher.publish(updates, partial(self._note_fault, ""))
            result.add(updates, min(known_us + counts.late_us, counts.now_us))
        if replays or purges:
            self._publisher.forget(self.final_us - self._hierarchy.max_lag_us)
        return result

    def _find_waiting(self) -> None:
        """Find the keyed units in which something waits."""
        for index, units in enumerate(self._units):
            self._waiting[index] = {key for key, unit in units.items() if unit.has_waiting and self._keyed[index]}

    def _follow_targets(self) -> None:
        """Learn the bounds of the detectors' targets, and whether any K may shrink."""
        self._shrinks = any(self._settings_of(index).slack.shrinks for index in range(len(self._names)))
        targets = [self._settings_of(index).slack.followed for index in range(len(self._names))]
        for target in targets:
            if target is not None:
                self._progress.follow(target)
        self._walk_progress.set_targets(targets)

    def _settings_of(self, index: int) -> UnitSettings:
        name = self._names[index]
        return self._configured.get(name) or self._settings.of(name)

    def _unit(self, index: int, key: str) -> OrderingUnit:
        """Return the unit of a detector and key; make it at the first call."""
        unit = self._units[index].get(key)
        if unit is None:
            report = partial(self._note_fault, self._names[index])
            unit = self._make_unit(self._hierarchy.detectors[index], self._settings_of(index), report)
            unit.speculation = self._settings_of(index).speculation.begin(self._load.busy)
            if (chooser := self._choosers.get(index)) is not None:
                unit.mode = chooser.mode
            unit.set_final_only(self._final_only, learns=self._learns)
            self._units[index][key] = unit
            if self._keyed[index] is None:
                self._single[index] = unit
            unit.slack.announce(self._delays.input_us[index])
        return unit

    def _note_fault(self, name: str, what: str, text: str) -> None:
        """Note a fault; contradictory inputs are the fault of the detector, or the source, that emitted them."""
        if what in ("doubled", "unmatched"):
            feeder = self._hierarchy.producer.get(text.partition(" ")[0])
            name = "the source" if feeder is None else self._names[feeder]
        self._faults.note(name, what, text)

    def _route(self, update: Update) -> None:
        """Give an update to the subscribers of its kind."""
        event = update.event
        keyed_update = update, canonical_key(event, self._rank)
        plain, keyed = self._subscriptions[event.kind]
        for append in plain:
            append(keyed_update)
        for detector, number, by_key in keyed:
            try:
                name = detector.key(event)
            except Exception as error:
                self._note_fault(self._names[number], "raised", f"key of {event.kind}: {type(error).__name__}: {error}")
                continue
            if name in by_key:
                by_key[name].append(keyed_update)
            else:
                by_key[name] = [keyed_update]

    def _walk(self, *, final_advanced: bool) -> Walked:
        """Let units process, level by level; if final advanced, all in which inputs wait. Return as the replay does."""
        published: list[Update] = []
        watched: list[Update] = []
        internal, watch, route, routed = self._hierarchy.internal, self._watch, self._route, 0
        progress, final_only = self._progress, self._final_only
        known_us, same_reach = self._walk_progress.begin(self._counts.now_us), self._walk_progress.same_reach
        now_us, clk_us, delay_us = self._counts.now_us, progress.clk_us, self._delays.output_us
        for index, (unit, inputs) in enumerate(zip(self._single, self._inputs, strict=True)):
            if inputs or (unit is not None and unit.has_waiting):
                if unit is None:
                    unit = self._unit(index, "")
                progress_us, only_final = known_us[same_reach[index]], final_only or unit.slack.ignores_progress
                if progress_us is None or only_final:
                    progress_us = self._walk_progress.of_detector(progress, index, only_final=only_final)
                updates = unit.process(inputs, clk_us, progress_us, now_us, flush=final_advanced)
                inputs.clear()
                if unit.slack.k_us + unit.backset_us > delay_us[index]:
                    self._delays.announce(index, unit.output_delay_us)
            elif self._inputs_by_key[index] or self._waiting[index]:
                updates = self._process_keyed(index, final_advanced=final_advanced)
            else:
                continue
            if not updates:
                continue
            routed += len(updates)
            for update in updates:
                kind = update.event.kind
                route(update)
                if kind not in internal:
                    published.append(update)
                elif kind in watch:
                    watched.append(update)
        return [(END_US, published)], watched, routed

    def _process_keyed(self, index: int, *, final_advanced: bool) -> list[Update]:
        """Let the units of a keyed detector process: those with inputs, and those in which inputs may be due."""
        updates: list[Update] = []
        units, by_key = self._units[index], self._inputs_by_key[index]
        for name in by_key:
            if name not in units:
                self._unit(index, name)
        if not units:
            return updates
        now_us, waiting, delay_us = self._counts.now_us, self._waiting[index], self._delays.output_us[index]
        only_final = self._final_only or next(iter(units.values())).slack.ignores_progress
        walk_progress, progress = self._walk_progress, self._progress
        progress_us = walk_progress.of_detector(progress, index, only_final=only_final)
        own = walk_progress.takes_raw[index]
        together = self._together[index]
        steps = steps_of_keys(together, units, by_key) if together else NO_STEPS
        names = list(by_key)
        for name in sorted(waiting.difference(names)):
            # Without inputs a keyed unit's clock stands still. What a smaller alpha makes due waits for the next input.
            if own or final_advanced or units[name].may_release(progress_us):
                names.append(name)
        for name in names:
            unit = units[name]
            if name in steps:
                updates += unit.take_step(by_key[name][0], *steps[name], None, now_us)
            else:
                own_us = walk_progress.of_key(progress, index, name, only_final=only_final) if own else progress_us
                updates += unit.process(by_key.get(name, ()), None, own_us, now_us, flush=final_advanced)
            if unit.slack.k_us + unit.backset_us > delay_us:
                self._delays.announce(index, delay_us := unit.output_delay_us)
            if unit.has_waiting:
                waiting.add(name)
            elif name in waiting:
                waiting.discard(name)
        by_key.clear()
        if len(units) > 1 and any(update.diff < 0 for update in updates):
            # A corrected input may have moved to another key: the old key must withdraw before the new one asserts.
            updates.sort(key=attrgetter("diff"))
        return updates

    def _purge(self) -> None:
        """Let all units forget what is final."""
        final_us = self._progress.final_us
        for units, reach_us in zip(self._units, self._max_reach, strict=True):
            below_us = final_us if final_us == END_US else final_us - reach_us
            for unit in units.values():
                unit.purge(below_us)

    def _bound_memory(self, result: PushResult) -> None:
        """Advance final early if too many inputs are held, so that the oldest are forgotten."""
        counts, most = self._counts, self._settings.max_held
        counts.held_most += counts.since_recount * self._max_subscribers
        counts.since_recount = 0
        if counts.held_most <= FULL * most:  # not worth counting
            return
        counts.held_most = count_held(self._units)
        final_us = final_within(self._units, self._max_reach, most, self._progress.clk_us, counts.held_most)
        if final_us is not None and final_us > self.final_us:
            self._progress.final_us = final_us
            result.extend(self._process((), final_advanced=True, purges=True))

    def _end_span(self, now_us: int) -> None:
        """End a span: adapt alpha and the retraction modes to what it cost."""
        load = self._load
        done = load.end_span(now_us, [total([unit.counters for unit in units.values()]) for units in self._units])
        if self._shrinks:
            self._delays.announce_shrinking()
        dearest: frozenset[int] = frozenset()
        if load.busy > TARGET:
            slack_us = [max((unit.slack.k_us for unit in units.values()), default=0) for units in self._units]
            dearest = load.dearest(done, slack_us, TARGET)
        prices_us: list[float] = []
        for index, units in enumerate(self._units):
            for unit in units.values():
                unit.speculation.end_span(load.busy, dear=index in dearest)
            if self._settings_of(index).retraction != "auto":
                continue
            name = self._names[index]
            chooser = self._choosers.setdefault(index, RetractionChooser())
            prices_us = prices_us or load.prices_us()
            mode = chooser.end_span(done[index], load.costs.step(name), load.costs.compare(name), prices_us[index])
            for unit in units.values():
                unit.mode = mode
