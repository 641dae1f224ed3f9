"""The replay room in a real browser: seek, play, frames, loop, events, filters, address, and a lost server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.api.answers import Explained
from app.api.replay import Replays
from dashboard.server import WebServer
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import DONE, FRAME_US, GOAL, WRONG, S, derby_store
from tests.dashboard.chromium import Browser

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("page") / "derby")


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[WebServer]:
    with serving(store) as running:
        yield running


def opened(browser: Browser, server: WebServer, query: str = "") -> Browser:
    """The room, once its events and the positions of its moment are there."""
    browser.resize(1280, 720)
    browser.driver.get(f"{server.url}/replay?match=derby{query}")
    browser.wait(lambda: browser.run("return window.replay && replay.bodies && replay.timeline.events.length"), "it")
    return browser


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser.driver).send_keys(*keys).perform()


def now_us(browser: Browser) -> float:
    return float(browser.run("return replay.player.us"))


BALL = "const b = replay.positions.at(replay.player.us); return b && b.find((one) => one.id === 'ball')"


def ball(browser: Browser) -> dict[str, Any]:
    """The ball as it is drawn, once the chunk of the moment is there."""
    found: dict[str, Any] = browser.wait(lambda: browser.run(BALL), "the ball")
    return found


def text_of(browser: Browser, selector: str) -> str:
    return str(browser.run("return document.querySelector(arguments[0]).textContent", selector))


def click(browser: Browser, selector: str, text: str) -> None:
    """Click the button of a text among those of a selector."""
    find = "[...document.querySelectorAll(arguments[0])].find((one) => one.textContent.includes(arguments[1])).click()"
    browser.run(find, selector, text)


def choose(browser: Browser, field: str, value: str) -> None:
    """Give a field a value, as a person does."""
    find = "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
    browser.run(find + "field.dispatchEvent(new Event('input'))", field, value)


def test_the_address_opens_a_moment_and_keeps_it(browser: Browser, server: WebServer):
    opened(browser, server, "&t=0:45.5")
    assert now_us(browser) == 45.5 * S
    assert ball(browser)["x"] == pytest.approx(15.5, abs=0.011)
    assert ball(browser)["z"] == 2.0
    assert browser.run("return document.getElementById('clock').textContent") == "00:45.50"
    browser.run("replay.player.seek(12e6)")
    browser.wait(lambda: "t=12.00" in browser.run("return location.search"), "the address to follow")
    assert browser.errors() == []


def test_keys_seek_step_frames_and_stop_at_the_ends(browser: Browser, server: WebServer):
    from selenium.webdriver import Keys

    opened(browser, server, "&t=10")
    press(browser, Keys.ARROW_RIGHT)
    assert now_us(browser) == 15 * S
    press(browser, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert now_us(browser) == 5 * S
    press(browser, ".")
    browser.wait(lambda: now_us(browser) == 5 * S + FRAME_US, "the next frame")
    press(browser, ",", ",")
    browser.wait(lambda: now_us(browser) == 5 * S - FRAME_US, "the frame before")
    press(browser, Keys.HOME, Keys.ARROW_LEFT)
    assert now_us(browser) == 0
    press(browser, Keys.END, Keys.ARROW_RIGHT)
    assert now_us(browser) == 60 * S - FRAME_US


def test_it_plays_at_the_chosen_speed_and_pauses(browser: Browser, server: WebServer):
    opened(browser, server, "&t=2")
    press(browser, "]", "]", "]")
    assert browser.run("return replay.player.speed") == 8
    press(browser, " ")
    browser.wait(lambda: now_us(browser) > 14 * S, "twelve seconds of play")
    press(browser, " ")
    stood = now_us(browser)
    assert browser.run("return document.getElementById('play').textContent") == "Play"
    browser.run("replay.stats.frames = 0")
    browser.wait(lambda: browser.run("return replay.stats.frames > 3"), "frames")
    assert now_us(browser) == stood
    press(browser, *"[" * 9)
    assert browser.run("return replay.player.speed") == 0.1


def test_a_loop_returns_to_its_begin(browser: Browser, server: WebServer):
    opened(browser, server, "&t=20")
    press(browser, "i")
    browser.run("replay.player.seek(21e6)")
    press(browser, "o", "]", "]", " ")
    browser.run("window.times = []; const f = () => { times.push(replay.player.us); requestAnimationFrame(f) }; f()")
    browser.wait(lambda: browser.run("return times.some((t, i) => i && t < times[i - 1])"), "the loop to return")
    press(browser, " ")
    assert browser.run("return times.every((t) => t >= 20e6 && t <= 21.5e6)")


def test_events_lead_the_pitch_and_open_their_explanation(
    browser: Browser, server: WebServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Replays, "explain", lambda self, match, event: Explained(event, ["History:", f"about {event}"]))
    opened(browser, server, "&t=0")
    press(browser, "n")
    assert now_us(browser) == DONE.ts_us
    press(browser, "n")
    assert now_us(browser) == WRONG.ts_us
    assert browser.run("return document.querySelector('.event.chosen .state').textContent") == "withdrawn"
    press(browser, "p")
    assert "event=pass.complete" in browser.run("return decodeURIComponent(location.search)")
    click(browser, ".event", "Goal")
    assert now_us(browser) == GOAL.ts_us
    browser.wait(lambda: f"about {GOAL.id}" in text_of(browser, "#reason pre"), "the explanation")
    assert text_of(browser, "#score") == "1 – 0"
    browser.run("replay.player.seek(49e6)")
    browser.wait(lambda: text_of(browser, "#score") == "0 – 0", "the score")


def test_a_dot_of_the_track_opens_its_event(browser: Browser, server: WebServer):
    opened(browser, server, "&t=44")
    find = """
    const dot = replay.track.lanes.dots.find(([event]) => event.id === arguments[0]);
    const box = document.getElementById('track').getBoundingClientRect();
    return dot && {x: box.left + dot[1], y: box.top + dot[2]};
    """
    at = browser.wait(lambda: browser.run(find, GOAL.id), "the dot")
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "button": "left", "clickCount": 1, **at}
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    browser.wait(lambda: browser.run("return replay.chosen && replay.chosen.id") == GOAL.id, "the event")
    assert now_us(browser) == GOAL.ts_us
    assert not browser.run("return document.getElementById('reason').hidden")


def test_an_address_with_an_event_opens_it(browser: Browser, server: WebServer):
    opened(browser, server, "&event=goal.scored%23goal%3A1")
    browser.wait(lambda: now_us(browser) == GOAL.ts_us, "the moment of the goal")
    assert browser.run("return document.querySelector('#reason h2').textContent") == "Goal, right"


def shown(browser: Browser) -> list[str]:
    found: list[str] = browser.run("return replay.timeline.shown.map(e => e.kind)")
    return found


def test_filters_of_state_team_player_level_text_and_family(browser: Browser, server: WebServer):
    opened(browser, server, "&t=20")
    everything = ["pass.complete", "shot.attempt", "goal.scored"]  # the attempt of the pass is in its line
    assert shown(browser) == everything
    click(browser, "#states button", "withdrawn")
    assert shown(browser) == ["pass.complete", "goal.scored"]
    click(browser, "#states button", "withdrawn")
    click(browser, "#states button", "confirmed")
    assert shown(browser) == ["shot.attempt"]
    click(browser, "#states button", "confirmed")
    choose(browser, "search", "attempt")
    assert shown(browser) == ["pass.attempt", "shot.attempt"]
    choose(browser, "search", "")
    press(browser, "/", "goal")
    assert shown(browser) == ["goal.scored"]
    press(browser, "x")
    assert browser.run("return document.getElementById('list').classList.contains('none')")
    choose(browser, "search", "")
    choose(browser, "player", "away_4")
    assert shown(browser) == []
    choose(browser, "player", "home_1")
    assert shown(browser) == everything[:1]
    choose(browser, "player", "")
    choose(browser, "level", "7")
    assert shown(browser) == []
    choose(browser, "level", "0")
    click(browser, "#families button", "Ball & touches")
    browser.wait(lambda: "hit" in shown(browser), "the dense family")


def rows(browser: Browser) -> dict[str, str]:
    """The change since of each shown event, by kind."""
    found: dict[str, str] = browser.run(
        "return Object.fromEntries(replay.timeline.shown.map((one) => [one.kind, one.change]))"
    )
    return found


def test_the_time_machine_shows_what_was_known_and_what_has_changed_since(browser: Browser, server: WebServer):
    opened(browser, server, "&t=25")
    press(browser, "k")
    then = {"pass.attempt": "", "pass.complete": "amended since", "shot.attempt": "withdrawn since"}
    browser.wait(lambda: rows(browser) == then, "what was known at 25 s")
    assert "1 amended since, 1 withdrawn since" in text_of(browser, "#count")
    browser.wait(lambda: "known=25.00" in browser.run("return location.search"), "the address")
    click(browser, "#machine button", "Only what changed")
    assert sorted(rows(browser)) == ["pass.complete", "shot.attempt"]
    click(browser, "#machine button", "Only what changed")
    browser.run("replay.machine.go(50.1e6)")
    later = {"pass.complete": "", "shot.attempt": "", "goal.scored": "not known yet"}
    browser.wait(lambda: rows(browser) == later, "what was known at 50.1 s")
    browser.run("replay.player.seek(55e6)")
    browser.wait(lambda: text_of(browser, "#score") == "0 – 0", "the score that was known")
    click(browser, "#machine button", "Follow the moment")
    browser.wait(lambda: rows(browser)["goal.scored"] == "", "what was known at 55 s")
    press(browser, "k")
    browser.wait(lambda: "changed" not in text_of(browser, "#count"), "the end")
    assert not browser.run("return replay.machine.isOn")
    assert browser.errors() == []


def test_layers_are_remembered(browser: Browser, server: WebServer):
    opened(browser, server)
    press(browser, "h")
    opened(browser, server)
    assert browser.run("return replay.pitch.layers.hulls")
    press(browser, "h")


def test_hull_and_offside_line_are_computed(browser: Browser, server: WebServer):
    opened(browser, server)
    found = browser.run(
        """
        const { hull, offsideLine } = window.touchline;
        return [
          hull([[0, 0], [4, 0], [2, 1], [4, 4], [0, 4], [2, 2]]).length,
          offsideLine([{x: 48}, {x: 30}, {x: 10}], 5, 1), offsideLine([{x: 48}, {x: 30}], 35, 1),
          offsideLine([{x: -48}, {x: 3}], 5, -1), offsideLine([{x: 1}], 0, 1),
        ];
        """
    )
    assert found == [4, 30, 35, 0, None]


#: Controls and headings that lie outside the window.
OUTSIDE = """
const shown = [...document.querySelectorAll("button, select, input, canvas, output, h2, #title span")]
  .filter((one) => one.getClientRects().length && !one.closest("#list, #reason"));
