"""Events for patterns as CSV: columns ``id``, ``type``, ``ts_ms``, and any further ones as payload.

Rows stand in order of arrival. A repeated row is a copy. With a column ``diff``, -1 withdraws the event of an id, and a
row of the same id after it amends the event. A row that cannot be used is rejected with its reason; the others count.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from detectors.patterns.syntax import PatternEvent
from football.errors import TrackingError
from football.untrusted import NUMBER_MAX, ROWS_MAX, UntrustedError
from football.untrusted_files import LINE_BYTES_MAX, open_expanded

_COLUMNS = ("id", "type", "ts_ms")


class EventRow(NamedTuple):
    """A usable row.

    Attributes:
        row: its number; the first after the header is row 1.
        event: what it holds; of a withdrawal only the id counts.
        diff: +1, or -1 for a withdrawal.
    """

    row: int
    event: PatternEvent
    diff: int


class RejectedRow(NamedTuple):
    """A row that cannot be used, with the reason."""

    row: int
    reason: str


def read_pattern_events(path: Path) -> Iterator[EventRow | RejectedRow]:
    """Yield the rows of a file, plain or compressed.

    Raises:
        TrackingError: no such file, not text, a column is missing, or more rows than the limit.
    """
    with _readable(path), open_expanded(path) as file:
        first = file.readline(LINE_BYTES_MAX).decode("utf-8-sig", errors="replace").rstrip("\r\n")
        if not first.isprintable() or "\ufffd" in first:
            raise TrackingError(f"{path}: not text: events are CSV or .jsonl")
        header = _cells(first)
        if missing := [name for name in _COLUMNS if name not in header]:
            own = "; events of a match store are searched in it: give the store instead" if "ts_us" in header else ""
            found = f"column {', '.join(missing)} is missing; the header has {', '.join(header)}{own}"
            raise TrackingError(f"{path}: {found}")
        number = 0
        while line := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if number > ROWS_MAX:
                raise TrackingError(f"{path}: more than {ROWS_MAX} rows")
            if line.isspace():
                continue
            yield _row(number, line, header)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError, csv.Error) as error:
        raise TrackingError(f"{path}: not a readable CSV: {error}") from error


def _row(number: int, line: bytes, header: list[str]) -> EventRow | RejectedRow:
    if len(line) > LINE_BYTES_MAX:
        return RejectedRow(number, f"longer than {LINE_BYTES_MAX} bytes")
    try:
        cells = _cells(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return RejectedRow(number, f"not text: {error.reason}")
    except csv.Error as error:
        return RejectedRow(number, f"not CSV: {error}")
    if len(cells) != len(header):
        return RejectedRow(number, f"{len(cells)} cells, and the header has {len(header)}")
    payload: dict[str, Any] = dict(zip(header, cells, strict=True))
    name, kind, ts = (payload.pop(column) for column in _COLUMNS)
    diff = payload.pop("diff", "") or "1"
    if not name:
        return RejectedRow(number, "no id")
    if diff not in ("1", "+1", "-1"):
        return RejectedRow(number, f"diff {diff}: must be 1 or -1")
    if diff == "-1":
        return EventRow(number, PatternEvent(0, (kind,), name, kind, {}), -1)
    ts_ms = _number(ts)
    if not kind or not isinstance(ts_ms, int | float):
        return RejectedRow(number, f"ts_ms {ts}: no number" if kind else "no type")
    if not abs(ts_ms) * 1000 <= NUMBER_MAX:
        return RejectedRow(number, f"ts_ms {ts}: out of range")
    values = {column: value for column, cell in payload.items() if (value := _number(cell)) is not None}
    return EventRow(number, PatternEvent(round(ts_ms * 1000), (kind,), name, kind, values), 1)


def _cells(line: str) -> list[str]:
    """The cells of a line; none spans several lines, so that one wrong quote costs one row."""
    line = line.rstrip("\r\n")
    return next(csv.reader([line], strict=True), []) if '"' in line else line.split(",")


def _number(cell: str) -> Any:
    """A cell as a number if it is one, None if it is empty, else as text."""
    if not cell:
        return None
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        value = float(cell)
    except ValueError:
        return cell
    return value if math.isfinite(value) else cell
