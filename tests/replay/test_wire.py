"""Bytes of a block: what goes in comes out, and nothing else is taken for one."""

from __future__ import annotations

import contextlib
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from football.packets import Block, Packet
from replay.wire import COMPACT, VERSION, WireError, arrival_of, decode, encode, encode_compact, refusal

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
        b"\x02\x92\x00\x91\x97\xa4ball\x00\x00\x92\x01\xcf" + b"\xff" * 8 + b"\x90\x90\x90",  # times beyond 64 bits
    ],
)
def test_garbage_is_a_wire_error(payload: bytes) -> None:
    with pytest.raises(WireError):
        decode(payload)


@given(st.sampled_from([b"", b"\x01", b"\x02"]), st.binary(max_size=60))
def test_any_bytes_give_a_block_or_a_wire_error(version: bytes, rest: bytes) -> None:
    payload = version + rest
    with contextlib.suppress(WireError):
        assert isinstance(arrival_of(payload), int)
    with contextlib.suppress(WireError):
        assert isinstance(decode(payload), Block)
