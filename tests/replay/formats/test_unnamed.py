"""Sights of players whom nobody knows, and tables whose ids change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from football.match_sheet import Team
from football.recording import Recording, Track
from replay.formats.tracking import read_tracking
from replay.formats.unnamed import SQUAD_MAX, UNSEEN_US, unnamed_players

FRAME_US = 40_000


def sight(name: str, begin_s: float, x_m: float, speed_m_s: float = 0.0, frames: int = 25) -> Track:
    """Somebody who is seen for a second, from one place on."""
    ts_us = int(begin_s * 1e6) + FRAME_US * np.arange(frames)
    along_m = x_m + speed_m_s * 1e-6 * (ts_us - ts_us[0])
    return Track(name, ts_us, along_m, np.zeros(frames), np.zeros(frames))


def joined(*sights: Track) -> list[list[float]]:
    """Of each player where his sights begin, in order."""
    sides: dict[str, Team] = {one.transmitter: "home" for one in sights}
    begins = {(int(one.ts_us[0]), float(one.x_m[0])) for one in sights}
    tracks, players = unnamed_players(sights, sides)
    assert [track.transmitter for track in tracks] == [player.object_id for player in players]
    return [
        [x_m for at_us, x_m in zip(track.ts_us.tolist(), track.x_m.tolist(), strict=True) if (at_us, x_m) in begins]
        for track in tracks
    ]


def test_a_sight_goes_on_with_the_nearest_player_who_was_lost() -> None:
    assert joined(sight("a", 0.0, 0.0), sight("b", 0.0, 8.0), sight("c", 1.4, 6.0), sight("d", 1.4, 1.0)) == [
        [0.0, 1.0],
        [8.0, 6.0],
    ]


def test_one_who_is_still_seen_is_nobody_else() -> None:
    assert joined(sight("a", 0.0, 0.0), sight("b", 0.96, 0.5)) == [[0.0], [0.5]]


def test_nobody_runs_farther_than_people_can() -> None:
    assert joined(sight("a", 0.0, 0.0), sight("b", 2.0, 12.0)) == [[0.0], [12.0]]
    assert joined(sight("a", 0.0, 0.0, speed_m_s=7.0), sight("b", 2.0, 14.0)) == [[0.0, 14.0]]


def test_one_who_has_been_out_of_sight_for_long_may_be_anywhere() -> None:
    late_s = 1.0 + UNSEEN_US / 1e6
    assert joined(sight("a", 0.0, -40.0), sight("b", late_s, 40.0)) == [[-40.0, 40.0]]
    near = joined(sight("a", 0.0, -40.0), sight("b", 4.0, 38.0), sight("c", late_s + 0.5, 40.0))
    assert near == [[-40.0], [38.0, 40.0]]


def changing_ids(folder: Path, every_s: float, minutes: float = 1.0) -> Recording:
    """A table of 22 players who walk up and down, and whose ids change."""
    ts_ms = np.arange(0, int(minutes * 60_000), 200)
    parts = [pd.DataFrame({"t_ms": ts_ms, "object_id": "ball", "team": "", "x": 0.0, "y": 0.0})]
    for n in range(22):
        changes = (ts_ms + 137 * n) // int(every_s * 1000)
        x_m = 3.0 * n - 33.0 + 5.0 * np.sin(ts_ms / 4000.0 + n)
        ids = [f"id{n}_{change}" for change in changes]
        y_m = 12.0 * (n % 5) - 24.0
        team = "home" if n < 11 else "away"
        parts.append(pd.DataFrame({"t_ms": ts_ms, "object_id": ids, "team": team, "x": x_m, "y": y_m}))
    pd.concat(parts).sort_values("t_ms", kind="stable").to_parquet(folder / "tracker.parquet")
    return read_tracking(str(folder / "tracker.parquet"))


@pytest.mark.parametrize("every_s", [2.0, 10.0])
def test_a_table_whose_ids_change_has_the_players_who_are_there(tmp_path: Path, every_s: float) -> None:
    recording = changing_ids(tmp_path, every_s)
    assert [player.object_id for player in recording.sheet.players] == [
        f"{team}_unnamed_{n}" for team in ("home", "away") for n in range(1, 12)
    ]
    assert all(player.starts for player in recording.sheet.players)
    assert {len(track) for track in recording.tracks} == {300}
    assert max(float(np.abs(np.diff(track.x_m)).max()) for track in recording.tracks) < 0.5
    assert [finding.code for finding in recording.findings if finding.code == "unnamed"] == ["unnamed"]


def test_officials_whose_ids_change_are_joined_and_are_no_players(tmp_path: Path) -> None:
    changing_ids(tmp_path, 30.0)
    table = pd.read_parquet(tmp_path / "tracker.parquet")
    referee = table[table.object_id == "ball"].assign(team="referee", x=5.0, y=5.0)
    referee["object_id"] = [f"r{t_ms // 1000}" for t_ms in referee.t_ms]
    pd.concat([table, referee]).to_parquet(tmp_path / "tracker.parquet")
    recording = read_tracking(str(tmp_path / "tracker.parquet"))
    assert [len(track) for track in recording.tracks if track.transmitter == "person_unnamed_1"] == [300]
    assert {player.team for player in recording.sheet.players} == {"home", "away"}


def test_as_many_ids_as_a_squad_may_have_are_players(tmp_path: Path) -> None:
    recording = changing_ids(tmp_path, 30.0)
    assert 22 < len(recording.sheet.players) <= 2 * SQUAD_MAX
    assert not any("unnamed" in player.object_id for player in recording.sheet.players)
