"""A video beside the pitch: its marks by the API, and the page, which follows play, seek and speed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from imageio_ffmpeg import get_ffmpeg_exe

from dashboard.server import WebServer
from replay.video_marks import FILE, VideoMark, VideoMarks, VideoMarksError, read_marks, write_marks
from tests.app.recorded.conftest import TOKEN, serving
from tests.app.recorded.derby import S, derby_store
from tests.app.recorded.test_replay_page import opened, press, text_of
from tests.dashboard.chromium import Browser

BEARER = {"Authorization": f"Bearer {TOKEN}"}
MARKED = {"name": "own.webm", "marks": [{"event_us": 10 * S, "video_us": 15 * S}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return derby_store(tmp_path_factory.mktemp("video") / "derby")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[WebServer]:
    with serving(folder, token=TOKEN) as running:
        yield running


@pytest.fixture(autouse=True)
def no_marks(folder: Path) -> None:
    (folder / FILE).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seventy seconds, with a key frame a second so that seeks are quick."""
    file = tmp_path_factory.mktemp("film") / "own.webm"
    picture = ["-f", "lavfi", "-i", "testsrc=duration=70:size=64x36:rate=10", "-c:v", "libvpx", "-g", "10"]
    subprocess.run([get_ffmpeg_exe(), "-loglevel", "error", *picture, str(file)], check=True)
    return file


def marks(*pairs: tuple[float, float], name: str = "own.webm") -> VideoMarks:
    return VideoMarks(name, tuple(VideoMark(round(event_s * S), round(video_s * S)) for event_s, video_s in pairs))


def test_marks_are_kept_by_name_and_forgotten(tmp_path: Path):
    write_marks(tmp_path, marks((10, 15)))
    write_marks(tmp_path, marks((0, 3), name="other.mp4"))
    write_marks(tmp_path, marks((10, 15), (50, 55.4)))
    assert read_marks(tmp_path) == [marks((0, 3), name="other.mp4"), marks((10, 15), (50, 55.4))]
    write_marks(tmp_path, VideoMarks("other.mp4", ()))
    assert [one.name for one in read_marks(tmp_path)] == ["own.webm"]
    (tmp_path / FILE).write_text("[{}]")
    with pytest.raises(VideoMarksError, match=r"video\.json"):
        read_marks(tmp_path)


@pytest.mark.parametrize("pairs", [((10, 15), (19, 24)), ((50, 55), (10, 15)), ((10, 15), (50, 75)), ((0, 0),) * 3])
def test_marks_that_no_match_has_are_refused(pairs: tuple[tuple[float, float], ...]):
    with pytest.raises(ValueError, match="marks"):
        marks(*pairs)


def test_an_operator_keeps_marks_and_a_viewer_reads_them(server: WebServer, folder: Path):
    url = f"{server.url}/api/v1/matches/derby/video"
    assert httpx.put(url, json=MARKED).status_code == 401
    assert httpx.put(url, json=MARKED, headers=BEARER).json() == MARKED
    assert httpx.get(url, headers=BEARER).json() == [MARKED]
    assert read_marks(folder) == [marks((10, 15))]
    assert httpx.put(url, json={**MARKED, "path": "/x"}, headers=BEARER).status_code == 400


def shown_s(browser: Browser) -> float:
    return float(browser.run("return replay.video.screen.currentTime"))


def mark(browser: Browser, event_s: float, video_s: float) -> None:
    """The two clicks of a person who found one moment in both."""
    browser.run("replay.video.screen.pause(); replay.video.screen.currentTime = arguments[0]", video_s)
    browser.wait(lambda: not browser.run("return replay.video.screen.seeking"), "the picture")
    browser.run("replay.video.mark.click()")
    browser.run("replay.player.seek(arguments[0])", event_s * S)
    browser.run("replay.video.mark.click()")


def at(browser: Browser, expected_s: float) -> Any:
    return browser.wait(lambda: abs(shown_s(browser) - expected_s) < 0.03, f"second {expected_s} of the video")


@pytest.mark.browser
def test_a_video_follows_by_two_clicks_and_its_drift_by_two_more(
    browser: Browser, server: WebServer, folder: Path, video: Path
):
    from selenium.webdriver.common.by import By

    browser.driver.get(f"{server.url}/?token={TOKEN}")
    opened(browser, server, "&t=5")
    browser.run("sessionStorage.setItem('token', arguments[0])", TOKEN)
    press(browser, "x")
    browser.driver.find_element(By.CSS_SELECTOR, "#video input[type=file]").send_keys(str(video))
    browser.wait(lambda: browser.run("return replay.video.screen.duration > 60"), "the video")
    mark(browser, 10, 15)
    browser.wait(lambda: read_marks(folder) == [marks((10, 15))], "the first mark in the store")
    browser.run("replay.player.seek(20e6)")
    at(browser, 25)
    mark(browser, 50, 57)
    browser.wait(lambda: len(read_marks(folder)[0].marks) == 2, "the second mark in the store")
    assert "drift 3000 ms a minute" in text_of(browser, "#video")
    browser.run("replay.player.seek(30e6)")
    at(browser, 36)
    browser.run("replay.player.speed = 2; replay.player.play(true)")
    browser.wait(lambda: browser.run("return !replay.video.screen.paused"), "it plays")
    assert browser.run("return replay.video.screen.playbackRate") == pytest.approx(2.1, abs=0.01)
    browser.wait(lambda: browser.run("return replay.player.us > 33e6"), "it went on")
    behind = "return replay.video.screen.currentTime - (15 + (replay.player.us / 1e6 - 10) * 42 / 40)"
    browser.wait(lambda: abs(browser.run(behind)) < 0.5, "it keeps up")
    browser.run("replay.player.play(false); replay.player.seek(10e6)")
    at(browser, 15)
    browser.driver.refresh()
    opened(browser, server, "&t=5")
    press(browser, "x")
    browser.driver.find_element(By.CSS_SELECTOR, "#video input[type=file]").send_keys(str(video))
    at(browser, 15 - 5 * 42 / 40)
    assert browser.errors() == []
