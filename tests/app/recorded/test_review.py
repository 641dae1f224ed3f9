"""The review of a close call by the API and in the room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from app.review.review import review
from dashboard.server import WebServer
from replay.comparisons import Comparison, Disagreement, KindFigures, keep_comparison
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import PASS, derby_store
from tests.app.recorded.test_replay_page import opened, press, text_of
from tests.dashboard.chromium import Browser


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("review") / "derby")


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[WebServer]:
    with serving(store) as running:
        yield running


def get(server: WebServer, path: str, **values: str) -> httpx.Response:
    return httpx.get(f"{server.url}/api/v1/matches/derby/{path}", params={"event": PASS.id, **values}, timeout=60)


def test_the_api_gives_the_figures_the_drawing_and_the_sheet(server: WebServer, store: Path):
    answer = get(server, "review").raise_for_status().json()
    assert answer["review"] == msgspec.json.decode(msgspec.json.encode(review(store, PASS.id)))
    assert dict(answer["rows"])["In question"] == "1 Ada Keeper, Harbour"
    drawn = get(server, "review.svg").raise_for_status()
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.startswith("<svg")
    assert get(server, "review.pdf").raise_for_status().content.startswith(b"%PDF")


def test_what_cannot_be_reviewed_is_refused(server: WebServer):
    assert get(server, "review", event="pass.attempt#none").status_code == 404
    assert get(server, "review", question="handball").status_code == 422
    refused = get(server, "review", player="home_99")
    assert (refused.status_code, refused.json()["detail"]) == (400, "no player home_99 on the match sheet")
    assert httpx.get(f"{server.url}/api/v1/matches/other/review?event=x").status_code == 404


@pytest.mark.browser
def test_the_room_shows_a_review_beside_the_pitch(browser: Browser, server: WebServer):
    opened(browser, server, f"&event={PASS.id.replace('#', '%23')}")
    browser.wait(lambda: browser.run("return replay.chosen"), "the event")
    press(browser, "r")
    browser.wait(lambda: "No: ahead of the offside line" in text_of(browser, "#review"), "the verdict")
    loaded = "const image = document.querySelector('#review img'); return image.complete && image.naturalWidth > 0"
    browser.wait(lambda: browser.run(loaded), "the drawing")
    assert browser.run("return replay.pitch.review.player") == "home_1"
    browser.run("replay.review.player.value = 'home_9'; replay.review.player.dispatchEvent(new Event('change'))")
    browser.wait(lambda: "9 Mara Striker, Harbour" in text_of(browser, "#review"), "the other player")
    browser.run("replay.review.close()")
    assert browser.run("return replay.pitch.review === null && document.getElementById('review').hidden")
    assert browser.errors() == []


@pytest.mark.browser
def test_an_event_of_the_address_is_chosen_however_slow_the_network(browser: Browser, server: WebServer):
    browser.driver.get("about:blank")
    browser.driver.set_network_conditions(latency=700, download_throughput=10**6, upload_throughput=10**6)
    try:
        opened(browser, server, f"&event={PASS.id.replace('#', '%23')}")
        browser.wait(lambda: browser.run("return replay.chosen"), "the event")
    finally:
        browser.driver.delete_network_conditions()


@pytest.mark.browser
def test_disagreements_with_a_provider_are_listed_and_played(browser: Browser, server: WebServer, store: Path):
    url = f"{server.url}/api/v1/matches/derby/comparison"
    assert httpx.get(url).status_code == 404
    row = Disagreement(("theirs only",), "shot", 1, 33_000_000, "", "x", "", "M. Striker")
    keep_comparison(store, Comparison("opta", {1: 0.5}, {"shot": KindFigures(1, 2, 1)}, 7, [row]))
    assert httpx.get(url).json()["disagreements"][0]["their_player"] == "M. Striker"
    opened(browser, server)
    browser.run("document.getElementById('tab-compared').click()")
    browser.wait(lambda: "shot, theirs only M. Striker" in text_of(browser, "#compared"), "the list")
    browser.run("document.querySelector('#compared li button').click()")
    assert browser.run("return replay.player.us") == 33_000_000
    assert browser.errors() == []
