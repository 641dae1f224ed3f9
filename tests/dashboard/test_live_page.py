"""The live page in a real browser: calm lines, moments, search, layers, alerts, keys, WCAG."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from dashboard.demo import Choreography, ScriptedFeed, demo_event, demo_sheet, view_at
from dashboard.live import LiveState
from dashboard.routes import page_routes
from dashboard.server import WebServer
from detectors.control.pressure import PressureParameters, pressure_on
from detectors.control.spearman import SpearmanParameters, control_grid, pass_success
from football.payloads import BodyState
from football.pitch import Pitch
from football.update_stream import EventRecord, Health
from tests.dashboard.accessibility import violations
from tests.dashboard.chromium import Browser, browser_or_skip

pytestmark = pytest.mark.browser

US = 1_000_000
LINES = "return [...document.querySelectorAll('#events li:not([hidden])')].map((one) => one.dataset.id)"
TEXT = "return document.querySelector(arguments[0]).textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile"), 1280, 720) as window:
        yield window


class LivePage:
    """The open page of a feed that a test sets."""

    def __init__(self, browser: Browser, url: str, feed: ScriptedFeed) -> None:
        self.browser, self.url, self.feed = browser, url, feed

    def open(self) -> None:
        self.browser.driver.get(self.url)
        ready = "return Boolean(document.body.dataset.status && document.getElementById('help').onclick)"
        self.browser.wait(lambda: self.browser.run(ready), "the page with its keys")

    def at(self, now_s: float, frontier_s: float = 0.0) -> None:
        """Bring arrival time and positions to a time."""
        now_us = round(now_s * US)
        self.feed.advance(now_us, round(frontier_s * US), view_at(now_us))

    def lines(self, *ids: str) -> None:
        """Wait until exactly these lines are seen, newest first."""
        self.browser.wait(lambda: self.browser.run(LINES) == list(ids), f"the lines {ids}")

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.browser.driver).send_keys(*keys).perform()

    def click(self, x: float, y: float) -> None:
        """Click a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            self.browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def text(self, selector: str) -> str:
        return str(self.browser.run(TEXT, selector))


@pytest.fixture
def page(browser: Browser) -> Iterator[LivePage]:
    feed = ScriptedFeed(demo_sheet())
    with WebServer(page_routes(LiveState(feed))) as server:
        browser.driver.get(server.url + "/pages/shared/theme.js")
        browser.run("localStorage.clear()")
        browser.errors()
        yield LivePage(browser, server.url, feed)
        browser.driver.get("about:blank")


def attempt(number: int, at_s: float, **values: object) -> EventRecord:
    given = {"team": "home", "player": "home_4", "x_m": 0.0, "y_m": 0.0, **values}
    return demo_event("pass.attempt", round(at_s * US), f"ball:{number}", **given)


def outcome(kind: str, of: EventRecord, at_s: float, receiver: str) -> EventRecord:
    values = {"team": of.team, "player": of.player, "x_m": 9.0, "y_m": 9.0, "causes": (of.id,)}
    return demo_event(kind, round(at_s * US), of.id.partition("#")[2], detail={"receiver": receiver}, **values)


def test_a_pass_and_its_outcome_are_one_line_that_keeps_its_place_and_its_past(page: LivePage):
    kick, later = attempt(1, 1.0), attempt(2, 1.5, player="home_6")
    done = outcome("pass.complete", kick, 1.9, "home_5")
    wrong = outcome("pass.intercepted", kick, 1.9, "away_4")
    page.at(2.0)
    page.feed.publish(kick)
    page.feed.publish(later)
    page.open()
    page.lines(later.id, kick.id)
    page.feed.publish(done)
    page.lines(later.id, done.id)
    assert page.text("#events li:nth-child(2) .time") == "00:01.0"
    page.feed.publish(done, -1)
    page.feed.publish(wrong)
    page.lines(later.id, wrong.id)
    assert page.text("#events li:nth-child(2) .former") == "was Pass complete, Dahl → Eriksen"
    page.feed.amend(later, msgspec.structs.replace(later, player="home_7"))
    page.browser.wait(lambda: "was Pass attempt, 6 Ferro" in page.text("#events li"), "the older version")


