"""A match comes out of a topic and goes into another while things die: nothing is lost, nothing is there twice.

The pipeline is the small deterministic one of ``tests.app.run.test_crash``; what is tested is the way from topic to
topic. Somebody follows the topic of updates all the time, see ``watching``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.base.java import find_java
from app.hub.feed import MatchFeed
from app.kafka.address import parse
from app.kafka.broker import start_broker, stop_broker
from app.kafka.publish import publish
from app.kafka.relay import Relay
from football.match_sheet import MatchSheet
from tests.app.host_run import write_capture
from tests.app.kafka.proxy import Proxy
from tests.app.kafka.test_topics import message
from tests.app.kafka.watching import Watcher, watching
from tests.app.run.test_crash import (
    check,
    descendants,
    engine_workers,
    finish,
    in_mid_batch,
    in_proc,
    jvm,
    kill_group,
    launch,
    wait_for,
    wait_until_ended,
)
from tests.waiting import eventually

pytestmark = pytest.mark.spark


class Trial:
    """A run from a topic to another; ``at`` is where it finds its broker, ``broker`` where the others do."""

    def __init__(self, folder: Path, broker: str, name: str, at: str = "") -> None:
        self.folder, self.broker = folder, broker
        self._in, self._out = (f"kafka://{at or broker}/{name}{suffix}" for suffix in ("", "-events"))
        self.address, self.updates = parse(f"kafka://{broker}/{name}"), f"kafka://{broker}/{name}-events"
        self.run: subprocess.Popen[bytes] | None = None
        folder.mkdir()

    def start(self) -> subprocess.Popen[bytes]:
        self.run = launch(self.folder / "run.log", "tests.app.host_run", self.folder, 1, 3, self._in, self._out)
        return self.run

    def finish(self) -> None:
        assert self.run is not None
        finish(self.run, self.folder / "run.log")

    @contextmanager
    def under_way(self) -> Iterator[tuple[subprocess.Popen[bytes], Watcher]]:
        """The match plays and somebody watches; what the block leaves of the run is killed at its end if it fails."""
        failed: list[BaseException] = []

        def speak() -> None:
            try:
                wait_for((self.folder / "listening").exists, run, "somebody to speak to")
                publish(write_capture(self.folder / "spoken"), self.address, 1.0)
            except BaseException as error:
                failed.append(error)
                raise

        run, speaker = self.start(), threading.Thread(target=speak)
        speaker.start()
        try:
            with watching(self.updates) as watcher:
                in_mid_batch(self.folder, run)
                yield run, watcher
            done = check(self.folder)
            watcher.check(done["events"])
        finally:
            if self.run is not None:
                kill_group(self.run)
            speaker.join()
        assert not failed


@pytest.mark.slow
@in_proc
def test_killing_the_engines_worker_changes_nothing(broker: str, tmp_path: Path):
    trial = Trial(tmp_path / "store", broker, "worker")
    with trial.under_way() as (run, _):
        workers = engine_workers(run)
        assert workers, "no engine worker found"
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        trial.finish()
        assert check(trial.folder)["epoch"] >= 1, "the redo must have begun a new epoch"


@pytest.mark.slow
@pytest.mark.parametrize("whom", ["everything", "java", "driver"])
@in_proc
def test_killing_and_starting_again_while_the_match_goes_on_changes_nothing(broker: str, tmp_path: Path, whom: str):
    trial = Trial(tmp_path / "store", broker, whom)
    with trial.under_way() as (run, _):
        below = descendants(run)
        if whom == "everything":
            kill_group(run)
        else:
            os.kill(jvm(run) if whom == "java" else run.pid, signal.SIGKILL)
            run.wait(60)
        wait_until_ended(below)
        trial.start()
        trial.finish()


@pytest.mark.slow
def test_a_broker_that_is_killed_and_comes_back_changes_nothing(tmp_path: Path):
    home, java = tmp_path / "broker", find_java(os.environ)
    status = start_broker(home, 0, java)
    trial = Trial(tmp_path / "store", status.address, "outage")
    try:
        with trial.under_way():
            killed = start_broker(home, 0, java).pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            time.sleep(5)
            assert start_broker(home, 0, java).address == status.address
            trial.finish()
    finally:
        stop_broker(home)


@pytest.mark.slow
def test_a_network_that_stalls_for_thirty_seconds_changes_nothing(
    broker: str, far: str, between: Proxy, tmp_path: Path
):
    """Source and relay speak through a proxy that forwards nothing for 30 s; gateway and watcher speak past it."""
    trial = Trial(tmp_path / "store", broker, "stall", at=far)
    with trial.under_way() as (run, _):
        between.flowing.clear()
        held = between.forwarded
        time.sleep(30)
        assert between.forwarded <= held + 65_536 * 4, "something went through"
        assert run.poll() is None, "the run must wait"
        between.flowing.set()
        trial.finish()
        assert between.forwarded > held


def test_what_a_relay_says_while_the_network_stalls_comes_once_and_in_order(
    broker: str, far: str, between: Proxy, tmp_path: Path
):
    """Without Spark: relay and follower are both behind the network that stalls."""
    feed = MatchFeed(MatchSheet("final"))
    with watching(f"kafka://{far}/stalled") as watcher, Relay(feed, parse(f"kafka://{far}/stalled"), tmp_path):
        feed.apply(message(0, 0, 50, 0), 0)
        eventually(lambda: watcher.changes == 50)
        between.flowing.clear()
        feed.apply(message(0, 50, 50), 0)
        feed.apply(message(1, 80, 40, 80), 0)
        time.sleep(2)
        assert watcher.changes == 50, "nothing came through"
        between.flowing.set()
        feed.apply(message(1, 120, 5, ended=True), 0)
    watcher.check(sorted(feed.events()))
