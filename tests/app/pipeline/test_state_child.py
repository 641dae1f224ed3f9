"""The child process that stores a state: what waits for it learns of its end, and two never replace each other."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

import pytest

from app.pipeline.disk_full import is_full
from app.pipeline.seal import Maker, StateError
from app.pipeline.state_child import StateChild, StorerKilledError
from app.pipeline.state_store import StateStore

MAKER = Maker("test")


def test_a_child_stores_a_state_beside_its_parent(tmp_path):
    store, gate = StateStore(tmp_path, "m"), tmp_path / "gate"
    epoch = store.claim_epoch()

    def make() -> bytes:
        while not gate.exists():
            time.sleep(0.001)
        return b"state"

    child = StateChild(store, 40, epoch, make, MAKER)
    child.check()
    assert not store.has(40, epoch)
    gate.touch()
    child.wait()
    assert store.read(40, MAKER) == b"state"


def full_disk() -> bytes:
    raise OSError(errno.ENOSPC, "No space left on device")


def killed() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


@pytest.mark.parametrize("make", [full_disk, killed, lambda: b"" * (1 // 0)])
def test_a_state_that_is_not_stored_is_an_error_of_whoever_waits(tmp_path, monkeypatch, make):
    monkeypatch.setattr("app.pipeline.state_child._AFTER_S", 0.0)
    store = StateStore(tmp_path, "m")
    child = StateChild(store, 40, store.claim_epoch(), make, MAKER)
    with pytest.raises((OSError, StateError, StorerKilledError)) as raised:
        child.wait()
    assert is_full(raised.value) == (make is full_disk)
    assert isinstance(raised.value, StorerKilledError) == (make is killed)
    with pytest.raises(type(raised.value)):
        child.check()


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="sees in /proc that a process stands still")
@pytest.mark.parametrize("wakes", ["before", "after"])
def test_a_child_that_stood_still_while_another_stage_took_over_replaces_nothing(tmp_path, monkeypatch, wakes):
    """It stands between its look at the epoch and the moment when its state can be seen, and wakes before its
    successor has stored the state of the same offset, or after."""
    store, fsync, pids = StateStore(tmp_path, "m"), os.fsync, list[int]()

    def standing(handle: int) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        fsync(handle)

    def fork() -> int:
        pids.append(real())
        return pids[-1]

    real = os.fork
    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(os, "fsync", standing)
    monkeypatch.setattr("app.pipeline.state_child._AFTER_S", 0.0)
    old_epoch = store.claim_epoch()
    old = StateChild(store, 40, old_epoch, lambda: b"old", MAKER)
    while not stopped(pids[0]):
        time.sleep(0.001)
    monkeypatch.setattr(os, "fsync", fsync)

    epoch = store.claim_epoch()
    if wakes == "before":
        os.kill(pids[0], signal.SIGCONT)
        old.wait()
        assert store.has(40, old_epoch), "it was put down late"
        assert not store.has(40, epoch), "and is not what who commits waits for"
    new = StateChild(store, 40, epoch, lambda: b"new", MAKER)
    new.wait()
    if wakes == "after":
        os.kill(pids[0], signal.SIGCONT)
        old.wait()
    assert store.has(40, epoch)
    assert store.read(40, MAKER) == b"new"
    store.forget_before(41)
    assert store.offsets() == []


def test_the_state_of_a_dead_engine_is_not_taken_for_the_one_that_is_being_stored(tmp_path):
    store = StateStore(tmp_path, "m")
    store.write(40, store.claim_epoch(), b"old", MAKER)
    epoch = store.claim_epoch()
    child = StateChild(store, 40, epoch, lambda: time.sleep(0.1) or b"new", MAKER)
    assert not store.has(40, epoch)
    child.wait()
    assert store.read(40, MAKER) == b"new"
