"""K-slack: K set beforehand, grown to the greatest delay seen, or fitted to the recent delays with a margin."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from middleware.ordering.slack.protocol import Clock, Learns, Seen, Waiting
from middleware.ordering.slack.windows import Window

#: Margin in standard deviations with which papers 002 and 004 ordered every event of their detector.
LAMBDA = 0.5

#: Over which time delays count as recent; the papers say "recent" and give no figure.
RECENT_US = 30_000_000


@dataclass
class FixedSlack(Waiting):
    """K set beforehand (the K-slack of the literature, 000 section 3.2)."""

    k_us: int
    clock: Clock = "event"
    learns: Learns = "before"
    each: bool = False
    plain: bool = True

    def measure(self, seen: Seen) -> None:
        """A fixed slack learns nothing."""


@dataclass
class DynamicSlack(Waiting):
    """K = the greatest delay seen so far (000 section 3.2; 004 algorithm 1, without lambda).

    ``k_us`` is the K to begin with: 0, or what an earlier run or an estimate has shown
    (:mod:`middleware.slack.calibration`).
    """

    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "before"
    each: bool = False
    plain: bool = True

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


@dataclass
class AdaptiveSlack(Waiting):
    """K = greatest recent delay + lambda * their standard deviation (002 section 4.1; 004 II-E2).

    It grows with a delay at once and shrinks as delays grow old, but not below what a unit beneath has announced:
    that unit's events are still to come.

    Args:
        k_us: K to begin with, kept as a floor until as much has been seen as counts as recent.
        scale: lambda.
        span_us: how long a delay counts as recent (arrival time).
    """

    k_us: int = 0
    scale: float = LAMBDA
    span_us: int = RECENT_US
    clock: Clock = "event"
    learns: Learns = "before"
    each: bool = True
    floor_us: int = 0
    _first_us: int | None = None
    _told_us: int = 0
    _window: Window = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.floor_us = self.k_us
        self._window = Window(span_us=self.span_us)

    def measure(self, seen: Seen) -> None:
        """Fits K anew."""
        if self._first_us is None:
            self._first_us = seen.now_us
        elif self.floor_us and seen.now_us - self._first_us > self.span_us:
            self.floor_us = 0
        window = self._window
        window.add(max(0, seen.delay_us), seen.now_us)
        fitted_us = window.extreme_us("greatest") + ceil(self.scale * window.deviation_us)
        self.k_us = max(fitted_us, self.floor_us, self._told_us)

    def announce(self, delay_us: int) -> None:
        """Grows K before the first input comes that late."""
        self._told_us = max(self._told_us, delay_us)
        self.k_us = max(self.k_us, delay_us)

    def succeed(self, k_us: int) -> None:
        """Begins with the K of its predecessor until it has seen enough of its own."""
        self.floor_us = max(self.floor_us, k_us)
        self.k_us = max(self.k_us, k_us)
