"""Events for patterns as JSON, an object a line or a record of a topic, with a mapping of its names to ours.

A mapping is a TOML file; without one the objects have ``id``, ``type`` and ``ts_ms``, and other values are payload:

    id = "event.id"            # a name, or names within each other; a number is a place in a list
    type = "event.name"
    time = "when"
    unit = "s"                 # of the time: us, ms, s, min, or iso for texts such as 2026-11-23T14:30:00Z
    withdrawn = "deleted"      # an object with true, or -1, here withdraws the event of its id

    [types]                    # their types -> ours; others keep their names
    Pass = "pass"

    [values]                   # our payload -> their names; without this table all plain values of the object
    team = "team.name"
    x_m = "location.0"
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from detectors.patterns.syntax import PatternEvent
from football.errors import TrackingError
from football.untrusted import NUMBER_MAX, RECORD_BYTES_MAX, ROWS_MAX, UntrustedError, decode_json, read_toml
from football.untrusted_files import LINE_BYTES_MAX, open_expanded
from replay.formats.pattern_events import EventRow, RejectedRow
from replay.formats.value_path import NOTHING, Step, steps_of, value_at

_UNITS_US: Mapping[str, float] = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000}


class EventMapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the objects of others become events.

    Attributes:
        id, type, time: their names; dots lead into objects and lists.
        unit: of the time.
        withdrawn: name of what withdraws an event; empty for none.
        types: their types to ours.
        values: our payload to their names; None for all plain values of the object.
    """

    id: str = "id"
    type: str = "type"
    time: str = "ts_ms"
    unit: Literal["us", "ms", "s", "min", "iso"] = "ms"
    withdrawn: str = ""
    types: dict[str, str] = {}
    values: dict[str, str] | None = None


def read_mapping(path: Path) -> EventMapping:
    """Read a mapping.

    Raises:
        TrackingError: it cannot be read, or has other keys.
    """
    try:
        return msgspec.convert(read_toml(path), EventMapping)
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError, msgspec.ValidationError) as error:
        raise TrackingError(f"{path}: no mapping of events: {error}") from error


def read_json_events(path: Path, mapping: EventMapping) -> Iterator[EventRow | RejectedRow]:
    """Yield the events of a file with an object a line, plain or compressed.

    Raises:
        TrackingError: no such file, or more lines than the limit.
    """
    try:
        with open_expanded(path) as file:
            yield from json_events(iter(lambda: file.readline(LINE_BYTES_MAX + 1), b""), mapping)
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError) as error:
        raise TrackingError(f"{path}: not readable: {error}") from error


def json_events(records: Iterable[bytes], mapping: EventMapping) -> Iterator[EventRow | RejectedRow]:
    """Yield the events of JSON objects, numbered from 1; empty records are left out.

    Raises:
        TrackingError: more records than the limit.
    """
    for number, record in enumerate(records, 1):
        if number > ROWS_MAX:
            raise TrackingError(f"more than {ROWS_MAX} records")
        if record and not record.isspace():
            yield _event(number, record, mapping)


def _event(number: int, record: bytes, mapping: EventMapping) -> EventRow | RejectedRow:
    try:
        found = decode_json(record, dict[str, Any], RECORD_BYTES_MAX)
    except UntrustedError as error:
        return RejectedRow(number, f"no JSON object: {error}")
    name, kind = _text(value_at(found, _steps(mapping.id))), _text(value_at(found, _steps(mapping.type)))
    if not name:
        return RejectedRow(number, f"no {mapping.id}")
    if mapping.withdrawn and value_at(found, _steps(mapping.withdrawn)) in (True, -1):
        return EventRow(number, PatternEvent(0, (kind,), name, kind, {}), -1)
    if not kind:
        return RejectedRow(number, f"no {mapping.type}")
    kind = mapping.types.get(kind, kind)
    time = value_at(found, _steps(mapping.time))
    ts_us = _ts_us(time, mapping.unit)
    if ts_us is None:
        shown = "is missing" if time is NOTHING else f"is no time in {mapping.unit}: {str(time)[:40]}"
        return RejectedRow(number, f"{mapping.time} {shown}")
    if mapping.values is None:
        own = {mapping.id, mapping.type, mapping.time, mapping.withdrawn}
        values = {field: value for field, value in found.items() if field not in own}
    else:
        values = {field: value_at(found, _steps(where)) for field, where in mapping.values.items()}
    payload = {field: value for field, value in values.items() if isinstance(value, str | int | float) and value != ""}
    return EventRow(number, PatternEvent(ts_us, (kind,), name, kind, payload), 1)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[Step, ...]:
    return steps_of(path)


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _ts_us(value: Any, unit: str) -> int | None:
    """A time in microseconds; None if it is none."""
    if unit == "iso":
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            return None
        us = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        us = value * _UNITS_US[unit]
    else:
        return None
    return round(us) if abs(us) <= NUMBER_MAX else None
