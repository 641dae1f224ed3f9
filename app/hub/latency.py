"""Latency histograms of fixed size: percentiles of millions of measurements in a few kilobytes."""

from __future__ import annotations

import math
from collections.abc import Iterable

_LOWEST_US = 10
_BUCKETS_PER_DOUBLING = 16  # each is 4.4 % wide, so a percentile is right to about that
_BUCKETS = 27 * _BUCKETS_PER_DOUBLING  # up to 10 us * 2**27 = 22 minutes

PERCENTILES = (50.0, 95.0, 99.0)


class Histogram:
    """Counts durations in logarithmic buckets. Negative durations (clock steps) count as the lowest."""

    def __init__(self) -> None:
        self.count = 0
        self.max_us = 0
        self.total_us = 0
        self._counts = [0] * _BUCKETS

    def add(self, duration_us: int) -> None:
        """Counts one duration."""
        bucket = 0
        if duration_us > _LOWEST_US:
            bucket = min(_BUCKETS - 1, int(math.log2(duration_us / _LOWEST_US) * _BUCKETS_PER_DOUBLING))
        self._counts[bucket] += 1
        self.count += 1
        self.max_us = max(self.max_us, duration_us)
        self.total_us += max(0, duration_us)

    def extend(self, durations_us: Iterable[int]) -> None:
        """Counts many."""
        for duration_us in durations_us:
            self.add(duration_us)

    def percentile_us(self, percent: float) -> int | None:
        """The duration that ``percent`` of the measurements do not exceed; None without measurements.

        >>> histogram = Histogram(); histogram.extend([100, 200, 300_000])
        >>> 190 < histogram.percentile_us(50) < 210, histogram.percentile_us(100)
        (True, 300000)
        """
        assert 0.0 < percent <= 100.0
        if self.count == 0:
            return None
        wanted = math.ceil(self.count * percent / 100.0)
        seen = 0
        for bucket, count in enumerate(self._counts):
            seen += count
            if seen >= wanted:
                upper_us = round(_LOWEST_US * 2 ** ((bucket + 1) / _BUCKETS_PER_DOUBLING))
                return min(upper_us, max(self.max_us, 0))
        raise AssertionError("the buckets hold fewer than were counted")

    def cumulative(self) -> list[tuple[int, int]]:
        """Bounds in microseconds, each twice the one before, and how many durations lie below each.

        >>> histogram = Histogram(); histogram.extend([100, 200, 300_000])
        >>> [(bound_us, count) for bound_us, count in histogram.cumulative() if bound_us in (160, 320, 327_680)]
        [(160, 1), (320, 2), (327680, 3)]
        """
        seen, bounds = 0, []
        for doubling in range(_BUCKETS // _BUCKETS_PER_DOUBLING):
            first = doubling * _BUCKETS_PER_DOUBLING
            seen += sum(self._counts[first : first + _BUCKETS_PER_DOUBLING])
            bounds.append((_LOWEST_US << (doubling + 1), seen))
        return bounds

    def percentiles_ms(self) -> dict[str, float]:
        """``p50``, ``p95``, ``p99`` in milliseconds; empty without measurements."""
        values_us = {f"p{percent:.0f}": self.percentile_us(percent) for percent in PERCENTILES}
        return {name: round(value_us / 1000, 2) for name, value_us in values_us.items() if value_us is not None}

    def summary_ms(self) -> dict[str, float]:
        """The percentiles, ``max`` and ``count``."""
        figures = self.percentiles_ms()
        if self.count:
            figures["max"] = round(self.max_us / 1000, 2)
        return {**figures, "count": self.count}