return shown.filter((one) => {
  const box = one.getBoundingClientRect();
  return box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight;
}).map((one) => one.id || one.textContent);
"""


@pytest.mark.parametrize(
    "size",
    [
        (1280, 720),
        *(pytest.param(size, marks=pytest.mark.slow) for size in ((1920, 1080), (1180, 820))),
        (3840, 2160),
        (820, 1180),
    ],
)
def test_nothing_is_cut_at_any_size(browser: Browser, server: WebServer, size: tuple[int, int]):
    opened(browser, server, "&event=goal.scored%23goal%3A1")
    browser.resize(*size)
    cut = "return [...document.querySelectorAll('.event span')].filter((one) => one.scrollWidth > one.clientWidth + 1"
    assert browser.run(cut + " && one.clientWidth > 2).map((one) => one.textContent)") == []
    assert browser.run(OUTSIDE) == []
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    part = 0.5 if size[0] > size[1] else 0.4  # the list stands beneath the pitch of an upright screen
    assert browser.run("return document.getElementById('pitch').clientHeight / innerHeight") > part


def test_a_server_that_is_lost_is_said_and_found_again(browser: Browser, store: Path):
    with serving(store) as server:
        opened(browser, server, "&t=5")
        port = int(server.url.rsplit(":", 1)[1])
    browser.run("replay.player.seek(45e6)")
    banner = "return document.getElementById('banner').hidden ? '' : document.getElementById('banner').textContent"
    browser.wait(lambda: "does not answer" in browser.run(banner), "the banner")
    with serving(store, port=port):
        assert ball(browser)["x"] == pytest.approx(15, abs=0.011)
        browser.wait(lambda: browser.run(banner) == "", "the banner to go")
    browser.errors()
