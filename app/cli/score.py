"""``touchline score``: the events of a match store compared with a truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer

from app.cli.options import Folder, Given
from app.cli.output import print_json
from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.untrusted import decode_json
from football.update_stream import EventRecord
from replay.event_list import consolidated_events
from replay.match_store import StoreError, read_sheet_of, read_table
from replay.scoring.figures import KindScore, Score
from replay.scoring.figures import score as score_events
from replay.scoring.frames import FrameScore
from replay.scoring.readers import read_truth
from replay.scoring.truth import ScoreError, Truth

app = typer.Typer(add_completion=False)

_HEAD = ("kind", "window", "true", "found", "both", "prec", "rec", "F1", "err ms", "p95", "missed ones taken for")


@app.command()
def score(
    folder: Folder,
    truth: Annotated[
        Path,
        Given(help="truth.parquet of the simulator, Opta's events (.csv), or the DEBS 2013 annotation (its folder)."),
    ],
    as_json: Annotated[bool, Given("--json", help="Print the figures as JSON on stdout.")] = False,
) -> Score:
    """Compares the events of a match with the truth: precision, recall, F1, time error and confusion by kind.

    Truths from before the first and after the last position of the store are left out: a run may have played a part of
    the match only.
    """
    result = score_events(*truth_and_events(folder, truth))
    if as_json:
        print_json(result)
    else:
        print("\n".join(lines(result)))
    return result


def truth_and_events(folder: Path, truth_path: Path) -> tuple[Truth, list[EventRecord]]:
    """The truth of the part of a match that a store has played, and the store's events.

    Raises:
        StoreError, ScoreError, TrackingError: store or truth cannot be read, or are of different matches.
    """
    sheet = read_sheet_of(folder)
    truth = read_truth(truth_path, sheet)
    _belongs(truth, sheet, truth_path)
    return _played(truth, folder, truth_path), list(event_records(consolidated_events(folder)))


def event_records(events: pa.Table) -> Iterator[EventRecord]:
    """The rows of a consolidated event list as records."""
    names = [name for name in EventRecord.__struct_fields__ if name != "detail"]
    for batch in events.select([*names, "detail"]).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            detail = decode_json(row.pop("detail"), dict[str, Scalar])
            row["causes"] = tuple(row["causes"])
            yield EventRecord(**row, detail=detail)


def lines(result: Score) -> list[str]:
    """The figures as a table: kinds that were found, kinds that never were, frames."""
    rows = [_HEAD, *(_row(kind, figures) for kind, figures in result.kinds.items() if figures.tp + figures.fp)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    table = [_aligned(row, widths) for row in rows]
    never = [f"{kind} ({f.fn})" for kind, f in result.kinds.items() if not f.tp + f.fp]
    text = [f"Truth: {result.truth}", "", *table]
    text += ["", "Never found: " + ", ".join(never)] if never else []
    text += ["", *(_frame_line(name, figure) for name, figure in result.frames.items())] if result.frames else []
    if result.unjudged:
        text += ["", f"Found besides, of kinds that truth is silent about: {sum(result.unjudged.values())}"]
    return text


def _row(kind: str, f: KindScore) -> tuple[str, ...]:
    error = f.time_error_ms
    taken = [f"{label} {count}" for label, count in f.confusion.items()]
    taken += [f"[{change} {count}]" for change, count in f.variants.items()]
    times = (f"{error.median:.0f}", f"{error.p95:.0f}") if error else ("-", "-")
    counts = (f"{f.window_ms:.0f} ms", str(f.tp + f.fn), str(f.tp + f.fp), str(f.tp))
    return (kind, *counts, _share(f.precision), _share(f.recall), _share(f.f1), *times, ", ".join(taken))


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers, row[-1]]).rstrip()


def _frame_line(name: str, f: FrameScore) -> str:
    live = "" if f.live is None else f", {f.live:.1%} as known at the time"
    return f"{name.replace('_', ' ')}: {f.agreement:.1%} of {f.frames} frames{live}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _belongs(truth: Truth, sheet: MatchSheet, path: Path) -> None:
    players = {player.object_id for player in sheet.players}
    named = {mark.player for mark in truth.marks} - {""}
    if players and named and not players & named:
        raise ScoreError(f"--truth {path}: none of its {len(named)} players is on the sheet of this match")


def _played(truth: Truth, folder: Path, path: Path) -> Truth:
    """The truth of the part of the match that was played."""
    first_us, last_us = span_us(folder)
    part = truth.between(first_us, last_us)
    if truth.marks and not part.marks:
        raise ScoreError(f"--truth {path}: all of it lies outside the time that {folder} covers")
    return part


def span_us(folder: Path) -> tuple[int, int]:
    """Event times of the first and the last position of a store.

    Raises:
        StoreError: it holds none.
    """
    times = read_table(folder, "positions", ("ts_us",))["ts_us"]
    if not len(times):
        raise StoreError(f"{folder}: holds no positions: nothing was played")
    bounds = pc.min_max(times).as_py()
    return bounds["min"], bounds["max"]
