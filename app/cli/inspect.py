"""``touchline inspect``: measures a source, and says what is wrong with it and how to mend it.

The source is prepared as ``touchline live`` prepares it, and its blocks go through the same meter; no detector runs. Of
a topic the records that are there are read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table

from app.base.terminal import make_console
from app.cli.options import Given
from app.cli.output import print_json
from app.run.inspection import Inspection, inspect_source
from app.run.summary import WRONG_INPUT
from app.settings.resolve import make_settings
from football.input_quality import InputQuality

app = typer.Typer(add_completion=False)

#: Length of a simulated match that is measured, unless another is asked for, in seconds.
SIMULATED_S = 60.0


@app.command()
def inspect(
    source: Annotated[
        str, typer.Argument(help="What `touchline live --source` takes: a file, a capture, sim, kafka://...")
    ],
    pitch: Annotated[
        str | None, Given(help="Length x width in metres, if no match sheet has it. Default 105x68.")
    ] = None,
    sheet: Annotated[Path | None, Given(help="Match sheet, instead of the source's own.")] = None,
    rate: Annotated[str | None, Given(help="Tags and rates of a locating system, as for `live`.")] = None,
    channel: Annotated[str | None, Given(help="Radio channel, as for `live`.")] = None,
    duration: Annotated[float | None, Given(help="Seconds to measure. Default all; of sim 60.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print figures and findings as JSON on stdout.")] = False,
) -> None:
    """Measures the quality of a source: rates, ball, noise, jumps, gaps, order, pitch, units, origin, sides, players.

    Exit code 3: the input is wrong, and the verdict says how to mend it. Nothing is stored.

    Examples:
        touchline inspect match.parquet
        touchline inspect match.csv.gz --sheet teams.json --json
        touchline inspect kafka://127.0.0.1:9092/positions
    """
    if source == "sim" and duration is None:
        duration = SIMULATED_S
    given: dict[str, Any] = {
        "source": source, "pitch": pitch, "sheet": sheet, "rate": rate, "channel": channel, "duration_s": duration
    }  # fmt: skip
    settings = make_settings({name: value for name, value in given.items() if value is not None})
    inspection = inspect_source(settings, make_console(stderr=True))
    if as_json:
        print_json(_as_json(inspection))
    else:
        _show(source, inspection)
    raise typer.Exit(WRONG_INPUT if inspection.is_wrong else 0)


def _as_json(inspection: Inspection) -> dict[str, Any]:
    sheet = inspection.sheet
    return {
        "verdict": "wrong" if inspection.is_wrong else "right",
        "findings": [{**msgspec.structs.asdict(found), "text": found.text} for found in inspection.findings],
        "quality": inspection.quality,
        "sheet": {
            "match_id": sheet.match_id, "length_m": sheet.length_m, "width_m": sheet.width_m,
            "attacks_positive_x": sheet.attacks_positive_x, "players": len(sheet.players), "quality": sheet.quality,
        },
    }  # fmt: skip


def _show(source: str, inspection: Inspection) -> None:
    console = make_console()
    table = Table(title=source, title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, text in _rows(inspection):
        table.add_row(name, text)
    console.print(table)
    for found in inspection.findings:
        console.print(f"{'wrong' if found.severity == 'wrong' else 'note'}: {found.text}")
    console.print("Verdict: the input is wrong" if inspection.is_wrong else "Verdict: nothing wrong")
    sys.stdout.flush()


def _rows(inspection: Inspection) -> Iterator[tuple[str, str]]:
    q, sheet = inspection.quality, inspection.sheet
    yield "Length", f"{q.span_s:,.1f} s, {q.positions:,} positions"
    yield "Periods", "; ".join(f"{begin:,.0f} to {end:,.0f} s" for begin, end in q.periods)
    yield "Rates", f"ball {q.ball_hz:g} Hz, players {q.body_hz:g} Hz (declared {_declared(inspection)})"
    yield "Ball", f"seen in {q.ball_share:.1%} of the instants; without change in {q.ball_still:.1%} of its steps"
    high = f"one in twenty over {q.ball_height_high_m:.1f} m, up to {q.ball_height_max_m:.1f} m"
    yield "Height", f"in {q.ball_height_share:.1%} of the ball's positions; {high}"
    yield "Noise", f"ball {q.ball_noise_m * 100:.1f} cm, players {q.body_noise_m * 100:.1f} cm"
    yield "Impossible steps", f"ball {q.ball_outliers:.2%}, players {q.body_outliers:.3%}"
    yield "Identity jumps", f"{q.identity_jumps:,}"
    yield "Scene cuts", f"{q.scene_cuts:,}"
    yield "Straight steps", f"{q.ball_straight:.1%} of the moving ball's steps repeat the one before"
    yield "Frozen", f"{q.frozen_s:,.0f} s"
    yield "Gaps", f"{q.gaps}, {q.gap_s:,.1f} s"
    yield "Order", _order(q)
    yield "Refused", f"{q.refused:,}: {', '.join(q.refused_reasons)}" if q.refused else "none"
    yield "Pitch", f"{sheet.length_m:g} x {sheet.width_m:g} m"
    yield "Players' box", f"x {q.x_low_m:.1f} to {q.x_high_m:.1f}, y {q.y_low_m:.1f} to {q.y_high_m:.1f}"
    on_pitch = f"{q.home_players} home, {q.away_players} away"
    yield "Players", f"{on_pitch} on the pitch; {q.home_objects} and {q.away_objects} with positions"
    yield "Attacks +x", f"{q.attacks_positive_x or 'unknown'} (sheet: {sheet.attacks_positive_x or 'unknown'})"
    yield "Change of ends", ", ".join(f"{at_s:,.0f} s" for at_s in q.side_changes) or "none"
    flag = f"{q.flag_changes:,} changes; alive in {q.flag_alive:.1%} of what it says"
    flag += f", in {q.flag_outside_alive:.1%} while the ball is metres outside" if q.flag_outside else ""
    yield "Alive flag", flag if q.flag_changes or q.flag_alive else "none: play is detected from positions"


def _declared(inspection: Inspection) -> str:
    quality = inspection.sheet.quality
    return f"{quality.ball_hz:g} and {quality.body_hz:g} Hz, {quality.kind}"


def _order(q: InputQuality) -> str:
    if not q.behind_s and not q.disordered:
        return "in order of time"
    late = f"packets up to {q.behind_s:.2f} s behind others, {q.behind_share:.2%} by more than 3 s"
    return f"{late}; {q.disordered:,} positions go back in time" if q.disordered else late
