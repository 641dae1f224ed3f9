"""The periods of a file's rows: times that begin anew in each of them are put in one line."""

from __future__ import annotations

import math

import numpy as np

from football.input_quality import InputFinding
from football.match_sheet import PERIODS_MAX, Period
from football.packet_table import Floats, Ints

#: A period begins so long after the last row of the one before if its own times say nothing of their distance: nobody
#: waits long for it, and no player is taken to have run from where he was.
PAUSE_US = 10_000_000

#: A time so far from 98 of 100 rows of a period is nonsense; a hundredth of the longest half is shorter.
_STRAY_US = 60_000_000


def period_numbers(values: list[str]) -> Ints:
    """The numbers of periods that texts such as ``2`` or ``2.0`` say; 0 for any other text.

    >>> period_numbers(["1", "2.0", "half-time", "7"]).tolist()
    [1, 2, 0, 0]
    """
    return np.array([_number(value) for value in values], np.int64)


def _number(value: str) -> int:
    try:
        number = float(value)
    except ValueError:
        return 0
    return int(number) if 1 <= number <= PERIODS_MAX and number.is_integer() else 0


def in_line(numbers: Ints, times_us: Floats) -> tuple[Floats, tuple[Period, ...], tuple[InputFinding, ...]]:
    """Put the times of all periods in one line.

    Times that count on from the first period stay. A period whose times begin before the end of the one before (they
    count from its own kick-off, or from 45:00 as on a scoreboard) is moved behind it.

    Args:
        numbers: the period of each row; 0 if it is in none, or has no usable time.
        times_us: of each row.

    Returns:
        The times, the periods that have rows, and a finding if times were moved.
    """
    times_us = times_us.copy()
    periods: list[Period] = []
    moved: list[str] = []
    end_us = -math.inf
    for number in range(1, PERIODS_MAX + 1):
        rows = numbers == number
        if not np.any(rows):
            continue
        begin_us, last_us = _span(times_us[rows])
        by_us = end_us + PAUSE_US - begin_us if begin_us < end_us else 0.0
        if by_us:
            times_us[rows] += by_us
            moved.append(f"period {number} by {by_us / 1e6:,.1f} s")
        periods.append(Period(number, round(begin_us + by_us)))
        end_us = last_us + by_us
    if not moved:
        return times_us, tuple(periods), ()
    found = f"Times of a period lie before the end of the one before; they are moved: {', '.join(moved)}"
    return times_us, tuple(periods), (InputFinding("periods", "note", found, "times that begin anew in each period"),)


def _span(times_us: Floats) -> tuple[float, float]:
    """The first and the last time, without nonsense."""
    low_us, high_us = np.quantile(times_us, (0.01, 0.99), method="lower")
    known = times_us[(times_us >= low_us - _STRAY_US) & (times_us <= high_us + _STRAY_US)]
    return float(known.min()), float(known.max())
