"""``touchline updates``: all updates of a match, as a file for other programs."""

from __future__ import annotations

import typer

from app.cli.options import Folder, Format, Out
from app.cli.output import check_format, write_table
from replay.event_list import export_events
from replay.match_store import updates_log

app = typer.Typer(add_completion=False)


@app.command()
def updates(folder: Folder, form: Format = "csv", out: Out = None) -> None:
    """Writes all updates of a match in their order, withdrawals included, each with the time of its emission."""
    check_format(form, out)
    write_table(updates_log(folder), form, out, export_events)
