"""``touchline dependencies lock | try``: refreshes the lock files, and tries the newest versions before that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from packaging.requirements import Requirement

from app.base.errors import one_line
from app.base.program import PROGRAM, is_checkout
from app.cli.output import print_json
from football.errors import UserError

app = typer.Typer(add_completion=False, no_args_is_help=True)

#: What each lock file is made from, beside the earlier ones, whose versions it repeats.
LOCKS = {"runtime": ("pyproject.toml",), "setup": ("--group", "setup"), "test": ("--group", "test")}

#: Tests that show in some minutes what a library has changed: some of each part that imports libraries.
QUICK_TESTS = (
    "tests/test_house.py", "tests/football", "tests/replay", "tests/dashboard", "tests/detectors/test_transcripts.py",
    "tests/detectors/patterns",
    "tests/simulator/test_simulate.py", "tests/simulator/radio", "tests/simulator/tracking",
    "tests/camera/test_protocols.py", "tests/camera/test_foreign_client.py", "tests/app/cameras/test_film.py",
    "tests/app/export", "tests/app/report", "tests/app/api", "tests/app/cli/test_main.py", "tests/app/cli/test_help.py",
    "tests/app/base/test_paper.py", "tests/app/gateway/transports",
    "tests/app/history", "tests/app/hub",
    "tests/app/kafka/test_source.py", "tests/app/library/test_library.py", "tests/app/operations",
    "tests/app/pipeline", "tests/app/settings", "tests/app/spark/test_seat.py",
)  # fmt: skip

_FOLDER = PROGRAM / "requirements"


class DependenciesError(UserError):
    """The lock files cannot be made, or there are none; the message has the reason."""


@app.callback()
def dependencies() -> None:
    """Refreshes the locked versions of libraries, or tries newer ones; in a checkout only.

    Examples:
        touchline dependencies try
        touchline dependencies lock --upgrade
    """
    if not is_checkout():
        raise DependenciesError("an installed wheel has no lock files: clone the repository")


@app.command()
def lock(
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Take the newest versions that are allowed.")] = False,
) -> None:
    """Makes requirements/*.txt anew from pyproject.toml; without --upgrade the locked versions stay where they can.

    Examples:
        touchline dependencies lock
        touchline dependencies lock --upgrade
    """
    before = locked_versions(_FOLDER)
    make_locks(_FOLDER, upgrade=upgrade)
    changes = differences(before, locked_versions(_FOLDER))
    print("\n".join(changes) or "the lock files were current")


@app.command("try")
def try_newest(
    tests: Annotated[
        list[str] | None,
        typer.Argument(help="Tests to run; default: some of each part that imports libraries, in some minutes."),
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Folder for the environment, which then stays.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Runs tests with the newest allowed versions in an environment of its own; exit code 1 if something breaks.

    Says which versions differ from the locked ones, which tests it ran, and which of them fail that pass with the
    locked ones. Changes neither the lock files nor the environment of Touchline.

    Examples:
        touchline dependencies try
        touchline dependencies try tests/football --json
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        shutil.copytree(_FOLDER, folder / "requirements", dirs_exist_ok=True)
        make_locks(folder / "requirements", upgrade=True)
        changes = differences(locked_versions(_FOLDER), locked_versions(folder / "requirements"))
        python = _environment(folder)
        chosen = tests or list(QUICK_TESTS)
        print(f"running the tests of {', '.join(chosen)}", file=sys.stderr)
        failed = failing_tests(python, chosen)
        broken = sorted(set(failed) - set(failing_tests(Path(sys.executable), failed))) if failed else []
    if as_json:
        print_json({"changes": changes, "tests": chosen, "broken": broken})
    else:
        print("\n".join(["newer than the lock files:", *changes] if changes else ["the lock files have the newest"]))
        print(f"ran {' '.join(chosen)}")
        print("\n".join(["broken by that:", *broken] if broken else ["nothing is broken by that"]))
    if broken:
        raise typer.Exit(1)


def make_locks(folder: Path, *, upgrade: bool) -> None:
    """Writes the lock files of the project to a folder; what is there already is preferred, unless ``upgrade``.

    Raises:
        DependenciesError: no versions fit together, or no index answers.
    """
    options = ["--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--quiet"]
    for name, origin in LOCKS.items():
        runtime = [] if name == "runtime" else ["--constraint", str(folder / "runtime.txt")]
        out = ["--output-file", str(folder / f"{name}.txt"), *(["--upgrade"] if upgrade else [])]
        _uv("compile", *origin, *options, *runtime, *out)
    for name in LOCKS:
        file = folder / f"{name}.txt"
        text = file.read_text(encoding="utf-8").replace(str(folder), "requirements")
        file.write_text(text, encoding="utf-8")


def locked_versions(folder: Path) -> dict[str, str]:
    """By package, the locked version; several where it depends on the platform or on Python."""
    found: dict[str, set[str]] = {}
    for name in LOCKS:
        for requirement in locked_requirements(folder / f"{name}.txt"):
            found.setdefault(requirement.name, set()).update(exact.version for exact in requirement.specifier)
    return {package: " or ".join(sorted(numbers)) for package, numbers in found.items()}


def locked_requirements(file: Path) -> list[Requirement]:
    """The exact versions of a lock file, each with its marker."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip("\\ ")) for line in lines if "==" in line and not line.startswith((" ", "#"))]


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """A line for each package whose version differs.

    >>> differences({"a": "1", "b": "1"}, {"a": "2", "c": "3"})
    ['a 1 -> 2', 'b 1 -> none', 'c none -> 3']
    """
    packages = sorted(before.keys() | after.keys())
    pairs = [(package, before.get(package, "none"), after.get(package, "none")) for package in packages]
    return [f"{package} {old} -> {new}" for package, old, new in pairs if old != new]


def failing_tests(python: Path, tests: Sequence[str]) -> list[str]:
    """Names of the tests, among those chosen, that fail under an interpreter.

    Raises:
        DependenciesError: pytest does not get as far as tests.
    """
    command = [str(python), "-m", "pytest", "-q", "--no-header", "-m", "not slow", "-rfE", *tests]
    done = subprocess.run(command, cwd=PROGRAM, capture_output=True, text=True, check=False)
    lines = [line.partition(" - ")[0].split(" ", 1) for line in done.stdout.splitlines()]
    failed = sorted({line[1] for line in lines if line[0] in ("FAILED", "ERROR") and len(line) == 2})
    if done.returncode not in (0, 1) and not failed:
        raise DependenciesError(f"pytest ends with {done.returncode}: {one_line(done.stdout + done.stderr)[-500:]}")
    return failed


def _environment(folder: Path) -> Path:
    """An environment with what the lock files of a folder name, and the project; returns its interpreter."""
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    for name in LOCKS:
        _uv("install", "--python", str(python), "--no-build-isolation", "--require-hashes", "-r",
            str(folder / "requirements" / f"{name}.txt"))  # fmt: skip
    _uv("install", "--python", str(python), "--no-build-isolation", "--no-deps", "-e", str(PROGRAM))
    return python


def _uv(*arguments: str) -> None:
    program = Path(sys.executable).with_name("uv")
    if not program.exists():
        raise DependenciesError("uv is not installed: run ./touchline dependencies")
    environment = {**_launcher().index_variables(sys.executable), **os.environ}
    done = subprocess.run([program, "pip", *arguments], cwd=PROGRAM, env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise DependenciesError(f"uv pip {arguments[0]} failed (reason above)")


def _launcher() -> Any:
    """The script `./touchline` as a module: it knows where pip looks for packages."""
    loader = SourceFileLoader("touchline_launcher", str(PROGRAM / "touchline"))
    module = ModuleType(loader.name)
    module.__file__ = loader.path
    loader.exec_module(module)
    return module
