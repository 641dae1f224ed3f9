"""The size of the pitch that corner kicks show, where nobody says it or somebody says another one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from football.recording import Recording
from replay.formats.tracking import read_tracking


def table(*rests: tuple[float, float], seconds: float = 2.0, noise_m: float = 0.05) -> pd.DataFrame:
    """A ball that rests in these places in turn, far from them in between, and a player of each team."""
    rng, rows, t_ms = np.random.default_rng(7), [], 0
    for x_m, y_m in rests:
        for place, count in (((0.5 * x_m, 0.0), 50), ((x_m, y_m), round(25 * seconds))):
            for _ in range(count):
                at = rng.normal(place, noise_m)
                rows += [(t_ms, "ball", "ball", at[0], at[1], 0.1)]
                rows += [(t_ms, "home_7", "home", 1.0, 1.0, 0.0), (t_ms, "away_7", "away", 9.0, 1.0, 0.0)]
                t_ms += 40
    return pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y", "z"])


def corners(length_m: float, width_m: float) -> list[tuple[float, float]]:
    """Where corner kicks are taken on a pitch, 0.35 m inside its lines: two from each of two corners, and one more."""
    x_m, y_m = length_m / 2 - 0.35, width_m / 2 - 0.35
    return [(x_m, y_m), (x_m, y_m - 0.2), (-x_m, y_m), (-x_m + 0.2, y_m), (x_m, -y_m)]


def read(rows: pd.DataFrame, folder: Path, **options: object) -> Recording:
    rows.to_parquet(folder / "match.parquet")
    return read_tracking(str(folder / "match.parquet"), **options)  # type: ignore[arg-type]


def size(recording: Recording) -> tuple[float, float, list[str]]:
    found = [one.text for one in recording.findings if one.code == "pitch size"]
    return recording.sheet.length_m, recording.sheet.width_m, found


@pytest.mark.parametrize(("length_m", "width_m"), [(100.0, 64.0), (110.0, 75.0), (105.0, 65.0), (93.0, 58.0)])
def test_a_table_without_a_sheet_has_the_pitch_of_its_corner_kicks(
    length_m: float, width_m: float, tmp_path: Path
) -> None:
    recording = read(table(*corners(length_m, width_m)), tmp_path)
    assert size(recording)[:2] == (length_m, width_m)
    assert f"a pitch of {length_m:g} x {width_m:g} m has its corners: it is taken for one" in size(recording)[2][0]
    (no_sheet,) = [one.text for one in recording.findings if one.code == "no sheet"]
    assert f"{length_m:g} x {width_m:g} m" in no_sheet


@pytest.mark.parametrize(
    "rests",
    [
        corners(105.0, 68.0),
        corners(104.0, 67.0),
        corners(100.0, 64.0)[:3],
        [corners(100.0, 64.0)[0]] * 6,
        [(45.0, 30.0), (49.0, -33.0), (-47.0, 28.0), (-52.0, 33.0), (44.0, -28.0)],
        [(30.0, 20.0), (-30.0, 20.0)] * 4,
    ],
    ids=["the usual one", "by decimetres another", "too few", "one corner", "all over the corners", "none at a corner"],
)
def test_without_corner_kicks_that_show_another_one_it_has_the_usual_pitch(
    rests: list[tuple[float, float]], tmp_path: Path
) -> None:
    assert size(read(table(*rests), tmp_path)) == (105.0, 68.0, [])


def test_a_ball_that_is_at_a_corner_for_a_moment_shows_nothing(tmp_path: Path) -> None:
    assert size(read(table(*corners(100.0, 64.0), seconds=0.6), tmp_path)) == (105.0, 68.0, [])


@pytest.mark.parametrize("by", ["sheet", "option"])
def test_a_pitch_that_somebody_says_stays_and_the_other_one_is_said(by: str, tmp_path: Path) -> None:
    rows = table(*corners(102.0, 66.0))
    if by == "sheet":
        (tmp_path / "metadata.json").write_text(json.dumps({"pitch": {"length_m": 105, "width_m": 68}}))
        length_m, width_m, found = size(read(rows, tmp_path))
    else:
        length_m, width_m, found = size(read(rows, tmp_path, pitch=(105.0, 70.0)))
    assert (length_m, width_m) == (105.0, 68.0 if by == "sheet" else 70.0)
    assert "102 x 66 m has its corners; that of the match is given as 105 x" in found[0]


@pytest.mark.parametrize("sheet", [{"teams": {"home": "Reds"}}, {"home": "Reds", "length_m": 105}, {"pitch": {}}])
def test_a_sheet_that_does_not_say_the_pitch_gets_that_of_the_corner_kicks(
    sheet: dict[str, object], tmp_path: Path
) -> None:
    (tmp_path / "sheet.json").write_text(json.dumps(sheet))
    assert size(read(table(*corners(100.0, 64.0)), tmp_path))[:2] == (100.0, 64.0)


@pytest.mark.parametrize(
    ("x_m", "y_m", "found"),
    [(1.6, -1.2, ["Corner kicks show the centre spot at x 1.6 m, y -1.2 m"]), (0.6, 0.6, [])],
    ids=["by a metre and more", "by decimetres"],
)
def test_an_origin_beside_the_centre_spot_is_said_and_makes_no_other_pitch(
    x_m: float, y_m: float, found: list[str], tmp_path: Path
) -> None:
    x, y = 52.15, 33.65
    rests = [(sx * x + x_m, sy * y + y_m) for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)) for _ in range(2)]
    recording = read(table(*rests), tmp_path)
    assert size(recording) == (105.0, 68.0, [])
    assert [one.text.split(";")[0] for one in recording.findings if one.code == "origin"] == found


def test_corners_that_disagree_show_nothing(tmp_path: Path) -> None:
    """Two places of one end that are no corners of any pitch: where balls were kept, or lost."""
    rests = [(49.0, 31.0), (49.0, 31.0), (45.0, -31.0), (45.0, -31.0), (-49.0, 31.0), (-49.0, 31.0)]
    assert size(read(table(*rests), tmp_path)) == (105.0, 68.0, [])
