"""Rows without a position, or with a placeholder: they are left out, and said; a ball on the centre spot is there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from football.recording import Track
from replay.formats.missing import with_positions
from replay.formats.tracking import read_tracking

NAN = math.nan
#: At 25 Hz: a ball that is 20 m off, then unknown for a second, then 10 m off.
AWAY = [(20.0, 5.0)] * 25, [(10.0, -3.0)] * 25


def track(*parts: list[tuple[float, float]], name: str = "ball") -> Track:
    xy = np.array([at for part in parts for at in part], np.float64)
    return Track(name, np.arange(len(xy), dtype=np.int64) * 40_000, xy[:, 0], xy[:, 1], np.zeros(len(xy)))


def kept(one: Track) -> tuple[list[int], list[str]]:
    tracks, findings = with_positions((one,))
    return [len(left) for left in tracks], [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("parts", "name", "rows", "codes"),
    [
        ([AWAY[0], [(NAN, NAN)] * 25, AWAY[1]], "ball", [50], ["empty"]),
        ([AWAY[0], [(NAN, 1.0)] * 25, AWAY[1]], "ball", [75], []),
        ([[(NAN, NAN)] * 25], "ball", [25], []),
        ([[(NAN, NAN)] * 25], "home_14", [], ["empty"]),
        ([AWAY[0], [(0.0, 0.0)] * 25, AWAY[1]], "ball", [50], ["placeholders"]),
        ([[(0.0, 0.0)] * 25, AWAY[1]], "ball", [25], ["placeholders"]),
        ([AWAY[0], [(0.0, 0.0)] * 25], "ball", [25], ["placeholders"]),
        ([AWAY[0], [(0.0, 0.0)] * 25, [(0.2, 0.0)] * 25], "ball", [75], []),
        ([[(-3.0, 1.0)] * 25, [(0.0, 0.0)] * 25, AWAY[1]], "ball", [75], []),
        ([[(0.0, 0.0)] * 25], "ball", [25], []),
        ([[(0.0, 0.0)] * 25], "home_14", [], ["placeholders"]),
        ([[(0.0, 0.0)] * 5], "home_14", [5], []),
        ([AWAY[0], [(0.0, 0.0)] * 15, [(NAN, NAN)] * 5, [(0.0, 0.0)] * 15], "home_7", [25], ["empty", "placeholders"]),
    ],
    ids=[
        "empty", "half of a position", "a ball that never has one", "a player who never has one", "zeros",
        "zeros first", "zeros last", "it is kicked off", "it rolls there", "it lies there all the time",
        "a player on the bench", "a few rows", "both",
    ],
)  # fmt: skip
def test_rows_without_a_position_count_as_rows_that_are_not_there(
    parts: list[list[tuple[float, float]]], name: str, rows: list[int], codes: list[str]
) -> None:
    assert kept(track(*parts, name=name)) == (rows, codes)


def test_a_ball_that_flies_across_the_centre_spot_is_there() -> None:
    way = [(x_m, 0.0) for x_m in np.arange(-20.0, 20.1, 1.0)]
    assert kept(track(way)) == ([41], [])


def test_two_balls_under_one_id_are_no_placeholders() -> None:
    one = track([(0.0, 0.0), (15.0, 0.0)] * 50)
    both = Track("ball", one.ts_us // 80_000 * 40_000, one.x_m, one.y_m, one.z_m)
    assert kept(both) == ([100], [])


def test_a_table_with_rows_for_everybody_in_every_frame_has_none_refused(tmp_path: Path) -> None:
    """A dead ball without a position, a substitute with zeros: 2 of 4 objects for half of the time."""
    rows = []
    for i in range(1000):
        ball = (30.0, 10.0, 0.1) if i % 500 < 250 else (None, None, None)
        rows += [(40 * i, "ball", "ball", *ball), (40 * i, "home_12", "home", 0.0, 0.0, 0.0)]
        rows += [(40 * i, name, name[:4], x + 0.01 * i, 1.0, 0.0) for name, x in (("home_7", 5.0), ("away_1", 30.0))]
    path = tmp_path / "wide.parquet"
    pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y", "z"]).to_parquet(path)
    recording = read_tracking(str(path))
    assert {one.transmitter: len(one) for one in recording.tracks} == {"ball": 500, "home_7": 1000, "away_1": 1000}
    assert [finding.code for finding in recording.findings] == ["no sheet", "empty", "placeholders"]
    assert not recording.rejected
