"""The decoder of bytes from outside: depth above the interpreter's limit, sizes around each bound, any bytes."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from app.kafka import records, updates
from football import untrusted
from football.match_sheet import MatchSheet
from football.packets import Block
from football.untrusted import (
    DEPTH_MAX,
    ID_CHARACTERS_MAX,
    NAME_BYTES_MAX,
    RECORD_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
    UntrustedError,
    decode_json,
    decode_toml,
    file_inside,
    is_name,
    is_text,
    msgpack_decoder,
    read_arrow,
    read_parquet,
)
from replay.official_feed import Entry
from tests.fuzz.cases import both, fewer, hold, mangled, refusal

KINDS = [object, dict[str, object], MatchSheet, records.Sheet, records.End, updates.TopicUpdate, updates.Begin, Entry]
OPENINGS = {"[": "]", '{"a":': "}", '[{"x": [1], "y":': "}]"}
depths = st.integers(1, 4_000) | st.sampled_from([DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1, 1_000, 1_010, 50_000])


@both
def test_json_of_any_depth_is_decoded_or_refused(cases: int):
    def body(drawn: tuple[str, int, bool, str, type]) -> None:
        opening, depth, closed, field, kind = drawn
        document = opening * depth + "1" + OPENINGS[opening] * depth * closed
        if field:
            document = f"{{{json.dumps(field)}: {document}}}"
        reason = refusal(UntrustedError, lambda: decode_json(document, kind, RECORD_BYTES_MAX))
        if depth > DEPTH_MAX and len(document) <= RECORD_BYTES_MAX:
            assert reason == f"nested more than {DEPTH_MAX} deep"
        if reason is None:
            json.dumps(msgspec.to_builtins(decode_json(document, kind)))

    fields = st.sampled_from(["", "sheet", "players", "arrival_us", "event", "x", "[[[[", '"{'])
    hold(cases, st.tuples(st.sampled_from(list(OPENINGS)), depths, st.booleans(), fields, st.sampled_from(KINDS)), body)


@both
def test_messagepack_of_any_depth_is_decoded_or_refused(cases: int):
    decode = msgpack_decoder(Block)

    def body(drawn: tuple[bytes, int, bytes]) -> None:
        head, depth, opening = drawn
        refusal(UntrustedError, lambda: decode(head + opening * depth + b"\x00"))

    heads = st.sampled_from(
        [b"", b"\x92", b"\x92\x05", b"\x93\x05\x90", b"\x92\x05\x91\x98\xa1a\x00\x90\x90\x90\x90\x00"]
    )
    openings = st.sampled_from(
        [b"\x91", b"\x81\xa1x", b"\xdc\x00\x01", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff"]
    )
    hold(cases, st.tuples(heads | st.binary(max_size=40), depths, openings), body)


@both
def test_toml_of_any_depth_and_any_number_is_decoded_or_refused(cases: int):
    def body(drawn: tuple[str, int, int]) -> None:
        form, depth, number = drawn
        texts = {
            "arrays": "a = " + "[" * depth + "]" * depth, "tables": "a = " + "{a=" * depth + "1" + "}" * depth,
            "names": ".".join("a" * min(depth, 2_000)) + " = 1", "number": f"a = {number}",
            "digits": "a = " + "9" * depth,
        }  # fmt: skip
        reason = refusal(UntrustedError, lambda: decode_toml(texts[form]))
        if form == "number":
            assert (reason is None) == (-(2**63) <= number < 2**63)
        elif form != "digits" and depth > DEPTH_MAX:
            assert reason

    forms = st.sampled_from(["arrays", "tables", "names", "number", "digits"])
    numbers = st.integers() | st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1])
    hold(fewer(cases), st.tuples(forms, depths, numbers), body)


@both
def test_sizes_and_names_at_and_above_each_bound(cases: int):
    def body(drawn: tuple[int, int, str]) -> None:
        limit, more, letter = drawn
        document = json.dumps("x" * max(0, limit + more - 2))
        assert (refusal(UntrustedError, lambda: decode_json(document, str, limit)) is None) == (len(document) <= limit)
        raw = msgspec.msgpack.encode(bytes(limit))
        decode = msgpack_decoder(bytes, len(raw) - more)
        assert (refusal(UntrustedError, lambda: decode(raw)) is None) == (more <= 0)
        for bound in (ID_CHARACTERS_MAX, TEXT_CHARACTERS_MAX):
            if is_text(letter * (bound + more), bound):
                assert more <= 0
        if is_name(letter * (NAME_BYTES_MAX + more)):
            assert more <= 0
            MatchSheet(letter * (NAME_BYTES_MAX + more))

    hold(cases, st.tuples(st.integers(2, 3_000), st.integers(-2, 2), st.characters()), body)


@both
def test_no_name_leads_out_of_a_folder(cases: int, tmp_path: Path):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)

    def body(parts: list[str]) -> None:
        file: list[Path] = []
        if refusal(UntrustedError, lambda: file.append(file_inside(folder, "/".join(parts)))) is None:
            assert file[0].resolve().is_relative_to(folder)

    parts = st.sampled_from(["..", ".", "", "link", "updates", "x", "~", "\0", "a" * 300]) | st.text(max_size=5)
    hold(cases, st.lists(parts, max_size=6), body)


@both
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_any_bytes_are_a_table_or_refused(cases: int, tmp_path: Path, form: str):
    table = pa.table({"t": [1, 2], "x": [0.5, None], "s": ["a", "b"], "l": [["a"], []],
                      "d": pa.array(["u", "v"]).dictionary_encode()})  # fmt: skip
    file, read = tmp_path / f"table.{form}", {"parquet": read_parquet, "arrow": read_arrow}[form]
    if form == "parquet":
        pq.write_table(table, file, compression="zstd")
    else:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
            writer.write_table(table)

    def body(content: bytes) -> None:
        file.write_bytes(content)
        refusal(UntrustedError, lambda: read(file))

    hold(cases, mangled([file.read_bytes()]), body)


@both
def test_a_table_is_read_up_to_its_limit_of_rows_and_bytes(cases: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "table.parquet"
    monkeypatch.setattr(untrusted, "ROWS_MAX", 50)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", 5_000)

    def body(drawn: tuple[int, int, int]) -> None:
        rows, length, group = drawn
        text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * length]))
        pq.write_table(pa.table({"s": text}), file, row_group_size=group, store_schema=False)
        reason = refusal(UntrustedError, lambda: read_parquet(file))
        if rows > 50 or rows * length > 5_000:
            assert reason
        elif rows * (length + 16) < 2_500 and length < 400 and group > 10:
            assert reason is None

    hold(fewer(cases), st.tuples(st.integers(0, 60), st.integers(0, 300), st.integers(1, 100)), body)
