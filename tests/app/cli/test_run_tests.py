"""``touchline test``: a test that is unstable is repeated alone and named; one that fails twice, or hangs, fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import run_tests
from app.cli.run_tests import run_default_suite

_UNSTABLE = """
from pathlib import Path

def test_second_time_only():
    seen = Path(__file__).with_name("seen")
    first = not seen.exists()
    seen.touch()
    assert not first
"""


@pytest.fixture(autouse=True)
def without_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pytest starts without those of other packages, which take seconds."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist -p pytest_timeout -o timeout_method=signal")


def test_one_that_passes_alone_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_a.py").write_text(_UNSTABLE)
    (tmp_path / "test_b.py").write_text("def test_right(): pass")
    assert run_default_suite(tmp_path) == 0
    printed = capfd.readouterr().out
    assert "test_a.py::test_second_time_only PASSED" in printed
    assert "unstable" in printed
    assert "test_b.py::test_right PASSED" not in printed


def test_one_that_fails_twice_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_a.py").write_text(_UNSTABLE + "\n\ndef test_wrong(): assert 3 == len([4])\n")
    assert run_default_suite(tmp_path) == 1
    side_by_side, alone = capfd.readouterr().out.split("once more")
    assert "unstable" not in alone
    assert "assert 3 == 1" in alone, "the values of an assertion that fails twice are shown"
    assert "assert 3 == 1" not in side_by_side


def test_a_file_that_cannot_be_read_fails(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import no_such_module")
    assert run_default_suite(tmp_path) != 0


def test_one_that_hangs_fails_with_its_line_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_a.py").write_text("import time\n\ndef test_hangs(): time.sleep(300)\n\ndef test_right(): pass\n")
    monkeypatch.setattr(run_tests, "_HANGS_S", 1)
    assert run_default_suite(tmp_path) == 1
    printed = capfd.readouterr().out
    assert "Timeout" in printed
    assert "1 failed, 1 passed" in printed
