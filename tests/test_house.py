"""Style and structure as tests: import directions, bounds on files, and what the pure folders must not contain."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.main import COMMANDS
from app.gateway.transports.registry import TRANSPORTS
from app.hub.sinks import SINKS
from app.sources.registry import SOURCES

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("football", "middleware", "detectors", "simulator", "camera", "replay", "dashboard", "app")
FILES = [ROOT / "touchline.py", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))]
#: Modules that are run or loaded by name: the library, the command, its commands, the maker of pages, `spark-submit`,
#: the page's demonstration, the kinds of source.
ENTRY_POINTS = {"touchline", "app.cli.main", "app.cli.docs", "app.cli.submit", "dashboard.demo", *COMMANDS.values()}
ENTRY_POINTS |= {kind.partition(":")[0] for kind in [*SOURCES, *SINKS.values()]}
ENTRY_POINTS |= {kind.partition(":")[0] for pair in TRANSPORTS.values() for kind in pair}
PURE = [path for path in FILES if path.relative_to(ROOT).parts[0] in ("football", "middleware", "detectors")]


def test_imports_go_to_lower_ranks_only():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent)) or shutil.which("lint-imports")
    if linter is None:
        pytest.skip("import-linter is not installed")
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", [["ruff", "check", "."], ["mypy"]], ids=["ruff", "mypy"])
def test_the_code_is_clean(command: list[str]):
    tool = shutil.which(command[0], path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", PURE, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_pure_folders_have_no_clock_chance_or_output(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    modules = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    modules |= {(n.module or "").split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert not names & {"print", "open", "input"}
    assert not modules & {"time", "datetime", "random", "secrets", "socket", "logging", "os", "threading", "pyspark"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_public_name_has_a_docstring(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [node.name for node in _public(tree) if not ast.get_docstring(node)]
    assert not bare, f"{path.name}: no docstring on {bare}"
    if path.name != "__init__.py":
        assert ast.get_docstring(tree), f"{path.name}: the module has no docstring"


@pytest.mark.parametrize("folder", [*FOLDERS, "tests"])
def test_docstrings_begin_with_what_the_thing_does(folder: str):
    asking = ("What", "Who", "Whose", "Whom", "Whether")
    begun = re.compile(rf"[\"'][\s\\]*({'|'.join(asking)})\b")  # most files hold no string that begins so
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text if begun.search(text) else "")
        for node in (tree, *statements(tree)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = (ast.get_docstring(node) or "-").split()[0].rstrip(":,")
                found += [f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}"] if first in asking else []
    assert not found, f"say what it does or is: {found}"


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node, without a look into their expressions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from statements(node)


def _public(tree: ast.Module):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def test_every_module_of_the_product_has_an_importer():
    imported: set[str] = set()
    for path in FILES:
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES if path.name != "__init__.py"}
    assert not modules - imported - ENTRY_POINTS
    assert modules >= ENTRY_POINTS, "an entry point has gone"


def test_the_top_of_app_holds_folders_only():
    assert [path.name for path in (ROOT / "app").glob("*.py")] == ["__init__.py"]


def test_kernels_of_detectors_stand_in_one_room():
    """Those of the simulator stand with the physics that they compute."""
    rooms = ("detectors/signals/kernels/", "simulator/")
    compiled = [str(p.relative_to(ROOT)) for p in FILES if "from numba import" in p.read_text(encoding="utf-8")]
    assert not [p for p in compiled if not p.startswith(rooms)]


def test_no_module_is_longer_than_500_lines():
    long = {p.name: n for p in FILES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 500}
    assert not long, f"split these: {long}"


def test_no_mark_of_unfinished_work_is_committed():
    word = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    found = [p.name for p in FILES if word.search(p.read_text(encoding="utf-8"))]
    assert not found
