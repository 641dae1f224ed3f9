"""House time: UTC and SMPTE timecode of event times, so that clips and other people's video can be conformed.

Theory of operation
-------------------
A timecode is a number of frames since midnight of the house clock, written as hours, minutes, seconds, frames. At
29.97 and 59.94 frames a second the count runs slower than the clock; *drop frame* leaves out the first two (four)
numbers of each minute but every tenth, so that the written time follows the clock (SMPTE ST 12-1).

The house clock is UTC plus its zone. Where somebody has read the timecode of one moment, such as a kick-off on a
monitor, that moment is the anchor, and the frames are counted from it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

import msgspec
import numpy as np

from football.errors import UserError
from football.untrusted import Int64

DAY_US: Final = 86_400_000_000

#: Frames that the written code counts in a second, and real frames in a second, by the name of the rate.
RATES: Final = {
    "23.976": (24, Fraction(24_000, 1_001)),
    "24": (24, Fraction(24)),
    "25": (25, Fraction(25)),
    "29.97": (30, Fraction(30_000, 1_001)),
    "29.97df": (30, Fraction(30_000, 1_001)),
    "30": (30, Fraction(30)),
    "50": (50, Fraction(50)),
    "59.94": (60, Fraction(60_000, 1_001)),
    "59.94df": (60, Fraction(60_000, 1_001)),
    "60": (60, Fraction(60)),
}

_CODE = re.compile(r"(\d\d):([0-5]\d):([0-5]\d)[:;.](\d\d)", re.ASCII)


class TimecodeError(UserError, ValueError):
    """A timecode or a rate that does not exist; the message says why."""


def frame_of(code: str, rate: str) -> int:
    """Return the number of a timecode's frame since midnight.

    >>> frame_of("00:01:00;02", "29.97df"), frame_of("01:00:00:00", "25")
    (1800, 90000)

    Raises:
        TimecodeError: no timecode of this rate.
    """
    whole, dropped = _rate(rate)[0], _dropped(rate)
    found = _CODE.fullmatch(code)
    if found is None:
        raise TimecodeError(f"{code}: no timecode: write hours, minutes, seconds and frames, such as 20:15:33:07")
    hours, minutes, seconds, frames = map(int, found.groups())
    if hours > 23 or frames >= whole:
        raise TimecodeError(f"{code}: no timecode at {rate} frames a second")
    if dropped and minutes % 10 and not seconds and frames < dropped:
        raise TimecodeError(f"{code}: this frame is dropped at {rate}: the next one is {code[:-2]}{dropped:02d}")
    total = 60 * hours + minutes
    return whole * (60 * total + seconds) + frames - dropped * (total - total // 10)


def code_of(frame: int, rate: str) -> str:
    """Return the timecode of a frame since midnight; after a day it begins again. Drop frame has a semicolon.

    >>> code_of(1799, "29.97df"), code_of(1800, "29.97df"), code_of(90_001, "25")
    ('00:00:59;29', '00:01:00;02', '01:00:00:01')
    """
    whole, dropped = _rate(rate)[0], _dropped(rate)
    ten_minutes = 600 * whole - 9 * dropped
    frame %= 144 * ten_minutes
    if dropped:
        tens, rest = divmod(frame, ten_minutes)
        frame += 9 * dropped * tens
        if rest >= dropped:
            frame += dropped * ((rest - dropped) // (60 * whole - dropped))
    seconds, frames = divmod(frame, whole)
    mark = ";" if dropped else ":"
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{mark}{frames:02d}"


class HouseTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How event time stands to UTC and to the timecode of the house.

    Attributes:
        zero_utc_us: UTC of event time 0, in microseconds since 1970; None where nobody knows it.
        utc_error_us: greatest error of that, as the clock that stamped arrivals states it; None if it states none.
        rate: of the timecode, a name of ``RATES``.
        zone_s: the house clock less UTC.
        anchor_us, anchor_code: event time of a moment, and its timecode, where somebody has read it.

    Raises:
        TimecodeError: a rate or a code that does not exist.
    """

    zero_utc_us: Int64 | None = None
    utc_error_us: Int64 | None = None
    rate: str = "25"
    zone_s: Int64 = 0
    anchor_us: Int64 = 0
    anchor_code: str = ""

    def __post_init__(self) -> None:
        _rate(self.rate)
        if self.anchor_code:
            frame_of(self.anchor_code, self.rate)
        if abs(self.zone_s) > 86_400:
            raise TimecodeError(f"a zone of {self.zone_s} s: the house clock is within a day of UTC")
        if self.zero_utc_us is not None and not 0 <= self.zero_utc_us < 2**52:
            raise TimecodeError(f"{self.zero_utc_us} us since 1970 is no time of a match")

    def utc(self, ts_us: int) -> str:
        """Return UTC of an event time by ISO 8601, to the microsecond; empty if it is not known."""
        if self.zero_utc_us is None:
            return ""
        return f"{np.datetime64(self.zero_utc_us + ts_us, 'us')}Z"

    def timecode(self, ts_us: int) -> str:
        """Return the timecode of the frame that shows an event time; empty if it is not known."""
        frame = self.frame(ts_us)
        return "" if frame is None else code_of(frame, self.rate)

    def frame(self, ts_us: int) -> int | None:
        """Return the number of that frame since midnight, or since the midnight before the anchor; None if unknown."""
        exact = _rate(self.rate)[1]
        if self.anchor_code:
            return frame_of(self.anchor_code, self.rate) + (ts_us - self.anchor_us) * exact.numerator // (
                exact.denominator * 1_000_000
            )
        if self.zero_utc_us is None:
            return None
        since_us = (self.zero_utc_us + ts_us + self.zone_s * 1_000_000) % DAY_US
        return since_us * exact.numerator // (exact.denominator * 1_000_000)


def _rate(name: str) -> tuple[int, Fraction]:
    if name not in RATES:
        raise TimecodeError(f"{name}: no rate of timecodes: {', '.join(RATES)}")
    return RATES[name]


def _dropped(rate: str) -> int:
    return RATES[rate][0] // 15 if rate.endswith("df") else 0
