"""Source progress: how far the sources have told their story, and what of it nobody waits for any more.

Theory of operation
-------------------
Packets carry a sequence number per source, so the receiver can know what K-slack only guesses: a source that has
delivered everything up to packet k sends nothing older than the end of packet k, and if it keeps a cadence nothing
before its next beat (:mod:`middleware.sources.cadence`). The *progress* of a raw kind is the least such time among its
live
sources: the frontier up to which inputs are complete. It serves for release.

* *Sources are learned.* Until no more of them are to be expected, progress keeps behind arrival time by what
  newcomers take (:mod:`middleware.sources.source_discovery`).
* *Silence and gaps.* A source that owes its next packet for ``patience_us`` is not waited for until it is heard
  again, and its pause teaches no cadence; a gap of the same age is passed over. Where sources have fallen silent at
  the same packet number, as those of one recording do, one that stands at that number is given up after two periods.
* *Memory.* Of sources long silent ``GONE_REMEMBERED`` a kind are remembered, and all that have told anything above
  final. What comes of another afterwards is new if it is dated above final, as it would be anyway; below it nobody
  knows any more whether it is a double, and it is recorded as lost.
* *End marks.* A packet that speaks until ``END_US`` is its source's last word.
* *Sources without a beat.* What people say (``unpaced_kinds``) comes when it comes. Nobody waits for the next word, and
  none moves clock, progress or final; only doubled words and those dated below final or far ahead are told apart.
* *Clocks.* An event does not come before it happens. A source dated further ahead of arrival than all others by more
  than ``jump_us``, or as much behind, is *astray*: it moves neither clock nor progress, and what it dates ahead is
  turned away. It is isolated until its dates fit again; when those astray outnumber the others, they are believed.

*Final* is a stronger word than progress: below it nothing will be taken in any more, so nothing can change. It goes
by what was told, not by cadence, and trails the newest event by ``allowed_lateness_us``: that is the bound of memory.
What
comes later than final is recorded as lost. A new source may start anywhere above it. A host that knows what is still to
come may promise more (:meth:`SourceProgress.promise`).

Work per packet does not depend on how many sources there are: each queue below holds every live source once, at a
place that may be too low, and only the first is ever corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush, heapreplace

import msgspec

from middleware.events import BEGINNING_US, END_US, Arrival, Event
from middleware.sources.source_discovery import FIRST_PACKETS, SourceDiscovery
from middleware.sources.source_state import SourceState

__all__ = ["ProgressSettings", "SourceProgress", "Verdict"]

#: How often final moves: more costs time, less costs memory.
CHECKS_IN_MEMORY = 10

#: Packet numbers remembered at which sources fell silent, and the least that counts as the length of a recording.
ENDS_REMEMBERED, END_LEAST = 64, 32

#: Sources no longer live that are remembered, by kind.
GONE_REMEMBERED = 1_024

#: As long as a hold for newcomers moves the frontier by itself, it is looked at so often (arrival time).
HOLD_STEP_US = 1_000

#: Arrival and event time have a common zero if the freshest event was not older than this.
COMMON_ZERO_US = 3_600_000_000

_NO_EVENT = Event("", BEGINNING_US, "")


class Verdict(Enum):
    """What becomes of an arrival. One that is neither new nor a duplicate is lost; the value says why.

    ``LATE``: dated below final. ``PROMISED`` and ``HELD``: so too, but only because it was promised that nothing so old
    would come, or because the engine moved final on before its time.
    ``ASTRAY``: its source's clock is ahead of all others'. ``CROWD``: it is of one source more than there may be.
    """

    NEW = "new"
    DUPLICATE = "duplicate"
    BEYOND_ALLOWED_LATENESS = "memory"
    BELOW_PROMISE = "promise"
    BELOW_EARLY_FINAL = "held"
    CLOCK_OUTLIER = "clock"
    TOO_MANY_SOURCES = "crowd"


@dataclass(frozen=True)
class ProgressSettings:
    """How long sources are waited for. Figures and their choice: docs/slack.md.

    Attributes:
        patience_us: how long (arrival time) a silent source or a missing packet is waited for; never longer than the
            memory of the engine.
        discovery_us: quiet after which no new source is expected any more.
        sources: how many sources there are, if that is known.
        clock_kinds: raw kinds that set the clock (004, II-E1); all if empty. When they are silent for
            ``patience_us``, the newest event of any kind does.
        unpaced_kinds: raw kinds whose sources keep no cadence and say no last word.
        max_sources: how many names are taken in ever; what comes under further ones is lost. A keyed detector keeps a
            state for each name, so that without a bound bad input makes the engine grow. None for no bound.
    """

    patience_us: int = 7_000_000
    discovery_us: int = 6_000_000
    sources: int | None = None
    clock_kinds: tuple[str, ...] = ()
    unpaced_kinds: tuple[str, ...] = ()
    max_sources: int | None = None


class _Queue:
    """Live sources, the one with the least value first. ``slot`` names the attribute with a source's place here."""

    def __init__(self, value: str, slot: str) -> None:
        self._value, self._slot = value, slot
        self._heap: list[tuple[int, int, SourceState]] = []
        self._count = 0

    def put(self, source: SourceState) -> None:
        """Takes in a source, or gives it a lower place."""
        value = getattr(source, self._value)
        setattr(source, self._slot, value)
        self._count += 1
        heappush(self._heap, (value, self._count, source))

    def first(self) -> SourceState | None:
        """The source with the least value; None if no source is live."""
        heap, value_of, slot = self._heap, self._value, self._slot
        while heap:
            place, number, source = heap[0]
            if not source.live or place != getattr(source, slot):
                heappop(heap)
                continue
            value = getattr(source, value_of)
            if value <= place:
                return source
            setattr(source, slot, value)
            heapreplace(heap, (value, number, source))
        return None


