"""Runs the Spark host with the fake pipeline in a folder, as a process that a test can kill.

    python -m tests.app.host_run FOLDER SPEED WINDOW_S [TOPIC [UPDATES]]

With a topic the capture is not read but only warmed up on: somebody else publishes it. UPDATES is the topic that a
relay tells what happens.

Commits are one JSON file a batch id, put in place by a rename; ``done.json`` holds what the hub ended up with.
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
from app.hub.server import Hub
from app.kafka.address import parse
from app.kafka.matches import find_match
from app.kafka.relay import Relay
from app.kafka.topic_location import TopicLocation, TopicOptions
from app.pipeline.commits import Committed
from app.spark.host import HostConfig, SparkHost
from app.spark.session import STREAMING, start_session, stop_session
from app.spark.stage import StageConfig
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from football.update_stream import EventRecord, UpdateRecord
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
    """Commits as files; an id that is there is left as it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.on_commit: Callable[[int], None] = lambda seq: None
        folder.mkdir(parents=True, exist_ok=True)

    def commit(self, batch_id, match, tables, meta) -> None:
        path = self.folder / f"{batch_id:06d}.json"
        if not path.exists():
            rows = tables["updates"].to_pylist() if "updates" in tables else []
            draft = path.with_suffix(".draft")
            draft.write_text(json.dumps({"rows": rows, "meta": meta}))
            draft.replace(path)
        self.on_commit(meta["next_seq"])

    def committed(self) -> Committed | None:
        paths = sorted(self.folder.glob("*.json"))
        meta = json.loads(paths[-1].read_text())["meta"] if paths else {}
        return Committed(int(paths[-1].stem), meta["end_offset"]) if paths else None

    def has_ended(self) -> bool:
        last = self.committed()
        return last is not None and bool(
            json.loads((self.folder / f"{last.batch:06d}.json").read_text())["meta"].get("last")
        )

    def rows(self) -> list[dict]:
        commits = [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))]
        return [row for commit in commits for row in commit["rows"]]


def as_update(row: dict) -> UpdateRecord:
    """A committed row as it was sent."""
    event = EventRecord(row["id"], "fake", "", 2, row["ts_us"], "", "ball", None, None, None, 1.0)
    return UpdateRecord(row["seq"], row["diff"], row["emitted_us"], event)


def topic_options(folder: Path, url: str, window_s: float) -> TopicOptions:
    """The match in a topic; found again where it was found first."""
    kept = folder / "topic.json"
    (folder / "listening").touch()
    if not kept.exists():
        kept.write_bytes(msgspec.json.encode(find_match(parse(url))))
    place = msgspec.json.decode(kept.read_bytes(), type=TopicLocation)
    return TopicOptions(
        url, place.match, place.partition, place.offset, round(window_s * 1e6 / PERIOD_US), window_s,
        str(folder / "spark" / "stop"), str(folder / "spark" / "marks"),
    )  # fmt: skip


def main(folder: Path, speed: float, window_s: float, url: str = "", updates: str = "") -> None:
    capture = write_capture(folder / "capture")
    committer = FileCommitter(folder / "commits")
    log = folder / "spark" / "spark.log"
    session = start_session(find_java(os.environ), log, slots=2, options=STREAMING)
    with Hub([capture.sheet]) as hub, ExitStack() as beside:
        rows = committer.rows()
        hub.seed("fake/1", [as_update(row) for row in rows], max((row["epoch"] for row in rows), default=0))
        if updates:
            relay = beside.enter_context(Relay(hub.feed("fake/1"), parse(updates), folder))
            committer.on_commit = relay.committed
        states = str(folder / "states")
        topic = topic_options(folder, url, window_s) if url else None
        begin = topic.begin if topic else capture.begin_us
        stage = StageConfig(capture.sheet, None, PIPELINE, states, begin, hub.address)
        window_us = round(window_s * 1e6 * (speed or 1))
        config = HostConfig(
            "tracking", folder / "capture", folder / "spark", stage, speed, window_us, capture.end_us, topic
        )
        SparkHost(session, config, committer).run(threading.Event())
        feed = hub.feed("fake/1")
        assert feed.wait_ended(10), "the last message did not come"
        (folder / "done.json").write_text(json.dumps({"epoch": feed.epoch(), "events": sorted(feed.events())}))
    stop_session(session)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:])
