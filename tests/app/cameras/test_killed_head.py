"""A simulated head is killed beside a running camera, and started again: what the API and the journal have."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.hub.feed import MatchFeed
from camera.installation import load_installation
from football.match_sheet import MatchSheet
from football.update_stream import BallView, UpdateMessage, View
from tests.waiting import eventually


@contextmanager
def simulated_head(port: int) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run ``touchline cameras simulate``; yield the process and its port."""
    command = [sys.executable, "-m", "app.cli.main", "cameras", "simulate", "--port", str(port), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())["port"]
        finally:
            process.kill()


@contextmanager
def played(feed: MatchFeed) -> Iterator[None]:
    """Let the ball lie in the middle, 25 times a second."""
    over = threading.Event()

    def play() -> None:
        ts_us = 0
        while not over.wait(0.04):
            view = View(ts_us, BallView(ts_us, 5.0, 0.0, 0.1, 0.0, 0.0, 0.0), ())
            feed.apply(UpdateMessage("m", 0, ts_us, 0, view=view, continues_from=None if ts_us else 0), 0)
            ts_us += 40_000

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_a_head_that_is_killed_is_named_and_one_that_is_started_again_is_steered(tmp_path: Path) -> None:
    feed, group = MatchFeed(MatchSheet("m")), CameraGroup()
    with simulated_head(0) as (process, port), played(feed):
        file = tmp_path / "cameras.toml"
        file.write_text(f'[[camera]]\nname = "main"\naddress = "127.0.0.1:{port}"\n')
        with cameras_on(feed, lambda table: None, load_installation(file), group, folder=tmp_path):
            eventually(lambda: group.info("main").mode in ("follow", "hold"))
            process.kill()
            eventually(lambda: group.info("main").fault == "head")
            dead = group.info("main")
            assert (dead.mode, dead.care, dead.needs_operator) == ("offline", "silent", True)
            assert "does not answer" in dead.problem
            assert "does not answer" in group.problems()["main"]
            with simulated_head(port):
                eventually(lambda: group.info("main").care == "following")
                assert group.info("main").problem == ""
            eventually(lambda: group.journal.newest("main")[-1].what == "silent head")
        noted = [entry.what for entry in group.journal.newest("main") if entry.by == "care"]
    first = noted.index("silent head")
    assert noted[first : first + 4] == ["silent head", "returning", "following", "silent head"]
