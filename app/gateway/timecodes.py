"""A feed of timecode: when, on the gateway's time line, each frame of the house's SMPTE timecode began.

A reader of LTC, or a console that sends Art-Net timecode, names each frame as it begins. What travels arrives late,
never early. So of all frames of the last minute the one with the least delay counts, as for the clocks of sources
(:mod:`app.gateway.clock`); the others say how well it is known. Frames on which several in a row agree, and that fit no
longer, are a timecode that was set anew.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import msgspec
import numpy as np

from app.gateway.profile import GatewayProfileError, Profile
from app.gateway.records import RecordFinder
from app.gateway.values import RefusedError, number_of, text_of
from football.house_time import RATES, TimecodeError, code_of, frame_of
from football.packets import RejectedRecord
from football.untrusted import REJECTED_MAX
from replay.formats.value_path import NOTHING
from replay.house_times import Stamp

#: Frames of which the least delay counts: about a minute.
_FRAMES = 1_500

#: Difference from which a frame fits no longer, and frames in a row that make it a timecode that was set anew.
_STEP_US, _AGREE = 200_000, 8

_REFUSED_WAITING_MAX = 1_000


class TimecodeFigures(msgspec.Struct, frozen=True):
    """Figures of a feed of timecode.

    Attributes:
        messages: received.
        frames: that were named.
        steps: times that the timecode was set anew.
        refused: records that cannot be used, by reason.
        stamp: the newest; None before the first.
    """

    messages: int
    frames: int
    steps: int
    refused: dict[str, int]
    stamp: Stamp | None


class TimecodeFeed:
    """Turns the messages of a source of timecode into a stamp.

    Args:
        name: of the feed.
        profile: its form.

    Attributes:
        refused_records: that wait until somebody takes them.

    Raises:
        GatewayProfileError: the profile contradicts itself, or gives no timecode.
    """

    def __init__(self, name: str, profile: Profile) -> None:
        if profile.gives != "timecode":
            raise GatewayProfileError(f"{profile.title}: gives {profile.gives}, no timecode")
        self.name = name
        self._finder, self._form = RecordFinder(profile), profile.timecode
        self.refused_records: deque[RejectedRecord] = deque(maxlen=_REFUSED_WAITING_MAX)
        self._refused: Counter[str] = Counter()
        self._messages = self._frames = self._steps = 0
        self._rate = ""
        #: When frame 0 of the day began, as each frame says.
        self._zeros_us: deque[float] = deque(maxlen=_FRAMES)
        self._others_us: list[float] = []
        self._stamp: Stamp | None = None

    def receive(self, message: bytes, topic: str, arrival_us: int) -> None:
        """Take in a message that has arrived at a time of the gateway's time line."""
        self._messages += 1
        rejected: list[RejectedRecord] = []
        for record in self._finder.found(message, topic, rejected):
            if not record.is_wanted:
                continue
            try:
                self._take(*self.frame(record.values), arrival_us)
            except RefusedError as error:
                rejected.append(self._finder.rejected(f" record {record.section}.{record.key}", str(error), message))
        for one in rejected:
            if len(self._refused) < REJECTED_MAX or one.reason in self._refused:
                self._refused[one.reason] += 1
            self.refused_records.append(one)

    def frame(self, values: dict[str, Any]) -> tuple[int, str]:
        """Return the number of a record's frame since midnight, and the rate.

        Raises:
            RefusedError: the record has no timecode that exists.
        """
        rate = self._form.rate
        if (named := values.get("rate", NOTHING)) is not NOTHING:
            rate = self._form.rates.get(text_of(named), text_of(named))
        if rate not in RATES:
            raise RefusedError(f"rate {rate[:20]!r}: none of {', '.join(RATES)}")
        if "code" in values:
            code = text_of(values["code"]).strip()
        else:
            parts = [number_of(name, values.get(name, NOTHING)) for name in ("hours", "minutes", "seconds", "frames")]
            if any(part != int(part) or not 0 <= part < 100 for part in parts):
                raise RefusedError("hours, minutes, seconds and frames must be whole numbers below 100")
            code = ":".join(f"{int(part):02d}" for part in parts)
        try:
            return frame_of(code, rate), rate
        except TimecodeError as error:
            raise RefusedError(str(error)[:120]) from error

    @property
    def stamp(self) -> Stamp | None:
        """When a frame began; the same until that is known better by half a frame, or the timecode is set anew."""
        return self._stamp

    def figures(self) -> TimecodeFigures:
        """Return the figures of the feed."""
        return TimecodeFigures(
            self._messages, self._frames, self._steps, dict(self._refused.most_common(20)), self._stamp
        )

    def _take(self, frame: int, rate: str, arrival_us: int) -> None:
        self._frames += 1
        period_us = float(1_000_000 / RATES[rate][1])
        zero_us = arrival_us - frame * period_us
        if rate != self._rate:
            self._rate, self._stamp = rate, None
            self._zeros_us.clear()
        if self._zeros_us and abs(zero_us - self._zeros_us[-1]) > _STEP_US:
            self._others_us = [one for one in self._others_us if abs(zero_us - one) <= _STEP_US] + [zero_us]
            if len(self._others_us) < _AGREE:
                return
            self._steps += 1
            self._stamp = None
            self._zeros_us.clear()
            self._zeros_us.extend(self._others_us[:-1])
        self._others_us = []
        self._zeros_us.append(zero_us)
        least_us = min(self._zeros_us)
        if self._stamp is None or abs(least_us - self._zero_of(self._stamp, period_us)) > period_us / 2:
            error_us = round(float(np.median(self._zeros_us)) - least_us + period_us / 2)
            self._stamp = Stamp(rate, code_of(frame, rate), round(least_us + frame * period_us), error_us)

    def _zero_of(self, stamp: Stamp, period_us: float) -> float:
        return stamp.at_us - frame_of(stamp.code, stamp.rate) * period_us
