"""Frames hold what is put into them, are compact, and refuse everything else."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import pytest

from middleware.events import Event, Update
from middleware.nodes.frames import FrameError, FrameReader, FrameWriter
from middleware.nodes.messages import Channel, Data, Forward, Message, PartName, Reached, Split, Statement, Takeover


class Body(msgspec.Struct, frozen=True):
    """A payload with all that a payload may hold."""

    where: tuple[float, float]
    names: frozenset[str]
    inner: object = None


class Pair(NamedTuple):
    """A named tuple in a payload."""

    one: int
    two: list[int]


NEAR: Channel = ("near", None)
PART: PartName = ("hit", "home_7")


def data(seq: int, payload: object, **more: object) -> Data:
    event = Event("near", 10**15 + 1_000 * seq, "home_7", seq, payload, **more)  # type: ignore[arg-type]
    return Data(NEAR, seq, Update(event, 1))


def test_messages_survive_a_link_in_any_division_into_frames():
    body = Body((1.5, -2.0), frozenset({"a", "b"}), Pair(1, [2, 3]))
    messages: list[Message] = [
        data(1, body, id="near#1", causes=("x", "y")),
        data(2, None),
        data(3, (1, (2, "t"), {"k": b"v"}), dated_us=5, annuls="near#1"),
        Data(NEAR, 4, Update(Event("near", -7, "away_1"), -1, 250)),
        Split(NEAR, 5, "home_7", 3),
        Reached(PART, 9, (4, 5)),
        Reached(PART, 10, (4, 5)),
        Statement(11, 77, (("raw.ball", 5), ("tick", 6)), -3),
        Forward(PART, data(6, body), 40_000),
        Takeover(PART, b"\x00\xff", 12),
        data(7, body),
    ]
    for size in (1, 3, len(messages)):
        writer, reader = FrameWriter(), FrameReader()
        read: list[Message] = []
        for at in range(0, len(messages), size):
            read += reader.read(writer.write(messages[at : at + size]))
        assert read == messages


def test_what_repeats_takes_few_bytes():
    writer = FrameWriter()
    first = len(writer.write([data(1, Body((1.5, -2.0), frozenset()))]))
    assert len(writer.write([data(2, Body((1.6, -2.0), frozenset()))])) < first / 2
    writer.write([Reached(PART, 1, (1000, 2000))])
    assert len(writer.write([Reached(PART, 2, (1000, 2000))])) <= 5


def test_a_payload_that_no_frame_can_hold_is_refused():
    with pytest.raises(FrameError, match="object"):
        FrameWriter().write([data(1, object())])


@pytest.mark.parametrize(
    "fields",
    [
        [3, ["os:system", "true"]],
        [3, ["builtins:eval", "1"]],
        [3, ["middleware.events:Event", "near", 1, "x"]],
        [0, 0, 1, 1, 0],
        [9],
        7,
    ],
    ids=["function", "builtin", "no message", "unknown number", "unknown sort", "no list"],
)
def test_bytes_that_are_no_frame_are_refused_and_run_nothing(fields: object):
    with pytest.raises(FrameError):
        FrameReader().read(msgspec.msgpack.encode([fields]))
