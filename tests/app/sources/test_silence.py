"""A clock that leaps by days: an unpaced run commits the silence as one window, with Spark's reader and without."""

from __future__ import annotations

import threading
from pathlib import Path

from app.base.pace import NEVER_US
from app.hub.server import Hub
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.sources.captured import CaptureSource
from app.sources.interface import OpenBatch, SourceRow
from football.match_sheet import MatchSheet
from football.packets import Block
from replay.capture import Capture, CaptureWriter
from tests.app.host_run import PERIOD_US, PIPELINE, FileCommitter, captured, packet_of

DAYS_US = 11 * 86_400_000_000

WINDOW_US = 4_000_000


def leaping(path: Path) -> Capture:
    with CaptureWriter(path, MatchSheet(match_id="fake/1")) as writer:
        for index in (*range(100), *(DAYS_US // PERIOD_US + index for index in range(100))):
            writer.extend([Block(index * PERIOD_US, (packet_of("ball", index),))])
    return Capture.open(path)


def test_in_process_it_is_one_window(tmp_path: Path):
    capture, committer = leaping(tmp_path / "capture"), FileCommitter(tmp_path / "commits")
    config = InProcessConfig(PIPELINE, None, tmp_path / "states", 0.0, WINDOW_US)
    with Hub([capture.sheet]) as hub:
        InProcessHost(capture, config, hub, committer).run(threading.Event())
        assert hub.feed("fake/1").ended()
    assert len(list(committer.folder.glob("*.json"))) == 2


def test_a_reader_closes_one_window(tmp_path: Path):
    batch = OpenBatch(WINDOW_US, 20, NEVER_US, tmp_path.joinpath, lambda: False, lambda match: True)
    reader = CaptureSource().reader(batch)
    reader.add(captured(leaping(tmp_path / "capture"), "m", 0.0), 1.0)
    rows: list[SourceRow] = []
    while reader.is_open:
        rows += reader.read(50_000)
    closing = [(row.start, row.end) for row in rows if row.closing]
    assert len(closing) == 2
    assert [end for _, end in closing[:-1]] == [start for start, _ in closing[1:]]
    assert sum(len(row.blocks) for row in rows if not row.closing) == 200


def test_a_stop_in_a_silence_is_heard(tmp_path: Path):
    capture, committer = leaping(tmp_path / "capture"), FileCommitter(tmp_path / "commits")
    stop = threading.Event()
    config = InProcessConfig(PIPELINE, None, tmp_path / "states", 1_000.0, WINDOW_US)
    threading.Timer(0.3, stop.set).start()
    with Hub([capture.sheet]) as hub:
        InProcessHost(capture, config, hub, committer).run(stop)
        assert not hub.feed("fake/1").ended()