def test_a_dense_family_of_which_the_page_needs_one_kind_takes_no_place_of_the_list(page: LivePage):
    passes = [attempt(number, 1.0 + number / 100) for number in range(150)]
    momentum = [demo_event("momentum.shift", 3 * US + number, f"match:{number}") for number in range(300)]
    for event in (*passes, *momentum, demo_event("pattern.overload", 3 * US, "pattern:1")):
        page.feed.publish(event)
    page.at(4.0)
    page.open()
    count = "return document.querySelectorAll('#events li').length"
    page.browser.wait(lambda: page.browser.run(count) == len(passes), "all lines")
    page.browser.wait(lambda: "Pattern overload" in page.text("#alert-line"), "the kind that an alert needs")


def test_a_doubtful_event_waits_until_it_is_likely_and_one_that_is_withdrawn_first_is_never_seen(page: LivePage):
    sure, doubtful = attempt(1, 1.0), demo_event("shot.deflected", round(1.2 * US), "ball:2", confidence=0.5)
    wrong = demo_event("shot.off", round(1.4 * US), "ball:3", confidence=0.5)
    page.at(2.0)
    for event in (sure, doubtful, wrong):
        page.feed.publish(event)
    page.open()
    page.lines(sure.id)
    page.feed.publish(wrong, -1)
    page.at(2.2)
    page.lines(sure.id)
    page.at(2.8)
    page.lines(sure.id)
    page.at(3.1)  # log(19) * 300 ms after its assertion, in half octaves, 19 of twenty such events stand
    page.lines(doubtful.id, sure.id)
    page.press("c")
    page.lines(wrong.id, doubtful.id, sure.id)
    page.press("c")
    page.lines(doubtful.id, sure.id)
    page.feed.publish(doubtful, -1)
    page.browser.wait(lambda: page.browser.run("return document.querySelector('.withdrawn:not([hidden])')"), "it")
    page.lines(doubtful.id, sure.id)
    page.at(15.5)
    page.lines(sure.id)


def test_a_click_holds_the_moment_and_a_key_leads_back(page: LivePage):
    ball = "return [touchline.scene.ball.x, touchline.scene.clock, touchline.moment.us]"
    page.at(1.0)
    kick = attempt(1, 1.0)
    page.feed.publish(kick)
    page.open()
    page.lines(kick.id)
    for step in range(1, 15):
        page.at(1.0 + step / 10)
        page.browser.wait(
            lambda step=step: page.browser.run("return touchline.scene.liveClock") == round((1.0 + step / 10) * US),
            "it",
        )
    page.browser.run("document.querySelector('#events li').click()")
    x_m, clock_us, held_us = page.browser.run(ball)
    place = view_at(US).ball
    assert place is not None
    assert (round(x_m, 2), clock_us, held_us) == (round(place.x_m, 2), US, US)
    assert not page.browser.run("return document.getElementById('reason').hidden")
    assert "confidence 1.00" in page.text("#reason")
    page.press(".")
    page.browser.wait(lambda: page.browser.run(ball)[1] == 1.1 * US, "the next tenth")
    page.press("b")
    page.browser.wait(lambda: page.browser.run(ball)[2] is None, "live")
    assert page.browser.run("return document.getElementById('reason').hidden")
    assert page.browser.run("return touchline.scene.clock") == 2.4 * US


#: Place in the window of an event's dot in the timeline, and the colour of its middle; None while it is not there.
DOT = """
const dot = touchline.lanes.dots().find(([id]) => id === arguments[0]);
if (!dot) return null;
const canvas = document.getElementById('lanes'), box = canvas.getBoundingClientRect();
const [x, y] = [dot[1], dot[2]].map((at) => Math.round(at * canvas.width / box.width));
const [r, g, b] = canvas.getContext('2d').getImageData(x, y, 1, 1).data;
return {x: box.left + dot[1], y: box.top + dot[2], ink: [r, g, b]};
"""


