"""Spark is killed in the middle of a match and started again: nothing is lost, nothing is there twice.

In the first tests the pipeline is a small deterministic one, so that what is tested is the host: offsets, states,
epochs, commits. In the last one it is the real one, from the command line.
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

from replay.event_list import consolidated_events
from replay.match_store import read_commits, updates_log
from tests.app.cli.test_main import write_track
from tests.app.host_run import BLOCKS, FileCommitter

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.spark
in_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc")


def start(folder: Path, log: Path | None = None) -> subprocess.Popen[bytes]:
    """A run at speed 4 with a window of one second: 16 s of stream are four batches."""
    folder.mkdir(exist_ok=True)
    return launch(log or folder / "run.log", "tests.app.host_run", folder, 4, 1)


def launch(log: Path, module: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A Python process in a group of its own, so that all of it can be killed."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with log.open("ab") as output:
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )


def wait_for(condition, run: subprocess.Popen[bytes], what: str) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert run.poll() is None, f"the run ended before {what}"
        assert time.monotonic() < end, f"waited too long for {what}"
        time.sleep(0.02)


def in_mid_batch(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Returns about half a window after the first commit."""
    wait_for(lambda: any((folder / "commits").glob("*.json")), run, "the first commit")
    time.sleep(0.6)


def engine_workers(run: subprocess.Popen[bytes]) -> list[int]:
    """Python workers that run engine stages, by the role in their environment: forked by a daemon of Java's.

    A worker may have a child just then, which stores a state.
    """
    parents = _parents()
    grandparents = {pid: parents.get(above) for pid, above in parents.items()}
    java = jvm(run)
    return [pid for pid in descendants(run) if grandparents.get(pid) == java and role(pid).startswith("engine")]


def jvm(run: subprocess.Popen[bytes]) -> int:
    """Spark's own process: driver's and executor's Java are one on a single machine."""
    (found,) = [pid for pid in descendants(run) if _program(pid) == "java"]
    return found


def descendants(run: subprocess.Popen[bytes]) -> list[int]:
    """All processes below a run's."""
    return below(run.pid)


def below(root: int) -> list[int]:
    """All processes below another."""
    parents, found = _parents(), []
    for pid in parents:
        above = parents.get(pid)
        while above and above != root:
            above = parents.get(above)
        if above == root:
            found.append(pid)
    return found


