"""The in-process engine: it commits what it sends to the hub, and goes on where it stood."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from app.base.pace import Waiter, wall_us
from app.hub.server import Hub
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.state_store import StateStore
from tests.app.host_run import PIPELINE, FileCommitter, write_capture


@pytest.fixture
def capture(tmp_path: Path):
    return write_capture(tmp_path / "capture")


@pytest.fixture
def hub(capture):
    with Hub([capture.sheet]) as running:
        yield running


def in_process(capture, folder: Path, hub: Hub, **more) -> tuple[InProcessHost, FileCommitter]:
    committer = FileCommitter(folder / "commits")
    values = {"pipeline": PIPELINE, "settings": None, "states": folder / "states", "speed": 0.0,
              "window_us": 4_000_000, "stop_us": capture.end_us}  # fmt: skip
    return InProcessHost(capture, InProcessConfig(**{**values, **more}), hub, committer), committer


def test_a_stop_ends_the_waiting():
    stop = threading.Event()
    waiter = Waiter(stop.is_set)
    threading.Timer(0.1, stop.set).start()
    waiter.sleep_until(wall_us() + 60_000_000)
    assert waiter.stopped


def test_the_in_process_host_commits_what_it_tells_the_hub(capture, tmp_path, hub):
    host, committer = in_process(capture, tmp_path, hub)
    host.run(threading.Event())
    assert hub.feed("fake/1").ended()
    assert [row["seq"] for row in committer.rows()] == list(range(len(committer.rows())))
    assert len(committer.rows()) == len(hub.feed("fake/1").events_since(0)[1])


def test_a_stopped_in_process_run_is_gone_on_with_where_it_stood(capture, tmp_path, hub):
    host, committer = in_process(capture, tmp_path, hub, speed=100.0)
    stop = threading.Event()
    threading.Timer(0.03, stop.set).start()
    host.run(stop)
    commits = sorted(committer.folder.glob("*.json"))
    end_us = json.loads(commits[-1].read_text())["meta"]["end_offset"]
    assert end_us < capture.end_us
    host, committer = in_process(capture, tmp_path, hub)
    host.run(threading.Event())
    whole, reference = in_process(capture, tmp_path / "whole", hub)
    whole.run(threading.Event())
    assert _plain(committer.rows()) == _plain(reference.rows())


def _plain(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "epoch"} for row in rows]


def test_states_are_not_kept_longer_than_a_redo_needs(capture, tmp_path, hub):
    host, _ = in_process(capture, tmp_path, hub)
    host.run(threading.Event())
    assert len(StateStore(tmp_path / "states", "fake/1").offsets()) == 2
