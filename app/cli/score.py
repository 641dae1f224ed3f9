"""``touchline score``: the events of a match store compared with a truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.library.scores import find_truth, truth_and_events
from detectors.catalogue import catalogue
from replay.scoring.figures import KindScore, Score
from replay.scoring.figures import score as score_events
from replay.scoring.frames import FrameScore
from replay.scoring.payloads import ValueScore
from replay.scoring.rates import rate_rows

app = typer.Typer(add_completion=False)

_HEAD = (
    "kind", "window", "true", "found", "both", "prec", "rec", "F1", "strict", "err ms", "p95", "place m",
    "missed ones taken for",
)  # fmt: skip


@app.command()
def score(
    folder: Folder,
    truth: Annotated[
        Path | None,
        Given(
            help="Folder of a simulation or its truth.parquet, Opta's events (.csv), or the DEBS 2013 annotation. "
            "Default: the truth beside the source that the match was played from."
        ),
    ] = None,
    as_json: Annotated[bool, Given("--json", help="Print the figures as JSON on stdout.")] = False,
) -> Score:
    """Compares the events of a match with the truth: precision, recall, F1, time error and confusion by kind.

    A match that `touchline simulate` has written has a truth, which `touchline live --source DIR` leaves beside it.

    `true`: how often it happened; `found`: how often it was detected; `both`: pairs of the two. `strict`: F1 if a pair
    with another variant, place or value counts as wrong. `err ms`, `p95`: how far a pair is apart in time; `place m`:
    over ground. The last column has what missed ones were taken for, and in brackets variants (true > found).

    Truths from before the first and after the last position of the store are left out: a run may have played a part of
    the match only.

    Examples:
        touchline score matches/demo
        touchline score matches/demo --truth demo
        touchline score matches/game --truth debs/annotation --json
    """
    result = score_events(*truth_and_events(folder, find_truth(folder) if truth is None else truth))
    if as_json:
        print_json(result)
    else:
        print("\n".join(lines(result)))
    return result


def lines(result: Score) -> list[str]:
    """The figures as a table: kinds that were found, kinds that never were, frames."""
    rows = [_HEAD, *(_row(kind, figures) for kind, figures in result.kinds.items() if figures.tp + figures.fp)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD) - 1)]
    table = [_aligned(row, widths) for row in rows]
    text = [f"Truth: {result.truth}", "", *table]
    text += _never_found({kind: f.fn for kind, f in result.kinds.items() if not f.tp + f.fp})
    text += _value_lines(result)
    text += ["", *(_frame_line(name, figure) for name, figure in result.frames.items())] if result.frames else []
    if result.unjudged:
        text += ["", f"Detected of kinds or variants that this truth does not have: {sum(result.unjudged.values())}"]
    return text + _rate_lines(result)


def _never_found(missed: dict[str, int]) -> list[str]:
    """Lines of kinds that happened and were not detected, by the reason."""
    opt_in = {kind: entry.opt_in for entry in catalogue() for kind in entry.outputs}
    reasons = ("Never found", "Not asked for (live --detectors)", "No detector")
    groups: dict[str, list[str]] = {reason: [] for reason in reasons}
    for kind, count in missed.items():
        groups[reasons[2 if kind not in opt_in else int(opt_in[kind])]].append(f"{kind} ({count})")
    lines = [f"{reason}: {', '.join(names)}" for reason, names in groups.items() if names]
    return ["", *lines] if lines else []


def _value_lines(result: Score) -> list[str]:
    """Lines of payloads: agreement of what pairs say besides time, kind and player."""
    rows = [
        f"  {kind} {name}: {_value(score)} ({score.pairs})"
        for kind, figures in result.kinds.items()
        for name, score in figures.values.items()
    ]
    return ["", "Payloads of pairs: equal, or median and p95 of the difference (pairs)", *rows] if rows else []


def _value(score: ValueScore) -> str:
    return f"{score.right:.1%}" if score.right is not None else f"{score.median:g}, {score.p95:g}"


def _rate_lines(result: Score) -> list[str]:
    """The match beside what leagues publish; ``!`` marks a figure outside, beyond what chance explains."""
    if not result.rates:
        return []
    rows = [(*row, "") for row in rate_rows(result.rates)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return ["", *(_aligned(row, widths) for row in rows)]


def _row(kind: str, f: KindScore) -> tuple[str, ...]:
    error = f.time_error_ms
    taken = [f"{label} {count}" for label, count in f.confusion.items()]
    taken += [f"[{change} {count}]" for change, count in f.variants.items()]
    times = (f"{error.median:.0f}", f"{error.p95:.0f}") if error else ("-", "-")
    counts = (f"{f.window_ms:.0f} ms", str(f.tp + f.fn), str(f.tp + f.fp), str(f.tp))
    shares = (_share(f.precision), _share(f.recall), _share(f.f1), _share(f.strict_f1))
    place = f"{f.place_m.median:.2f}" if f.place_m and f.place_m.median is not None else "-"
    return (kind, *counts, *shares, *times, place, ", ".join(taken))


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    numbers = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers, row[-1]]).rstrip()


def _frame_line(name: str, f: FrameScore) -> str:
    live = "" if f.live is None else f", {f.live:.1%} as known at the time"
    longest = f", wrong for {f.longest_wrong_s:.1f} s at most"
    return f"{name.replace('_', ' ')}: {f.agreement:.1%} of {f.frames} frames{live}{longest}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
