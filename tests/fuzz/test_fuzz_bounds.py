"""Sizes at and above each bound of files from outside, and the names and numbers that open further ones."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from app.batch.inputs import BatchError
from app.batch.play import BatchOptions
from app.batch.run import BATCH, Batch, _read
from football import untrusted
from football.errors import CaptureError, TrackingError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from football.untrusted import UntrustedError, expanded_bytes_max, read_parquet
from football.untrusted_files import LINE_BYTES_MAX, check_expanded, read_lines
from replay.capture import LENGTH_MAX_US, SEGMENT_US, Capture, CaptureWriter
from replay.formats.ooo_dataset import read_rows
from tests.fuzz.cases import both, changed_text, fewer, hold, mangled, refusal

PACKERS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress}


@both
def test_compressed_text_around_its_limits(cases: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "text"
    monkeypatch.setattr(untrusted, "TABLE_BYTES", 2 * LINE_BYTES_MAX)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_PER_BYTE", 0)

    def body(drawn: tuple[str, int, int, int]) -> None:
        packer, lines, more, cut = drawn
        content = (b"x" * (LINE_BYTES_MAX + more - 1) + b"\n") * lines
        packed = PACKERS[packer](content)
        file.write_bytes(packed[: len(packed) - cut] if cut and packer != "plain" else packed)
        damaged = cut > 0 and packer != "plain"
        reason = refusal(UntrustedError, lambda: list(read_lines(file)))
        too_large = packer != "plain" and len(content) > expanded_bytes_max(0)
        assert bool(reason) == (damaged or too_large or (more > 0 and lines > 0))
        assert bool(refusal(UntrustedError, lambda: check_expanded(file))) == (damaged or too_large)

    sizes = st.tuples(st.sampled_from(list(PACKERS)), st.integers(0, 4), st.integers(-2, 2), st.integers(0, 4))
    hold(fewer(cases), sizes, body)


@both
def test_lists_of_any_length_are_read_up_to_the_limit(cases: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "table.parquet"
    monkeypatch.setattr(untrusted, "TABLE_BYTES_MAX", 20_000)

    def body(drawn: tuple[list[int], int, bool]) -> None:
        lengths, group, dictionary = drawn
        table = pa.table({"causes": pa.array([[None] * length for length in lengths], pa.list_(pa.string()))})
        pq.write_table(table, file, row_group_size=group, use_dictionary=dictionary)
        reason = refusal(UntrustedError, lambda: read_parquet(file))
        if sum(lengths) * untrusted.LIST_VALUE_BYTES > 20_000:
            assert reason
        elif sum(lengths) < 200 and len(lengths) < 5:
            assert reason is None

    lists = st.lists(st.integers(0, 60) | st.sampled_from([1_249, 1_250, 1_251]), max_size=8)
    hold(fewer(cases), st.tuples(lists, st.integers(1, 9), st.booleans()), body)


@both
def test_any_bytes_with_a_list_column_are_a_table_or_refused(cases: int, tmp_path: Path):
    file = tmp_path / "table.parquet"
    good = []
    for compression, version in (("zstd", "1.0"), ("none", "2.0")):
        table = pa.table({"causes": [["a", "b"], [], None, ["c"]], "x": [1, 2, 3, 4]})
        pq.write_table(table, file, compression=compression, data_page_version=version)
        good.append(file.read_bytes())

    def body(content: bytes) -> None:
        file.write_bytes(content)
        refusal(UntrustedError, lambda: read_parquet(file, ["causes"]))

    hold(cases, mangled(good), body)


@both
def test_any_rows_of_a_table_of_arrivals_are_read_or_refused(cases: int, tmp_path: Path):
    file = tmp_path / "d.csv.gz"
    head = (
        '"S.Message.received.time.ms";"S.Client.Detection.Time";"S.Device.ID";"S.Message.ID";"A.ooo.Event.Sent.Time"\n'
    )
    good = head + "".join(f'"{n}";"{n - 3}";"{"ab"[n % 2]}";"{n}";"0"\n' for n in range(20))

    def body(text: str) -> None:
        file.write_bytes(gzip.compress(text.encode("utf-8", "replace"), 1))
        refusal(TrackingError, lambda: [row.arrival() for row in read_rows(file)])

    hold(cases, changed_text([good]), body)


@both
def test_segments_of_any_number_end_no_reading(cases: int, tmp_path: Path):
    folder = tmp_path / "capture"
    packet = Packet("ball", 0, (0,), (0.0,), (0.0,), (0.0,))
    with CaptureWriter(folder, MatchSheet("m")) as writer:
        writer.extend([Block(10, (packet,)), Block(SEGMENT_US + 10, (packet,))])
    whole = (folder / "0000001.arrow").read_bytes()
    head, end = (folder / "head.json").read_bytes(), (folder / "end.json").read_bytes()

    def body(drawn: tuple[str, int, int]) -> None:
        name, length_us, ends_us = drawn
        extra = folder / f"{name}.arrow"
        before = extra.read_bytes() if extra.exists() else None
        extra.write_bytes(whole)
        (folder / "head.json").write_bytes(head.replace(str(SEGMENT_US).encode(), str(length_us).encode()))
        (folder / "end.json").write_bytes(end.replace(str(SEGMENT_US + 11).encode(), str(ends_us).encode()))

        def read() -> None:
            capture = Capture.open(folder)
            list(capture.blocks(-(2**62), 2**62))
            capture.has_blocks_from(ends_us - 1)
            assert capture.readable_us <= capture.begin_us + LENGTH_MAX_US + SEGMENT_US

        refusal(CaptureError, read)
        extra.unlink()
        if before is not None:
            extra.write_bytes(before)

    numbers = st.integers(-(2**70), 2**70) | st.sampled_from([0, 1, 2, LENGTH_MAX_US // SEGMENT_US, 2**53, 10**9])
    names = numbers.map(lambda n: f"{n:07d}") | st.sampled_from(["x", "-", "1", "٠٠٠٠٠٠٠", "9" * 200])
    lengths = st.sampled_from([1, 2, SEGMENT_US - 1, SEGMENT_US, SEGMENT_US + 1, 3_600_000_000, 3_600_000_001, 0])
    ends = st.sampled_from([SEGMENT_US + 11, 0, -5, LENGTH_MAX_US + 10, LENGTH_MAX_US + 11, 2**53, 2**53 + 1])
    hold(fewer(cases), st.tuples(names, lengths, ends), body)


@both
def test_a_result_of_a_batch_lies_in_its_folder(cases: int, tmp_path: Path):
    options = BatchOptions("")

    def body(name: str) -> None:
        (tmp_path / BATCH).write_bytes(msgspec.json.encode(Batch(options, "", {"/match": name})))
        if refusal(BatchError, lambda: _read(tmp_path)) is None:
            assert (tmp_path / name).parent == tmp_path
            assert (tmp_path / name).resolve().parent == tmp_path

    names = st.sampled_from(["..", ".", "", "/", "a/b", "../x", "/etc", ".playing", "a\0b", "a" * 300, "cup final"])
    hold(cases, names | st.text(max_size=6), body)
