"""A changed stretch in the replay room: it is played, and its differences stand side by side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dashboard.server import WebServer
from tests.app.recorded.conftest import serving
from tests.app.recorded.test_replay_page import press, text_of
from tests.app.recordings import optical_table, record
from tests.dashboard.chromium import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("what_if")
    with serving(record(optical_table(folder / "match.parquet", 32, 12), folder / "demo")) as running:
        yield running


def test_a_removed_player_leaves_his_pass_struck(browser: Browser, server: WebServer):
    browser.resize(1280, 720)
    browser.driver.get(f"{server.url}/replay?match=demo&t=8")
    browser.wait(
        lambda: browser.run("return window.replay && replay.bodies && replay.timeline.events.length"), "the room"
    )
    press(browser, "w")
    browser.wait(lambda: browser.run("return replay.whatIf.choices"), "the choices")
    asked = "return performance.getEntriesByType('resource').filter((one) => one.name.includes('unchanged')).length"
    browser.wait(lambda: browser.run(asked) == 1, "the stretch to be played ahead", 60)
    assert not browser.run("return replay.player.isPlaying")
    assert browser.run("return document.getElementById('thresholds').children.length") > 100
    browser.run("""
        const { object, act } = replay.whatIf.fields;
        [object.value, act.value] = ["home_8", "removed"];
        act.dispatchEvent(new Event("change"));
        replay.whatIf.begin.click();
    """)
    find = "return [...document.querySelectorAll('#what-if tr.gone')].map((one) => one.textContent).join()"
    browser.wait(lambda: "00:08.47 Pass attempt" in browser.run(find), "the lost pass", 60)
    assert "events are the same" in text_of(browser, "#what-if .answer")
    browser.run("document.querySelector('#what-if tr.gone button').click()")
    assert browser.run("return replay.player.us") < 12_000_000
    press(browser, "\ue00c")
    assert browser.run("return document.getElementById('what-if').hidden")
    assert browser.errors() == []
