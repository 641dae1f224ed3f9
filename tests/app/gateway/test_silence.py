"""A feed that falls silent, and records that it refuses: windows close, and quarantine has each record once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.gateway.outputs import CaptureOutput
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.captured import CaptureSource
from app.sources.interface import OpenBatch, SourceRow
from football.match_sheet import MatchSheet
from football.packets import Block, Packet, RejectedRecord
from replay import refused_records
from replay.capture import Capture
from tests.app.host_run import captured
from tests.waiting import eventually

ZERO_US = 1_700_000_000_000_000


def block(at_us: int) -> Block:
    return Block(at_us, (Packet("ball", at_us // 1000, (at_us - 3,), (0.125,), (-1.001,), (0.0,)),))


def refused(number: int) -> RejectedRecord:
    return RejectedRecord(f"message {number}", "", -1, None, "no number", "x")


def output(folder: Path) -> CaptureOutput:
    return CaptureOutput(folder, MatchSheet(), "f", ZERO_US)


def rows_of(capture: Capture, batch: OpenBatch) -> Iterator[SourceRow]:
    reader = CaptureSource().reader(batch)
    reader.add(captured(capture, "m", 1.0), 1.0)
    while reader.is_open:
        yield from reader.read(10_000)


def test_a_window_closes_while_nothing_comes_and_the_last_one_when_the_match_ends(tmp_path: Path):
    stopped: list[bool] = []
    batch = OpenBatch(1_000_000, 9, 2**62, tmp_path.joinpath, lambda: bool(stopped), lambda match: True)
    with output(tmp_path / "c") as live:
        live.write(block(1_000))
        rows = rows_of(Capture.open(tmp_path / "c"), batch)
        first = next(row for row in rows if row.blocks)
        assert [at_us for at_us, _, _ in first.blocks] == [1_000]
        live.pass_time(2_500_000)
        closed = [next(row for row in rows if row.closing) for _ in range(2)]
        assert [(row.start, row.end, row.last) for row in closed] == [
            (1_000, 1_001_000, False), (1_001_000, 2_001_000, False),
        ]  # fmt: skip
        live.write(block(2_600_000))
        live.pass_time(20_002_000)
        closed = [next(row for row in rows if row.closing) for _ in range(17)]
        assert not any(row.last or row.failed for row in closed)
    rest = list(rows)
    assert [row.last for row in rest if row.closing] == [False, True]
    finished = Capture.open(tmp_path / "c")
    assert finished.end_us == 20_002_001
    assert list(finished.blocks(0, finished.end_us)) == [block(1_000), block(2_600_000)]


def test_a_gateway_that_goes_on_dates_its_blocks_after_the_time_that_has_passed(tmp_path: Path):
    with output(tmp_path / "c") as live:
        live.ends = False
        live.write(block(1_000))
        live.pass_time(2_500_000)
    with output(tmp_path / "c") as live:
        assert live.last_us == 2_500_000
        live.pass_time(2_000_000)
        live.write(block(2_500_001))
    assert [one.arrival_us for one in Capture.open(tmp_path / "c").blocks(0, 10**9)] == [1_000, 2_500_001]


def test_refused_records_have_one_place_among_the_blocks_live_and_later(tmp_path: Path):
    with output(tmp_path / "c") as live:
        live.refuse([refused(1)])
        live.write(block(1_000))
        live.refuse([refused(2)])
        live.write(block(2_000))
        live.refuse([refused(3)])
        live.pass_time(3_000)
        capture = Capture.open(tmp_path / "c")
        seen = list(capture.live_payloads(0, 2_900))
        live.refuse([refused(4)])
    whole = list(Capture.open(tmp_path / "c").payloads(0, 10**9))
    assert whole[: len(seen)] == seen
    found = [
        (at_us, [one.record for one in refused_records.decode(payload, "")])
        for at_us, payload in whole
        if refused_records.is_refused(payload)
    ]
    assert found == [(2_000, ["message 1", "message 2"]), (3_000, ["message 3"]), (3_001, ["message 4"])]
    assert [at_us for at_us, payload in whole if not refused_records.is_refused(payload)] == [1_000, 2_000]
    pipeline = MatchPipeline(MatchSheet(), PipelineOptions())
    for at_us, payload in whole:
        pipeline.push(payload, at_us)
    assert pipeline.take_tables()["quarantine"]["record"].to_pylist() == [f"message {n}" for n in (1, 2, 3, 4)]


def test_a_torn_line_of_refused_records_is_left_out_and_the_next_one_is_not(tmp_path: Path):
    refused_records.append_refused(tmp_path, 5, [refused(1)])
    with (tmp_path / refused_records.FILE).open("ab") as file:
        file.write(b'{"at_us": 6, "rec')
    reader = refused_records.RefusedReader(tmp_path)
    assert len(list(reader.between(0, 10))) == 1
    refused_records.append_refused(tmp_path, 7, [refused(2)])
    assert [at_us for at_us, _ in reader.between(0, 10)] == [5, 7]


@pytest.mark.parametrize("payload", [b"\xf1", b"\xf1\xc1", b"\xf1\x91\x01", b"\xf1" + b"\x91" * 3_000])
def test_bytes_that_are_no_refused_records_are_one(payload: bytes):
    (found,) = refused_records.decode(payload, "here")
    assert (found.record, found.reason[:20]) == ("here", "not refused records:")
    assert len(found.raw) <= refused_records.CHARACTERS_MAX


def test_long_texts_of_hostile_records_are_cut():
    payload = refused_records.encode([RejectedRecord("r", "t", 1, None, "x" * 10_000, "y" * 10_000)] * 2_000)
    found = refused_records.decode(payload[:1] + payload[1:], "here")
    assert len(found) <= refused_records.RECORDS_MAX
    assert max(len(one.reason) + len(one.raw) for one in found) <= 2 * refused_records.CHARACTERS_MAX


def test_a_running_reader_hears_of_time_that_passes(tmp_path: Path):
    with output(tmp_path / "c") as live:
        live.write(block(1_000))
        capture = Capture.open(tmp_path / "c")
        found = capture.live_blocks(0, 4_000_000)
        assert next(found) == block(1_000)
        assert next(found) is None
        live.pass_time(4_000_000)
        eventually(lambda: next(found, "over") == "over")
