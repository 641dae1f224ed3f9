"""The ordering unit: stands before one detector; it sorts, waits, speculates and retracts.

Theory of operation
-------------------
Inputs are updates that arrive in any order. The unit keeps them in a buffer, sorted by canonical key
(:mod:`middleware.ordering.unit_buffer`). The first ones are *released*: the detector has been given them. The
boundary is AEP (the already-emitted pointer of paper 000, section 4.1). The rest wait.

* *Release.* An input is released when ``ts + alpha*K <= clk`` (000, inequation 1), or when the sources have reported
  everything up to its time, for then nothing can arrive before it. Inputs are released in order, always.
* *Snapshot.* With each released input the unit keeps the state after it and the events that it led to.
* *Late and withdrawn inputs.* An update of an input before AEP makes the unit restore the state before that input and
  redo what follows: :mod:`middleware.ordering.repair`. How it compares is the retraction mode
  (:mod:`middleware.ordering.retraction`).
* *Correction batching.* A dense join collects late updates for a while and repairs them together
  (:mod:`middleware.ordering.correction_batching`).
* *K+.* An output that leaves before pure buffering would have sent it carries by how much (4.1), so that a unit above
  measures the delay of pure buffering. An output of a repair carries what is left of the slack at the repair.
* *Purge.* Below ``final`` nothing can change. Those inputs are forgotten; their effect stays in the base state.

An input dated below the purged ones never reaches a unit: the engine records it as lost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter, lt
from typing import Any

from middleware.detector import NOTHING, Detector, Step
from middleware.events import BEGINNING_US, END_US, Event, Key, KnownEvent, Update
from middleware.isolation import Failed, IsolatedDetector, Report, failed_step, ignore_faults
from middleware.load_accounting import Counters
from middleware.ordering.correction_batching import CorrectionBatch
from middleware.ordering.delay_samples import DelaySamples
from middleware.ordering.policy import UnitSettings
from middleware.ordering.repair import repair
from middleware.ordering.retraction import first_mode
from middleware.ordering.unit_buffer import BufferContent, Input, UnitBuffer

#: Attributes that a snapshot holds. The detector comes from the hierarchy; states and outputs follow from the events.
_SNAPSHOT_FIELDS = (
    "slack", "speculation", "clk_us", "newest_us", "counters", "mode", "backset_us", "_settings", "_delays",
    "_corrections", "known_us",
)  # fmt: skip

#: Less than any key.
_FIRST: Key = (BEGINNING_US, -1, "", 0, "")

_KEY_OF = itemgetter(1)

#: Result of most calls of :meth:`OrderingUnit.process`.
NO_UPDATES: tuple[Update, ...] = ()

#: An update of an input, with the key of its event.
KeyedUpdate = tuple[Update, Key]


class OrderingUnit:
    """Sorts, releases and repairs the inputs of one detector, or of one key of a keyed detector.

    Args:
        detector: receives the inputs in order.
        settings: slack, speculation and retraction.
        report: receives faults of the detector and of its inputs.

    Attributes:
        buffer: the inputs.
        slack, speculation: policies in force.
        clk_us: the logical clock: largest event time among the clock's inputs (000, section 3.2).
        newest_us: largest event time among its own inputs: the logical clock of a keyed unit.
        known_us: in final replay, the greatest time at which one of its inputs became known after its own time.
        counters: what it has done since the beginning.
        backset_us: how far before its cause an output was dated at most; at first what the settings say of it.
        mode: how it retracts; the engine sets it where retraction is automatic.
        has_waiting: True if inputs, or corrections of inputs, wait since the last :meth:`process`.
        final_only: True to release only inputs up to the given progress, whatever slack and alpha.
    """

    def __init__(self, detector: Detector[object], settings: UnitSettings, report: Report = ignore_faults) -> None:
        self._detector = IsolatedDetector(detector, report)
        self.counters = Counters()
        self.buffer = UnitBuffer(self._detector.initial(), self.counters, report)
        # The buffer's own lists, one attribute nearer: every input passes here.
        self._keys, self._events = self.buffer.keys, self.buffer.events
        self._states, self._outputs = self.buffer.states, self.buffer.outputs
        self.slack, self.speculation = settings.slack.policy(), settings.speculation.begin()
        self.clk_us = self.newest_us = self.known_us = BEGINNING_US
        self.mode, self.backset_us = first_mode(settings.retraction), settings.slack.backset_us
        self.has_waiting = self.final_only = False
        self._delays = DelaySamples(every_sample=self.slack.every_sample)
        self._corrections = CorrectionBatch(self._detector.spec.correction_batch_us)
        self._apply(settings)

    def _apply(self, settings: UnitSettings) -> None:
        """Cache what :meth:`process` needs of settings and policies in each push."""
        self._settings = settings
        self._auto = settings.retraction == "auto"
        self._has_fast_path = self.slack.ignores_delays_within_k
        self._batches = self._detector.spec.correction_batch_us > 0
        # A dense join always waits the whole slack, because every late input would make it redo premature outputs.
        self._waits = not self._detector.spec.speculative
        self._takes_steps = self._has_fast_path and not (self._waits or self._batches)

    def configure(self, settings: UnitSettings, busy: float = 0.0) -> None:
        """Change the policies of a running unit; its inputs stay. Takes effect at the next :meth:`process`.

        Args:
            settings: from now on.
            busy: busy factor of the engine in its last span.
        """
        before = self._settings
        if settings.slack != before.slack:
            slack = settings.slack.policy()
            slack.take_over(self.slack.k_us)
            self.slack = slack
        if settings.speculation != before.speculation:
            self.speculation = settings.speculation.begin(busy)
        if settings.retraction != before.retraction:
            self.mode = first_mode(settings.retraction)
        self._apply(settings)
        self._delays.choose(every_sample=self.slack.every_sample)

    def set_final_only(self, final_only: bool, *, learns: bool) -> None:
        """Set :attr:`final_only`, and whether the slack policy learns from delays and late inputs are counted."""
        self.final_only, self._delays.ignored = final_only, not learns

    @property
    def alpha(self) -> float:
        """Share of the slack that inputs wait now."""
        return 1.0 if self._waits else self.speculation.alpha

    @property
    def holds_released(self) -> bool:
        """True if the unit holds released inputs, or corrections of them."""
        return not self.buffer.is_empty or len(self._corrections) > 0

    @property
    def held(self) -> int:
        """Number of released inputs that are held for repair."""
        return len(self._states)

    @property
    def waiting(self) -> int:
        """Number of inputs that the detector has not been given."""
        batched = len(self._corrections.times_us()) if self._batches else 0
        return len(self._keys) - len(self._states) + batched

    @property
    def oldest_waiting_us(self) -> int:
        """Event time of the first input that waits for its release; ``END_US`` if none does."""
        return self._keys[len(self._states)][0] if len(self._states) < len(self._keys) else END_US

    @property
    def output_delay_us(self) -> int:
        """How late the outputs may arrive at the units above: K, and how far they are dated back (004, III-B)."""
        return self.slack.k_us + self.backset_us

    def times_us(self) -> list[int]:
        """Event times of all inputs held or waiting, ascending."""
        return sorted([*(key[0] for key in self._keys), *self._corrections.times_us()])

    def may_release(self, progress_us: int) -> bool:
        """True if the unit may have something to release or repair without new inputs and though its clock stands."""
        return progress_us >= self.oldest_waiting_us or len(self._corrections) > 0 or self.slack.clock == "arrival"

    def process(
        self, inputs: Sequence[KeyedUpdate], clk_us: int | None, progress_us: int, now_us: int, *, flush: bool = False
    ) -> Sequence[Update]:
        """Take updates of inputs, repair what they disturb, and release what is due.

        Most inputs are in order: newer than all that the unit holds. On the fast path they are appended, nothing is
        searched, and only the greatest delay is measured (decision 025). Its condition is a slack policy that learns
        nothing from delays up to K. One that comes alone and is due goes through :meth:`take_step`, all others through
        :meth:`offer`.

        Args:
            inputs: in order of arrival.
            clk_us: the logical clock; None for that of the unit's own inputs.
            progress_us: event time up to which (inclusive) the inputs are complete.
            now_us: arrival time of the push.
            flush: True to repair batched corrections whether due or not.

        Returns:
            Updates of the detector's outputs, in the order in which they became known.
        """
        if len(inputs) == 1 and self.takes_at_once(inputs[0], clk_us, progress_us):
            held, event = self._states, inputs[0][0].event
            state = held[-1] if held else self.buffer.base
            if state.__class__ is not Failed:
                detector = self._detector
                try:
                    state, outputs = detector.detector_step(state, event)
                except Exception as error:
                    state, outputs = detector.fail(event, error), NOTHING
                return self.take_step(inputs[0], state, outputs, clk_us, now_us)
        # Take the inputs.
        keys, slack, delays = self._keys, self.slack, self._delays
        has_fast_path = in_order = self._has_fast_path
        if has_fast_path:
            last = keys[-1] if keys else _FIRST
            for update, key in inputs:
                if key <= last or update.diff < 0:
                    in_order = False
                    break
                last = key
            if not in_order and len(inputs) > 1 and all(update.diff > 0 for update, _ in inputs):
                inputs = sorted(inputs, key=_KEY_OF)  # what arrived together has no order of arrival
                sorted_keys = [*keys[-1:], *[key for _, key in inputs]]
                in_order = all(map(lt, sorted_keys, islice(sorted_keys, 1, None)))
                last = sorted_keys[-1]
        if in_order:
            events = self._events
            for update, key in inputs:
                keys.append(key)
                events.append(update.event)
                if key[0] - update.k_plus_us < delays.oldest_us:
                    delays.oldest_us, delays.oldest = key[0] - update.k_plus_us, update.event
            if last[0] > self.newest_us:
                self.newest_us = last[0]
        elif has_fast_path and not self._batches:
            self._sort_in(inputs)
        else:
            for update, key in inputs:
                self.offer(update, key)
        # Advance the clock, and let the slack policy learn from the delays.
        if clk_us is None:
            clk_us = self.newest_us
        clock_advanced = clk_us > self.clk_us
        if clock_advanced:
            self.clk_us = clk_us
        else:
            clk_us = self.clk_us
        by_arrival = False
        if has_fast_path:
            if clock_advanced:
                if clk_us - delays.oldest_us > slack.k_us:
                    delays.report(slack, clk_us, now_us)
                else:
                    delays.oldest_us, delays.oldest = END_US, None
        else:
            by_arrival = slack.clock == "arrival"
            if slack.learns == "before" and (clock_advanced or by_arrival):
                delays.report(slack, clk_us, now_us)
        clock_us = now_us if by_arrival else clk_us
        # Repair what late and withdrawn inputs disturb.
        updates: Sequence[Update] = NO_UPDATES
        waiting = False
        if self._batches and self._corrections:
            for update, key in self._corrections.take(now_us, flush=flush):
                self._put(update.event, update.diff, key)
            waiting = len(self._corrections) > 0
        if self.buffer.needs_repair:
            updates = self._repair(clock_us)
        # Release what is due.
        at = len(self._states)
        if at < len(keys):
            limit_us = progress_us
            if progress_us < keys[-1][0] and not self.final_only:
                alpha = 1.0 if self._waits else self.speculation.alpha
                # With alpha 0 these policies wait for nothing; it is not worth a call.
                if alpha or not has_fast_path:
                    limit_us = slack.limit_us(clock_us, progress_us, alpha)
                elif clk_us > progress_us:
                    limit_us = clk_us
            if keys[at][0] <= limit_us:
                released = self._release(limit_us, clock_us)
                updates = [*updates, *released] if updates else released
            waiting = waiting or len(self._states) < len(keys)
        self.has_waiting = waiting
        if not has_fast_path and slack.learns == "after" and (clock_advanced or by_arrival):
            delays.report(slack, clk_us, now_us)
        return updates

    def takes_at_once(self, keyed_update: KeyedUpdate, clk_us: int | None, progress_us: int) -> bool:
        """True if :meth:`take_step` may take an input, its only one; clock and progress as for :meth:`process`."""
        update, key = keyed_update
        keys = self._keys
        if not self._takes_steps or self.final_only or update.diff < 0 or len(keys) != len(self._states):
            return False
        if keys and key <= keys[-1]:
            return False
        if (ts_us := key[0]) <= progress_us:
            return True
        return self.speculation.alpha == 0.0 and (clk_us is None or ts_us <= clk_us or ts_us <= self.clk_us)

    def take_step(
        self, keyed_update: KeyedUpdate, state: object, outputs: Sequence[Event], clk_us: int | None, now_us: int
    ) -> Sequence[Update]:
        """Do what :meth:`process` does with an input for which :meth:`takes_at_once`.

        Args:
            keyed_update: the input.
            state, outputs: the detector's step on it, from the newest state of the buffer.
            clk_us, now_us: as for :meth:`process`.
        """
        update, key = keyed_update
        event, ts_us, delays = update.event, key[0], self._delays
        self._keys.append(key)
        self._events.append(event)
        if ts_us - update.k_plus_us < delays.oldest_us:
            delays.oldest_us, delays.oldest = ts_us - update.k_plus_us, event
        if ts_us > self.newest_us:
            self.newest_us = ts_us
        if clk_us is None:
            clk_us = self.newest_us
        if clk_us > self.clk_us:
            self.clk_us = clk_us
            if clk_us - delays.oldest_us > self.slack.k_us:
                delays.report(self.slack, clk_us, now_us)
            else:
                delays.oldest_us, delays.oldest = END_US, None
        detector = self._detector
        if outputs:
            try:
                outputs = detector.permitted(event, outputs)
            except Exception as error:
                state, outputs = detector.fail(event, error), NOTHING
        self._states.append(state)
        self._outputs.append(outputs or NOTHING)
        self.counters.stepped += 1
        return self._assertions(event, outputs, self.slack.k_us - self.clk_us) if outputs else NO_UPDATES

    def _assertions(self, event: Event, outputs: Sequence[Event], k_less_clock_us: int) -> list[Update]:
        """Return the updates of ``outputs``, which the detector emitted on an input that was released."""
        ts_us = event.ts_us
        k_plus_us = ts_us + k_less_clock_us if ts_us + k_less_clock_us > 0 else 0
        updates = []
        for out in outputs:
            updates.append(Update(out, 1, k_plus_us))
            if ts_us - out.ts_us > self.backset_us:
                self.backset_us = ts_us - out.ts_us
        return updates

    def offer(self, update: Update, key: Key) -> None:
        """Sort one update of an input into the buffer, or into the batch of corrections; :meth:`process` emits."""
        event = update.event
        if update.diff > 0:
            ts_us = key[0]
            if ts_us > self.newest_us:
                self.newest_us = ts_us
            if self.slack.learns != "never":
                self._delays.note(ts_us - update.k_plus_us, event)
        if self._batches and self._states and key <= self._keys[len(self._states) - 1]:
            self._corrections.put(update, key)
        else:
            self._put(event, update.diff, key)

    def _sort_in(self, inputs: Sequence[KeyedUpdate]) -> None:
        """Do for all inputs what :meth:`offer` does for one, where only the greatest delay counts and none is batched.

        Corrected inputs come by the dozen to many units at once, so a call each would cost more than the work itself.
        """
        buffer, keys, events, delays = self.buffer, self._keys, self._events, self._delays
        insert, remove = buffer.insert, buffer.remove
        late_us, late, learns = self.clk_us - self.slack.k_us, 0, self.slack.learns != "never"
        for update, key in inputs:
            if update.diff < 0:
                remove(update.event, key)
                continue
            ts_us = key[0]
            if ts_us > self.newest_us:
                self.newest_us = ts_us
            if learns and ts_us - update.k_plus_us < delays.oldest_us:
                delays.oldest_us, delays.oldest = ts_us - update.k_plus_us, update.event
            if keys and key <= keys[-1]:
                late += insert(update.event, key) and ts_us <= late_us
            else:
                keys.append(key)
                events.append(update.event)
        self.counters.late += 0 if delays.ignored else late

    def _put(self, event: Event, diff: int, key: Key) -> None:
        """Put an input into the buffer, or take a withdrawn one out; count it if it is later than the whole slack."""
        if diff < 0:
            self.buffer.remove(event, key)
            return
        keys = self._keys
        if keys and key <= keys[-1]:
            is_late = self.buffer.insert(event, key) and key[0] + self.slack.k_us <= self.clk_us
            self.counters.late += is_late and not self._delays.ignored
        else:
            keys.append(key)
            self._events.append(event)

    def _repair(self, clock_us: int) -> list[Update]:
        """Redo what late and withdrawn inputs made stale; return the difference, withdrawals first."""
        k_less_clock_us = self.slack.k_us - clock_us
        return repair(self.buffer, self._detector, self.counters, self.mode, k_less_clock_us, auto=self._auto)

    def _release(self, limit_us: int, clock_us: int) -> list[Update]:
        """Give the detector the waiting inputs dated up to ``limit_us``; return updates of its outputs."""
        updates: list[Update] = []
        keys, states, all_outputs = self._keys, self._states, self._outputs
        at = len(states)
        end = len(keys) if keys[-1][0] <= limit_us else bisect_left(keys, (limit_us + 1,), at)
        state = states[at - 1] if at else self.buffer.base
        detector = self._detector
        step = failed_step if state.__class__ is Failed else detector.detector_step
        k_less_clock_us = self.slack.k_us - clock_us
        for event in self._events[at:end]:
            try:
                state, outputs = step(state, event)
                outputs = detector.permitted(event, outputs) if outputs else NOTHING
            except Exception as error:
                state, outputs, step = detector.fail(event, error), NOTHING, failed_step
            states.append(state)
            all_outputs.append(outputs)
            if outputs:
                updates += self._assertions(event, outputs, k_less_clock_us)
        self.counters.stepped += end - at
        return updates

    def purge(self, final_us: int) -> None:
        """Forget released inputs dated before ``final_us``."""
        self.buffer.purge(final_us)

    def process_final(
        self, runs: Sequence[Sequence[Input]], below_us: int, known_us: Mapping[Key, int], *, has_doubles: bool
    ) -> list[KnownEvent]:
        """Give the detector all inputs dated before ``below_us``, and keep only the state after them.

        Args:
            runs, below_us, has_doubles: see :meth:`UnitBuffer.take_below`.
            known_us: of inputs that were dated back, when they became known.

        Returns:
            The detector's outputs, in order, each with the event time at which it became known.

        Raises:
            UnitBufferError: the unit holds released inputs: it has speculated since its last final one.
        """
        due = self.buffer.take_below(runs, below_us, has_doubles=has_doubles)
        self.has_waiting = len(self._keys) > 0
        emitted: list[KnownEvent] = []
        if not due:
            return emitted
        state, detector, latest_us = self.buffer.base, self._detector, self.known_us
        step = detector.step_from(state)
        for key, event in due:
            if known_us and (late_us := known_us.get(key)) is not None:
                latest_us = max(latest_us, late_us)
            try:
                state, outputs = step(state, event)
                if outputs:
                    outputs = detector.permitted(event, outputs)
            except Exception as error:
                state, outputs, step = detector.fail(event, error), NOTHING, failed_step
            if outputs:
                became_us = max(event.ts_us, latest_us)
                emitted += [(became_us, out) for out in outputs]
                self.backset_us = max(self.backset_us, *[event.ts_us - out.ts_us for out in outputs])
        self.known_us = latest_us
        self.buffer.base = state
        self.counters.stepped += len(due)
        self.newest_us = max(self.newest_us, due[-1][0][0])
        return emitted

    def repeat_steps(self, steps: int) -> list[Step[object]]:
        """Give the newest held inputs, at most ``steps``, to the detector again; return the results, oldest first."""
        step, last = self._detector.unreported.step, len(self._states)
        return [step(self.buffer.state_before(at), self._events[at]) for at in range(max(0, last - steps), last)]

    def agrees(self, repeated: Sequence[Step[object]]) -> bool:
        """True if the repeated steps gave the states and outputs that are held; if not, the detector is not pure."""
        same, first = self._detector.unreported.same, len(self._states) - len(repeated)
        held = zip(self._states[first:], self._outputs[first:], strict=True)
        return all(
            same(now[0], state) and same(now[1], outputs) for now, (state, outputs) in zip(repeated, held, strict=True)
        )

    def state(self) -> dict[str, object]:
        """Return everything that must survive a restart, except the detector.

        Of held inputs only the events are stored. :meth:`resume` steps the detector over them to get states and outputs
        again. That makes a snapshot several times smaller and faster.
        """
        fields = {name: getattr(self, name) for name in _SNAPSHOT_FIELDS}
        return {"buffer": self.buffer.content()} | fields

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`state` returned; this unit's own settings replace the stored ones."""
        settings = self._settings
        for name in _SNAPSHOT_FIELDS:
            setattr(self, name, state[name])
        self._apply(self._settings)
        self.configure(settings)
        content: BufferContent = state["buffer"]
        self.buffer.load(content, self.counters)
        newest = content.base
        for event in content.events[: content.released]:
            newest, outputs = self._detector.step(newest, event)
            self._states.append(newest)
            self._outputs.append(outputs)
        self.has_waiting = len(self._states) < len(self._keys) or len(self._corrections) > 0
