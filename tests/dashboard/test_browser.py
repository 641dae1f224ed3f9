"""The page in a real browser, over a scripted feed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dashboard.demo import Choreography, ScriptedFeed, demo_event, demo_sheet, view_at
from dashboard.feed import InputState
from dashboard.live import LiveState
from dashboard.routes import page_routes
from dashboard.server import WebServer
from football.match_sheet import MatchSheet, Player
from football.update_stream import BallView, BodyView, View
from tests.dashboard.chromium import Browser, browser_or_skip

pytestmark = pytest.mark.browser

PASS = demo_event("pass.attempt", 1_000_000, "ball:1", team="home", player="home_4", x_m=0.0, y_m=0.0)
GOAL = demo_event("goal.scored", 1_500_000, "ball:2", team="away", player="away_9", x_m=-52.5, y_m=0.0)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.fixture
def feed() -> ScriptedFeed:
    return ScriptedFeed(demo_sheet())


@pytest.fixture
def server(feed: ScriptedFeed) -> Iterator[WebServer]:
    with WebServer(page_routes(LiveState(feed))) as running:
        yield running


class Playing:
    """Calls a player of positions 50 times a second of wall time while the context lasts."""

    def __init__(self, play: Callable[[int], None]) -> None:
        self._play = play
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stop.wait(0.02):
            self._play(int((time.monotonic() - began) * 1e6))


def status(browser: Browser) -> str:
    return str(browser.run("return document.body.dataset.status || ''"))


def banner(browser: Browser) -> str:
    return str(browser.run("const b = document.getElementById('banner'); return b.hidden ? '' : b.innerText"))


def look_of(browser: Browser, event_id: str) -> dict[str, str] | None:
    """State and looks of an event's line, None while it is not there."""
    found: dict[str, str] | None = browser.run(
        """
        const line = [...document.querySelectorAll('#events li')].find(li => li.dataset.id === arguments[0]);
        if (!line) return null;
        const style = selector => getComputedStyle(line.querySelector(selector));
        return {
          words: line.querySelector('.state').textContent,
          struck: style('.title').textDecorationLine,
          slant: style('.title').fontStyle,
          fill: style('.dot').backgroundColor,
          border: style('.dot').borderStyle,
        };
        """,
        event_id,
    )
    return found


def wait_for_state(browser: Browser, event_id: str, words: str) -> dict[str, str]:
    def arrived() -> dict[str, str] | None:
        look = look_of(browser, event_id)
        return look if look and look["words"] == words else None

    found: dict[str, str] = browser.wait(arrived, f"{event_id} to be {words}")
    return found


def opened(browser: Browser, server: WebServer) -> None:
    browser.driver.get("about:blank")  # the page of the test before complains that its server is gone
    browser.errors()
    browser.foreign_hosts(server.url)
    browser.driver.get(server.url)
    browser.wait(lambda: status(browser), "the page to say how it is")


def nothing_went_wrong(browser: Browser, server: WebServer) -> None:
    assert browser.errors() == []
    assert browser.foreign_hosts(server.url) == set()


def test_players_and_ball_move_and_nothing_comes_from_elsewhere(
    browser: Browser, feed: ScriptedFeed, server: WebServer
):
    places = "return [...touchline.scene.bodies].map(([id, b]) => [id, b.x, b.y])"
    picture = "return document.getElementById('overlay').toDataURL()"
    with Playing(Choreography(feed).play):
        opened(browser, server)
        browser.wait(lambda: status(browser) == "live", "the page to be live")
        before, picture_before = browser.run(places), browser.run(picture)
        time.sleep(0.5)
        after, picture_after = browser.run(places), browser.run(picture)
    assert len(before) == 22
    moved = [a[0] for a, b in zip(before, after, strict=True) if a != b]
    assert len(moved) == 22
    assert picture_before != picture_after
    nothing_went_wrong(browser, server)


