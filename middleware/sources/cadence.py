"""Cadence: the earliest time that the next sample of a source can be dated at, learned from the samples before.

Theory of operation
-------------------
A sampler wakes up by a timer of fixed rate. It is never early, sometimes late, and does not pass its lateness on. So
the times of its samples, less their number times the period, have a sharp lower edge (on the data of paper 001: 1 to
15 ms below the median, mostly 3; above it up to 234 ms). A line under the samples foresees the next one far better
than any share of the last gap. The *line* is held from below: a sample before it pulls it down at once, a sample
behind it lets it rise by ``LEAK`` of a period at most, so that it follows drift. The *period* is the mean of the gaps;
the last ``PERIOD_SAMPLES`` weigh most. The *deficit*, by how much samples were before the line, is a margin and fades
slowly.

A source without a cadence shows: a sample off the line by more than half a period restarts the learning, which must
then last twice as long before the line is believed again.

Source: own work; it replaces a bound of ``rho`` times the median gap (paper 001).
All numbers are shares of the period, so nothing depends on the rate. They were not fitted: on the data sets D-1 to
D-5 the count of late events is zero for LEAK between 1/2000 and 1/128, margins between half and four times as wide
and PERIOD_SAMPLES between 16 and 256 (see docs/slack.md).
"""

from __future__ import annotations

from math import floor

#: The line may rise by this share of a period with each sample.
LEAK = 1 / 512

#: Share of a deficit that is left after the next sample.
DEFICIT_LEFT = 0.999

#: Samples over which the period is a mean.
PERIOD_SAMPLES = 64

#: Margin in periods while little is known: ``FIRST_MARGIN * 3 / (3 + samples)``.
FIRST_MARGIN = 0.1

#: Samples on the line before it is believed, at first and at most after a source was off it.
MIN_SAMPLES, MAX_SAMPLES = 2, 512

#: Before the first sample.
_NEVER_US = -(2**62)


class Cadence:
    """The line under the samples of one source.

    Attributes:
        bound_us: the next sample is not dated before this; ``-(2**62)`` as long as no cadence is believed.
        period_us: mean gap between samples.

    >>> cadence = Cadence()
    >>> for n in range(100):
    ...     cadence.take(n * 500_000)
    >>> 49_990_000 < cadence.bound_us <= 50_000_000
    True
    """

    __slots__ = ("_deficit_us", "_last_us", "_line_us", "_needed", "_steady", "bound_us", "period_us")

    def __init__(self) -> None:
        self.bound_us = _NEVER_US
        self.period_us = 0.0
        #: The line at the last sample, relative to it: never after it. So no zero of time matters.
        self._line_us = 0.0
        self._deficit_us = 0.0
        self._last_us = 0
        self._steady = 0
        self._needed = MIN_SAMPLES

    def take(self, ts_us: int) -> None:
        """Learn from the next sample in sequence."""
        gap_us = ts_us - self._last_us
        self._last_us = ts_us
        steady = self._steady
        self._steady = steady + 1
        if steady < 2:
            # The first sample has no gap, the second gives the first guess of the period.
            self._line_us = 0.0
            self.period_us = gap_us if steady else 0.0
            if steady and gap_us <= 0:
                self._restart()
            return
        period_us = self.period_us
        off_us = gap_us - period_us - self._line_us
        if not -period_us < 2 * off_us < period_us:
            self._restart()
            self._line_us = 0.0
            return
        deficit_us = self._deficit_us
        if off_us < 0:
            self._line_us = 0.0
            if -off_us > deficit_us:
                deficit_us = -off_us
        else:
            behind_us = LEAK * period_us - off_us
            self._line_us = behind_us if behind_us < 0 else 0.0
        self._deficit_us = DEFICIT_LEFT * deficit_us
        self.period_us = period_us = period_us + (gap_us - period_us) / (
            steady if steady < PERIOD_SAMPLES else PERIOD_SAMPLES
        )
        if steady >= self._needed:
            first_us = 3 * FIRST_MARGIN / (3 + steady) * period_us
            margin_us = deficit_us if deficit_us > first_us else first_us
            self.bound_us = ts_us + floor(self._line_us + period_us * (1 - LEAK) - margin_us)
            if steady == 8 * self._needed:
                self._needed = MIN_SAMPLES

    def skip(self) -> None:
        """Restart after missing samples; the source is believed as soon as before."""
        self._steady = 0
        self.bound_us = _NEVER_US

    def _restart(self) -> None:
        """Restart after a sample off the line; the source must be on it for twice as long."""
        self._steady = 1
        self._needed = min(2 * self._needed, MAX_SAMPLES)
        self.bound_us = _NEVER_US
