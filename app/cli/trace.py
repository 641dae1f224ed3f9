"""``touchline trace``: plays a match once more, and prints the path of one event through the ordering units.

The match is played from its capture with the ordering that it had. Where alpha or retraction adapted to the load, costs
are measured again, and the adaptation may differ. A capture that still grows is traced up to its end so far.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, TimeRemainingColumn

from app.base.terminal import make_console, make_progress
from app.cli.options import Given
from app.cli.output import print_json
from app.pipeline.options import with_costs
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.resolve import make_settings, read_stored_settings
from detectors.parameters import Parameters
from football.errors import UserError
from middleware.trace import Arrived, Concluded, HistoryLine, Released, Trace, event_history
from replay.capture import Capture
from replay.official_feed import replayed

app = typer.Typer(add_completion=False)

#: Names that the line of a repair lists; the number of the others follows.
_NAMES_MAX = 4


class TraceError(UserError, ValueError):
    """An event that cannot be traced; the message has the reason."""


@app.command()
def trace(
    folder: Annotated[Path, typer.Argument(help="Folder of a match store, or of a capture.")],
    event: Annotated[
        str,
        typer.Argument(
            help="Id of an event as `touchline events` lists it; of a packet kind:transmitter:number, "
            "such as raw.player:home_7:123."
        ),
    ],
    alpha: Annotated[str | None, Given(help="Play with another alpha than the match had: 0 to 1, or auto.")] = None,
    retraction: Annotated[
        str | None, Given(help="Play with another retraction than the match had: full, on-demand or auto.")
    ] = None,
    as_json: Annotated[bool, Given("--json", help="Print an array of records.")] = False,
) -> None:
    """Traces an event through the ordering units: arrival, release and its reason, causes, and what it displaced.

    The match is played again from its capture, twice: once to find the event, once to trace it.

    Examples:
        touchline trace matches/demo pass.complete#ball:61128725
        touchline trace matches/demo raw.player:home_7:123 --alpha 1
    """
    capture = Capture.open(folder)
    options = _options(folder, capture, alpha, retraction)
    console = make_console(stderr=True)
    until_us = capture.readable_us
    first = _play(folder, capture, until_us, options, Trace(event), console, "Looking for it")
    if not first.mentioned_us:
        so_far = "" if capture.is_finished else f" up to {until_us / 1e6:.0f} s, where its capture ends so far"
        raise TraceError(f"{event}: no event of that id in {folder}{so_far}; `touchline events` lists all")
    margin_us = options.allowed_lateness_ms * 1_000
    windows = [(seen_us - margin_us, seen_us + margin_us) for seen_us in sorted(set(first.mentioned_us))]
    lines = event_history(
        _play(folder, capture, until_us, options, Trace(event, windows), console, "Tracing it").records, event
    )
    if as_json:
        print_json([_plain(line) for line in lines])
    else:
        write_story(lines, event, sys.stdout)


def write_story(lines: list[HistoryLine], event: str, out: TextIO) -> None:
    """Write a story as text: the causes, the event, and what it displaced, each level further to the right."""
    rows: list[tuple[int, int, str, list[str]]] = []
    for line in lines:
        row = line.depth, line.record.now_us, _sentence(line.record)
        if rows and rows[-1][:3] == row:
            rows[-1][3].append(line.record.unit)
        else:
            rows.append((*row, [line.record.unit]))
    below = False
    for depth, now_us, text, units in rows:
        if depth < 0 and not below:
            out.write("Causes:\n")
        elif depth >= 0 and (below or (depth, now_us, text, units) == rows[0]):
            out.write(f"{event}, and what it displaced (further to the right):\n")
        below = depth < 0
        out.write(f"{now_us / 1e6:11.3f} s  {'  ' * max(0, depth)}{', '.join(units)}: {text}\n")


def _options(path: Path, capture: Capture, alpha: str | None, retraction: str | None) -> PipelineOptions:
    """The options of the match, with other ordering where it is chosen."""
    stored = read_stored_settings(path) or {}
    chosen = {"alpha": alpha, "retraction": retraction, "allowed_lateness_s": None}
    settings = make_settings({name: stored.get(name) if value is None else value for name, value in chosen.items()})
    options = PipelineOptions(
        alpha=settings.alpha,
        retraction=settings.retraction,
        allowed_lateness_ms=round(settings.allowed_lateness_s * 1_000),
        parameters=stored.get("parameters", Parameters()),
        extra=tuple(stored.get("detectors", ())),
    )
    return with_costs(options, capture.sheet, capture)


def _play(
    path: Path, capture: Capture, until_us: int, options: PipelineOptions, trace: Trace, console: Console, title: str
) -> Trace:
    """Play the capture with traced units; of one that still grows the part that can be read."""
    pipeline = MatchPipeline(capture.sheet, options, make_unit=trace.unit)
    blocks = replayed(path, capture.payloads(capture.begin_us, until_us), capture.begin_us, until_us)
    with make_progress(console, BarColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(title, total=until_us - capture.begin_us)
        for arrival_us, payload in blocks:
            trace.at(arrival_us)
            pipeline.push(payload, arrival_us)
            bar.update(task, completed=arrival_us - capture.begin_us)
    if capture.is_finished and until_us == capture.end_us:
        pipeline.finish()
    return trace


def _plain(line: HistoryLine) -> dict[str, Any]:
    return {"depth": line.depth, **msgspec.to_builtins(line.record)}


def _sentence(record: Any) -> str:
    """A record as a sentence."""
    if isinstance(record, Arrived):
        what = "arrived" if record.diff > 0 else "was withdrawn"
        late = ", before what had been emitted" if record.late else ""
        early = f", {record.k_plus_us / 1e3:.1f} ms sooner than by pure buffering" if record.k_plus_us else ""
        since_ms = (record.now_us - record.ts_us) / 1e3
        return f"{record.event} {what} {since_ms:.1f} ms after it happened{late}{early}"
    if isinstance(record, Released):
        k_ms = f"K {record.k_us / 1e3:.1f} ms"
        if record.by == "frontier":
            reason = f"the sources had reported everything up to it (alpha {record.alpha:.2f}, {k_ms})"
        elif record.alpha:
            reason = f"alpha {record.alpha:.2f} of {k_ms} had passed"
        else:
            reason = f"alpha 0 waits for nothing ({k_ms})"
        return f"{record.event} released: {reason}"
    if isinstance(record, Concluded):
        return f"concluded {record.event} from {record.cause}"
    because = [f"{len(names)} {what} ({_some(names)})" for names, what in
               ((record.late, "late"), (record.withdrawn, "withdrawn")) if names]  # fmt: skip
    effects = [f"{what} {_some(names)}" for names, what in
            ((record.withdrew, "withdrew"), (record.asserted, "asserted")) if names]  # fmt: skip
    redid = f"redid {record.redone} inputs for" if record.redone else "put in or took out"
    return f"{redid} {' and '.join(because)}; {', '.join(effects) or 'nothing changed'}"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")
