"""Notes by the API and on the page: who may write, what the page plays, and what it exports."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from imageio_ffmpeg import get_ffmpeg_exe
from PIL import Image

from dashboard.server import WebServer
from football.house_time import HouseTime
from replay.house_times import FILE, write_house_time
from replay.notes import read_notes
from tests.app.recorded.conftest import TOKEN, serving
from tests.app.recorded.derby import S, derby_store
from tests.app.recorded.test_replay_page import click, now_us, opened, press, text_of
from tests.dashboard.chromium import Browser

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("notes") / "derby")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    with serving(folder, token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def no_notes(folder: Path) -> None:
    (folder / "notes.json").unlink(missing_ok=True)


@pytest.fixture
def url(server: WebServer) -> str:
    return f"{server.url}/api/v1/matches/derby"


CLIP = {"begin_us": 10 * S, "end_us": 12 * S, "text": "press", "playlist": "derby"}


def test_an_operator_writes_changes_and_removes_notes(url: str, folder: Path):
    note = httpx.post(f"{url}/notes", json=CLIP, headers=BEARER).json()
    assert (note["clip"], note["author"]) == (CLIP, "token of the run")
    changed = httpx.put(f"{url}/notes/{note['id']}", json={**CLIP, "text": "trap"}, headers=BEARER).json()
    assert httpx.get(f"{url}/notes", headers=BEARER).json() == [changed]
    assert [one.clip.text for one in read_notes(folder)] == ["trap"]
    assert httpx.delete(f"{url}/notes/{note['id']}", headers=BEARER).json() == []
    assert httpx.delete(f"{url}/notes/{note['id']}", headers=BEARER).status_code == 404


@pytest.mark.parametrize("body", [{}, {**CLIP, "end_us": 0}, {**CLIP, "more": 1}, {**CLIP, "text": 5}, []])
def test_what_is_no_clip_is_refused_with_a_reason(url: str, folder: Path, body: object):
    answer = httpx.post(f"{url}/notes", json=body, headers=BEARER)
    assert answer.status_code == 400
    assert answer.json()["detail"]
    assert read_notes(folder) == []


def test_nobody_writes_without_an_operators_token(url: str, folder: Path):
    for headers in ({}, {"Authorization": "Bearer wrong-token-of-the-run"}):
        assert httpx.post(f"{url}/notes", json=CLIP, headers=headers).status_code == 401
    assert read_notes(folder) == []


def test_a_playlist_is_an_edit_list(url: str):
    httpx.post(f"{url}/notes", json=CLIP, headers=BEARER)
    httpx.post(f"{url}/notes", json={**CLIP, "playlist": "other"}, headers=BEARER)
    both = httpx.get(f"{url}/playlist.edl", headers=BEARER).text
    one = httpx.get(f"{url}/playlist.edl?name=derby", headers=BEARER).text
    assert (both.count("FROM CLIP NAME"), one.count("FROM CLIP NAME")) == (2, 1)
    assert httpx.get(f"{url}/playlist.edl?rate=26", headers=BEARER).status_code == 400


def test_house_time_is_in_the_api_and_in_the_edit_list(url: str, folder: Path):
    assert httpx.get(f"{url}/house", headers=BEARER).json()["zero_utc_us"] is None
    write_house_time(folder, HouseTime(1_795_460_400 * S, 1_500, "50"))
    try:
        httpx.post(f"{url}/notes", json=CLIP, headers=BEARER)
        assert httpx.get(f"{url}/house", headers=BEARER).json()["utc_error_us"] == 1_500
        assert " 19:00:" in httpx.get(f"{url}/playlist.edl", headers=BEARER).text
    finally:
        (folder / FILE).unlink()


def test_a_clip_is_a_film_that_plays(url: str, tmp_path: Path):
    query = f"begin_us={10 * S}&end_us={10 * S + 400_000}"
    film = tmp_path / "clip.mp4"
    film.write_bytes(httpx.get(f"{url}/film?{query}", headers=BEARER, timeout=60).content)
    done = subprocess.run([get_ffmpeg_exe(), "-i", film, "-f", "null", "-"], capture_output=True, text=True, check=True)
    assert "960x646" in done.stderr
    assert "frame=   10" in done.stderr
    gif = tmp_path / "clip.gif"
    gif.write_bytes(httpx.get(f"{url}/film?{query}&form=gif", headers=BEARER, timeout=60).content)
    with Image.open(gif) as image:
        assert image.n_frames == 5
        shade = image.convert("RGB").getpixel((round(480 - 20 * 960 / 113), 323))
        assert min(shade) > 200, "the ball is white, 20 m left of the middle"


@pytest.mark.parametrize(
    "query", ["begin_us=0&end_us=0", "begin_us=0&end_us=61000000", "begin_us=90000000&end_us=91000000"]
)
def test_a_film_of_nothing_or_of_too_much_is_refused(url: str, query: str):
    assert httpx.get(f"{url}/film?{query}", headers=BEARER, timeout=60).status_code == 400


@pytest.mark.browser
def test_the_page_writes_plays_and_removes_notes(browser: Browser, server: WebServer, folder: Path):
    browser.driver.get(f"{server.url}/?token={TOKEN}")
    opened(browser, server, "&t=10")
    press(browser, "m", "press")
    click(browser, "#note-form button", "Write")
    browser.wait(lambda: "token of an operator" in text_of(browser, "#note-answer"), "the refusal")
    browser.run("const t = document.getElementById('note-token'); t.value = arguments[0]", TOKEN)
    click(browser, "#note-form button", "Write")
    browser.wait(lambda: len(read_notes(folder)) == 1, "the bookmark")
    browser.run("replay.player.setLoop({ from: 20e6, to: 21e6 })")
    browser.run("document.getElementById('note-text').value = 'clip'")
    click(browser, "#note-form button", "Write")
    browser.wait(lambda: browser.run("return document.querySelectorAll('#note-rows li').length") == 2, "both notes")
    assert [(one.clip.begin_us, one.clip.end_us, one.clip.text) for one in read_notes(folder)] == [
        (10 * S, 10 * S, "press"), (20 * S, 21 * S, "clip"),
    ]  # fmt: skip
    browser.run("replay.player.speed = 8")
    click(browser, "#note-form button", "Play all")
    assert 10 * S <= now_us(browser) < 20 * S
    browser.wait(lambda: now_us(browser) >= 21 * S and not browser.run("return replay.player.isPlaying"), "the end")
    assert now_us(browser) < 25 * S
    click(browser, "#note-rows button", "Remove")
    browser.wait(lambda: len(read_notes(folder)) == 1, "one note less")
    found = browser.driver.execute_async_script(
        "import('/pages/replay/notes.js').then(({ csv }) => arguments[0](csv([{ id: 'a,b', kind: 'out', x_m: null }])))"
    )
    assert found.splitlines()[1] == '"a,b",out,,,,,,,,,,,'
    (refused,) = browser.errors()
    assert "401" in refused
