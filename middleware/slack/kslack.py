"""K-slack: K set beforehand, or grown to the greatest delay seen."""

from __future__ import annotations

from dataclasses import dataclass

from middleware.slack.protocol import Clock, Learns, Seen, Waiting


@dataclass
class FixedSlack(Waiting):
    """K set beforehand (the K-slack of the literature, 000 section 3.2)."""

    k_us: int
    clock: Clock = "event"
    learns: Learns = "before"
    each: bool = False

    def measure(self, seen: Seen) -> None:
        """A fixed slack learns nothing."""


@dataclass
class DynamicSlack(Waiting):
    """K = the greatest delay seen so far (000 section 3.2; 004 algorithm 1, without lambda)."""

    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "before"
    each: bool = False

    def measure(self, seen: Seen) -> None:
        """Grows K to the delay if that is more."""
        if seen.delay_us > self.k_us:
            self.k_us = seen.delay_us

    def announce(self, delay_us: int) -> None:
        """Grows K before the first input comes that late."""
        self.k_us = max(self.k_us, delay_us)

    def succeed(self, k_us: int) -> None:
        """Begins with the K of its predecessor: the delays that it has seen may come again."""
        self.k_us = max(self.k_us, k_us)
