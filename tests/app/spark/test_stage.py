"""The engine stage and its source without Spark: where a stage starts, when it may end, what it leaves behind."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
import time
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from app.base.pace import Waiter, anchored_pace, wall_us
from app.hub.server import Hub
from app.pipeline.disk_full import is_full
from app.pipeline.framing import pack, pad, unpack
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.seal import Maker, StateError, sealed
from app.pipeline.state_child import StateChild, wait_for
from app.pipeline.state_store import StateStore
from app.spark import stage as spark_stage
from app.spark.source import CaptureReader
from app.spark.stage import StageConfig, StageError, run_stage
from tests.app.host_run import PIPELINE, FileCommitter, write_capture

MAKER = Maker("test")


@pytest.fixture
def capture(tmp_path: Path):
    return write_capture(tmp_path / "capture")


@pytest.fixture
def hub(capture):
    with Hub([capture.sheet]) as running:
        yield running


@pytest.fixture
def config(capture, hub, tmp_path: Path):
    yield StageConfig(capture.sheet, None, PIPELINE, str(tmp_path / "states"), capture.begin_us, hub.address)
    forget_all()
    spark_stage._lanes.clear()


def forget_all() -> None:
    """As if the engine's process were another one; what it was storing is stored."""
    for kept in spark_stage._kept.values():
        kept.storing.wait()
    spark_stage._kept.clear()


def reader(capture, tmp_path: Path, **more: str) -> CaptureReader:
    options = {
        "capture": str(capture.path), "speed": "0", "window_us": "4000000", "stop_us": str(capture.end_us),
        "stop_flag": str(tmp_path / "stop"), "anchor": str(tmp_path / "anchor"),
    }  # fmt: skip
    return CaptureReader({**options, **more})


def rows_between(source: CaptureReader, start_us: int, end_us: int) -> list[pa.RecordBatch]:
    parts = source.partitions({"arrival_us": start_us}, {"arrival_us": end_us})
    return [batch for part in parts for batch in source.read(part)]


def meta_of(results: list[pa.RecordBatch]) -> dict:
    return json.loads(results[-1].column("meta")[0].as_py())


def test_windows_follow_each_other_to_the_end_and_then_stand_still(capture, tmp_path):
    source, offset, offsets = reader(capture, tmp_path), {"arrival_us": capture.begin_us}, []
    while (following := source.latestOffset(offset, source.getDefaultReadLimit())) != offset:
        offset = following
        offsets.append(offset["arrival_us"])
    assert offsets == [capture.end_us], "they are one batch"
    parts = source.partitions({"arrival_us": capture.begin_us}, offset)
    assert [part.end_us for part in parts] == [4_000_000, 8_000_000, 12_000_000, capture.end_us]
    assert [part.first for part in parts] == [True, False, False, False]


def test_after_a_stop_or_the_end_of_the_match_the_other_windows_of_a_batch_give_nothing(capture, tmp_path):
    source = reader(capture, tmp_path)
    parts = source.partitions({"arrival_us": capture.begin_us}, {"arrival_us": capture.end_us + 8_000_000})
    assert [bool(list(source.read(part))) for part in parts] == [True, True, True, True, False, False]
    (tmp_path / "stop").touch()
    assert [bool(list(source.read(part))) for part in parts[:3]] == [True, False, False]


def test_a_stop_flag_offers_no_further_window(capture, tmp_path):
    (tmp_path / "stop").touch()
    source = reader(capture, tmp_path)
    assert source.latestOffset({"arrival_us": 8}, source.getDefaultReadLimit()) == {"arrival_us": 8}


def test_a_range_gives_the_same_blocks_whenever_it_is_read(capture, tmp_path):
    def blocks(source: CaptureReader) -> list[tuple[int, bytes]]:
        rows = [row for batch in rows_between(source, 1_000_000, 3_000_000) for row in batch.to_pylist()]
        return [(arrival, payload) for row in rows for arrival, _, payload in unpack(row["frames"])]

    once = blocks(reader(capture, tmp_path))
    assert once == list(capture.payloads(1_000_000, 3_000_000))
    assert blocks(reader(capture, tmp_path)) == once


