"""``touchline test``: runs the tests of the repository."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from app.base.program import PROGRAM, is_checkout
from app.cli.options import TAKES_MORE, Given
from football.errors import UserError

app = typer.Typer(add_completion=False)


class NoTestsError(UserError):
    """The tests or the tools that run them are not here."""


@app.command(context_settings=TAKES_MORE)
def run_tests(
    context: typer.Context,
    slow: Annotated[bool, Given("--slow", help="Run the slow tests too.")] = False,
) -> None:
    """Runs the tests, three files at a time; further arguments go to pytest, which then runs one after the other.

    Examples:
        touchline test
        touchline test tests/football -k pitch
    """
    if not is_checkout():
        raise NoTestsError("the tests are in the repository only: clone it and run ./touchline test there")
    if find_spec("pytest") is None:
        raise NoTestsError("the test tools are not installed: run ./touchline test, which installs them")
    chosen = [] if slow or "-m" in context.args else ["-m", "not slow"]
    parallel = [] if slow or context.args else ["-n", "3", "--dist", "loadfile"]
    command = [sys.executable, "-m", "pytest", *chosen, *parallel, *context.args]
    raise typer.Exit(subprocess.run(command, cwd=PROGRAM, check=False).returncode)
