"""One source: how far it has reported, through gaps and restarts.

Its packets are numbered here on where the counter wraps or restarts, to know what is missing. These numbers follow from
the order of arrival and serve for waiting only: what a packet is called, and whether it is new, is decided by
:mod:`middleware.sources.packet_record`.
"""

from __future__ import annotations

from typing import NamedTuple

from middleware.events import BEGINNING_US
from middleware.sources.cadence import Cadence
from middleware.sources.gap_chance import GapChance
from middleware.sources.packet_record import PacketRecord

#: Packets not taken in that progress passes over, per source.
REFUSED_REMEMBERED = 4096

#: A packet is never waited for once this many of its source's successors have arrived. On the data of paper 001 a
#: packet overtaken by nine still arrived; one that arrives after all is taken in.
MAX_OVERTAKERS = 16

#: Sizes of counters that are known to wrap.
_COUNTERS = (1 << 8, 1 << 16, 1 << 32)


class _Before(NamedTuple):
    """The numbering before the last wrap or restart.

    Attributes:
        base: added to the counter.
        next_seq, newest_us: of the source at that moment.
        renumbered_us: event time of the first packet known to have been sent after it.
        wrapped: True if the counter wrapped, so that old packets have numbers of their own.
    """

    base: int
    next_seq: int
    newest_us: int
    renumbered_us: int
    wrapped: bool


