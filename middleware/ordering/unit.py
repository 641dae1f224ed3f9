"""The ordering unit: what stands before one detector. It sorts, waits, speculates, and takes back.

Theory of operation
-------------------
Inputs come as updates in any order. The unit keeps them sorted by canonical key. The first ones have been given to
the detector, up to AEP (the already-emitted pointer of paper 000, section 4.1); the rest wait.

* *Release.* An input goes to the detector when ``ts + alpha*K <= clk`` (000, inequation 1), or when the sources
  have told everything up to its time: then waiting on would be waiting for nothing. Always in order.
* *Snapshot.* With each released input the unit keeps the state after it (a reference; states are immutable) and
  the events it led to. The snapshot before an input is the state after the one before it.
* *Late input, withdrawn input.* One that belongs before AEP, or the withdrawal of one before AEP, makes the unit
  restore the state before that place and redo what follows. ``on-demand`` compares: it sends only what differs,
  and stops as soon as state and position agree with what was kept (000, section 4.3.2). ``full`` first withdraws
  everything that was concluded from there on (4.3.1), then emits again. Several such inputs of one push are
  redone together. ``auto`` chooses between these and a third way, see ``middleware.ordering.retraction``.
* *Gathering.* Corrections of a dense join wait for each other, see ``middleware.ordering.correction_batching``.
* *K+.* What is emitted before pure buffering would have emitted it says by how much (4.1), also when it is said
  again: by then less of the slack is left.
* *Purge.* Below ``final`` nothing can change: those inputs are folded into ``base`` and forgotten.

Layout: parallel lists. ``_keys`` and ``_events`` hold all inputs, ``_after`` and ``_outputs`` those up to AEP, so that
AEP is their length. Never happens: an input below the purged part; the engine turns those away.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import itemgetter

from middleware.consolidation import Said, differences
from middleware.detector import NOTHING, Detector, Step
from middleware.events import BEGINNING_US, END_US, Event, Key, Update
from middleware.isolation import Failed, Isolated, Report, mute, silent
from middleware.ordering.correction_batching import Gathering
from middleware.ordering.delay_samples import Delays
from middleware.ordering.policy import UnitSettings
from middleware.ordering.retraction import TRIAL_EVERY, first_way
from middleware.ordering.unit_buffer import FRESH, Input, UnitBuffer

#: What a snapshot tells; the detector is given anew, and what followed from the inputs follows again.
_TOLD = (
    "slack", "speculation", "clk_us", "newest_us", "counters", "way",
    "_settings", "_base", "_keys", "_events", "_doubles", "backset_us", "_delays", "_gathering",
)  # fmt: skip


#: Less than any key.
_FIRST: Key = (BEGINNING_US, -1, "", 0, "")

_KEY_OF = itemgetter(1)

#: What most inputs lead to.
NO_UPDATES: tuple[Update, ...] = ()

#: An update of an input with its key.
Given = tuple[Update, Key]


class OrderingUnit(UnitBuffer):
    """Sorts, releases and repairs the inputs of one detector (or of one key of a keyed one).

    Args:
        detector: the fold behind it.
        settings: slack, speculation and retraction.
        report: told of faults of the detector, and of its inputs.

    Attributes:
        slack, speculation: policies in force.
        clk_us: largest event time among the clock's inputs (000, section 3.2).
        newest_us: largest event time among its own inputs: the clock of a keyed unit.
        counters: what it has done since it began.
        backset_us: how far before its cause an output was dated at most.
        way: how it takes back; the engine moves it where retraction is automatic.
        unsettled: whether anything waits since the last run: inputs, or withdrawals of inputs.
        patient: releases nothing but what is complete, whatever slack and alpha say; the engine's to set.
    """

    def __init__(self, detector: Detector[object], settings: UnitSettings, report: Report = silent) -> None:
        self._fold = Isolated(detector, report)
        super().__init__(self._fold.initial(), report)
        self.slack = settings.slack.policy()
        self.speculation = settings.speculation.begin()
        self.clk_us = BEGINNING_US
        self.newest_us = BEGINNING_US
        self.way = first_way(settings.retraction)
        self.backset_us = 0
        self.unsettled = self.patient = False
        self._delays = Delays(each=self.slack.each)
        self._gathering = Gathering(self._fold.spec.correction_batch_us)
        self._settings = settings
        self._take(settings)

    def _take(self, settings: UnitSettings) -> None:
        self._settings = settings
        self._auto = settings.retraction == "auto"
        self._learns = self.slack.learns
        self._direct = self.slack.plain
        self._gathers = self._fold.spec.correction_batch_us > 0
        # A dense join whose premature output would be redone for every late input always waits the whole slack.
        self._waits = not self._fold.spec.speculative

    def configure(self, settings: UnitSettings, busy: float = 0.0) -> None:
        """Changes the policies of a running unit; what it holds stays. Takes effect at the next run.

        Args:
            settings: from now on.
            busy: share of the time that the engine used in its last span.
        """
        before = self._settings
        if settings.slack != before.slack:
            slack = settings.slack.policy()
            slack.succeed(self.slack.k_us)
            self.slack = slack
        if settings.speculation != before.speculation:
            self.speculation = settings.speculation.begin(busy)
        if settings.retraction != before.retraction:
            self.way = first_way(settings.retraction)
        self._take(settings)
        self._delays.choose(each=self.slack.each)

    @property
    def alpha(self) -> float:
        """Share of the slack that is waited for now."""
        return 1.0 if self._waits else self.speculation.alpha

    @property
    def speculates(self) -> bool:
        """Whether it holds anything that was given to the detector, or is kept aside."""
        return bool(self._after or self._doubles) or self._dirty is not None or len(self._gathering) > 0

    @property
    def waiting(self) -> int:
        """Inputs not yet given to the detector."""
        gathered = len(self._gathering.times_us()) if self._gathers else 0
        return len(self._keys) - len(self._after) + gathered

    def may_release(self, progress_us: int) -> bool:
        """Whether a unit that was offered nothing could have something to say though its clock stands."""
        return progress_us >= self.oldest_waiting_us or len(self._gathering) > 0 or self.slack.clock == "arrival"

    @property
    def oldest_waiting_us(self) -> int:
        """Event time of the first input that waits for its time to come; ``END_US`` if none does."""
        return self._keys[len(self._after)][0] if len(self._after) < len(self._keys) else END_US

    @property
    def delivers_late_us(self) -> int:
        """How late what is concluded here may come: K, and how far outputs have been dated back (004, III-B)."""
        return self.slack.k_us + self.backset_us

    def times_us(self) -> list[int]:
        """Event times of all inputs held or waiting, ascending."""
        return sorted([*(key[0] for key in self._keys), *self._gathering.times_us()])

    def work(
        self, given: Sequence[Given], clk_us: int | None, progress_us: int, now_us: int, *, settles: bool = False
    ) -> Sequence[Update]:
        """Takes what came and runs: :meth:`offer` of each and :meth:`run`, for a fraction of it where all is in order.

        That is the rule, and then there is nothing to be found, repaired or learned: it is put behind all the rest.

        Args:
            given: updates of inputs with their keys, in the order in which they came.
            clk_us: None for the unit's own clock, the newest of its inputs.
            progress_us, now_us, settles: as for :meth:`run`.
        """
        keys = self._keys
        in_order = self._direct
        last = keys[-1] if keys else _FIRST
        if in_order:
            if len(given) > 1 and all(update.diff > 0 for update, _ in given):
                given = sorted(given, key=_KEY_OF)  # what came together came in no order
            for update, key in given:
                if key <= last or update.diff < 0:
                    in_order = False
                    break
                last = key
        if not in_order:
            for update, key in given:
                self.offer(update, key)
            return self.run(self.newest_us if clk_us is None else clk_us, progress_us, now_us, settles=settles)
        at, events, delays, slack = len(self._after), self._events, self._delays, self.slack
        for update, key in given:
            keys.append(key)
            events.append(update.event)
            if key[0] - update.k_plus_us < delays.oldest_us:
                delays.oldest_us, delays.oldest = key[0] - update.k_plus_us, update.event
        newest_us = last[0]
        if newest_us > self.newest_us:
            self.newest_us = newest_us
        if clk_us is None:
            clk_us = self.newest_us
        if clk_us > self.clk_us:
            self.clk_us = clk_us
            if clk_us - delays.oldest_us > slack.k_us:
                delays.tell(slack, clk_us, now_us)
            else:
                delays.oldest_us, delays.oldest = END_US, None
        else:
            clk_us = self.clk_us
        if self._gathers and self._gathering:
            return self.run(clk_us, progress_us, now_us, settles=settles)
        if at == len(keys):
            return NO_UPDATES
        limit_us = progress_us
        if progress_us < newest_us and not self.patient:
            alpha = 1.0 if self._waits else self.speculation.alpha
            limit_us = slack.limit_us(clk_us, progress_us, alpha) if alpha else max(clk_us, progress_us)
        if keys[at][0] > limit_us:
            self.unsettled = True
            return NO_UPDATES
        updates: list[Update] = []
        self._release(limit_us, clk_us, updates)
        self.unsettled = len(self._after) < len(keys)
        return updates

    def offer(self, update: Update, key: Key) -> None:
        """Takes an update of an input; nothing is emitted before :meth:`run`."""
        event = update.event
        if update.diff > 0:
            ts_us = key[0]
            if ts_us > self.newest_us:
                self.newest_us = ts_us
            if self._learns != "never":
                self._delays.note(ts_us - update.k_plus_us, event)
        if self._gathers and self._after and key <= self._keys[len(self._after) - 1]:
            self._gathering.put(update, key)
        else:
            self._put(event, update.diff, key)

    def _put(self, event: Event, diff: int, key: Key) -> None:
        """Takes an input to its place, or out of it."""
        if diff < 0:
            self._remove(event, key)
            return
        keys = self._keys
        if keys and key <= keys[-1]:
            if self._insert(event, key) and key[0] + self.slack.k_us <= self.clk_us:
                self.counters.late += 1
        else:
            keys.append(key)
            self._events.append(event)

    def run(self, clk_us: int, progress_us: int, now_us: int, *, settles: bool = False) -> list[Update]:
        """Repairs what is dirty, then releases what is due.

        Args:
            clk_us: the unit's clock, the largest event time among its clock kinds.
            progress_us: event time up to which (inclusive) its inputs are complete.
            now_us: arrival time of the push.
            settles: whether what is gathered is to be corrected, due or not.

        Returns:
            Updates of the detector's outputs, in the order in which they became known.
        """
        moved = clk_us > self.clk_us
        if moved:
            self.clk_us = clk_us
        slack, learns = self.slack, self._learns
        by_arrival = slack.clock == "arrival"
        if learns == "before" and (moved or by_arrival):
            self._delays.tell(slack, self.clk_us, now_us)
        clock_us = now_us if by_arrival else self.clk_us
        updates: list[Update] = []
        if self._gathers and self._gathering:
            for update, key in self._gathering.take(now_us, settles=settles):
                self._put(update.event, update.diff, key)
        if self._dirty is not None or self._gone:
            self._repair(clock_us, updates)
        if len(self._after) < len(self._keys):
            limit_us = progress_us
            if progress_us < self._keys[-1][0] and not self.patient:
                alpha = 1.0 if self._waits else self.speculation.alpha
                limit_us = slack.limit_us(clock_us, progress_us, alpha)
            self._release(limit_us, clock_us, updates)
        if learns == "after" and (moved or by_arrival):
            self._delays.tell(slack, self.clk_us, now_us)
        self.unsettled = len(self._after) < len(self._keys) or len(self._gathering) > 0
        return updates

    def fold(self, given: Sequence[Input], below_us: int) -> list[Event]:
        """Gives all inputs dated before ``below_us`` to the detector and keeps only the state: nothing changes there.

        Args:
            given: new inputs, in any order.
            below_us: nothing dated before it comes or goes any more.

        Returns:
            What the detector concluded, in order.
        """
        due = self._due(given, below_us)
        self.unsettled = len(self._keys) > 0
        concluded: list[Event] = []
        if not due:
            return concluded
        state, fold = self._base, self._fold
        step = fold.stepper(state)
        for _, event in due:
            try:
                state, outputs = step(state, event)
                if outputs:
                    outputs = fold.checked(event, outputs)
            except Exception as error:
                state, outputs, step = fold.raised(event, error), NOTHING, mute
            for out in outputs:
                concluded.append(out)
                if event.ts_us - out.ts_us > self.backset_us:
                    self.backset_us = event.ts_us - out.ts_us
        self._base = state
        self.counters.stepped += len(due)
        self.newest_us = max(self.newest_us, due[-1][0][0])
        return concluded

    def repeat_steps(self, steps: int) -> list[Step[object]]:
        """Gives the last inputs, at most so many, to the detector again; what they led to now, oldest first."""
        step, last = self._fold.quiet.step, len(self._after)
        return [step(self._state_before(at), self._events[at]) for at in range(max(0, last - steps), last)]

    def agrees(self, rehearsed: Sequence[Step[object]]) -> bool:
        """Whether that is what they had led to before: if not, the detector is not pure."""
        same, first = self._fold.quiet.same, len(self._after) - len(rehearsed)
        held = zip(self._after[first:], self._outputs[first:], strict=True)
        return all(
            same(now[0], state) and same(now[1], said) for now, (state, said) in zip(rehearsed, held, strict=True)
        )

    def state(self) -> dict[str, object]:
        """All that must survive a restart, but the detector.

        Of the inputs kept for repair only the events are told: what followed from them follows again, because a
        detector is pure. That makes a snapshot several times smaller and faster, for some steps at a restart.
        """
        assert self._dirty is None, "a unit is snapshot between two runs"
        return {"released": len(self._after)} | {name: getattr(self, name) for name in _TOLD}

    def resume(self, state: Mapping[str, object]) -> None:
        """Goes on from what :meth:`state` gave; where the settings given to this unit differ, these count."""
        given = self._settings
        for name in _TOLD:
            setattr(self, name, state[name])
        self._take(self._settings)
        self.configure(given)
        released = state["released"]
        assert isinstance(released, int)
        known = self._base
        for event in self._events[:released]:
            known, outputs = self._fold.step(known, event)
            self._after.append(known)
            self._outputs.append(outputs)
        self.unsettled = len(self._after) < len(self._keys) or len(self._gathering) > 0

    def _repair(self, clock_us: int, updates: list[Update]) -> None:
        """Redoes what is dirty and sends the difference, withdrawals first.

        Withdrawals go first because the redone stretch may emit at an earlier input what it used to emit at a
        later one; a unit above must not hold both.
        """
        counters = self.counters
        counters.repairs += 1
        redoes = self._dirty is not None and bool(self._fresh or self._stale)
        trial = redoes and self._auto and counters.repairs % TRIAL_EVERY[self.way] == 0
        way = "on-demand" if trial else self.way
        gone = self._gone
        came: list[Said] = []
        self._gone = []
        if redoes:
            assert self._dirty is not None
            first = bisect_left(self._keys, self._dirty)
            steps = counters.stepped + counters.redone
            if trial:
                counters.trial_sent_full += len(gone) + self._said_from(first)
            if way == "full":
                self._redo_all(first, gone, came)
            else:
                self._redo(first, gone, came, stops=way == "on-demand")
            if trial:  # on demand knows what the other ways would have come to: all steps and words from here on
                counters.trials += 1
                counters.trial_steps += counters.stepped + counters.redone - steps
                counters.trial_steps_full += len(self._after) - first
                counters.trial_sent_full += self._said_from(first)
            self._fresh = 0
            self._stale.clear()
        self._dirty = None
        if way != "full":
            gone, came = differences(gone, came, self._fold.same)
        if trial:
            counters.trial_sent += len(gone) + len(came)
        counters.retracted += len(gone)
        counters.repaired += len(came)
        for event in gone:
            updates.append(Update(event, -1))
        slack_us = self.slack.k_us - clock_us
        for ts_us, event in came:
            updates.append(Update(event, 1, max(0, ts_us + slack_us)))

    def _redo(self, at: int, gone: list[Event], came: list[Said], *, stops: bool) -> None:
        """Runs the detector again from the first dirty input on.

        Args:
            at: place of the first dirty input.
            gone: receives what no longer follows from the inputs.
            came: receives what follows now.
            stops: compare states, and go no further than anything differs.

        ``kept`` is the state that the next input had been given before: while redoing agrees with it and nothing
        dirty lies ahead, everything further on stands.
        """
        keys, events, after, all_outputs, stale = self._keys, self._events, self._after, self._outputs, self._stale
        last, left = len(after), self._fresh + len(stale)
        fresh = redone = 0
        state = kept = after[at - 1] if at else self._base
        fold = self._fold
        step, same = fold.stepper(state), fold.same
        while at < last:
            event = events[at]
            try:
                state, outputs = step(state, event)
                outputs = fold.checked(event, outputs) if outputs else NOTHING
            except Exception as error:
                state, outputs, step = fold.raised(event, error), NOTHING, mute
            known, before = after[at], all_outputs[at]
            if known is FRESH:
                fresh += 1
                left -= 1
            else:
                redone += 1
                kept = known
                if stale and keys[at] in stale:
                    left -= 1
            after[at] = state
            if (before or outputs) and not same(before, outputs):
                gone.extend(before)
                came.extend([(event.ts_us, out) for out in outputs])
                all_outputs[at] = outputs
            at += 1
            if stops and (state is kept or same(state, kept)):
                if not left:
                    break
                while after[at] is not FRESH and keys[at] not in stale:
                    at += 1
                state = kept = after[at - 1]
                step = fold.stepper(state)
        self.counters.stepped += fresh
        self.counters.redone += redone
        self.counters.compared += fresh + redone if stops else 0

    def _redo_all(self, at: int, gone: list[Event], came: list[Said]) -> None:
        """Runs the detector again over everything from ``at`` on, and takes nothing for granted."""
        after = self._after
        fresh = sum(state is FRESH for state in after[at:])
        self.counters.stepped += fresh
        self.counters.redone += len(after) - at - fresh
        state = self._state_before(at)
        for index in range(at, len(after)):
            event = self._events[index]
            state, outputs = self._fold.step(state, event)
            gone.extend(self._outputs[index])
            came.extend((event.ts_us, out) for out in outputs)
            after[index], self._outputs[index] = state, outputs

    def _release(self, limit_us: int, clock_us: int, updates: list[Update]) -> None:
        """Gives waiting inputs dated up to ``limit_us`` to the detector."""
        after, all_outputs = self._after, self._outputs
        at = len(after)
        end = len(self._keys) if self._keys[-1][0] <= limit_us else bisect_left(self._keys, (limit_us + 1,), at)
        if at == end:
            return
        state = after[at - 1] if at else self._base
        fold = self._fold
        step = mute if state.__class__ is Failed else fold.detector_step
        slack_us = self.slack.k_us - clock_us
        for event in self._events[at:end]:
            try:
                state, outputs = step(state, event)
                outputs = fold.checked(event, outputs) if outputs else NOTHING
            except Exception as error:
                state, outputs, step = fold.raised(event, error), NOTHING, mute
            after.append(state)
            all_outputs.append(outputs)
            if outputs:
                ts_us = event.ts_us
                k_plus_us = ts_us + slack_us if ts_us + slack_us > 0 else 0
                for out in outputs:
                    updates.append(Update(out, 1, k_plus_us))
                    if ts_us - out.ts_us > self.backset_us:
                        self.backset_us = ts_us - out.ts_us
        self.counters.stepped += end - at
