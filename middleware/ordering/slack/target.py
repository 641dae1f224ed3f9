"""A K that keeps a share: of the inputs of a unit the chosen share is later than K.

Theory of operation
-------------------
The bound of :mod:`middleware.sources.delay_bound` knows the delays of packets only. What a detector emits is later than
its inputs by what it waits and by how far it dates back. Declared horizons bound that by the worst case, which is
seconds, while it is milliseconds for nearly all events. So each unit of a match also measures its inputs itself, as
K-slack does (004, algorithm 1): K grows to a greater delay at once, and the units above hear of it. Two things differ
from K-slack:

* *K falls.* With each input in time it falls by a factor.
* *The factor is learned.* An input that is later than K makes the fall slower, and each one in time makes it faster, in
  the ratio of the share. So the share of later inputs tends to the chosen one, as in adaptive conformal inference
  (Gibbs and Candes 2021).

K is never below what the units below have announced, since those inputs are still to come.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp

from middleware.ordering.slack.protocol import Clock, DelaySample, Learns, WaitForK
from middleware.sources.delay_bound import ReleaseTarget

#: An input later than K divides the rate of the fall by exp(SLOWER); the rate stays below FASTEST times the share.
SLOWER, FASTEST = 0.5, 8.0


@dataclass
class TargetSlack(WaitForK):
    """Waits for source progress, or for a K that the chosen share of inputs exceeds.

    Args:
        target: what the user accepts.
        k_us: K to begin with.
    """

    target: ReleaseTarget
    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "before"
    every_sample: bool = False
    ignores_delays_within_k: bool = True
    _fitted_us: float = 0.0
    _announced_us: int = 0
    _rate: float = field(init=False)
    _counted: int = 0

    def __post_init__(self) -> None:
        self._fitted_us = float(self.k_us)
        self._rate = self.target.late_share
        self._fit()

    def measure(self, sample: DelaySample) -> None:
        """Raise K to the delay if that is greater."""
        if sample.delay_us > self.k_us:
            self._fitted_us = float(sample.delay_us)
            self._rate *= exp(-SLOWER)
            self._fit()

    def settle(self, inputs: int) -> None:
        """Let K fall for the inputs in time since the last call."""
        if inputs == self._counted:
            return
        in_time, self._counted = max(0, inputs - self._counted), inputs
        share = self.target.late_share
        if self._fitted_us:
            self._fitted_us *= exp(-self._rate * in_time)
            self._fit()
        if self._rate < FASTEST * share:
            self._rate = min(self._rate * exp(min(SLOWER * share * in_time, SLOWER)), FASTEST * share)

    def announce(self, delay_us: int) -> None:
        """Raise K before the first input arrives that late."""
        self._announced_us = max(self._announced_us, delay_us)
        self._fit()

    def expect(self, delay_us: int) -> None:
        """Let K fall to what was measured here, but not below what is still announced."""
        self._announced_us = delay_us
        self._fit()

    def rebase(self, k_us: int) -> None:
        """Begin anew with K: the delays that it was fitted to belong to another path."""
        self._fitted_us, self._announced_us = float(k_us), 0
        self._fit()

    def take_over(self, k_us: int) -> None:
        """Begin with the K of the policy before."""
        self._fitted_us = max(self._fitted_us, float(k_us))
        self._fit()

    def _fit(self) -> None:
        k_us, longest_us = max(ceil(self._fitted_us), self._announced_us), self.target.max_wait_us
        self.k_us = k_us if longest_us is None else min(k_us, longest_us)
