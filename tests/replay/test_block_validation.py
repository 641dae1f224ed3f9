"""Quarantine: the bad part of a payload goes aside with its reason, the rest goes on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from football.match_sheet import MatchSheet, Player, Quality
from football.packets import Block, InstantBlock, Packet, RejectedRecord, pack_instant
from replay import wire
from replay.block_validation import check_block

SHEET = MatchSheet(players=(Player("home_7", "home"), Player("away_1", "away")), quality=Quality(limbs=("left_foot",)))
NOBODY = MatchSheet()


def packet(name: str = "ball", *rows: tuple[int, float, float, float], sequence: int = 4) -> Packet:
    rows = rows or ((10, 1.0, 2.0, 0.1), (20, 1.1, 2.0, 0.1), (30, 1.2, 2.0, 0.1))
    ts, x, y, z = zip(*rows, strict=True)
    return Packet(name, sequence, ts, x, y, z)


def check(
    *packets: Packet, sheet: MatchSheet = SHEET, arrival_us: int = 100
) -> tuple[Block, tuple[RejectedRecord, ...]]:
    block, rejected = check_block(wire.encode(Block(arrival_us, packets)), sheet, "here")
    assert block is not None
    assert block.arrival_us == arrival_us
    return block, rejected


@pytest.mark.parametrize("name", ["ball", "ball_2", "home_7", "away_1", "home_7/left_foot", "away_1/head", "referee_1"])
def test_what_is_good_passes_unchanged(name: str) -> None:
    block, rejected = check(packet(name))
    assert block.packets == (packet(name),)
    assert rejected == ()


ODD = st.sampled_from((0.0, 1.0, -50.0, 94.0, 95.0, 113.0, math.nan, math.inf, -6.0, 61.0))
INSTANT_ROWS = st.lists(
    st.tuples(
        st.sampled_from(("ball", "home_7", "away_1", "home_7/left_foot", "referee_1", "home_8", "", "a\x00")),
        st.sampled_from((0, 7, -1, 2**53)), ODD, ODD, ODD, st.sampled_from((1.0, 0.5, -0.1, 1.1, math.nan)),
    ),
    min_size=1,
    max_size=4,
)  # fmt: skip


@given(INSTANT_ROWS, st.sampled_from((100, 101, -(2**53))), st.sampled_from((SHEET, NOBODY)))
def test_of_an_instant_in_columns_passes_what_passes_of_its_packets(rows, ts_us, sheet) -> None:  # type: ignore[no-untyped-def]
    packets = [Packet(name, number, (ts_us,), (x,), (y,), (z,), q) for name, number, x, y, z, q in rows]
    instant = pack_instant(packets)
    assert instant is not None
    found, found_bad = check_block(wire.encode(InstantBlock(100, instant)), sheet, "here")
    expected, bad = check_block(wire.encode(Block(100, tuple(packets))), sheet, "here")
    assert found is not None
    assert expected is not None
    assert (repr(found.packets), repr(found_bad)) == (repr(expected.packets), repr(bad))
    assert isinstance(found, InstantBlock) is not bool(bad)


def test_an_unknown_player_is_found_after_an_instant_of_known_ones() -> None:
    for name, count in (("home_7", 0), ("home_8", 1), ("home_7", 0)):
        instant = pack_instant([Packet(name, 1, (5,), (0.0,), (0.0,), (0.0,))])
        assert instant is not None
        assert len(check_block(wire.encode(InstantBlock(9, instant)), SHEET, "here")[1]) == count


BAD_ROWS = {
    "position is not a number": [(15, math.nan, 0.0, 0.0), (15, 0.0, math.inf, 0.0), (15, 0.0, 0.0, -math.inf)],
    "outside the tracking volume": [(15, 1000.0, 0.0, 0.0), (15, 0.0, -95.0, 0.0), (15, 0.0, 0.0, 500.0)],
    "arrived before its event time": [(101, 0.0, 0.0, 0.0)],
    "event time does not increase": [(10, 0.0, 0.0, 0.0), (-5, 0.0, 0.0, 0.0)],
}


@pytest.mark.parametrize(("reason", "row"), [(r, row) for r, rows in BAD_ROWS.items() for row in rows])
def test_a_bad_position_is_taken_out_and_the_rest_goes_on(reason: str, row: tuple[int, float, float, float]) -> None:
    good, after = (10, 1.0, 2.0, 0.1), (20, 1.5, 2.0, 0.1)
    block, rejected = check(packet("home_7"), packet("ball", good, row, after))
    assert block.packets == (packet("home_7"), packet("ball", good, after))
    (found,) = rejected
    assert reason in found.reason
    assert (found.record, found.transmitter, found.sequence) == ("here packet 1 position 1", "ball", 4)
    assert found.ts_us == row[0]
    assert repr(row[1]) in found.raw


BAD_PACKETS = [
    ("unknown transmitter", packet("home_99")),
    ("unknown transmitter", packet("stranger/left_foot")),
    ("no transmitter", packet("")),
    ("negative sequence", packet("ball", sequence=-1)),
    ("without positions", Packet("ball", 0, (), (), (), ())),
    ("different lengths", Packet("ball", 0, (1, 2), (0.0,), (0.0, 0.0), (0.0, 0.0))),
    ("quality of location", Packet("ball", 0, (1,), (0.0,), (0.0,), (0.0,), math.nan)),
    ("quality of location", Packet("ball", 0, (1,), (0.0,), (0.0,), (0.0,), 1.5)),
]


@pytest.mark.parametrize(("reason", "bad"), BAD_PACKETS)
def test_a_bad_packet_is_taken_out_and_the_others_go_on(reason: str, bad: Packet) -> None:
    block, rejected = check(packet("home_7"), bad, packet("away_1"))
    assert [p.transmitter for p in block.packets] == ["home_7", "away_1"]
    assert [(r.record, reason in r.reason) for r in rejected] == [("here packet 1", True)]


def test_a_packet_with_nothing_left_is_gone_but_its_number_is_told() -> None:
    block, rejected = check(packet("ball", (10, math.nan, 0.0, 0.0), sequence=8))
    assert block.packets == ()
    assert [(r.transmitter, r.sequence) for r in rejected] == [("ball", 8)]


def test_without_players_on_the_sheet_nobody_is_a_stranger() -> None:
    block, rejected = check(packet("who_knows"), sheet=NOBODY)
    assert (len(block.packets), rejected) == (1, ())


@given(st.binary(max_size=80))
def test_bytes_that_are_no_block_are_one_rejected_record(payload: bytes) -> None:
    block, rejected = check_block(payload, SHEET, "topic@7")
    if block is None:
        (only,) = rejected
        assert (only.record, only.sequence, only.ts_us) == ("topic@7", -1, None)
        assert only.reason
        assert len(only.raw) <= 120


ROW = st.tuples(st.integers(0, 130), *[st.floats(width=32) | st.floats(-80, 80)] * 3)
NAMES = st.sampled_from(["ball", "home_7", "home_8", ""])


@given(st.lists(st.tuples(NAMES, st.lists(ROW, min_size=1, max_size=5)), max_size=4))
def test_every_position_is_kept_or_rejected_and_what_is_kept_stands_a_second_look(
    packets: list[tuple[str, list[tuple[int, float, float, float]]]],
) -> None:
    sent = tuple(packet(name, *rows, sequence=i) for i, (name, rows) in enumerate(packets))
    block, rejected = check(*sent)
    kept = sum(len(p.ts_us) for p in block.packets)
    whole = {r.sequence for r in rejected if "position" not in r.record}
    single = sum("position" in r.record for r in rejected)
    assert kept + single + sum(len(p.ts_us) for p in sent if p.sequence in whole) == sum(len(p.ts_us) for p in sent)
    again, more = check(*block.packets)
    assert (again, more) == (block, ())
    assert check(*sent) == (block, rejected)
