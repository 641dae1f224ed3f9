"""Spark is killed in the middle of a match and started again: nothing is lost, nothing is there twice.

The pipeline is a small deterministic one, so that what is tested is the host: offsets, states, epochs, commits.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.app.host_run import BLOCKS, FileCommitter

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.spark


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A run at speed 4 with a window of one second: 16 s of stream are four batches and a bit of play."""
    command = [sys.executable, "-m", "tests.app.host_run", str(folder), "4", "1"]
    folder.mkdir(exist_ok=True)
    with (folder / "run.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip


def wait_for(condition, run: subprocess.Popen[bytes], what: str) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert run.poll() is None, f"the run ended before {what}"
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)


def in_mid_batch(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Returns about half a window after the first commit."""
    wait_for(lambda: list((folder / "commits").glob("*.json")), run, "the first commit")
    time.sleep(0.6)


def engine_workers(run: subprocess.Popen[bytes]) -> list[int]:
    """Python workers that run engine stages: by the role in their environment, among the run's descendants."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    for pid in parents:
        line, above = [pid], parents.get(pid)
        while above and above != run.pid:
            line.append(above)
            above = parents.get(above)
        if above == run.pid and pid not in parents.values() and _role(pid) == "engine":
            found.append(pid)
    return found


def _role(pid: int) -> str:
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((pair[15:].decode() for pair in pairs if pair.startswith(b"TOUCHLINE_ROLE=")), "")


def check(folder: Path) -> dict:
    """What was committed and what the hub ended up with are what an undisturbed run gives."""
    rows = FileCommitter(folder / "commits").rows()
    assert [row["seq"] for row in rows] == list(range(len(rows))), "an update is missing or there twice"
    balance: dict[str, int] = {}
    for row in rows:
        balance[row["id"]] = balance.get(row["id"], 0) + row["diff"]
    asserted = sorted(name for name, diff in balance.items() if diff)
    withdrawn = {f"fake#{i}" for i in range(9, BLOCKS - 1, 10)}
    assert asserted == sorted({f"fake#{i}" for i in range(BLOCKS)} - withdrawn)
    done = json.loads((folder / "done.json").read_text())
    assert done["events"] == asserted, "the hub holds something else than the store"
    return done


def finish(run: subprocess.Popen[bytes], folder: Path) -> None:
    try:
        code = run.wait(120)
    finally:
        kill_group(run)
    assert code == 0, (folder / "run.log").read_text()[-3000:]


def kill_group(run: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    run.wait(10)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the worker in /proc")
def test_killing_the_engines_worker_in_mid_batch_changes_nothing(tmp_path: Path):
    folder = tmp_path / "store"
    run = start(folder)
    try:
        in_mid_batch(folder, run)
        workers = engine_workers(run)
        assert workers, "no engine worker found"
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
    finally:
        finish(run, folder)
    assert check(folder)["epoch"] >= 1, "the redo must have begun a new epoch"


def test_killing_everything_in_mid_batch_and_starting_again_changes_nothing(tmp_path: Path):
    folder = tmp_path / "store"
    run = start(folder)
    try:
        in_mid_batch(folder, run)
    finally:
        kill_group(run)
    assert not (folder / "done.json").exists(), "the run was over before it was killed"
    finish(start(folder), folder)
    assert check(folder)["epoch"] >= 1, "the second run must have begun a new epoch"
