"""The decoder of bytes from outside: each limit holds at its bound, and is refused one above it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from football import untrusted
from football.match_sheet import LIMBS_MAX, PLAYERS_MAX, RATE_MAX_HZ, SHIRT_MAX, MatchSheet, Player, Quality
from football.untrusted import (
    DEPTH_MAX,
    DOCUMENT_BYTES_MAX,
    ID_CHARACTERS_MAX,
    NAME_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
    VALUES_MAX,
    UntrustedError,
    decode_json,
    decode_toml,
    file_inside,
    is_name,
    is_text,
    msgpack_decoder,
    read_json,
    read_parquet,
    read_text,
)


def nested(depth: int, inner: bytes = b"") -> bytes:
    return b"[" * depth + inner + b"]" * depth


def test_json_nests_up_to_the_limit_and_brackets_in_texts_do_not_count():
    assert decode_json(nested(DEPTH_MAX), object) is not None
    texts = ["[" * 2_000, '"[{' * 500, "\\"]
    assert decode_json(untrusted.msgspec.json.encode(texts), list[str]) == texts
    for depth in (DEPTH_MAX + 1, 1_010, 100_000):
        for document in (nested(depth), b'{"a": ' * depth + b"1" + b"}" * depth, b"[" * depth):
            with pytest.raises(UntrustedError, match=f"nested more than {DEPTH_MAX} deep"):
                decode_json(document, object)


@pytest.mark.parametrize("depth", [DEPTH_MAX + 1, 1_010, 500_000])
def test_messagepack_below_a_known_kind_is_refused_however_deep_it_nests(depth: int):
    class Pair(untrusted.msgspec.Struct, array_like=True):
        one: int

    decode = msgpack_decoder(Pair)
    assert decode(b"\x91\x05") == Pair(5)
    with pytest.raises(UntrustedError):
        decode(b"\x92\x05" + b"\x91" * depth)


def test_sizes_are_refused_above_the_limit_and_before_anything_is_decoded(tmp_path: Path):
    whole = b'"' + b"x" * (DOCUMENT_BYTES_MAX - 2) + b'"'
    file = tmp_path / "settings"
    assert len(decode_json(whole, str)) == DOCUMENT_BYTES_MAX - 2
    file.write_bytes(whole)
    assert len(read_json(file, str)) == DOCUMENT_BYTES_MAX - 2
    file.write_bytes(whole + b" ")
    reads = [
        lambda: decode_json(whole + b" ", str),
        lambda: read_json(file, str),
        lambda: read_text(file),
        lambda: decode_toml("#" * (DOCUMENT_BYTES_MAX + 1)),
        lambda: msgpack_decoder(bytes, 9)(bytes(10)),
    ]
    for read in reads:
        with pytest.raises(UntrustedError, match=r"larger than \d+ bytes"):
            read()


def test_a_pipe_or_a_device_is_no_document(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        for read in (lambda path=path: read_json(path, object), lambda path=path: read_parquet(path)):
            with pytest.raises(UntrustedError, match="not a regular file"):
                read()


def test_numbers_of_json_and_toml_fit_64_bits():
    class Kind(untrusted.msgspec.Struct):
        at: untrusted.Int64 = 0
        whole: untrusted.Whole = 0
        count: untrusted.Count = 0

    assert decode_json(f'{{"at": {-(2**63)}, "whole": {-(2**53)}, "count": {2**53}}}', Kind).count == 2**53
    beyond = ('"at": 9223372036854775808', '"whole": 9007199254740993', '"count": -1', f'"at": {"9" * 5_000}')
    for text in beyond:
        with pytest.raises(UntrustedError):
            decode_json(f"{{{text}}}", Kind)
    assert decode_toml("a = 9223372036854775807") == {"a": 2**63 - 1}
    for number in ("9223372036854775808", "-9223372036854775809", "9" * 5_000):
        with pytest.raises(UntrustedError, match=r"64 bits|not TOML"):
            decode_toml(f"a = [{number}]")


def test_toml_has_depth_and_count():
    assert decode_toml("a = " + "[" * (DEPTH_MAX - 2) + "]" * (DEPTH_MAX - 2))
    for text in ("a = " + "[" * DEPTH_MAX + "]" * DEPTH_MAX, "a = " + "[" * 5_000 + "]" * 5_000,
                 ".".join("a" * 300) + " = 1"):  # fmt: skip
        with pytest.raises(UntrustedError, match="nested"):
            decode_toml(text)
    with pytest.raises(UntrustedError, match=f"more than {VALUES_MAX} values"):
        decode_toml("a = [" + "1," * (VALUES_MAX + 1) + "]")


NO_NAMES = ["", ".", "..", "a\nb", "a\x00b", "\u202egnp", "\ud800", "x" * (NAME_BYTES_MAX + 1), "/" * 67]


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_is_no_name_of_a_folder(name: str):
    assert not is_name(name)
    with pytest.raises(ValueError, match="name of a folder"):
        MatchSheet(name)


def test_names_at_the_limit():
    assert is_name("x" * NAME_BYTES_MAX)
    assert is_name("cup/final ../x")
    assert is_text("x" * TEXT_CHARACTERS_MAX)
    assert not is_text("x" * (TEXT_CHARACTERS_MAX + 1))
    assert not any(map(is_text, ("\x1b[2J", "\r", "\x7f", "\u2028", "\u202e", "\ud800")))


@pytest.mark.parametrize("name", ["..", "../x", "/etc/passwd", "out/x", "out", "a/../../x"])
def test_a_name_that_leads_out_of_a_folder_is_refused(tmp_path: Path, name: str):
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    with pytest.raises(UntrustedError, match="leads out of the folder"):
        file_inside(folder, name)
    assert file_inside(folder, "in/x") == folder / "in" / "x"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda n: MatchSheet(players=tuple(Player(f"p{i}", "home") for i in range(PLAYERS_MAX + n))), "players"),
        (lambda n: Quality(limbs=tuple(f"l{i}" for i in range(LIMBS_MAX + n))), "limbs"),
        (lambda n: Quality(limbs=("x" * (ID_CHARACTERS_MAX + n),)), "limbs"),
        (lambda n: Player("p" * (ID_CHARACTERS_MAX + n), "home"), "too long"),
        (lambda n: Player("p", "home", "x" * (TEXT_CHARACTERS_MAX + n)), "too long"),
        (lambda n: Player("p", "home", shirt=SHIRT_MAX + n), "shirt"),
        (lambda n: MatchSheet(home="x" * (TEXT_CHARACTERS_MAX + n)), "team"),
        (lambda n: MatchSheet(quality=Quality(ball_hz=float(RATE_MAX_HZ + n))), "positions/s"),
    ],
)
def test_a_sheet_holds_so_much_and_no_more(make, reason: str):
    make(0)
    with pytest.raises(ValueError, match=reason):
        make(1)


def test_a_sheet_holds_no_control_characters_and_no_impossible_numbers():
    for make in (lambda: Player("a\x1b[2J", "home"), lambda: Player("a", "home", "b\n"), lambda: MatchSheet(away="\r"),
                 lambda: Player("a", "home", shirt=-1), lambda: MatchSheet(quality=Quality(ball_hz=math.nan)),
                 lambda: Quality(position_noise_m=math.nan), lambda: Quality(ball_smoothing_s=math.nan)):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011
            make()


def repeated(text: str, times: int) -> pa.DictionaryArray:
    """One text, so many times: a few bytes of a file."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, np.int32)), pa.array([text]))


