"""``touchline events`` and ``touchline updates``: a match store's lists as files that others read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, get_args

import pyarrow as pa

from football.errors import UserError
from replay.event_list import Format, consolidated_events
from replay.event_list import export_events as write
from replay.match_store import updates_log


class ExportError(UserError, ValueError):
    """The list cannot be written as asked; the message says why."""


def export_events(folder: Path, form: str, out: Path | None) -> None:
    """Writes what happened: one record per event, corrections applied, sorted by time."""
    check_form(form, out)
    write_out(consolidated_events(folder), form, out, write)


def export_updates(folder: Path, form: str, out: Path | None) -> None:
    """Writes all that was said, in the order in which it was said."""
    check_form(form, out)
    write_out(updates_log(folder), form, out, write)


def check_form(form: str, out: Path | None) -> None:
    """Refuses what is no format, and bytes on a terminal.

    Raises:
        ExportError: it says which.
    """
    if form not in get_args(Format):
        raise ExportError(f"--format {form}: must be one of {', '.join(get_args(Format))}")
    if form == "parquet" and out is None:
        raise ExportError("--format parquet writes bytes that no terminal shows: give a file with --out")


def write_out(table: pa.Table, form: str, out: Path | None, write: Callable[[pa.Table, str, BinaryIO], None]) -> None:
    """Writes a table to a file, or to the terminal.

    Raises:
        ExportError: the file cannot be written.
    """
    if out is None:
        write(table, form, sys.stdout.buffer)
        sys.stdout.flush()
        return
    try:
        with out.open("wb") as stream:
            write(table, form, stream)
    except OSError as error:
        raise ExportError(f"--out {out}: {error.strerror or error}") from error
