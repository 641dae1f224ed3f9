"""``touchline test``: runs the tests of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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

#: Plays a match, so that numba compiles the kernels of simulator and detectors and keeps them.
_USES_KERNELS = "import touchline; touchline.play('sim', seconds=10).run()"

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
    with _compiling_kernels():
        code = run_default_suite(PROGRAM, *chosen)
    raise typer.Exit(code)


def run_default_suite(folder: Path, *chosen: str) -> int:
    """Run the tests of a folder side by side, and what fails there once more, alone.

    Many tests start processes, browsers and Spark, and all of them share the cores. A test that fails beside others
    and passes alone is unstable: it is named, since it needs mending, but says nothing against the product. Only the
    second run takes the assertions apart to show their values: pytest would rewrite each file of tests for this in each
    of its processes, which takes longer than to import the product.

    Args:
        folder: root of the repository.
        chosen: arguments that choose tests.

    Returns:
        Pytest's exit code: 0 if each test passed at one of its runs.
    """
    common = *chosen, f"--timeout={_HANGS_S}"
    code = _pytest(folder, *common, "--cache-clear", "--assert=plain", "-n", "3", "--dist", "loadfile")
    if code != _TESTS_FAILED:
        return code
    console = make_console()
    console.print("\nWhat failed runs once more, alone.")
    code = _pytest(folder, *common, "--last-failed", f"--maxfail={_REPEATED_MAX}", "-v")
    if code == 0:
        console.print("These tests failed beside others and passed alone: they are unstable and need mending.")
    return code


@contextmanager
def _compiling_kernels() -> Iterator[None]:
    """Compiles the kernels in a process of its own, at the first run of a version, while pytest collects the tests.

    Otherwise several tests meet them at once, and each compiles them for itself: more than a minute of processor time.
    """
    from detectors.signals.kernels.break_solver import is_compiled

    if is_compiled():
        yield
        return
    command, ignored = [sys.executable, "-c", _USES_KERNELS], subprocess.DEVNULL
    with subprocess.Popen(command, cwd=PROGRAM, env=_environment(), stdout=ignored, stderr=ignored) as process:
        try:
            yield
        finally:
            process.kill()


def _pytest(folder: Path, *arguments: str) -> int:
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=folder, env=_environment(), check=False).returncode


def _environment() -> dict[str, str]:
    """The variables of a process that runs tests.

    Tests start hundreds of processes. Where bytecode is not written, each of them compiles each module again: half of
    what a short command takes.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
