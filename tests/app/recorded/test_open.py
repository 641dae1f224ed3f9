"""Finished matches behind one server: which address has what, and who may read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.recorded.feed import StoredFeed
from app.recorded.matches import OpenError, RecordedMatches
from dashboard.rooms import ROOMS
from dashboard.server import WebServer
from tests.app.recorded.conftest import TOKEN, serving
from tests.app.recorded.derby import FRAME_US, S, commit_window, derby_store, empty_store
from tests.app.tables.small_match import small_store
from tests.dashboard.chromium import Browser
from tests.live_stream import live_state


def test_matches_are_named_by_their_folders(season: Path):
    assert list(RecordedMatches([season])) == ["one", "two"]
    assert list(RecordedMatches([season / "two"])) == ["two"]


def test_a_folder_without_a_match_is_refused_in_words(tmp_path: Path):
    with pytest.raises(OpenError, match="neither a match store"):
        RecordedMatches([tmp_path])
    with pytest.raises(OpenError, match="no such file"):
        RecordedMatches([tmp_path / "no"])


def test_matches_that_are_all_damaged_are_refused_by_their_reasons(tmp_path: Path):
    (small_store(tmp_path / "one") / "sheet.json").write_text("{")
    with pytest.raises(OpenError, match=r"sheet.json: damaged"):
        RecordedMatches([tmp_path])


def test_every_room_is_served_with_a_policy_and_all_that_its_document_names(url: str):
    for room in ROOMS:
        page = httpx.get(url + room.path)
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
        for named in page.text.split('"')[1::2]:
            if named.startswith("/"):
                assert httpx.get(url + named).status_code == 200, named


def test_several_matches_begin_with_their_list(url: str):
    answer = httpx.get(f"{url}/")
    assert (answer.status_code, answer.headers["location"]) == (307, "/matches")
    rows = httpx.get(f"{url}/api/v1/matches").json()
    assert [(row["match"], row["home"], row["ended"]) for row in rows] == [("one", "Reds", True), ("two", "Reds", True)]


def test_the_api_answers_for_a_stored_match(url: str):
    def get(path: str) -> Any:
        return httpx.get(f"{url}/api/v1/matches/one{path}").json()

    assert get("")["match_id"] == "one"
    assert get("/health") == {"status": "ended", "reasons": []}
    assert get("/frontier")["ended"] is True
    assert [one["event"]["kind"] for one in get("/events?kind=goal")["events"]] == ["goal.scored", "goal.own"]
    updates = get("/updates?kind=goal.scored")
    assert (len(updates["updates"]), updates["ended"], updates["continues_from"]) == (1, True, 0)
    assert get("/updates?since=1000000")["updates"] == []
    assert httpx.get(f"{url}/api/v1/matches/three").status_code == 404


def test_the_document_of_the_api_stands_at_the_root(url: str):
    document = httpx.get(f"{url}/openapi.json", follow_redirects=True).json()
    assert "/matches/{match}/events" in document["paths"]


def test_one_match_begins_with_its_live_page_as_it_stood_at_the_end(tmp_path: Path):
    with serving(small_store(tmp_path / "one")) as server:
        assert "touchline" in httpx.get(f"{server.url}/").text.lower()
        state = _ended_state(server)
        assert state["score"]["home"] == 2
        assert {row["state"] for row in state["rows"]} == {"confirmed"}
        layout = json.dumps(httpx.get(f"{server.url}/_dash-layout").json())
        assert '"/replay?match=one"' in layout
        assert '"/analyst?match=one"' in layout


def test_an_ended_match_has_its_last_positions_though_its_watermark_lies_beyond_all_time(tmp_path: Path):
    store = empty_store(tmp_path / "derby")
    commit_window(store, 0)
    commit_window(store, 1, frontier_us=2**62 - 1)
    view = StoredFeed(tmp_path / "derby", "derby").latest_view()
    assert view is not None
    assert view.ts_us == 60 * S - FRAME_US
    assert len(view.players) == 4


def _ended_state(server: WebServer) -> dict[str, Any]:
    """The state of the live page once the thread that fills it has ended."""
    for _ in range(200):
        state = live_state(server.url)
        if state["ended"]:
            return state
    raise AssertionError("the live page does not reach the end of the match")


def test_with_a_token_nothing_is_read_without_it(season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with serving(season, token=TOKEN) as server:
        for path in ("/", "/matches", "/replay", "/pages/shared/shell.js", "/api/v1/matches"):
            assert httpx.get(server.url + path).status_code == 401
            header = {"Authorization": f"Bearer {TOKEN}"}
            assert httpx.get(server.url + path, headers=header).status_code in (200, 307)


def test_tiles_have_score_length_and_coverage_and_say_what_is_damaged(tmp_path: Path):
    derby_store(tmp_path / "derby")
    (small_store(tmp_path / "broken") / "sheet.json").write_text("{")
    with serving(tmp_path) as server:
        broken, derby = httpx.get(f"{server.url}/api/v1/tiles", timeout=30).json()
        assert [row["match"] for row in httpx.get(f"{server.url}/api/v1/matches").json()] == ["derby"]
    assert "sheet.json: damaged" in broken["problem"]
    assert (derby["home"], derby["home_goals"], derby["away_goals"], derby["ended"]) == ("Harbour", 1, 0, True)
    assert (derby["recorded"], derby["length_us"]) == ("2026-05-16", 60 * S - FRAME_US)
    assert derby["covered_us"] == 60 * S - 2 * FRAME_US
    assert (derby["page"], derby["doubts"]) == ("/", [])


@pytest.mark.browser
def test_the_list_leads_into_each_match(browser: Browser, url: str):
    browser.driver.get(f"{url}/matches")
    browser.wait(lambda: browser.run("return document.querySelectorAll('.tile').length") == 2, "two tiles")
    browser.run("document.querySelectorAll('.tile .lead')[1].click()")
    # The room adds its own moment to the address once it has found the match.
    named = "return location.pathname + ' ' + new URLSearchParams(location.search).get('match')"
    browser.wait(lambda: browser.run(named) == "/replay two", "the second match")
    browser.wait(lambda: browser.run("return document.getElementById('match')?.value") == "two", "its name in the bar")
    assert browser.errors() == []


@pytest.mark.browser
@pytest.mark.parametrize("room", ["replay", "analyst"])
def test_a_match_that_is_not_there_is_said(browser: Browser, url: str, room: str):
    browser.driver.get(f"{url}/{room}?match=three")
    browser.wait(lambda: "no match three" in browser.run("return document.body.innerText"), "the note")


@pytest.mark.browser
def test_keys_show_the_keys_and_change_the_theme(browser: Browser, url: str):
    from selenium.webdriver import ActionChains, Keys

    browser.driver.get(f"{url}/matches")
    browser.wait(lambda: browser.run("return document.querySelectorAll('.tile').length") == 2, "two tiles")
    before = browser.run("return document.documentElement.dataset.theme")
    ActionChains(browser.driver).send_keys("d").perform()
    assert browser.run("return document.documentElement.dataset.theme") != before
    ActionChains(browser.driver).send_keys("?").perform()
    assert "dark or light" in browser.run("return document.getElementById('keys').innerText")
    ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
    browser.wait(lambda: browser.run("return document.getElementById('keys') === null"), "the keys to be closed")
