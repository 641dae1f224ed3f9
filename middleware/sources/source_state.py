"""One source: which of its packets arrived, through gaps, duplicates and restarts, and how far it has reported."""

from __future__ import annotations

from middleware.events import BEGINNING_US
from middleware.sources.cadence import Cadence

#: Sequence numbers given up as missing that are remembered per source, to tell a late packet from a duplicate.
MISSING_REMEMBERED = 4096

#: A packet is not waited for once this many of its source's successors have arrived. On the data of paper 001 a packet
#: overtaken by nine still arrived; one that arrives after all is taken in.
MAX_OVERTAKERS = 16

#: Sizes of counters that are known to wrap.
_COUNTERS = (1 << 8, 1 << 16, 1 << 32)


class SourceState:
    """State of one source of one raw kind.

    Attributes:
        first_seq: number of the packet that arrived first.
        next_seq: the first packet number that has not arrived, counted without gaps.
        until_us: event time up to which (inclusive) it has reported everything, except packets given up.
        newest_us: greatest event time that it has reported.
        last_arrival_us: arrival time of its last packet: new, duplicate or refused.
        bound_us: event time up to which (inclusive) no more is expected, by ``until_us`` or by its cadence.
        taken: number of packets taken in.
        cadence: the rhythm of its packets' event times.
        live: True if it is waited for: neither idle nor an outlier.
        is_outlier: True if its clock differs from the others' clocks.
        until_key, bound_key: its values in the queues of :mod:`middleware.sources.idle`.
        base: added to its counter to number its packets, since the counter wrapped or restarted; ``base_before`` is
            the one before, for packets dated before ``renumbered_us``.
        missing: packets given up, which are new if they arrive after all.
        refused: packets that arrived and were not taken in: lost, or with a date from a wrong clock.
        early: packets before ``first_seq`` that have arrived.
    """

    __slots__ = (
        "ahead", "base", "base_before", "bound_key", "bound_us", "cadence", "early", "first_seq", "is_outlier",
        "last_arrival_us", "live", "missing", "newest_us", "next_seq", "refused", "renumbered_us", "taken", "until_key",
        "until_us",
    )  # fmt: skip

    def __init__(self, first_seq: int, now_us: int) -> None:
        self.first_seq = self.next_seq = first_seq
        self.until_us = self.newest_us = self.bound_us = BEGINNING_US
        self.last_arrival_us = now_us
        self.taken = 0
        self.cadence = Cadence()
        self.live = False
        self.is_outlier = False
        self.until_key = self.bound_key = BEGINNING_US
        #: Packets beyond a gap: number -> (event time, reported until, arrival time).
        self.ahead: dict[int, tuple[int, int, int]] = {}
        self.missing: dict[int, None] = {}
        self.refused: dict[int, None] = {}
        self.early: set[int] = set()
        self.base = self.base_before = 0
        self.renumbered_us = BEGINNING_US

    def number(self, counter: int, ts_us: int) -> int:
        """Return the packet number of ``counter``; numbers run on where the counter wraps or restarts.

        A packet dated later than all before it cannot be an old one, whatever its counter says.
        """
        seq = counter + self.base
        if seq < self.next_seq:
            if not self.taken:
                self.first_seq = self.next_seq = seq
            elif ts_us > self.newest_us and seq not in self.refused:
                self._renumber(counter, ts_us)
                seq = counter + self.base
        elif self.base and ts_us < self.renumbered_us:
            seq = counter + self.base_before
        return seq

    def has_taken(self, seq: int) -> bool:
        """True if packet ``seq`` has arrived before, whether it was taken in or refused."""
        if seq in self.refused:
            return True
        if seq >= self.next_seq:
            return seq in self.ahead
        return seq in self.early if seq < self.first_seq else seq not in self.missing

    def take(self, seq: int, ts_us: int, until_us: int, now_us: int) -> bool:
        """Take in a new packet; True if ``until_us`` advanced."""
        self.taken += 1
        if until_us > self.newest_us:
            self.newest_us = until_us
        if seq == self.next_seq:
            self.next_seq = seq + 1
            self.until_us = until_us
            self.cadence.take(ts_us)
            if self.ahead or self.refused:
                self._advance()
            bound_us = self.cadence.bound_us - 1
            self.bound_us = bound_us if bound_us > self.until_us else self.until_us
            return True
        if seq > self.next_seq:
            self.ahead[seq] = (ts_us, until_us, now_us)
            if len(self.ahead) < MAX_OVERTAKERS:
                return False
            self._skip(min(self.ahead))
            return True
        self.missing.pop(seq, None)
        if seq < self.first_seq:
            self.early.add(seq)
        return False

    def note_refused(self, seq: int) -> None:
        """Note a packet that is refused, so that a second copy of it counts as a duplicate."""
        self.refused[seq] = None
        if len(self.refused) > MISSING_REMEMBERED:
            del self.refused[next(iter(self.refused))]

    def note_lost(self, seq: int, ts_us: int) -> None:
        """Note a packet that is lost: it does not count as reported, and progress does not wait for it."""
        self.note_refused(seq)
        if ts_us > self.newest_us:
            self.newest_us = ts_us
        self._advance()

    def skip_to(self, seq: int) -> None:
        """Give up what is missing before ``seq``: it was sent while the source was an outlier."""
        if self.taken and seq > self.next_seq:
            self._skip(seq)

    def give_up_gap(self, deadline_us: int) -> bool:
        """Give up the packets of the first gap if the one after it arrived before ``deadline_us`` (arrival time)."""
        if not self.ahead:
            return False
        after_gap = min(self.ahead)
        if self.ahead[after_gap][2] > deadline_us:
            return False
        self._skip(after_gap)
        return True

    def waited_since_us(self) -> int:
        """Arrival time since which a packet is missing: that of the packet after the gap, or of the last one."""
        return self.ahead[min(self.ahead)][2] if self.ahead else self.last_arrival_us

    def _skip(self, first_seq: int) -> None:
        """Declare the packets before ``first_seq`` missing that have not arrived, and continue there."""
        for seq in range(max(self.next_seq, first_seq - MISSING_REMEMBERED), first_seq):
            if seq not in self.ahead:
                self.missing[seq] = None
        # Packets beyond an earlier gap have arrived, and are behind now.
        self.ahead = {seq: packet for seq, packet in self.ahead.items() if seq >= first_seq}
        while len(self.missing) > MISSING_REMEMBERED:
            del self.missing[next(iter(self.missing))]
        self.next_seq = first_seq
        self._restart_cadence()
        self._advance()

    def _advance(self) -> None:
        """Advance ``next_seq`` over packets that have arrived already."""
        while True:
            if (packet := self.ahead.pop(self.next_seq, None)) is not None:
                ts_us, self.until_us, _ = packet
                self.cadence.take(ts_us)
                self.bound_us = max(self.until_us, self.cadence.bound_us - 1)
            elif self.next_seq in self.refused:
                self._restart_cadence()
            else:
                return
            self.next_seq += 1

    def _restart_cadence(self) -> None:
        self.cadence.skip()
        self.bound_us = self.until_us

    def _renumber(self, counter: int, ts_us: int) -> None:
        """Choose a new base: the counter wrapped if it stood near the end of a known size, else it restarted."""
        self.base_before = self.base
        stood = self.next_seq - self.base
        for size in _COUNTERS:
            if 3 * size <= 4 * stood <= 4 * size and 4 * counter < size:
                self.base += size
                break
        else:
            self.base = 1 + max(self.ahead, default=self.next_seq - 1)
        self.renumbered_us = ts_us