def test_the_timeline_has_the_events_of_the_list_by_level_and_each_leads_to_its_moment(page: LivePage):
    kick, shot = attempt(1, 1.0, level=6), demo_event("shot.attempt", 3 * US, "ball:2", team="away", level=6)
    corner, doubtful = demo_event("restart.corner", 5 * US, "ball:3", team="home", level=9), attempt(4, 6.0, level=6)
    later = msgspec.structs.replace(corner, ts_us=round(5.5 * US))
    page.at(8.0, frontier_s=2.0)
    for event in (kick, shot, corner):
        page.feed.publish(event)
    page.feed.publish(msgspec.structs.replace(doubtful, confidence=0.3))
    page.open()

    def dot(event: EventRecord) -> dict[str, Any]:
        found: dict[str, Any] = page.browser.wait(lambda: page.browser.run(DOT, event.id), f"the dot of {event.id}")
        return found

    assert dot(kick)["y"] == dot(shot)["y"] > dot(corner)["y"], "a lane a level, the highest on top"
    second = (dot(shot)["x"] - dot(kick)["x"]) / 2
    assert dot(corner)["x"] - dot(shot)["x"] == pytest.approx(2 * second, abs=0.5)
    assert page.browser.run(DOT, doubtful.id) is None, "it is calm"
    colours = "const of = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();"
    hexes = page.browser.run(colours + "return ['home', 'panel'].map(of)")
    home, panel = ([int(text[at : at + 2], 16) for at in (1, 3, 5)] for text in hexes)
    assert (dot(kick)["ink"], dot(shot)["ink"]) == (home, panel), "confirmed is filled, tentative hollow"
    page.feed.amend(corner, later)
    page.browser.wait(lambda: dot(corner)["x"] - dot(kick)["x"] == pytest.approx(4.5 * second, abs=0.5), "its new time")
    page.feed.publish(shot, -1)
    page.browser.wait(lambda: dot(shot)["ink"] not in (panel, home), "the cross")
    page.press("c")
    dot(doubtful)
    at = dot(later)
    page.click(at["x"], at["y"])
    page.browser.wait(lambda: page.browser.run("return touchline.moment.us") == later.ts_us, "its moment")
    page.browser.wait(lambda: "Corner" in page.text("#reason"), "its reason")
    page.press("h")
    page.browser.wait(lambda: page.browser.run("return document.getElementById('lanes').hidden"), "it to close")
    page.open()
    assert page.browser.run("return document.getElementById('lanes').hidden"), "the browser remembers"


def test_search_and_following_choose_lines_and_a_followed_kind_comes_from_any_family(page: LivePage):
    first, second = attempt(1, 1.0), attempt(2, 1.5, player="home_6")
    hit = demo_event("hit", round(1.7 * US), "ball:3", team="home", player="home_6", x_m=1.0, y_m=1.0)
    page.at(2.0)
    for event in (first, second, hit):
        page.feed.publish(event)
    page.open()
    page.lines(second.id, first.id)
    page.press("/", "dahl")
    page.lines(first.id)
    page.press("\ue003" * 4, "\ue00c")  # Backspace, Escape
    page.lines(second.id, first.id)
    page.press("\ue015", "t")  # down: the newest one
    page.lines(second.id)
    assert "Following 6 Ferro" in page.text("#followed")
    page.press("t")
    page.lines(second.id, first.id)
    page.browser.run("touchline.find.follow('kind', 'hit')")
    page.lines(hit.id)
    page.browser.run("document.querySelector('#followed button').click()")
    page.lines(second.id, first.id)


def test_layers_are_chosen_by_keyboard_and_remembered(page: LivePage):
    page.at(2.0)
    page.open()
    page.press("k")
    page.browser.run("document.querySelector('#layers [name=control]').click()")
    page.browser.run("const k = document.getElementById('layer-kind'); k.value = 'hit'; k.onchange()")
    page.open()
    assert page.browser.run(
        "return [touchline.layers.on.control, touchline.layers.on.hulls, touchline.layers.kind]"
    ) == [
        True,
        False,
        "hit",
    ]
    assert page.browser.run("return touchline.link.kinds().includes('hit')")


def test_a_line_is_drawn_over_players_that_are_chosen(page: LivePage):
    page.at(2.0)
    kick = attempt(1, 1.0)
    page.feed.publish(kick)
    page.open()
    page.lines(kick.id)
    drawn = "return document.getElementById('overlay').toDataURL()"
    click = """
      const canvas = document.getElementById('overlay'), box = canvas.getBoundingClientRect();
      const { px, py } = touchline.draw.at, one = touchline.scene.bodies.get(arguments[0]);
      canvas.dispatchEvent(new MouseEvent('click',
        {shiftKey: true, clientX: box.left + px(one.x), clientY: box.top + py(one.y)}));
    """
    page.browser.wait(lambda: page.browser.run("return touchline.scene.bodies.size") == 22, "the players")
    before = page.browser.run(drawn)
    page.browser.run(click, "home_5")
    page.browser.run(click, "away_5")
    names = page.text("#followed")
    assert "Line over Eriksen" in names
    assert page.browser.run("return [...touchline.find.group]") == ["home_5", "away_5"]
    page.browser.wait(lambda: page.browser.run(drawn) != before, "the line")
    page.press("\ue015")  # down: the newest event, by Dahl
    key = "new KeyboardEvent('keydown', {key: 'T', shiftKey: true, bubbles: true})"
    page.browser.run(f"document.body.dispatchEvent({key})")
    page.browser.wait(lambda: page.browser.run("return touchline.find.group.has('home_4')"), "the third one")
    page.browser.run("[...document.querySelectorAll('#followed button')].at(-1).click()")
    assert page.browser.run("return touchline.find.group.size") == 0