def test_a_table_is_as_long_and_as_large_as_it_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": np.zeros(1_000), "ignored": repeated("y" * 10_000, 1_000)}), file)
    monkeypatch.setattr(untrusted, "ROWS_MAX", 1_000)
    assert read_parquet(file, ["x", "absent"]).num_rows == 1_000
    monkeypatch.setattr(untrusted, "ROWS_MAX", 999)
    with pytest.raises(UntrustedError, match="1000 rows; at most 999"):
        read_parquet(file, ["x"])
    monkeypatch.undo()
    pq.write_table(pa.table({"x": np.zeros(1_000)}), file)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", 8_125)  # with a bit a row: whether there is a value
    assert read_parquet(file, ["x"]).num_rows == 1_000
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", 8_124)
    with pytest.raises(UntrustedError, match="a table of more than 8124 bytes"):
        read_parquet(file, ["x"])
    monkeypatch.undo()
    monkeypatch.setattr(untrusted, "COLUMNS_MAX", 0)
    with pytest.raises(UntrustedError, match="1 columns; at most 0"):
        read_parquet(file)


def test_a_text_that_a_page_repeats_is_not_expanded(tmp_path: Path):
    """Of a kilobyte: 20 GB of text, alone and in lists; the footer states 100 kB."""
    file, text = tmp_path / "bomb.parquet", repeated("x" * 100_000, 200_000)
    lists = pa.ListArray.from_arrays(pa.array(np.arange(200_001, dtype=np.int32)), text)
    for column in (text, lists):
        for schema in (False, True):
            pq.write_table(pa.table({"x": column}), file, compression="zstd", store_schema=schema)
            assert file.stat().st_size < 10_000
            with pytest.raises(UntrustedError, match="too many for the size of its file"):
                read_parquet(file)


def test_tables_of_plain_types_come_back_as_they_were_written(tmp_path: Path):
    file = tmp_path / "table.parquet"
    table = pa.table({"a": [1, None, 3], "t": ["x", None, "y"], "l": [["a", "b"], [], None], "b": [True, False, None],
                      "f": [1.5, None, math.inf], "d": pa.array(["u", "u", None]).dictionary_encode()})  # fmt: skip
    for rows in (table, table.slice(0, 0)):
        pq.write_table(rows, file)
        assert read_parquet(file).to_pydict() == rows.to_pydict()
    pq.write_table(pa.table({"s": [{"deep": {"deeper": 1}}]}), file)
    with pytest.raises(UntrustedError, match="a column of type struct"):
        read_parquet(file)


def test_an_arrow_file_without_a_batch_is_refused(tmp_path: Path):
    """Its reader ends without an error of its own, which would look like the end of whatever iterates outside."""
    schema = pa.schema([("x", pa.float64())])
    with pa.OSFile(str(tmp_path / "bare"), "wb") as sink, pa.ipc.new_file(sink, schema):
        pass
    with pytest.raises(untrusted.UntrustedError, match="a schema and no batch"):
        untrusted.read_arrow(tmp_path / "bare")


def test_an_arrow_file_that_expands_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, text = tmp_path / "0.arrow", pa.array(["ball"] * 3).dictionary_encode()
    zeros = np.zeros(1_000_000, np.int64)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for batch in (pa.record_batch([pa.array(zeros)], ["x"]), pa.record_batch([text], ["x"])):
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, batch.schema, options=options) as writer:
            writer.write_batch(batch)
        assert untrusted.read_arrow(file).equals(batch)
    bomb = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["x" * 8_000_000]))
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", 7_999_999)
    for column in (pa.array(zeros), bomb):
        batch = pa.record_batch([column], ["x"])
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, batch.schema, options=options) as writer:
            writer.write_batch(batch)
        assert file.stat().st_size < 10_000
        with pytest.raises(UntrustedError, match="a table of more than 7999999 bytes"):
            untrusted.read_arrow(file)
