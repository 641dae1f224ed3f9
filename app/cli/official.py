"""``touchline official``: reports a decision of the officials to a match that runs, or has ended."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.options import Folder, Given
from app.officials.ended import decide_after_the_end
from app.sources.registry import source_of_store
from football.officials import DECISIONS
from replay.decision_log import report_decision
from replay.formats.officials import OfficialError, parse
from replay.match_store import read_commits

app = typer.Typer(add_completion=False)


@app.command()
def official(
    folder: Folder,
    kind: Annotated[str, typer.Argument(help=f"{', '.join(DECISIONS)}.")],
    variant: Annotated[str, Given(help="Variant of the decision, such as yellow of a card.")] = "",
    team: Annotated[str, Given(help="home or away.")] = "",
    player: Annotated[
        str, Given(help="Object id of the player concerned; of a substitution, the player who comes on.")
    ] = "",
    other: Annotated[str, Given(help="Object id of the player who goes off.")] = "",
    minutes: Annotated[int | None, Given(help="Minutes of added time.")] = None,
    event: Annotated[str, Given(help="Id of the event that is void or wrong.")] = "",
    at: Annotated[
        float | None, Given(help="Time of the decision, in seconds of the match's clock. Default now.")
    ] = None,
    right_kind: Annotated[str, Given(help="Of a correction: the kind that the event should have.")] = "",
    right_variant: Annotated[str, Given(help="Of a correction: the variant that it should have.")] = "",
    right_at: Annotated[
        float | None, Given(help="Of a correction: when it happened, in seconds of the match's clock.")
    ] = None,
    source: Annotated[str, Given(help="Name of the official or system that decides. Default operator.")] = "",
    number: Annotated[
        int | None,
        Given(
            help="Number of the decision; a second report with the same number is ignored. Default the line's number."
        ),
    ] = None,
    note: Annotated[str, Given(help="Free text for readers.")] = "",
) -> None:
    """Reports a decision of the officials to a match, which withdraws events that contradict it.

    Examples:
        touchline official matches/demo no_goal --variant offside --event goal.scored#ball:212938725
        touchline official matches/demo card --variant yellow --team home --player home_7
        touchline official matches/demo correction --event pass.complete#ball:212938725 --team home --player home_8
    """
    fields = {
        "kind": kind, "variant": variant, "team": team, "player": player, "other": other, "minutes": minutes,
        "event": event, "right_kind": right_kind, "right_variant": right_variant, "right_s": right_at,
        "at_s": at, "source": source, "number": number, "note": note,
    }  # fmt: skip
    run_official(folder, fields)


def run_official(folder: Path, fields: dict[str, object]) -> None:
    """Append a line to the file of officials in a match store, and print it.

    Args:
        folder: of the store of a running match; of an interrupted one the line waits until a run resumes it. The store
            of a match that has ended gets a new window.
        fields: of ``replay.formats.officials.DecisionFields``; those that are None or empty are left out.

    Raises:
        OfficialError: the decision cannot be, or the match takes none.
        StoreError: the folder is no match store.
    """
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    if any(commit.meta.ended for commit in read_commits(folder) if not commit.series):
        decision = parse(msgspec.json.encode(given).decode())
        decide_after_the_end(folder, [decision])
        sys.stdout.write(msgspec.json.encode(decision).decode() + "\n")
        return
    if not source_of_store(folder).has_recording:
        raise OfficialError(f"{folder}: a match out of a topic takes no lines of officials while it runs")
    sys.stdout.write(report_decision(folder, msgspec.json.encode(given).decode()))
