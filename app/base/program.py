"""Where the program lies, and which version of it runs.

In a checkout, the folders `app`, `detectors` and so on are packages of their own. In an installed wheel they are
packages within `touchline` (decision 033). Nothing else in the program knows of this difference: names of modules
derive from ``__name__``, and folders from this module.
"""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

#: Name of the package that contains the program, with a dot; empty in a checkout.
PREFIX: Final = __name__.removesuffix("app.base.program")

#: Folder that contains the packages `app`, `detectors` and so on: the checkout, or the installed `touchline`.
PROGRAM: Final = Path(__file__).resolve().parents[2]

#: Folder from which processes import the program: the checkout, or the one that contains `touchline`.
IMPORT_ROOT: Final = PROGRAM.parent if PREFIX else PROGRAM

#: File beside the packages with the commit that a wheel or a bundle was made from.
COMMIT_FILE: Final = "COMMIT"


def module_name(name: str) -> str:
    """The name under which a module, or ``module:class``, of a checkout is imported here."""
    return PREFIX + name


def is_checkout() -> bool:
    """True if the program runs from a folder with its tests and lock files, not from an installed wheel."""
    return not PREFIX


@cache
def commit() -> str:
    """Short name of the commit that runs, with ``+`` if files differ from it; empty if nothing says it."""
    if is_checkout() and (PROGRAM / ".git").exists():
        described = _git("describe", "--always", "--abbrev=9", "--match=", "--dirty=+")
        if described:
            return described
    recorded = PROGRAM / COMMIT_FILE
    return recorded.read_text(encoding="utf-8").strip() if recorded.is_file() else ""


def with_version(page: str) -> str:
    """A generated page with the line, below its title, that says for which releases it is."""
    title, _, rest = page.partition("\n\n")
    return f"{title}\n\nFor Touchline {'.'.join(version('touchline').split('.')[:2])}.\n\n{rest}"


def program_version() -> str:
    """The version and the commit, as ``touchline --version`` shows them."""
    try:
        number = version("touchline")
    except PackageNotFoundError:
        number = "(not installed)"
    return f"{number} ({commit() or 'commit unknown'})"


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=PROGRAM, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
