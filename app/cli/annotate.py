"""``touchline annotate``: possession, shots and interruptions of a match in the form of the DEBS 2013 annotation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.base.files import writing
from app.cli.options import Folder, Given
from app.library.scores import span_us
from replay.event_list import consolidated_events, event_records
from replay.formats.debs import MATCH_HALVES, PS_IN_US, Half, read_halves
from replay.match_store import read_sheet_of
from replay.scoring.debs_annotation import Clock, write_annotation
from replay.scoring.debs_annotation import annotate as make_annotation

app = typer.Typer(add_completion=False)


@app.command()
def annotate(
    folder: Folder,
    out: Annotated[Path, Given(help="Folder for the tables.")],
    like: Annotated[
        Path | None,
        Given(
            help="Folder of a DEBS 2013 stream or annotation; the tables use its clock. Default: one half from time 0."
        ),
    ] = None,
) -> None:
    """Writes possession, shots on goal and interruptions in the form of the DEBS 2013 annotation.

    Examples:
        touchline annotate matches/demo --out annotation
    """
    _, last_us = span_us(folder)
    begin_ps = MATCH_HALVES[0].begin_ps
    halves = read_halves(like) if like else (Half(1, begin_ps, begin_ps + (last_us + 1) * PS_IN_US),)
    records = event_records(consolidated_events(folder))
    annotation = make_annotation(records, read_sheet_of(folder), Clock(halves))
    with writing(out):
        write_annotation(out, annotation, halves)
    print(
        f"{len(annotation.possession)} rows of possession, {len(annotation.shots)} shots on goal, "
        f"{len(annotation.interruptions)} interruptions in {out}"
    )
