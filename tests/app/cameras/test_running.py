"""The camera beside a live match: what it did ends up in the match store, column by column."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from app.cameras.figures_file import FILE, read_figures
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_of, cameras_on
from app.hub.feed import MatchFeed
from camera.record import CAMERA_SCHEMA
from football.match_sheet import MatchSheet
from football.tables import CAMERA
from football.update_stream import BallView, UpdateMessage, View
from tests.waiting import eventually


def test_the_stores_columns_are_the_cameras_and_the_heads_name():
    assert CAMERA.names == ["head", *CAMERA_SCHEMA.names]
    assert [CAMERA.field(name).type for name in CAMERA_SCHEMA.names] == CAMERA_SCHEMA.types


def test_a_camera_follows_the_feed_and_its_rows_are_stored():
    feed, tables = MatchFeed(MatchSheet("m")), []
    with cameras_on(feed, tables.append, cameras_of(None, feed.sheet()), CameraGroup()) as run:
        first = UpdateMessage("m", 0, 0, 0, continues_from=0)
        for tick in range(40):
            ball = BallView(tick * 20_000, tick * 0.2, 0.0, 0.1, 10.0, 0.0, 0.0)
            view = View(tick * 20_000, ball, ())
            now_us = time.time_ns() // 1_000
            message = msgspec.structs.replace(first, now_us=tick * 20_000, view=view, due_wall_us=now_us)
            feed.apply(message, now_us)
            first = msgspec.structs.replace(first, continues_from=None)
            time.sleep(0.02)
        (pose,) = feed.cameras()
    stored = pa.concat_tables(tables)
    assert stored.schema.names == CAMERA.names
    assert "follow" in stored["mode"].to_pylist()
    assert set(stored["head"].to_pylist()) == {pose.name}
    assert len(pose.achieved.footprint) >= 3
    assert run.figures()["main"]["rows"] == len(stored)


def test_the_figures_of_each_run_are_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = MatchFeed(MatchSheet("m"))

    def run() -> CameraGroup:
        with cameras_on(feed, lambda _: None, cameras_of(None, feed.sheet()), CameraGroup(), folder=tmp_path) as group:
            eventually(lambda: group.info("main").pose)
        return group

    first = run()
    (written,) = read_figures(tmp_path)
    assert written.cameras == first.figures(), "those of the end, with the standstill of the head"
    assert written.cameras["main"]["stopped"] == 1.0
    monkeypatch.setattr("app.cameras.figures_file.WRITE_S", 0.0)
    run()
    again, second = read_figures(tmp_path)
    assert again == written
    assert second.until_us >= second.since_us > written.until_us
    (tmp_path / FILE).write_text("[")
    run()
    assert len(read_figures(tmp_path)) == 1, "a damaged file is begun anew"


def test_the_rows_of_all_cameras_are_stored_one_batch_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("camera.controller.LOT_ROWS", 1)
    file = tmp_path / "cameras.toml"
    file.write_text("".join(f'[[camera]]\nname = "{name}"\n' for name in "abc"))
    entered, overlaps, heads = threading.Lock(), [], set()

    def append(table: pa.Table) -> None:
        if not entered.acquire(blocking=False):
            overlaps.append(table)
            return
        time.sleep(0.002)
        heads.update(table["head"].to_pylist())
        entered.release()

    with cameras_on(MatchFeed(MatchSheet("m")), append, cameras_of(file, MatchSheet("m")), CameraGroup()) as group:
        eventually(lambda: len(heads) == 3)
    assert heads == {"a", "b", "c"}
    assert not overlaps
    figures = group.figures()
    assert {one["record_errors"] for one in figures.values()} == {0.0}
    assert {one["stopped"] for one in figures.values()} == {1.0}
