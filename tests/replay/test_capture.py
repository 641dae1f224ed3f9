"""Captures: exact, repeatable ranges of a folder that may still grow."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from football.errors import CaptureError, CaptureInUseError
from football.match_sheet import MatchSheet, Player, Quality
from football.packet_table import (
    MISSING,
    WIDTH,
    WIDTH_WITH_MOTION,
    Packets,
    bounds_of,
    concat,
    from_blocks,
    to_mm,
)
from football.packets import Block, InstantBlock, Packet
from replay import wire
from replay.capture import (
    END,
    HEAD,
    LENGTH_MAX_US,
    SEGMENT_US,
    Capture,
    CaptureWriter,
)
from replay.segments import read_segment, write_segment

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
PERIOD_US = 20_000


def block(arrival_us: int) -> Block:
    return Block(arrival_us, (Packet("ball", abs(arrival_us), (arrival_us - 1,), (0.5,), (1.0,), (0.1,)),))


def test_payloads_of_a_framed_capture_have_its_blocks_in_columns_where_they_are_instants(tmp_path: Path) -> None:
    names = ("home_7", "ball", "away_1")
    made = []
    for number in range(300):
        at_us = number * 40_000
        times = [at_us + (number % 10 == 3) * 1_000 * place for place in range(3)]
        last = math.nan if number % 7 == 0 else 0.25
        here = names if number < 150 else names[:2]
        packets = tuple(
            Packet(name, number, (ts_us,), (1.5,), (last,), (0.0,), 0.9)
            for name, ts_us in zip(here, times, strict=False)
        )
        made.append(Block(at_us + 5_000, packets))
    made[200] = Block(
        made[200].arrival_us,
        tuple(
            msgspec.structs.replace(
                p, ts_us=(p.ts_us[0], p.ts_us[0] + 1), x_m=(0.0,) * 2, y_m=(0.0,) * 2, z_m=(0.0,) * 2
            )
            for p in made[200].packets
        ),
    )
    sheet = msgspec.structs.replace(SHEET, quality=Quality(framed=True))
    with CaptureWriter(tmp_path / "c", sheet) as writer:
        writer.extend(made)
    capture = Capture.open(tmp_path / "c")
    found = [wire.decode(payload) for _, payload in capture.payloads(0, capture.end_us)]
    assert repr([(b.arrival_us, b.packets) for b in found]) == repr(
        [(b.arrival_us, b.packets) for b in capture.blocks(0, capture.end_us)]
    )
    in_columns = [isinstance(b, InstantBlock) for b in found]
    assert in_columns[:125] == [number % 10 != 3 for number in range(125)]
    assert not any(in_columns[125:250]), "a segment with a packet of two positions"


THOUSAND = [block(PERIOD_US * i + 5) for i in range(1000)]


def write(path: Path, blocks: list[Block]) -> Capture:
    with CaptureWriter(path, SHEET, fingerprint="abc", channel="rtls", seed=7, notes={"a": "b"}) as writer:
        writer.extend(blocks)
        writer.closing_notes = {"lost": "3"}
    return Capture.open(path)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A thousand blocks, 20 ms apart, in four segments."""
    return write(tmp_path_factory.mktemp("capture") / "m", THOUSAND)


def test_a_capture_tells_what_it_is(thousand: Capture) -> None:
    assert thousand.sheet == SHEET
    assert (thousand.fingerprint, thousand.channel, thousand.seed) == ("abc", "rtls", 7)
    assert (thousand.begin_us, thousand.end_us, len(thousand)) == (5, PERIOD_US * 999 + 6, 1000)
    assert thousand.is_finished
    assert thousand.notes == {"a": "b", "lost": "3"}
    assert len(list(thousand.path.glob("*.arrow"))) == 4


@pytest.mark.parametrize("slot_us", [0, 20_000])
def test_it_tells_how_late_it_is_at_most_by_the_dates_of_its_blocks(tmp_path: Path, slot_us: int) -> None:
    def packet(n: int) -> Packet:
        ts_us = (1_000 * n - 170 * (n % 7), 1_000 * n)
        return Packet("ball", n, ts_us, (0.5,) * 2, (1.0,) * 2, (0.1,) * 2)

    with CaptureWriter(tmp_path / "m", SHEET, slot_us=slot_us) as writer:
        writer.extend(Block(1_000 * n + n % 5, (packet(n),)) for n in range(6_000))
    capture = Capture.open(tmp_path / "m")
    blocks = list(capture.blocks(capture.begin_us, capture.end_us))
    late_us = max(block.arrival_us - ts_us for block in blocks for packet in block.packets for ts_us in packet.ts_us)
    assert capture.late_most_us == late_us
    assert late_us > (slot_us or 1_000)


