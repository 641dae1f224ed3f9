"""Idle sources: how long a silent source or a missing packet is waited for, and which sources are forgotten.

Theory of operation
-------------------
A source whose next packet is overdue by ``patience_us`` (arrival time) is *idle*: progress does not wait for it until
it sends again, and no cadence is learned from its pause. A gap in its numbers is given up after the same time. Where
sources fell silent at the same packet number, as those of one recording do, another one at that number is waited for
during two of its periods only.

A silent source either pauses, and will date its next packet after the pause, or its packets are *held up* on their way.
Where final follows the sources, the packets that ended silences tell: after ``LEARNED_US`` a source of that kind is
waited for half as long again as a packet was ever held up, at least ``SILENCE_US`` and at most the patience. Then it
holds final back no longer either (decision 061).

Of each raw kind ``IDLE_REMEMBERED`` idle sources are remembered, and all that have reported anything above final. A
packet of a forgotten source is new if it is dated above final. Below final it is recorded as lost, even if it is a
duplicate, because that cannot be known any more. Sources that are new after some were forgotten begin in an epoch of
their own, since one of them may be a forgotten one, and no identity is given twice.

Work per packet does not grow with the number of sources. Each queue holds every live source once, under a value that
may be too low; only the first is ever corrected.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace
from operator import attrgetter

from middleware.events import BEGINNING_US
from middleware.sources.gap_chance import GapCounts
from middleware.sources.packet_record import EPOCH, EntryRecord
from middleware.sources.source_state import SourceState

#: Packet numbers at which sources fell silent that are remembered, and the least number that counts as an end.
ENDS_REMEMBERED, MIN_END = 64, 32

#: Idle sources that are remembered, by kind.
IDLE_REMEMBERED = 1_024

#: How long (arrival time) the silences of a kind are watched before they count, and the least that one is waited for.
LEARNED_US, SILENCE_US = 30_000_000, 1_000_000

#: Shorter silences are not looked at: what they show asks for no longer wait than the least.
LOOKED_AT_US = 2 * SILENCE_US // 3


class LiveQueue:
    """Live sources, the one with the lowest value first.

    Args:
        value: attribute of a source by which it is sorted; it only grows, unless :meth:`put` is called.
        key: attribute of a source that holds its value in this queue.
    """

    def __init__(self, value: str, key: str) -> None:
        self._value, self._key = value, key
        self._heap: list[tuple[int, int, SourceState]] = []
        self._count = 0

    def put(self, source: SourceState) -> None:
        """Add a source, or lower its value."""
        value = getattr(source, self._value)
        setattr(source, self._key, value)
        self._count += 1
        heappush(self._heap, (value, self._count, source))

    def first(self) -> SourceState | None:
        """Return the source with the lowest value; None if no source is live."""
        heap, value_of, key_of = self._heap, self._value, self._key
        while heap:
            key, number, source = heap[0]
            if not source.live or key != getattr(source, key_of):
                heappop(heap)
                continue
            value = getattr(source, value_of)
            if value <= key:
                return source
            setattr(source, key_of, value)
            heapreplace(heap, (value, number, source))
        return None


class KindSources:
    """The sources of one raw kind.

    Args:
        learns_silence: True to learn how long a silent source is waited for.

    Attributes:
        sources: by name.
        entries: of unpaced sources, by name.
        first_base: identity of counter 0 in the first epoch of a new source.
        by_bound, by_until: queues of the live ones, by ``bound_us`` and by ``until_us``.
        gaps: counts of missing packets of all sources.
    """

    def __init__(self, *, learns_silence: bool = False) -> None:
        self._learns_silence = learns_silence
        #: Arrival time of the first packet, and the longest that one was held up in a silence.
        self._first_us: int | None = None
        self._held_up_us = 0
        self.sources: dict[str, SourceState] = {}
        self.entries: dict[str, EntryRecord] = {}
        self.first_base = 0
        self.by_bound = LiveQueue("bound_us", "bound_key")
        self.by_until = LiveQueue("until_us", "until_key")
        self.gaps = GapCounts()
        #: Sources that fell silent and may retain what becomes final.
        self._silent: list[SourceState] = []
        #: Packet numbers at which sources fell silent, in order.
        self._ends: dict[int, None] = {}
        #: Number of sources at which the next search for idle ones takes place.
        self._search_at = 2 * IDLE_REMEMBERED

    def make_live(self, source: SourceState, seq: int) -> None:
        """Wait for a source from now on: packet ``seq`` is its first, or its first after a pause."""
        self._ends.pop(seq - 1, None)
        if self._first_us is None:
            self._first_us = source.last_arrival_us
        source.live = True
        self.by_bound.put(source)
        self.by_until.put(source)

    def make_idle(self, source: SourceState) -> None:
        """Do not wait for a source until it sends again."""
        source.live = False
        self._silent.append(source)
        if source.taken >= MIN_END:
            self._ends[source.next_seq - 1] = None
            if len(self._ends) > ENDS_REMEMBERED:
                del self._ends[next(iter(self._ends))]

    def end_silence(self, source: SourceState, ts_us: int, now_us: int) -> None:
        """Learn from a packet that ends a silence: it was held up by what it is later than those before."""
        if ts_us > source.newest_us > BEGINNING_US:
            delay_us = source.last_arrival_us - source.newest_us
            self._held_up_us = max(self._held_up_us, now_us - ts_us - delay_us)

    def silence_us(self, patience_us: int, now_us: int) -> int | None:
        """Return how long a packet of a silent source may be overdue, as is learned; None while the patience counts."""
        if not self._learns_silence or self._first_us is None or now_us - self._first_us < LEARNED_US:
            return None
        wait_us = max(SILENCE_US, 3 * self._held_up_us // 2)
        return wait_us if wait_us < patience_us else None

    def deadline_us(self, source: SourceState, patience_us: int, max_period_us: int, now_us: int) -> int:
        """Return the arrival time up to which the next packet of a source is waited for.

        Args:
            source: live.
            patience_us: how long a packet may be overdue.
            max_period_us: a longer period does not count, because a source that is waited for holds final back.
            now_us: arrival time.
        """
        if source.ahead:
            return source.waited_since_us() + source.gap_patience_us(patience_us)
        period_us = min(int(source.cadence.period_us), max_period_us)
        if period_us and source.next_seq - 1 in self._ends:
            return source.last_arrival_us + min(2 * period_us, patience_us)
        return source.last_arrival_us + period_us + (self.silence_us(patience_us, now_us) or patience_us)

    def first_silent(self, patience_us: int, now_us: int) -> SourceState | None:
        """Return the source that has reported least of those that fell silent and may owe packets; None if none may."""
        wait_us = self.silence_us(patience_us, now_us)
        since_us = BEGINNING_US if wait_us is None else now_us - wait_us
        silent = (s for s in self._silent if not s.live and s.last_arrival_us >= since_us)
        return min(silent, key=attrgetter("until_us"), default=None)

    def forget_content(self, final_us: int) -> None:
        """Let sources that fell silent forget the content of their packets, once all of it is final."""
        if self._silent:
            waiting = [s for s in self._silent if not s.live and s.record.newest_us >= final_us]
            for source in self._silent:
                source.record.forget(final_us)
            self._silent = waiting

    def forget_idle(self, silent_us: int, final_us: int) -> list[SourceState]:
        """Forget the sources idle the longest; return them. Searches only when many are new since the last search.

        Args:
            silent_us: only those that have sent nothing since (arrival time).
            final_us: only those that have reported nothing from this event time on.
        """
        return self._forget_oldest(silent_us, final_us) if len(self.sources) >= self._search_at else []

    def _forget_oldest(self, silent_us: int, final_us: int) -> list[SourceState]:
        idle = [
            (s.last_arrival_us, name)
            for name, s in self.sources.items()
            if not s.live and s.last_arrival_us < silent_us
        ]
        oldest = (name for _, name in sorted(idle)[: max(0, len(idle) - IDLE_REMEMBERED)])
        forgotten = [self.sources.pop(name) for name in oldest if self.sources[name].newest_us < final_us]
        for source in forgotten:
            self.first_base = max(self.first_base, source.record.base + EPOCH)
        self._search_at = len(self.sources) + IDLE_REMEMBERED
        return forgotten
