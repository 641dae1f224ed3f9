"""Blocks on the wire, rows of Spark, and the pipeline behind them."""

from __future__ import annotations

from contextlib import suppress

import msgspec
from hypothesis import strategies as st

from app.pipeline.framing import pack, pad, unpack
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from football.match_sheet import MatchSheet, Player, Quality
from football.packets import Block, Packet
from replay import wire
from replay.block_validation import check_block
from replay.formats.officials import OfficialLine, encode
from tests.fuzz.cases import NUMBERS, both, hold, json_like, mangled

PLAYERS = tuple(Player(f"{team}_{n}", team, shirt=n, starts=True) for team in ("home", "away") for n in (1, 2))
SHEET = MatchSheet("final", players=PLAYERS, quality=Quality(25.0, 25.0, (), True, 0.05, "radio"))


def block(arrival_us: int = 40_000, name: str = "ball", sequence: int = 0) -> Block:
    times = tuple(arrival_us - 4_000 + 1_000 * i for i in range(3))
    return Block(arrival_us, (Packet(name, sequence, times, (1.0, 1.1, 1.2), (0.0,) * 3, (0.11,) * 3, 0.9),))


GOOD = [encode_of(block(us, name)) for us in (7, 40_000, 2**40) for name in ("ball", "home_1") for encode_of in (
    wire.encode, wire.encode_compact)]  # fmt: skip

packets = st.tuples(
    st.sampled_from(["ball", "home_1", "away_2", "nobody", "", "home_1/left_foot", "referee_1"]),
    st.integers(-2, 9) | st.integers(-(2**65), 2**65),
    *(st.lists(NUMBERS, max_size=4) for _ in range(4)),
    NUMBERS,
)
plain = st.tuples(NUMBERS, st.lists(packets, max_size=4)).map(
    lambda drawn: b"\x01" + _packed(list(drawn)),
)
compact = st.tuples(
    st.integers(-5, 2**63),
    st.lists(
        st.tuples(
            st.sampled_from(["ball", "home_1", ""]), st.integers(-2, 2**63), st.integers(-200, 200),
            *(st.lists(st.integers(-9, 9) | st.integers(-(2**63), 2**64 - 1), max_size=4) for _ in range(4)),
        ),
        max_size=4,
    ),
).map(lambda drawn: b"\x02" + _packed(drawn))  # fmt: skip


def _packed(value: object) -> bytes:
    try:
        return msgspec.msgpack.encode(value)
    except (OverflowError, ValueError):  # a number that MessagePack has no room for
        return b""


payloads = mangled(GOOD) | plain | compact | json_like(["a"]).map(lambda value: b"\x01" + _packed(value))


@both
def test_any_payload_is_a_block_or_a_wire_error(cases: int):
    def body(payload: bytes) -> None:
        with suppress(wire.WireError):
            wire.arrival_of(payload)
        with suppress(wire.WireError):
            decoded = wire.decode(payload)
            again = wire.decode(wire.encode_compact(decoded))
            assert again == decoded or repr(again) == repr(decoded)  # NaN equals nothing

    hold(cases, payloads, body)


@both
def test_any_payload_passes_the_checks_or_goes_to_quarantine(cases: int):
    def body(payload: bytes) -> None:
        good, rejected = check_block(payload, SHEET, "here")
        assert good is not None or rejected
        assert all(record.reason for record in rejected)

    hold(cases, payloads, body)


@both
def test_any_row_is_unpacked_or_refused(cases: int):
    rows = [pad(pack(5, 7, one) + pack(6, 8, one)) for one in GOOD[:4]]

    def body(frames: bytes) -> None:
        with suppress(ValueError):
            assert all(payload for _, _, payload in unpack(frames))

    hold(cases, mangled(rows), body)


@both
def test_no_payload_stops_a_pipeline(cases: int):
    """One match takes them all, one after the other, lines of officials among them, and is committed now and then."""
    pipeline = MatchPipeline(SHEET, PipelineOptions(alpha=0.0))
    count = {"arrival_us": 0, "payloads": 0}
    lines = json_like(["kind", "variant", "team", "player", "at_s"]).map(
        lambda value: encode(OfficialLine("official.jsonl", 1, msgspec.json.encode(value).decode()))
    )

    def body(drawn: tuple[bytes, int]) -> None:
        payload, step_us = drawn
        count["arrival_us"] += step_us
        count["payloads"] += 1
        pipeline.push(payload, count["arrival_us"])
        pipeline.push(wire.encode(block(count["arrival_us"], "ball", count["payloads"])), count["arrival_us"])
        if count["payloads"] % 100 == 0:
            pipeline.take_tables()
            pipeline.inspect_detectors()
            pipeline.snapshot()

    hold(cases, st.tuples(payloads | lines, st.integers(0, 40_000)), body)
    pipeline.finish()
    assert pipeline.commit_meta()["positions"] > 0
