"""Builds the wheel, in which all folders of the program are packages within `touchline` (decision 033).

A checkout has the packages `app`, `detectors` and so on beside each other, and an editable installation imports them
so. A wheel must not install such names, which other projects have, too. The build therefore copies the packages to
`touchline/`, and writes `touchline.` before the first name of each import of one of them. It changes nothing else.
The patterns of football, which are no package, go beside them.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
NAME = "touchline"


class ImportFormError(Exception):
    """An import cannot be moved into the package; the message names its line and the remedy."""


def moved(source: str, packages: set[str]) -> str:
    """The source of a module, with its imports of ``packages`` from within ``touchline``.

    Raises:
        ImportFormError: ``import app.x`` without ``as`` binds the name ``app``, which there is not in the wheel.

    >>> moved("from app.hub import feed\\nimport app.cli as c", {"app"})
    'from touchline.app.hub import feed\\nimport touchline.app.cli as c'
    """
    lines = source.splitlines(keepends=True)
    for line, column in sorted(_places(ast.parse(source), lines, packages), reverse=True):
        text = lines[line - 1].encode()  # columns of a syntax tree count bytes
        lines[line - 1] = (text[:column] + f"{NAME}.".encode() + text[column:]).decode()
    return "".join(lines)


def _places(tree: ast.Module, lines: list[str], packages: set[str]) -> Iterator[tuple[int, int]]:
    """Line and column of the module's name in each import of one of the packages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] in packages:
            after = node.col_offset + len("from ")
            if not lines[node.lineno - 1].encode()[after:].startswith((node.module or "").encode()):
                raise ImportFormError(f"line {node.lineno}: write `from {node.module} import` with one space")
            yield node.lineno, after
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] in packages:
                    if name.asname is None:
                        raise ImportFormError(
                            f"line {name.lineno}: write `from … import`, or `import {name.name} as …`"
                        )
                    yield name.lineno, name.col_offset


class Build(build_py):
    """Copies the packages below `touchline/` and moves their imports, unless the installation is editable."""

    def run(self) -> None:
        """Builds into ``build_lib``."""
        if self.editable_mode:
            super().run()
            return
        library = Path(self.build_lib)
        shutil.rmtree(library, ignore_errors=True)  # modules of an earlier build would be packed, too
        self.build_lib = str(library / NAME)
        super().run()
        self.build_lib = str(library)
        folder = library / NAME
        (folder / f"{NAME}.py").replace(folder / "__init__.py")
        packages = {name.partition(".")[0] for name in self.distribution.packages or ()} | {NAME}
        for file in sorted(folder.rglob("*.py")):
            try:
                file.write_text(moved(file.read_text(encoding="utf-8"), packages - {NAME}), encoding="utf-8")
            except ImportFormError as error:
                raise ImportFormError(f"{file.relative_to(folder)}, {error}") from error
        (folder / "COMMIT").write_text(commit(), encoding="utf-8")
        shutil.copytree(ROOT / "patterns", folder / "patterns", ignore=shutil.ignore_patterns("__pycache__"))


class Touchline(Distribution):
    """A distribution that knows the one name that its wheel installs."""

    def iter_distribution_names(self) -> Iterator[str]:
        """Names of the top level, as ``top_level.txt`` lists them."""
        yield NAME


def commit() -> str:
    """Short name of the commit that is built, as `app/base/program.py` determines it."""
    recorded = ROOT / "COMMIT"
    if recorded.is_file():
        return recorded.read_text(encoding="utf-8")
    command = ["git", "describe", "--always", "--abbrev=9", "--match=", "--dirty=+"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    setup(distclass=Touchline, cmdclass={"build_py": Build})
