"""How long an input is waited for at most: a bound on delays that grows and shrinks, so that a chosen share is late.

Theory of operation
-------------------
Source progress knows what is missing, but not for how long it will be. So a unit with a target waits for source
progress, or until an input is older than the bound: whichever comes first. The bound is that of BETT (001, 4.2): the
last delay and an offset at once, then falling as long as delays are well below it. Two things differ:

* *The offset is learned.* Each packet later than the bound raises it by a factor, and each other one lowers it by that
  factor to the power of the target. So the share of later packets tends to the target whatever the delays are, as in
  adaptive conformal inference (Gibbs and Candes 2021), of which it is the logarithmic form.
* *The fall goes by time*, not by packets, if they are frequent: BETT's one in a hundred for a packet is four seconds
  for the sixteen packets a second that it was made for, and a thirtieth of a second for a locating system.

Delays need a common zero of arrival time and event time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

#: Bound and offset to begin with, and the fall for a packet: those of BETT in section 5 of 001.
FIRST_US, LEAST_LEFT = 500_000, 0.99

#: Time in which the bound falls by half, and how far delays must be below it to let it fall, as a share of the offset.
HALF_LIFE_US, THRESHOLD = 4_000_000, 0.2

#: Gaps between packets over which their mean is taken.
GAPS = 64

#: A packet later than the bound raises the offset by this factor, as a logarithm; the offset stays within the limits.
GROWTH = 0.05
LEAST_US, MOST_US = 1_000, 10_000_000

#: Late share that is accepted unless another one is chosen.
LATE_SHARE = 0.001


@dataclass(frozen=True)
class ReleaseTarget:
    """Late share and longest wait that the user accepts.

    Attributes:
        late_share: share of packets that may be later than the bound.
        max_wait_us: an input never waits longer than this after its event time, whatever the share; None for no limit.

    Raises:
        ValueError: no share between 0 and 1, or a wait below 0.
    """

    late_share: float = LATE_SHARE
    max_wait_us: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.late_share < 1.0:
            raise ValueError(f"the share of late inputs must lie between 0 and 1, not {self.late_share}")
        if self.max_wait_us is not None and self.max_wait_us < 0:
            raise ValueError(f"the longest wait must not be negative, not {self.max_wait_us} us")


def waited_out(complete_us: Mapping[str, int], waits_us: Mapping[str, int], now_us: int) -> dict[str, int]:
    """Return up to when each raw kind counts as complete: what was waited for long enough does, too.

    Args:
        complete_us: by raw kind, up to when the sources have reported everything.
        waits_us: how long after its event time an input is waited for, of the kinds that have a bound.
        now_us: arrival time.
    """
    return {kind: max(us, now_us - waits_us[kind]) if kind in waits_us else us for kind, us in complete_us.items()}


class DelayBound:
    """The bound on the delays of one raw kind. Plain state, pickled with source progress.

    Args:
        target: what the user accepts.

    Attributes:
        wait_us: how long after its event time an input is waited for.
        late: packets that were later than the bound.

    >>> bound = DelayBound(ReleaseTarget(0.01))
    >>> for n in range(2_000):
    ...     bound.take(50_000 + n * 7_919 % 20_000, n * 10_000)
    >>> 70_000 < bound.wait_us < 200_000
    True
    """

    __slots__ = ("_bound_us", "_gap_us", "_last_us", "_log_offset", "_offset_us", "_target", "late", "wait_us")

    def __init__(self, target: ReleaseTarget) -> None:
        self._target = target
        self._bound_us = self._offset_us = float(FIRST_US)
        self._log_offset = log(FIRST_US)
        self._gap_us = 0.0
        self._last_us: int | None = None
        self.late = 0
        self.wait_us = 0
        self._limit()

    def take(self, delay_us: int, now_us: int, *, settled: bool = True) -> None:
        """Learn from a packet.

        Args:
            delay_us: its arrival time less its event time.
            now_us: its arrival time.
            settled: False while new sources are expected: the offset is not learned from their first packets.
        """
        is_late = delay_us > self.wait_us
        self.late += is_late
        if settled:
            moved = self._log_offset + GROWTH * (is_late - self._target.late_share)
            self._log_offset = moved = min(max(moved, log(LEAST_US)), log(MOST_US))
            self._offset_us = exp(moved)
        offset_us = self._offset_us
        if self._last_us is not None:
            self._gap_us += (now_us - self._last_us - self._gap_us) / GAPS
        self._last_us = now_us
        wanted_us = delay_us + offset_us
        if wanted_us > self._bound_us:
            self._bound_us = wanted_us
        elif wanted_us + THRESHOLD * offset_us < self._bound_us:
            left = max(LEAST_LEFT, 0.5 ** (self._gap_us / HALF_LIFE_US))
            self._bound_us = max(wanted_us, left * self._bound_us)
        self._limit()

    def _limit(self) -> None:
        longest_us = self._target.max_wait_us
        wait_us = round(self._bound_us)
        self.wait_us = wait_us if longest_us is None or wait_us < longest_us else longest_us
