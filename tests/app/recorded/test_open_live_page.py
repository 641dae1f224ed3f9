"""The live page over a finished match: a moment of the store, its explanation; the accuracy page; WCAG of rooms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.api.answers import Explained
from app.api.replay import Replays
from app.officials.ended import decide_after_the_end
from dashboard.server import WebServer
from replay.formats.officials import DecisionFields
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import AMENDED, DONE, PASS, S, derby_store
from tests.dashboard.accessibility import violations
from tests.dashboard.chromium import Browser

pytestmark = pytest.mark.browser

LINES = "return [...document.querySelectorAll('#events li:not([hidden])')].map((one) => one.dataset.id)"
ROOMS = {
    "replay": "return Boolean(window.replay && replay.bodies && replay.timeline.events.length)",
    "analyst": "return document.querySelectorAll('#charts svg').length > 0",
    "matches": "return document.querySelectorAll('.tile').length > 0",
    "accuracy": "return document.querySelectorAll('#rows tbody tr').length > 0",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = derby_store(tmp_path_factory.mktemp("page") / "derby")
    decide_after_the_end(folder, [DecisionFields("correction", event=PASS.id, team="home", player="home_1")])
    with serving(folder) as running:
        yield running


def test_a_click_shows_the_moment_out_of_the_store_and_explains_the_event(
    browser: Browser, server: WebServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Replays, "explain", lambda self, name, event: Explained(event, ["margin 0.4 m", "of " + event]))
    browser.resize(1280, 720)
    browser.driver.get(server.url)
    browser.wait(lambda: AMENDED.id in browser.run(LINES), "the pass")
    browser.run(
        "[...document.querySelectorAll('#events li')].find((li) => li.dataset.id === arguments[0]).click()", DONE.id
    )
    ball = "return touchline.scene.ball && touchline.scene.clock === arguments[0] && touchline.scene.ball.x"
    # The derby's ball is at x = event time in seconds - 30 m.
    x_m = browser.wait(lambda: browser.run(ball, DONE.ts_us), "the ball of the store")
    assert x_m == pytest.approx(DONE.ts_us / S - 30, abs=0.011)
    text = "return document.querySelector('#reason pre').textContent"
    browser.wait(lambda: browser.run(text) == "margin 0.4 m\nof " + DONE.id, "the explanation")
    assert browser.errors() == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_meets_wcag(browser: Browser, server: WebServer, room: str):
    browser.resize(1280, 720)
    browser.driver.get(f"{server.url}/{room}")
    browser.wait(lambda: browser.run(ROOMS[room]), f"the room {room}")
    found = violations(browser)
    browser.errors()
    assert not found, "\n".join(f"{theme}: {one}" for theme, broken in found.items() for one in broken)


def test_the_accuracy_page_shows_kinds_with_their_intervals(browser: Browser, server: WebServer):
    browser.driver.get(f"{server.url}/accuracy")
    browser.wait(lambda: browser.run(ROOMS["accuracy"]), "the table")
    rows = browser.run("return [...document.querySelectorAll('#rows tbody tr')].map((row) => row.innerText)")
    passes = next(row for row in rows if "Pass attempt" in row)
    assert passes.split() == ["1", "Pass", "attempt", "1", "0", "1", "100.0", "%", "20.7", "%", "–", "100.0", "%"]
    assert browser.errors() == []
