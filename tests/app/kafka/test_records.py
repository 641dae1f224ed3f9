"""Records of a positions topic: any bytes give one, or an error that says why."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka.address import parse
from app.kafka.records import Blocks, End, RecordError, Sheet, headers, read
from app.sources import topic_discovery
from football.match_sheet import MatchSheet
from football.untrusted import RECORD_BYTES_MAX


def test_sheet_end_and_block_come_back():
    sheet = Sheet(MatchSheet("final"), 5_000, 7)
    assert read(msgspec.json.encode(sheet), headers("sheet")) == sheet
    assert read(msgspec.json.encode(End(9)), headers("end")) == End(9)
    assert read(b"\x01abc", headers("block")) == Blocks(b"\x01abc")
    assert read(b"\x01abc", None) == Blocks(b"\x01abc"), "a block needs no headers"


@pytest.mark.parametrize(
    ("value", "head", "message"),
    [
        (b"", [], "empty record"),
        (None, [], "empty record"),
        (b"{}", headers("sheet"), "not a record of kind sheet"),
        (b"\xff", headers("end"), "not a record of kind end"),
        (b"x", headers("song"), "unknown kind of record 'song'"),
        (b"x", [("version", b"9")], "record version b'9' cannot be read"),
        (bytes(RECORD_BYTES_MAX + 1), [], "at most"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(value, head, message):
    with pytest.raises(RecordError, match=message):
        read(value, head)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        *(({"match_id": name}, "name of a folder") for name in ("", ".", "..", "a\nb", "x" * 201, "é" * 40)),
        ({"length_m": 1e300}, "length_m = 1e[+]300 m is not in 40.4..130.0 m"),
        ({"width_m": -68.0}, "width_m = -68.0 m is not in"),
        ({"quality": {"framed": True, "limbs": ["left_foot"]}}, "by frames has no limbs"),
        ({"players": [{"object_id": f"home_{n}", "team": "home"} for n in range(201)]}, "at most 200 players"),
        ({"quality": {"limbs": [f"limb_{n}" for n in range(21)]}}, "20 limbs"),
        ({"quality": {"body_hz": 1e9}, "players": [{"object_id": "home_1", "team": "home"}]}, "at most 500000"),
        ({"quality": {"ball_hz": 0.0}}, "rates must be above 0"),
        ({"quality": {"position_noise_m": 1e300}}, "noise of a position must be 0 to 10 m, not 1e[+]300"),
        ({"quality": {"position_noise_m": -1.0}}, "noise of a position must be 0 to 10 m, not -1"),
        ({"quality": {"ball_smoothing_s": 1.0}}, "smoothing of the ball must be 0 to 0.5 s, not 1"),
    ],
)
def test_a_sheet_of_what_no_match_has_is_refused_before_anything_is_prepared_for_it(changed, message):
    head = msgspec.json.encode({"sheet": changed, "slot_us": 5_000, "arrival_us": 7})
    with pytest.raises(RecordError, match=message):
        read(head, headers("sheet"))


def test_matches_of_one_topic_are_bounded(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(topic_discovery, "MATCHES_MAX", 3)
    scout = topic_discovery.TopicDiscovery(parse("kafka://nowhere:1/round"))
    for name in ("a", "b", "c", "b", "d", "e", "c"):
        value = msgspec.json.encode(Sheet(MatchSheet(name), 5_000, 7))
        scout._take(SimpleNamespace(key=name.encode(), value=value, headers=headers("sheet"), partition=0, offset=9))
    assert list(scout.locations()) == ["a", "b", "c"]
    assert caplog.text.count("further ones are left out") == 1


@given(
    st.none() | st.binary(max_size=200),
    st.lists(
        st.tuples(st.sampled_from(["kind", "version", "x"]), st.sampled_from([b"sheet", b"end", b"1"]) | st.binary())
    ),
)
def test_any_record_is_read_or_refused(value, head):
    with contextlib.suppress(RecordError):
        read(value, head)
