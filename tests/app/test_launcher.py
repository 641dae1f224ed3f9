"""The script at the root, without a network: what it decides, and that it keeps its word."""

from __future__ import annotations

import multiprocessing
import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "touchline"


@pytest.fixture(scope="module")
def launcher() -> ModuleType:
    loader = SourceFileLoader("launcher", str(SCRIPT))
    spec = spec_from_loader("launcher", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    return tmp_path


@pytest.fixture
def pip(launcher, monkeypatch) -> list[list[str]]:
    """Commands that would have been run; each succeeds, and making an environment makes its folder."""
    commands: list[list[str]] = []

    def run(command: list[str]) -> bool:
        commands.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(exist_ok=True)
        return True

    monkeypatch.setattr(launcher, "run", run)
    return commands


def test_first_use_makes_an_environment_installs_and_stamps(launcher, root, pip):
    assert not launcher.is_current(root)
    launcher.install(root)
    assert [("venv" in c, "install" in c) for c in pip] == [(True, False), (False, True)]
    assert pip[1][-2:] == ["-e", f"{root}[test]"]
    assert launcher.is_current(root)


def test_changed_dependencies_ask_for_another_installation(launcher, root, pip):
    launcher.install(root)
    (root / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    assert not launcher.is_current(root)


def test_a_moved_folder_asks_for_another_installation(launcher, root, pip, tmp_path_factory):
    launcher.install(root)
    moved = tmp_path_factory.mktemp("elsewhere") / "copy"
    root.rename(moved)
    assert not launcher.is_current(moved)


def test_a_failed_installation_leaves_no_stamp_and_says_what_to_do(launcher, root, pip, monkeypatch, capsys):
    launcher.install(root)
    monkeypatch.setattr(launcher, "run", lambda command: "venv" in command)
    with pytest.raises(SystemExit) as ended:
        launcher.install(root)
    assert ended.value.code == 2
    assert "check the network connection" in capsys.readouterr().err
    assert not launcher.is_current(root)


def test_a_dead_interpreter_is_replaced(launcher, root, pip):
    dead = root / ".venv" / "bin" / "python"
    dead.parent.mkdir(parents=True)
    dead.symlink_to(root / "gone")
    launcher.install(root)
    assert "venv" in pip[0]
    assert not dead.is_symlink()


def _hold(script: str, root: Path, events) -> None:
    loader = SourceFileLoader("launcher", script)
    spec = spec_from_loader("launcher", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    with module.only_one(root):
        events.put("second")


def test_a_second_start_waits_for_the_first(launcher, root):
    context = multiprocessing.get_context("spawn")
    events = context.Queue()
    other = context.Process(target=_hold, args=(str(SCRIPT), root, events))
    with launcher.only_one(root):
        other.start()
        other.join(1.0)
        assert events.empty()
    assert events.get(timeout=20) == "second"
    other.join()


def test_it_works_from_any_directory_and_by_a_link(root, tmp_path_factory):
    """A copy of the script with a ready environment hands its arguments to the installed command."""
    copy = root / "touchline"
    copy.write_bytes(SCRIPT.read_bytes())
    copy.chmod(0o755)
    command = root / ".venv" / "bin" / "touchline"
    command.parent.mkdir(parents=True)
    command.write_text('#!/bin/sh\necho "$@"\n')
    command.chmod(0o755)
    loader = SourceFileLoader("copied", str(copy))
    spec = spec_from_loader("copied", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    (root / ".venv" / "touchline.stamp").write_text(module.fingerprint(root))
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "link"
    link.symlink_to(copy)
    done = subprocess.run([link, "events", "a b"], cwd=elsewhere, capture_output=True, text=True, check=True)
    assert done.stdout == "events a b\n"
