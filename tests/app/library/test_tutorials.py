"""The tutorials run from top to bottom, in an empty folder: commands of the shell and examples in Python."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from app.cli.main import main
from tests.test_house import ROOT

PAGES = ROOT / "docs" / "tutorials"


def blocks(page: str) -> list[tuple[str, str]]:
    """The language and the text of each block of a page."""
    return re.findall(r"^```(sh|python)\n(.*?)^```", (PAGES / page).read_text(encoding="utf-8"), flags=re.M | re.S)


def command(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command of a page, in this process; return what it printed."""
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 0, f"{line}: {shown.out}{shown.err}"
    return shown.out


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_a_tutorial_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # which main() sets, and which ends with this test
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    event = ""
    for at, (language, text) in enumerate(blocks(page)):
        if language == "python":
            exec(compile(text, f"docs/tutorials/{page}, block {at + 1}", "exec"), names)
            continue
        for line in text.splitlines():
            shown = command(line.replace("EVENT", event), monkeypatch, capsys)
            if "--format text" in line:
                event = shown.split()[-1]
    if page == "first-match.md":
        assert len(names["passes"]) > 0
        assert (tmp_path / "passes.csv").stat().st_size > 100
    else:
        assert len(names["found"]) > 0
