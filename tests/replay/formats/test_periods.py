"""The column of periods of a table: times that begin anew, and when each period begins."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pandas as pd
import pytest

from football.errors import TrackingError
from football.match_sheet import MatchSheet, Period
from football.recording import Recording
from replay.formats.tracking import read_tracking

#: Frames of each half.
FRAMES = 600


def halves(second_begins_ms: int, first_begins_ms: int = 0) -> pd.DataFrame:
    """Two halves of a ball and two players at 25 Hz, with the number of the period."""
    table = [
        (begin_ms + 40 * i, name, team, x + 0.01 * i, y, 0.1, period)
        for period, begin_ms in ((1, first_begins_ms), (2, second_begins_ms))
        for i in range(FRAMES)
        for name, team, x, y in (("ball", "ball", 0.0, 0.0), ("home_7", "home", 1.0, 1.0), ("away_1", "away", 9.0, 0.0))
    ]
    return pd.DataFrame(table, columns=["t_ms", "object_id", "team", "x", "y", "z", "period"])


def read(table: pd.DataFrame, folder: Path, name: str = "match.csv") -> Recording:
    path = folder / name
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    return read_tracking(str(path))


def begins_us(recording: Recording) -> list[tuple[int, int]]:
    return [(period.number, period.from_us) for period in recording.sheet.periods]


@pytest.mark.parametrize("name", ["match.csv", "match.parquet"])
@pytest.mark.parametrize(
    ("second_begins_ms", "begins_at_us"),
    [(0, 33_960_000), (20_000, 33_960_000), (900_000, 900_000_000)],
    ids=["its own clock", "a scoreboard's, before the end of added time", "the clock of the match"],
)
def test_a_second_half_comes_after_the_first_whatever_its_clock(
    second_begins_ms: int, begins_at_us: int, name: str, tmp_path: Path
) -> None:
    recording = read(halves(second_begins_ms), tmp_path, name)
    assert begins_us(recording) == [(1, 0), (2, begins_at_us)]
    ball = next(track for track in recording.tracks if track.transmitter == "ball")
    assert (len(ball), len(ball.line)) == (2 * FRAMES, 2 * FRAMES)
    assert int(ball.ts_us[FRAMES]) == begins_at_us
    moved = [found for found in recording.findings if found.code == "periods"]
    assert len(moved) == (begins_at_us != second_begins_ms * 1000)
    assert all("period 2 by " in found.text for found in moved)


@pytest.mark.parametrize("form", ["text", "fraction", "missing before a half"])
def test_the_number_of_a_period_is_read_in_any_form(form: str, tmp_path: Path) -> None:
    table = halves(900_000)
    if form == "text":
        table["period"] = table["period"].astype(str)
    else:
        table["period"] = table["period"].astype(float)
    if form == "missing before a half":
        table.loc[(table.t_ms >= 900_000) & (table.t_ms < 910_000), "period"] = None
    begin_us = 910_000_000 if form == "missing before a half" else 900_000_000
    assert begins_us(read(table, tmp_path, "match.parquet")) == [(1, 0), (2, begin_us)]


def test_values_that_are_no_numbers_of_periods_say_nothing_and_refuse_no_row(tmp_path: Path) -> None:
    table = halves(900_000)
    table["period"] = table["period"].map({1: "first half", 2: "7"})
    recording = read(table, tmp_path)
    assert (begins_us(recording), recording.rejected, recording.positions) == ([], (), 6 * FRAMES)


def test_without_the_numbers_times_that_begin_anew_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match="begins anew"):
        read(halves(0).drop(columns="period"), tmp_path)


def test_a_time_that_is_nonsense_moves_no_period(tmp_path: Path) -> None:
    table = halves(0)
    table["t_ms"] = table["t_ms"].astype("int64")
    table.loc[700, "t_ms"] = 80_000_000
    recording = read(table, tmp_path)
    assert begins_us(recording) == [(1, 0), (2, 33_960_000)]


def test_periods_move_with_times_that_begin_before_zero(tmp_path: Path) -> None:
    assert begins_us(read(halves(900_000, -20_000), tmp_path)) == [(1, 0), (2, 920_000_000)]


def test_the_periods_of_a_sheet_go_before_those_of_the_rows(tmp_path: Path) -> None:
    sheet = MatchSheet(periods=(Period(1, 5_000_000, "home"), Period(2, 905_000_000, "away")))
    (tmp_path / "sheet.json").write_bytes(msgspec.json.encode(sheet))
    assert read(halves(900_000), tmp_path).sheet.periods == sheet.periods


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ('[{"number": 6, "from_us": 0}]', "periods 1 to 5, not 6"),
        ('[{"number": 2, "from_us": 0}, {"number": 1, "from_us": 9}]', "in order of their numbers"),
        ('[{"number": 1, "from_us": 9}, {"number": 2, "from_us": 9}]', "in order of their numbers"),
    ],
)
def test_periods_of_a_sheet_that_cannot_be_are_refused(periods: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.json").write_text(f'{{"home": "Reds", "periods": {periods}}}')
    with pytest.raises(TrackingError, match=rf"sheet\.json: not a usable match sheet: .*{message}"):
        read(halves(900_000), tmp_path)
