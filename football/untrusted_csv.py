"""Tables as CSV from outside, within the limits of :mod:`football.untrusted`."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from football.untrusted import (
    NOT_UTF8,
    REJECTED_MAX,
    ROWS_MAX,
    TABLE_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
    UntrustedError,
    expanded_bytes_max,
)
from football.untrusted_files import open_expanded


class CsvRows(NamedTuple):
    """Rows of a CSV file.

    Attributes:
        table: columns of texts, exactly as in the file.
        lines: line of each row in the file, counted from 1.
        refused: line and content of rows with another number of cells, at most ``REJECTED_MAX`` of them.
        further: number of such rows beyond that.
    """

    table: pa.Table
    lines: npt.NDArray[np.int64]
    refused: list[tuple[int, str]]
    further: int


def read_csv(path: Path, columns: Sequence[str] | None = None) -> CsvRows:
    """Read a CSV file, or those of some columns that it has, plain or compressed by gzip.

    Cells are separated by commas, semicolons or tabs, whichever the header has most of. Each row is one line.

    Raises:
        FileNotFoundError: there is none.
        UntrustedError: not CSV, damaged, or too large.
    """
    with open_expanded(path, TABLE_BYTES_MAX) as file:
        content = file.read()
    if content.count(b"\n") > ROWS_MAX:
        raise UntrustedError(f"more than {ROWS_MAX} rows")
    try:
        return _parse(content, columns, min(expanded_bytes_max(path.stat().st_size), TABLE_BYTES_MAX))
    except (ValueError, KeyError, pa.ArrowException) as error:
        if isinstance(error, UntrustedError):
            raise
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise UntrustedError(f"not a readable CSV: {NOT_UTF8}") from error
        raise UntrustedError(f"not a readable CSV: {error}") from error


def _parse(content: bytes, columns: Sequence[str] | None, bytes_max: int) -> CsvRows:
    from pyarrow import csv  # not where positions are decoded

    header = content[: content.find(b"\n") + 1 or None]
    separator = max(",;\t", key=lambda mark: header.count(mark.encode()))
    names = [name.strip().strip('"') for name in header.decode("utf-8-sig").strip().split(separator)]
    chosen = [name for name in names if columns is None or name in columns]
    if len(chosen) > len(set(chosen)):
        raise UntrustedError("not a readable CSV: a column occurs twice")
    if not chosen:
        raise UntrustedError(f"its first line names none of the columns {', '.join(columns or ())}")
    refusals = _Refusals()
    reader = csv.open_csv(
        pa.BufferReader(content),
        csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1),
        csv.ParseOptions(delimiter=separator, ignore_empty_lines=False, invalid_row_handler=refusals.refuse),
        csv.ConvertOptions(column_types=dict.fromkeys(chosen, pa.string()), include_columns=chosen),
    )
    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in reader:
        batches.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if size > bytes_max:
            raise UntrustedError(f"a table of more than {bytes_max} bytes: too many for the size of its file")
    every = rows + len(refusals.lines)
    if every != content.count(b"\n", len(header)) + (len(content) > len(header) and content[-1:] != b"\n"):
        raise UntrustedError("not a readable CSV: a quotation mark is not closed, or a row has several lines")
    lines = np.delete(np.arange(2, 2 + every), np.array(refusals.lines, np.int64) - 2)
    return CsvRows(pa.Table.from_batches(batches, reader.schema), lines, refusals.refused, refusals.further)


class _Refusals:
    """Rows with another number of cells than the header."""

    def __init__(self) -> None:
        self.lines = array("q")
        self.refused: list[tuple[int, str]] = []
        self.further = 0

    def refuse(self, row: Any) -> str:
        """Refuse a row; Arrow calls it, and skips the row then. An empty line is no loss."""
        self.lines.append(row.number)
        if not row.text.strip():
            return "skip"
        if len(self.refused) < REJECTED_MAX:
            self.refused.append((row.number, row.text[:TEXT_CHARACTERS_MAX]))
        else:
            self.further += 1
        return "skip"
