"""Periods of a match, its clock, and its quarters of an hour.

A period runs from its kick-off to the next period's. A stream without ``period.start`` is a clip: its clock runs from
the begin of the stream, as a first half. A stream whose first ``period.start`` is a later period's began in the middle
of the period before; the clock of that part runs from the begin of the stream, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from football.payloads import Scalar
from football.update_stream import EventRecord

#: Minute at which each period begins, and at which it ends without added time (Law 7).
_BEGINS_MIN, _ENDS_MIN = (0, 45, 90, 105, 120), (45, 90, 105, 120, 120)

_QUARTER_S = 900.0


class Instant(NamedTuple):
    """An instant on the match clock; see ``WHEN`` of the columns. All but the time are None before the kick-off."""

    ts_us: int
    period: int | None = None
    period_s: float | None = None
    clock: str | None = None
    quarter_hour: str | None = None


class MatchClock:
    """The periods of a match.

    Args:
        events: those of the kinds ``period.start`` and ``period.end`` count.

    Attributes:
        begins: event time and number of each period, in order of time.
        pauses: spans of event time between the end of a period and the begin of the next.
        is_clip: True if no period is known to have begun.
    """

    def __init__(self, events: Iterable[EventRecord]) -> None:
        events = [event for event in events if event.kind in ("period.start", "period.end")]
        starts = [event for event in events if event.kind == "period.start" and event.variant in "12345"]
        begins = {int(event.variant): whole(event.detail.get("since_us"), event.ts_us) for event in starts}
        if not begins:
            begins = {1: 0}
        elif (first := min(begins)) > 1:
            begins[first - 1] = 0
        self.begins = tuple(sorted((ts_us, number) for number, ts_us in begins.items()))
        self.is_clip = not starts
        ends = {e.variant: whole(e.detail.get("since_us"), e.ts_us) for e in events if e.kind == "period.end"}
        after = (*(ts_us for ts_us, _ in self.begins[1:]), 2**62)
        spans = ((ends.get(str(number)), end_us) for (_, number), end_us in zip(self.begins, after, strict=True))
        self.pauses = tuple((begin_us, end_us) for begin_us, end_us in spans if begin_us is not None)

    def spans(self, last_us: int) -> list[tuple[int, int, int]]:
        """Number, begin and end of each period that begins before an event time, in order; pauses are left out."""
        pauses = {end_us: begin_us for begin_us, end_us in self.pauses}
        after = [*(ts_us for ts_us, _ in self.begins[1:]), 2**62]
        ends = [min(last_us, pauses.get(end_us, end_us - 1)) for end_us in after]
        found = zip(self.begins, ends, strict=True)
        return [(number, begin_us, end_us) for (begin_us, number), end_us in found if begin_us < end_us]

    def quarters(self) -> list[tuple[int, int, str]]:
        """Begin, period and name of each quarter of an hour of each period, in order of time."""
        after = [*(ts_us for ts_us, _ in self.begins[1:]), 2**62]
        found = []
        for (begin_us, number), end_us in zip(self.begins, after, strict=True):
            names = dict.fromkeys(quarter_hour(number, step * _QUARTER_S) for step in range(3))
            for step, name in enumerate(names):
                if (quarter_us := begin_us + round(step * _QUARTER_S * 1e6)) < end_us:
                    found.append((quarter_us, number, name))
        return found

    def at(self, ts_us: int) -> Instant:
        """The instant of an event time."""
        index = bisect_right(self.begins, (ts_us, 9)) - 1
        if index < 0:
            return Instant(ts_us)
        begin_us, period = self.begins[index]
        seconds = (ts_us - begin_us) * 1e-6
        return Instant(ts_us, period, round(seconds, 3), _clock(period, seconds), quarter_hour(period, seconds))


def quarter_hour(period: int, seconds: float) -> str:
    """The quarter of an hour in which a second of a period lies; added time belongs to the last one."""
    return stretch_name(period, seconds, 15)


def stretch_name(period: int, seconds: float, step_min: int) -> str:
    """The stretch of some minutes in which a second of a period lies; added time belongs to the last one.

    >>> stretch_name(2, 301.0, 5)
    '50-55'
    """
    begin, end = _BEGINS_MIN[period - 1], _ENDS_MIN[period - 1]
    if begin == end:
        return f"{begin}+"
    index = min(int(seconds // (60 * step_min)), (end - begin) // step_min - 1)
    return f"{begin + step_min * index}-{begin + step_min * index + step_min}"


def whole(value: Scalar, default: int) -> int:
    """A whole number of a payload; the default for anything else, as in a store that was tampered with."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62 else default


def _clock(period: int, seconds: float) -> str:
    begin, end = _BEGINS_MIN[period - 1], _ENDS_MIN[period - 1]
    minute, second = divmod(int(seconds), 60)
    if begin + minute < end:
        return f"{begin + minute}:{second:02d}"
    return f"{end}+{begin + minute - end}:{second:02d}"
