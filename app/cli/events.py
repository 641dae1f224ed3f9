"""``touchline events``: what happened in a match, as a file for other programs."""

from __future__ import annotations

import typer

from app.cli.options import Folder, Format, Out
from app.cli.output import check_format, write_table
from replay.event_list import consolidated_events, export_events

app = typer.Typer(add_completion=False)


@app.command()
def events(folder: Folder, form: Format = "csv", out: Out = None) -> None:
    """Writes what happened in a match: one record per event, corrections applied, sorted by time."""
    check_format(form, out)
    write_table(consolidated_events(folder), form, out, export_events)