def test_a_disc_is_painted_where_the_player_stands(browser: Browser, feed: ScriptedFeed, server: WebServer):
    # One player on the right penalty mark, so that the painted place can be compared with the drawn marking.
    feed.advance(1, 0, View(1, None, (BodyView("home_2", "home", 1, 41.5, 0.0, 0.0, 0.0),)))
    opened(browser, server)
    browser.wait(lambda: browser.run("return touchline.scene.bodies.size") == 1, "the player")
    time.sleep(0.2)
    painted = browser.run(
        """
        const canvas = document.getElementById('overlay');
        const {data, width} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let n = 0, sx = 0, sy = 0;
        for (let i = 3; i < data.length; i += 4) {
          if (data[i] > 200) { n += 1; sx += (i >> 2) % width; sy += Math.floor((i >> 2) / width); }
        }
        const box = canvas.getBoundingClientRect();
        return {n: n, x: box.left + sx / n, y: box.top + sy / n};
        """
    )
    mark = browser.run(
        """
        // Of the drawn spots, the one on the right: the bright pixels around it, off the lines.
        const canvas = document.getElementById('pitch');
        const {data, width, height} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const grass = 4 * (Math.round(height * 0.56) * width + Math.round(width * 0.865));
        let n = 0, sx = 0, sy = 0;
        for (let y = Math.round(height * 0.47); y < height * 0.53; y += 1)
          for (let x = Math.round(width * 0.85); x < width * 0.88; x += 1) {
            const at = 4 * (y * width + x);
            if (Math.abs(data[at] - data[grass]) > 40) { n += 1; sx += x; sy += y; }
          }
        const box = canvas.getBoundingClientRect();
        return {n: n, x: box.left + sx / n * box.width / width, y: box.top + sy / n * box.height / height};
        """
    )
    assert 4 < mark["n"] < 100
    assert painted["n"] > 100
    assert painted["x"] == pytest.approx(mark["x"], abs=1.5)
    assert painted["y"] == pytest.approx(mark["y"], abs=1.5)


def test_the_text_of_a_sheet_and_of_events_is_shown_and_never_run(browser: Browser):
    bad = "</title><script>window.hostile = 1</script><img src=x onerror='window.hostile = 1'>"
    feed = ScriptedFeed(MatchSheet(bad, bad, bad, players=(Player("home_4", "home", bad),)))
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(
        demo_event(PASS.kind, 1_000_000, "ball:1", team="home", player="home_4", variant=bad, x_m=0.0, y_m=0.0)
    )
    links = [(bad, "http://127.0.0.1:2/"), (bad + "2", "http://127.0.0.1:1/")]
    with WebServer(page_routes(LiveState(feed), lambda: links)) as server:
        opened(browser, server)
        browser.wait(lambda: browser.run("return document.querySelectorAll('#events li').length") == 1, "the event")
        assert browser.run("return window.hostile === undefined")
        assert browser.run("return document.getElementById('home-name').textContent") == bad
        assert bad in browser.driver.title
        assert browser.run("return document.querySelectorAll('img').length") == 0
        nothing_went_wrong(browser, server)


def test_a_tentative_event_is_confirmed_by_the_frontier_and_another_withdrawn(
    browser: Browser, feed: ScriptedFeed, server: WebServer
):
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(PASS)
    feed.publish(GOAL)
    opened(browser, server)
    tentative = wait_for_state(browser, PASS.id, "tentative")
    assert browser.run("return document.getElementById('away-goals').textContent") == "1"
    assert browser.run("return document.getElementById('away-provisional').textContent") == "1 tentative"

    feed.publish(GOAL, -1)
    feed.advance(2_200_000, 1_200_000, view_at(2_200_000))
    confirmed = wait_for_state(browser, PASS.id, "confirmed")
    withdrawn = wait_for_state(browser, GOAL.id, "withdrawn")
    browser.wait(
        lambda: browser.run("return document.getElementById('away-goals').textContent") == "0", "the score to fall"
    )
    assert browser.run("return document.getElementById('away-provisional').textContent") == ""

    # Told apart without colour: by word, by a hollow or full dot, by the line through the text.
    assert (tentative["border"], tentative["fill"], tentative["struck"]) == ("solid", "rgba(0, 0, 0, 0)", "none")
    assert confirmed["fill"] != "rgba(0, 0, 0, 0)"
    assert confirmed["slant"] != tentative["slant"]
    assert confirmed["struck"] == "none"
    assert (withdrawn["struck"], withdrawn["border"]) == ("line-through", "none")
    nothing_went_wrong(browser, server)


def test_an_amended_event_keeps_its_line_and_says_so(browser: Browser, feed: ScriptedFeed, server: WebServer):
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(PASS)
    opened(browser, server)
    wait_for_state(browser, PASS.id, "tentative")
    feed.amend(PASS, demo_event("pass.attempt", 1_000_000, "ball:1", team="home", player="home_5", x_m=0.0, y_m=0.0))
    wait_for_state(browser, PASS.id, "tentativeamended")
    lines = browser.run("return [...document.querySelectorAll('#events li .who')].map(e => e.textContent)")
    assert lines == ["5 Eriksen"]


