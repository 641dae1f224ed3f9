"""Teams of a tracking table that are called by their names, or by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from replay.formats.team_names import sides_of
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
