"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Given = typer.Option
Format = Annotated[str, Given("--format", help="csv, json (one object a line) or parquet.")]
EventForm = Annotated[
    str | None,
    Given(
        "--format",
        help="text (lines with names), csv, json (one object a line) or parquet. Default text on a terminal, else csv.",
    ),
]
Out = Annotated[Path | None, Given("--out", help="File to write; default stdout (parquet needs a file).")]
Folder = Annotated[Path, typer.Argument(help="Folder of a match store.")]

Kinds = Annotated[
    list[str] | None,
    Given("--kind", help="Only such kinds; pass stands for all that begin with pass. With commas, or repeated."),
]
Team = Annotated[str, Given("--team", help="Only events of a team: home, away, or its name.")]
Player = Annotated[str, Given("--player", help="Only events of a player: object id, shirt number, or part of a name.")]
From = Annotated[str | None, Given("--from", help="Only from this time of the match on: 4:01, 1:07:30 or seconds.")]
To = Annotated[str | None, Given("--to", help="Only before this time of the match.")]

#: Settings of a command that takes the options of another one.
TAKES_MORE = {"allow_extra_args": True, "ignore_unknown_options": True}