def test_the_path_with_the_ball_begins_anew_with_each_holder(page: LivePage):
    page.open()
    found = page.browser.run(
        """
        const { follow, run } = touchline.pathWithBall, points = [];
        let clock = 0;
        Object.defineProperty(touchline.scene, 'clock', { get: () => clock, configurable: true });
        const at = (us, id, x) => {
          clock = us;
          follow(id && { id, x, y: 0 });
          points.push([run.id, run.points.length]);
        };
        at(0, 'a', 0); at(40e3, 'a', 1); at(40e3, 'a', 1); at(80e3, null); at(120e3, 'a', 2); at(160e3, 'b', 5);
        at(200e3, 'b', 6); at(5e6, 'b', 9); at(1e6, null);
        return points;
        """
    )
    a, b = [["a", n] for n in (1, 2, 2, 2, 3)], [["b", n] for n in (1, 2, 1)]
    assert found == [*a, *b, [None, 0]]


def test_the_models_of_the_layers_are_those_of_the_detectors(page: LivePage):
    page.open()
    rng = random.Random(5)
    p = SpearmanParameters()
    for _ in range(10):
        rows = [[rng.uniform(-50, 50), rng.uniform(-32, 32), rng.uniform(-6, 6), rng.uniform(-6, 6)] for _ in range(12)]
        own, other = (np.array([[*row, p.control_per_s] for row in part]) for part in (rows[:6], rows[6:]))
        ball, target = rows[0][:2], [rng.uniform(-50, 50), rng.uniform(-32, 32)]
        bodies = [BodyState("", "home", "", x, y, 0.0, vx, vy) for x, y, vx, vy in rows]
        expected = [
            control_grid(np.array([target[0]]), np.array([target[1]]), (ball[0], ball[1]), own, other, p)[0, 0],
            pass_success((target[0], target[1]), (ball[0], ball[1]), own[1:], other, p),
            pressure_on(bodies[0], tuple(bodies[6:]), Pitch(), 1.0, PressureParameters()),
        ]
        found = page.browser.run(
            """
            const [rows, [x, y], rate] = arguments;
            const all = rows.map(([x, y, vx, vy]) => ({x, y, vx, vy, rate}));
            const [own, other, ball] = [all.slice(0, 6), all.slice(6), all[0]];
            const M = touchline.models, flight = Math.hypot(x - ball.x, y - ball.y) / M.BALL_M_S;
            return [M.controlAt(x, y, flight, own, other), M.passChance(x, y, ball, own.slice(1), other),
                    M.pressureOn(ball, other, 52.5, 1)];
            """,
            rows, target, p.control_per_s,
        )  # fmt: skip
        assert found == pytest.approx(expected, abs=1e-6), f"rows {rows}, target {target}"


def test_a_match_of_a_pattern_is_an_alert_once_unless_it_is_off_or_old(page: LivePage):
    def found(name: str, number: int, at_s: float, player: str) -> EventRecord:
        return demo_event(f"pattern.{name}", round(at_s * US), f"{number}", team="home", player=player)

    goal = demo_event("goal.scored", US, "ball:1", team="home", player="home_9")
    page.at(1.0)
    for event in (goal, found("alert_goal", 1, 1.0, "home_9"), found("alert_card", 2, 1.0, "home_9")):
        page.feed.publish(event)
    page.at(20.0)
    page.open()
    page.lines(goal.id)
    assert page.text("#alert-line") == ""
    page.press("z")
    boxes = "[...document.querySelectorAll('#alerts .patterns label')]"
    assert page.browser.run(f"return {boxes}.map((one) => one.textContent.trim())") == ["Alert: card", "Alert: goal"]
    page.browser.run(f"{boxes}[0].click()")
    page.press("z")
    page.feed.publish(demo_event("goal.scored", 20 * US, "ball:3", team="home", player="home_7"))
    page.feed.publish(found("alert_card", 3, 20.0, "home_5"))
    page.feed.publish(found("alert_goal", 4, 20.0, "home_6"))
    page.browser.wait(lambda: "Alert: goal, 6 Ferro" in page.text("#alert-line"), "the alert")
    assert page.text("#alerts-toggle") == "Alerts 1"
    page.press("z")
    assert page.browser.run("return document.querySelectorAll('#alerts .found li').length") == 1
    page.open()
    page.press("z")
    assert page.browser.run(f"return {boxes}.map((one) => one.control.checked)") == [False, True], "it is kept"


