"""``touchline follow``: the updates of a match from its topic, as they arrive."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cli.options import From, Given, Kinds, Player, Team, To
from app.kafka.follow import follow as follow_topic
from app.library.lines import Names, update_line
from football.match_sheet import MatchSheet
from replay.event_choice import check_kinds, make_choice
from replay.match_store import read_sheet_of

app = typer.Typer(add_completion=False)


@app.command()
def follow(
    topic: Annotated[str, typer.Argument(help="kafka://host:port/topic[?match=...] that `live --publish` writes.")],
    kind: Kinds = None,
    team: Team = "",
    player: Player = "",
    begin: From = None,
    end: To = None,
    names: Annotated[
        Path | None, Given(help="Folder of a match store or of `simulate`: its match sheet has the names.")
    ] = None,
    idle: Annotated[float | None, Given(help="End after this many seconds without an update. Default: never.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Prints the updates of a match as they arrive, until the match is over; waits for a topic that is not there yet.

    Examples:
        touchline follow kafka://127.0.0.1:9092/events --kind shot,goal
        touchline follow kafka://127.0.0.1:9092/events --names matches/demo --team home --idle 60
    """
    sheet = read_sheet_of(names) if names is not None else None
    choice = make_choice(sheet or MatchSheet(), ",".join(kind or ()), team, player, begin, end)
    check_kinds(choice.kinds)
    known = Names(sheet)
    for change in follow_topic(topic, idle_s=idle, notify=lambda text: print(text, file=sys.stderr, flush=True)):
        update = change.update
        if not choice.takes(update.event):
            continue
        if as_json:
            print(msgspec.json.encode(update).decode(), flush=True)
        else:
            print(update_line(update.diff, update.emitted_us, update.event, known), flush=True)
