"""Slack by source progress: an input waits until its sources have reported everything up to its time.

The method is called ``progress`` in settings and on the command line.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from middleware.events import BEGINNING_US
from middleware.ordering.slack.protocol import Clock, DelaySample, Learns, WaitForK


@dataclass
class ProgressSlack(WaitForK):
    """Waits for source progress (:mod:`middleware.sources.progress`) less the horizons below, not for a guessed delay.

    ``k_us`` is not set but read off: how far progress trails the clock. So alpha means what it means elsewhere: the
    share of the wait that an input waits.
    """

    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "never"
    every_sample: bool = False

    def measure(self, sample: DelaySample) -> None:
        """Ignore delays."""

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Return a time between the clock (alpha 0) and source progress (alpha 1)."""
        if progress_us == BEGINNING_US:
            return progress_us if alpha == 1.0 else clock_us - ceil(alpha * self.k_us)
        self.k_us = max(0, clock_us - progress_us)
        return max(clock_us - ceil(alpha * self.k_us), progress_us)
