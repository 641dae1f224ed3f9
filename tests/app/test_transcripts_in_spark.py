"""The transcripts of the detectors through Spark: from a capture, in several batches, they say what they say bare."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import SparkSession

from app.hub.server import Hub
from app.match.options import PIPELINE
from app.match.pipeline import PipelineOptions
from app.spark.host import HostConfig, SparkHost
from app.spark.java import find_java
from app.spark.stage import StageConfig
from detectors.inputs import Block
from replay.capture import Capture, CaptureWriter
from tests.app.host_run import FileCommitter
from tests.detectors.test_transcripts import CASES
from tests.detectors.test_transcripts_in_disorder import in_disorder, scene

pytestmark = pytest.mark.spark

#: Arrival time in a batch: a scene of six seconds takes three.
WINDOW_US = 2_500_000

#: Played by default; all others are slow.
CHOSEN = {
    "a pass is attempted at the kick and completed at the mate's contact": "rtls",
    "an opponent who gets a moving pass intercepts it": "optical",
    "a shot that passes the post on the shooter's left is off target": "optical",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from app.spark.session import start_session, stop_session

    started = start_session(find_java(os.environ), tmp_path_factory.mktemp("spark") / "spark.log", slots=2)
    yield started
    stop_session(started)


def through_spark(
    case: dict[str, Any], quality: str, folder: Path, session: SparkSession
) -> list[tuple[str, str, str]]:
    """(kind, variant, player) of what stands in the end, of kinds that are published in one version."""
    hierarchy, sheet, arrivals = scene(case, quality)
    sheet = msgspec.structs.replace(sheet, match_id=re.sub(r"\W+", "-", f"{case['name']}-{quality}"))
    with CaptureWriter(folder / "capture", sheet, channel="rtls") as writer:
        came = in_disorder(arrivals, len(case["name"]))
        writer.extend(Block(now_us, tuple(one.event.payload for one in slot)) for now_us, slot in came)
    capture = Capture.open(folder / "capture")
    options = PipelineOptions(alpha=0.0, extra=tuple(case.get("extra", ())))
    with Hub([sheet]) as hub:
        stage = StageConfig(sheet, options, PIPELINE, str(folder / "states"), capture.begin_us, hub.address)
        config = HostConfig("tracking", folder / "capture", folder / "spark", stage, 0.0, WINDOW_US)
        SparkHost(session, config, FileCommitter(folder / "commits")).run(threading.Event())
        feed = hub.feed(sheet.match_id)
        assert feed.wait_ended(20)
        plain = set(case["look_at"]) - hierarchy.internal - hierarchy.amendable
        return [(e.kind, e.variant, e.player) for e in feed.events().values() if e.kind in plain]


def cases() -> Iterator[Any]:
    for case in CASES:
        for quality in case["inputs"]:
            slow = CHOSEN.get(case["name"]) != quality
            yield pytest.param(case, quality, id=f"{case['name']} ({quality})", marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("case", "quality"), list(cases()))
def test_a_transcript_through_spark_says_what_it_says_bare(
    case: dict[str, Any], quality: str, tmp_path: Path, session: SparkSession
) -> None:
    hierarchy, _, _ = scene(case, quality)
    versions = hierarchy.internal | hierarchy.amendable
    expected = sorted(tuple(row) for row in case["expect"] if row[0] not in versions)
    assert sorted(through_spark(case, quality, tmp_path, session)) == expected


def test_the_chosen_ones_are_there() -> None:
    assert set(CHOSEN) <= {case["name"] for case in CASES}
