"""The frontier as a slack policy: an input waits until its sources have told everything up to its time."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from middleware.events import BEGINNING_US
from middleware.ordering.slack.protocol import Clock, Learns, Seen, Waiting


@dataclass
class ProgressSlack(Waiting):
    """Goes by source progress (:mod:`middleware.sources.progress`) less the horizons below, not by a guess of delays.

    ``k_us`` is not set but read off: how far the frontier trails the clock. So alpha means what it means elsewhere:
    the share of the wait that is waited.
    """

    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "never"
    each: bool = False

    def measure(self, seen: Seen) -> None:
        """Delays do not matter."""

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Between the clock (alpha 0) and the frontier (alpha 1)."""
        if progress_us == BEGINNING_US:
            return progress_us if alpha == 1.0 else clock_us - ceil(alpha * self.k_us)
        self.k_us = max(0, clock_us - progress_us)
        return max(clock_us - ceil(alpha * self.k_us), progress_us)
