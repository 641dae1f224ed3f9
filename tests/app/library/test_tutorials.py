"""The tutorials run from top to bottom, in an empty folder: commands of the shell and examples in Python."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_house import ROOT

PAGES = ROOT / "docs" / "tutorials"


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return re.findall(r"^```(sh|python)\n(.*?)^```", (PAGES / page).read_text(encoding="utf-8"), flags=re.M | re.S)


def command(line: str, folder: Path) -> str:
    """Run a command of a page; return what it printed."""
    words = [sys.executable, "-m", "app.cli.main", *shlex.split(line)[1:]]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_a_tutorial_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    event = ""
    for at, (language, text) in enumerate(blocks(page)):
        if language == "python":
            exec(compile(text, f"docs/tutorials/{page}, block {at + 1}", "exec"), names)
            continue
        for line in text.splitlines():
            shown = command(line.replace("EVENT", event), tmp_path)
            if "--format text" in line:
                event = shown.split()[-1]
    if page == "first-match.md":
        assert len(names["passes"]) > 0
        assert (tmp_path / "passes.csv").stat().st_size > 100
    else:
        assert len(names["found"]) > 0