def test_kits_colour_the_teams_unless_they_look_alike(browser: Browser):
    kits = "return [touchline.colours.home, touchline.colours.away]"
    for home, away, used in (("#e01020", "#102070", True), ("#e01020", "#d01828", False), ("", "#ffffff", False)):
        sheet = msgspec.structs.replace(demo_sheet(), home_colour=home, away_colour=away)
        with WebServer(page_routes(LiveState(ScriptedFeed(sheet)))) as server:
            browser.driver.get(server.url)
            browser.wait(
                lambda: browser.run("return window.touchline && touchline.words && touchline.words.sheet"), "it"
            )
            assert (browser.run(kits) == [home, away]) is used


def test_the_head_has_minute_added_time_and_the_race(page: LivePage):
    page.at(130.0)
    minute = demo_event("clock.minute", 120 * US, "clock:1", detail={"minute": 45, "shown": "45+1", "period": 1})
    added = demo_event("official.added_time", 100 * US, "official:1", detail={"minutes": 4})
    shot = demo_event("shot.xg", 70 * US, "ball:1", team="away", player="away_9", detail={"xg": 0.31})
    has = demo_event("team.possession", 129 * US, "ball:9", team="away", variant="away")
    for event in (minute, added, shot, has):
        page.feed.publish(event)
    page.open()
    holds = "return [...document.querySelectorAll('.team.holds')].map((one) => one.id)"
    page.browser.wait(lambda: page.browser.run(holds) == ["away-name"], "the line under the team with the ball")
    page.browser.wait(lambda: page.text("#minute") == "45+1′ (+4)", "the minute")
    label = "return document.getElementById('race').getAttribute('aria-label')"
    expected = "Expected goals Harbour United 0.00, Northgate Rovers 0.31; momentum Northgate Rovers"
    page.browser.wait(lambda: page.browser.run(label) == expected, "the race")


def test_figures_of_all_units_are_scrolled_through_and_stay_where_they_are(page: LivePage):
    def report(units: int) -> None:
        slack_us = {f"unit {number}": 1_000 * number for number in range(units)}
        counts = dict.fromkeys(("buffered", "held", "late", "retractions", "lost", "duplicates", "quarantined"), 0)
        page.feed.report(Health(US, 0, slack_us, alpha={}, positions=units, **counts), {})

    report(40)
    page.open()
    page.browser.run("document.getElementById('strip-toggle').click()")
    rows = "document.querySelectorAll('#strip .scroll tbody tr').length"
    page.browser.wait(lambda: page.browser.run(f"return {rows}") == 40, "the units")
    page.browser.run("document.querySelector('#strip .scroll').scrollTop = 100")
    report(41)
    page.browser.wait(lambda: page.browser.run(f"return {rows}") == 41, "the next figures")
    assert page.browser.run("return document.querySelector('#strip .scroll').scrollTop") == 100
    assert not violations(page.browser)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), pytest.param(820, 1180, marks=pytest.mark.slow)])
def test_the_page_meets_wcag(page: LivePage, width: int, height: int):
    page.browser.resize(width, height)
    choreography = Choreography(page.feed)
    for now_us in range(0, 30 * US, 40_000):
        choreography.play(now_us)
    page.open()
    page.browser.wait(lambda: len(page.browser.run(LINES)) > 5, "the list")
    page.press("z")
    page.browser.run("document.getElementById('strip-toggle').click()")
    page.browser.run("document.querySelector('#events li:not([hidden])').click()")
    found = violations(page.browser)
    page.browser.resize(1280, 720)
    assert not found, "\n".join(f"{theme}: {one}" for theme, broken in found.items() for one in broken)
