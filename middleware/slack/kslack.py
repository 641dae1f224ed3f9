"""K-slack: K set beforehand, or grown to the greatest delay seen."""

from __future__ import annotations

from dataclasses import dataclass

from middleware.slack.protocol import Clock, Seen


@dataclass
class FixedSlack:
    """K set beforehand (the K-slack of the literature, 000 section 3.2)."""

    k_us: int
    clock: Clock = "event"
    each: bool = False

    def measure(self, seen: Seen) -> None:
        """A fixed slack learns nothing."""

    def succeed(self, k_us: int) -> None:
        """What was learned before does not count against what was set."""


@dataclass
class DynamicSlack:
    """K = the greatest delay seen so far (000 section 3.2; 004 algorithm 1, without lambda)."""

    k_us: int = 0
    clock: Clock = "event"
    each: bool = False

    def measure(self, seen: Seen) -> None:
        """Grows K to the delay if that is more."""
        if seen.delay_us > self.k_us:
            self.k_us = seen.delay_us

    def succeed(self, k_us: int) -> None:
        """Begins with the K of its predecessor: the delays that it has seen may come again."""
        self.k_us = max(self.k_us, k_us)
