"""The operator's page in a real browser, by keyboard only: pictures, orders, tally, failures."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from app.api.served import ServedMatch
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from camera.head import Pose
from camera.installation import load_installation
from camera.mount import Mount
from football.match_sheet import MatchSheet
from football.update_stream import BallView, BodyView, UpdateMessage, View
from tests.dashboard.chromium import Browser, browser_or_skip

pytestmark = pytest.mark.browser

TOKEN = "token-of-the-run"
FILE = """
[[camera]]
name = "main"
[camera.presets.left]
pan_deg = -20
tilt_deg = -10
width_deg = 20
[camera.presets.right]
pan_deg = 20
tilt_deg = -10
width_deg = 20

[[camera]]
name = "<b>behind"
role = "goal-right"
mount = { x_m = 80, y_m = 0, z_m = 12, heading_deg = 180, roll_deg = 3 }
"""


class Play:
    """A feed in which the ball circles, 25 times a second, while ``on``."""

    def __init__(self, feed: MatchFeed) -> None:
        self.feed, self.on, self._over = feed, True, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Play:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began_s, first = time.monotonic(), True
        while not self._over.wait(0.04):
            if not self.on:
                continue
            ts_us = round((time.monotonic() - began_s) * 1e6)
            angle = ts_us / 4e6
            ball = BallView(ts_us, 30 * math.cos(angle), 20 * math.sin(angle), 0.2, 0.0, 0.0, 0.0)
            players = tuple(
                BodyView(f"{team}_{n}", team, ts_us, -45.0 + 9 * n, side * 12.0, 0.0, 0.0)
                for team, side in (("home", 1), ("away", -1))
                for n in range(11)
            )
            wall_us = time.time_ns() // 1000
            message = UpdateMessage(
                "m", 0, ts_us, 0, view=View(ts_us, ball, players), continues_from=0 if first else None,
                due_wall_us=wall_us,
            )  # fmt: skip
            self.feed.apply(message, wall_us)
            first = False


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile"), 1280, 720) as window:
        yield window


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("run")
    (folder / "cameras.toml").write_text(FILE)
    feed, group = MatchFeed(MatchSheet("m")), CameraGroup()
    settings = make_settings({"store": folder / "new", "port": 0, "metrics_port": 0, "token": TOKEN})
    with (
        Monitoring(folder) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), group) as servers,
        Play(feed) as playing,
        cameras_on(feed, lambda table: None, load_installation(folder / "cameras.toml"), group, folder=folder),
    ):
        monitor = monitoring.add(feed, folder / "states", paced=False, link=None)
        servers.serve("m", ServedMatch(feed, folder, monitor.problems))
        url = servers.open_page(feed)
        browser.driver.get(f"{url}?token={TOKEN}")
        browser.driver.get(f"{url}cameras")
        browser.wait(lambda: len(cameras(browser)) == 2, "both cameras")
        yield playing


def cameras(browser: Browser) -> list[dict[str, Any]]:
    return browser.run("return operator.cameras || []")


def wait_for(browser: Browser, camera: int, field: str, value: object) -> dict[str, Any]:
    """The camera, once a field has a value."""

    def found() -> dict[str, Any] | None:
        state = cameras(browser)[camera]
        return state if state[field] == value else None

    return browser.wait(found, f"{field} of camera {camera} to be {value}, not {cameras(browser)[camera]}", 25.0)


def press(browser: Browser, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser.driver).send_keys(*keys).perform()


def shifted(browser: Browser, key: str) -> None:
    from selenium.webdriver import ActionChains, Keys

    ActionChains(browser.driver).key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()


def text(browser: Browser, selector: str) -> str:
    return str(browser.run("return document.querySelector(arguments[0]).textContent", selector))


def chosen(browser: Browser) -> str:
    return text(browser, ".camera.chosen .name")


def log_in(browser: Browser) -> None:
    press(browser, "t")
    press(browser, TOKEN)
    from selenium.webdriver import Keys

    press(browser, Keys.ENTER)


def test_the_pictures_are_drawn_and_nothing_of_a_file_becomes_markup(browser: Browser, play: Play):
    wait_for(browser, 0, "mode", "follow")
    data = "return [...document.querySelectorAll('canvas')].map(c => c.toDataURL())"
    before = browser.run(data)
    browser.wait(lambda: browser.run(data)[0] != before[0], "the picture to move")
    assert len(set(browser.run(data))) == 2
    assert browser.run("return document.querySelectorAll('.name b').length") == 0
    fits = "return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    assert browser.run(fits) == [1280, 720]
    sizes = "return [...document.querySelectorAll('.picture')].map(p => [p.offsetWidth, p.offsetHeight])"
    (first, second), lines = (
        browser.run(sizes),
        "return [...document.querySelectorAll('.presets')].map(p => p.innerText)",
    )
    assert first == second, "one camera has presets and the other has none; their pictures are as large"
    assert [bool(one) for one in browser.run(lines)] == [True, False]


def test_the_figures_of_the_steering_are_shown(browser: Browser, play: Play):
    wait_for(browser, 0, "mode", "follow")
    wanted = ("ball in picture", "aim p95", "jerk", "position to command p95", "wasted")
    browser.wait(lambda: all(label in text(browser, ".figures") for label in wanted), "the figures", 25.0)
    assert "undefined" not in text(browser, ".figures")
    assert "NaN" not in text(browser, ".figures")


def test_the_pages_projection_is_the_mounts(browser: Browser, play: Play):
    chance = random.Random(3)
    for _ in range(40):
        mount = Mount(
            chance.uniform(-90, 90), chance.uniform(-90, -50), chance.uniform(3, 25), chance.uniform(0, 360),
            chance.uniform(-10, 10), chance.uniform(-8, 8),
        )  # fmt: skip
        pose = Pose(chance.uniform(-170, 170), chance.uniform(-40, 20), chance.uniform(2, 60))
        point = [chance.uniform(-60, 60), chance.uniform(-40, 40), chance.uniform(0, 10)]
        camera = {
            "mount": {name: getattr(mount, name) for name in mount.__struct_fields__},
            "pose": {name: getattr(pose, name) for name in pose.__struct_fields__},
            "aspect": 16 / 9,
        }
        shown = browser.run("return operator.project(arguments[0], arguments[1])", camera, point)
        is_inside = shown is not None and max(map(abs, shown)) <= 1
        assert is_inside == mount.in_picture(pose, 16 / 9, *point), (mount, pose, point, shown)
        pan_deg, tilt_deg = mount.aim(*point)
        camera["pose"] = {"pan_deg": pan_deg, "tilt_deg": tilt_deg, "width_deg": 10.0}
        middle = browser.run("return operator.project(arguments[0], arguments[1])", camera, point)
        assert max(map(abs, middle)) < 1e-6


def test_without_a_token_an_order_is_refused_and_the_page_says_how_to_get_on(browser: Browser, play: Play):
    browser.run("operator.field.value = ''")
    press(browser, " ")
    browser.wait(lambda: "press T" in text(browser, "#banner"), "the banner")
    assert cameras(browser)[0]["order"] == ""
    browser.errors()


def test_keys_choose_hold_drive_preset_style_tally_and_release(browser: Browser, play: Play):
    from selenium.webdriver import ActionChains, Keys

    log_in(browser)
    assert chosen(browser) == "main"
    press(browser, " ")
    wait_for(browser, 0, "mode", "held")
    press(browser, "2")
    wait_for(browser, 0, "mode", "preset")
    browser.wait(lambda: abs(cameras(browser)[0]["pose"]["pan_deg"] - 20) < 1.5, "the preset", 25.0)
    ActionChains(browser.driver).key_down(Keys.ARROW_LEFT).perform()
    wait_for(browser, 0, "mode", "operator")
    browser.wait(lambda: cameras(browser)[0]["pose"]["pan_deg"] < 15, "the camera to turn left", 25.0)
    ActionChains(browser.driver).key_up(Keys.ARROW_LEFT).perform()
    width_deg = cameras(browser)[0]["pose"]["width_deg"]
    ActionChains(browser.driver).key_down("-").perform()
    browser.wait(lambda: cameras(browser)[0]["pose"]["width_deg"] > width_deg + 2, "the zoom", 25.0)
    ActionChains(browser.driver).key_up("-").perform()
    press(browser, "s")
    wait_for(browser, 0, "style", "sport")
    press(browser, "o")
    wait_for(browser, 0, "on_air", True)
    browser.wait(lambda: browser.run("return document.querySelectorAll('.camera.on-air').length") == 1, "the tally")
    press(browser, "1")
    browser.wait(lambda: "on air" in text(browser, "#banner"), "the refusal")
    shifted(browser, "1")
    wait_for(browser, 0, "order", "preset")
    browser.errors()  # the console has the refusal
    press(browser, "o")
    wait_for(browser, 0, "on_air", False)
    press(browser, "r")
    wait_for(browser, 0, "by", "planner")
    press(browser, Keys.TAB)
    browser.wait(lambda: chosen(browser) == "<b>behind", "the second camera")
    press(browser, " ")
    wait_for(browser, 1, "mode", "held")
    shifted(browser, Keys.TAB)
    browser.wait(lambda: chosen(browser) == "main", "the first camera")
    assert cameras(browser)[0]["order"] == ""


def test_a_gamepad_drives_and_holds_once_a_press(browser: Browser, play: Play):
    log_in(browser)
    pad = """
    const up = {pressed: false}, buttons = Array.from({length: 16}, (_, i) => ({pressed: i === arguments[1]}));
    navigator.getGamepads = () => [null, {axes: [arguments[0], 0, 0, 0], buttons}];
    """
    browser.run(pad, 0.8, -1)
    browser.wait(lambda: cameras(browser)[0]["order"] == "drive" or text(browser, "#banner"), "a drive")
    assert text(browser, "#banner") == ""
    browser.run(pad, 0.05, -1)
    browser.run(pad, 0.0, 0)
    wait_for(browser, 0, "order", "hold")
    browser.run(pad, 0.0, 1)
    wait_for(browser, 0, "order", "")
    browser.run("navigator.getGamepads = () => []")


def test_another_camera_is_not_driven_by_a_key_that_is_held_and_the_old_one_stops(browser: Browser, play: Play):
    from selenium.webdriver import ActionChains, Keys

    log_in(browser)
    for _ in range(2):  # both cameras are the planner's
        press(browser, "r")
        press(browser, Keys.TAB)
    wait_for(browser, 0, "order", "")
    wait_for(browser, 1, "order", "")
    browser.run("""
        window.drives = [];
        const plain = window.fetch;
        window.fetch = (address, options) => {
          if (address.endsWith("/drive")) drives.push([decodeURIComponent(address.split("/")[4]), options.body]);
          return plain(address, options);
        };
    """)
    ActionChains(browser.driver).key_down(Keys.ARROW_LEFT).perform()
    wait_for(browser, 0, "order", "drive")
    press(browser, Keys.TAB)
    browser.wait(lambda: chosen(browser) == "<b>behind", "the second camera")
    stopped = ["main", '{"pan":0,"tilt":0,"zoom":0}']
    browser.wait(lambda: browser.run("return drives")[-1] == stopped, "the first camera to be stopped")
    count = len(browser.run("return drives"))
    time.sleep(0.5)
    assert len(browser.run("return drives")) == count, "a key that is held drives nobody"
    ActionChains(browser.driver).key_up(Keys.ARROW_LEFT).perform()
    ActionChains(browser.driver).key_down(Keys.ARROW_RIGHT).perform()
    wait_for(browser, 1, "order", "drive")
    press(browser, " ")
    wait_for(browser, 1, "order", "hold")
    time.sleep(0.5)
    assert cameras(browser)[1]["order"] == "hold", "a key that is held takes no camera back"
    ActionChains(browser.driver).key_up(Keys.ARROW_RIGHT).perform()
    assert cameras(browser)[0]["order"] == "drive", "after a drive it stands until it is released"
    press(browser, "r")
    shifted(browser, Keys.TAB)
    press(browser, "r")
    wait_for(browser, 0, "by", "planner")
    browser.errors()


def test_a_failure_asks_for_the_operator_within_the_page(browser: Browser, play: Play):
    log_in(browser)
    press(browser, "r")
    wait_for(browser, 0, "by", "planner")
    play.on = False
    wait_for(browser, 0, "fault", "feed")
    wait_for(browser, 0, "needs_operator", True)
    browser.wait(lambda: "Please take over" in text(browser, "#banner"), "the banner")
    assert "no new positions arrive" in text(browser, ".camera .problem")
    play.on = True
    wait_for(browser, 0, "care", "following")
    browser.wait(lambda: text(browser, "#banner") == "", "the banner to end")
    assert browser.errors() == []
