"""Consoles print every text as it is; no other module makes one; names that look like markup end no run."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import msgspec
import pytest
from rich.progress import BarColumn
from rich.table import Table

from app.base.terminal import make_console, make_progress, waiting
from app.run.live import run_live
from app.settings.resolve import make_settings
from app.sources.captures import prepare_capture
from football.match_sheet import MatchSheet
from replay.capture import Capture, CaptureWriter
from tests.app.cli.test_main import write_track

ROOT = Path(__file__).resolve().parents[3]

#: An end tag without a beginning, a style, a link, a picture.
HOSTILE = "a[/x]b [red]c[link=file:///etc]d :smile:"

#: What prints, and reads markup unless it is made with care.
MAKERS = {"Console", "Progress", "TextColumn", "Spinner", "Status", "from_markup", "get_console"}


def test_texts_are_printed_as_they_are():
    out = io.StringIO()
    console = make_console(file=out, width=200)
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    console.print(f"{HOSTILE}: over")
    console.print(table)
    assert out.getvalue().count(HOSTILE) == 4


def test_displays_of_progress_print_texts_as_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    console = make_console(file=out, width=200)
    with make_progress(console, BarColumn()) as bar:
        bar.add_task(HOSTILE, total=1.0)
    with waiting(console, HOSTILE) as line:
        line.say(HOSTILE)
    assert out.getvalue().count(HOSTILE) >= 2


def test_all_consoles_are_made_in_one_module():
    found = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                is_status = name == "status" and "console" in ast.unparse(node.func)
                found += [f"{path.relative_to(ROOT)}: {name}"] if name in MAKERS or is_status else []
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich"):
                found += [f"{path.relative_to(ROOT)}: track"] if "track" in [one.name for one in node.names] else []
    assert {entry.partition(":")[0] for entry in found} == {"app/base/terminal.py"}, found


def test_a_match_whose_name_reads_as_markup_plays_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("FORCE_COLOR", "1")  # the display of progress is shown, too
    monkeypatch.setenv("COLUMNS", "300")
    sheet = {"match_id": HOSTILE, "home": HOSTILE, "away": "[/]"}
    (tmp_path / "sheet.json").write_bytes(msgspec.json.encode(sheet))
    folder = tmp_path / "["
    folder.mkdir()
    track = write_track(folder / "x]track.parquet", 4.0)
    with CaptureWriter(tmp_path / "capture", msgspec.convert(sheet, MatchSheet), channel="none") as writer:
        prepare_capture(str(track), "none", 1, tmp_path / "plain")
        plain = Capture.open(tmp_path / "plain")
        writer.extend(plain.blocks(plain.begin_us, plain.end_us))
    given = {"source": str(tmp_path / "capture"), "store": folder / "x]store"}
    options = {"engine": "inprocess", "speed": "max", "dashboard": False, "camera": False}
    assert run_live(make_settings({**given, **options}))["ended"]
    assert "[/x]store" in capsys.readouterr().out.replace("\n", "")
