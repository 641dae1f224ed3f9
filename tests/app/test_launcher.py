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
    (tmp_path / "setup.py").write_text("")
    (tmp_path / "requirements").mkdir()
    for name in ("setup", "runtime", "test"):
        (tmp_path / "requirements" / f"{name}.txt").write_text(f"{name}==1\n")
    return tmp_path


@pytest.fixture
def commands(launcher, monkeypatch) -> list[list[str]]:
    """Commands that would have been run; each succeeds, and making an environment makes its folder."""
    found: list[list[str]] = []

    def run(command: list[str], environment: object = None, quiet: bool = False) -> bool:
        found.append(command)
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir(parents=True, exist_ok=True)
            (Path(command[-1]) / "bin" / "python").touch()
        return True

    monkeypatch.setattr(launcher, "run", run)
    monkeypatch.setattr(launcher, "works", Path.is_file)
    monkeypatch.setattr(launcher, "index_variables", lambda python: {})
    return found


def test_first_use_makes_an_environment_installs_what_is_locked_and_stamps(launcher, root, commands):
    assert not launcher.is_current(root, "runtime")
    launcher.install(root, "runtime")
    assert ["venv" in c for c in commands] == [True, False, False, False]
    for number, name in ((1, "setup"), (2, "runtime")):
        assert "--require-hashes" in commands[number]
        assert commands[number][-2:] == ["-r", str(root / "requirements" / f"{name}.txt")]
    assert commands[3][-3:] == ["--no-deps", "-e", str(root)]
    assert launcher.is_current(root, "runtime")
    assert not launcher.is_current(root, "test"), "test tools are installed where tests run"


def test_the_cache_is_asked_before_the_network(launcher, root, commands, monkeypatch):
    launcher.install(root, "runtime")
    assert "--offline" in commands[2]
    succeeds = launcher.run
    monkeypatch.setattr(
        launcher, "run",
        lambda command, *a, quiet=False: succeeds(command) and not (quiet and "--offline" in command),
    )  # fmt: skip
    commands.clear()
    launcher.install(root, "test")
    assert ["--offline" in c for c in commands if c[-1].endswith("test.txt")] == [True, False]
    assert launcher.is_current(root, "test")


@pytest.mark.parametrize(
    ("changed", "outdated"),
    [
        ("requirements/runtime.txt", {"runtime"}), ("requirements/test.txt", {"test"}),
        ("requirements/setup.txt", {"runtime", "test"}), ("pyproject.toml", {"runtime", "test"}),
    ],
)  # fmt: skip
def test_changed_requirements_ask_for_another_installation(launcher, root, commands, changed, outdated):
    for name in ("runtime", "test"):
        launcher.install(root, name)
    (root / changed).write_text("other")
    assert {name for name in ("runtime", "test") if not launcher.is_current(root, name)} == outdated


def test_a_moved_folder_asks_for_another_installation(launcher, root, commands, tmp_path_factory):
    launcher.install(root, "runtime")
    moved = tmp_path_factory.mktemp("elsewhere") / "copy"
    root.rename(moved)
    assert not launcher.is_current(moved, "runtime")


def test_a_failed_installation_leaves_no_stamp_and_says_what_to_do(launcher, root, commands, monkeypatch, capsys):
    launcher.install(root, "runtime")
    monkeypatch.setattr(launcher, "run", lambda command, *a, **k: "venv" in command)
    with pytest.raises(SystemExit) as ended:
        launcher.install(root, "runtime")
    assert ended.value.code == 2
    assert "check the network connection" in capsys.readouterr().err
    assert not launcher.is_current(root, "runtime")


def test_a_dead_interpreter_is_replaced(launcher, root, commands):
    dead = root / ".venv" / "bin" / "python"
    dead.parent.mkdir(parents=True)
    dead.symlink_to(root / "gone")
    launcher.install(root, "runtime")
    assert "venv" in commands[0]
    assert not dead.is_symlink()


def test_a_bundle_installs_from_its_own_wheels_only(launcher, root, commands):
    (root / "wheels").mkdir()
    launcher.install(root, "runtime")
    place = ["--no-index", "--find-links", str(root / "wheels")]
    for command in commands[1:3]:
        at = command.index("--no-index")
        assert command[at : at + 3] == place


def test_a_bundle_for_another_python_takes_that_one_or_says_so(launcher, root, commands, monkeypatch, capsys):
    (root / "bundle.json").write_text('{"python": "3.99"}')
    monkeypatch.setattr(launcher.shutil, "which", lambda name: f"/opt/{name}")
    launcher.install(root, "runtime")
    assert commands[0][0] == "/opt/python3.99"
    monkeypatch.setattr(launcher.shutil, "which", lambda name: None)
    launcher.shutil.rmtree(root / ".venv")
    with pytest.raises(SystemExit):
        launcher.install(root, "runtime")
    assert "this bundle is for Python 3.99" in capsys.readouterr().err


def test_uv_looks_for_packages_where_pip_does(launcher, monkeypatch):
    listed = "global.index-url='https://example.org/simple'\n:env:.find-links='/a /b'\nglobal.timeout='3'\n"
    monkeypatch.setattr(
        launcher.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0, stdout=listed)
    )  # fmt: skip
    assert launcher.index_variables("python") == {
        "UV_SYSTEM_CERTS": "true", "UV_DEFAULT_INDEX": "https://example.org/simple", "UV_FIND_LINKS": "/a,/b",
    }  # fmt: skip


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
    (root / ".venv" / "touchline.stamp").write_text(module.fingerprint(root, "runtime"))
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "link"
    link.symlink_to(copy)
    done = subprocess.run([link, "events", "a b"], cwd=elsewhere, capture_output=True, text=True, check=True)
    assert done.stdout == "events a b\n"
