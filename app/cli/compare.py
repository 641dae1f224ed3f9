"""``touchline compare``: a match beside the event data of another provider, and the disagreements."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.compare.comparison import compare as compare_match
from app.compare.third_party import PROVIDERS
from replay.comparisons import Comparison, Disagreement, keep_comparison
from replay.event_choice import format_time

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    folder: Folder,
    files: Annotated[list[Path], typer.Argument(help="Files of the provider, in the order that --provider names.")],
    provider: Annotated[
        str, Given(help="; ".join(f"{name}: {', '.join(files)}" for name, (_, _, files) in PROVIDERS.items()) + ".")
    ] = "statsbomb",
    keep: Annotated[bool, Given("--keep", help="Keep it in the store, so that the replay room lists it.")] = False,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Lays the event data of another provider beside a match: pairs by kind, time, player and place.

    Prints how many actions of each kind both sides have, the shift of the clocks by period, and each disagreement.

    Examples:
        touchline compare matches/demo events.json lineups.json
        touchline compare matches/demo f7.xml f24.xml --provider opta --json
    """
    found = compare_match(folder, provider, files)
    if keep:
        keep_comparison(folder, found)
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        sys.stdout.write("\n".join(_lines(found)) + "\n")


def _lines(found: Comparison) -> Iterator[str]:
    yield f"{'kind':14}{'ours':>6}{'theirs':>8}{'paired':>8}"
    for kind, row in found.kinds.items():
        yield f"{kind:14}{row.ours:6}{row.theirs:8}{row.paired:8}"
    for period, shift_s in found.shifts_s.items():
        yield f"period {period}: their clock is ahead by {shift_s:+.2f} s"
    yield f"{found.agreeing} pairs agree, {len(found.disagreements)} disagreements"
    for one in found.disagreements:
        yield _line(one)


def _line(one: Disagreement) -> str:
    apart = "" if one.seconds is None else f" {one.seconds:+.2f} s"
    apart += "" if one.metres is None else f" {one.metres:.1f} m"
    sides = " / ".join(filter(None, (one.our_player, one.their_player)))
    return f"{format_time(one.event_us):>10}  {one.kind:13}{', '.join(one.about):22}{sides}{apart}  {one.ours}".rstrip()
