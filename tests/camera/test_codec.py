"""VISCA on the wire: golden bytes, both ways, and garbage."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.profile import load_profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import (
    Absolute,
    Cancel,
    Drive,
    Home,
    InterfaceClear,
    MaxSpeedInquiry,
    Message,
    PositionInquiry,
    Recalibrate,
    Relative,
    SpeedMode,
    StatusInquiry,
    Tally,
    ZoomDirect,
    ZoomDrive,
    ZoomInquiry,
)
from camera.protocols.visca_codec import Ack, Answer, Completion, Refusal, Reply, ViscaError

X400, H700 = load_profile("brc-x400"), load_profile("brc-h700")

#: Bytes as in Sony's command lists, written down by hand.
GOLDEN: list[tuple[Message, str]] = [
    (Drive(24, 0), "81 01 06 01 18 01 02 03 ff"),
    (Drive(-3, 5), "81 01 06 01 03 05 01 01 ff"),
    (Drive(1, -23), "81 01 06 01 01 17 02 02 ff"),
    (Drive(0, 0), "81 01 06 01 01 01 03 03 ff"),
    (Absolute(-8704, 4608, 24, 23), "81 01 06 02 18 17 0d 0e 00 00 01 02 00 00 ff"),
    (Relative(512, -512, 1, 2), "81 01 06 03 01 02 00 02 00 00 0f 0e 00 00 ff"),
    (Home(), "81 01 06 04 ff"),
    (Recalibrate(), "81 01 06 05 ff"),
    (ZoomDrive(0), "81 01 04 07 00 ff"),
    (ZoomDrive(8), "81 01 04 07 27 ff"),
    (ZoomDrive(-1), "81 01 04 07 30 ff"),
    (ZoomDirect(0x4000), "81 01 04 47 04 00 00 00 ff"),
    (Tally(True), "81 01 7e 01 0a 00 02 ff"),
    (Tally(False), "81 01 7e 01 0a 00 03 ff"),
    (SpeedMode("slow-on"), "81 01 06 44 02 ff"),
    (SpeedMode("slow-off"), "81 01 06 44 03 ff"),
    (SpeedMode("steps-normal"), "81 01 06 45 08 ff"),
    (SpeedMode("steps-extended"), "81 01 06 45 18 ff"),
    (Cancel(2), "81 22 ff"),
    (InterfaceClear(), "81 01 00 01 ff"),
    (PositionInquiry(), "81 09 06 12 ff"),
    (ZoomInquiry(), "81 09 04 47 ff"),
    (MaxSpeedInquiry(), "81 09 06 11 ff"),
    (StatusInquiry(), "81 09 06 10 ff"),
]
GOLDEN_REPLIES: list[tuple[Reply, str]] = [
    (Ack(1), "90 41 ff"),
    (Completion(2), "90 52 ff"),
    (Answer(bytes.fromhex("0d 0e 00 00")), "90 50 0d 0e 00 00 ff"),
    (Refusal(0, codec.SYNTAX), "90 60 02 ff"),
    (Refusal(1, codec.CANCELLED), "90 61 04 ff"),
]


@pytest.mark.parametrize(("message", "wire"), GOLDEN)
def test_a_message_has_these_bytes_and_they_mean_it(message: Message, wire: str) -> None:
    assert codec.encode(message, X400).hex(" ") == wire
    assert codec.decode(bytes.fromhex(wire), X400) == message


@pytest.mark.parametrize(("reply", "wire"), GOLDEN_REPLIES)
def test_a_reply_has_these_bytes_and_they_mean_it(reply: Reply, wire: str) -> None:
    assert codec.encode_reply(reply).hex(" ") == wire
    assert codec.decode_reply(bytes.fromhex(wire)) == reply


def test_the_h700_takes_five_nibbles_of_pan_and_one_speed() -> None:
    wire = codec.encode(Absolute(-35416, 18749, 24, 24), H700)
    assert wire.hex(" ") == "81 01 06 02 18 00 0f 07 05 0a 08 04 09 03 0d ff"
    assert codec.decode(wire, H700) == Absolute(-35416, 18749, 24, 24)
    assert codec.decode_position(bytes.fromhex("0f 07 05 0a 08 0e 07 09 06"), H700) == (-35416, -6250)


def test_heads_of_twenty_bits_an_axis_take_five_nibbles_of_each_in_seventeen_bytes() -> None:
    fr7, am7 = load_profile("ilme-fr7"), load_profile("brc-am7")
    move = Absolute(-40103, 46000, 50, 50)
    wire = codec.encode(move, fr7)
    assert wire.hex(" ") == "81 01 06 02 32 32 0f 06 03 05 09 00 0b 03 0b 00 ff"
    assert codec.decode(codec.unpack(codec.pack(codec.COMMAND, 1, wire)).payload, fr7) == move
    assert codec.decode_position(bytes.fromhex("0d 05 04 06 08 03 03 04 05 00"), am7) == (-175_000, 210_000)


def test_header_and_payload_make_a_datagram() -> None:
    wire = codec.pack(codec.CONTROL, 7, codec.RESET)
    assert wire.hex(" ") == "02 00 00 01 00 00 00 07 01"
    assert codec.unpack(wire) == codec.Datagram(codec.CONTROL, 7, b"\x01")


@pytest.mark.parametrize(
    "wire",
    [
        "",
        "01 00 00 05 00 00 00 01",
        "01 00 00 06 00 00 00 01 81 09 06 12 ff",
        "99 00 00 01 00 00 00 01 01",
        "01 00 00 12 00 00 00 01" + " 00" * 18,
    ],
)
def test_a_datagram_that_contradicts_itself_is_refused(wire: str) -> None:
    with pytest.raises(ViscaError):
        codec.unpack(bytes.fromhex(wire))


@pytest.mark.parametrize(
    "wire",
    [
        "81 ff",
        "82 09 06 12 ff",
        "81 09 06 12",
        "81 09 06 ff 12 ff",
        "81 01 06 01 00 01 02 03 ff",
        "81 01 06 01 19 01 02 03 ff",
        "81 01 06 01 01 01 04 03 ff",
        "81 01 06 02 01 01 10 00 00 00 00 00 00 00 ff",
        "81 01 06 02 01 01 00 00 00 00 00 00 00 ff",
        "81 01 04 07 28 ff",
        "81 01 04 47 07 0f 0f 0f ff",
        "81 01 7e 01 ff",
    ],
)
def test_a_message_that_is_none_is_refused(wire: str) -> None:
    with pytest.raises(ViscaError):
        codec.decode(bytes.fromhex(wire), X400)


@given(st.binary(max_size=40))
def test_no_bytes_raise_anything_but_a_visca_error(data: bytes) -> None:
    for read in (
        codec.unpack,
        codec.decode_reply,
        lambda b: codec.decode(b, X400),
        lambda b: codec.decode(b"\x81" + b + b"\xff", H700),
        lambda b: codec.decode_position(b, X400),
        lambda b: codec.decode_zoom(b, X400),
    ):
        with contextlib.suppress(ViscaError):
            read(data)


@given(st.integers(-0x8000, 0x7FFF))
def test_half_bytes_give_back_their_number(value: int) -> None:
    assert codec.from_nibbles(codec.to_nibbles(value, 4)) == value
