"""``touchline annotate``: possession, shots and interruptions of a match in the form of the DEBS 2013 annotation."""

from __future__ import annotations

from pathlib import Path

from app.cli.score import event_records, span_us
from football.errors import UserError
from replay.event_list import consolidated_events
from replay.formats.debs import MATCH_HALVES, PS_IN_US, Half, read_halves
from replay.match_store import read_sheet_of
from replay.scoring.debs_annotation import Clock, annotate, write_annotation


class AnnotateError(UserError, ValueError):
    """The tables cannot be written; the message says why."""


def run_annotate(folder: Path, out: Path, like: Path | None) -> None:
    """Writes the three tables of a store, and the halves that their seconds count in.

    Args:
        folder: match store.
        out: folder of the tables.
        like: folder of a DEBS stream or annotation whose clock is used; None: one half, all that was played.

    Raises:
        StoreError, TrackingError: store or halves cannot be read.
        AnnotateError: ``out`` cannot be written.
    """
    _, last_us = span_us(folder)
    begin_ps = MATCH_HALVES[0].begin_ps
    halves = read_halves(like) if like else (Half(1, begin_ps, begin_ps + (last_us + 1) * PS_IN_US),)
    annotation = annotate(event_records(consolidated_events(folder)), read_sheet_of(folder), Clock(halves))
    try:
        write_annotation(out, annotation, halves)
    except OSError as error:
        raise AnnotateError(f"--out {out}: {error.strerror or error}") from error
    print(
        f"{len(annotation.possession)} rows of possession, {len(annotation.shots)} shots on goal, "
        f"{len(annotation.interruptions)} interruptions in {out}"
    )
