"""Rubbish in a tracking file: each record is kept out with its reason, and the match is the match without it."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.pipeline import quarantine_buffer as kept_out
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.captures import prepare_capture
from football.match_sheet import MatchSheet, Quality
from football.packets import Block, Packet
from football.update_stream import EventRecord, Follower
from replay import wire
from replay.capture import Capture
from simulator.simulate import Simulation, simulate

COLUMNS = ("t_ms", "object_id", "team", "x", "y", "z")
TYPES = (pa.float64(), pa.string(), pa.string(), pa.float64(), pa.float64(), pa.float64())

#: Row of rubbish -> a word of the reason it must be given.
RUBBISH = {
    (10_030.0, "ball", "ball", math.nan, 0.0, 0.1): "not a number",
    (10_070.0, "home_7", "home", 1_000.0, 0.0, 0.0): "outside the tracking volume",
    (10_110.0, "away_9", "away", 3.0, math.inf, 0.0): "not a number",
    (2_000.0, "home_4", "home", 0.0, 0.0, 0.0): "does not increase",
    (10_190.0, "home_99", "home", 0.0, 0.0, 0.0): "not on the match sheet",
    (math.nan, "home_5", "home", 0.0, 0.0, 0.0): "no usable time",
    (10_230.0, "", "home", 0.0, 0.0, 0.0): "no object id",
}


def rows_of_a_match() -> list[tuple]:
    recording, _ = simulate(Simulation(duration_s=14.0, ball_hz=25, body_hz=25, limbs=(), noise_m=0.005))
    rows = []
    for track in recording.tracks:
        team = track.transmitter.partition("_")[0]
        for t, x, y, z in zip(track.ts_us, track.x_m, track.y_m, track.z_m, strict=True):
            rows.append((float(round(t / 40_000) * 40), track.transmitter, team, float(x), float(y), float(z)))
    rows.sort(key=lambda row: row[0])
    return list({row[:2]: row for row in rows}.values())


def write(folder: Path, rows: list[tuple]) -> Path:
    folder.mkdir()
    columns = zip(*rows, strict=True)
    table = {name: pa.array(column, kind) for name, column, kind in zip(COLUMNS, columns, TYPES, strict=True)}
    pq.write_table(pa.table(table), folder / "match.parquet")
    players = sorted({row[1] for row in rows if row[1].startswith(("home", "away")) and row[1] != "home_99"})
    sheet = {"players": [{"object_id": name, "name": name} for name in players]}
    (folder / "metadata.json").write_text(json.dumps(sheet), encoding="utf-8")
    return folder / "match.parquet"


@functools.cache
def play(file: Path, channel: str) -> tuple[dict[str, EventRecord], Counter[str], Capture]:
    """Plays a file; returns what stands in the end, the reasons of the quarantine, and the capture."""
    capture = Capture.open(prepare_capture(str(file), channel, 1, file.parent / f"capture-{channel}"))
    pipeline, follower = MatchPipeline(capture.sheet), Follower()
    for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us):
        if message := pipeline.push(payload, arrival_us):
            follower.apply(message)
    follower.apply(pipeline.finish())
    reasons = Counter(pipeline.take_tables()["quarantine"].column("reason").to_pylist())
    reasons.update(rejected.reason for rejected in capture.rejected)
    return follower.events, reasons, capture


@pytest.fixture(scope="module")
def matches(tmp_path_factory) -> tuple[Path, Path]:
    """The same match clean, and with rubbish in the middle and every fifth row doubled."""
    folder, rows = tmp_path_factory.mktemp("bad_input"), rows_of_a_match()
    doubled = [copy for n, row in enumerate(rows) for copy in ([row, row] if n % 5 == 0 else [row])]
    middle = len(doubled) // 2
    return write(folder / "clean", rows), write(folder / "rubbish", [*doubled[:middle], *RUBBISH, *doubled[middle:]])


@pytest.mark.parametrize("channel", ["none", "rtls"])
def test_every_record_of_rubbish_is_kept_out_with_its_reason_and_nothing_else_is_lost(matches, channel):
    clean, dirty = matches
    expected, none, _ = play(clean, channel)
    found, reasons, _ = play(dirty, channel)
    assert not none
    for row, word in RUBBISH.items():
        assert any(word in reason for reason in reasons), f"{row}: no reason with {word!r} in {dict(reasons)}"
    assert len(expected) > 50
    if channel == "none":
        assert found == expected
    else:
        assert {e.id for e in found.values() if e.kind == "hit"} == {e.id for e in expected.values() if e.kind == "hit"}


def test_bytes_that_are_no_block_are_kept_out_and_the_match_goes_on(matches):
    clean, _ = matches
    expected, _, capture = play(clean, "none")
    pipeline, follower = MatchPipeline(capture.sheet), Follower()
    for n, (arrival_us, payload) in enumerate(capture.payloads(capture.begin_us, capture.end_us)):
        if n % 50 == 0:
            pipeline.push(b"\x00rubbish", arrival_us)
            pipeline.push(payload[: len(payload) // 2], arrival_us)
        if message := pipeline.push(payload, arrival_us):
            follower.apply(message)
    follower.apply(pipeline.finish())
    quarantine = pipeline.take_tables()["quarantine"].to_pylist()
    assert len(quarantine) == 2 * len(range(0, len(capture), 50))
    assert all("block that arrived at" in row["record"] and row["reason"] for row in quarantine)
    assert dict(follower.events) == expected


def test_invented_players_are_kept_out_once_there_are_more_than_a_match_may_have(monkeypatch: pytest.MonkeyPatch):
    """A sheet without players takes any name; ten thousand of them must not make ten thousand states."""
    monkeypatch.setattr("app.pipeline.pipeline.SOURCES_MAX", 100)
    pipeline = MatchPipeline(MatchSheet(), PipelineOptions(alpha=0.0))
    sizes = []
    for number in range(600):
        now_us = 10_000 * number
        packets = [Packet("ball", number, (now_us,), (0.0,), (0.0,), (0.1,))]
        packets.append(Packet(f"home_{number}", 0, (now_us,), (1.0,), (1.0,), (0.0,)))
        pipeline.push(wire.encode(Block(now_us + 1, tuple(packets))), now_us + 1)
        if number % 100 == 99:
            tables = pipeline.take_tables()
            sizes.append(len(pipeline.snapshot()))
    assert sizes[-1] < 1.2 * sizes[-3]  # what is held of two seconds of a ball; without the limit it is 1.38
    (reason,) = {row["reason"] for row in tables["quarantine"].to_pylist()}
    assert reason.startswith("one transmitter more than")
    assert pipeline.commit_meta()["lost"] == 600 - 99


def test_a_frame_that_arrives_too_late_is_recorded_as_lost():
    """The author of a topic may declare frames and send one seconds late."""
    pipeline = MatchPipeline(MatchSheet(quality=Quality(framed=True)), PipelineOptions(alpha=0.0))
    for number in (*range(200), 1):
        ts_us = 40_000 * number
        packets = tuple(Packet(name, number, (ts_us,), (1.0,), (2.0,), (0.0,)) for name in ("ball", "home_1"))
        now_us = max(ts_us, pipeline.commit_meta()["now_us"])
        pipeline.push(wire.encode(Block(now_us, packets)), now_us)
    (row,) = pipeline.take_tables()["quarantine"].to_pylist()
    assert (row["record"], row["ts_us"]) == ("frame 201 of the tracking system", 40_000)
    assert row["reason"] == "arrived later than the engine's memory"
    assert pipeline.commit_meta()["lost"] == 1


@pytest.mark.parametrize(("ball_hz", "body_hz"), [(2_000.0, 25.0), (25.0, 2_000.0), (2_000.0, 1e-300), (1e-300, 25.0)])
def test_a_sheet_with_frames_and_any_rates_can_be_played(ball_hz: float, body_hz: float):
    """The author of a topic may declare frames of two rates, of which the faster one is averaged."""
    sheet = MatchSheet(quality=Quality(framed=True, ball_hz=ball_hz, body_hz=body_hz))
    pipeline = MatchPipeline(sheet, PipelineOptions(alpha=0.0))
    for number in range(50):
        ts_us = 40_000 * number
        packets = tuple(Packet(name, number, (ts_us,), (1.0,), (2.0,), (0.0,)) for name in ("ball", "home_1"))
        pipeline.push(wire.encode(Block(ts_us, packets)), ts_us)
    assert not pipeline.take_tables()["quarantine"].num_rows
    assert pipeline.commit_meta()["lost"] == 0


@pytest.mark.parametrize("first", [0, 1])
def test_of_packets_that_differ_under_one_number_one_counts_and_the_other_is_in_quarantine(first: int):
    pipeline = MatchPipeline(MatchSheet(), PipelineOptions(alpha=0.0))
    for number in range(20):
        ts_us = 20_000 * number
        copies = [Packet("home_7", number, (ts_us,), (0.03 * number + cm / 100,), (0.0,), (0.0,)) for cm in (0, 1)]
        one, other = copies[first], copies[1 - first]
        arriving = [one, other, one, other] if number == 10 else [one if first == 0 else other]
        for delay_us, packet in enumerate(arriving):
            pipeline.push(wire.encode(Block(ts_us + delay_us, (packet,))), ts_us + delay_us)
    pipeline.finish()
    tables, meta = pipeline.take_tables(), pipeline.commit_meta()
    (row,) = tables["quarantine"].to_pylist()
    assert row["record"] == "packet 10 of home_7"
    assert row["reason"] == "a copy of it with another content counts"
    assert (meta["lost"], meta["differing_copies"], meta["duplicates"]) == (1, 1, 2)
    (x_m,) = {p["x_m"] for p in tables["positions"].to_pylist() if p["ts_us"] == 200_000 and p["object_id"] == "home_7"}
    assert x_m == pytest.approx(0.31), "the greater representation counts, whichever came first"


def test_rubbish_fills_neither_memory_nor_disk_however_much_it_is(monkeypatch: pytest.MonkeyPatch):
    """Two records of a megabyte each hold more bad packets than a commit stores; the reasons are all different."""
    monkeypatch.setattr(kept_out, "MAX_ROWS", 1_000)
    pipeline = MatchPipeline(MatchSheet("m"), PipelineOptions(alpha=0.0))
    for number in (1, 2):
        packets = tuple(Packet("", i, (), (), (), ()) for i in range(600))
        pipeline.push(wire.encode(Block(number * 1_000, packets)), number * 1_000)
    for number in range(300):
        pipeline.push(wire.refusal(f"record {number} is none"), 3_000)
    counted = pipeline.commit_meta()["quarantined"]
    assert counted["no transmitter"] == 1_200
    assert len(counted) == kept_out.MAX_REASONS + 1
    assert sum(counted.values()) == 1_500
    rows = pipeline.take_tables()["quarantine"].to_pylist()
    assert len(rows) == 1_001
    assert (rows[-1]["record"], rows[-1]["reason"]) == ("further records", "500 more were kept out before the commit")
    assert pipeline.take_tables()["quarantine"].num_rows == 0
