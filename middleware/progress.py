"""Source progress: duplicates, gaps, and how far each transmitter has told its story.

Theory of operation
-------------------
Packets carry a sequence number per transmitter, so the receiver can know what K-slack only guesses: a
transmitter that has delivered everything up to packet k cannot send anything older than k's last position.
The *progress* of a raw kind is the least such time among its live transmitters. It serves for release.

*Final* is a stronger word: below it nothing will be taken in any more, so nothing can change. It trails the
progress, and the stream's clock by ``memory_us``: that is the bound of memory. A gap holds the progress until the
missing packet comes or ``memory_us`` of arrival time have passed; a transmitter that is silent for as long is left
out until it speaks again. What comes later than final is recorded as lost.

Sources are learned as they appear. A new one may start anywhere above final.
"""

from __future__ import annotations

from enum import Enum

from middleware.events import Arrival

#: Before the first position: less than any event time.
BEGINNING_US = -(2**62)
#: After the last position: more than any event time.
END_US = 2**62

#: How many sequence numbers given up as missing are remembered per transmitter, to tell late from doubled.
MISSING_REMEMBERED = 4096


#: How often final moves: more costs time, less costs memory.
CHECKS_IN_MEMORY = 10

#: So many recent packets of a transmitter are remembered before those below final are looked for.
RECENT_KEPT = 512


class Verdict(Enum):
    """What becomes of an arrival."""

    NEW = "new"
    DUPLICATE = "duplicate"
    LOST = "lost"


class Transmitter:
    """Progress of one transmitter. ``next_seq`` is the first packet number not yet delivered without a gap."""

    __slots__ = ("ahead", "early", "first_seq", "heard_us", "missing", "next_seq", "recent", "until_us")

    def __init__(self, first_seq: int, now_us: int) -> None:
        self.first_seq = self.next_seq = first_seq
        self.early: set[int] = set()
        self.until_us = BEGINNING_US
        self.ahead: dict[int, tuple[int, int]] = {}
        self.missing: dict[int, None] = {}
        self.recent: dict[int, int] = {}
        self.heard_us = now_us

    def take(self, seq: int, until_us: int, now_us: int) -> bool:
        """Notes a new packet; True if the progress moved."""
        self.recent[seq] = until_us
        if seq != self.next_seq:
            self.missing.pop(seq, None)
            if seq < self.first_seq:
                self.early.add(seq)
            if seq > self.next_seq:
                self.ahead[seq] = (until_us, now_us)
            return False
        self.until_us = max(self.until_us, until_us)
        self.next_seq += 1
        self._close_up()
        return True

    def has_taken(self, seq: int) -> bool:
        """True if packet ``seq``, which lies behind us, was taken; False if it never came."""
        if seq < self.first_seq:
            return seq in self.early
        return seq < self.next_seq and seq not in self.missing

    def give_up_gaps(self, deadline_us: int) -> None:
        """Declares packets missing whose successor came before ``deadline_us`` (arrival time), and moves on."""
        while self.ahead:
            found = min(self.ahead)
            if self.ahead[found][1] >= deadline_us:
                return
            for seq in range(self.next_seq, found):
                self.missing[seq] = None
            while len(self.missing) > MISSING_REMEMBERED:
                del self.missing[next(iter(self.missing))]
            self.next_seq = found
            self._close_up()

    def forget(self, final_us: int) -> None:
        """Drops the memory of packets that lie wholly before ``final_us``, once there are many."""
        if len(self.recent) < RECENT_KEPT:
            return
        self.recent = {seq: until for seq, until in self.recent.items() if until >= final_us}

    def _close_up(self) -> None:
        while self.next_seq in self.ahead:
            self.until_us = max(self.until_us, self.ahead.pop(self.next_seq)[0])
            self.next_seq += 1


class SourceProgress:
    """Progress of all transmitters of all raw kinds.

    Args:
        raw_kinds: kinds that come from outside.
        memory_us: how long (event time behind the clock, arrival time for silence and gaps) a late input is
            waited for before the world below it is declared final.
    """

    def __init__(self, raw_kinds: tuple[str, ...], memory_us: int) -> None:
        assert memory_us > 0, "the bound of memory must be positive"
        self.memory_us = memory_us
        self.clk_us = BEGINNING_US
        self.final_us = BEGINNING_US
        self.progress_us: dict[str, int] = {}
        self._sources: dict[str, dict[str, Transmitter]] = {kind: {} for kind in raw_kinds}
        self._next_check_us = BEGINNING_US
        self._stale: set[str] = set()

    def offer(self, arrival: Arrival, now_us: int) -> Verdict:
        """Judges an arrival and, if it is new, moves clock and progress."""
        event = arrival.event
        sources = self._sources[event.kind]
        source = sources.get(event.source)
        if source is None:
            source = sources[event.source] = Transmitter(event.seq, now_us)
        source.heard_us = now_us
        if event.seq in source.recent:
            return Verdict.DUPLICATE
        if event.ts_us < self.final_us:
            return Verdict.DUPLICATE if source.has_taken(event.seq) else Verdict.LOST
        if source.take(event.seq, arrival.until_us, now_us):
            self._stale.add(event.kind)
        if arrival.until_us > self.clk_us:
            self.clk_us = arrival.until_us
        return Verdict.NEW

    def settle(self, now_us: int) -> None:
        """Brings ``progress_us`` up to date with what was offered."""
        for kind in self._stale:
            self.progress_us[kind] = self._least(kind, now_us)
        self._stale.clear()

    def transmitter(self, kind: str, source: str) -> Transmitter | None:
        """Progress of one transmitter; None if it has sent nothing of ``kind`` yet."""
        return self._sources[kind].get(source)

    def check(self, now_us: int) -> bool:
        """Gives up old gaps and silent transmitters and moves final on; True if it moved.

        Runs its work ``CHECKS_IN_MEMORY`` times per ``memory_us`` of arrival time, whatever the rate of calls.
        """
        if now_us < self._next_check_us:
            return False
        self._next_check_us = now_us + self.memory_us // CHECKS_IN_MEMORY
        deadline_us = now_us - self.memory_us
        for kind, sources in self._sources.items():
            for source in sources.values():
                source.give_up_gaps(deadline_us)
            if sources:
                self.progress_us[kind] = self._least(kind, now_us)
        least = min(self.progress_us.values(), default=BEGINNING_US)
        final_us = min(least, self.clk_us - self.memory_us)
        if final_us <= self.final_us:
            return False
        self.final_us = final_us
        for sources in self._sources.values():
            for source in sources.values():
                source.forget(final_us)
        return True

    def end(self) -> None:
        """The stream is over: everything is final."""
        self.final_us = END_US
        for kind in self._sources:
            self.progress_us[kind] = END_US

    def _least(self, kind: str, now_us: int) -> int:
        """Least progress among live transmitters; if all are silent, the clock is all there is to go by."""
        deadline_us = now_us - self.memory_us
        return min(
            (s.until_us for s in self._sources[kind].values() if s.heard_us >= deadline_us),
            default=self.clk_us - self.memory_us,
        )
