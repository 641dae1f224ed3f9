"""Output of commands: JSON on stdout, tables, files named by ``--out``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, get_args

import msgspec
import pyarrow as pa

from app.base.files import OutputError, writing
from replay.event_list import Format


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()


def check_format(form: str, out: Path | None, forms: Sequence[str] = get_args(Format)) -> None:
    """Refuse an unknown format, and Parquet on a terminal.

    Raises:
        OutputError: the message says which of the two.
    """
    if form not in forms:
        raise OutputError(f"--format {form}: must be one of {', '.join(forms)}")
    if form == "parquet" and out is None:
        raise OutputError("--format parquet writes bytes that no terminal shows: give a file with --out")


def write_table(table: pa.Table, form: str, out: Path | None, write: Callable[[pa.Table, str, BinaryIO], None]) -> None:
    """Write a table to a file, or to stdout.

    Raises:
        OutputError: the file cannot be written.
    """
    if out is None:
        write(table, form, sys.stdout.buffer)
        sys.stdout.flush()
        return
    with writing(out), out.open("wb") as stream:
        write(table, form, stream)
