"""Reviews out of a match store: what an event asks, the text, the sheet, the command."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from app.cli.review import app as command
from app.review.review import ReviewError, UnknownEventError, review
from app.review.sheet import sheet_page, write_sheet
from app.review.text import verdict
from football.match_sheet import Player
from football.payloads import Scalar
from replay.match_store import read_sheet_of
from tests.app.recorded.derby import GOAL, PASS, SHEET, TOUCH, derby_store
from tests.app.recordings import optical_table, record


@pytest.fixture(scope="module")
def derby(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("review") / "derby")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds of a simulated match with its capture."""
    folder = tmp_path_factory.mktemp("played")
    return record(optical_table(folder / "match.parquet", 32, 12), folder / "store")


def first(store: Path, kind: str) -> str:
    from replay.event_list import consolidated_events

    return str(consolidated_events(store, (kind,))["id"][0].as_py())


def test_a_pass_asks_for_the_mate_who_is_farthest_forward(derby: Path):
    found = review(derby, PASS.id)
    # The defender Back stands at x = 30, the ball is at -20: home_1 is the only mate of the passer.
    assert (found.call.question, found.player, found.team) == ("offside", "home_1", "home")
    assert found.call.margin_m == pytest.approx(-78.0, abs=0.2)
    assert verdict(found).startswith("No: ahead of the offside line with a probability of less than 0.1 %")
    assert any("capture is missing" in note for note in found.notes)


def test_another_player_and_another_question_are_asked(derby: Path):
    assert review(derby, PASS.id, player="home_9").call.margin_m == pytest.approx(-20.0, abs=0.2)
    assert review(derby, TOUCH.id).call.question == "area"
    assert review(derby, TOUCH.id, "area", "away_1").call.margin_m == pytest.approx(4.5, abs=0.2)
    found = review(derby, GOAL.id)
    assert (found.call.question, found.player) == ("line", "")
    near = review(derby, PASS.id, "distance", "away_4")
    assert near.call.margin_m == pytest.approx(9.15 - 50.16, abs=0.2)


def test_what_cannot_be_reviewed_is_refused_by_name(derby: Path):
    with pytest.raises(UnknownEventError, match=r"goal\.scored#none: no event"):
        review(derby, "goal.scored#none")
    with pytest.raises(ReviewError, match="no question handball; there are offside"):
        review(derby, PASS.id, "handball")
    with pytest.raises(ReviewError, match="direction asks no question by itself"):
        review(derby, "direction#frame:0")
    with pytest.raises(ReviewError, match="no player home_99"):
        review(derby, PASS.id, player="home_99")


def test_packets_of_the_capture_decide_at_the_instant_of_the_kick(played: Path):
    found = review(played, first(played, "pass.attempt"))
    assert not any("store" in note for note in found.notes)
    assert found.call.instant_deviation_us > 0
    assert 0.0 <= found.call.probability <= 1.0
    roles = [point.role for point in found.call.points]
    assert roles.count("subject") == 1
    assert roles.count("other") + roles.count("line") >= 10
    assert all(point.samples >= 5 for point in found.call.points)


def test_the_sheet_escapes_names_and_is_a_pdf(derby: Path, tmp_path: Path):
    sheet = msgspec.structs.replace(SHEET, players=(*SHEET.players[1:], Player("home_1", "home", "<b>Ada</b>", 1)))
    found = review(derby, PASS.id)
    page = sheet_page(found, sheet)
    assert "&lt;b&gt;Ada&lt;/b&gt;" in page
    assert "<b>Ada" not in page
    assert "<svg" in page
    write_sheet(found, sheet, tmp_path / "call.pdf")
    assert (tmp_path / "call.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ReviewError, match=r"ends in \.html or \.pdf"):
        write_sheet(found, sheet, tmp_path / "call.doc")


def test_the_command_prints_the_same_figures(derby: Path, tmp_path: Path):
    out = tmp_path / "call.html"
    printed = CliRunner().invoke(command, [str(derby), PASS.id, "--json", "--out", str(out)])
    assert printed.exit_code == 0, printed.output
    figures: dict[str, Scalar] = json.loads(printed.stdout)
    found = review(derby, PASS.id)
    assert figures == json.loads(msgspec.json.encode({**msgspec.to_builtins(found), "verdict": verdict(found)}))
    assert read_sheet_of(derby).home in out.read_text()
    text = CliRunner().invoke(command, [str(derby), PASS.id]).stdout
    assert verdict(found) in text
    assert "Margin: -" in text
