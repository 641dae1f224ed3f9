"""The lock files fit the project and hold no address; what the command says of them."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from app.base.program import PROGRAM
from app.cli import dependencies

LOCKS = PROGRAM / "requirements"
PROJECT = tomllib.loads((PROGRAM / "pyproject.toml").read_text(encoding="utf-8"))
PARTS = {
    "runtime": PROJECT["project"]["dependencies"], "setup": PROJECT["dependency-groups"]["setup"],
    "test": PROJECT["dependency-groups"]["test"],
}  # fmt: skip


def _entries(name: str) -> dict[str, list[str]]:
    """By package, its entries in a lock file, each as its lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (LOCKS / f"{name}.txt").read_text(encoding="utf-8"), flags=re.M)
    found: dict[str, list[str]] = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        found.setdefault(entry.partition("==")[0], []).append(entry)
    return found


@pytest.mark.parametrize("name", PARTS)
def test_each_entry_is_an_exact_version_with_hashes_and_no_address(name: str):
    for package, entries in _entries(name).items():
        for entry in entries:
            assert re.match(r"[a-z0-9-]+==\S+( ; .+)? \\\n", entry), package
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), package
    assert "://" not in (LOCKS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PARTS)
def test_the_lock_holds_what_the_project_asks_for(name: str):
    entries = _entries(name)
    for wanted in map(Requirement, PARTS[name]):
        versions = [entry.partition("==")[2].split()[0] for entry in entries[canonicalize_name(wanted.name)]]
        assert all(wanted.specifier.contains(Version(version)) for version in versions), wanted


def test_a_package_has_the_same_version_in_all_locks():
    assert not {package: text for package, text in dependencies.locked_versions(LOCKS).items()
                if " or " in text and len(_entries("runtime").get(package, ())) < 2}  # fmt: skip


def test_test_tools_are_not_in_the_runtime():
    tools = {canonicalize_name(Requirement(text).name) for text in PARTS["test"]}
    assert not tools & _entries("runtime").keys()


def test_the_tests_that_try_newer_versions_exist():
    assert not [name for name in dependencies.QUICK_TESTS if not (PROGRAM / name).exists()]


def test_the_tests_that_try_newer_versions_reach_every_imported_library():
    """A library that folders of the product import has a chosen test in the folder that mirrors one of them."""
    folders = ("app", "camera", "dashboard", "detectors", "football", "middleware", "replay", "simulator")
    importing: dict[str, set[str]] = {}
    for file in (file for folder in folders for file in (PROGRAM / folder).rglob("*.py")):
        for module in re.findall(r"^\s*(?:import|from) (\w+)", file.read_text(encoding="utf-8"), flags=re.M):
            importing.setdefault(module, set()).add(f"tests/{file.parent.relative_to(PROGRAM)}/")
    chosen = [f"{test}/" for test in dependencies.QUICK_TESTS]
    for package in (canonicalize_name(Requirement(text).name) for text in PARTS["runtime"]):
        module = {"kafka-python": "kafka", "pyyaml": "yaml"}.get(package, package.replace("-", "_"))
        mirrors = importing.get(module, set())
        reached = [m for m in mirrors for test in chosen if test.startswith(m) or m.startswith(test)]
        assert reached or not mirrors, f"no chosen test is in {sorted(mirrors)}, which import {package}"


def test_differing_versions_are_listed(tmp_path: Path):
    for name in PARTS:
        (tmp_path / f"{name}.txt").write_text("a==2 \\\n    --hash=sha256:0\nb==1 ; python_version < '3.12'\nb==3\n")
    assert dependencies.locked_versions(tmp_path) == {"a": "2", "b": "1 or 3"}


def test_failing_tests_are_named(tmp_path: Path):
    file = tmp_path / "test_some.py"
    file.write_text("def test_good(): pass\ndef test_bad(): assert 0, 'why - so'\n")
    assert [name.rpartition("::")[2] for name in dependencies.failing_tests(Path(sys.executable), [str(file)])] == [
        "test_bad"
    ]


def test_a_pytest_that_runs_no_test_is_an_error():
    with pytest.raises(dependencies.DependenciesError, match="pytest ends with"):
        dependencies.failing_tests(Path(sys.executable), ["no/such/test.py"])
