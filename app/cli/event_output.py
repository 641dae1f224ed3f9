"""Tables of events and updates as a command writes them: chosen rows, as text or in a format for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, get_args

import pyarrow as pa

from app.base.terminal import make_console
from app.cli.output import check_format, write_table
from app.library.lines import table_lines
from football.house_time import TimecodeError
from football.match_sheet import MatchSheet
from replay.event_choice import kinds_with, make_choice
from replay.event_list import Format, export_events
from replay.house_times import read_house_time
from replay.match_store import read_sheet_of

#: Conditions as options give them: kinds, team, player, begin, end.
Conditions = tuple[list[str] | None, str, str, str | None, str | None]

_TEXT = "text"


def write_events(
    read: Callable[[Path], pa.Table],
    folder: Path,
    conditions: Conditions,
    form: str | None,
    out: Path | None,
    *,
    house: bool = False,
) -> None:
    """Write the rows of a table of events that meet conditions.

    Args:
        read: reads the table from a store.
        folder: of the store.
        conditions: options of the command.
        form: ``text`` or a format of :func:`replay.event_list.export_events`; None chooses by where it goes.
        out: file; None for stdout.
        house: add the columns ``utc`` and ``timecode``; to lines the timecode.

    Raises:
        OutputError: an unknown format, or the file cannot be written.
        TimecodeError: house time is wanted, and nobody knows it.
        StoreError, ChoiceError: the store cannot be read, or no event can meet the conditions.
    """
    form = form or (_TEXT if out is None and sys.stdout.isatty() else "csv")
    check_format(form, out, (_TEXT, *get_args(Format)))
    sheet = read_sheet_of(folder)
    kinds, team, player, begin, end = conditions
    choice = make_choice(sheet, ",".join(kinds or ()), team, player, begin, end)
    rows = choice.rows(read(folder))
    if not rows.num_rows:
        hints = [hint for kind in choice.kinds for hint in kinds_with(kind)]
        near = f"; near it: {', '.join(hints)}" if hints else ""
        make_console(stderr=True).print(f"{folder} has no such event{near}")
    if house:
        rows = _with_house_time(rows, folder)
    write_table(rows, form, out, lambda table, name, stream: _write(table, name, stream, sheet))


def _with_house_time(rows: pa.Table, folder: Path) -> pa.Table:
    found = read_house_time(folder)
    if found is None:
        raise TimecodeError(f"{folder}: nobody knows its house time: `touchline timecode {folder} --help` sets it")
    times_us = rows["ts_us"].to_pylist()
    rows = rows.append_column("utc", pa.array([found.utc(ts_us) for ts_us in times_us], pa.string()))
    return rows.append_column("timecode", pa.array([found.timecode(ts_us) for ts_us in times_us], pa.string()))


def _write(table: pa.Table, form: str, stream: BinaryIO, sheet: MatchSheet) -> None:
    if form != _TEXT:
        export_events(table, form, stream)
        return
    codes = table["timecode"].to_pylist() if "timecode" in table.column_names else None
    for number, line in enumerate(table_lines(table, sheet)):
        stream.write(f"{codes[number]}  {line}\n".encode() if codes else line.encode() + b"\n")
