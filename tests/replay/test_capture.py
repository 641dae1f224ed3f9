"""Captures: exact, repeatable ranges of a file that is whole or not there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay.capture as capture_module
from detectors.inputs import Block, MatchSheet, Packet, Player, Quality
from replay import wire
from replay.capture import Capture, CaptureError, CaptureWriter

SHEET = MatchSheet(
    "m1",
    "Reds",
    "Blues",
    104.9,
    67.8,
    "home",
    (Player("home_7", "home", "José", 7),),
    Quality(50, 25, ("left_foot",)),
)


def block(arrival_us: int) -> Block:
    return Block(arrival_us, (Packet("ball", arrival_us, (arrival_us - 1,), (0.5,), (1.0,), (0.1,)),))


THOUSAND = [block(3 * i + 5) for i in range(1000)]


def write(path: Path, blocks: list[Block]) -> Capture:
    with CaptureWriter(path, SHEET, fingerprint="abc", channel="rtls", seed=7) as writer:
        writer.extend(blocks)
    return Capture.open(path)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A thousand blocks, three microseconds apart, in several record batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture_module, "BATCH_BYTES", 5_000)
        return write(tmp_path_factory.mktemp("capture") / "m.capture", THOUSAND)


def test_a_capture_tells_what_it_is(thousand: Capture) -> None:
    assert thousand.sheet == SHEET
    assert (thousand.fingerprint, thousand.channel, thousand.seed) == ("abc", "rtls", 7)
    assert (thousand.begin_us, thousand.end_us, len(thousand)) == (5, 3 * 999 + 6, 1000)


def test_the_whole_range_gives_every_block(thousand: Capture) -> None:
    blocks = list(thousand.blocks(thousand.begin_us, thousand.end_us))
    assert blocks == THOUSAND


@given(st.integers(-10, 3100), st.integers(-10, 3100))
def test_a_range_is_closed_below_and_open_above(thousand: Capture, start: int, end: int) -> None:
    got = list(thousand.payloads(start, end))
    assert got == [(b.arrival_us, wire.encode(b)) for b in THOUSAND if start <= b.arrival_us < end]


@given(st.lists(st.integers(0, 3010), max_size=12))
def test_ranges_laid_end_to_end_give_the_whole_once(thousand: Capture, cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), 4000]
    pieces = [p for a, b in pairwise(edges) for p in thousand.payloads(a, b)]
    assert pieces == list(thousand.payloads(0, 4000))


def test_the_same_blocks_give_the_same_file(tmp_path: Path) -> None:
    blocks = [block(i) for i in range(100)]
    write(tmp_path / "a", blocks)
    write(tmp_path / "b", blocks)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_empty_capture_can_be_read(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", [])
    assert (empty.begin_us, empty.end_us, list(empty.blocks(0, 10))) == (0, 0, [])


@pytest.mark.parametrize("second", [4, 5])
def test_blocks_must_come_in_arrival_order(tmp_path: Path, second: int) -> None:
    with pytest.raises(CaptureError, match=f"arrival {second} us after one of 5 us"):
        write(tmp_path / "m", [block(5), block(second)])
    assert list(tmp_path.iterdir()) == []


def test_a_writer_that_fails_leaves_the_old_file_alone(tmp_path: Path) -> None:
    write(tmp_path / "m", [block(1)])
    with pytest.raises(CaptureError), CaptureWriter(tmp_path / "m", SHEET) as writer:
        writer.extend([block(2), block(2)])
    assert list(Capture.open(tmp_path / "m").blocks(0, 9)) == [block(1)]


def test_what_is_no_capture_is_refused_by_name(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    write(whole, [block(i) for i in range(50)])
    cut = tmp_path / "cut"
    cut.write_bytes(whole.read_bytes()[:-40])
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello, I am no capture")
    for name in ("cut", "empty", "text", "absent"):
        with pytest.raises(CaptureError, match=name):
            Capture.open(tmp_path / name)


def test_a_damaged_block_is_named_by_its_arrival(tmp_path: Path) -> None:
    path = tmp_path / "m"
    write(path, [block(77)])
    good = wire.encode(block(77))
    path.write_bytes(path.read_bytes().replace(good, b"\x09" + good[1:]))
    with pytest.raises(CaptureError, match="block of arrival 77 us: wire version 9"):
        list(Capture.open(path).blocks(0, 100))