def _parents() -> dict[int, int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return parents


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def wait_until_ended(pids: list[int]) -> None:
    """Returns when none of the processes runs any more."""
    end = time.monotonic() + 60
    while any(_program(pid) and not _is_zombie(pid) for pid in pids):
        assert time.monotonic() < end, f"of {pids} some still run"
        time.sleep(0.05)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def role(pid: int) -> str:
    """The role of a process: a fork of the fork server has it as its name, any other in its environment."""
    if (name := _program(pid)).startswith(("engine-", "source")):
        return name
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((pair[15:].decode() for pair in pairs if pair.startswith(b"TOUCHLINE_ROLE=")), "")


def check(folder: Path) -> dict:
    """Compare the commits and the events of the hub with those of an undisturbed run."""
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


def finish(run: subprocess.Popen[bytes], log: Path) -> None:
    try:
        code = run.wait(300)
    finally:
        kill_group(run)
    assert code == 0, log.read_text()[-3000:]


def kill_group(run: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(run.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    run.wait(10)


@pytest.mark.slow
@in_proc
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
        finish(run, folder / "run.log")
    assert check(folder)["epoch"] >= 1, "the redo must have begun a new epoch"


@pytest.mark.slow
def test_killing_everything_in_mid_batch_and_starting_again_changes_nothing(tmp_path: Path):
    folder = tmp_path / "store"
    run = start(folder)
    try:
        in_mid_batch(folder, run)
    finally:
        kill_group(run)
    assert not (folder / "done.json").exists(), "the run was over before it was killed"
    finish(start(folder), folder / "run.log")
    assert check(folder)["epoch"] >= 1, "the second run must have begun a new epoch"


@pytest.mark.slow
@in_proc
def test_killing_sparks_java_in_mid_batch_ends_the_run_with_a_reason_and_changes_nothing(tmp_path: Path):
    folder = tmp_path / "store"
    run = start(folder)
    try:
        in_mid_batch(folder, run)
        os.kill(jvm(run), signal.SIGKILL)
        assert run.wait(60) != 0
    finally:
        kill_group(run)
    assert "Spark's process is gone" in (folder / "run.log").read_text()
    finish(start(folder), folder / "run.log")
    assert check(folder)["epoch"] >= 1


@pytest.mark.slow
@in_proc
def test_killing_only_the_driver_ends_all_that_it_had_started_and_changes_nothing(tmp_path: Path):
    folder = tmp_path / "store"
    run = start(folder)
    try:
        in_mid_batch(folder, run)
        below = descendants(run)
        assert len(below) >= 3, "Java and two workers at least"
        os.kill(run.pid, signal.SIGKILL)
        wait_until_ended(below)
    finally:
        kill_group(run)
    finish(start(folder), folder / "run.log")
    assert check(folder)["epoch"] >= 1


@pytest.mark.slow
def test_who_stands_by_takes_over_when_the_run_is_killed_and_nothing_is_lost_or_there_twice(tmp_path: Path):
    track, store = write_track(tmp_path / "track.parquet", 200.0), tmp_path / "store"
    same = ("--alpha", 0, "--retraction", "on-demand")
    match = ("--source", track, "--channel", "rtls", *same, "--no-dashboard", "--no-camera", "--store")
    logs = [tmp_path / name for name in ("run.log", "standby.log")]
    run = launch(logs[0], "app.cli.main", "live", *match, store, "--window", 2)
    in_mid_batch(store, run)
    waiting = launch(logs[1], "app.cli.main", "live", "--store", store, "--standby", "--speed", "max", "--no-dashboard")
    try:
        wait_for(lambda: "Standing by" in logs[1].read_text(), waiting, "it stood by")
        before = len(read_commits(store))
        wait_for(lambda: len(read_commits(store)) > before, run, "another commit: who stands by disturbs nobody")
        assert not list(store.glob("spark/standby-*/states/*")), "who stands by has states of its own"
        kill_group(run)
        assert not any(commit.meta.ended for commit in read_commits(store)), "it was over before it was killed"
        finish(waiting, logs[1])
    finally:
        kill_group(run)
        kill_group(waiting)
    assert not list(store.glob("spark/standby-*"))
    play = ("--engine", "inprocess", "--speed", "max")
    finish(launch(logs[0], "app.cli.main", "live", *match, tmp_path / "whole", *play), logs[0])
    assert consolidated_events(store).equals(consolidated_events(tmp_path / "whole"))
    numbers = updates_log(store)["seq"].to_pylist()
    assert numbers == list(range(len(numbers))), "an update is missing or there twice"


@pytest.mark.slow
def test_a_real_match_that_is_killed_and_gone_on_with_has_the_same_events(tmp_path: Path):
    track = write_track(tmp_path / "track.parquet", 24.0)
    # Nothing that follows the load: then when an event was detected is the same each time, too.
    same = ("--alpha", 0, "--retraction", "on-demand")
    match = ("--source", track, "--channel", "harsh", *same, "--no-dashboard", "--no-camera", "--store")
    store, log = tmp_path / "store", tmp_path / "run.log"
    run = launch(log, "app.cli.main", "live", *match, store, "--speed", 4, "--window", 1.5)
    try:
        in_mid_batch(store, run)
    finally:
        kill_group(run)
    assert not any(commit.meta.ended for commit in read_commits(store)), "it was over before it was killed"
    finish(launch(log, "app.cli.main", "live", "--store", store, "--speed", "max", "--no-dashboard"), log)
    whole = ("app.cli.main", "live", *match, tmp_path / "whole", "--engine", "inprocess", "--speed", "max")
    finish(launch(log, *whole), log)
    assert consolidated_events(store).equals(consolidated_events(tmp_path / "whole"))
    numbers = updates_log(store)["seq"].to_pylist()
    assert numbers == list(range(len(numbers))), "an update is missing or there twice"
    assert len(numbers) > 20
