"""Bytes of a block: what goes in comes out, and nothing else is taken for one."""

from __future__ import annotations

import contextlib
import math
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from football.packets import Block, InstantBlock, PackedInstant, Packet, pack_instant
from replay.wire import COMPACT, INSTANT, VERSION, WireError, arrival_of, decode, encode, encode_compact, refusal

FLOATS = st.floats(allow_nan=False)


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    size = draw(st.integers(0, 10))
    row = st.lists(FLOATS, min_size=size, max_size=size).map(tuple)
    times = st.lists(st.integers(-(2**62), 2**62), min_size=size, max_size=size).map(tuple)
    return Packet(
        draw(st.text("ab_/é7", max_size=12)),
        draw(st.integers(0, 2**62)),
        draw(times),
        draw(row),
        draw(row),
        draw(row),
        draw(FLOATS),
    )


@given(st.builds(Block, st.integers(-(2**62), 2**62), st.lists(packets(), max_size=4).map(tuple)))
def test_a_block_comes_back_as_it_was(block: Block) -> None:
    assert decode(encode(block)) == block


@st.composite
def whole_packets(draw: st.DrawFn) -> Packet:
    """As an RTLS gives them: whole millimetres, whole percents."""
    size = draw(st.integers(0, 10))
    row = st.lists(st.integers(-70_000, 70_000).map(lambda mm: mm / 1000.0), min_size=size, max_size=size).map(tuple)
    times = st.lists(st.integers(-(2**40), 2**50), min_size=size, max_size=size).map(tuple)
    quality = draw(st.integers(0, 100)) / 100.0
    return Packet(
        draw(st.text("ab_/é7", max_size=12)), draw(st.integers(0, 2**62)), draw(times), draw(row), draw(row), draw(row),
        quality,
    )  # fmt: skip


@given(st.builds(Block, st.integers(-(2**62), 2**62), st.lists(whole_packets(), max_size=4).map(tuple)))
def test_whole_numbers_come_back_from_few_bytes(block: Block) -> None:
    payload = encode_compact(block)
    assert payload[0] == COMPACT
    assert decode(payload) == block


@given(st.builds(Block, st.integers(-(2**62), 2**62), st.lists(packets(), max_size=4).map(tuple)))
def test_a_block_of_any_numbers_comes_back_however_compact_it_may_be(block: Block) -> None:
    assert decode(encode_compact(block)) == block


def test_the_compact_layout_is_the_documented_one() -> None:
    block = Block(7, (Packet("ball", 3, (5, 505, 1_005), (1.5, 1.51, 1.49), (2.5,) * 3, (0.5,) * 3, 0.9),))
    encoded = ["ball", 3, 90, [5, 500, 0], [1_500, 10, -20], [2_500, 0, 0], [500, 0, 0]]
    assert msgspec.msgpack.decode(encode_compact(block)[1:]) == [7, [encoded]]
    assert len(encode_compact(block)) < 0.4 * len(encode(block))


ROWS = st.lists(
    st.tuples(st.text("ab_/é7\n", max_size=8), st.integers(0, 2**62), *(FLOATS,) * 4), min_size=1, max_size=6
)


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62), ROWS)
def test_an_instant_comes_back_in_columns_unless_a_name_has_a_line_feed(arrival_us, ts_us, rows) -> None:  # type: ignore[no-untyped-def]
    packets = tuple(Packet(name, number, (ts_us,), (x,), (y,), (z,), q) for name, number, x, y, z, q in rows)
    instant = pack_instant(packets)
    assert instant is not None
    assert instant.packets == packets
    payload = encode(InstantBlock(arrival_us, instant))
    back = decode(payload)
    assert (back.arrival_us, back.packets, arrival_of(payload)) == (arrival_us, packets, arrival_us)
    assert isinstance(back, InstantBlock) is not any("\n" in packet.transmitter for packet in packets)


