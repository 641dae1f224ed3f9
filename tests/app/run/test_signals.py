"""A run that is stopped from outside, by a signal to all of its processes at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay.match_store import read_commits
from tests.app.run.test_crash import ROOT, kill_group, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def start(store: Path, *options: object) -> subprocess.Popen[str]:
    """A run in a process group of its own; what it prints is read from its pipes."""
    command = [sys.executable, "-m", "app.cli.main", "live", "--store", store, "--no-camera", "--json", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        list(map(str, command)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def stopped(run: subprocess.Popen[str], number: signal.Signals) -> tuple[dict, str]:
    """Summary and stderr of a run whose group gets a signal."""
    try:
        os.killpg(run.pid, number)
        stdout, stderr = run.communicate(timeout=120)
    finally:
        kill_group(run)
    assert run.returncode == 0, stderr
    assert "Traceback" not in stderr
    assert "py4j" not in stderr
    return json.loads(stdout), stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_whole_group_ends_a_run_with_its_summary(tmp_path: Path, number: signal.Signals):
    store = tmp_path / "store"
    run = start(store, "--window", 2, "--duration", 300, "--no-dashboard")
    try:
        wait_for(lambda: list((store / "commits").glob("0*.json")), run, "a commit")
    finally:
        summary, stderr = stopped(run, number)
    assert "Stopping" in stderr
    assert not summary["ended"]
    assert summary["stream_s"] > 0
    assert not read_commits(store)[-1].meta.ended
    assert "Traceback" not in (store / "spark" / "spark.log").read_text()


@pytest.mark.parametrize("delay_s", [3.0, 8.0])
def test_a_signal_while_a_run_starts_ends_it_with_its_summary(tmp_path: Path, delay_s: float):
    run = start(tmp_path / "store", "--duration", 300, "--no-dashboard")
    try:
        wait_for((tmp_path / "store" / "run.json").exists, run, "its store")
        time.sleep(delay_s)
    finally:
        summary, _ = stopped(run, signal.SIGTERM)
    assert not summary["ended"]
