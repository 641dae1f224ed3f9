"""``touchline export``: a match in the formats of others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, TimeRemainingColumn

from app.base.files import writing
from app.base.terminal import make_console, make_progress
from app.cli.options import Folder, Given
from app.export.formats import FORMATS, export_match

app = typer.Typer(add_completion=False)


@app.command()
def export(
    folder: Folder,
    to: Annotated[str, Given("--to", help="; ".join(f"{name}: {text}" for name, text in FORMATS.items()) + ".")],
    out: Annotated[Path, Given("--out", help="File or folder to write, as the format says.")],
) -> None:
    """Writes a match in another format: tables, event data, tracking data, a timeline for video tools.

    Examples:
        touchline export matches/demo --to csv --out tables
        touchline export matches/demo --to spadl --out actions.parquet
        touchline export matches/demo --to sportscode --out timeline.xml
        touchline export matches/demo --to tracab --out positions
    """
    console = make_console(stderr=True)
    with make_progress(console, BarColumn(), TimeRemainingColumn(), disable=not sys.stderr.isatty()) as display:
        task = display.add_task(f"writing {to}", total=1.0)
        with writing(out):
            files = export_match(folder, to, out, lambda share: display.update(task, completed=share))
    for file in files:
        print(file)
