"""Flink's watermark of bounded out-of-orderness, for comparison.

A watermark trails the greatest event time by a set bound and a millisecond more, and is emitted at intervals of
processing time (``WatermarkStrategy.forBoundedOutOfOrderness``, ``auto-watermark-interval``). Events up to it are
released. Here an interval ends with the first push after it.
"""

from __future__ import annotations

from dataclasses import dataclass

from middleware.events import BEGINNING_US
from middleware.ordering.slack.protocol import Clock, DelaySample, Learns, WaitForK

#: The bound, unless one is given; Flink has no default, and this is the buffer of paper 001.
FLINK_US = 700_000

#: Flink's default interval, and the millisecond that its watermark trails by besides the bound.
INTERVAL_US, TRAILS_US = 200_000, 1_000


@dataclass
class BoundedLateness(WaitForK):
    """A watermark that trails the greatest event time by ``k_us``, renewed at intervals."""

    k_us: int = FLINK_US
    clock: Clock = "event"
    learns: Learns = "before"
    every_sample: bool = True
    _now_us: int = BEGINNING_US
    _emitted_us: int = BEGINNING_US
    _watermark_us: int = BEGINNING_US

    def measure(self, sample: DelaySample) -> None:
        """Note the arrival time."""
        self._now_us = sample.now_us

    def limit_us(self, clock_us: int, progress_us: int, alpha: float) -> int:
        """Return the watermark as it was emitted last, or what is final if that is later."""
        if self._now_us >= self._emitted_us + INTERVAL_US:
            self._emitted_us = self._now_us
            self._watermark_us = max(self._watermark_us, clock_us - round(alpha * (self.k_us + TRAILS_US)))
        return max(self._watermark_us, progress_us)