def test_a_capture_is_found_in_the_folder_that_it_was_simulated_into(tmp_path: Path) -> None:
    write(tmp_path / "capture", THOUSAND[:5])
    assert len(Capture.open(tmp_path)) == 5


def test_the_whole_range_gives_every_block(thousand: Capture) -> None:
    blocks = list(thousand.blocks(thousand.begin_us, thousand.end_us))
    assert blocks == THOUSAND


ANY_TIME = st.integers(-10, PERIOD_US * 1100)


@given(ANY_TIME, ANY_TIME)
def test_a_range_is_closed_below_and_open_above(thousand: Capture, start: int, end: int) -> None:
    got = list(thousand.payloads(start, end))
    assert got == [(b.arrival_us, wire.encode(b)) for b in THOUSAND if start <= b.arrival_us < end]


@settings(max_examples=30)
@given(st.lists(ANY_TIME, max_size=8))
def test_ranges_laid_end_to_end_give_the_whole_once(thousand: Capture, cuts: list[int]) -> None:
    edges = [0, *sorted(c for c in cuts if c > 0), PERIOD_US * 2000]
    pieces = [p for a, b in pairwise(edges) for p in thousand.blocks(a, b)]
    assert pieces == THOUSAND


def test_a_range_that_cuts_a_slot_leaves_its_block_whole(tmp_path: Path) -> None:
    """Packets of 1, 4 and 9 ms arrive together at 9 ms: they belong to the range that holds 9 ms."""
    packets = from_blocks([block(1_000), block(4_000), block(9_000), block(12_000)])
    with CaptureWriter(tmp_path, SHEET, slot_us=10_000) as writer:
        writer.write(packets)
    capture = Capture.open(tmp_path)
    assert [(b.arrival_us, len(b.packets)) for b in capture.blocks(0, 99_000)] == [(9_000, 3), (12_000, 1)]
    assert list(capture.blocks(0, 9_000)) == []
    assert [b.arrival_us for b in capture.blocks(9_000, 12_000)] == [9_000]
    assert (capture.begin_us, capture.end_us, len(capture)) == (9_000, 12_001, 2)


def test_the_same_blocks_give_the_same_files(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name, THOUSAND[:400])
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "b").iterdir())
    assert all((tmp_path / "a" / n).read_bytes() == (tmp_path / "b" / n).read_bytes() for n in files)


def test_how_it_was_handed_to_the_writer_does_not_show(tmp_path: Path) -> None:
    packets = from_blocks(THOUSAND)
    for name, cuts in (("a", [1000]), ("b", [1, 7, 249, 251, 600, 1000])):
        with CaptureWriter(tmp_path / name, SHEET) as writer:
            for first, stop in pairwise([0, *cuts]):
                writer.write(packets.part(first, stop))
    for path in (tmp_path / "a").glob("*.arrow"):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_an_empty_capture_can_be_read(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", [])
    assert (empty.begin_us, empty.end_us, len(empty), list(empty.blocks(0, 10))) == (0, 0, 0, [])


@pytest.mark.parametrize("second", [4, 5])
def test_blocks_must_come_in_arrival_order(tmp_path: Path, second: int) -> None:
    with pytest.raises(CaptureError, match=f"arrival {second} us after one of 5 us"):
        write(tmp_path / "m", [block(5), block(second)])
    assert not (tmp_path / "m" / END).exists()


def test_packets_must_come_in_arrival_order(tmp_path: Path) -> None:
    late = from_blocks([block(9), block(4)])
    with CaptureWriter(tmp_path / "m", SHEET) as writer:
        writer.write(from_blocks([block(3)]))
        with pytest.raises(CaptureError, match="arrival 4 us after one of 9 us"):
            writer.write(late)
        with pytest.raises(CaptureError, match="arrival 2 us after one of 3 us"):
            writer.write(from_blocks([block(2)]))


def test_what_is_no_capture_is_refused_by_name(tmp_path: Path) -> None:
    for name, content in (("cut", b'{"version": "2", '), ("empty", b""), ("text", b"hello")):
        (tmp_path / name).mkdir()
        (tmp_path / name / HEAD).write_bytes(content)
    (tmp_path / "file.arrow").write_bytes(b"ARROW1")
    for name in ("cut", "empty", "text", "absent", "file.arrow"):
        with pytest.raises(CaptureError, match=name):
            Capture.open(tmp_path / name)


def test_another_version_is_named(tmp_path: Path) -> None:
    write(tmp_path, [block(1)])
    head = msgspec.json.decode((tmp_path / HEAD).read_bytes())
    (tmp_path / HEAD).write_bytes(msgspec.json.encode({**head, "version": "9"}))
    with pytest.raises(CaptureError, match=r"not a capture of version 2 \(version found: 9\)"):
        Capture.open(tmp_path)


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_segment_is_named_and_never_taken_for_good(thousand: Capture, data: st.DataObject) -> None:
    """One flipped byte, or a cut: an error that names the file, or the very same packets (padding has no meaning)."""
    whole = (thousand.path / "0000001.arrow").read_bytes()
    expected = read_segment(thousand.path / "0000001.arrow")
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = data.draw(st.booleans())
    damaged = whole[:at] if cut else whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    path = thousand.path.parent / "damaged.arrow"
    path.write_bytes(damaged)
    message = ""
    try:
        found = read_segment(path)
    except CaptureError as error:
        message = str(error)
    assert "damaged.arrow" in message if message else (not cut and same(found, expected))


def same(a: Packets, b: Packets) -> bool:
    names = [np.array(p.names, object)[p.tag] for p in (a, b)]
    columns = ("arrival_us", "sequence", "bounds", "ts_us", "values")
    return np.array_equal(*names) and all(np.array_equal(getattr(a, c), getattr(b, c)) for c in columns)


MM = st.integers(-(2**31) + 1, 2**31 - 1) | st.just(int(MISSING))


@st.composite
def batches(draw: st.DrawFn) -> Packets:
    """Packets of up to ten positions with anything in them that their columns can hold."""
    sizes = np.array(draw(st.lists(st.integers(0, 10), min_size=1, max_size=12)), np.int64)
    n, m = len(sizes), int(sizes.sum())
    names = tuple(draw(st.lists(st.text("ab/_é7", min_size=1, max_size=9), min_size=1, max_size=4, unique=True)))
    width = draw(st.sampled_from([WIDTH, WIDTH_WITH_MOTION]))
    numbers = st.integers(-(2**62), 2**62)
    values = np.array(draw(st.lists(MM, min_size=m * width, max_size=m * width)), np.int32).reshape(m, width)
    values[:, 3] = draw(st.lists(st.integers(0, 255) | st.just(int(MISSING)), min_size=m, max_size=m))

    def column(elements: st.SearchStrategy[int], size: int) -> np.ndarray:
        return np.array(draw(st.lists(elements, min_size=size, max_size=size)), np.int64)

    tags = column(st.integers(0, len(names) - 1), n)
    return Packets(
        names, np.sort(column(numbers, n)), tags, column(numbers, n), bounds_of(sizes), column(numbers, m), values
    )


@settings(max_examples=60)
@given(batches())
def test_whatever_a_packet_holds_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, batch: Packets) -> None:
    path = tmp_path_factory.getbasetemp() / "round.arrow"
    write_segment(path, batch)
    assert same(read_segment(path), batch)


