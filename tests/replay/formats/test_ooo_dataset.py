"""The out-of-order data sets as they are published, and files that are not what they should be."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from football.errors import TrackingError
from replay.formats.ooo_dataset import read_rows

HEADER = '"S.Message.received.time.ms";"S.Device.ID";"S.Message.ID";"S.Client.Detection.Time";"A.ooo.Event.Sent.Time"\n'
GOOD = '1010;"dev_1";0;1000;0\n1020;"dev_2";0;990;1\n'

#: Session: messages, devices, out of order by the authors' own count (README of the data).
SESSIONS = {1: (9600, 8, 1544), 2: (10800, 9, 3666), 3: (9600, 8, 3277), 4: (8400, 7, 2302), 5: (8400, 7, 1584)}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("session", SESSIONS)
def test_foreign_strict_disorder_is_the_authors_mark_row_by_row(session: int, shared_data: Path):
    rows = read_rows(shared_data / "ooo" / f"d-{session}.csv.gz")
    greatest_us = rows[0].ts_us
    marks = []
    for row in rows:
        marks.append(row.ts_us < greatest_us)
        greatest_us = max(greatest_us, row.ts_us)
    assert marks == [row.out_of_order for row in rows]
    assert (len(rows), len({row.source for row in rows}), sum(marks)) == SESSIONS[session]


def test_plain_and_gzipped_files_are_read_alike(tmp_path: Path):
    plain = written(tmp_path / "a.csv", HEADER + GOOD)
    zipped = tmp_path / "a.csv.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_rows(plain) == read_rows(zipped)
    first = read_rows(plain)[0]
    assert (first.arrival_us, first.ts_us, first.source, first.seq, first.out_of_order) == (
        1_010_000,
        1_000_000,
        "dev_1",
        0,
        False,
    )


def test_the_authors_mark_may_be_missing(tmp_path: Path):
    text = (HEADER + GOOD).replace(';"A.ooo.Event.Sent.Time"', "").replace(";0\n", "\n").replace(";1\n", "\n")
    assert [row.out_of_order for row in read_rows(written(tmp_path / "a.csv", text))] == [None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + GOOD + '1030;"dev_1";1;soon;0\n', "row 3: S.Client.Detection.Time is 'soon', not a whole number"),
        (HEADER + GOOD + '1030;"dev_1";NA;1;0\n', "row 3: S.Message.ID is 'NA', not a whole number"),
        (HEADER + GOOD + '1030;"dev_1"\n', "row 3: S.Client.Detection.Time is cut off, not a whole number"),
        (HEADER + GOOD + "1030;;1;1000;0\n", "row 3: S.Device.ID is empty"),
        (HEADER + GOOD + '1019;"dev_1";1;1000;0\n', "row 3: received before the row above it"),
        (HEADER.replace("S.Device.ID", "S.Device") + GOOD, "column S.Device.ID is missing"),
        (HEADER, "no rows"),
        ("", "is missing"),
    ],
)
def test_errors_name_file_row_and_reason(text: str, message: str, tmp_path: Path):
    path = written(tmp_path / "bad.csv", text)
    with pytest.raises(TrackingError) as caught:
        read_rows(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_files_that_are_cut_off_or_no_text_are_refused(tmp_path: Path):
    whole = gzip.compress((HEADER + GOOD * 2000).encode())
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TrackingError, match=r"cut\.csv\.gz"):
        read_rows(cut)
    noise = tmp_path / "noise.csv"
    noise.write_bytes(bytes(range(128, 256)) * 10)
    with pytest.raises(TrackingError, match=r"noise\.csv"):
        read_rows(noise)
    with pytest.raises(TrackingError, match="no such file"):
        read_rows(tmp_path / "none.csv")
    with pytest.raises(TrackingError, match="not a readable CSV"):
        read_rows(tmp_path)
