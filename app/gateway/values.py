"""Values of a record: times, numbers and texts, each checked; what cannot be used raises its reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from app.gateway.profile import TIME_UNITS, Time
from football.untrusted import NUMBER_MAX
from replay.formats.value_path import NOTHING

#: Coordinates beyond this are no positions, whatever the unit; what is computed of them stays finite.
_COORDINATE_MAX = 1e12


class RefusedError(ValueError):
    """A record that cannot be used; the text is the reason."""


def time_reader(time: Time) -> Callable[[Any], int]:
    """Return the conversion of a time into whole microseconds of the source's clock."""
    unit, rate_hz = time.unit, time.rate_hz
    if unit == "iso":
        return _iso_us
    if unit == "frames":
        return lambda value: _bounded(number_of("time", value) * 1e6 / rate_hz)
    factor, divisor = TIME_UNITS[unit]

    def in_unit(value: Any) -> int:
        number = number_of("time", value)
        if isinstance(number, int):
            return _bounded(number * factor // divisor)
        return _bounded(number * factor / divisor)

    return in_unit


def _bounded(us: float) -> int:
    if not abs(us) <= NUMBER_MAX:
        raise RefusedError("time that cannot be")
    return round(us)


def _iso_us(value: Any) -> int:
    try:
        moment = datetime.fromisoformat(value.strip())
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
    except (AttributeError, TypeError, ValueError, OverflowError):
        shown = "is missing" if value is NOTHING else f"{str(value)[:40]!r} is no time such as 2026-11-23T14:30:00Z"
        raise RefusedError(f"time {shown}") from None


def number_of(name: str, value: Any) -> float:
    """Return a number, whole ones as they are.

    Raises:
        RefusedError: missing, no number, or out of range.
    """
    kind = type(value)
    if kind is str:
        try:
            value = int(value) if value.isdecimal() and len(value) < 20 else float(value)
        except ValueError:
            raise RefusedError(f"{name} {value[:40]!r}: no number") from None
        if "_" in str(value):
            raise RefusedError(f"{name}: no number")
    elif kind is not int and kind is not float:
        raise RefusedError(f"{name} is missing" if value is NOTHING else f"{name} {str(value)[:40]!r}: no number")
    limit = 1e30 if name == "time" else _COORDINATE_MAX if name in ("x", "y", "z") else float(NUMBER_MAX)
    if not -limit <= value <= limit or not math.isfinite(value):
        raise RefusedError(f"{name} {str(value)[:40]}: out of range")
    return value


def text_of(value: Any) -> str:
    """Return a text or a number as text; of anything else the empty one."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) else ""