def test_a_line_names_giver_and_receiver_and_its_title_says_all(
    browser: Browser, feed: ScriptedFeed, server: WebServer
):
    feed.advance(2_000_000, 0, view_at(2_000_000))
    complete = demo_event(
        "pass.complete", 1_900_000, "ball:1", team="home", player="home_4", detail={"receiver": "home_5"}
    )
    feed.publish(complete, at_us=2_000_000)
    opened(browser, server)
    wait_for_state(browser, complete.id, "tentative")
    assert browser.run("return document.querySelector('#events .who').textContent") == "Dahl → Eriksen"
    title = browser.run("return document.querySelector('#events li').title")
    assert title == "tentative · pass.complete · 4 Dahl → 5 Eriksen · known 100 ms after it happened"


def test_dense_kinds_are_hidden_until_their_filter_is_switched(browser: Browser, feed: ScriptedFeed, server: WebServer):
    hit = demo_event("hit", 900_000, "ball:1", team="home", player="home_4")
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(PASS)
    feed.publish(hit)
    opened(browser, server)
    wait_for_state(browser, PASS.id, "tentative")
    assert look_of(browser, hit.id) is None
    toggle = "document.querySelectorAll('#families input')[arguments[0]].click()"
    browser.run(toggle, 4)
    wait_for_state(browser, hit.id, "tentative")
    browser.run(toggle, 1)
    browser.wait(lambda: look_of(browser, PASS.id) is None, "passes to go")
    # A state can be hidden, too.
    browser.run("document.querySelectorAll('#states input')[0].click()")
    browser.wait(
        lambda: browser.run("return document.querySelector('#events li').offsetParent === null"),
        "tentative events to go",
    )


def test_the_page_says_that_there_is_no_data_then_live_then_stale(
    browser: Browser, feed: ScriptedFeed, server: WebServer
):
    opened(browser, server)
    browser.wait(lambda: status(browser) == "waiting", "the page to wait")
    assert "No data yet" in banner(browser)
    with Playing(Choreography(feed).play):
        browser.wait(lambda: status(browser) == "live", "the page to be live")
        browser.wait(lambda: banner(browser) == "", "the banner to go")
    browser.wait(lambda: status(browser) == "stale", "the page to be stale")
    assert "No new positions" in banner(browser)


def test_the_end_shows_the_final_score_and_totals(browser: Browser, feed: ScriptedFeed, server: WebServer):
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(PASS)
    feed.publish(GOAL)
    feed.end()
    opened(browser, server)
    browser.wait(lambda: "Stream ended" in banner(browser), "the final card")
    text = banner(browser)
    assert "Harbour United 0 – 1 Northgate Rovers" in text
    assert "Goals never confirmed: 1" in text
    assert look_of(browser, PASS.id) == wait_for_state(browser, PASS.id, "confirmed")
    browser.run("document.querySelector('#banner .close').click()")
    time.sleep(1.2)
    assert banner(browser) == "", "a card that was closed stays closed"


def test_a_lost_connection_is_told_and_taken_up_again(browser: Browser, feed: ScriptedFeed):
    feed.advance(2_000_000, 0, view_at(2_000_000))
    feed.publish(PASS)
    first = WebServer(page_routes(LiveState(feed)))
    port = int(first.url.rsplit(":", 1)[1].strip("/"))
    opened(browser, first)
    wait_for_state(browser, PASS.id, "tentative")
    first.stop()
    browser.wait(lambda: status(browser) == "lost", "the page to notice")
    assert "lost" in banner(browser)
    feed.publish(GOAL)
    with WebServer(page_routes(LiveState(feed)), port=port):
        wait_for_state(browser, GOAL.id, "tentative")
        assert browser.run("return document.querySelectorAll('#events li').length") == 2, "nothing is shown twice"
    browser.errors()  # the refused connections in between are in the console, rightly


