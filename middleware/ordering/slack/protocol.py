"""The interface between an ordering unit and its slack policy.

Policies are plain picklable values inside the unit. They change only by what they are given, so that redoing a window
from a snapshot takes the same decisions.
"""

from __future__ import annotations

from math import ceil
from typing import Literal, NamedTuple, Protocol

#: What ``ts + alpha*K`` is compared with: the unit's logical clock (K-slack), or the arrival time of the push.
Clock = Literal["event", "arrival"]

#: Whether the inputs of a push are measured before its releases or after them. Paper 001 does not say, and its figures
#: need both. A policy whose K is set, or read off, never learns.
Learns = Literal["before", "after", "never"]


class DelaySample(NamedTuple):
    """Delay of one input, for a policy to learn from.

    Attributes:
        ts_us: event time of the input.
        delay_us: its delay against the unit's clock; K+ of a premature input is added (000, section 4.1).
        now_us: arrival time of the push that measured it.
        source, seq: of the input.
    """

    ts_us: int
    delay_us: int
    now_us: int
    source: str
    seq: int


class SlackPolicy(Protocol):
    """How late the inputs of a unit may be.

    Attributes:
        k_us: K, or the buffer time of a policy that counts in arrival time.
        clock: see ``Clock``. With ``event`` inputs are measured when the unit's clock advances (004, II-E2), with
            ``arrival`` at the push in which they arrived.
        learns: see ``Learns``.
        every_sample: True to be given every input; False if the input with the greatest delay of a push will do, which
            costs less.
        ignores_progress: True to wait K out as the papers do; False to release what the sources have reported
            completely. With True the engine gives a unit no other progress than what is final.
        ignores_delays_within_k: True of a policy that goes by event time, learns before releases, and learns nothing
            from a delay up to K: inputs in order need not be measured then.
    """

    k_us: int
    clock: Clock
    learns: Learns
    every_sample: bool
    ignores_progress: bool
    ignores_delays_within_k: bool

    def measure(self, sample: DelaySample) -> None:
        """Learn from an input."""
        ...

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Return the event time up to which (inclusive) waiting inputs are due.

        Args:
            clock_us: the clock that the policy goes by.
            progress_us: event time up to which the sources have reported everything.
            alpha: share of the slack to wait (000, inequation 1).
        """
        ...

    def announce(self, delay_us: int) -> None:
        """Expect inputs that are up to ``delay_us`` late: K of a unit below grew (004, II-E2: the pseudo event)."""
        ...

    def expect(self, delay_us: int) -> None:
        """Expect inputs that are no more than ``delay_us`` late: the K below shrank. Only a K that shrinks follows."""
        ...

    def settle(self, inputs: int) -> None:
        """Let a K fall that may.

        Args:
            inputs: that the unit has released since the beginning.
        """
        ...

    def rebase(self, k_us: int) -> None:
        """Set K to what is known of the paths of the inputs; it may shrink: the unit, or one below, has moved (002)."""
        ...

    def take_over(self, k_us: int) -> None:
        """Replace, in a running unit, a policy whose K was ``k_us``."""
        ...


class WaitForK:
    """Base of the policies that wait for K, or for source progress if that is sooner and they heed it."""

    k_us: int
    ignores_progress = False
    ignores_delays_within_k = False

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Return the clock less ``alpha * K``, or source progress if that is later."""
        return max(clock_us - ceil(alpha * self.k_us), progress_us)

    def announce(self, delay_us: int) -> None:
        """Ignore it: a set K, or a buffer time measured in arrival time, does not depend on other units."""

    def expect(self, delay_us: int) -> None:
        """Ignore it, for the same reason."""

    def settle(self, inputs: int) -> None:
        """Ignore it: K does not fall by itself."""

    def rebase(self, k_us: int) -> None:
        """Ignore it, for the same reason."""

    def take_over(self, k_us: int) -> None:
        """Ignore the K of the policy before."""
