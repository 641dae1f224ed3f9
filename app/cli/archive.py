"""Command lines over recorded matches: ``batch`` and ``query``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Format, Given, Out

archive = typer.Typer()


@archive.command()
def batch(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="STORE_OR_FILE...",
            help="Match stores, captures, tracking files (as `live --source` takes them), or folders that hold some.",
        ),
    ],
    out: Annotated[Path, Given(help="Folder of the results, a match store each; called again, it is gone on with.")],
    parameters: Annotated[
        Path | None, Given(help="Settings file (TOML) of the detectors. Default: the defaults.")
    ] = None,
    detectors: Annotated[
        str | None, Given(help="Detectors to ask for, with commas, besides those that a recording had.")
    ] = None,
    alpha: Annotated[
        str, Given(help="Share of the slack to wait, as of `live`. The events are the same with any.")
    ] = "1",
    positions: Annotated[bool, Given(help="Keep the fused positions (most of a store's size).")] = True,
    jobs: Annotated[int, Given(help="Matches at a time; 0 for as many as there are cores.", min=0)] = 0,
    master: Annotated[str, Given(help="Spark cluster, spark://host:port. Default this machine.")] = "",
    anew: Annotated[bool, Given("--anew", help="Play again what is finished, too.")] = False,
    as_json: Annotated[bool, Given("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Plays recorded matches again with today's detectors, in parallel, and tells what changed since then.

    Exit code 1 if a match is broken; the others are not disturbed, and a later call tries it again.
    """
    from app.cli.batch import run

    code = run(
        given, out, parameters=parameters, detectors=detectors, alpha=alpha, positions=positions, jobs=jobs,
        master=master, anew=anew, as_json=as_json,
    )  # fmt: skip
    raise typer.Exit(code)


@archive.command()
def query(
    folders: Annotated[
        list[str], typer.Argument(metavar="FOLDER...", help="Match stores, or folders of match stores.")
    ],
    sql: Annotated[
        str | None, Given("--sql", help="A query over matches, players, events, updates, positions, attacks, changes.")
    ] = None,
    example: Annotated[
        str | None, Given(help="A query that comes with us, by name; `list` names them, with what they answer.")
    ] = None,
    engine: Annotated[str, Given(help="duckdb or spark; they answer the same.")] = "duckdb",
    form: Format = "csv",
    out: Out = None,
) -> None:
    """Asks many matches at once, in SQL; docs/history.md describes the tables."""
    from app.cli.query import run_query

    run_query(folders, sql, example, engine, form, out)
