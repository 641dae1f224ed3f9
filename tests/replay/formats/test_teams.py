"""Teams of a tracking table that are called by their names, or by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from football.errors import TrackingError
from replay.formats.teams import apart, sides_of
from replay.formats.tracking import read_tracking


@pytest.mark.parametrize(
    ("teams", "expected", "says"),
    [
        (["home"] * 11 + ["away"] * 11 + ["referee"] * 3, {"home": "home", "away": "away"}, 0),
        ([" Home"] * 2 + ["AWAY"], {" Home": "home", "AWAY": "away"}, 0),
        (["City"] * 11 + ["", "referee"] + ["United"] * 11, {"City": "home", "United": "away"}, 1),
        (["2"] * 7 + ["1"] * 14, {"2": "home", "1": "away"}, 1),
    ],
    ids=["as they are to be", "spelt otherwise", "names", "numbers"],
)
def test_two_teams_have_sides_whatever_they_are_called(teams: list[str], expected: dict[str, str], says: int) -> None:
    sides, findings = sides_of(teams)
    assert sides == expected
    assert [finding.code for finding in findings] == ["teams"] * says


@pytest.mark.parametrize(
    "teams",
    [[], ["City"] * 22, ["City"] * 11 + ["United"] * 6, ["City"] * 11 + ["United"] * 11 + ["Rovers"] * 11],
    ids=["nobody", "one team", "too few of the other", "three teams"],
)
def test_who_is_not_one_of_two_teams_has_no_side(teams: list[str]) -> None:
    assert sides_of(teams) == ({}, ())


def test_a_single_team_that_is_called_home_is_no_reason_to_guess_the_other() -> None:
    assert sides_of(["home"] * 11 + ["United"] * 11) == ({"home": "home"}, ())


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
@pytest.mark.parametrize(
    ("labels", "names"),
    [(("City", "United"), ("City", "United")), ((1, 2), ("Home", "Away")), (("home", "away"), ("Home", "Away"))],
    ids=["names", "numbers", "as they are to be"],
)
def test_the_players_of_a_table_play_for_its_teams(
    tmp_path: Path, suffix: str, labels: Sequence[object], names: tuple[str, str]
) -> None:
    rows: list[tuple[object, ...]] = [(0, "ball", None, 0.0, 0.0, 0.1)]
    rows += [(0, f"p{n}", labels[n >= 11], 1.0 * n, 2.0, 0.0) for n in range(22)]
    table = pd.DataFrame(
        [(40 * i, *row[1:]) for i in range(3) for row in rows], columns=["t_ms", "object_id", "team", "x", "y", "z"]
    )
    path = tmp_path / f"match{suffix}"
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.assign(team=[None if team is None else str(team) for team in table.team]).to_parquet(path)
    recording = read_tracking(str(path))
    assert {player.object_id: player.team for player in recording.sheet.players} == {
        f"p{n}": "away" if n >= 11 else "home" for n in range(22)
    }
    assert (recording.sheet.home, recording.sheet.away) == names
    found = [finding for finding in recording.findings if finding.code == "teams"]
    assert len(found) == (labels != ("home", "away"))


Row = tuple[str, str, float]


def split_rows(rows: Sequence[Row]) -> tuple[list[str], int]:
    """The object of each of some rows (id, team, time in microseconds) afterwards, and the number of findings."""
    objects, teams = sorted({row[0] for row in rows}), sorted({row[1] for row in rows if row[1]})
    codes = np.array([objects.index(row[0]) for row in rows])
    team_codes = np.array([teams.index(row[1]) if row[1] else -1 for row in rows])
    names, new, findings = apart(objects, codes, teams, team_codes, np.array([row[2] for row in rows]))
    return [names[code] for code in new.tolist()], len(findings)


def test_a_shirt_number_that_both_teams_have_is_two_players() -> None:
    rows = [row for t in range(5) for row in (("7", "home", t), ("7", "away", t), ("9", "home", t), ("ball", "", t))]
    names, found = split_rows(rows)
    assert names == ["home_7", "away_7", "9", "ball"] * 5
    assert found == 1


def test_a_player_who_is_given_to_the_other_team_for_a_while_is_one() -> None:
    rows = [("7", "away" if t in (3, 4) else "home", float(t)) for t in range(20)]
    assert split_rows(rows) == (["7"] * 20, 0)


def test_rows_that_are_there_twice_and_balls_are_not_split_rows() -> None:
    twice = [("7", "home", t // 2) for t in range(20)] + [("7", "away", 30.0)]
    assert split_rows(twice) == (["7"] * 21, 0)
    balls = [("ball", team, float(t)) for t in range(5) for team in ("home", "away")]
    assert split_rows(balls) == (["ball"] * 10, 0)


def test_an_id_that_another_object_has_is_not_given_again() -> None:
    rows = [row for t in range(5) for row in (("7", "home", t), ("7", "away", t), ("home_7", "home", t))]
    assert split_rows(rows) == (["7", "7", "home_7"] * 5, 0)


def test_a_table_of_shirt_numbers_is_read(tmp_path: Path) -> None:
    rows = [
        (40 * i, name, team, x, y, 0.0)
        for i in range(5)
        for name, team, x, y in [("ball", "ball", 0.0, 0.0)]
        + [(str(n), team, n * side, 3.0) for team, side in (("home", -1.0), ("away", 1.0)) for n in range(1, 12)]
    ]
    path = tmp_path / "shirts.parquet"
    pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y", "z"]).to_parquet(path)
    recording = read_tracking(str(path))
    assert [(p.object_id, p.team, p.shirt) for p in recording.sheet.players] == [
        (f"{team}_{n}", team, n) for team in ("home", "away") for n in range(1, 12)
    ]
    assert [finding.code for finding in recording.findings if finding.code == "shared ids"] == ["shared ids"]


def test_a_table_with_a_team_for_each_row_is_refused(tmp_path: Path) -> None:
    rows = [(40 * i, "ball" if i % 2 else f"p{i}", f"team {i}", 0.1 * i, 0.0) for i in range(300)]
    path = tmp_path / "teams.parquet"
    pd.DataFrame(rows, columns=["t_ms", "object_id", "team", "x", "y"]).to_parquet(path)
    with pytest.raises(TrackingError, match="column team has 300 teams; at most 100"):
        read_tracking(str(path))