@given(batches())
def test_packets_can_be_taken_and_joined_again(batch: Packets) -> None:
    half = len(batch) // 2
    assert same(concat([batch.part(0, half), batch.part(half, len(batch))]), batch)
    rows = np.arange(len(batch))
    assert same(batch.taken(rows[::-1]).taken(rows[::-1]), batch)


def test_what_is_no_number_is_null_and_reaches_the_quarantine_as_none() -> None:
    bad = Packet("ball", 0, (1, 2, 3), (math.nan, 1e300, 1.2345), (math.inf, -1e12, 0.0), (-math.inf, 0.0, 0.0))
    (back,) = from_blocks([Block(9, (bad,))]).objects()
    assert all(math.isnan(v) for v in (back.x_m[0], back.y_m[0], back.z_m[0]))
    assert (back.x_m[1], back.y_m[1]) == (2147483.647, -2147483.647)
    assert back.x_m[2] == 1.234
    assert to_mm([math.nan, 0.0015]).tolist() == [MISSING, 2]


def test_a_stranger_reads_the_columns(thousand: Capture) -> None:
    """Foreign: DuckDB, from the Arrow file, sees times, places and transmitters as documented."""
    import pyarrow as pa

    table = pa.ipc.open_file(str(thousand.path / "0000000.arrow")).read_all()
    assert table.column_names == ["arrival_us", "transmitter", "sequence", "positions"]
    connection = duckdb.connect()
    connection.register("segment", table)
    columns = "count(*), min(transmitter), min(p.x_mm), max(p.z_mm), min(p.quality), min(p.ts_us)"
    query = f"select {columns} from (select transmitter, unnest(positions) p from segment)"
    assert connection.execute(query).fetchone() == (250, "ball", 500, 100, 100, 4)


def test_it_can_be_read_while_it_grows(tmp_path: Path) -> None:
    """The reader is as far as it can be, waits at the edge, and has everything in the end."""
    seen: list[Block] = []
    reached = threading.Event()

    def read() -> None:
        for one in Capture.open(tmp_path).blocks(0, 10**9):
            seen.append(one)
            if len(seen) == 250:
                reached.set()

    with CaptureWriter(tmp_path, SHEET) as writer:
        writer.extend(THOUSAND[:251])
        assert writer.written_us == SEGMENT_US
        reader = threading.Thread(target=read)
        reader.start()
        assert reached.wait(10)
        assert seen == THOUSAND[:250]
        assert not Capture.open(tmp_path).is_finished
        with pytest.raises(CaptureError, match="is not finished"):
            len(Capture.open(tmp_path))
        writer.extend(THOUSAND[251:])
    reader.join(10)
    assert seen == THOUSAND


