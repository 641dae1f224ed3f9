"""Clocks of sources: offset and drift against arrival, steps, wraps, and the event times that follow from them.

Theory of operation
-------------------
Arrival is the gateway's own time line: ``arrival = source + offset + drift * source + delay``, and the delay is never
negative. So the lower envelope of ``arrival - source`` is the clock's line. The stream is divided into bins; of
each bin the least difference counts (the packet that waited least). The slope of the line is the median of the slopes
of all pairs of bins (Theil 1950, Sen 1968), which a third of bad bins does not move; its level is a low quantile of
what is left. The shortest delay itself cannot be seen in one direction; the profile may state it (``latency_us``).

Event times must not jump when an estimate changes. The line in use goes over into the estimated one at no more than
``SLEW_PPM``. It follows at once only where a packet arrives before its own event time, since that proves the line
wrong. A *step* is a change of the source's clock beyond ``STEP_US`` that several packets in a row agree on; the line
then begins anew, and event time goes on without a gap. Single packets with such times are refused.

A source without times has those of arrival. How well they are known is measured: the spread of the intervals between
a transmitter's arrivals around their median.
"""

from __future__ import annotations

from collections import deque

import msgspec
import numpy as np

#: Length of a bin, and bins that are remembered: ten minutes.
BIN_US, BINS_MAX = 5_000_000, 120

#: Share of the level's quantile among the bins.
_LEVEL = 0.1

#: Fastest change of the line in use, parts per million of time.
SLEW_PPM = 500.0

#: Difference from the line that no delay explains: ahead of arrival, and behind it. A packet that is that late is late.
STEP_US, BEHIND_US = 50_000, 30_000_000

#: Packets in a row that prove a step, and how well they must agree.
_STEP_PACKETS, _STEP_AGREE_US = 8, 2_000_000

#: A drift that no oscillator has is a wrong unit of time.
DRIFT_MAX_PPM = 2_000.0

_INTERVALS_MAX = 512


class ClockFigures(msgspec.Struct, frozen=True):
    """How a source's clock stands against the gateway's.

    Attributes:
        offset_us: source's clock plus this is the gateway's time, now; includes the shortest delay.
        drift_ppm: how much faster the gateway's clock runs.
        residual_us: spread of the bins' least delays around the line, a standard deviation (from the median deviation).
        bins: bins behind the estimate; below three there is no drift.
        steps: steps of the source's clock.
        wraps: times at which it began at 0 again.
        refused: single packets whose time fits nothing.
        turned_us: event times are earlier by so much, to be those of another feed (:mod:`app.gateway.agreement`).
    """

    offset_us: int
    drift_ppm: float
    residual_us: float
    bins: int
    steps: int
    wraps: int
    refused: int
    turned_us: int = 0


