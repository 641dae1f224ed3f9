"""A match comes out of a topic while things die: nothing is lost, nothing is there twice.

The pipeline is the small deterministic one of ``tests.app.test_crash``; what is tested is the way from the topic.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.kafka.address import Address, parse
from app.kafka.broker import start_broker, stop_broker
from app.kafka.publish import publish
from app.spark.java import find_java
from tests.app.host_run import write_capture
from tests.app.test_crash import check, engine_workers, finish, in_mid_batch, kill_group, launch

pytestmark = pytest.mark.spark


@contextmanager
def publishing(folder: Path, address: Address) -> Iterator[None]:
    """The capture goes into the topic, as time goes, until it is over."""
    failed: list[BaseException] = []

    def speak() -> None:
        try:
            publish(write_capture(folder / "capture"), address, 1.0)
        except BaseException as error:
            failed.append(error)
            raise

    speaker = threading.Thread(target=speak)
    speaker.start()
    yield
    speaker.join()
    assert not failed


def start(folder: Path, address: Address):
    folder.mkdir(exist_ok=True)
    return launch(folder / "run.log", "tests.app.host_run", folder, 1, 3, address.url)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the worker in /proc")
def test_killing_the_engines_worker_changes_nothing(broker: str, tmp_path: Path):
    folder, address = tmp_path / "store", parse(f"kafka://{broker}/worker")
    run = start(folder, address)
    with publishing(folder, address):
        try:
            in_mid_batch(folder, run)
            workers = engine_workers(run)
            assert workers, "no engine worker found"
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
        finally:
            finish(run, folder / "run.log")
    assert check(folder)["epoch"] >= 1, "the redo must have begun a new epoch"


@pytest.mark.slow
def test_killing_everything_and_starting_again_while_the_match_goes_on_changes_nothing(broker: str, tmp_path: Path):
    folder, address = tmp_path / "store", parse(f"kafka://{broker}/everything")
    run = start(folder, address)
    with publishing(folder, address):
        try:
            in_mid_batch(folder, run)
        finally:
            kill_group(run)
        finish(start(folder, address), folder / "run.log")
    check(folder)


@pytest.mark.slow
def test_a_broker_that_is_killed_and_comes_back_changes_nothing(tmp_path: Path):
    home, java = tmp_path / "broker", find_java(os.environ)
    status = start_broker(home, 0, java)
    folder, address = tmp_path / "store", parse(f"kafka://{status.address}/outage")
    run = start(folder, address)
    try:
        with publishing(folder, address):
            in_mid_batch(folder, run)
            killed = start_broker(home, 0, java).pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            time.sleep(5)
            assert start_broker(home, 0, java).address == status.address
            finish(run, folder / "run.log")
        check(folder)
    finally:
        kill_group(run)
        stop_broker(home)