@pytest.mark.parametrize(
    ("width", "height"),
    [
        (1280, 720),
        *(pytest.param(*size, marks=pytest.mark.slow) for size in ((1440, 900), (1366, 768), (1920, 1080))),
        (3840, 2160),
    ],
)
def test_no_text_overlaps_or_is_cut_off_at_the_usual_sizes(
    browser: Browser, feed: ScriptedFeed, server: WebServer, width: int, height: int
):
    browser.resize(width, height)
    choreography = Choreography(feed)
    for now_us in range(0, 42_000_000, 40_000):
        choreography.play(now_us)
    feed.publish(demo_event("clock.minute", 41_000_000, "clock:1", detail={"shown": "45+11"}))
    feed.publish(demo_event("official.added_time", 40_000_000, "official:1", detail={"minutes": 12}))
    problem = "the broker has acknowledged nothing for 12 s: 4711 records wait"
    feed.set_input(InputState(1234.5, 123_456, 0.98, 3, (problem,)))
    opened(browser, server)
    if browser.run("return document.getElementById('strip').hidden"):
        browser.run("document.getElementById('strip-toggle').click()")
    browser.wait(lambda: browser.run("return document.querySelectorAll('#strip td').length") > 20, "the strip")
    browser.wait(lambda: browser.run("return document.getElementById('minute').textContent") == "45+11′ (+12)", "it")
    assert browser.run("return document.getElementById('away-provisional').textContent") == "1 tentative"
    overlaps = browser.run(
        """
        const shown = document.getElementById('events').getBoundingClientRect().bottom;  // the list scrolls
        const texts = [...document.querySelectorAll(
            '.bar span, .bar small, .brand, .events-head *, .filters label, #events li > *, .legend span, #strip th,'
            + '#strip td')]
          .filter(e => e.offsetParent && e.textContent.trim() && !e.querySelector('span, small, i'))
          .filter(e => !e.closest('#events') || e.getBoundingClientRect().bottom <= shown)
          .map(e => [e.textContent, e.getBoundingClientRect()])
          .filter(([, r]) => r.bottom < innerHeight);
        const hits = [];
        texts.forEach(([a, r], i) => texts.slice(i + 1).forEach(([b, s]) => {
          const wide = Math.min(r.right, s.right) - Math.max(r.left, s.left);
          const high = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
          if (wide > 1 && high > 2) hits.push(a + ' / ' + b);
        }));
        return hits;
        """
    )
    assert overlaps == []
    outside = browser.run(
        """
        return [...document.querySelectorAll('.bar *, #strip td, #watermark, .legend span, .pitch-box')]
          .filter(e => e.offsetParent)
          .map(e => [e.className || e.textContent, e.getBoundingClientRect()])
          .filter(([, r]) => r.left < 0 || r.top < 0 || r.right > innerWidth + 0.5 || r.bottom > innerHeight + 0.5)
          .map(([name]) => name);
        """
    )
    assert outside == []
    cut = "return ['home-name', 'away-name'].filter((id) => { const e = document.getElementById(id);"
    assert browser.run(cut + " return e.scrollWidth > e.clientWidth + 1; })") == []
    browser.resize(1440, 900)


def test_a_real_match_is_shown_with_its_names(browser: Browser, shared_data: Path):
    pandas = pytest.importorskip("pandas")
    folder = shared_data / "portugal_switzerland_2019"
    meta = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    sides = {"home": "home", "away": "away"}
    players = tuple(Player(p["object_id"], sides[p["object_id"].split("_")[0]], p["name"]) for p in meta["players"])
    feed = ScriptedFeed(MatchSheet("real", meta["teams"]["home"], meta["teams"]["away"], players=players))
    frames = pandas.read_parquet(folder / "first_20_minutes.parquet", filters=[("t_ms", "<=", 8000)])
    views = [_view(int(t_ms) * 1000, frame) for t_ms, frame in frames.groupby("t_ms")]
    with (
        WebServer(page_routes(LiveState(feed))) as server,
        Playing(lambda us: feed.advance(us, 0, views[us // 40_000 % len(views)])),
    ):
        opened(browser, server)
        browser.wait(lambda: status(browser) == "live", "the page to be live")
        assert browser.run("return touchline.scene.bodies.size") == 22
        browser.run(
            """
            const body = touchline.scene.bodies.get('home_7');
            const box = document.getElementById('overlay').getBoundingClientRect();
            const half = [56.5, 38.0], scale = box.width / (2 * half[0]);
            document.getElementById('overlay').dispatchEvent(new MouseEvent('mousemove', {
              clientX: box.left + (body.x + half[0]) * scale, clientY: box.top + (half[1] - body.y) * scale}));
            """
        )
        tip = browser.run("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")
        nothing_went_wrong(browser, server)
    assert tip == "7 Cristiano Ronaldo · Portugal"


def _view(ts_us: int, frame) -> View:
    ball, bodies = None, []
    for row in frame.itertuples():
        if row.object_id == "ball":
            ball = BallView(ts_us, row.x, row.y, row.z, 0.0, 0.0, 0.0)
        else:
            bodies.append(BodyView(row.object_id, row.team, ts_us, row.x, row.y, 0.0, 0.0))
    return View(ts_us, ball, tuple(bodies))
