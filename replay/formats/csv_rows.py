"""Read and write small CSV files with a header, a typed row each: sensor maps, annotations, labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, get_args

import msgspec

from football.errors import TrackingError
from football.untrusted import LISTING_BYTES_MAX, UntrustedError, read_text

Row = TypeVar("Row", bound=msgspec.Struct)


def read_rows(path: Path, kind: type[Row]) -> tuple[Row, ...]:
    """Read the rows of a file; columns without a field are ignored, fields with a default may be missing.

    An empty cell is None for a field that may be None.

    Raises:
        TrackingError: no such file, a column is missing, or a value is of the wrong type; names file and line.
    """
    fields = msgspec.structs.fields(kind)
    try:
        reader = csv.DictReader(io.StringIO(read_text(path, LISTING_BYTES_MAX), newline=""))
        there = reader.fieldnames or ()
        missing = [field.name for field in fields if field.required and field.name not in there]
        if missing:
            raise TrackingError(f"{path}: column {', '.join(missing)} is missing")
        names = [field.name for field in fields if field.name in there]
        return tuple(_row({name: line[name] for name in names}, kind, path, n) for n, line in enumerate(reader, 2))
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError, csv.Error) as error:
        raise TrackingError(f"{path}: not a readable CSV: {error}") from error


def write_rows(path: Path, kind: type[Row], rows: Sequence[Row]) -> None:
    """Write rows with a header; None becomes an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kind.__struct_fields__)
        writer.writerows(map(msgspec.structs.astuple, rows))


def _row(line: dict[str, str | None], kind: type[Row], path: Path, number: int) -> Row:
    optional = {f.name for f in msgspec.structs.fields(kind) if type(None) in get_args(f.type)}
    cells = {name: None if cell == "" and name in optional else cell for name, cell in line.items()}
    try:
        return msgspec.convert(cells, kind, strict=False)
    except msgspec.ValidationError as error:
        raise TrackingError(f"{path} line {number}: {error}") from error
