"""The reader of a topic without a broker: which records a range holds, and what becomes of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka import records
from app.kafka.address import parse
from app.kafka.topic_location import TopicOptions
from app.pipeline.framing import pad, unpack
from app.spark.record_reader import Taker
from app.spark.source import WINDOWS
from app.spark.topic import Marks, TopicRange, TopicReader
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay import wire
from replay.block_validation import check_block

ADDRESS = parse("kafka://broker/positions")


def record(value: bytes | None, headers=(), key: bytes | None = b"final", offset: int = 17, timestamp: int = 5):
    return SimpleNamespace(value=value, headers=list(headers), key=key, offset=offset, timestamp=timestamp)


def block(arrival_us: int) -> bytes:
    return wire.encode_compact(Block(arrival_us, (Packet("ball", 0, (arrival_us - 1,), (0.0,), (0.0,), (0.11,), 0.9),)))


def taken(taker: Taker, *came) -> list[tuple[int, int, bytes]]:
    return list(unpack(pad(b"".join(taker.take(one) for one in came))))


def test_blocks_of_the_match_are_handed_on_as_they_are_and_dated_by_their_record():
    taker = Taker("final", ADDRESS, 0)
    sheet = msgspec.json.encode(records.Sheet(MatchSheet("final"), 0, 0))
    frames = taken(
        taker,
        record(sheet, records.headers("sheet")),
        record(block(40), timestamp=7),
        record(block(90), key=b"other"),
        record(block(80), key=None),
    )
    assert frames == [(40, 7_000, block(40)), (80, 5_000, block(80))]
    assert not taker.ended
    assert taken(taker, record(msgspec.json.encode(records.End(80)), records.headers("end"))) == []
    assert taker.ended


@pytest.mark.parametrize(
    ("came", "said"),
    [
        (record(b""), "empty record"),
        (record(b"\x09abc"), "it does not begin like one"),
        (record(b"{", records.headers("sheet")), "not a record of kind sheet"),
        (record(block(2**60)), "cannot be"),
        (record(wire.encode(Block(-5, ()))), "cannot be"),
        (record(block(4_000_000_000)), "leaps more than an hour"),
    ],
)
def test_what_cannot_be_a_block_goes_to_quarantine_with_its_place_and_reason(came, said):
    taker = Taker("final", ADDRESS, 3)
    ((arrival_us, _, payload),) = taken(taker, record(block(100)), came)[1:]
    assert arrival_us == 100
    good, (rejected,) = check_block(payload, MatchSheet("final"), "block")
    assert good is None
    assert "positions partition 3 record 17: " in rejected.reason
    assert said in rejected.reason
    assert taken(taker, record(block(200)))[0][0] == 200, "and the next one is taken"


@given(
    st.none() | st.binary(max_size=300),
    st.lists(st.tuples(st.sampled_from(["kind", "version"]), st.binary(max_size=8)), max_size=3),
    st.none() | st.just(b"final") | st.binary(max_size=4),
    st.integers(-1, 2**40),
)
def test_any_record_gives_a_frame_or_nothing(value, headers, key, timestamp):
    frames = taken(Taker("final", ADDRESS, 0), record(value, headers, key, timestamp=timestamp))
    assert all(payload for _, _, payload in frames)


def reader(folder: Path) -> TopicReader:
    told = TopicOptions(ADDRESS.url, "final", 2, 100, 50, 1.0, str(folder / "stop"), str(folder / "marks"))
    return TopicReader(told.options())


def edges(parts: Sequence[TopicRange]) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in parts]


def test_windows_are_promised_ahead_and_go_on_where_one_was_closed_early(tmp_path: Path):
    mine = reader(tmp_path)
    limit = mine.getDefaultReadLimit()
    begin = mine.initialOffset()
    assert begin == {"2": 100}
    first = mine.latestOffset(begin, limit)
    assert first == {"2": 100 + 50 * WINDOWS}
    parts = mine.partitions(begin, first)
    assert edges(parts) == [(at, at + 50) for at in range(100, first["2"], 50)]
    assert [part.first for part in parts] == [True] + [False] * (WINDOWS - 1)
    Marks(tmp_path / "marks").settle(parts[0].end, 120)
    again = reader(tmp_path)
    assert edges(again.partitions(begin, first)) == edges(parts), "done again, the windows are the same"
    second = mine.latestOffset(first, limit)
    assert second == {"2": first["2"] + 50 * WINDOWS}
    (tmp_path / "stop").touch()
    assert mine.latestOffset(second, limit) == second