class SourceState:
    """State of one source of one raw kind.

    Attributes:
        next_seq: the first packet number that has not arrived, counted without gaps.
        until_us: event time up to which (inclusive) it has reported everything, except packets given up.
        newest_us: greatest event time that it has reported.
        last_arrival_us: arrival time of its last packet: new, duplicate or refused.
        bound_us: event time up to which (inclusive) no more is expected, by ``until_us`` or by its cadence.
        taken: number of packets taken in.
        cadence: the rhythm of its packets' event times.
        record: the packets taken in that are not final.
        live: True if it is waited for: neither idle nor an outlier.
        is_outlier: True if its clock differs from the others' clocks.
        until_key, bound_key: its values in the queues of :mod:`middleware.sources.idle`.
        base: added to its counter to number its packets, since the counter wrapped or restarted.
        refused: numbers of packets that arrived and were not taken in.
        gaps: what is known of its missing packets; None where gaps are given up by patience and successors alone.
        gap_wait_us: age (arrival time) at which the first gap is given up, as far as is known; None for no age.
    """

    __slots__ = (
        "_before", "ahead", "base", "bound_key", "bound_us", "cadence", "gap_wait_us", "gaps", "is_outlier",
        "last_arrival_us", "live", "newest_us", "next_seq", "record", "refused", "taken", "until_key", "until_us",
    )  # fmt: skip

    def __init__(self, first_seq: int, now_us: int, first_base: int = 0, gaps: GapChance | None = None) -> None:
        self.next_seq = first_seq
        self.until_us = self.newest_us = self.bound_us = BEGINNING_US
        self.last_arrival_us = now_us
        self.taken = 0
        self.cadence = Cadence()
        self.record = PacketRecord(first_base)
        self.live = False
        self.is_outlier = False
        self.until_key = self.bound_key = BEGINNING_US
        #: Packets beyond a gap: number -> (event time, reported until, arrival time).
        self.ahead: dict[int, tuple[int, int, int]] = {}
        self.refused: dict[int, None] = {}
        self.base = 0
        self.gaps = gaps
        self.gap_wait_us: int | None = None
        self._before = _Before(0, 0, BEGINNING_US, BEGINNING_US, wrapped=False)

    def number(self, counter: int, ts_us: int) -> int:
        """Return the packet number of ``counter``; numbers run on where the counter wraps or restarts.

        A packet dated later than all before it cannot be an old one, whatever its counter says.
        """
        seq = counter + self.base
        if seq < self.next_seq:
            if not self.taken:
                self.next_seq = seq
            elif ts_us > self.newest_us:
                self._renumber(counter, ts_us)
                seq = counter + self.base
        elif self.base and ts_us < (before := self._before).renumbered_us:
            seq = counter + before.base
            if seq < before.next_seq and ts_us > before.newest_us:
                # Not one of the old numbering: it was overtaken by the packet that showed the new one.
                self._before = before._replace(renumbered_us=ts_us)
                seq = counter + self.base
            elif not before.wrapped:
                seq = self.next_seq - 1
        return seq

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
                if self.gaps is not None and self.ahead:
                    self.gaps.fill(now_us - self.waited_since_us())
                self._advance()
            bound_us = self.cadence.bound_us - 1
            self.bound_us = bound_us if bound_us > self.until_us else self.until_us
            return True
        if seq > self.next_seq and seq not in self.ahead:
            if self.gaps is not None:
                self._learn_of_gap(self.gaps, seq, now_us)
            self.ahead[seq] = (ts_us, until_us, now_us)
            if len(self.ahead) < MAX_OVERTAKERS:
                return False
            self._skip(min(self.ahead))
            return True
        if self.gaps is not None:
            self.gaps.arrive_after_all(seq, now_us)
        return False

    def note_lost(self, seq: int, ts_us: int, now_us: int) -> None:
        """Note a packet that is lost: it does not count as reported, and progress does not wait for it."""
        if self.gaps is not None:
            self.gaps.arrive_after_all(seq, now_us)
        self.pass_over(seq)
        if ts_us > self.newest_us:
            self.newest_us = ts_us
        self._advance()

    def pass_over(self, seq: int) -> None:
        """Do not wait for a packet that arrived and is not taken in."""
        if seq >= self.next_seq:
            self.refused[seq] = None
            if len(self.refused) > REFUSED_REMEMBERED:
                del self.refused[next(iter(self.refused))]

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

    def gap_patience_us(self, patience_us: int) -> int:
        """How long the first gap is waited for: until it is more likely lost than late, and never beyond a patience."""
        return patience_us if self.gap_wait_us is None else min(self.gap_wait_us, patience_us)

    def _learn_of_gap(self, gaps: GapChance, seq: int, now_us: int) -> None:
        """Count what packet ``seq``, beyond a gap, makes missing, or that it was missing itself."""
        since_us = [arrival_us for number, (_, _, arrival_us) in self.ahead.items() if number > seq]
        if since_us:
            gaps.fill(now_us - min(since_us))
            return
        gaps.miss(seq - 1 - max(self.ahead, default=self.next_seq - 1))
        if not self.ahead:
            self.gap_wait_us = gaps.wait_us()

    def _skip(self, first_seq: int) -> None:
        """Give up the packets before ``first_seq`` that have not arrived, and continue there."""
        if self.gaps is not None:
            since_us = self.ahead[first_seq][2] if first_seq in self.ahead else self.last_arrival_us
            self.gaps.give_up(range(self.next_seq, first_seq), since_us)
            self.gap_wait_us = self.gaps.wait_us()
        self.ahead = {seq: packet for seq, packet in self.ahead.items() if seq >= first_seq}
        self.refused = {seq: None for seq in self.refused if seq >= first_seq}
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
                del self.refused[self.next_seq]
                self._restart_cadence()
            else:
                return
            self.next_seq += 1

    def _restart_cadence(self) -> None:
        self.cadence.skip()
        self.bound_us = self.until_us

    def _renumber(self, counter: int, ts_us: int) -> None:
        """Choose a new base: the counter wrapped if it stood near the end of a known size, else it restarted."""
        base_before, stood = self.base, self.next_seq - self.base
        for size in _COUNTERS:
            if 3 * size <= 4 * stood <= 4 * size and 4 * counter < size:
                self.base += size
                wrapped = True
                break
        else:
            self.base = 1 + max(self.ahead, default=self.next_seq - 1)
            wrapped = False
        self._before = _Before(base_before, self.next_seq, self.newest_us, ts_us, wrapped)
