"""The rooms over a match of a run: they follow its commits, link to each other, and are read as its page is."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console
from starlette.requests import Request

from app.api.analyst import AnalystRoom
from app.api.served import ServedMatch
from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.recorded.feed import StoredFeed
from app.rooms.tiles import TileRoutes
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from dashboard.roles import Role
from dashboard.rooms import ROOMS
from football.update_stream import UpdateMessage, UpdateRecord
from replay.match_store import MatchStore
from tests.app.recorded.derby import GOAL, SHEET, S, commit_window, empty_store
from tests.app.tables.small_match import event
from tests.dashboard.accessibility import violations
from tests.dashboard.chromium import Browser, browser_or_skip


@contextmanager
def running(folder: Path, **given: object) -> Iterator[tuple[str, MatchStore]]:
    """Address of the live page of a run, without a slash at its end, and the store of its match."""
    store = empty_store(folder / "store")
    settings = make_settings({"store": folder / "store", "port": 0, "metrics_port": 0, **given})
    with (
        Monitoring(folder) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), CameraGroup()) as servers,
    ):
        feed = MatchFeed(SHEET)
        page = servers.open_page(feed)
        servers.serve(SHEET.match_id, ServedMatch(feed, folder / "store", page=page))
        yield page.rstrip("/"), store


def get(url: str, path: str) -> Any:
    answer = httpx.get(f"{url}/api/v1/matches/derby{path}", timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()


def frames_of(url: str, chunk: int) -> int:
    content = httpx.get(f"{url}/api/v1/matches/derby/replay/chunk?number={chunk}").content
    size = struct.unpack("<I", content[:4])[0]
    return int(json.loads(content[4 : 4 + size])["frames"])


def test_every_room_is_served_and_the_live_page_links_to_it(tmp_path: Path):
    with running(tmp_path) as (url, _):
        layout = json.dumps(httpx.get(f"{url}/_dash-layout").json())
        for room in ROOMS:
            assert httpx.get(url + room.path).status_code == 200
            assert f'"{room.path}{"" if room.of_all else "?match=derby"}"' in layout
        assert httpx.get(f"{url}/api/v1/tiles").json()[0]["ended"] is False
        assert httpx.get(f"{url}/api/v1/matches").json()[0]["page"] == f"{url}/"
        assert httpx.get(f"{url}/openapi.json", follow_redirects=True).status_code == 200


def test_what_was_empty_before_a_commit_is_there_after_it(tmp_path: Path):
    def state() -> list[Any]:
        span = get(url, "/replay")
        events = get(url, "/replay/timeline?families=passes,shots")["events"]
        return [span["windows"], span["end_us"], span["ended"], frames_of(url, 1), frames_of(url, 4), len(events)]

    with running(tmp_path) as (url, store):
        assert state() == [0, 0, False, 0, 0, 0]
        commit_window(store, 0)
        assert state() == [1, 30 * S - 40_000, False, 275, 0, 3]
        commit_window(store, 1)
        assert state() == [2, 60 * S - 40_000, True, 275, 275, 4]


def test_the_tile_of_a_running_match_has_what_its_feed_has_beyond_the_store(tmp_path: Path):
    store = empty_store(tmp_path / "derby")
    commit_window(store, 0)
    feed, doubts = MatchFeed(SHEET), ["feed north: silent"]
    matches = {"derby": ServedMatch(feed, tmp_path / "derby", lambda: doubts, page="http://127.0.0.1:8050/")}
    tiles = TileRoutes(matches, {})

    def tile() -> Any:
        (found,) = json.loads(tiles.answer(Request({"type": "http"})).body)
        return [found["home_goals"], found["minute"], found["ended"], found["page"], found["doubts"]]

    assert tile() == [0, "", False, "http://127.0.0.1:8050/", doubts]
    minute = event("clock.minute", 40, "clock:1", shown="1")
    newer = [UpdateRecord(at, 1, one.ts_us, one) for at, one in enumerate((GOAL, minute))]
    feed.apply(UpdateMessage("derby", 0, 50 * S, 30 * S, tuple(newer)), 0)
    assert tile()[:2] == [1, "1"]
    feed.apply(UpdateMessage("derby", 0, 51 * S, 30 * S, (UpdateRecord(2, -1, 51 * S, GOAL),), ended=True), 0)
    assert tile() == [0, "1", True, "http://127.0.0.1:8050/", []]


def test_the_room_of_a_running_match_reads_it_anew_for_a_share_of_its_time_and_at_its_end_at_once(tmp_path: Path):
    now_s = [100.0]

    def clock_s() -> float:
        now_s[0] += 1  # each look at the clock is a second later, so reading takes a second
        return now_s[0]

    store = empty_store(tmp_path / "derby")
    room = AnalystRoom({"derby": ServedMatch(StoredFeed(tmp_path / "derby", "derby"), tmp_path / "derby")}, clock_s)

    def key() -> str:
        with room.opened("derby") as match:
            return match.key

    empty = key()
    commit_window(store, 0)
    assert key() == empty
    now_s[0] += 20
    first = key()
    assert first != empty
    assert not room.has_ended("derby")
    commit_window(store, 1)
    now_s[0] += 20
    assert key() != first
    assert room.has_ended("derby")


def test_beyond_loopback_the_rooms_need_a_reader_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    token = TokenStore().create("anna", Role.VIEWER, 1)
    with running(tmp_path, host="0.0.0.0", token="token-of-the-run") as (url, _):
        for path in (*(room.path for room in ROOMS), "/api/v1/accuracy", "/api/v1/tiles", "/report?match=derby"):
            assert httpx.get(url + path).status_code == 401
            answer = httpx.get(url + path, headers={"Authorization": f"Bearer {token}"}, timeout=30)
            assert answer.status_code in (200, 404), path  # the report of an empty match


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile"), 1280, 720) as window:
        yield window


#: Makes the longer pauses of a page, between two questions to the server, ten times shorter.
IMPATIENT = """
const later = window.setTimeout;
window.setTimeout = (work, ms, ...more) => later(work, ms >= 2000 ? ms / 10 : ms, ...more);
"""


@pytest.fixture
def impatient(browser: Browser) -> Iterator[Browser]:
    """The window, whose pages ask the server ten times as often."""
    given = {"source": IMPATIENT}
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", given)
    yield browser
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


@pytest.mark.browser
def test_the_wall_leads_to_the_live_page_and_follows_the_match(impatient: Browser, tmp_path: Path):
    browser = impatient

    def text(selector: str) -> str:
        return str(browser.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    with running(tmp_path) as (url, store):
        commit_window(store, 0)
        browser.driver.get(f"{url}/matches")
        browser.wait(lambda: text(".tile .condition").endswith("Live"), "the light")
        assert browser.run("return document.querySelector('.tile .lead').href") == f"{url}/"
        assert text(".tile .side b") == "0"
        commit_window(store, 1)
        browser.wait(lambda: text(".tile .side b") == "1", "the goal")
        assert violations(browser) == {}
        assert browser.errors() == []
        browser.driver.get("about:blank")


@pytest.mark.browser
def test_the_replay_room_waits_for_the_first_window_and_fills_chunks_that_were_empty(
    impatient: Browser, tmp_path: Path
):
    browser = impatient
    ball = "const all = replay.positions?.at(replay.player.us); return all && all[0]?.x"
    with running(tmp_path) as (url, store):
        browser.driver.get(f"{url}/replay?match=derby")
        browser.wait(lambda: "is stored yet" in browser.run("return document.body.innerText"), "the note")
        commit_window(store, 0)
        browser.wait(lambda: browser.run(ball) == -30, "the begin")
        browser.run("return replay.positions.fetch(3).then((chunk) => chunk.frames)")
        browser.run("replay.player.seek(1e9)")
        browser.wait(lambda: "More follows" in browser.run("return document.getElementById('banner').innerText"), "it")
        browser.run("replay.player.play(true)")
        commit_window(store, 1)
        browser.wait(lambda: browser.run("return replay.player.us > 31e6") and browser.run(ball), "the second window")
        assert browser.run("return [replay.player.isPlaying, replay.player.grows]") == [True, False]
        browser.driver.get("about:blank")


@pytest.mark.browser
def test_no_page_is_wider_than_a_phone(browser: Browser, tmp_path: Path):
    width = "return document.documentElement.scrollWidth"
    with running(tmp_path) as (url, store):
        commit_window(store, 0)
        browser.resize(390, 844)
        for path in ("/", "/matches", "/replay?match=derby", "/analyst?match=derby"):
            browser.driver.get(url + path)
            shown = "return document.querySelector('.rooms, #bar nav a') && document.fonts.status == 'loaded'"
            browser.wait(lambda shown=shown: browser.run(shown), path)
            assert browser.run(width) == 390, path
            if path == "/":
                below = "return document.querySelector('.rooms').getBoundingClientRect().bottom"
                top = "return document.querySelector('.scoreline').getBoundingClientRect().top"
                assert browser.run(below) <= browser.run(top)
        browser.resize(1280, 720)
        browser.driver.get("about:blank")