def test_a_gap_in_which_nothing_came_is_read_over(tmp_path: Path) -> None:
    few = [block(5), block(40_000_000), block(90_000_000)]
    capture = write(tmp_path, few)
    assert list(capture.blocks(0, 99_000_000)) == few
    assert [capture.has_blocks_from(at) for at in (0, 6, 40_000_000, 40_000_001, 90_000_000, 90_000_001)] == [
        True, True, True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("segment_us", [1, SEGMENT_US])
def test_an_end_far_away_makes_no_long_loop(tmp_path: Path, segment_us: int) -> None:
    write(tmp_path, [block(5)])
    head, end = tmp_path / "head.json", tmp_path / "end.json"
    head.write_text(head.read_text().replace(f'"segment_us": {SEGMENT_US}', f'"segment_us": {segment_us}'))
    (tmp_path / "0000000.arrow").rename(tmp_path / f"{5 // segment_us:07d}.arrow")
    end.write_text(end.read_text().replace('"end_us": 6', f'"end_us": {5 + LENGTH_MAX_US}'))
    assert list(Capture.open(tmp_path).blocks(0, 2**62)) == [block(5)]
    end.write_text(end.read_text().replace(f'"end_us": {5 + LENGTH_MAX_US}', f'"end_us": {6 + LENGTH_MAX_US}'))
    with pytest.raises(CaptureError, match="us after its beginning"):
        list(Capture.open(tmp_path).blocks(0, 2**62))


@pytest.mark.parametrize("name", ["9" * 15, "9" * 300, "0535681", "x", "-0000002", "1", "0000001"])
def test_a_segment_that_no_match_has_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path, [block(5)])
    (tmp_path / "end.json").unlink()
    (tmp_path / f"{name[:200]}.arrow").write_bytes((tmp_path / "0000000.arrow").read_bytes())
    capture = Capture.open(tmp_path)
    with pytest.raises(CaptureError, match=r"no segment of a match|some of another time"):
        list(capture.blocks(0, capture.readable_us))


def test_whether_it_goes_on_is_told_once_it_is_certain(tmp_path: Path) -> None:
    answers: list[bool] = []
    with CaptureWriter(tmp_path, SHEET) as writer:
        writer.extend(THOUSAND[:260])
        capture = Capture.open(tmp_path)
        assert capture.has_blocks_from(4_000_000)
        asking = threading.Thread(target=lambda: answers.append(capture.has_blocks_from(5_300_000)))
        asking.start()
        asking.join(0.1)
        assert answers == [], "a later packet may still come"
    asking.join(10)
    assert answers == [False]


def test_a_reader_is_told_that_the_writer_died(tmp_path: Path) -> None:
    interrupted(tmp_path, "f")
    capture = Capture.open(tmp_path)
    assert len(list(capture.blocks(0, 2 * SEGMENT_US))) == 500
    with pytest.raises(CaptureError, match=r"ends at 2 x 5000000 us without an end\.json"):
        list(capture.blocks(0, 99 * SEGMENT_US))
    with pytest.raises(CaptureError, match="stopped before the match was over"):
        capture.has_blocks_from(2 * SEGMENT_US)


def interrupted(path: Path, fingerprint: str) -> None:
    """A writer that dies after six hundred blocks, in its third segment."""

    def blocks() -> Iterator[Block]:
        yield from THOUSAND[:600]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), CaptureWriter(path, SHEET, fingerprint=fingerprint) as writer:
        writer.extend(blocks())


def test_a_writer_goes_on_where_another_of_the_same_content_died(tmp_path: Path) -> None:
    interrupted(tmp_path, "same")
    first = tmp_path / "0000000.arrow"
    os.utime(first, (1, 1))
    with CaptureWriter(tmp_path, SHEET, fingerprint="same") as writer:
        writer.extend(THOUSAND)
    assert first.stat().st_mtime == 1
    assert list(Capture.open(tmp_path).blocks(0, 10**9)) == THOUSAND
    with CaptureWriter(tmp_path, SHEET, fingerprint="other") as writer:
        writer.extend(THOUSAND[:10])
    assert first.stat().st_mtime > 1
    assert list(Capture.open(tmp_path).blocks(0, 10**9)) == THOUSAND[:10]


def test_two_writers_do_not_write_the_same_capture(tmp_path: Path) -> None:
    with CaptureWriter(tmp_path, SHEET), pytest.raises(CaptureInUseError, match="another process is writing it"):
        CaptureWriter(tmp_path, SHEET).__enter__()
