"""Files from outside as streams, and list columns: each limit holds at its bound, and is refused one above it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from football import untrusted
from football.parquet_pages import PageSize, page_sizes
from football.untrusted import LIST_VALUE_BYTES, UntrustedError, read_parquet
from football.untrusted_files import LINE_BYTES_MAX, check_expanded, open_expanded, read_lines

PACKERS = [gzip.compress, bz2.compress]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> int:
    """A file may expand to 1,000 bytes, and nothing for its size."""
    monkeypatch.setattr(untrusted, "TABLE_BYTES", 1_000)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_PER_BYTE", 0)
    return 1_000


@pytest.mark.parametrize("pack", PACKERS)
def test_what_is_compressed_expands_so_far(tmp_path: Path, small: int, pack: Callable[[bytes], bytes]):
    file = tmp_path / "text"
    file.write_bytes(pack(b"x" * small))
    with open_expanded(file) as stream:
        assert stream.read() == b"x" * small
    file.write_bytes(pack(b"x" * (small + 1)))
    with pytest.raises(UntrustedError, match="expands to more than 1000 bytes"), open_expanded(file) as stream:
        stream.read()
    with pytest.raises(UntrustedError, match="expands to more than 1000 bytes"):
        check_expanded(file)
    file.write_bytes(pack(b"x" * small)[:-9])
    with pytest.raises(UntrustedError, match="damaged"), open_expanded(file) as stream:
        stream.read()


def test_plain_files_expand_to_themselves_and_xz_is_refused(tmp_path: Path, small: int):
    file = tmp_path / "text"
    file.write_bytes(b"x" * 2_000)
    with open_expanded(file) as stream:
        assert len(stream.read()) == 2_000
    with open_expanded(file, 2_000) as stream:
        assert len(stream.read()) == 2_000
    with pytest.raises(UntrustedError, match="larger than 1999 bytes"), open_expanded(file, 1_999):
        pass
    file.write_bytes(lzma.compress(b"x"))
    with pytest.raises(UntrustedError, match="xz"), open_expanded(file):
        pass
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UntrustedError, match="not a regular file"), open_expanded(tmp_path / "pipe"):
        pass


@pytest.mark.parametrize("pack", [bytes, *PACKERS])
def test_a_line_has_so_many_bytes(tmp_path: Path, pack: Callable[[bytes], bytes]):
    file = tmp_path / "text"
    file.write_bytes(pack(b"x" * (LINE_BYTES_MAX - 1) + b"\n" + b"y"))
    assert [len(line) for line in read_lines(file)] == [LINE_BYTES_MAX, 1]
    file.write_bytes(pack(b"x\n" + b"x" * LINE_BYTES_MAX + b"\n"))
    lines = read_lines(file)
    assert next(lines) == "x\n"
    with pytest.raises(UntrustedError, match="a line of more than"):
        next(lines)


def list_column(values: int) -> pa.Table:
    """One row with so many values, which take no bytes."""
    lists = pa.ListArray.from_arrays(pa.array([0, values], pa.int32()), pa.nulls(values, pa.string()))
    return pa.table({"row": [1], "causes": lists})


def test_the_values_of_a_list_column_are_counted_before_they_are_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "table.parquet"
    pq.write_table(list_column(100_000), file)
    assert file.stat().st_size < 2_000
    sizes = list(page_sizes(file, ["causes"]))
    assert sum(size.values for size in sizes) == 100_000
    need = sum(size.expanded_bytes + size.values * LIST_VALUE_BYTES for size in sizes)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", need)
    assert read_parquet(file)["causes"].to_pylist() == [[None] * 100_000]
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", need - 1)
    with pytest.raises(UntrustedError, match="too many for the size of its file"):
        read_parquet(file)
    assert read_parquet(file, ["row"]).num_rows == 1


def varint(value: int) -> bytes:
    """A whole number in Thrift's compact protocol."""
    left, out = value * 2, bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def test_a_false_count_in_a_page_is_refused_and_so_is_one_in_page_and_footer(tmp_path: Path):
    file = tmp_path / "table.parquet"
    pq.write_table(list_column(70_000_000), file)
    true, false = varint(70_000_000), varint(120_000_000)
    content = file.read_bytes()
    assert content.count(true) >= 2
    file.write_bytes(content.replace(true, false, 1))
    with pytest.raises(UntrustedError, match="pages of 120000000 values; the footer states 70000000"):
        read_parquet(file)
    file.write_bytes(content.replace(true, false))
    with pytest.raises(UntrustedError, match="too many for the size of its file"):
        read_parquet(file)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_the_sizes_of_pages_are_those_of_the_columns(tmp_path: Path, version: str, dictionary: bool):
    file = tmp_path / "table.parquet"
    rng = np.random.default_rng(1)
    rows = [[f"cause {rng.integers(500)}" for _ in range(rng.integers(4))] for _ in range(5_000)]
    table = pa.table({"number": np.arange(5_000), "causes": rows})
    pq.write_table(table, file, row_group_size=2_000, data_page_size=1_000, use_dictionary=dictionary,
                   data_page_version=version, compression="zstd")  # fmt: skip
    metadata = pq.ParquetFile(file).metadata
    for index, name in enumerate(("number", "causes")):
        columns = [metadata.row_group(group).column(index) for group in range(metadata.num_row_groups)]
        sizes = list(page_sizes(file, [name]))
        assert len(sizes) > len(columns)
        data = [size for size in sizes if size.values]
        dictionaries = sum(column.has_dictionary_page for column in columns)
        assert sum(size.values for size in data) >= sum(column.num_values for column in columns)
        assert (dictionaries > 0) == dictionary
        assert sum(size.expanded_bytes for size in sizes) <= sum(column.total_uncompressed_size for column in columns)
    assert read_parquet(file).equals(table)
    assert list(page_sizes(file, [])) == []
    assert isinstance(next(page_sizes(file, ["causes"])), PageSize)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"PAR1" + b"\x19" * 40 + b"\x28\0\0\0PAR1"]
)
def test_what_is_no_parquet_has_no_pages(tmp_path: Path, content: bytes):
    file = tmp_path / "table.parquet"
    file.write_bytes(content)
    with pytest.raises((ValueError, LookupError)):
        list(page_sizes(file, ["causes"]))
