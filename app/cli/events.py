"""``touchline events``: what happened in a match, as lines for people or as a file for other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli.event_output import write_events
from app.cli.options import EventForm, Folder, From, Given, Kinds, Out, Player, Team, To
from replay.event_list import consolidated_events

app = typer.Typer(add_completion=False)


@app.command()
def events(
    folder: Folder,
    kind: Kinds = None,
    team: Team = "",
    player: Player = "",
    begin: From = None,
    end: To = None,
    house: Annotated[
        bool, Given("--house", help="Add UTC and the timecode of the house, see `touchline timecode`.")
    ] = False,
    form: EventForm = None,
    out: Out = None,
) -> None:
    """Writes what happened in a match: one record per event, corrections applied, sorted by time.

    Examples:
        touchline events matches/demo --kind pass.complete,shot --team home
        touchline events matches/demo --player 7 --from 4:00 --to 5:30
        touchline events matches/demo --format parquet --out events.parquet
        touchline events matches/demo --kind goal --house
    """
    write_events(consolidated_events, folder, (kind, team, player, begin, end), form, out, house=house)
