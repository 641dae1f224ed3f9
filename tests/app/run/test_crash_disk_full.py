"""The disk of the match store is full while the match plays: it waits, says so, and goes on when there is room."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from py4j.protocol import Py4JError

from app.hub.server import Hub
from app.pipeline import disk_full
from app.pipeline.commits import HostError
from app.pipeline.disk_full import SpaceWaiter, is_full
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.spark.driver import keep_running
from tests.app.host_run import PIPELINE, FileCommitter, write_capture
from tests.app.run.test_crash import check, finish, in_mid_batch, kill_group, start, wait_for

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own that is soon full; needs the right to mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system cannot be mounted without the right to do so")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Uses up all that is free; the file to delete afterwards."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as stream:
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):  # that there is no room any more
                while stream.write(bytes(size)) == size:
                    pass
    return filler


class Run:
    """The in-process host with states and commits in a folder, in a thread; ``events`` is what the hub ends with."""

    def __init__(self, capture_folder: Path, folder: Path) -> None:
        self.capture, self.stop = write_capture(capture_folder), threading.Event()
        self.committer = FileCommitter(folder / "commits")
        self.error: BaseException | None = None
        self.events: list[str] = []
        self._thread = threading.Thread(target=self._play, args=(folder,))
        self._thread.start()

    def _play(self, folder: Path) -> None:
        config = InProcessConfig(PIPELINE, None, folder / "states", 8.0, 500_000)
        try:
            with Hub([self.capture.sheet]) as hub:
                InProcessHost(self.capture, config, hub, self.committer).run(self.stop)
                self.events = sorted(hub.feed("fake/1").events())
        except BaseException as error:
            self.error = error

    def commits(self) -> int:
        return len(list(self.committer.folder.glob("*.json")))

    def until(self, commits: int) -> None:
        while self.commits() < commits:
            assert self._thread.is_alive(), self.error
            time.sleep(0.01)

    def end(self) -> None:
        self._thread.join(120)
        assert not self._thread.is_alive()


def whole(run: Run, folder: Path) -> None:
    """Check that the hub holds the committed updates, each once."""
    assert run.error is None
    (folder / "done.json").write_text(json.dumps({"epoch": 0, "events": run.events}))
    check(folder)


def test_a_run_without_spark_waits_on_a_full_disk_and_loses_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with small_disk(tmp_path / "disk", 64) as disk:
        run = Run(tmp_path / "capture", disk)
        try:
            run.until(2)
            filler = fill(disk)
            stood = run.commits()
            while "is full" not in caplog.text:
                assert run._thread.is_alive(), run.error
                time.sleep(0.01)
            assert run.commits() <= stood + 1, "what fitted into the last hole"
            filler.unlink()
        finally:
            run.end()
        whole(run, disk)
    assert f"the disk of {disk / 'states'} is full: the match waits" in caplog.text


@pytest.mark.parametrize("where", ["app.pipeline.state_store.os.fsync", "tests.app.host_run.json.dumps"])
def test_wherever_the_disk_is_full_the_batch_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where):
    """Without a disk of its own: the state, or the commit, finds no room three times."""
    monkeypatch.setattr(disk_full, "_CHECK_S", 0.01)
    real = os.fsync if where.endswith("fsync") else json.dumps
    refusals = [FULL] * 3

    def sometimes(*given, **more):
        if refusals:
            raise refusals.pop()
        return real(*given, **more)

    monkeypatch.setattr(where, sometimes)
    run = Run(tmp_path / "capture", tmp_path)
    run.end()
    assert not refusals
    whole(run, tmp_path)


def test_a_stop_on_a_full_disk_ends_the_run_with_the_reason(tmp_path: Path):
    stop = threading.Event()
    stop.set()
    with pytest.raises(HostError, match="is full; make room, and start again with the same --store"):
        SpaceWaiter(tmp_path, stop).wait(FULL)


def test_full_disks_are_told_from_other_errors_by_number_or_by_sparks_words():
    assert is_full(FULL)
    assert is_full(OSError(errno.EDQUOT, "x"))
    assert is_full(RuntimeError("java.io.IOException: No space left on device\n\tat java.base"))
    outer = RuntimeError("the batch failed")
    outer.__cause__ = FULL
    assert is_full(outer)
    assert not is_full(OSError(errno.EACCES, "Permission denied"))
    assert not is_full(RuntimeError("the query failed"))


class OverQuery:
    """A query that has ended."""

    def awaitTermination(self, patience_s: float) -> bool:  # noqa: N802  Spark's name
        return True


def test_a_disk_that_is_full_where_a_query_begins_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Spark cannot write its checkpoint, and says so by an error of Java's and not of the query's."""
    monkeypatch.setattr(disk_full, "_CHECK_S", 0.001)
    errors: list[Exception] = [Py4JError("java.io.IOException: No space left on device")] * 3

    def begin() -> OverQuery:
        if errors:
            raise errors.pop()
        return OverQuery()

    keep_running(tmp_path, begin, lambda: 0, threading.Event())
    assert not errors
    errors.append(Py4JError("An error occurred while trying to connect to the Java server"))
    with pytest.raises(HostError, match="Spark's process is gone"):
        keep_running(tmp_path, begin, lambda: 0, threading.Event())


@pytest.mark.slow
@pytest.mark.spark
def test_a_run_through_spark_waits_on_a_full_disk_and_loses_nothing(tmp_path: Path):
    with small_disk(tmp_path / "disk", 96) as disk:
        folder = disk / "store"
        run = start(folder, tmp_path / "run.log")
        try:
            in_mid_batch(folder, run)
            filler = fill(disk)
            wait_for(lambda: "is full: the match waits" in (tmp_path / "run.log").read_text(), run, "the warning")
            filler.unlink()
            finish(run, tmp_path / "run.log")
        finally:
            kill_group(run)
        check(folder)
