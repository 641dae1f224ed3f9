"""``touchline review``: a close call with its margin and probability, as text, JSON or a sheet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.base.files import writing
from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.review.review import QUESTIONS
from app.review.review import review as review_call
from app.review.sheet import write_sheet
from app.review.text import lines, verdict
from replay.match_store import read_sheet_of

app = typer.Typer(add_completion=False)


@app.command()
def review(
    folder: Folder,
    event: Annotated[str, typer.Argument(help="Id of an event as `touchline events` lists it.")],
    question: Annotated[
        str, Given("--question", help=f"{', '.join(QUESTIONS)}; default what the kind of the event asks.")
    ] = "",
    player: Annotated[str, Given("--player", help="Object id of the player in question, if not the event's.")] = "",
    out: Annotated[Path | None, Given("--out", help="Write a sheet as well: .html or .pdf (A4).")] = None,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Reviews a close call: the margin in centimetres, and the probability that it is above zero.

    Offside at the instant of the kick, the whole ball over a line, inside the penalty area, too near at a restart. The
    instant may lie between samples; positions have the uncertainty of the tracking.

    Examples:
        touchline review matches/demo offside.position#ball:61128725/home_9
        touchline review matches/demo pass.attempt#ball:61128725 --player home_9 --out call.pdf
        touchline review matches/demo tackle.won#ball:88123000 --question area --json
    """
    found, sheet = review_call(folder, event, question, player), read_sheet_of(folder)
    if as_json:
        print_json({**msgspec.to_builtins(found), "verdict": verdict(found)})
    else:
        sys.stdout.write("\n".join(lines(found, sheet)) + "\n")
    if out is not None:
        with writing(out):
            write_sheet(found, sheet, out)
