"""The reader of a topic accepts or quarantines each record; without a broker."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka import records
from app.kafka.address import parse
from app.sources.topic_records import RecordDecoder
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay import wire
from replay.block_validation import check_block

ADDRESS = parse("kafka://broker/positions")


def record(value: bytes | None, headers=(), key: bytes | None = b"final", offset: int = 17, timestamp: int = 5):
    return SimpleNamespace(value=value, headers=list(headers), key=key, offset=offset, timestamp=timestamp)


def block(arrival_us: int) -> bytes:
    return wire.encode_compact(Block(arrival_us, (Packet("ball", 0, (arrival_us - 1,), (0.0,), (0.0,), (0.11,), 0.9),)))


def taken(taker: RecordDecoder, *arrived) -> list[tuple[int, int, bytes]]:
    return [block for one in arrived if (block := taker.take(one)) is not None]


def test_blocks_of_the_match_are_handed_on_as_they_are_and_dated_by_their_record():
    taker = RecordDecoder("final", ADDRESS, 0)
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
    ("arrived", "reason"),
    [
        (record(b""), "empty record"),
        (record(b"\x09abc"), "it does not begin like one"),
        (record(b"{", records.headers("sheet")), "not a record of kind sheet"),
        (record(block(2**60)), "cannot be"),
        (record(wire.encode(Block(-5, ()))), "cannot be"),
        (record(block(4_000_000_000)), "leaps more than an hour"),
    ],
)
def test_what_cannot_be_a_block_goes_to_quarantine_with_its_place_and_reason(arrived, reason):
    taker = RecordDecoder("final", ADDRESS, 3)
    ((arrival_us, _, payload),) = taken(taker, record(block(100)), arrived)[1:]
    assert arrival_us == 100
    good, (rejected,) = check_block(payload, MatchSheet("final"), "block")
    assert good is None
    assert "positions partition 3 record 17: " in rejected.reason
    assert reason in rejected.reason
    assert taken(taker, record(block(200)))[0][0] == 200, "and the next one is taken"


@given(
    st.none() | st.binary(max_size=300),
    st.lists(st.tuples(st.sampled_from(["kind", "version"]), st.binary(max_size=8)), max_size=3),
    st.none() | st.just(b"final") | st.binary(max_size=4),
    st.integers(-1, 2**40),
)
def test_any_record_gives_a_frame_or_nothing(value, headers, key, timestamp):
    frames = taken(RecordDecoder("final", ADDRESS, 0), record(value, headers, key, timestamp=timestamp))
    assert all(payload for _, _, payload in frames)
