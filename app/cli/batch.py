"""``touchline batch``: recorded matches played again with today's detectors, and the changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TimeElapsedColumn
from rich.table import Table

from app.base.terminal import make_console, make_progress
from app.batch.play import BatchOptions, Result
from app.batch.run import Watch, as_plain, run_batch, totals
from app.cli.options import Given
from app.cli.output import print_json
from app.settings.parameters import load_parameters
from app.settings.resolve import make_settings
from replay.scoring.changes import KindChange, sum_changes

app = typer.Typer(add_completion=False)


@app.command()
def batch(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="STORE_OR_FILE...",
            help="Match stores, captures, tracking files (as `live --source` takes them), or folders that hold some.",
        ),
    ],
    out: Annotated[
        Path, Given(help="Folder for the results, a match store each. A second call plays only what is missing.")
    ],
    parameters: Annotated[
        Path | None, Given(help="File (TOML) with parameters of the detectors. Default: the default of each.")
    ] = None,
    detectors: Annotated[
        str | None, Given(help="Opt-in detectors to run as well, with commas, besides those of the recording.")
    ] = None,
    patterns: Annotated[
        str | None,
        Given(help="Files of patterns or folders of them, with commas, besides those of the recording."),
    ] = None,
    alpha: Annotated[
        str, Given(help="Share of the slack that is waited, as of `live`. The events are the same with any value.")
    ] = "1",
    positions: Annotated[bool, Given(help="Store the fused positions (most of a store's size).")] = True,
    jobs: Annotated[int, Given(help="Number of matches at a time; 0: as many as there are cores.", min=0)] = 0,
    master: Annotated[str, Given(help="Spark cluster, spark://host:port. Default this machine.")] = "",
    anew: Annotated[bool, Given("--anew", help="Play finished matches again, too.")] = False,
    as_json: Annotated[bool, Given("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Plays recorded matches again with today's detectors, in parallel, and reports what changed since then.

    Exit code 1 if a match is broken; the others are not disturbed, and a later call tries it again.

    Examples:
        touchline batch matches/ --out again
        touchline batch matches/ derby.parquet --out mine --parameters mine.toml
        touchline batch matches/ --out found --patterns patterns/
    """
    if parameters is not None:
        load_parameters(parameters)  # a wrong file is refused once, and not by every match
    checked = make_settings({"detectors": detectors, "alpha": alpha, "patterns": patterns})
    choices = BatchOptions(
        str(out.resolve()), alpha, str(parameters.resolve()) if parameters else "", checked.detectors, positions,
        dict(checked.patterns),
    )  # fmt: skip
    console = make_console(stderr=as_json, width=None if sys.stdout.isatty() else 150)
    with _progress(console, len(given)) as watch:
        results, skipped = run_batch(given, choices, jobs=jobs, master=master, anew=anew, watch=watch)
    if as_json:
        print_json(as_plain(results, skipped))
    else:
        show(results, skipped, out, console)
    if any(result.broken for result in results):
        raise typer.Exit(1)


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Watch | None]:
    """A bar for each match that is being played, and one for all; none if the output is no terminal."""
    if not console.is_terminal:
        yield None
        return
    with make_progress(console, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as bar:
        whole = bar.add_task("Matches", total=None)
        bars: dict[str, TaskID] = {}

        def watch(playing: Mapping[str, float], done: int) -> None:
            bar.update(whole, completed=done, total=max(total, done + len(playing)))
            for name in bars.keys() - playing.keys():
                bar.remove_task(bars.pop(name))
            for name, share in playing.items():
                if name not in bars:
                    bars[name] = bar.add_task(f"  {name}", total=100)
                bar.update(bars[name], completed=round(100 * share))

        yield watch


def show(results: Sequence[Result], skipped: int, out: Path, console: Console) -> None:
    """Print the result of every match, and the changes by kind."""
    table = Table(title=f"Batch: {out}", title_justify="left")
    table.add_column("match")
    for name in ("stream s", "wall s", "x real time", "events", "recorded", "agreement"):
        table.add_column(name, justify="right")
    table.add_column("")
    for result in results:
        table.add_row(*_match_row(result))
    console.print(table)
    kinds = {kind: counts for kind, counts in totals(results).items() if not counts.unchanged}
    compared = [result for result in results if result.kinds is not None]
    if kinds:
        console.print(_kinds(kinds))
    if compared:
        where = f"every change, event by event: {out / 'changes.parquet'}"
        console.print(where if kinds else f"{len(compared)} compared with what was recorded: nothing changed")
    if skipped:
        console.print(f"{skipped} of {len(results)} were finished before and were not played again (--anew does)")


def _match_row(result: Result) -> tuple[str, ...]:
    if result.broken:
        return (result.name, "", "", "", "", "", "", f"broken: {result.broken}")
    rate = f"{result.stream_s / result.wall_s:.1f}" if result.wall_s else ""
    times = (f"{result.stream_s:.1f}", f"{result.wall_s:.1f}", rate, str(result.events))
    if result.kinds is None:
        return (result.name, *times, "", "", "nothing was recorded of it")
    all_kinds = sum_changes(list(result.kinds.values()))
    return (result.name, *times, str(all_kinds.recorded), f"{all_kinds.agreement:.4f}", "")


def _kinds(kinds: Mapping[str, KindChange]) -> Table:
    table = Table(title="What changed, by kind (kinds with no change are left out)", title_justify="left")
    table.add_column("kind")
    for name in ("recorded", "now", "kept", "altered", "moved", "by ms", "gone", "new", "agreement"):
        table.add_column(name, justify="right")
    for kind, counts in kinds.items():
        shift = "" if counts.shift_ms is None else f"{counts.shift_ms:.0f}"
        cells = (
            counts.recorded,
            counts.now,
            counts.kept,
            counts.altered,
            counts.moved,
            shift,
            counts.missing,
            counts.new,
        )
        table.add_row(kind, *map(str, cells), f"{counts.agreement:.3f}")
    return table
