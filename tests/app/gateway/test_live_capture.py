"""Live captures: readable the moment a block is written, the same as a segment, and continued after a crash."""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from football.errors import CaptureError
from football.match_sheet import MatchSheet
from football.packet_table import Packets
from football.packets import Block, Packet
from replay import capture as capture_module
from replay.capture import Capture, CaptureWriter
from replay.capture_tail import tail_path
from replay.segments import write_segment
from tests.waiting import eventually

ZERO_US = 1_700_000_000_000_000


def block(at_us: int) -> Block:
    return Block(at_us, (Packet("ball", at_us // 1000, (at_us - 3,), (0.125,), (-1.001,), (0.0,), 0.93),))


def writer(folder: Path, fingerprint: str = "f") -> CaptureWriter:
    return CaptureWriter(folder, MatchSheet(), fingerprint=fingerprint, live_zero_us=ZERO_US)


BLOCKS = [block(at_us) for at_us in (1_000, 1_001, 400_000, 4_999_999, 5_000_000, 17_000_000, 17_000_001)]


def test_a_block_can_be_read_at_once_and_is_the_same_later(tmp_path: Path):
    with writer(tmp_path / "c") as live:
        for number, one in enumerate(BLOCKS, 1):
            live.append(one)
            capture = Capture.open(tmp_path / "c")
            found = [b for b, _ in zip(capture.live_blocks(0, 10**9), range(number), strict=False)]
            assert found == BLOCKS[:number]
            assert capture.readable_us == one.arrival_us + 1
        early = Capture.open(tmp_path / "c")
        assert list(early.blocks(1_001, 17_000_001)) == BLOCKS[1:-1]
    finished = Capture.open(tmp_path / "c")
    assert list(finished.blocks(0, finished.end_us)) == BLOCKS
    assert len(finished) == len(BLOCKS)
    assert not list((tmp_path / "c").glob("*.tail"))


def test_a_reader_at_the_edge_waits_and_hears_of_the_end(tmp_path: Path):
    found: list[Block] = []
    with writer(tmp_path / "c") as live:
        live.append(BLOCKS[0])
        capture = Capture.open(tmp_path / "c")
        reading = threading.Thread(target=lambda: found.extend(capture.blocks(0, 10**9)))
        reading.start()
        for number, one in enumerate(BLOCKS[1:], 2):
            live.append(one)
            eventually(lambda number=number: len(found) == number)
    reading.join(60)
    assert not reading.is_alive()
    assert found == BLOCKS
    assert not capture.has_blocks_from(BLOCKS[-1].arrival_us + 1)


def test_a_writer_that_died_is_continued_without_a_loss(tmp_path: Path):
    for last in range(1, len(BLOCKS) - 1):
        folder = tmp_path / str(last)
        with suppress(RuntimeError), writer(folder) as live:
            for one in BLOCKS[:last]:
                live.append(one)
            raise RuntimeError("died")
        with writer(folder) as live:
            assert live.live_zero_us == ZERO_US
            with pytest.raises(CaptureError, match="after one of"):
                live.append(BLOCKS[last - 1])
            for one in BLOCKS[last:]:
                live.append(one)
        capture = Capture.open(folder)
        assert list(capture.blocks(0, capture.end_us)) == BLOCKS
        assert len(capture) == len(BLOCKS)


def test_while_a_segment_is_written_its_tail_and_the_next_one_are_read_and_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    held, reached = threading.Event(), threading.Event()

    def slow(path: Path, batch: Packets) -> None:
        reached.set()
        held.wait(60)
        write_segment(path, batch)

    monkeypatch.setattr(capture_module, "write_segment", slow)
    copy = tmp_path / "as it was when it died"
    with writer(tmp_path / "c") as live:
        for one in BLOCKS[:5]:
            live.append(one)
        reached.wait(60)
        assert [tail_path(tmp_path / "c", number).exists() for number in (0, 1)] == [True, True]
        capture = Capture.open(tmp_path / "c")
        assert [b for b, _ in zip(capture.live_blocks(0, 10**9), range(5), strict=False)] == BLOCKS[:5]
        assert capture.readable_us == BLOCKS[4].arrival_us + 1
        shutil.copytree(tmp_path / "c", copy)
        held.set()
        for one in BLOCKS[5:]:
            live.append(one)
    monkeypatch.undo()
    with writer(copy) as live:
        assert live.last_us == BLOCKS[4].arrival_us
        for one in BLOCKS[5:]:
            live.append(one)
    for folder in (tmp_path / "c", copy):
        finished = Capture.open(folder)
        assert list(finished.blocks(0, finished.end_us)) == BLOCKS
        assert not list(folder.glob("*.tail"))


def test_a_gap_is_passed_while_the_segment_before_it_is_still_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    held = threading.Event()

    def slow(path: Path, batch: Packets) -> None:
        held.wait(60)
        write_segment(path, batch)

    monkeypatch.setattr(capture_module, "write_segment", slow)
    with writer(tmp_path / "c") as live:
        live.append(BLOCKS[4])
        live.append(BLOCKS[5])
        found = Capture.open(tmp_path / "c").live_blocks(0, 10**9)
        assert [next(found), next(found)] == BLOCKS[4:6]
        held.set()


def test_a_segment_that_cannot_be_written_is_an_error_of_the_writer_and_its_blocks_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(path: Path, batch: Packets) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(capture_module, "write_segment", full)
    with ExitStack() as stack:
        live = stack.enter_context(writer(tmp_path / "c"))
        for one in BLOCKS[:5]:
            live.append(one)
        with pytest.raises(OSError, match="No space"):
            stack.close()
    monkeypatch.undo()
    with writer(tmp_path / "c") as live:
        assert live.last_us == BLOCKS[4].arrival_us
    finished = Capture.open(tmp_path / "c")
    assert list(finished.blocks(0, finished.end_us)) == BLOCKS[:5]


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(CaptureError, match="holds something else"), writer(tmp_path):
        pass
    assert (tmp_path / "mine.txt").read_text() == "precious"
    with writer(tmp_path / "c") as live:
        live.append(BLOCKS[0])
    with pytest.raises(CaptureError, match="has ended"), writer(tmp_path / "c"):
        pass
    with pytest.raises(CaptureError, match="holds something else"), writer(tmp_path / "c", "another"):
        pass


def test_a_torn_block_is_waited_for_and_a_damaged_tail_is_an_error(tmp_path: Path):
    with writer(tmp_path / "c") as live:
        live.append(BLOCKS[0])
        tail = next((tmp_path / "c").glob("*.tail"))
        whole = tail.read_bytes()
        with tail.open("ab") as file:
            file.write(whole[:9])
        capture = Capture.open(tmp_path / "c")
        assert [b for b, _ in zip(capture.live_blocks(0, 10**9), range(2), strict=False)] == [BLOCKS[0], None]
        with tail.open("ab") as file:
            file.write(whole[9:])
        with pytest.raises(CaptureError, match="arrival does not grow"):
            capture.tail.blocks(0)
