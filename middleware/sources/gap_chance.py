"""The chance that a missing packet still arrives, learned from the packets that were missing before.

Theory of operation
-------------------
A packet is *missing* once a later one of its source has arrived. The *age* of the gap is the time since then. Counted
are, by age, the missing packets that arrived, and how many there were. Of those that reach an age, a share still
arrives: the *chance*. And of all packets, a share arrives later than that age: what giving up there costs.

A gap is given up at the first age at which it is more likely to be lost than late, and at which the packets that arrive
later are no more than the accepted share. Counts are kept for each source and for all of a kind together. A source is
believed by what it has shown itself, and by its kind as far as it has not: both counts are added, those of the kind
with a weight of ``KIND_PACKETS`` packets. Counts are halved when they cover fifty accepted late packets, so that what
is learned can change.

Source: own work; the issue is that a count of successors means another time at each rate.
"""

from __future__ import annotations

#: Ages are counted in steps of half an octave; the last step has everything above two hours.
STEPS = 68

#: Weight of a kind's counts beside those of one source, in packets.
KIND_PACKETS = 1_000

#: Packets of a kind that are taken as late beside those that were.
UNSEEN = 0.5

#: More missing packets at once are a jump of the counter, and a source remembers as many that were given up.
MISSING_MAX = 64

#: Accepted late packets after which counts are halved.
MEMORY = 50


def step_of(age_us: int) -> int:
    """Return the step of an age: twice its binary logarithm, rounded up.

    >>> [step_of(age_us) for age_us in (0, 1, 2, 3, 1_000, 1_000_000)]
    [0, 1, 3, 4, 20, 40]
    """
    return min((age_us * age_us).bit_length(), STEPS - 1)


class GapCounts:
    """Counts of missing packets of one source, or of all sources of a kind. Plain state.

    Attributes:
        packets, missing: how many there were.
        filled: of the missing ones that arrived, how many, by the step of their age.
    """

    __slots__ = ("filled", "missing", "packets")

    def __init__(self) -> None:
        self.packets = self.missing = 0
        self.filled = [0] * STEPS

    def halve(self) -> None:
        """Forget half of what was counted."""
        self.packets //= 2
        self.missing //= 2
        self.filled = [count // 2 for count in self.filled]


class GapChance:
    """Counts of the missing packets of a source, and the wait that follows. Plain state, pickled with source progress.

    Args:
        late_share: share of packets that may be late because they were given up; 0 gives up none.
        kind: counts of all sources of the kind, shared by them.
    """

    __slots__ = ("_given_up", "_kind", "_late_share", "_own")

    def __init__(self, late_share: float, kind: GapCounts) -> None:
        self._late_share, self._kind, self._own = late_share, kind, GapCounts()
        #: Packets that were given up: number -> arrival time of the one after the gap.
        self._given_up: dict[int, int] = {}

    def count(self, packets: int) -> None:
        """Count packets that arrived."""
        for counts in (self._own, self._kind):
            counts.packets += packets
            if counts.packets * self._late_share > MEMORY:
                counts.halve()

    def miss(self, packets: int) -> None:
        """Count packets that are missing."""
        if packets <= MISSING_MAX:
            self._own.missing += packets
            self._kind.missing += packets

    def fill(self, age_us: int) -> None:
        """Count a missing packet that has arrived."""
        step = step_of(max(0, age_us))
        self._own.filled[step] += 1
        self._kind.filled[step] += 1

    def give_up(self, numbers: range, since_us: int) -> None:
        """Remember packets that are given up, to learn from those that arrive after all."""
        for number in numbers[-MISSING_MAX:]:
            self._given_up[number] = since_us
        while len(self._given_up) > MISSING_MAX:
            del self._given_up[next(iter(self._given_up))]

    def arrive_after_all(self, number: int, now_us: int) -> None:
        """Count the arrival of a packet if it had been given up."""
        if (since_us := self._given_up.pop(number, None)) is not None:
            self.fill(now_us - since_us)

    def wait_us(self) -> int | None:
        """Return the age at which a gap is given up; None if what is known gives up none."""
        own, kind = self._own, self._kind
        weight = KIND_PACKETS / max(KIND_PACKETS, kind.packets)
        accepted = self._late_share * (own.packets + weight * kind.packets)
        # What was not seen yet may be about to be seen: half a packet more than there were.
        later = UNSEEN * weight
        if later > accepted:
            return None
        # Those that never arrived, less the one that is waited for.
        lost = own.missing - sum(own.filled) - 1 + weight * (kind.missing - sum(kind.filled) - 1)
        for step in range(STEPS - 1, -1, -1):
            filled = own.filled[step] + weight * kind.filled[step]
            if later + filled > accepted or later + filled > lost:
                return None if step == STEPS - 1 else int(2 ** (step / 2)) + 1
            later += filled
        return 0
