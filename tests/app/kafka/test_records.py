"""Records of a positions topic: any bytes give one, or an error that says why."""

from __future__ import annotations

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.kafka import records
from app.kafka.records import Blocks, End, RecordError, Sheet, headers, read
from detectors.inputs import MatchSheet


def test_sheet_end_and_block_come_back():
    sheet = Sheet(MatchSheet("final"), 5_000, 7)
    assert read(msgspec.json.encode(sheet), headers("sheet")) == sheet
    assert read(msgspec.json.encode(End(9)), headers("end")) == End(9)
    assert read(b"\x01abc", headers("block")) == Blocks(b"\x01abc")
    assert read(b"\x01abc", None) == Blocks(b"\x01abc"), "a block needs no headers"


@pytest.mark.parametrize(
    ("value", "told", "said"),
    [
        (b"", [], "empty record"),
        (None, [], "empty record"),
        (b"{}", headers("sheet"), "not a record of kind sheet"),
        (b"\xff", headers("end"), "not a record of kind end"),
        (b"x", headers("song"), "unknown kind of record 'song'"),
        (b"x", [("version", b"9")], "record version b'9' cannot be read"),
        (bytes(records.BYTES_MAX + 1), [], "at most"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(value, told, said):
    with pytest.raises(RecordError, match=said):
        read(value, told)


@given(
    st.none() | st.binary(max_size=200),
    st.lists(
        st.tuples(st.sampled_from(["kind", "version", "x"]), st.sampled_from([b"sheet", b"end", b"1"]) | st.binary())
    ),
)
def test_any_record_is_read_or_refused(value, told):
    with contextlib.suppress(RecordError):
        read(value, told)