def test_the_layout_of_an_instant_is_the_documented_one() -> None:
    columns = struct.pack("<8d", 1.5, 2.5, -1.0, math.nan, 0.5, 0.0, 0.9, 1.0)
    block = InstantBlock(7, PackedInstant(5, ("ball", "home_7"), (3, 4), columns))
    payload = encode(block)
    assert payload[0] == INSTANT == 3
    assert msgspec.msgpack.decode(payload[1:]) == [7, [5, "ball\nhome_7", [3, 4], columns]]
    assert decode(payload) == block, "to the last bit, not a number included"


@pytest.mark.parametrize(
    "packets",
    [
        (),
        (Packet("a", 0, (), (), (), ()),),
        (Packet("a", 0, (1,), (0.0,), (0.0,), (0.0,)), Packet("b", 0, (2,), (0.0,), (0.0,), (0.0,))),
        (Packet("a", 0, (1, 2), (0.0,) * 2, (0.0,) * 2, (0.0,) * 2),),
        (Packet("a", 0, (1,), (0.0,), (), (0.0,)),),
    ],
)
def test_packets_of_several_times_or_positions_are_no_instant(packets: tuple[Packet, ...]) -> None:
    assert pack_instant(packets) is None


def test_nan_and_infinity_survive_the_wire() -> None:
    packet = Packet("ball", 0, (1,), (math.nan,), (math.inf,), (-math.inf,))
    (back,) = decode(encode(Block(1, (packet,)))).packets
    assert math.isnan(back.x_m[0])
    assert (back.y_m, back.z_m) == ((math.inf,), (-math.inf,))


def test_the_layout_is_the_documented_one() -> None:
    payload = encode(Block(7, (Packet("ball", 3, (5,), (1.5,), (2.5,), (0.5,), 0.9),)))
    assert payload[0] == VERSION == 1
    assert msgspec.msgpack.decode(payload[1:]) == [7, [["ball", 3, [5], [1.5], [2.5], [0.5], 0.9]]]


@given(st.integers(-(2**63), 2**64 - 1))
def test_the_arrival_is_read_without_the_rest(arrival_us: int) -> None:
    if arrival_us < 2**63:
        assert (
            arrival_of(encode(Block(arrival_us, ()))) == arrival_of(encode_compact(Block(arrival_us, ()))) == arrival_us
        )


def test_what_was_refused_before_says_why() -> None:
    with pytest.raises(WireError, match=r"^record 7: torn$"):
        decode(refusal("record 7: torn"))


def test_another_version_is_named() -> None:
    with pytest.raises(WireError, match="wire version 9 cannot be read"):
        decode(b"\x09" + encode(Block(0, ()))[1:])


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x01",
        b"\x01hello",
        b"\x01\xff\xfe",
        b"\x01\x92\x01\xa1x",
        encode(Block(0, ()))[:-1],
        encode(Block(0, ())) + b"\x00",
        b"\x01\x92\xa1x\x90",
        b"\x02",
        encode_compact(Block(0, ()))[:-1],
        b"\x02\x92\x01\x91\x92\xa1x\x00",
        b"\x03\x92\x01\x94\x05\xa1a\x90\xc4\x00",  # a name without a number and columns
        b"\x03\x92\x01\x94\x05\xa3a\nb\x91\x01\xc4\x20" + bytes(32),  # two names, one number
        b"\x03\x92\x01\x94\x05\xa1a\x91\x01\xc4\x1f" + bytes(31),
        b"\x03\x92\x01\x94\xcf" + b"\xff" * 8 + b"\xa1a\x91\x01\xc4\x20" + bytes(32),
        b"\x02\x92\x00\x91\x97\xa4ball\x00\x00\x92\x01\xcf" + b"\xff" * 8 + b"\x90\x90\x90",  # times beyond 64 bits
    ],
)
def test_garbage_is_a_wire_error(payload: bytes) -> None:
    with pytest.raises(WireError):
        decode(payload)


@given(st.sampled_from([b"", b"\x01", b"\x02", b"\x03"]), st.binary(max_size=60))
def test_any_bytes_give_a_block_or_a_wire_error(version: bytes, rest: bytes) -> None:
    payload = version + rest
    with contextlib.suppress(WireError):
        assert isinstance(arrival_of(payload), int)
    with contextlib.suppress(WireError):
        assert isinstance(decode(payload), Block | InstantBlock)
