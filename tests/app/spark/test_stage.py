"""The engine stage and its source without Spark: where a stage starts, when it may end, what it leaves behind."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from app.base.pace import anchored_pace, wall_us
from app.hub.server import Hub
from app.pipeline.disk_full import is_full
from app.pipeline.framing import pack, pad, unpack
from app.pipeline.state_store import StateStore
from app.spark import stage as spark_stage
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig
from app.spark.source import SeatBatch, SeatReader
from app.spark.stage import StageError, run_seat
from middleware.events import BEGINNING_US
from replay.capture import Capture
from tests.app.fake_pipeline import FakePipeline
from tests.app.host_run import PIPELINE, captured, write_capture

WINDOW_US = 4_000_000


def forget_all() -> None:
    """As if the engine's process were another one; what it was storing is stored."""
    for kept in spark_stage._cached_pipelines.values():
        kept.storing.wait()
    spark_stage._cached_pipelines.clear()


class OneSeat:
    """A seat with one match, and ranges of it played one by one."""

    def __init__(self, folder: Path, capture: Capture, hub: Hub, speed: float = 0.0) -> None:
        self.seat, self.states, self.hub = Seat(folder / "seat"), folder / "states", hub
        self.store = StateStore(self.states, "fake/1")
        self._entry, self._results = captured(capture, "fake/1", speed), WindowResults(folder / "results")
        self.seat.write([self._entry])
        self.seat.write_stage("fake/1", StageConfig(capture.sheet, None, PIPELINE, str(self.states), 0))
        self._results.folder.mkdir()

    def rows(self, start_us: int, end_us: int) -> Iterator[pa.RecordBatch]:
        self.seat.write([msgspec.structs.replace(self._entry, begin=start_us, stop=end_us)])
        options = {
            "seat": str(self.seat.folder), "window_us": str(WINDOW_US), "windows": "20", "requests_turns": "no",
            "stop_flag": str(self.seat.folder / "stop"),
        }  # fmt: skip
        return SeatReader(options).read(SeatBatch(1))

    def play(self, start_us: int, end_us: int) -> ClosedWindow:
        """The last window of a range."""
        assert not list(run_seat(self.seat, self._results.folder, self.hub.address, self.rows(start_us, end_us)))
        return list(self._results.ready(lambda *_: True))[-1]


@pytest.fixture
def capture(tmp_path: Path):
    return write_capture(tmp_path / "capture")


@pytest.fixture
def hub(capture):
    with Hub([capture.sheet]) as running:
        yield running


@pytest.fixture
def seat(capture, hub, tmp_path: Path):
    yield OneSeat(tmp_path, capture, hub)
    forget_all()
    spark_stage._clients.clear()


def blocks_of(batches: Iterator[pa.RecordBatch]) -> list[tuple[int, bytes]]:
    rows = [row for batch in batches for row in batch.to_pylist() if not row["closing"]]
    return [(arrival, payload) for row in rows for arrival, _, payload in unpack(row["frames"])]


def test_a_range_gives_the_same_blocks_whenever_it_is_read(capture, seat):
    once = blocks_of(seat.rows(1_000_000, 3_000_000))
    assert once == list(capture.payloads(1_000_000, 3_000_000))
    assert blocks_of(seat.rows(1_000_000, 3_000_000)) == once


def test_blocks_are_not_handed_on_before_they_are_due(capture, tmp_path, hub):
    begun_us = wall_us()
    for batch in OneSeat(tmp_path, capture, hub, speed=20.0).rows(0, 2_000_000):
        for _, due_us, _ in unpack(batch.column("frames")[0].as_py()):
            assert begun_us < due_us <= wall_us()


def test_the_clock_of_a_run_begins_once(tmp_path):
    first = anchored_pace(tmp_path / "anchor", 2.0, 1_000)
    assert anchored_pace(tmp_path / "anchor", 2.0, 9_000) == first
    assert first.due_wall_us(3_000) - first.due_wall_us(1_000) == 1_000