def test_blocks_are_not_handed_on_before_they_are_due(capture, tmp_path):
    source = reader(capture, tmp_path, speed="20")
    (part,) = source.partitions({"arrival_us": 0}, {"arrival_us": 2_000_000})
    begun_us = wall_us()
    for batch in source.read(part):
        for _, due_us, _ in unpack(batch.column("frames")[0].as_py()):
            assert begun_us < due_us <= wall_us()


def test_the_clock_of_a_run_begins_once(tmp_path):
    first = anchored_pace(tmp_path / "anchor", 2.0, 1_000)
    assert anchored_pace(tmp_path / "anchor", 2.0, 9_000) == first
    assert first.due_wall_us(3_000) - first.due_wall_us(1_000) == 1_000


def test_only_the_last_row_closes_and_only_the_last_range_is_last(capture, tmp_path):
    source = reader(capture, tmp_path)
    rows = [row for batch in rows_between(source, 0, 4_000_000) for row in batch.to_pylist() if row["frames"]]
    assert [row["closing"] for row in rows] == [False] * (len(rows) - 1) + [True]
    assert not any(row["last"] for row in rows)
    ending = rows_between(source, 12_000_000, capture.end_us)
    assert ending[-1].column("last")[0].as_py()


def test_a_stage_goes_on_from_memory_when_it_stands_at_the_start(capture, tmp_path, config, hub):
    source = reader(capture, tmp_path)
    first = list(run_stage(config, iter(rows_between(source, 0, 4_000_000))))
    second = list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))
    assert (meta_of(first)["epoch"], meta_of(second)["epoch"]) == (0, 0)
    assert meta_of(second)["balls"] == 800


def test_a_stage_elsewhere_goes_on_from_the_stored_state_in_a_new_epoch(capture, tmp_path, config):
    source = reader(capture, tmp_path)
    list(run_stage(config, iter(rows_between(source, 0, 4_000_000))))
    forget_all()
    again = list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))
    assert (meta_of(again)["epoch"], meta_of(again)["balls"]) == (1, 800)


def test_memory_that_stands_elsewhere_is_not_trusted(capture, tmp_path, config):
    source = reader(capture, tmp_path)
    for start_us in (0, 4_000_000):
        list(run_stage(config, iter(rows_between(source, start_us, start_us + 4_000_000))))
    redo = list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))
    assert (meta_of(redo)["epoch"], meta_of(redo)["balls"]) == (1, 800)


def test_memory_of_a_replaced_stage_is_not_trusted(capture, tmp_path, config):
    source = reader(capture, tmp_path)
    list(run_stage(config, iter(rows_between(source, 0, 4_000_000))))
    for kept in spark_stage._kept.values():
        kept.storing.wait()
    StateStore(Path(config.states), "fake/1").claim_epoch()
    after = list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))
    assert meta_of(after)["epoch"] == 2


def test_input_that_stops_before_its_range_is_closed_leaves_nothing_behind(capture, tmp_path, config):
    rows = rows_between(reader(capture, tmp_path), 0, 4_000_000)
    with pytest.raises(StageError, match="ended before its range did"):
        list(run_stage(config, iter(rows[:-1])))
    assert StateStore(Path(config.states), "fake/1").offsets() == []
    assert not spark_stage._kept


def test_a_state_that_cannot_be_stored_fails_the_next_window_and_says_why(capture, tmp_path, config, monkeypatch):
    source = reader(capture, tmp_path)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(StateStore, "write", full)
    list(run_stage(config, iter(rows_between(source, 0, 4_000_000))))
    with pytest.raises(OSError, match="No space left on device") as failed:
        list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))
    assert is_full(failed.value)
    monkeypatch.setattr(StateStore, "write", lambda *_: 1 / 0)
    spark_stage._kept.clear()
    list(run_stage(config, iter(rows_between(source, 0, 4_000_000))))
    with pytest.raises(StateError, match="the state at 4000000 could not be stored"):
        list(run_stage(config, iter(rows_between(source, 4_000_000, 8_000_000))))


