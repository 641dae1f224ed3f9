"""``touchline batch``: recorded matches played again with today's detectors; what changed, for people and programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from app.batch.changes import KindChange, sum_changes
from app.batch.play import BatchOptions, Result
from app.batch.run import Watch, as_plain, run_batch, totals
from app.settings.model import make_settings
from app.settings.parameters import load_parameters


def run(
    given: Sequence[str],
    out: Path,
    *,
    parameters: Path | None,
    detectors: str | None,
    alpha: str,
    positions: bool,
    jobs: int,
    master: str,
    anew: bool,
    as_json: bool,
) -> int:
    """Runs a batch and tells of it; 1 if a match is broken, else 0.

    Raises:
        BatchError, SettingsError, ParametersError: it cannot begin as asked.
    """
    if parameters is not None:
        load_parameters(parameters)  # a bad file is told now, and not by every match
    checked = make_settings({"detectors": detectors, "alpha": alpha})
    choices = BatchOptions(
        str(out.resolve()), alpha, str(parameters.resolve()) if parameters else "", checked.detectors, positions
    )
    console = Console(stderr=as_json, width=None if sys.stdout.isatty() else 150)
    with _progress(console, len(given)) as watch:
        results, skipped = run_batch(given, choices, jobs=jobs, master=master, anew=anew, watch=watch)
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(as_plain(results, skipped)) + b"\n")
        sys.stdout.flush()
    else:
        show(results, skipped, out, console)
    return 1 if any(result.broken for result in results) else 0


@contextmanager
def _progress(console: Console, total: int) -> Iterator[Watch | None]:
    """A bar for each match that is being played, and one for all; nothing where nobody looks (a pipe, a file)."""
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
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
    """Prints what came of every match, and what changed by kind."""
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
        told = f"every change, event by event: {out / 'changes.parquet'}"
        console.print(told if kinds else f"{len(compared)} compared with what was recorded: nothing changed")
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
        cells = (counts.recorded, counts.now, counts.kept, counts.altered, counts.moved, shift, counts.gone, counts.new)
        table.add_row(kind, *map(str, cells), f"{counts.agreement:.3f}")
    return table
