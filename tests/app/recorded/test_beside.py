"""A second match beside the first in the replay room, in step; of two runs of one match what differs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from dashboard.server import WebServer
from tests.app.recorded import derby
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import GOAL, S, derby_store
from tests.app.tables.small_match import event
from tests.dashboard.accessibility import violations
from tests.dashboard.chromium import Browser

pytestmark = pytest.mark.browser

IN_STEP = """
const [us, first, second, done] = arguments;
import('/pages/replay/beside.js').then((one) => done(one.inStep(us, first, second)), (error) => done(String(error)));
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A match and another run of it, which has a save in the place of the goal."""
    folder = tmp_path_factory.mktemp("beside")
    derby_store(folder / "one")
    save = event("shot.saved", 50, "goal:1", "home_9", (20.0, 0.0))
    with pytest.MonkeyPatch.context() as patch:
        log = tuple((at_s, diff, save if one == GOAL else one) for at_s, diff, one in derby.LOG)
        patch.setattr(derby, "LOG", log)
        patch.setattr(derby, "SHEET", msgspec.structs.replace(derby.SHEET, match_id="again"))
        derby_store(folder / "two")
    with serving(folder) as running:
        yield running


def test_another_run_goes_in_step_and_what_differs_is_listed(browser: Browser, server: WebServer):
    from selenium.webdriver import ActionChains

    def rows() -> list[str]:
        return list(browser.run("return [...document.querySelectorAll('#beside li')].map((one) => one.innerText)"))

    browser.resize(1280, 720)
    browser.driver.get(f"{server.url}/replay?match=one&t=45")
    browser.wait(lambda: browser.run("return window.replay && replay.bodies && replay.timeline.events.length"), "it")
    ActionChains(browser.driver).send_keys("c").perform()
    browser.wait(lambda: browser.run("return replay.beside.at") == 45 * S, "the second match at the same moment")
    assert rows() == []
    browser.run("replay.player.seek(55e6)")
    browser.wait(lambda: browser.run("return replay.beside.at") == 55 * S, "it to follow")
    browser.wait(lambda: len(rows()) == 2, "what differs")
    assert sorted(row.split("·")[1].strip() for row in rows()) == ["only beside", "only left"]
    assert browser.run("return document.querySelector('#beside output').textContent").endswith("0 – 0")
    assert browser.run("return document.getElementById('score').textContent") == "1 – 0"
    assert violations(browser) == {}
    # Seconds later: the second match is shown further on.
    browser.run("const later = replay.beside.shift; later.value = '2'; later.dispatchEvent(new Event('change'))")
    browser.wait(lambda: browser.run("return replay.beside.at") == 57 * S, "two seconds later")
    browser.run("document.querySelector('#beside li button').click()")
    browser.wait(lambda: browser.run("return replay.player.us") in (48 * S, 50 * S), "its moment")
    ActionChains(browser.driver).send_keys("x").perform()
    assert browser.run("return [replay.beside.isOpen, replay.video.isOpen]") == [False, True]
    assert browser.errors() == []


def test_matches_are_in_step_from_the_kick_off_of_each_period(browser: Browser, server: WebServer):
    browser.driver.get(f"{server.url}/matches")

    def in_step(us: float, first: list[float], second: list[float]) -> object:
        return browser.driver.execute_async_script(IN_STEP, us, first, second)

    assert in_step(15, [10, 100], [20, 150]) == 25
    assert in_step(110, [10, 100], [20, 150]) == 160
    assert in_step(5, [10, 100], [20, 150]) == 15
    assert in_step(15, [], [20]) == in_step(15, [10], []) == 15
    assert in_step(110, [10, 100], [20]) == 110
