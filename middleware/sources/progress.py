"""Source progress: how far the sources have reported, and final, the watermark of the raw inputs.

Theory of operation
-------------------
Packets carry a sequence number per source, so the receiver can know what K-slack only guesses. A source that has
delivered every packet up to k sends nothing older than the end of packet k. If it keeps a cadence, it sends nothing
before its next beat (:mod:`middleware.sources.cadence`). The *progress* of a raw kind is the earliest such time among
its live sources: up to it the inputs are complete. Progress serves for release.

* *New sources.* While more of them are expected, progress stays behind arrival time by what a new source's first packet
  takes (:mod:`middleware.sources.source_discovery`).
* *Idle sources and gaps* are waited for during ``patience_us`` at most (:mod:`middleware.sources.idle`). With
  ``late_share`` a gap is given up once it is more likely to be lost than late (:mod:`middleware.sources.gap_chance`).
* *Targets.* A unit may accept a share of late inputs, or a longest wait. Then it waits for progress, or for a bound on
  the delays of each kind if that ends sooner (:mod:`middleware.sources.delay_bound`).
* *Restarts.* Where a source's counter wraps or restarts, an epoch begins, which is part of the identity of its packets
  (:mod:`middleware.sources.packet_record`). To know what is missing, packets are numbered on
  (:mod:`middleware.sources.source_state`).
* *Copies.* A packet whose counter and event time are known is a duplicate only if its content is proven to be the same.
  Of copies that differ one counts, whichever came first, and the other is lost.
* *Clock outliers* move neither clock nor progress (:mod:`middleware.sources.clock_outliers`).
* *End marks.* A packet that reports until ``END_US`` is its source's last.
* *Unpaced sources.* What people enter (``unpaced_kinds``) has no cadence. No unit waits for the next entry, and no
  entry moves clock, progress or final. Their copies share the number alone. Entries below final or far ahead are lost.

*Final* is stronger than progress: no packet dated below it is taken in any more, so nothing below it can change. Such a
packet is lost. Final follows what was reported, not the cadence. It also trails the newest event by
``allowed_lateness_us``, unless the sources are known (``final_follows_sources``, decisions 051, 061): then packets that
were given up, or that a new source sends about earlier, are lost if they arrive after all. A host that knows what is
still to come may promise more (:meth:`SourceProgress.promise`).

    event time   ------|-----------------------|-----------------|--------------->
                     final                  progress        newest event (clk)
      below final: lost      up to progress: complete      beyond: waits for K, or is released early
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from middleware.events import BEGINNING_US, END_US, Arrival, Event, Loss, Update
from middleware.sources.clock_outliers import ClockOutliers
from middleware.sources.delay_bound import DelayBound, ReleaseTarget
from middleware.sources.final_limit import NO_HOLD, FinalHold, FinalLimit, describe, following, trailing
from middleware.sources.gap_chance import GapChance
from middleware.sources.idle import IDLE_REMEMBERED, LOOKED_AT_US, KindSources
from middleware.sources.packet_record import EntryRecord, PacketRecord, same_content
from middleware.sources.source_discovery import FIRST_PACKETS, SourceDiscovery
from middleware.sources.source_state import SourceState

#: How often final advances: more often costs time, less often costs memory.
CHECKS_IN_LATENESS = 10

#: The same where final follows the sources, as an interval of arrival time.
CHECK_US = 50_000

#: How long (arrival time) final does not follow the sources after a packet that was numbered after, and dated before,
#: another one of its source: such numbers do not show what is missing.
DISTRUST_US = 60_000_000

#: While the wait for new sources moves progress by itself, progress is computed this often (arrival time).
HOLD_STEP_US = 1_000

#: A source forgets the content of its final packets once in so many packets; a power of two.
FORGET_EVERY = 32

_NO_EVENT = Event("", BEGINNING_US, "")


class Verdict(Enum):
    """Judgement of an arrival. One that is neither new nor a duplicate is lost; the value is the stored reason.

    Attributes:
        BEYOND_ALLOWED_LATENESS: dated below final.
        BELOW_PROMISE: the same, but only because the host promised that nothing so old would arrive.
        BELOW_REPORTED: the same, but only because final follows the sources, and they had reported later events.
        BELOW_EARLY_FINAL: the same, but only because the engine held too many inputs and advanced final early.
        CLOCK_OUTLIER: its source's clock is ahead of all others.
        COPY_DIFFERS: a copy of it with another content counts.
        UNNUMBERED: its number cannot be told from others: it is too large, its source restarted too often, or so many
            newer ones were retained that those of its time are forgotten.
        TOO_MANY_SOURCES: its source is one more than there may be.
    """

    NEW = "new"
    DUPLICATE = "duplicate"
    BEYOND_ALLOWED_LATENESS = "memory"
    BELOW_PROMISE = "promise"
    BELOW_REPORTED = "reported"
    BELOW_EARLY_FINAL = "held"
    CLOCK_OUTLIER = "clock"
    COPY_DIFFERS = "differs"
    UNNUMBERED = "number"
    TOO_MANY_SOURCES = "sources"


@dataclass(frozen=True)
class ProgressSettings:
    """How long sources are waited for. The figures and their choice: docs/slack.md.

    Attributes:
        patience_us: longest wait (arrival time) for a silent source or a missing packet; at most the allowed lateness.
        discovery_us: quiet (arrival time) after which no new source is expected.
        sources: number of sources, if it is known.
        clock_kinds: raw kinds that set the clock (004, II-E1); all if empty. When they are silent for ``patience_us``,
            the newest event of any kind sets it.
        unpaced_kinds: raw kinds whose sources keep no cadence and send no end mark.
        max_sources: how many names are ever taken in; packets of further ones are lost. A keyed detector keeps a state
            for each name, so that without a bound bad input makes the engine grow. None for no bound.
        final_follows_sources: True if the sources are known beforehand, so that what they have reported is final.
        late_share: share of packets that may arrive after they were given up, by which gaps are given up sooner; 0 to
            wait for all of them.
    """

    patience_us: int = 7_000_000
    discovery_us: int = 6_000_000
    sources: int | None = None
    clock_kinds: tuple[str, ...] = ()
    unpaced_kinds: tuple[str, ...] = ()
    max_sources: int | None = None
    final_follows_sources: bool = False
    late_share: float = 0.0


class SourceProgress:
    """Progress of all sources of all raw kinds.

    Args:
        raw_kinds: kinds that arrive from outside.
        allowed_lateness_us: how far final trails the newest event (event time).
        settings: how long sources are waited for.

    Attributes:
        clk_us: largest event time that arrived, of the clock's kinds (004, II-E1).
        newest_us: the same of all kinds.
        final_us: below it nothing can change.
        progress_us: by raw kind, event time up to which (inclusive) everything was reported.
        event: the last arrival taken in, under its identity.
        changes: of events that were taken in before: their identity, or the one that counts of copies that differ.
        replaced: after ``COPY_DIFFERS``, the event that the arrival replaced, and that is lost in its place.

    Raises:
        ValueError: the allowed lateness is not positive.
    """

    def __init__(
        self, raw_kinds: tuple[str, ...], allowed_lateness_us: int, settings: ProgressSettings | None = None
    ) -> None:
        if allowed_lateness_us <= 0:
            raise ValueError(f"the allowed lateness must be positive, not {allowed_lateness_us} us")
        settings = settings or ProgressSettings()
        self.allowed_lateness_us = allowed_lateness_us
        self.clk_us = self.newest_us = BEGINNING_US
        self.final_us = BEGINNING_US
        self.progress_us: dict[str, int] = {}
        self.event = _NO_EVENT
        self.changes: list[Update] = []
        self.replaced: Event | None = None
        self._patience_us = min(settings.patience_us, allowed_lateness_us)
        self._discovery = SourceDiscovery(settings.discovery_us, self._patience_us, settings.sources)
        self._clocks = ClockOutliers(allowed_lateness_us)
        self._clock_kinds = frozenset(settings.clock_kinds)
        self._unpaced = frozenset(settings.unpaced_kinds)
        self._max_sources = settings.max_sources
        self._admitted: set[tuple[str, str]] = set()
        self._clock_arrival_us = BEGINNING_US
        self._kinds = {kind: KindSources(learns_silence=settings.final_follows_sources) for kind in raw_kinds}
        #: Kinds whose progress must be computed again.
        self._stale: set[str] = set()
        self._known = self._live = 0
        self._next_check_us = BEGINNING_US
        self._promised_us = BEGINNING_US
        self._due_us = END_US
        self._follows_sources = settings.final_follows_sources
        self._late_share = settings.late_share
        #: By target the bounds of the kinds, and by kind those of the targets.
        self._bounds: dict[ReleaseTarget, dict[str, DelayBound]] = {}
        self._bounds_of: dict[str, list[DelayBound]] = {}
        #: Arrival time from which the numbers of all sources are trusted; and how far final followed the sources.
        self._trusted_us = self._followed_us = self._next_purge_us = BEGINNING_US

    def offer(self, arrival: Arrival, now_us: int) -> Verdict:
        """Judge an arrival. If it is new, take it into ``event``, and advance the clock and the state of its source."""
        event = arrival.event
        ts_us, kind = event.ts_us, self._kinds[event.kind]
        if event.kind in self._unpaced:
            return self._offer_unpaced(event, kind, now_us)
        source = kind.sources.get(event.source)
        if source is None:
            if not self._admits(event):
                return Verdict.TOO_MANY_SOURCES
            gaps = GapChance(self._late_share, kind.gaps) if self._late_share else None
            source = kind.sources[event.source] = SourceState(event.seq, now_us, kind.first_base, gaps)
            self._known += 1
            self._discovery.add_source(now_us)
        clocks, lead_us = self._clocks, ts_us - now_us
        ahead = lead_us > clocks.ahead_us
        if now_us - source.last_arrival_us > LOOKED_AT_US:
            kind.end_silence(source, ts_us, now_us)
        source.last_arrival_us = now_us
        seq, record = event.seq + source.base, source.record
        if seq != source.next_seq or ts_us <= record.newest_us or source.base or record.refused:
            if (taken := record.find(event.seq, ts_us)) is not None:
                return self._judge_copy(record, taken, event)
            if record.refused and record.was_refused(event):
                return Verdict.DUPLICATE
            if seq == source.next_seq and ts_us < source.until_us and not source.base:
                self._trusted_us = now_us + DISTRUST_US
            if not ahead:
                seq = source.number(event.seq, ts_us)
        if ahead or lead_us < clocks.behind_us:
            self._judge_outlier(event.kind, source, lead_us)
            ahead = ahead and source.is_outlier
        else:
            if lead_us > clocks.lead_us:
                clocks.accept_lead(lead_us)
            if source.is_outlier:
                source.is_outlier = False
                clocks.outliers -= 1
                source.skip_to(seq)
        if ahead:
            record.note_refused(event)
            source.pass_over(seq)
            return Verdict.CLOCK_OUTLIER
        if ts_us < self.final_us or (taken := record.take(event, self.changes)) is None:
            record.note_refused(event)
            source.note_lost(seq, ts_us, now_us)
            return self._reason_below_final(ts_us) if ts_us < self.final_us else Verdict.UNNUMBERED
        until_us = arrival.until_us
        self._take(event.kind, kind, source, seq, ts_us, until_us if until_us > ts_us else ts_us, now_us)
        self.event = taken
        return Verdict.NEW

    def net_of(self, new: list[Event]) -> tuple[list[Event], list[Event]]:
        """Return which events a push asserts and which it withdraws, ``changes`` included, which are forgotten.

        Args:
            new: events taken in by this push. One that it withdraws again is not asserted.
        """
        if not self.changes:
            return new, []
        asserted = {id(event): event for event in new}
        withdrawn: list[Event] = []
        for update in self.changes:
            if update.diff > 0:
                asserted[id(update.event)] = update.event
            elif asserted.pop(id(update.event), None) is None:
                withdrawn.append(update.event)
        self.changes = []
        return list(asserted.values()), withdrawn

    def loss_of(self, arrival: Arrival, verdict: Verdict) -> Loss:
        """Return the loss that the last verdict states: of the arrival, or of the event that it replaced."""
        replaced = self.replaced if verdict is Verdict.COPY_DIFFERS else None
        return Loss(replaced or arrival.event, arrival.until_us, verdict.value)

    def update_progress(self, now_us: int) -> None:
        """Compute ``progress_us`` again after the arrivals of a push, and for the arrival time that has passed."""
        if self._clock_kinds and now_us - self._clock_arrival_us > self._patience_us:
            self.clk_us = max(self.clk_us, self.newest_us)
        hold_us = self._discovery.hold_us(now_us)
        limit_us = now_us - hold_us if hold_us else END_US
        if hold_us or now_us >= self._due_us:
            self._due_us = END_US
            for name, kind in self._kinds.items():
                if kind.sources and name not in self._unpaced:
                    self._evaluate(name, kind, limit_us, now_us)
        else:
            for name in self._stale:
                self._evaluate(name, self._kinds[name], limit_us, now_us)
        self._stale.clear()

    def follow(self, target: ReleaseTarget) -> None:
        """Learn the bounds of a target from now on."""
        if target not in self._bounds:
            self._bounds[target] = {name: DelayBound(target) for name in self._kinds if name not in self._unpaced}
            for name, bound in self._bounds[target].items():
                self._bounds_of.setdefault(name, []).append(bound)
            for name in self._unpaced:
                self._bounds_of.setdefault(name, [])

    def waits_us(self, target: ReleaseTarget) -> dict[str, int]:
        """Return by kind how long after its event time an input is waited for, for a target that is followed."""
        return {name: bound.wait_us for name, bound in self._bounds[target].items()}

    def next_change_us(self) -> int:
        """Arrival time at which progress may advance though nothing arrives, as of the last :meth:`update_progress`."""
        return self._due_us

    def source_state(self, kind: str, source: str) -> SourceState | None:
        """State of one source; None if it has sent nothing of ``kind`` yet."""
        return self._kinds[kind].sources.get(source)

    def advance_final(self, now_us: int) -> bool:
        """Advance final; True if it advanced.

        Final advances ``CHECKS_IN_LATENESS`` times per ``allowed_lateness_us`` of arrival time, or once in ``CHECK_US``
        where it follows the sources, whatever the rate of calls, and not before the first ``allowed_lateness_us`` have
        shown which clocks are right.
        """
        if now_us < self._next_check_us:
            return False
        lateness_us = self.allowed_lateness_us
        if self._next_check_us == BEGINNING_US:
            self._next_check_us = now_us + lateness_us
            return False
        interval_us = lateness_us // CHECKS_IN_LATENESS
        self._next_check_us = now_us + (min(interval_us, CHECK_US) if self._follows_sources else interval_us)
        final_us = self._final_limit(now_us).final_us
        if final_us <= self.final_us:
            return False
        self.final_us = final_us
        if self._follows_sources and now_us >= self._trusted_us:
            self._followed_us = final_us
        return True

    def final_hold(self, now_us: int) -> FinalHold:
        """Return what holds final back at ``now_us``; nothing does before the first advance and after a promise."""
        if self.final_us in (self._promised_us, END_US):
            return NO_HOLD
        return describe(self._final_limit(now_us), now_us, self._patience_us, self.allowed_lateness_us)

    def _final_limit(self, now_us: int) -> FinalLimit:
        """Return how far final may advance, and why no further."""
        oldest_us, kinds = self.newest_us - self.allowed_lateness_us, self._kinds.values()
        if not self._follows_sources or now_us < self._trusted_us:
            return trailing(kinds, FinalLimit(oldest_us, "distrust" if self._follows_sources else "lateness"))
        return following(kinds, oldest_us, self.newest_us, self._discovery.hold_us(now_us), self._patience_us, now_us)

    def is_purge_due(self, now_us: int) -> bool:
        """True if units are to forget what is final, which costs more than an advance where final follows the sources.

        To be called when final has advanced.
        """
        if self._follows_sources and now_us < self._next_purge_us:
            return False
        self._next_purge_us = now_us + self.allowed_lateness_us // CHECKS_IN_LATENESS
        return True

    def promise(self, complete_us: int) -> bool:
        """Accept the promise that nothing dated before ``complete_us`` arrives any more; True if final advanced."""
        self._promised_us = complete_us
        if complete_us <= self.final_us:
            return False
        self.final_us = complete_us
        return True

    def forget(self, now_us: int) -> bool:
        """Forget sources long idle of which nothing can change any more; True if there were any.

        To be called when final has advanced.
        """
        known = self._known
        for kind in self._kinds.values():
            kind.forget_content(self.final_us)
            for source in kind.forget_idle(now_us - self._patience_us, self.final_us):
                self._clocks.outliers -= source.is_outlier
                self._known -= 1
        return self._known < known

    @property
    def reported_us(self) -> int:
        """Event time up to which (inclusive) the sources of all kinds that have any have reported."""
        return min(self.progress_us.values(), default=BEGINNING_US)

    def end(self) -> None:
        """End the stream: everything is final."""
        self.final_us = END_US
        for kind in self._kinds:
            self.progress_us[kind] = END_US

    def _admits(self, event: Event) -> bool:
        """True if the limit of sources admits a name that is new or was forgotten."""
        if self._max_sources is None:
            return True
        name = event.kind, event.source
        if name not in self._admitted and len(self._admitted) >= self._max_sources:
            return False
        self._admitted.add(name)
        return True

    def _offer_unpaced(self, event: Event, kind: KindSources, now_us: int) -> Verdict:
        """Judge an arrival of an unpaced source; it moves neither clock nor progress."""
        ts_us = event.ts_us
        record = kind.entries.get(event.source)
        if record is None:
            if not self._admits(event) or len(kind.entries) >= IDLE_REMEMBERED:
                return Verdict.TOO_MANY_SOURCES
            record = kind.entries[event.source] = EntryRecord()
        if (taken := record.find(event.seq)) is not None:
            return self._judge_copy(record, taken, event)
        if record.was_refused(event):
            return Verdict.DUPLICATE
        ahead_us = self._clocks.ahead_us
        verdict = Verdict.NEW
        if ahead_us != BEGINNING_US and ts_us - now_us > ahead_us:
            verdict = Verdict.CLOCK_OUTLIER
        elif ts_us < self.final_us:
            verdict = self._reason_below_final(ts_us)
        elif record.is_closed(event.seq):
            verdict = Verdict.UNNUMBERED
        if verdict is not Verdict.NEW:
            record.note_refused(event)
            return verdict
        record.take(event)
        self.event = event
        return verdict

    def _judge_copy(self, record: PacketRecord | EntryRecord, taken: Event, event: Event) -> Verdict:
        """Judge an arrival that has the number of one that was taken in."""
        if same_content(taken, event) or record.was_refused(event):
            return Verdict.DUPLICATE
        self.replaced = None
        if min(taken.ts_us, event.ts_us) >= self.final_us and record.replace(taken, event, self.changes):
            self.replaced = event = taken
        record.note_refused(event)
        return Verdict.COPY_DIFFERS

    def _reason_below_final(self, ts_us: int) -> Verdict:
        """Why a packet dated below final is lost."""
        if ts_us < self.newest_us - self.allowed_lateness_us:
            return Verdict.BEYOND_ALLOWED_LATENESS
        if ts_us < self._promised_us:
            return Verdict.BELOW_PROMISE
        return Verdict.BELOW_REPORTED if ts_us < self._followed_us else Verdict.BELOW_EARLY_FINAL

    def _take(
        self, name: str, kind: KindSources, source: SourceState, seq: int, ts_us: int, until_us: int, now_us: int
    ) -> None:
        """Take in a new packet."""
        if not source.live:
            # A pause of an idle source is no part of its cadence: a pause of an hour does not foretell another.
            source.cadence.skip()
        if source.taken < FIRST_PACKETS:
            self._discovery.learn(now_us - ts_us)
        if source.take(seq, ts_us, until_us, now_us):
            self._stale.add(name)
        if not source.taken & (FORGET_EVERY - 1):
            source.record.forget(self.final_us)
            if source.gaps is not None:
                source.gaps.count(FORGET_EVERY)
        if source.live:
            if source.bound_us < source.bound_key:
                kind.by_bound.put(source)
            if source.until_us < source.until_key:
                kind.by_until.put(source)
        elif source.is_outlier:
            return
        else:
            kind.make_live(source, seq)
            self._live += 1
            self._stale.add(name)
        reported_us = ts_us if until_us >= END_US else until_us
        if reported_us > self.newest_us:
            self.newest_us = reported_us
        if not self._clock_kinds or name in self._clock_kinds:
            self._clock_arrival_us = now_us
            if reported_us > self.clk_us:
                self.clk_us = reported_us
        if self._bounds:
            settled = not self._discovery.hold_us(now_us)
            for bound in self._bounds_of[name]:
                bound.take(now_us - ts_us, now_us, settled=settled)

    def _evaluate(self, name: str, kind: KindSources, limit_us: int, now_us: int) -> None:
        """Give up sources that were waited for long enough, and compute the progress of a kind from the others."""
        while (source := kind.by_bound.first()) is not None and source.bound_us < END_US:
            deadline_us = kind.deadline_us(source, self._patience_us, self.allowed_lateness_us, now_us)
            if now_us <= deadline_us:
                self._due_us = min(self._due_us, deadline_us + 1)
                break
            if not source.give_up_gap(now_us - source.gap_patience_us(self._patience_us)):
                kind.make_idle(source)
                self._live -= 1
        progress_us = self.newest_us if source is None else source.bound_us
        if limit_us < progress_us:
            progress_us = limit_us
            self._due_us = min(self._due_us, now_us + HOLD_STEP_US)
        self.progress_us[name] = progress_us

    def _judge_outlier(self, name: str, source: SourceState, lead_us: int) -> None:
        """Isolate the source of a packet with a lead outside the bounds, or accept its lead as right."""
        clocks = self._clocks
        if not source.is_outlier:
            source.is_outlier = True
            clocks.outliers += 1
            if source.live:
                source.live = False
                self._live -= 1
                self._stale.add(name)
        at_first = self.final_us == BEGINNING_US
        if at_first and clocks.began_in_future(lead_us):
            self.clk_us = self.newest_us = BEGINNING_US
        elif not clocks.should_accept(lead_us, self._live, self._known, at_first=at_first):
            return
        clocks.accept_lead(lead_us)
        source.is_outlier = False
        clocks.outliers -= 1
