"""K-slack: K is set, grows to the greatest delay, or is fitted to the recent delays with a margin."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from middleware.ordering.slack.protocol import Clock, DelaySample, Learns, WaitForK
from middleware.ordering.slack.windows import Window

#: Margin in standard deviations with which papers 002 and 004 ordered every event of their detector.
LAMBDA = 0.5

#: Delays of this much arrival time count as recent; the papers say "recent" and give no figure.
RECENT_US = 30_000_000


@dataclass
class FixedSlack(WaitForK):
    """K is set (the K-slack of the literature, 000 section 3.2)."""

    k_us: int
    clock: Clock = "event"
    learns: Learns = "before"
    every_sample: bool = False
    ignores_delays_within_k: bool = True

    def measure(self, sample: DelaySample) -> None:
        """Ignore delays."""


@dataclass
class DynamicSlack(WaitForK):
    """K = the greatest delay so far (000 section 3.2; 004 algorithm 1, without lambda).

    ``k_us`` is the K to begin with: 0, or what an earlier run or an estimate gave
    (``app/run/last_slack.py``, ``bench/slack_calibration.py``).
    """

    k_us: int = 0
    clock: Clock = "event"
    learns: Learns = "before"
    every_sample: bool = False
    ignores_delays_within_k: bool = True

    def measure(self, sample: DelaySample) -> None:
        """Raise K to the delay if that is greater."""
        if sample.delay_us > self.k_us:
            self.k_us = sample.delay_us

    def announce(self, delay_us: int) -> None:
        """Raise K before the first input arrives that late."""
        self.k_us = max(self.k_us, delay_us)

    def rebase(self, k_us: int) -> None:
        """Set K: the delays that it was the greatest of belong to another path."""
        self.k_us = k_us

    def take_over(self, k_us: int) -> None:
        """Begin with the K of the policy before: the delays that it measured may come again."""
        self.k_us = max(self.k_us, k_us)


@dataclass
class AdaptiveSlack(WaitForK):
    """K = greatest recent delay + lambda * their standard deviation (002 section 4.1; 004 II-E2).

    K grows at once with a greater delay and shrinks as delays grow old. It does not shrink below what a unit below has
    announced: the inputs from there are still to come.

    Args:
        k_us: K to begin with, a floor until ``span_us`` has been measured.
        scale: lambda.
        span_us: how long a delay counts as recent (arrival time).
    """

    k_us: int = 0
    scale: float = LAMBDA
    span_us: int = RECENT_US
    clock: Clock = "event"
    learns: Learns = "before"
    every_sample: bool = True
    floor_us: int = 0
    _first_us: int | None = None
    _announced_us: int = 0
    _fitted_us: int = 0
    _window: Window = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.floor_us = self.k_us
        self._window = Window(span_us=self.span_us)

    def measure(self, sample: DelaySample) -> None:
        """Fit K to the recent delays."""
        if self._first_us is None:
            self._first_us = sample.now_us
        elif self.floor_us and sample.now_us - self._first_us > self.span_us:
            self.floor_us = 0
        window = self._window
        window.add(max(0, sample.delay_us), sample.now_us)
        self._fitted_us = window.extreme_us("highest") + ceil(self.scale * window.deviation_us)
        self.k_us = max(self._fitted_us, self.floor_us, self._announced_us)

    def announce(self, delay_us: int) -> None:
        """Raise K before the first input arrives that late."""
        self._announced_us = max(self._announced_us, delay_us)
        self.k_us = max(self.k_us, delay_us)

    def expect(self, delay_us: int) -> None:
        """Let K shrink to what was measured here, but not below what is still announced."""
        self._announced_us = delay_us
        self.k_us = max(self._fitted_us, self.floor_us, delay_us)

    def rebase(self, k_us: int) -> None:
        """Begin anew with K: the delays of the window belong to another path."""
        self.k_us = self.floor_us = k_us
        self._announced_us = self._fitted_us = 0
        self._first_us = None
        self._window = Window(span_us=self.span_us)

    def take_over(self, k_us: int) -> None:
        """Begin with the K of the policy before, until it has measured enough itself."""
        self.floor_us = max(self.floor_us, k_us)
        self.k_us = max(self.k_us, k_us)