def test_who_commits_waits_for_the_state_and_no_longer_than_somebody_stores_it(tmp_path):
    store, over, gate = StateStore(tmp_path, "m"), threading.Event(), tmp_path / "gate"
    epoch = store.claim_epoch()

    def make() -> bytes:
        while not gate.exists():
            time.sleep(0.001)
        return b"state"

    child = StateChild(store, 40, epoch, make, MAKER)
    child.check()
    waited = threading.Thread(target=wait_for, args=(store, 40, epoch, over, child.keepers))
    waited.start()
    gate.touch()
    waited.join(30)
    child.wait()
    assert not waited.is_alive()
    assert store.read(40, MAKER) == b"state"
    over.set()
    with pytest.raises(StateError, match="the state at 50 was not stored"):
        wait_for(store, 50, epoch, over, child.keepers)


def full_disk() -> bytes:
    raise OSError(errno.ENOSPC, "No space left on device")


def killed() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


@pytest.mark.parametrize("make", [full_disk, killed, lambda: b"" * (1 // 0)])
@pytest.mark.parametrize("first", ["the child ends", "somebody waits"])
def test_who_commits_hears_that_a_state_will_not_come(tmp_path, monkeypatch, make, first):
    """No next window follows, as at the end of a batch, and patience is endless: nothing else ends the waiting."""
    monkeypatch.setattr("app.pipeline.state_child.PATIENCE_S", float("inf"))
    monkeypatch.setattr("app.pipeline.state_child._AFTER_S", 0.0)
    store, gate, refused = StateStore(tmp_path, "m"), tmp_path / "gate", list[BaseException]()
    epoch = store.claim_epoch()

    def commit() -> None:
        try:
            wait_for(store, 40, epoch, threading.Event(), child.keepers)
        except (OSError, StateError) as error:
            refused.append(error)

    def gated() -> bytes:
        while not gate.exists():
            time.sleep(0.001)
        return make()

    child, waiting = StateChild(store, 40, epoch, gated, MAKER), threading.Thread(target=commit, daemon=True)
    if first == "somebody waits":
        waiting.start()
    gate.touch()
    with pytest.raises((OSError, StateError)) as told:
        child.wait()
    if first == "the child ends":
        waiting.start()
    waiting.join(30)
    assert [str(error) for error in refused] == [str(told.value)]
    assert is_full(refused[0]) == (make is full_disk)


@pytest.mark.parametrize("stores", [False, True])
@pytest.mark.parametrize("is_asked_for", [False, True], ids=["a zombie", "no more"])
def test_who_commits_does_not_wait_for_a_state_whose_child_and_engine_both_are_gone(
    tmp_path, monkeypatch, stores, is_asked_for
):
    """The engine's process is killed while its child is at work, and then the child, before it could store the state
    or just after; nobody is left who could leave a note, and patience is endless."""
    monkeypatch.setattr("app.pipeline.state_child.PATIENCE_S", float("inf"))
    monkeypatch.setattr("app.pipeline.state_child._AFTER_S", 0.0)
    store, told, refused = StateStore(tmp_path, "m"), tmp_path / "told", list[str]()
    epoch = store.claim_epoch()
    engine = os.fork()
    if engine == 0:  # what it forks is waited for by nobody of ours
        child = StateChild(store, 40, epoch, lambda: b"state" if stores else time.sleep(300) or b"", MAKER)
        (tmp_path / "draft").write_text(f"{child.keepers[0]} {child.keepers[1]}")
        (tmp_path / "draft").rename(told)
        time.sleep(300)
    while not told.exists() or stores != store.has(40, epoch):
        time.sleep(0.001)
    keepers = tuple(map(int, told.read_text().split()))
    assert keepers[0] == engine

    def commit() -> None:
        try:
            wait_for(store, 40, epoch, threading.Event(), keepers)
        except StateError as error:
            refused.append(str(error))

    waiting = threading.Thread(target=commit, daemon=True)
    if not stores:
        waiting.start()
    os.kill(engine, signal.SIGKILL)
    if is_asked_for:
        os.waitpid(engine, 0)
    if not stores:
        waiting.join(0.1)
        assert waiting.is_alive(), "the child may still store it"
        os.kill(keepers[1], signal.SIGKILL)
    else:
        waiting.start()
    waiting.join(30)
    if not is_asked_for:
        os.waitpid(engine, 0)
    assert not waiting.is_alive()
    assert refused == ([] if stores else ["match m: the state at 40 was not stored"])


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
    wait_for(store, 40, epoch, threading.Event(), new.keepers)
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


def test_a_state_from_before_epochs_stood_in_names_is_refused_by_its_version(tmp_path):
    store = StateStore(tmp_path, "m")
    head = {"version": 1, "key": "k", "match": "m", "offset": 40, "maker": MAKER}
    (tmp_path / "m" / "40.state").write_bytes(b"".join(sealed(msgspec.json.encode(head), b"x")))
    with pytest.raises(StateError, match=r"40\.state: is of version 1, this program reads version 2"):
        store.check(40)


def test_a_missing_state_is_named(capture, tmp_path, config):
    with pytest.raises(StateError, match="no state at 4000000"):
        list(run_stage(config, iter(rows_between(reader(capture, tmp_path), 4_000_000, 8_000_000))))


def test_a_stage_that_was_replaced_must_not_write(tmp_path):
    store = StateStore(tmp_path, "m")
    old, new = store.claim_epoch(), store.claim_epoch()
    with pytest.raises(StateError, match="was replaced"):
        store.write(5, old, b"x", MAKER)
    store.write(5, new, b"y", MAKER)
    assert store.read(5, MAKER) == b"y"


def test_old_states_and_abandoned_drafts_are_forgotten_and_newer_ones_kept(tmp_path):
    store = StateStore(tmp_path, "a/b c")
    epoch = store.claim_epoch()
    for offset_us in (-5, 10, 20):
        store.write(offset_us, epoch, b"x", MAKER)
    (tmp_path / "a%2Fb%20c" / "3.7.draft").touch()
    store.give_up(4, 0, errno.ENOSPC)
    store.forget_before(10)
    assert store.offsets() == [10, 20]
    assert not [path for path in tmp_path.rglob("*.*") if path.suffix in (".draft", ".failed")]


def test_padded_rows_give_back_their_blocks_and_damaged_ones_are_refused():
    blocks = [(1, 2, b"abc"), (3, 4, bytes(2000))]
    row = pad(b"".join(pack(*block) for block in blocks))
    assert len(row) % 64 == 0
    assert list(unpack(row)) == blocks
    with pytest.raises(ValueError, match="arrived at 3 us"):
        list(unpack(row[:1000]))


def test_a_stop_ends_the_waiting():
    stop = threading.Event()
    waiter = Waiter(stop.is_set)
    threading.Timer(0.1, stop.set).start()
    waiter.sleep_until(wall_us() + 60_000_000)
    assert waiter.stopped


def in_process(capture, folder: Path, hub: Hub, **more) -> tuple[InProcessHost, FileCommitter]:
    committer = FileCommitter(folder / "commits")
    values = {"pipeline": PIPELINE, "settings": None, "states": folder / "states", "speed": 0.0,
              "window_us": 4_000_000, "start_us": capture.begin_us, "stop_us": capture.end_us}  # fmt: skip
    return InProcessHost(capture, InProcessConfig(**{**values, **more}), hub, committer), committer


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
    host, committer = in_process(capture, tmp_path, hub, start_us=end_us, batch_id=len(commits))
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
