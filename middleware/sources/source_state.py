"""One source: which of its packets came, through gaps, doubles and counters that wrap, and how far it has told."""

from __future__ import annotations

from middleware.events import BEGINNING_US
from middleware.sources.cadence import Cadence

#: How many sequence numbers given up as missing are remembered per source, to tell late from doubled.
MISSING_REMEMBERED = 4096

#: A packet is missing for good, as far as waiting goes, when so many of its source's successors have come. On the
#: data of paper 001 a packet overtaken by nine came; what comes after all is still taken in.
OVERTAKERS_MOST = 16

#: Counters that are known to wrap.
_COUNTERS = (1 << 8, 1 << 16, 1 << 32)


class SourceState:
    """What came of one source of one raw kind.

    Attributes:
        first_seq: number of the packet heard first.
        next_seq: the first packet number not yet delivered without a gap.
        until_us: event time up to which (inclusive) it has told everything, but for what was given up.
        newest_us: greatest event time that it ever told.
        heard_us: arrival time of its last packet, whatever packet that was.
        bound_us: event time up to which (inclusive) nothing more is expected: by its word, or by its cadence.
        taken: packets taken in.
        cadence: what is known of when its packets are dated.
        live: somebody to wait for: neither silent for too long nor astray.
        astray: its clock is not the others' clock.
        told_key, bound_key: its places in the queues of :mod:`middleware.sources.progress`.
    """

    __slots__ = (
        "ahead", "astray", "base", "base_before", "bound_key", "bound_us", "cadence", "early", "epoch_us",
        "first_seq", "heard_us", "live", "missing", "newest_us", "next_seq", "refused", "taken", "told_key", "until_us",
    )  # fmt: skip

    def __init__(self, first_seq: int, now_us: int) -> None:
        self.first_seq = self.next_seq = first_seq
        self.until_us = self.newest_us = self.bound_us = BEGINNING_US
        self.heard_us = now_us
        self.taken = 0
        self.cadence = Cadence()
        self.live = False
        self.astray = False
        self.told_key = self.bound_key = BEGINNING_US
        #: Packets beyond a gap: number -> (event time, told until, arrival time).
        self.ahead: dict[int, tuple[int, int, int]] = {}
        self.missing: dict[int, None] = {}
        self.refused: dict[int, None] = {}
        self.early: set[int] = set()
        self.base = self.base_before = 0
        self.epoch_us = BEGINNING_US

    def number(self, counter: int, ts_us: int) -> int:
        """Number of the packet with this counter, counted on where the counter wraps or begins anew.

        A packet that is dated later than all before it cannot be an old one, whatever its counter says.
        """
        seq = counter + self.base
        if seq < self.next_seq:
            if not self.taken:
                self.first_seq = self.next_seq = seq
            elif ts_us > self.newest_us and seq not in self.refused:
                self._begin_epoch(counter, ts_us)
                seq = counter + self.base
        elif self.base and ts_us < self.epoch_us:
            seq = counter + self.base_before
        return seq

    def has_taken(self, seq: int) -> bool:
        """True if packet ``seq`` came before, taken in or not."""
        if seq in self.refused:
            return True
        if seq >= self.next_seq:
            return seq in self.ahead
        return seq in self.early if seq < self.first_seq else seq not in self.missing

    def take(self, seq: int, ts_us: int, until_us: int, now_us: int) -> bool:
        """Notes a new packet; True if ``until_us`` moved."""
        self.taken += 1
        if until_us > self.newest_us:
            self.newest_us = until_us
        if seq == self.next_seq:
            self.next_seq = seq + 1
            self.until_us = until_us
            self.cadence.take(ts_us)
            if self.ahead or self.refused:
                self._close_up()
            bound_us = self.cadence.bound_us - 1
            self.bound_us = bound_us if bound_us > self.until_us else self.until_us
            return True
        if seq > self.next_seq:
            self.ahead[seq] = (ts_us, until_us, now_us)
            if len(self.ahead) < OVERTAKERS_MOST:
                return False
            self._skip(min(self.ahead))
            return True
        self.missing.pop(seq, None)
        if seq < self.first_seq:
            self.early.add(seq)
        return False

    def turn_away(self, seq: int) -> None:
        """Notes a packet whose date is not believed, so that a second copy of it is not believed either."""
        self.refused[seq] = None
        if len(self.refused) > MISSING_REMEMBERED:
            del self.refused[next(iter(self.refused))]

    def refuse(self, seq: int, ts_us: int) -> None:
        """Notes a packet that came too late to be taken in: its word does not count, but nobody waits for it."""
        self.turn_away(seq)
        if ts_us > self.newest_us:
            self.newest_us = ts_us
        self._close_up()

    def pass_over(self, seq: int) -> None:
        """Nothing before ``seq`` is waited for: it was sent while the source was not believed."""
        if self.taken and seq > self.next_seq:
            self._skip(seq)

    def give_up_gap(self, deadline_us: int) -> bool:
        """Declares the packets before the next one missing if that came before ``deadline_us`` (arrival time)."""
        if not self.ahead:
            return False
        found = min(self.ahead)
        if self.ahead[found][2] > deadline_us:
            return False
        self._skip(found)
        return True

    def waited_since_us(self) -> int:
        """Arrival time since when the next packet is missing: that of the packet after the gap, or of the last one."""
        return self.ahead[min(self.ahead)][2] if self.ahead else self.heard_us

    def _skip(self, found: int) -> None:
        for seq in range(max(self.next_seq, found - MISSING_REMEMBERED), found):
            if seq not in self.ahead:
                self.missing[seq] = None
        # Who is passed over may have packets beyond its first gap: they came, and are behind now.
        self.ahead = {seq: told for seq, told in self.ahead.items() if seq >= found}
        while len(self.missing) > MISSING_REMEMBERED:
            del self.missing[next(iter(self.missing))]
        self.next_seq = found
        self._doubt_cadence()
        self._close_up()

    def _close_up(self) -> None:
        while True:
            if (found := self.ahead.pop(self.next_seq, None)) is not None:
                ts_us, self.until_us, _ = found
                self.cadence.take(ts_us)
                self.bound_us = max(self.until_us, self.cadence.bound_us - 1)
            elif self.next_seq in self.refused:
                self._doubt_cadence()
            else:
                return
            self.next_seq += 1

    def _doubt_cadence(self) -> None:
        self.cadence.skip()
        self.bound_us = self.until_us

    def _begin_epoch(self, counter: int, ts_us: int) -> None:
        """The counter wrapped if it stood near the end of a known size, else the source was started again."""
        self.base_before = self.base
        stood = self.next_seq - self.base
        for size in _COUNTERS:
            if 3 * size <= 4 * stood <= 4 * size and 4 * counter < size:
                self.base += size
                break
        else:
            self.base = 1 + max(self.ahead, default=self.next_seq - 1)
        self.epoch_us = ts_us
