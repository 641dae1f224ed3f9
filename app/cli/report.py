"""``touchline report``: the match report, as a page or as PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.base.files import writing
from app.base.terminal import make_console, waiting
from app.cli.options import Folder, Given
from app.report.page import write_report

app = typer.Typer(add_completion=False)


@app.command()
def report(
    folder: Folder,
    out: Annotated[Path, Given("--out", help="File to write: .html (one file, no network) or .pdf (A4).")],
) -> None:
    """Writes the match report: score, xG, shots, possession, passes, pressing, running, players, goalkeepers.

    Examples:
        touchline report matches/demo --out report.html
        touchline report matches/demo --out report.pdf
    """
    with waiting(make_console(stderr=True), f"writing {out}"), writing(out):
        write_report(folder, out)
    print(out)
