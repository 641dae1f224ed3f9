"""The palettes of pages, sheets and pictures: what lies next to each other is told apart by every sight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.base.paper import COLOURS as PAPER
from camera.picture import COLOURS, GRASS, KEEPERS
from dashboard.page import ASSETS
from tests.dashboard.colour_vision import alike, apart

#: Least distance of two colours that have different meanings, and of the two teams, which move among each other.
LEAST, TEAMS = 20.0, 60.0
OPERATOR = ASSETS.parent / "operator"
#: Colours that are seen next to each other.
TOGETHER = {
    "marks on the pitch": ("home", "away", "soft", "camera", "withdrawn"),
    "discs on the grass": ("home", "away", "grass-light"),
    "light of the status": ("good", "doubt", "withdrawn"),
}


def tokens(text: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", text))


def theme(name: str) -> dict[str, str]:
    sheet = (ASSETS / "00_tokens.css").read_text(encoding="utf-8")
    begin = sheet.index(f'[data-theme="{name}"]')
    return tokens(sheet[begin : sheet.index("}", begin)])


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("group", TOGETHER)
def test_colours_of_a_theme_are_told_apart(name: str, group: str):
    colours = theme(name)
    assert alike({one: colours[one] for one in TOGETHER[group]}, LEAST) == []
    assert alike({one: colours[one] for one in ("home", "away")}, TEAMS) == []


@pytest.mark.parametrize(
    "page", [ASSETS / "30_draw.js", ASSETS.parent / "pages" / "replay" / "pitch.js"], ids=["live", "replay"]
)
def test_what_is_painted_on_the_grass_has_colours_of_the_theme(page: Path):
    """White words and a white trail of the ball could not be seen on light grass; the ball itself has a dark edge."""
    assert re.findall(r"\"#[0-9a-fA-F]{3,8}\"", page.read_text(encoding="utf-8")) == []


def test_teams_on_paper_in_pictures_and_on_the_operators_page_are_told_apart():
    view = (OPERATOR / "view.js").read_text(encoding="utf-8")
    (of_operator,) = re.findall(r'TEAM = \{ home: "(#\w+)", away: "(#\w+)" \}', view)
    for home, away in ((PAPER["home"], PAPER["away"]), (COLOURS["home"], COLOURS["away"]), of_operator):
        assert alike({"home": home, "away": away}, TEAMS) == []
    keepers = {f"keeper of {team}": colour for team, colour in KEEPERS.items()}
    people = {**COLOURS, **keepers}
    for grass in GRASS:
        assert alike({**people, "grass": grass}, LEAST) == []


def test_states_of_a_camera_are_told_apart():
    colours = tokens((OPERATOR / "page.css").read_text(encoding="utf-8"))
    assert alike({name: colours[name] for name in ("chosen", "air", "warn")}, LEAST) == []


def test_the_simulation_takes_away_what_a_sight_lacks():
    assert apart("#000000", "#ffffff", "protanopia") == pytest.approx(100, abs=0.1)
    assert apart("#c81e1e", "#5f6b1e", "normal") > 2 * apart("#c81e1e", "#5f6b1e", "deuteranopia")
    assert apart("#2ad1d1", "#5fc8ff", "normal") > 2 * apart("#2ad1d1", "#5fc8ff", "tritanopia")
