"""Tables with all objects of a frame in one row are read as long ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from football.errors import TrackingError
from football.recording import Recording
from replay.formats import wide_table
from replay.formats.tracking import read_tracking
from replay.formats.wide_table import is_wide

_NAMES = ["ball", *(f"{team}_{n}" for team in ("home", "away") for n in range(1, 12))]


def long(frames: int = 6) -> pd.DataFrame:
    """A few frames of everybody, of whom one is not always there."""
    rows = [
        (40 * i, name, name.partition("_")[0], 0.1 * i + n, 0.5 * n - 5.0, 0.2 if n == 0 else 0.0, "alive")
        for i in range(frames)
        for n, name in enumerate(_NAMES)
        if name != "home_3" or i > 2
    ]
    return pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y", "z", "ball_status"])


def wide(table: pd.DataFrame) -> pd.DataFrame:
    """The same, a row for each frame."""
    parts = [table.pivot_table(index="t_ms", columns="object_id", values=axis).add_suffix(f"_{axis}") for axis in "xyz"]
    return pd.concat(parts, axis=1).reset_index()


def milliseconds(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(ball_status="alive")


def seconds(table: pd.DataFrame) -> pd.DataFrame:
    table = table.assign(timestamp=table.t_ms / 1000.0, ball_state="alive").drop(columns="t_ms")
    return table.rename(columns={name: name.title() for name in table if name.endswith("_x") and name != "ball_x"})


def durations(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(timestamp=pd.to_timedelta(table.t_ms, unit="ms"), ball_state="alive").drop(columns="t_ms")


def tutorial(table: pd.DataFrame) -> pd.DataFrame:
    """As of the course "Friends of Tracking"."""
    table = table.assign(ball_status="alive").rename(columns={"t_ms": "Time [s]"})
    table["Time [s]"] /= 1000.0
    return table.rename(columns={name: name[0].upper() + name[1:] for name in table if name[0] in "ha"})


def tracks(recording: Recording) -> dict[str, list[tuple[float, ...]]]:
    return {
        one.transmitter: list(
            zip(one.ts_us.tolist(), one.x_m.tolist(), one.y_m.tolist(), one.z_m.tolist(), strict=True)
        )
        for one in recording.tracks
    }


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize("form", [milliseconds, seconds, durations, tutorial])
def test_a_wide_table_is_the_same_recording(
    tmp_path: Path, form: Callable[[pd.DataFrame], pd.DataFrame], suffix: str
) -> None:
    long().to_parquet(tmp_path / "long.parquet")
    table = form(wide(long()))
    path = tmp_path / f"wide{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    found, expected = read_tracking(str(path)), read_tracking(str(tmp_path / "long.parquet"))
    assert tracks(found) == tracks(expected)
    assert len(tracks(found)["home_3"]) == 3
    assert found.sheet.players == expected.sheet.players
    assert found.rejected == ()


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_substitute_who_never_played_is_not_there(tmp_path: Path, suffix: str) -> None:
    table = wide(long()).assign(away_12_x=np.nan, away_12_y=np.nan)
    path = tmp_path / f"wide{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    assert set(tracks(read_tracking(str(path)))) == set(_NAMES)
    table.assign(**dict.fromkeys([name for name in table if name != "t_ms"], np.nan)).to_parquet(path)
    if suffix == ".parquet":
        with pytest.raises(TrackingError, match=r"wide\.parquet: nobody has a position in it"):
            read_tracking(str(path))


def test_durations_may_have_parts_of_microseconds(tmp_path: Path) -> None:
    """As those of a film of 30000/1001 pictures a second."""
    table = durations(wide(long()))
    table["timestamp"] += pd.to_timedelta(366_700_123, unit="ns")
    table.to_parquet(tmp_path / "wide.parquet")
    assert read_tracking(str(tmp_path / "wide.parquet")).tracks[0].ts_us[0] == 366_700


def test_a_bad_cell_costs_its_frame_and_names_its_line(tmp_path: Path) -> None:
    table = wide(long()).astype(object)
    table.loc[1, "home_7_x"] = "left"
    table.to_csv(tmp_path / "wide.csv", index=False)
    recording = read_tracking(str(tmp_path / "wide.csv"))
    assert [(r.record, r.reason) for r in recording.rejected] == [("wide.csv line 3", "home_7_x is not a number")]
    assert [len(one) for one in recording.tracks if one.transmitter == "ball"] == [5]


def test_a_position_beyond_any_pitch_names_its_row(tmp_path: Path) -> None:
    table = wide(long())
    table["timestamp"] = [*(table.t_ms[:-1] / 1000.0), np.nan]
    table.drop(columns="t_ms").to_parquet(tmp_path / "wide.parquet")
    rejected = read_tracking(str(tmp_path / "wide.parquet")).rejected
    assert {(r.record, r.reason) for r in rejected} == {("wide.parquet row 5", "no usable time")}
    assert len(rejected) == len(_NAMES)


@pytest.mark.parametrize(
    "names",
    [
        ["t_ms", "ball_x", "ball_y"],
        ["t_ms", "ball_x", "ball_y", "home_7_x"],
        ["ball_x", "ball_y", "home_7_x", "home_7_y"],
        ["t_ms", "home_6_x", "home_6_y", "home_7_x", "home_7_y"],
        ["t_ms", "ball_x", "ball_y", "DFL-1_x", "DFL-1_y"],
    ],
    ids=["no players", "half a place", "no time", "no ball", "no teams"],
)
def test_a_table_that_says_less_is_none(names: list[str]) -> None:
    assert not is_wide(names)


def test_times_that_are_none_and_too_many_positions_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wide.csv"
    wide(long()).assign(timestamp="noon").drop(columns="t_ms").to_csv(path, index=False)
    with pytest.raises(TrackingError, match=r"wide\.csv: column timestamp holds neither seconds nor durations"):
        read_tracking(str(path))
    monkeypatch.setattr(wide_table, "ROWS_MAX", 100)
    wide(long()).to_csv(path, index=False)
    with pytest.raises(TrackingError, match=r"wide\.csv: 23 objects in 6 rows: more than 100 positions"):
        read_tracking(str(path))
