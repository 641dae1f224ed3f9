"""The out-of-order data sets of paper 001 (JR-DIGITAL/ooo-dataset): CSV, gzipped or not, as they are published.

Separator ``;``, strings in double quotes, one row a message, in the order in which the server received them. That
order is kept where several rows have one time of receipt: another order would count other events as out of order.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from football.errors import TrackingError
from football.untrusted import NUMBER_MAX, ROWS_MAX, UntrustedError
from football.untrusted_files import read_lines
from middleware.events import Arrival, Event

#: Raw kind of a row as an event.
ROW = "raw.row"

_RECEIVED, _DETECTED = "S.Message.received.time.ms", "S.Client.Detection.Time"
_DEVICE, _NUMBER, _FLAG = "S.Device.ID", "S.Message.ID", "A.ooo.Event.Sent.Time"


class Row(NamedTuple):
    """One message.

    Attributes:
        arrival_us, ts_us: receipt at the server and detection at the client, both on the server's clock.
        source: the device.
        seq: its running number, from 0 without gaps.
        out_of_order: the authors' own mark: received after a message of a later detection; None if there is none.
    """

    arrival_us: int
    ts_us: int
    source: str
    seq: int
    out_of_order: bool | None

    def arrival(self) -> Arrival:
        """As the middleware takes it."""
        return Arrival(Event(ROW, self.ts_us, self.source, self.seq, None, f"{self.source}:{self.seq}"), self.ts_us)


def is_ooo_file(path: Path) -> bool:
    """True if the name is that of a CSV file, gzipped or not."""
    return path.name.endswith((".csv", ".csv.gz"))


def read_rows(path: Path) -> list[Row]:
    """All rows of a file.

    Raises:
        TrackingError: no such file, not gzip or CSV, a column is missing, a value is no number, or a row was received
            before the one above it; names file, row (the first after the header is row 1) and reason.
    """
    rows: list[Row] = []
    number = 0
    try:
        reader = csv.DictReader(read_lines(path), delimiter=";")
        there = reader.fieldnames or ()
        if missing := [name for name in (_RECEIVED, _DETECTED, _DEVICE, _NUMBER) if name not in there]:
            raise TrackingError(f"{path}: column {', '.join(missing)} is missing")
        for number, line in enumerate(reader, 1):
            row = _row(line, path, number)
            if rows and row.arrival_us < rows[-1].arrival_us:
                raise TrackingError(f"{path} row {number}: received before the row above it")
            if number > ROWS_MAX:
                raise TrackingError(f"{path}: more than {ROWS_MAX} rows")
            rows.append(row)
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError, csv.Error) as error:
        place = f"{path} after row {number}" if number else f"{path}"
        raise TrackingError(f"{place}: not a readable CSV: {error}") from error
    if not rows:
        raise TrackingError(f"{path}: no rows")
    return rows


def _row(line: dict[str, str | None], path: Path, number: int) -> Row:
    device = line[_DEVICE]
    if not device or device == "NA":
        raise TrackingError(f"{path} row {number}: {_DEVICE} is empty")
    flag = line.get(_FLAG)
    return Row(
        _whole(line, _RECEIVED, path, number) * 1000,
        _whole(line, _DETECTED, path, number) * 1000,
        device,
        _whole(line, _NUMBER, path, number),
        None if flag in (None, "", "NA") else flag == "1",
    )


def _whole(line: dict[str, str | None], column: str, path: Path, number: int) -> int:
    text = line[column]
    try:
        value = int(text or "")
    except ValueError:
        shown = "cut off" if text is None else repr(text[:40])
        raise TrackingError(f"{path} row {number}: {column} is {shown}, not a whole number") from None
    if abs(value) * 1000 > NUMBER_MAX:
        raise TrackingError(f"{path} row {number}: {column} is too large")
    return value
