"""The long table as CSV: the columns of the Parquet form, as texts that become numbers.

A row that is none (another number of cells, no number where one belongs) is rejected under its line, and nothing else
is lost. An empty cell is a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from football.packet_table import Ints
from football.packets import RejectedRecord
from football.untrusted import REJECTED_MAX, TEXT_CHARACTERS_MAX
from football.untrusted_csv import read_csv

#: A number as Arrow reads it, or none.
_NUMBER = r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$|^([nN][aA][nN]|[-+]?[iI][nN][fF])$|^$"


class TableRows(NamedTuple):
    """Rows of a long table.

    Attributes:
        table: of the file's columns.
        numbers: line of each row in a CSV file, or row in another one; None if they are as in the table.
        rejected: rows that are not in the table.
        called: what has these numbers.
    """

    table: pa.Table
    numbers: Ints | None = None
    rejected: Sequence[RejectedRecord] = ()
    called: str = "line"

    def place(self, row: int) -> str:
        """Where a row is in its file."""
        return f"row {row}" if self.numbers is None else f"{self.called} {self.numbers[row]}"


def read_csv_table(path: Path, columns: Sequence[str] | None, is_text: Callable[[str], bool]) -> TableRows:
    """Read a table as CSV, plain or gzip.

    Args:
        path: of the file.
        columns: columns to read; None for all.
        is_text: True of one of them that is no number.

    Raises:
        FileNotFoundError: there is none.
        UntrustedError: the file as a whole cannot be read.
    """
    rows = read_csv(path, columns)
    rejected = _Rejected(path.name)
    for line, text in rows.refused:
        rejected.add(line, "another number of cells than the header", text)
    rejected.further += rows.further
    arrays: dict[str, pa.Array] = {}
    good = _not_blank(rows.table)
    for name in rows.table.column_names:
        column = pc.utf8_trim_whitespace(rows.table[name].combine_chunks())
        if is_text(name):
            arrays[name] = column
            continue
        numeric = np.asarray(pc.match_substring_regex(column, _NUMBER).to_numpy(zero_copy_only=False), np.bool_)
        for row in np.flatnonzero(good & ~numeric).tolist():
            rejected.add(int(rows.lines[row]), f"{name} is not a number", column[row].as_py())
        good &= numeric
        is_none = pc.or_(pc.equal(column, ""), pc.invert(pa.array(numeric)))
        arrays[name] = pc.if_else(is_none, pa.scalar(None, pa.string()), column).cast(pa.float64())
    table = pa.table(arrays).filter(pa.array(good))
    return TableRows(table, rows.lines[good], rejected.records())


def _not_blank(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Rows that have something in any cell: lines at the end of a file are often empty."""
    filled = np.zeros(table.num_rows, np.bool_)
    for column in table.columns:
        filled |= np.asarray(pc.not_equal(column, "").to_numpy(), np.bool_)
    return filled


class _Rejected:
    """Rejected rows of a file, at most ``REJECTED_MAX`` of them; further ones are counted."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._records: list[RejectedRecord] = []
        self.further = 0

    def add(self, line: int, why: str, text: str) -> None:
        """Reject a row."""
        if len(self._records) >= REJECTED_MAX:
            self.further += 1
            return
        short = text[:TEXT_CHARACTERS_MAX]
        self._records.append(RejectedRecord(f"{self._file} line {line}", "", -1, None, why, repr(short)))

    def records(self) -> list[RejectedRecord]:
        """All of them, in the order of the file, and the count of the others."""
        self._records.sort(key=lambda record: int(record.record.rpartition(" ")[2]))
        if not self.further:
            return self._records
        why = f"{self.further} more cannot be used"
        return [*self._records, RejectedRecord(f"{self._file}: further lines", "", -1, None, why, "")]