class _Kind:
    """The sources of one raw kind."""

    def __init__(self) -> None:
        self.sources: dict[str, SourceState] = {}
        self.bounds = _Queue("bound_us", "bound_key")
        self.told = _Queue("until_us", "told_key")
        self.ends: dict[int, None] = {}
        #: How many sources there must be for another look at who is gone.
        self.crowd = 2 * GONE_REMEMBERED


class SourceProgress:
    """Progress of all sources of all raw kinds.

    Args:
        raw_kinds: kinds that come from outside.
        allowed_lateness_us: how long (event time behind the newest event) a late input is waited for before the
            world below it
            is declared final.
        settings: how long sources are waited for.

    Attributes:
        clk_us: largest event time that came in, of the clock's kinds (004, II-E1).
        newest_us: the same of all kinds.
        final_us: below it nothing can change.
        progress_us: by raw kind, event time up to which (inclusive) everything has been told.
        event: the last arrival taken in, with its number counted on where its source's counter wrapped.
    """

    def __init__(
        self, raw_kinds: tuple[str, ...], allowed_lateness_us: int, settings: ProgressSettings | None = None
    ) -> None:
        assert allowed_lateness_us > 0, "the bound of memory must be positive"
        settings = settings or ProgressSettings()
        self.allowed_lateness_us = allowed_lateness_us
        self.clk_us = self.newest_us = BEGINNING_US
        self.final_us = BEGINNING_US
        self.progress_us: dict[str, int] = {}
        self.event = _NO_EVENT
        self._patience_us = min(settings.patience_us, allowed_lateness_us)
        self._newcomers = SourceDiscovery(settings.discovery_us, self._patience_us, settings.sources)
        self._clock_kinds = frozenset(settings.clock_kinds)
        self._unpaced = frozenset(settings.unpaced_kinds)
        self._sources_most = settings.max_sources
        self._admitted: set[tuple[str, str]] = set()
        self._clock_heard_us = BEGINNING_US
        self._kinds = {kind: _Kind() for kind in raw_kinds}
        self._stale: set[str] = set()
        self._known = self._live = self._astray = 0
        #: Greatest event time less arrival time of those believed: since who is behind is believed, and ever.
        self._lead_us = self._lead_most_us = self._ahead_us = BEGINNING_US
        self._common_zero = False
        self._next_check_us = BEGINNING_US
        self._promised_us = BEGINNING_US
        self._due_us = END_US

    def offer(self, arrival: Arrival, now_us: int) -> Verdict:
        """Judges an arrival and, if it is new, moves clock and progress."""
        event = arrival.event
        ts_us, kind = event.ts_us, self._kinds[event.kind]
        if event.kind in self._unpaced:
            return self._hear(event, kind, now_us)
        source = kind.sources.get(event.source)
        if source is None:
            if not self._admits(event):
                return Verdict.TOO_MANY_SOURCES
            source = kind.sources[event.source] = SourceState(event.seq, now_us)
            self._known += 1
            self._newcomers.hear(now_us)
        lead_us = ts_us - now_us
        ahead = lead_us > self._ahead_us
        source.heard_us = now_us
        seq = event.seq + source.base
        if seq != source.next_seq or source.base or source.refused:
            if not ahead:
                seq = source.number(event.seq, ts_us)
            if source.has_taken(seq):
                return Verdict.DUPLICATE
        if ahead or lead_us < self._lead_us - self.allowed_lateness_us:
            self._doubt(event.kind, source, lead_us)
            ahead = ahead and source.astray
        else:
            if lead_us > self._lead_us:
                self._believe(lead_us)
            if source.astray:
                source.astray = False
                self._astray -= 1
                source.pass_over(seq)
        if ahead:
            source.turn_away(seq)
            return Verdict.CLOCK_OUTLIER
        if ts_us < self.final_us:
            source.refuse(seq, ts_us)
            return self._too_late(ts_us)
        until_us = arrival.until_us
        self._take(event.kind, kind, source, seq, ts_us, until_us if until_us > ts_us else ts_us, now_us)
        self.event = event if seq == event.seq else msgspec.structs.replace(event, seq=seq)
        return Verdict.NEW

    def settle(self, now_us: int) -> None:
        """Brings ``progress_us`` up to date with what was offered and with the time that has passed."""
        if self._clock_kinds and now_us - self._clock_heard_us > self._patience_us:
            self.clk_us = max(self.clk_us, self.newest_us)
        hold_us = self._newcomers.hold_us(now_us)
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

    def next_change_us(self) -> int:
        """Arrival time at which progress may move though nothing arrives, as of the last :meth:`settle`."""
        return self._due_us

    def source_state(self, kind: str, source: str) -> SourceState | None:
        """Progress of one source; None if it has sent nothing of ``kind`` yet."""
        return self._kinds[kind].sources.get(source)

    def check(self, now_us: int) -> bool:
        """Moves final on; True if it moved.

        Runs its work ``CHECKS_IN_MEMORY`` times per ``allowed_lateness_us`` of arrival time, whatever the rate of
        calls, and
        not before the first ``allowed_lateness_us`` have shown which clocks are right.
        """
        if now_us < self._next_check_us:
            return False
        first = self._next_check_us == BEGINNING_US
        self._next_check_us = now_us + (
            self.allowed_lateness_us if first else self.allowed_lateness_us // CHECKS_IN_MEMORY
        )
        if first:
            return False
        final_us = self.newest_us - self.allowed_lateness_us
        for kind in self._kinds.values():
            source = kind.told.first()
            if source is not None and source.until_us < final_us:
                final_us = source.until_us
        if final_us <= self.final_us:
            return False
        self.final_us = final_us
        return True

    def promise(self, complete_us: int) -> bool:
        """Nothing dated before ``complete_us`` comes any more, so it is final; True if final moved."""
        self._promised_us = complete_us
        if complete_us <= self.final_us:
            return False
        self.final_us = complete_us
        return True

    def forget(self, now_us: int) -> bool:
        """Forgets sources long silent of whom nothing can change any more; True if there were any.

        To be called when final has moved. Looks at all sources of a kind only when many are new since the last look.
        """
        known = self._known
        for kind in self._kinds.values():
            if len(kind.sources) >= kind.crowd:
                self._forget_gone(kind, now_us)
        return self._known < known

    def _forget_gone(self, kind: _Kind, now_us: int) -> None:
        silent_us = now_us - self._patience_us
        gone = [(s.heard_us, name) for name, s in kind.sources.items() if not s.live and s.heard_us < silent_us]
        for _, name in sorted(gone)[: max(0, len(gone) - GONE_REMEMBERED)]:
            if kind.sources[name].newest_us < self.final_us:
                self._astray -= kind.sources.pop(name).astray
                self._known -= 1
        kind.crowd = len(kind.sources) + GONE_REMEMBERED

    def end(self) -> None:
        """The stream is over: everything is final."""
        self.final_us = END_US
        for kind in self._kinds:
            self.progress_us[kind] = END_US

    def _admits(self, event: Event) -> bool:
        """Whether a name not heard of, or forgotten since, may be one of the sources."""
        if self._sources_most is None:
            return True
        name = event.kind, event.source
        if name not in self._admitted and len(self._admitted) >= self._sources_most:
            return False
        self._admitted.add(name)
        return True

    def _hear(self, event: Event, kind: _Kind, now_us: int) -> Verdict:
        """Judges a word of a source without a beat; nothing else follows from it."""
        ts_us, seq = event.ts_us, event.seq
        source = kind.sources.get(event.source)
        if source is None:
            if not self._admits(event):
                return Verdict.TOO_MANY_SOURCES
            source = kind.sources[event.source] = SourceState(seq, now_us)
        if source.has_taken(seq):
            return Verdict.DUPLICATE
        if self._ahead_us != BEGINNING_US and ts_us - now_us > self._ahead_us:
            source.turn_away(seq)
            return Verdict.CLOCK_OUTLIER
        if ts_us < self.final_us:
            source.refuse(seq, ts_us)
            return self._too_late(ts_us)
        source.take(seq, ts_us, ts_us, now_us)
        self.event = event
        return Verdict.NEW

    def _too_late(self, ts_us: int) -> Verdict:
        """Why a packet dated below final is not taken in."""
        if ts_us < self.newest_us - self.allowed_lateness_us:
            return Verdict.BEYOND_ALLOWED_LATENESS
        return Verdict.BELOW_PROMISE if ts_us < self._promised_us else Verdict.BELOW_EARLY_FINAL

    def _take(
        self, name: str, kind: _Kind, source: SourceState, seq: int, ts_us: int, until_us: int, now_us: int
    ) -> None:
        """Takes a new packet in."""
        if not source.live:
            # What it did while nobody waited for it is no beat: a pause of an hour does not foretell another.
            source.cadence.skip()
        if source.taken < FIRST_PACKETS:
            self._newcomers.learn(now_us - ts_us)
        if source.take(seq, ts_us, until_us, now_us):
            self._stale.add(name)
        if source.live:
            if source.bound_us < source.bound_key:
                kind.bounds.put(source)
            if source.until_us < source.told_key:
                kind.told.put(source)
        elif source.astray:
            return
        else:
            self._enliven(name, kind, source, seq)
        told_us = ts_us if until_us >= END_US else until_us
        if told_us > self.newest_us:
            self.newest_us = told_us
        if not self._clock_kinds or name in self._clock_kinds:
            self._clock_heard_us = now_us
            if told_us > self.clk_us:
                self.clk_us = told_us

    def _enliven(self, name: str, kind: _Kind, source: SourceState, seq: int) -> None:
        """A source is heard for the first time, or again."""
        kind.ends.pop(seq - 1, None)
        source.live = True
        self._live += 1
        kind.bounds.put(source)
        kind.told.put(source)
        self._stale.add(name)

    def _evaluate(self, name: str, kind: _Kind, limit_us: int, now_us: int) -> None:
        """Gives up who has been waited for long enough, and finds the least bound of the others."""
        while (source := kind.bounds.first()) is not None and source.bound_us < END_US:
            deadline_us = self._deadline_us(kind, source)
            if now_us <= deadline_us:
                self._due_us = min(self._due_us, deadline_us + 1)
                break
            if not source.give_up_gap(now_us - self._patience_us):
                self._fall_silent(kind, source)
        told_us = self.newest_us if source is None else source.bound_us
        if limit_us < told_us:
            told_us = limit_us
            self._due_us = min(self._due_us, now_us + HOLD_STEP_US)
        self.progress_us[name] = told_us

    def _deadline_us(self, kind: _Kind, source: SourceState) -> int:
        """Arrival time up to which the next packet of a source is waited for.

        However slow its beat, not for longer than memory and patience: who is waited for holds final back.
        """
        if source.ahead:
            return source.waited_since_us() + self._patience_us
        period_us = min(int(source.cadence.period_us), self.allowed_lateness_us)
        if period_us and source.next_seq - 1 in kind.ends:
            return source.heard_us + min(2 * period_us, self._patience_us)
        return source.heard_us + period_us + self._patience_us

    def _fall_silent(self, kind: _Kind, source: SourceState) -> None:
        source.live = False
        self._live -= 1
        if source.taken >= END_LEAST:
            kind.ends[source.next_seq - 1] = None
            if len(kind.ends) > ENDS_REMEMBERED:
                del kind.ends[next(iter(kind.ends))]

    def _doubt(self, name: str, source: SourceState, lead_us: int) -> None:
        """A packet is dated further from its arrival than memory reaches: isolates its source, or believes it.

        Ahead, it is believed when those astray outnumber the live ones; and at the beginning, where times have no
        common zero, because who came first may have been late. Behind, it may just be late: it is believed when most
        of all known are behind, and at the beginning, if who came first is dated in the future.
        """
        if not source.astray:
            source.astray = True
            self._astray += 1
            if source.live:
                source.live = False
                self._live -= 1
                self._stale.add(name)
        at_first = self.final_us == BEGINNING_US
        if lead_us > self._ahead_us:
            believed = self._astray > self._live or (at_first and not self._common_zero)
        elif at_first and lead_us <= self.allowed_lateness_us < self._lead_us:
            believed = True
            self.clk_us = self.newest_us = self._lead_most_us = BEGINNING_US
        else:
            believed = 2 * self._astray > self._known
        if not believed:
            return
        self._believe(lead_us)
        source.astray = False
        self._astray -= 1

    def _believe(self, lead_us: int) -> None:
        """Takes a lead for right, and finds from which on one is wrong.

        With a common zero of both times no event can be dated after its arrival, however late those were that have
        come so far. Without one, the greatest lead believed is all there is to go by.
        """
        self._lead_us = lead_us
        self._lead_most_us = most_us = max(self._lead_most_us, lead_us)
        self._common_zero = -COMMON_ZERO_US <= most_us <= 0
        self._ahead_us = self.allowed_lateness_us + (0 if self._common_zero else most_us)
