"""Goalkeepers whom no sheet names: their places show them."""

from __future__ import annotations

import numpy as np
import pytest

from football.match_sheet import MatchSheet, Player
from football.recording import Track
from replay.formats.goalkeepers import with_goalkeepers

MINUTE_US = 60_000_000


def track(name: str, x_m: float, begin_min: float = 0.0, end_min: float = 20.0, y_m: float = 0.0) -> Track:
    """A player who runs to and fro about a place, ten metres in each direction, and is at the other end after half."""
    ts_us = np.arange(round(begin_min * MINUTE_US), round(end_min * MINUTE_US), 200_000)
    side = np.where(ts_us < 10 * MINUTE_US, 1.0, -1.0)
    x = side * x_m + 10.0 * np.sin(ts_us / 7e6)
    return Track(name, ts_us, np.clip(x, -52.0, 52.0), np.full(len(ts_us), y_m), np.zeros(len(ts_us)))


def team(side: str, sign: float, keeper_m: float = 45.0) -> list[Track]:
    """Eleven players of a team, who stand in front of their goalkeeper."""
    outfield = [track(f"{side}_{number}", sign * (30.0 - 4.0 * number), y_m=3.0 * number) for number in range(2, 12)]
    return [track(f"{side}_1", sign * keeper_m), *outfield]


def found(tracks: list[Track], *, named: tuple[str, ...] = ()) -> tuple[list[str], int]:
    """The goalkeepers of the sheet after all, and the number of findings."""
    names = [one.transmitter for one in tracks]
    players = tuple(Player(name, name[:4], goalkeeper=name in named) for name in names)  # type: ignore[arg-type]
    sheet, findings = with_goalkeepers(MatchSheet(players=players), tuple(tracks))
    return [player.object_id for player in sheet.players if player.goalkeeper], len(findings)


def test_who_stays_near_his_goal_is_the_goalkeeper_of_each_team() -> None:
    tracks = [*team("home", -1.0), *team("away", 1.0)]
    assert found(tracks) == (["home_1", "away_1"], 1)


def test_a_goalkeeper_who_comes_on_for_another_is_one_too() -> None:
    others = team("home", -1.0)[1:]
    replacement = track("home_13", -44.0, 12.0)
    assert found([track("home_1", -45.0, 0.0, 12.0), *others, replacement]) == (["home_1", "home_13"], 1)


def test_a_sheet_that_names_one_is_right_about_his_team() -> None:
    tracks = [*team("home", -1.0), *team("away", 1.0)]
    assert found(tracks, named=("home_5",)) == (["home_5", "away_1"], 1)
    assert found(tracks, named=("home_5", "away_2")) == (["home_5", "away_2"], 0)


@pytest.mark.parametrize(
    "tracks",
    [
        team("home", -1.0)[1:],
        team("home", -1.0, 25.0),
        [*team("home", -1.0), track("home_12", -42.0)],
        [track("home_1", -45.0, 0.0, 0.2), *team("home", -1.0)[1:]],
        [track("home_1", -45.0, y_m=36.0), *team("home", -1.0)[1:]],
    ],
    ids=["he is not tracked", "nobody is near the goal", "two are", "a moment", "beside the pitch"],
)
def test_nobody_is_taken_for_one_if_places_do_not_show_him(tracks: list[Track]) -> None:
    assert found(tracks) == ([], 0)


def test_a_player_who_takes_his_place_for_a_while_is_none() -> None:
    """A team that defends its box for five minutes, with the goalkeeper out of a picture of television."""
    outfield = team("home", -1.0)[2:]
    back = [track("home_2", -28.0, 0.0, 15.0), track("home_2", 42.0, 15.0, 20.0)]
    columns = zip(*((one.ts_us, one.x_m, one.y_m, one.z_m) for one in back), strict=True)
    stands_in = Track("home_2", *map(np.concatenate, columns))
    assert found([track("home_1", -45.0, 0.0, 15.0), stands_in, *outfield]) == (["home_1"], 1)
