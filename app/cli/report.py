"""``touchline report``: the match report, as a page or as PDF."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.base.files import writing
from app.base.terminal import make_console, waiting
from app.cli.options import Folder, Given
from app.report.page import write_report
from app.report.player import player_page

app = typer.Typer(add_completion=False)


@app.command()
def report(
    folder: Folder,
    out: Annotated[Path, Given("--out", help="File to write: .html (one file, no network) or .pdf (A4).")],
    player: Annotated[
        str, Given("--player", help="Only this player's page: object id, shirt number, or part of a name.")
    ] = "",
) -> None:
    """Writes the match report: score, xG, shots, possession, passes, pressing, running, players, goalkeepers.

    With --player, the page of one player or goalkeeper: numbers by half and beside his team's, passes, shots, mates.

    Examples:
        touchline report matches/demo --out report.html
        touchline report matches/demo --out report.pdf
        touchline report matches/demo --player home_9 --out nine.html
    """
    with waiting(make_console(stderr=True), f"writing {out}"), writing(out):
        write_report(folder, out, (lambda report: player_page(report, player)) if player else None)
    print(out)