class SourceClock:
    """Maps the times of one source to the gateway's time line.

    Args:
        latency_us: shortest time from a measurement to its arrival, as far as known.
        wraps_us: source time at which it begins at 0 again; 0 if it does not.
        fixed_us: the offset, for a clock that is set by the same standard; None to estimate it.

    Attributes:
        turned_us: event times are earlier by so much, see :meth:`turn_to`.
    """

    def __init__(self, latency_us: int = 0, wraps_us: int = 0, fixed_us: int | None = None) -> None:
        self._latency_us, self._wraps_us, self._fixed_us = latency_us, wraps_us, fixed_us
        self._wrapped_us = 0
        self._newest_us: int | None = None
        self._bins: deque[tuple[int, int]] = deque(maxlen=BINS_MAX)
        self._bin: int | None = None
        self._least: tuple[int, int] = (0, 0)
        #: The line in use: at source time ``_at_us`` the offset is ``_offset_us``, and changes by ``_slope``.
        self._at_us, self._offset_us, self._slope = 0, 0.0, 0.0
        self._estimate: tuple[int, float, float] | None = None
        self._residual_us = 0.0
        self._has_line = False
        self._odd: deque[int] = deque(maxlen=_STEP_PACKETS)
        self._steps = self._wraps = self._refused = 0
        self._aim_us, self.turned_us, self._turned_at_us = 0.0, 0.0, 0

    def turn_to(self, earlier_us: float) -> None:
        """Make event times earlier by so much in all, as slowly as the line turns; not of a clock that is set."""
        if self._fixed_us is None:
            self._aim_us, self._turned_at_us = earlier_us, self._newest_us or 0

    def _turned(self, source_us: int) -> float:
        if self.turned_us != self._aim_us and source_us > self._turned_at_us:
            most_us = SLEW_PPM * 1e-6 * (source_us - self._turned_at_us)
            self.turned_us += min(most_us, max(-most_us, self._aim_us - self.turned_us))
            self._turned_at_us = source_us
        return self.turned_us

    def event_us(self, source_us: int, arrival_us: int) -> int | None:
        """Return the event time of a packet on the gateway's time line; None if its time cannot be used."""
        source_us = self._unwrapped(source_us)
        if self._fixed_us is not None:
            event_us = source_us + self._fixed_us
            if event_us > arrival_us + STEP_US:
                self._refused += 1
                return None
            self._observe(source_us, arrival_us)
            return event_us
        difference_us = arrival_us - source_us
        if not self._has_line:
            self._begin(source_us, difference_us)
        offset_us = self._offset_at(source_us)
        if difference_us < offset_us - STEP_US or difference_us > offset_us + BEHIND_US:
            if not self._is_step(difference_us):
                self._refused += 1
                return None
            self._steps += 1
            self._begin(source_us, min(self._odd))
            self._odd.clear()
            offset_us = self._offset_us
        else:
            self._odd.clear()
            if difference_us < offset_us:
                self._at_us, self._offset_us = source_us, float(difference_us)
                offset_us = self._offset_us
        self._observe(source_us, arrival_us)
        return round(source_us + offset_us - self._turned(source_us)) - self._latency_us

    def figures(self) -> ClockFigures:
        """Return how the clock stands."""
        at_us = self._newest_us or 0
        if self._estimate is None:
            offset_us = self._offset_at(at_us) if self._has_line else float(self._fixed_us or 0)
            slope = 0.0
        else:
            origin_us, level_us, slope = self._estimate
            offset_us = level_us + slope * (at_us - origin_us)
        return ClockFigures(
            round(offset_us), round(slope * 1e6, 3), round(self._residual_us, 1), len(self._bins), self._steps,
            self._wraps, self._refused, round(self.turned_us),
        )  # fmt: skip

    def _unwrapped(self, source_us: int) -> int:
        """Return the source time with the wraps so far, the one nearest to the newest time."""
        if self._wraps_us:
            source_us += self._wrapped_us
            if self._newest_us is not None:
                half_us = self._wraps_us // 2
                if source_us < self._newest_us - half_us:
                    self._wrapped_us += self._wraps_us
                    self._wraps += 1
                    source_us += self._wraps_us
                elif source_us > self._newest_us + half_us:
                    source_us -= self._wraps_us
        self._newest_us = source_us if self._newest_us is None else max(self._newest_us, source_us)
        return source_us

    def _begin(self, source_us: int, difference_us: int) -> None:
        self._at_us, self._offset_us, self._slope = source_us, float(difference_us), 0.0
        self._newest_us = self._turned_at_us = source_us
        self._bins.clear()
        self._bin, self._estimate, self._has_line = None, None, True

    def _offset_at(self, source_us: int) -> float:
        return self._offset_us + self._slope * (source_us - self._at_us)

    def _is_step(self, difference_us: int) -> bool:
        """True if the last packets in a row agree on another offset."""
        if self._odd and abs(difference_us - self._odd[-1]) > _STEP_AGREE_US:
            self._odd.clear()
        self._odd.append(difference_us)
        return len(self._odd) == _STEP_PACKETS

    def _observe(self, source_us: int, arrival_us: int) -> None:
        """Take in a packet for the estimate."""
        number, difference_us = source_us // BIN_US, arrival_us - source_us
        if number == self._bin:
            if difference_us < self._least[1]:
                self._least = source_us, difference_us
            return
        if self._bin is not None and number > self._bin:
            self._bins.append(self._least)
            self._fit()
        if self._bin is None or number > self._bin:
            self._bin, self._least = number, (source_us, difference_us)

    def _fit(self) -> None:
        """Estimate the line from the bins, and turn the line in use towards it."""
        if len(self._bins) < 3:
            return
        points = np.array(self._bins, np.float64)
        origin_us = points[-1, 0]
        at_us, least_us = points[:, 0] - origin_us, points[:, 1]
        first, second = np.triu_indices(len(points), 1)
        slope = float(np.median((least_us[second] - least_us[first]) / (at_us[second] - at_us[first])))
        rest_us = least_us - slope * at_us
        level_us = float(np.quantile(rest_us, _LEVEL))
        self._residual_us = 1.4826 * float(np.median(np.abs(rest_us - np.median(rest_us))))
        self._estimate = int(origin_us), level_us, slope
        if self._fixed_us is not None:
            return
        now_us = self._newest_us or 0
        present_us = self._offset_at(now_us)
        # The line reaches the estimate by the next fit, as far as its slew allows.
        wanted_us = level_us + slope * (now_us + BIN_US - origin_us)
        turn = (wanted_us - present_us) / BIN_US
        self._at_us, self._offset_us = now_us, present_us
        self._slope = min(SLEW_PPM * 1e-6, max(-SLEW_PPM * 1e-6, turn))


class ArrivalJitter:
    """Spread of a transmitter's arrivals around an even beat, for sources without times of their own."""

    def __init__(self) -> None:
        self._last_us: dict[str, int] = {}
        self._intervals_us: deque[int] = deque(maxlen=_INTERVALS_MAX)

    def observe(self, transmitter: str, arrival_us: int) -> None:
        """Take in an arrival."""
        before_us = self._last_us.get(transmitter)
        self._last_us[transmitter] = arrival_us
        if before_us is not None:
            self._intervals_us.append(arrival_us - before_us)

    @property
    def jitter_us(self) -> float:
        """Standard deviation of one arrival (from the median deviation of the intervals); 0 without two intervals."""
        if len(self._intervals_us) < 2:
            return 0.0
        intervals = np.array(self._intervals_us, np.float64)
        # An interval has the errors of two arrivals.
        return round(1.4826 * float(np.median(np.abs(intervals - np.median(intervals)))) / 2**0.5, 1)
