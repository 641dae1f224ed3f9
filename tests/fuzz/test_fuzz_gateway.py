"""Decoders of feeds: any bytes become packets that the engine takes, or refused records with a reason."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import strategies as st

from app.gateway.decisions import DecisionFeed
from app.gateway.feed import Feed
from app.gateway.framing import Cutter
from app.gateway.profile import Framing, read_profile
from app.gateway.timecodes import TimecodeFeed
from football.house_time import HouseTime
from football.packets import Block, RejectedRecord
from replay import refused_records, wire
from replay.block_validation import BlockValidator
from replay.formats.officials import check, parse
from replay.formats.value_path import PathError, steps_of, value_at
from tests.app.gateway.test_profiles import DOCUMENTED, SHEET, with_tags
from tests.fuzz.cases import both, changed_text, fewer, hold, json_like, mangled, refusal


def holds(feed: Feed, message: bytes, topic: str, arrival_us: int) -> None:
    """Takes in a message; whatever it is, its packets are such that a capture and the engine take them."""
    feed.receive(message, topic, arrival_us)
    blocks = feed.take()
    validator = BlockValidator(SHEET)
    for packets in blocks:
        for packet in packets:
            assert list(packet.ts_us) == sorted(set(packet.ts_us))
            assert 0.0 <= packet.quality <= 1.0
            assert max(packet.ts_us) <= arrival_us
        block = Block(arrival_us, packets)
        assert wire.decode(wire.encode_compact(block)) == block
        _, rejected = validator.check_decoded(block, "fuzz")
        assert not [one for one in rejected if "outside" not in one.reason and "credible" not in one.reason], rejected
    feed.figures()


@both
@pytest.mark.parametrize("documented", DOCUMENTED, ids=[one[0] for one in DOCUMENTED])
def test_a_damaged_message_is_decoded_or_refused(documented: tuple, cases: int):
    name, topic, tags, message, _ = documented
    profile = with_tags(name, tags)
    text = changed_text([message.decode("latin-1")]).map(lambda t: t.encode("utf-8", "replace"))

    def body(messages: list[bytes]) -> None:
        feed = Feed(name, profile, SHEET, 1_700_000_000_000_000)
        for number, one in enumerate(messages):
            holds(feed, one, topic, 1_000_000 + number * 20_000)

    hold(fewer(cases, 4), st.lists(mangled([message]) | text, min_size=1, max_size=4), body)


@both
def test_objects_of_known_names_are_decoded_or_refused(cases: int):
    names = ["id", "t_us", "x_m", "y_m", "z_m", "quality", "sequence"]

    def body(tree: object) -> None:
        feed = Feed("fuzz", read_profile("json-lines"), SHEET, 0)
        holds(feed, msgspec.json.encode(tree), "", 2**40)

    hold(fewer(cases, 2), json_like(names), body)


@both
@pytest.mark.parametrize("name", ["decisions-json", "opta-like-events", "sportec-like-events"])
def test_any_message_of_decisions_is_decoded_or_refused(name: str, cases: int):
    names = ["id", "version", "kind", "variant", "team", "player", "time", "deleted", "liveData", "event", "typeId",
             "qualifier", "qualifierId"]  # fmt: skip
    known = [
        b'{"id":"a","version":1,"kind":"card","variant":"red","team":"home","player":"home_7","time":"2026-11-24T14:00:00Z"}',
        b'{"liveData":{"event":[{"id":1,"typeId":16,"contestantId":"home","playerId":"home_7","timeStamp":"2026-11-24"}]}}',
        b"<PutDataRequest><Event EventId='e'><Foul TeamFouler='away' Fouler='away_9'/></Event></PutDataRequest>",
    ]

    def body(messages: list[bytes]) -> None:
        feed = DecisionFeed("fuzz", read_profile(name), SHEET, 1_700_000_000_000_000)
        for message in messages:
            feed.receive(message, "", 2**40)
        lines = [msgspec.json.encode(one).decode() for one in feed.take()]
        for number, line in enumerate(lines, 1):
            check(parse(line), SHEET)
            assert parse(line).number == number
        DecisionFeed("fuzz", read_profile(name), SHEET, 1_700_000_000_000_000).recall(lines)

    drawn = mangled(known) | json_like(names).map(msgspec.json.encode)
    hold(fewer(cases, 4), st.lists(drawn, min_size=1, max_size=4), body)


@both
@pytest.mark.parametrize("name", ["artnet-timecode", "timecode-lines"])
def test_any_message_of_timecode_names_a_frame_or_is_refused(name: str, cases: int):
    known = [b"Art-Net\x00\x00\x97\x00\x0e\x00\x00\x07\x21\x0f\x14\x01", b"20:15:33:07", b"20:15:33;07"]

    def body(messages: list[bytes]) -> None:
        feed = TimecodeFeed(name, read_profile(name))
        for number, message in enumerate(messages):
            feed.receive(message, "", number * 40_000)
        if (stamp := feed.stamp) is not None:
            assert HouseTime(rate=stamp.rate, anchor_us=stamp.at_us, anchor_code=stamp.code).timecode(stamp.at_us)
        assert all(one.reason for one in feed.refused_records)

    hold(fewer(cases, 2), st.lists(mangled(known), min_size=1, max_size=12), body)


@both
def test_any_payload_of_refused_records_is_read_or_is_one(cases: int):
    whole = refused_records.encode([RejectedRecord("message 1", "ball", 3, None, "no number", "x")] * 2)

    def body(payload: bytes) -> None:
        found = refused_records.decode(payload, "fuzz")
        assert len(found) <= refused_records.RECORDS_MAX
        assert all(len(one.reason) <= refused_records.CHARACTERS_MAX for one in found)

    hold(cases, mangled([whole]), body)


@both
def test_any_stream_is_cut_within_bounds(cases: int):
    framings = [
        Framing(),
        Framing(cut="length", length_bytes=1),
        Framing(cut="length"),
        Framing(cut="fixed", fixed_bytes=5),
    ]

    def body(drawn: tuple[Framing, list[bytes]]) -> None:
        framing, parts = drawn
        cutter = Cutter(framing)
        found = b"".join(message for part in parts for message in cutter.feed(part))
        assert len(found) + len(cutter.rest()) <= sum(map(len, parts))

    hold(cases, st.tuples(st.sampled_from(framings), st.lists(st.binary(max_size=40), max_size=8)), body)


@both
def test_any_path_is_read_or_refused(cases: int):
    def body(drawn: tuple[str, object]) -> None:
        path, tree = drawn
        if refusal(PathError, lambda: steps_of(path)) is None:
            value_at(tree, steps_of(path))

    hold(cases, st.tuples(st.text("ab.[]=*0", max_size=12), json_like(["a", "b", "0"])), body)
