"""``touchline updates``: all updates of a match, as lines for people or as a file for other programs."""

from __future__ import annotations

import typer

from app.cli.event_output import write_events
from app.cli.options import EventForm, Folder, From, Kinds, Out, Player, Team, To
from replay.match_store import updates_log

app = typer.Typer(add_completion=False)


@app.command()
def updates(
    folder: Folder,
    kind: Kinds = None,
    team: Team = "",
    player: Player = "",
    begin: From = None,
    end: To = None,
    form: EventForm = None,
    out: Out = None,
) -> None:
    """Writes all updates of a match in their order, withdrawals included, each with the time of its emission.

    Examples:
        touchline updates matches/demo --kind shot
        touchline updates matches/demo --from 12:00 --to 12:10 --format json
    """
    write_events(updates_log, folder, (kind, team, player, begin, end), form, out)