def test_only_the_last_row_closes_and_only_the_last_range_is_last(capture, seat):
    rows = [row for batch in seat.rows(0, WINDOW_US) for row in batch.to_pylist() if row["frames"]]
    assert [row["closing"] for row in rows] == [False] * (len(rows) - 1) + [True]
    assert not any(row["last"] for row in rows)
    ending = list(seat.rows(12_000_000, capture.end_us))
    assert ending[-1].column("last")[0].as_py()


def test_a_stage_goes_on_from_memory_when_it_stands_at_the_start(seat):
    first, second = seat.play(0, 4_000_000), seat.play(4_000_000, 8_000_000)
    assert (first.epoch, second.epoch) == (0, 0)
    assert second.meta["balls"] == 800


def test_a_stage_elsewhere_goes_on_from_the_stored_state_in_a_new_epoch(seat):
    seat.play(0, 4_000_000)
    forget_all()
    again = seat.play(4_000_000, 8_000_000)
    assert (again.epoch, again.meta["balls"]) == (1, 800)


def test_a_pipeline_leaves_memory_when_its_match_has_ended(seat, capture):
    seat.play(0, 8_000_000)
    assert spark_stage._cached_pipelines
    assert seat.play(8_000_000, capture.end_us).meta["last"]
    assert not spark_stage._cached_pipelines


def test_memory_that_stands_elsewhere_is_not_trusted(seat):
    seat.play(0, 4_000_000)
    seat.play(4_000_000, 8_000_000)
    redo = seat.play(4_000_000, 8_000_000)
    assert (redo.epoch, redo.meta["balls"]) == (1, 800)


def test_memory_of_a_replaced_stage_is_not_trusted(seat):
    seat.play(0, 4_000_000)
    for kept in spark_stage._cached_pipelines.values():
        kept.storing.wait()
    seat.store.claim_epoch()
    assert seat.play(4_000_000, 8_000_000).epoch == 2


def test_input_that_stops_before_its_window_is_closed_leaves_nothing_behind(seat, tmp_path):
    rows = list(seat.rows(0, 4_000_000))
    with pytest.raises(StageError, match="ended before its window did"):
        list(run_seat(seat.seat, tmp_path / "results", seat.hub.address, iter(rows[:-1])))
    assert seat.store.offsets() == []
    assert not spark_stage._cached_pipelines


def test_a_row_after_the_one_that_closes_a_window_is_refused(seat):
    config = seat.seat.stage("fake/1")
    stage = spark_stage.OpenWindow(config, "fake/1", 0, seat.hub.address)
    stage.take({"closing": True, "last": False, "end": 5, "frames": b""})
    with pytest.raises(StageError, match="a row after the one that closes its window"):
        stage.take({"closing": True, "last": False, "end": 5, "frames": b""})


@pytest.mark.parametrize(("late_us", "promises"), [(None, [None]), (10_000_000, [BEGINNING_US]), (1_000_000, [None])])
def test_only_blocks_that_are_far_behind_wait_until_they_are_final(seat, monkeypatch, late_us, promises):
    given = []

    def push_together(self, blocks, complete_us=None):
        given.append(complete_us)

    monkeypatch.setattr(FakePipeline, "far_behind_us", 6_000_000)
    monkeypatch.setattr(FakePipeline, "push_together", push_together)
    monkeypatch.setattr(FakePipeline, "measure_in_pause", lambda self: None)
    stage = spark_stage.OpenWindow(seat.seat.stage("fake/1"), "fake/1", 0, seat.hub.address)
    due_us = 0 if late_us is None else wall_us() - late_us
    stage.take({"closing": False, "frames": pad(pack(1_000, due_us, b"block"))})
    assert given == promises


def test_a_state_that_cannot_be_stored_fails_the_next_window_and_says_why(seat, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(StateStore, "write", full)
    with pytest.raises(OSError, match="No space left on device") as failed:
        seat.play(0, 8_000_000)
    assert is_full(failed.value)
    monkeypatch.setattr(StateStore, "write", lambda *_: 1 / 0)
    spark_stage._cached_pipelines.clear()
    assert "the state at 4000000 could not be stored" in seat.play(0, 8_000_000).failed


def test_a_missing_state_is_named(seat):
    assert "no state at 4000000" in seat.play(4_000_000, 8_000_000).failed
