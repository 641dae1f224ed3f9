"""Runs the Spark driver with the fake pipeline in a folder, as a process that a test can kill.

    python -m tests.app.host_run FOLDER SPEED WINDOW_S [TOPIC [UPDATES]]

With a topic the capture is not read but only warmed up on: somebody else publishes it. UPDATES is the topic that a
relay tells what happens.

Commits are one JSON file a window, put in place by a rename; ``done.json`` holds what the hub ended up with.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from app.base.java import find_java
from app.base.pace import NEVER_US
from app.hub.server import Hub
from app.kafka.address import parse
from app.kafka.matches import find_match
from app.kafka.relay import Relay
from app.kafka.topic_location import TopicLocation, TopicSpec
from app.sources.captured import CapturedInput
from app.sources.interface import Entry
from app.sources.topic import TopicInput
from app.spark.driver import MatchPlan, SparkDriver
from app.spark.seat import StageConfig
from app.spark.session import start_session, stop_session
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from football.update_stream import EventRecord, UpdateMessage, UpdateRecord
from replay.capture import Capture, CaptureWriter

PIPELINE = "tests.app.fake_pipeline:FakePipeline"
BLOCKS, PERIOD_US = 1600, 10_000


def write_capture(path: Path) -> Capture:
    """Sixteen seconds of a ball and two players, a block every 10 ms."""
    if not path.exists():
        with CaptureWriter(path, MatchSheet(match_id="fake/1")) as writer:
            writer.extend(Block(i * PERIOD_US, tuple(packet_of(name, i) for name in _NAMES)) for i in range(BLOCKS))
    return Capture.open(path)


_NAMES = ("ball", "home_1", "away_1")


def packet_of(name: str, index: int) -> Packet:
    """The ``index``-th packet of a transmitter."""
    times_us = tuple(index * PERIOD_US - 5_000 + 1_000 * k for k in range(5))
    return Packet(name, index, times_us, (1.0,) * 5, (2.0,) * 5, (0.0,) * 5)


class FileCommitter:
    """A commit log of one match, in files."""

    def __init__(self, folder: Path, begin: int = 0) -> None:
        self.folder, self._begin = folder, begin
        self.on_commit: Callable[[int], None] = lambda seq: None
        self.broken = ""
        folder.mkdir(parents=True, exist_ok=True)

    def commit(self, match, start, tables, meta) -> None:
        if start < meta["end_offset"] == self.offset(match):  # it was committed before something failed
            return
        assert start == self.offset(match), f"a window of {start} where {self.offset(match)} comes next"
        path = self.folder / f"{len(list(self.folder.glob('*.json'))):06d}.json"
        rows = tables["updates"].to_pylist() if "updates" in tables else []
        draft = path.with_suffix(".draft")
        draft.write_text(json.dumps({"rows": rows, "meta": meta}))
        draft.replace(path)
        self.on_commit(meta["next_seq"])

    def offset(self, match) -> int:
        return self._last().get("end_offset", self._begin)

    def has_ended(self, match) -> bool:
        return bool(self._last().get("last"))

    def failed(self, match, reason) -> None:
        self.broken = reason

    def _last(self) -> dict:
        paths = sorted(self.folder.glob("*.json"))
        return json.loads(paths[-1].read_text())["meta"] if paths else {}

    def rows(self) -> list[dict]:
        commits = [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]
        return [row for commit in commits for row in commit["rows"]]


def as_update(row: dict) -> UpdateRecord:
    """A committed row as it was sent."""
    event = EventRecord(row["id"], "fake", "", 2, row["ts_us"], "", "ball", None, None, None, 1.0)
    return UpdateRecord(row["seq"], row["diff"], row["emitted_us"], event)


def topic_entry(folder: Path, url: str, window_s: float) -> Entry:
    """The match in a topic; found again where it was found first."""
    kept = folder / "topic.json"
    (folder / "listening").touch()
    if not kept.exists():
        kept.write_bytes(msgspec.json.encode(find_match(parse(url))))
    place = msgspec.json.decode(kept.read_bytes(), type=TopicLocation)
    records = round(window_s * 1e6 / PERIOD_US)
    spec = TopicSpec(url, place.match, place.partition, records, window_s, True, str(folder / "capture"))
    return Entry("fake/1", TopicInput.kind, msgspec.structs.asdict(spec), place.offset, 1.0, NEVER_US)


def main(folder: Path, speed: float, window_s: float, url: str = "", updates: str = "") -> None:
    capture = write_capture(folder / "capture")
    log = folder / "spark" / "spark.log"
    session = start_session(find_java(os.environ), log, slots=2, streaming=True)
    with Hub([capture.sheet]) as hub, ExitStack() as background:
        entry = captured(capture, "fake/1", speed) if not url else topic_entry(folder, url, window_s)
        committer = FileCommitter(folder / "commits", entry.begin)
        rows = committer.rows()
        if rows:
            done = tuple(as_update(row) for row in rows)
            epoch = max(row["epoch"] for row in rows)
            hub.apply(UpdateMessage("fake/1", epoch, done[-1].emitted_us, -(2**62), done))
        if updates:
            relay = background.enter_context(Relay(hub.feed("fake/1"), parse(updates), folder))
            committer.on_commit = relay.committed
        stage = StageConfig(capture.sheet, None, PIPELINE, str(folder / "states"), entry.begin)
        driver = SparkDriver(session, folder / "spark", 1, round(window_s * 1e6), committer, hub.address)
        driver.add(MatchPlan(entry, stage, 1.0))
        driver.get_ready(threading.Event())
        driver.run(threading.Event())
        assert not committer.broken, committer.broken
        feed = hub.feed("fake/1")
        assert feed.wait_ended(10), "the last message did not come"
        (folder / "done.json").write_text(json.dumps({"epoch": feed.epoch(), "events": sorted(feed.events())}))
    stop_session(session)


def captured(
    capture: Capture, match: str, speed: float, stop: int = NEVER_US, officials: tuple[str, ...] = ()
) -> Entry:
    """A match on a seat that is read from a capture."""
    opened = CapturedInput(capture)
    spec = opened.spec(1.0, one_match=True)
    return Entry(match, opened.kind, spec, opened.begin, speed, stop, officials)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
