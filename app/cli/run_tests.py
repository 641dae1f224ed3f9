"""``touchline test``: runs the tests of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import TAKES_MORE, Given

app = typer.Typer(add_completion=False)

_ROOT = Path(__file__).resolve().parents[2]


@app.command(context_settings=TAKES_MORE)
def run_tests(
    context: typer.Context,
    slow: Annotated[bool, Given("--slow", help="Run the slow tests too.")] = False,
) -> None:
    """Runs the tests, two files at a time; further arguments go to pytest, which then runs one after the other.

    Examples:
        touchline test
        touchline test tests/football -k pitch
    """
    chosen = [] if slow or "-m" in context.args else ["-m", "not slow"]
    parallel = [] if slow or context.args else ["-n", "2", "--dist", "loadfile"]
    command = [sys.executable, "-m", "pytest", *chosen, *parallel, *context.args]
    raise typer.Exit(subprocess.run(command, cwd=_ROOT, check=False).returncode)
