"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Given = typer.Option
Format = Annotated[str, Given("--format", help="csv, json (one object a line) or parquet.")]
Out = Annotated[Path | None, Given("--out", help="File to write; default stdout (parquet needs a file).")]
Folder = Annotated[Path, typer.Argument(help="Folder of a match store.")]

#: Settings of a command that takes the options of another one.
TAKES_MORE = {"allow_extra_args": True, "ignore_unknown_options": True}
