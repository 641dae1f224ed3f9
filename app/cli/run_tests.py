"""``touchline test``: runs the tests of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from app.base.program import PROGRAM, is_checkout
from app.base.terminal import make_console
from app.cli.options import TAKES_MORE, Given
from football.errors import UserError

#: Pytest's exit code when it ran to its end and tests failed.
_TESTS_FAILED = 1

#: More failures than this are no accident of a busy machine.
_REPEATED_MAX = 5

#: A test that takes longer hangs, and fails.
_HANGS_S = 600

app = typer.Typer(add_completion=False)


class NoTestsError(UserError):
    """The tests or the tools that run them are not here."""


@app.command(context_settings=TAKES_MORE)
def run_tests(
    context: typer.Context,
    slow: Annotated[bool, Given("--slow", help="Run the slow tests too.")] = False,
) -> None:
    """Runs the tests, three files at a time, and what fails a second time, alone; with further arguments only pytest.

    Examples:
        touchline test
        touchline test tests/football -k pitch
    """
    if not is_checkout():
        raise NoTestsError("the tests are in the repository only: clone it and run ./touchline test there")
    if find_spec("pytest") is None:
        raise NoTestsError("the test tools are not installed: run ./touchline test, which installs them")
    chosen = [] if slow or "-m" in context.args else ["-m", "not slow"]
    if slow or context.args:
        raise typer.Exit(_pytest(PROGRAM, *chosen, *context.args))
    raise typer.Exit(run_default_suite(PROGRAM, *chosen))


def run_default_suite(folder: Path, *chosen: str) -> int:
    """Run the tests of a folder side by side, and what fails there once more, alone.

    Many tests start processes, browsers and Spark, and all of them share the cores. A test that fails beside others
    and passes alone is unstable: it is named, since it needs mending, but says nothing against the product.

    Args:
        folder: root of the repository.
        chosen: arguments that choose tests.

    Returns:
        Pytest's exit code: 0 if each test passed at one of its runs.
    """
    common = *chosen, f"--timeout={_HANGS_S}"
    code = _pytest(folder, *common, "--cache-clear", "-n", "3", "--dist", "loadfile")
    if code != _TESTS_FAILED:
        return code
    console = make_console()
    console.print("\nWhat failed runs once more, alone.")
    code = _pytest(folder, *common, "--last-failed", f"--maxfail={_REPEATED_MAX}", "-v")
    if code == 0:
        console.print("These tests failed beside others and passed alone: they are unstable and need mending.")
    return code


def _pytest(folder: Path, *arguments: str) -> int:
    # Tests start hundreds of processes. Where bytecode is not written, each of them compiles each module again: half
    # of what a short command takes.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode
