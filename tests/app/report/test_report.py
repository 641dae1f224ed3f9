"""The match report: its numbers by hand, names of anybody, and that neither page nor PDF asks for anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.analysis.figures import ReportError, keepers, pass_matrix, player_table, ppda, read_report, team_figures
from app.base.paper import make_pdf
from app.report.page import report_page, write_report
from app.report.player import find_player, player_page
from football.match_sheet import MatchSheet, Player
from replay.match_store import MatchStore
from tests.app.cli.test_main import here, refusal
from tests.app.tables.small_match import S, event, small_store


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return small_store(tmp_path_factory.mktemp("report") / "store")


@pytest.fixture(scope="module")
def page(store) -> str:
    return report_page(read_report(store))


class Texts(HTMLParser):
    """Texts and tags of a page; the tags must close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data.strip())


def texts_of(page: str) -> Texts:
    """A page, parsed."""
    found = Texts()
    found.feed(page)
    return found


def test_the_numbers_of_the_teams(store):
    report = read_report(store)
    found = {one.name: (one.home, one.away) for one in team_figures(report.tables, report.sheet)}
    assert found["Goals"] == (2, 0)
    assert found["xG"] == (0.3, 0.0)
    assert found["Shots"] == (2, 0)
    assert found["On target"] == (2, 0)
    assert found["Passes"] == (2, 1)
    assert found["Passes complete"] == (100.0, 0.0)
    assert found["Duels won"] == (50.0, 50.0)
    assert found["Balls won in play"] == (1, 2)
    assert found["Sprints"] == (1, 0)
    assert sum(found["Possession"]) == pytest.approx(100.0)
    assert found["Distance"][1] == pytest.approx(3 * 2 * 59.8 / 1000, abs=0.003)


def test_ppda_counts_where_the_team_presses(store):
    report = read_report(store)
    # Away passes once in its own 60 percent, and loses no ball there: home has no action. Home's one pass there is
    # not stopped either, but away wins a duel at x = 5 m, which home attacks to the left: 5 m before the middle.
    assert ppda(report.tables, "home", 105.0) is None
    assert ppda(report.tables, "away", 105.0) == 1.0


def test_ppda_counts_an_interception_and_not_a_pass_that_came_to_an_opponent(tmp_path):
    """As 14.9 does: most passes that opponents get were played to them."""
    lost = [
        event("pass.attempt", 30, "ball:30", "away_7", (-20.0, 0.0), kick_us=30 * S),
        event("pass.intercepted", 32, "ball:30", "away_7", (-10.0, 5.0), kick_us=30 * S, receiver="home_9"),
        event("pass.attempt", 40, "ball:40", "away_7", (30.0, 0.0), kick_us=40 * S),
        event("pass.intercepted", 42, "ball:40", "away_7", (20.0, 5.0), kick_us=40 * S, receiver="home_9"),
        event("interception", 42, "ball:42/hit", "home_9", (20.0, 5.0), "won", passer="away_7"),
    ]
    report = read_report(small_store(tmp_path / "store", lost))
    # Away attacks towards -x in the first half: its kick at 30 m counts, and one of the second half.
    assert ppda(report.tables, "home", 105.0) == 2.0


def test_players_goalkeepers_and_matrix(store):
    report = read_report(store)
    table = player_table(report, "home")
    assert list(table.index) == ["home_1", "home_7", "home_9"]
    assert table.loc["home_7", ["Passes", "Done", "Key", "Pack", "Carry m"]].tolist() == [1, 1, 1, 3, 35.5]
    assert table.loc["home_9", ["Shots", "Goals", "Duels", "Won"]].tolist() == [2, 1, 2, 1]
    saved = next(one for one in keepers(report) if one.team == "away")
    assert (saved.faced, saved.saved, saved.conceded, saved.saves) == (2, 1, 1, "1 parried")
    assert pass_matrix(report, "home").loc["home_7", "home_9"] == 1


def test_the_page_says_it_and_asks_for_nothing(page):
    found = texts_of(page)
    assert found.texts[found.texts.index("Reds", 1) + 1] == "2 : 0"
    assert {"xG race", "First half", "Second half", "45-60", "Goalkeepers", "9 Home Player 9"} <= set(found.texts)
    assert found.tags.count("svg") == 2 + 2 * 4 + 6
    assert not {"script", "img", "link", "iframe", "object"} & set(found.tags)
    links = set(re.findall(r"""(?:href|src)="([^"#]+)""", page)) | set(re.findall(r"url\(([^#)]+)\)", page))
    assert not links, "the page must stand alone"
    assert "nan" not in {text.lower() for text in found.texts}


def test_a_name_is_text_and_no_markup_or_mathematics(tmp_path):
    players = (
        Player("home_7", "home", r"$\frac{", 7), Player("home_9", "home", "<script>alert(1)</script>", 9),
        Player("away_7", "away", "{{ 7 * 7 }}", 7), Player("away_1", "away", '"><img src=x>', 1, goalkeeper=True),
    )  # fmt: skip
    sheet = MatchSheet(match_id="m", home="<b>Reds", away="{% raw %}", players=players)
    # Positions would only add time: what they draw has no names.
    found = texts_of(report_page(read_report(small_store(tmp_path / "store", sheet=sheet, positions=False))))
    assert not {"script", "img", "b>reds"} & set(found.tags)
    assert {"9 <script>alert(1)</script>", "7 {{ 7 * 7 }}", "<b>Reds", "{% raw %}"} <= set(found.texts)


def test_a_store_without_positions_has_a_report_without_running(tmp_path):
    report = read_report(small_store(tmp_path / "store", positions=False))
    found = {one.name: one.home for one in team_figures(report.tables, report.sheet)}
    assert found["Distance"] is None
    assert "–" in texts_of(report_page(report)).texts


def test_a_clip_of_one_team_and_one_pass_has_a_report(tmp_path):
    store = MatchStore.create(tmp_path / "clip", MatchSheet(), {"settings": {}}).path
    with pytest.raises(ReportError, match="no pass and no shot"):
        read_report(store)
    lone = [event("pass.attempt", 3, "ball:3", "home_7", (1.0, 2.0), kick_us=3_000_000)]
    found = texts_of(report_page(read_report(small_store(tmp_path / "one", only=lone, positions=False))))
    assert "0-15" in found.texts


@pytest.mark.slow
def test_the_pdf_is_made_of_the_same_page(store, tmp_path):
    out = tmp_path / "report.pdf"
    write_report(store, out)
    content = out.read_bytes()
    assert content.startswith(b"%PDF-")
    assert len(content) > 20_000


def test_the_pdf_holds_no_file_of_the_machine(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret " * 1_000)
    content = make_pdf(f"<link rel=attachment href='{secret.as_uri()}'><img src='{secret.as_uri()}'><p>a page")
    assert content.startswith(b"%PDF-")
    assert b"secret.txt" not in content
    assert b"EmbeddedFile" not in content


def test_the_same_match_gives_the_same_page_in_a_file(store, page, tmp_path):
    out = tmp_path / "report.html"
    write_report(store, out)
    assert out.read_text(encoding="utf-8") == page
    assert page.startswith("<!doctype html>")


def test_the_command_says_why_it_writes_no_file(store, tmp_path):
    with pytest.raises(ReportError, match=r"a file that ends in \.html or \.pdf"):
        write_report(store, tmp_path / "report.docx")
    assert "not a match store" in refusal("report", tmp_path, "--out", tmp_path / "x.html", run=here)


# -- one player --------------------------------------------------------------------------------------------------


def rows_of(page: str) -> dict[str, list[str]]:
    """The cells of each row of tables, by its first one."""
    rows = re.findall(r"<tr><td>(.*?)</tr>", page, re.DOTALL)
    cells = [re.sub(r"</td>$", "", row).split("</td><td>") for row in rows]
    return {row[0]: row[1:] for row in cells}


def test_a_players_page_has_his_numbers_by_half_for_ninety_minutes_and_beside_his_team(store):
    rows = rows_of(player_page(read_report(store), "home_7"))
    assert rows["Passes"][:3] == ["1", "1", ""]
    assert rows["Minutes"] == ["2", "1", "1", "", ""]
    report = read_report(store)
    table = player_table(report, "home").loc[["home_7", "home_9"]]
    mine, mates = (90 * one.Passes / one.Min for one in (table.loc["home_7"], table.sum()))
    assert rows["Passes"][3:] == [f"{mine:.0f}", f"{mates:.0f}"]
    assert rows["9 Home Player 9"] == ["1", "1"]


def test_a_goalkeepers_page_begins_with_the_shots_that_he_faced(store):
    page = player_page(read_report(store), "away_1")
    assert texts_of(page).texts.index("In goal") < texts_of(page).texts.index("Numbers")
    keeper = next(one for one in keepers(read_report(store)) if one.team == "away")
    assert str(keeper.faced) in rows_of(page)
    assert "parried" in page
    assert "In goal" not in player_page(read_report(store), "home_7")


def test_a_player_is_found_by_id_name_or_a_shirt_that_only_one_has(store):
    report = read_report(store)
    assert find_player(report, "home_9").object_id == find_player(report, "home player 9").object_id == "home_9"
    for asked, message in (("9", "several have that"), ("player", "several have that"), ("x", "nobody on the match")):
        with pytest.raises(ReportError, match=message):
            find_player(report, asked)


def test_a_players_page_is_written_and_asks_for_nothing(store, tmp_path):
    write_report(store, tmp_path / "nine.html", lambda report: player_page(report, "home_9"))
    page = (tmp_path / "nine.html").read_text(encoding="utf-8")
    assert not {"script", "img", "link", "iframe", "object"} & set(texts_of(page).tags)
    assert not re.findall(r"""(?:href|src)="([^"#]+)""", page)
    assert "9 Home Player 9" in page
