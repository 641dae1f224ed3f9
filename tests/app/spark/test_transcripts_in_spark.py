"""The transcripts of the detectors through Spark: matches of one query, from captures, in several batches.

Each scene on each of its inputs is a match, disordered and doubled; in the end its store holds what the sorted world
publishes, to the last kind, and the rows that the transcript expects.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from app.base.java import find_java
from app.hub.server import Hub
from app.pipeline.options import PIPELINE
from app.pipeline.pipeline import PipelineOptions
from app.spark.driver import MatchPlan, SparkDriver
from app.spark.seat import StageConfig
from detectors.arrivals import arrival, end_arrival, frame_arrival
from football.packets import Block, PackedInstant
from football.payloads import payload_of
from middleware.oracle import published
from replay import wire
from replay.capture import Capture, CaptureWriter
from replay.formats.officials import FILE
from tests.app.host_run import FileCommitter, captured
from tests.detectors.plays import CASES, QUALITIES, Story, story
from tests.detectors.test_transcripts_in_disorder import in_disorder
from tests.quick_java import quick_java

pytestmark = pytest.mark.spark

#: Arrival time in a batch: a scene of six seconds takes three.
WINDOW_US = 2_500_000

#: Played by default, all in one query: every so-manieth scene on camera tracking, and some on radio.
EVERY_OPTICAL = 12
ON_RADIO = {"a pass is attempted at the kick and completed at the mate's contact"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from app.spark.session import start_session, stop_session

    java = find_java(os.environ)
    with quick_java():
        started = start_session(java, tmp_path_factory.mktemp("spark") / "spark.log", slots=2)
    yield started
    stop_session(started)


class Committed:
    """Keeps what is committed of each match."""

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._over: set[str] = set()
        self.updates: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.batches: dict[str, int] = defaultdict(int)
        self.broken: dict[str, str] = {}

    def offset(self, match: str) -> int:
        return self._offsets.get(match, 0)

    def has_ended(self, match: str) -> bool:
        return match in self._over

    def commit(self, match: str, start: int, tables: dict[str, pa.Table], meta: dict[str, Any]) -> None:
        self._offsets[match] = meta["end_offset"]
        self.batches[match] += 1
        self.updates[match] += tables["updates"].to_pylist()
        if meta["last"]:
            self._over.add(match)

    def failed(self, match: str, reason: str) -> None:
        self.broken[match] = reason


def recorded(case: dict[str, Any], played: Story, folder: Path) -> Story:
    """The capture of a scene and the file of what officials say in it; the scene as the capture has it, in whole mm."""
    with CaptureWriter(folder / "capture", played.sheet, channel="rtls") as writer:
        for now_us, slot in in_disorder(played, len(case["name"])):
            payloads = [one.event.payload for one in slot if one.event.kind != "raw.official"]
            if played.sheet.quality.framed:
                instants = [one.packets if isinstance(one, PackedInstant) else one for one in payloads]
                writer.extend(Block(now_us + n, packets) for n, packets in enumerate(instants))
            elif payloads:
                writer.extend([Block(now_us, tuple(payloads))])
    if played.lines:
        (folder / FILE).write_text("".join(f"{line}\n" for line in played.lines))
    capture = Capture.open(folder / "capture")
    blocks = [wire.decode(payload).packets for _, payload in capture.payloads(capture.begin_us, capture.end_us)]
    if played.sheet.quality.framed:
        arrivals = [frame_arrival(packets, number) for number, packets in enumerate(blocks)]
    else:
        arrivals = [arrival(packet) for packets in blocks for packet in packets]
    lines = [one for one in played.arrivals if one.event.kind == "raw.official"]
    return played._replace(arrivals=[*arrivals, *lines])


def in_one_query(
    chosen: list[tuple[dict[str, Any], str]], folder: Path, session: SparkSession
) -> tuple[dict[str, Story], Committed]:
    """All the scenes as matches of one query."""
    stories: dict[str, Story] = {}
    committed = Committed()
    with Hub([]) as hub:
        host = SparkDriver(session, folder / "query", 2, WINDOW_US, committed, hub.address)
        for case, quality in chosen:
            played = story(case, quality)
            name = re.sub(r"\W+", "-", f"{case['name']}-{quality}")
            sheet = msgspec.structs.replace(played.sheet, match_id=name)
            home = folder / name
            home.mkdir()
            stories[name] = recorded(case, played._replace(sheet=sheet), home)
            hub.add(sheet)
            options = PipelineOptions(alpha=0.0, extra=tuple(case.get("extra", ())))
            stage = StageConfig(sheet, options, PIPELINE, str(home / "states"), 0)
            entry = captured(Capture.open(home / "capture"), name, 0.0, officials=(str(home),))
            host.add(MatchPlan(msgspec.structs.replace(entry, begin=0), stage, 1.0))
        host.get_ready(threading.Event())
        assert [(bool(seat.requested_turn()), seat.turn()) for seat in host.seats] == [(True, "")] * 2, (
            "nobody plays before the run"
        )
        host.run(threading.Event())
        for name in stories:
            assert hub.feed(name).wait_ended(20), name
    return stories, committed


def standing(rows: list[dict[str, Any]]) -> list[tuple[str, str, str, int, str]]:
    """The events that stand after the updates of a match, each once."""
    stands: dict[str, list[tuple[str, str, str, int, str]]] = defaultdict(list)
    for row in rows:
        event = (row["kind"], row["variant"], row["player"], row["ts_us"], row["id"])
        (stands[row["id"]].append if row["diff"] > 0 else stands[row["id"]].remove)(event)
    return sorted(event for events in stands.values() for event in events)


def held_against_the_sorted_world(
    chosen: list[tuple[dict[str, Any], str]], folder: Path, session: SparkSession
) -> None:
    stories, committed = in_one_query(chosen, folder, session)
    assert committed.broken == {}
    for (case, _), (name, played) in zip(chosen, stories.items(), strict=True):
        end = end_arrival(max(one.until_us for one in played.arrivals))
        events = published(played.hierarchy, [one.event for one in (*played.arrivals, end)])
        expected = sorted((e.kind, payload_of(e).variant, payload_of(e).player, e.ts_us, e.id) for e in events)
        found = standing(committed.updates[name])
        if played.lines:  # a decision takes effect when it comes, and what follows from it is dated then (decision 051)
            assert sorted(row[:3] for row in found) == sorted(row[:3] for row in expected), name
        else:
            assert found == expected, name
        versions = played.hierarchy.internal | played.hierarchy.amendable
        rows = sorted(tuple(row) for row in case["expect"] if row[0] not in versions)
        assert sorted(row[:3] for row in found if row[0] in {*case["look_at"]} - versions) == rows, name
        if case["seconds"] > 2 * WINDOW_US * 1e-6:
            assert committed.batches[name] > 1, f"{name} went through in one batch"


EVERY = [(case, quality) for case in CASES for quality in case["inputs"]]
FEW = [
    (case, quality)
    for number, (case, quality) in enumerate(EVERY)
    if (case["name"] in ON_RADIO if QUALITIES[quality].limbs else case.get("officials") or number % EVERY_OPTICAL == 0)
]


@pytest.mark.slow
def test_transcripts_through_spark_say_what_they_say_bare(tmp_path: Path, session: SparkSession) -> None:
    assert len(FEW) >= 8
    held_against_the_sorted_world(FEW, tmp_path, session)


@pytest.mark.slow
def test_all_transcripts_through_spark_say_what_they_say_bare(tmp_path: Path, session: SparkSession) -> None:
    held_against_the_sorted_world(EVERY, tmp_path, session)


@pytest.mark.slow
def test_what_officials_write_while_the_query_runs_is_heard_and_takes_back_what_it_contradicts(
    tmp_path: Path, session: SparkSession
) -> None:
    """After the first window a red card, after the second a review of it: update stream and store agree."""
    (case,) = (case for case in CASES if case["name"] == "a substitute comes on for the mate who went off")
    played = story(case, "optical")
    played = played._replace(sheet=msgspec.structs.replace(played.sheet, match_id="officials"))
    recorded(case, played, tmp_path)
    committer = FileCommitter(tmp_path / "commits", Capture.open(tmp_path / "capture").begin_us)
    decisions = {
        0: '{"kind": "card", "variant": "red", "team": "away", "player": "away_4"}\n',
        1: '{"kind": "var", "variant": "no red card"}\n{"kind": "foul", "team": "home", "player": "away_4"}\n',
    }

    batches = count()

    def write_lines(next_seq: int) -> None:
        with (tmp_path / FILE).open("a") as lines:
            lines.write(decisions.get(next(batches), ""))

    committer.on_commit = write_lines
    with Hub([played.sheet]) as hub:
        options = PipelineOptions(alpha=0.0)
        begin_us = Capture.open(tmp_path / "capture").begin_us
        stage = StageConfig(played.sheet, options, PIPELINE, str(tmp_path / "states"), begin_us)
        driver = SparkDriver(session, tmp_path / "spark", 1, 4_000_000, committer, hub.address)
        # In real time: as fast as possible, the source would have read on before a window is committed.
        entry = captured(Capture.open(tmp_path / "capture"), "officials", 1.0, officials=(str(tmp_path),))
        driver.add(MatchPlan(entry, stage, 1.0))
        driver.run(threading.Event())
        feed = hub.feed("officials")
        assert feed.wait_ended(20)
        live = {event.kind: event for event in feed.events().values()}
    stored = {row[0] for row in standing(committer.rows())}
    for kinds in (live.keys(), stored):
        assert {"official.var", "overruled"} <= kinds
        assert not {"official.card", "sendoff.suspected", "official.foul"} & kinds
    assert live["overruled"].player == "away_4"
    asserted = {(row["kind"], row["diff"]) for row in committer.rows()}
    assert {(kind, diff) for kind in ("official.card", "sendoff.suspected") for diff in (1, -1)} <= asserted
    metas = [json.loads(path.read_text())["meta"] for path in sorted(committer.folder.glob("*.json"))]
    assert ["is not of team home" in reason for reason in metas[-1]["quarantined"]] == [True]
