"""The formats of ``touchline export``, and one function that writes a match in one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from app.export.actions import ExportError, Match, read_match
from app.export.epts import write_epts
from app.export.frames import read_frames
from app.export.spadl import atomic_table, spadl_table, write_table
from app.export.sportscode import write_sportscode
from app.export.statsbomb import write_statsbomb
from app.export.tracab import write_tracab
from app.tables.build import flat_tables
from app.tables.columns import TABLES

#: What each format is.
FORMATS = {
    "csv": "the analyst's tables, a CSV file each, in a folder",
    "parquet": "the analyst's tables, a Parquet file each, in a folder",
    "spadl": "actions of socceraction, a .parquet or .csv file",
    "atomic-spadl": "atomic actions of socceraction, a .parquet or .csv file",
    "kloppy": "kloppy's table of events, a .parquet or .csv file",
    "statsbomb": "events and line-ups like StatsBomb's open data, two JSON files in a folder",
    "sportscode": "timeline for video tools, an XML file",
    "epts": "positions in FIFA's EPTS format, XML and text in a folder",
    "tracab": "positions in TRACAB's format, XML and dat in a folder",
}

#: Those that are a folder of files.
_FOLDERS = ("csv", "parquet", "statsbomb", "epts", "tracab")

#: A cell that begins so is a formula to a spreadsheet program.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Progress = Callable[[float], None]


def export_match(store: Path, form: str, out: Path, progress: Progress = lambda share: None) -> list[Path]:
    """Write a match in a format.

    Args:
        store: folder of the match store.
        form: a name of ``FORMATS``.
        out: file, or folder, which may exist if it is empty.
        progress: called with the share that is done, of formats that take long.

    Returns:
        The files.

    Raises:
        ExportError: no such format, the match lacks what it needs, or ``out`` is of the wrong kind.
        StoreError: not a match store, or damaged.
        OSError: ``out`` cannot be written.
    """
    if form not in FORMATS:
        raise ExportError(f"--to {form}: must be one of {', '.join(FORMATS)}")
    if form not in _FOLDERS:
        if out.is_dir():
            raise ExportError(f"--out {out}: {form} is one file, and this is a folder")
        _write_file(read_match(store), form, out)
        return [out]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"--out {out}: {form} is a folder of files; name one that is empty or does not exist")
    written = _content(store, form, progress)
    out.mkdir(parents=True, exist_ok=True)
    written(out)
    return sorted(out.iterdir())


def _write_file(match: Match, form: str, out: Path) -> None:
    if form == "sportscode":
        write_sportscode(match, out)
    elif form == "kloppy":
        from app.export.kloppy_events import kloppy_events

        write_table(pa.Table.from_pandas(kloppy_events(match).to_df(), preserve_index=False), out)
    else:
        write_table(spadl_table(match) if form == "spadl" else atomic_table(match), out)


def _content(store: Path, form: str, progress: Progress) -> Callable[[Path], None]:
    """Read what a format needs before any file is made; returns what writes it into a folder."""
    if form in ("csv", "parquet"):
        tables = flat_tables(store)
        return lambda out: _write_tables(tables, form, out, progress)
    match = read_match(store)
    if form == "statsbomb":
        return lambda out: write_statsbomb(match, out)
    frames = read_frames(store, match.events.sheet)
    write = write_epts if form == "epts" else write_tracab
    return lambda out: write(match.events, frames, out, progress)


def _write_tables(tables: dict[str, pa.Table], form: str, out: Path, progress: Progress) -> None:
    for index, name in enumerate(TABLES):
        file = out / f"{name}.{form}"
        if form == "parquet":
            pq.write_table(tables[name], file)
        else:
            pc.write_csv(_harmless(tables[name]), file, pc.WriteOptions(quoting_style="needed"))
        progress((index + 1) / len(TABLES))


def _harmless(table: pa.Table) -> pa.Table:
    """A table without formulas: a name is of anybody, and spreadsheet programs run a cell that begins with ``=``."""
    for index, field in enumerate(table.schema):
        if field.type == pa.string():
            texts = table[index].to_pylist()
            if any(text and text.startswith(_FORMULA) for text in texts):
                safe = [f"'{text}" if text and text.startswith(_FORMULA) else text for text in texts]
                table = table.set_column(index, field, pa.array(safe, pa.string()))
    return table
