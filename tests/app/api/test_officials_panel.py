"""The officials' panel in a real browser, over a match whose API writes what is entered: keys, a form, undoing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.api.served import ServedMatch
from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from dashboard.demo import demo_event, demo_sheet, view_at
from dashboard.roles import Role
from football.update_stream import UpdateMessage, UpdateRecord
from replay.formats.officials import FILE
from replay.match_store import MatchStore
from tests.dashboard.chromium import Browser, browser_or_skip

pytestmark = pytest.mark.browser

US = 1_000_000
PASS = demo_event("pass.complete", 8 * US, "ball:1", team="home", player="home_4", x_m=0.0, y_m=0.0)
GOAL = demo_event("goal.scored", 9 * US, "ball:2", team="away", player="away_9", x_m=-52.5, y_m=0.0)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile"), 1280, 720) as window:
        yield window


class Panel:
    """The open page of an operator, and the lines of officials that it has led to."""

    def __init__(self, browser: Browser, url: str, token: str, folder: Path) -> None:
        self._browser, self._file = browser, folder / FILE
        for script in ("sessionStorage.setItem('token', arguments[0])", "localStorage.setItem('officials', 'open')"):
            browser.driver.get(url)
            browser.run(script, token)
        browser.driver.get(url)
        browser.wait(
            lambda: browser.run("return document.querySelectorAll('#events li').length == 2"), "the events", 60.0
        )

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        for one in keys:
            ActionChains(self._browser.driver).send_keys(one).perform()

    def text(self, selector: str) -> str:
        return str(self._browser.run("return document.querySelector(arguments[0]).innerText", selector))

    def line(self, number: int) -> dict[str, Any]:
        """The line of a number, once it is there and the page says so."""

        def found() -> dict[str, Any] | None:
            lines = self._file.read_text().splitlines() if self._file.exists() else []
            answered = f"#{number} " in self.text("#officials-answer")
            return json.loads(lines[number - 1]) if len(lines) >= number and answered else None

        entered: dict[str, Any] = self._browser.wait(found, f"line {number}", 60.0)
        assert (entered.pop("source"), entered.pop("entered")[:2]) == ("anna", "20")
        return entered


@pytest.fixture
def panel(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Panel]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    token, sheet, folder = TokenStore().create("anna", Role.OPERATOR, 1), demo_sheet(), tmp_path / "store"
    MatchStore.create(folder, sheet, {})
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0})
    feed = MatchFeed(sheet)
    with (
        Monitoring(tmp_path) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), CameraGroup()) as servers,
    ):
        servers.serve(sheet.match_id, ServedMatch(feed, folder))
        url = servers.open_page(feed)
        updates = tuple(UpdateRecord(seq, 1, 10 * US, one) for seq, one in enumerate((PASS, GOAL)))
        feed.apply(UpdateMessage(sheet.match_id, 0, 10 * US, 0, updates, continues_from=0, view=view_at(10 * US)), 0)
        browser.errors()
        yield Panel(browser, url, token, folder)
        browser.driver.get("about:blank")  # a page whose server has stopped would go on asking for it


def test_two_keys_enter_the_common_decisions(panel: Panel):
    at_s = view_at(10 * US).ts_us / US
    panel.press("v", "1")
    assert panel.line(1) == {"kind": "var", "variant": "check", "at_s": at_s}
    panel.press("n", "1")
    assert panel.line(2) == {"kind": "no_goal", "variant": "offside", "team": "away", "at_s": 9.0}
    panel.press("g", "1")
    assert panel.line(3) == {"kind": "goal", "team": "away", "at_s": 9.0}
    panel.press("y", "1")
    card = panel.line(4)
    nearest = panel.text("#officials-entered li").split("yellow, ")[1].split()[0]
    assert card == {
        "kind": "card",
        "variant": "yellow",
        "team": card["player"][:4],
        "player": card["player"],
        "at_s": at_s,
    }
    assert nearest in [one.name for one in demo_sheet().players if one.object_id == card["player"]]
    panel.press("f", "a", "1", "0", "\n")
    assert panel.line(5) == {"kind": "foul", "team": "away", "player": "away_10", "at_s": at_s}
    panel.press("u", "1")
    assert panel.line(6) == {"kind": "void", "event": "official.foul#official:anna:5", "undoes": 5}


def test_an_event_of_the_list_is_corrected_and_withdrawn(panel: Panel, browser: Browser):
    panel.press("e")
    assert "Choose an event" in panel.text("#officials-answer")
    panel.press("\ue015", "\ue015")  # down, to the older of both
    panel.press("e")
    browser.wait(lambda: browser.run("return document.querySelector('.correction')"), "the form", 60.0)
    browser.run(
        "const [kind, player] = document.querySelectorAll('.correction select');"
        "kind.value = 'pass.intercepted'; player.value = 'home_5'; document.querySelector('.correction button').click()"
    )
    assert panel.line(1) == {
        "kind": "correction", "event": PASS.id, "right_kind": "pass.intercepted", "team": "home", "player": "home_5",
    }  # fmt: skip
    panel.press("x", "1")
    assert panel.line(2) == {"kind": "void", "event": PASS.id}
    # The chosen event asks for its explanation, which a store without a capture refuses: sooner or later than here.
    assert [error for error in browser.errors() if "/explanation?" not in error] == []


def test_a_page_without_a_token_says_what_it_needs(panel: Panel, browser: Browser):
    browser.run("sessionStorage.clear()")
    panel.press("l")
    browser.wait(lambda: "operator's token" in panel.text("#officials-answer"), "the refusal", 60.0)
    browser.errors()
    panel.press("o")
    assert browser.run("return document.getElementById('officials').hidden")
    panel.press("v", "1")
    assert panel.text("#strip") is not None
    assert browser.run("return document.getElementById('officials-ask').querySelector('.choices')") is None
