"""Buffer-time estimators of paper 001, section 4: an event leaves when its time + B <= arrival time.

Times are transmission times: arrival less event time, so both must have one zero. There are two profiles: ``literal``
follows the paper's text, ``paper`` reproduces its table 5 and was found by trying (docs/slack.md).

| | literal | paper |
|---|---|---|
| BETTA, BETTWA | window of 20 s; measured before the releases of a run | the last 40 (20 s / 500 ms); after them |
| BETTD | range over 300 s | greatest of the last 600 (300 s / 500 ms), least taken as 0 |

Both profiles raise BETT's B where the text lowers it, and lower it where the text raises it: as printed ("if tt +
offset is smaller ... will be increased") B would grow without bound. B rises to what the delay asks for; the printed
``B * 2 + 500`` overshoots the paper's own figures by half.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from middleware.ordering.slack.protocol import Clock, DelaySample, Learns, WaitForK
from middleware.ordering.slack.windows import Window

Profile = Literal["literal", "paper"]

#: Parameters of section 5 of the paper, in microseconds.
SBA_US = 700_000
BETT_FIRST_US, BETT_OFFSET_US, BETT_THRESHOLD_US, BETT_DECREASE = 500_000, 500_000, 100_000, 0.99
MEAN_FIRST_US, MEAN_OFFSET_US, MEAN_WINDOW_US, MEAN_COUNT = 700_000, 700_000, 20_000_000, 40
RANGE_FIRST_US, RANGE_OFFSET_US, RANGE_WINDOW_US, RANGE_COUNT = 750_000, 350_000, 300_000_000, 600


@dataclass
class StaticBuffer(WaitForK):
    """SBA (4.1): B is set."""

    k_us: int = SBA_US
    clock: Clock = "arrival"
    learns: Learns = "before"
    every_sample: bool = False

    def measure(self, sample: DelaySample) -> None:
        """Ignore delays."""


@dataclass
class SingleTime(WaitForK):
    """BETT (4.2): up to the last transmission time + offset at once, down by a factor if that is far below B."""

    k_us: int = BETT_FIRST_US
    offset_us: int = BETT_OFFSET_US
    threshold_us: int = BETT_THRESHOLD_US
    decrease: float = BETT_DECREASE
    clock: Clock = "arrival"
    learns: Learns = "before"
    every_sample: bool = True
    _buffer_us: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._buffer_us = float(self.k_us)

    def measure(self, sample: DelaySample) -> None:
        """Move B by one transmission time."""
        wanted_us = sample.now_us - sample.ts_us + self.offset_us
        if wanted_us > self._buffer_us:
            self._buffer_us = float(wanted_us)
        elif wanted_us + self.threshold_us < self._buffer_us:
            self._buffer_us *= self.decrease
        self.k_us = round(self._buffer_us)


@dataclass
class MeanTime(WaitForK):
    """BETTA (4.3) and, with ``weighted``, BETTWA (4.4): mean transmission time of a window + offset."""

    weighted: bool = False
    profile: Profile = "literal"
    k_us: int = MEAN_FIRST_US
    offset_us: int = MEAN_OFFSET_US
    clock: Clock = "arrival"
    every_sample: bool = True
    learns: Learns = field(init=False)
    _window: Window = field(init=False, repr=False)

    def __post_init__(self) -> None:
        literal = self.profile == "literal"
        self.learns = "before" if literal else "after"
        self._window = Window(span_us=MEAN_WINDOW_US) if literal else Window(count=MEAN_COUNT)

    def measure(self, sample: DelaySample) -> None:
        """Compute the mean with one more transmission time."""
        self._window.add(sample.now_us - sample.ts_us, sample.now_us)
        mean_us = self._window.mean_by_age_us if self.weighted else self._window.mean_us
        if mean_us is not None:
            self.k_us = round(mean_us) + self.offset_us


@dataclass
class RangeOfTimes(WaitForK):
    """BETTD (4.5): greatest less least transmission time of a window + offset."""

    profile: Profile = "literal"
    k_us: int = RANGE_FIRST_US
    offset_us: int = RANGE_OFFSET_US
    clock: Clock = "arrival"
    learns: Learns = "before"
    every_sample: bool = True
    _window: Window = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._window = Window(span_us=RANGE_WINDOW_US) if self.profile == "literal" else Window(count=RANGE_COUNT)

    def measure(self, sample: DelaySample) -> None:
        """Compute the range with one more transmission time."""
        window = self._window
        window.add(sample.now_us - sample.ts_us, sample.now_us)
        lowest_us = window.extreme_us("lowest") if self.profile == "literal" else 0
        self.k_us = window.extreme_us("highest") - lowest_us + self.offset_us
