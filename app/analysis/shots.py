"""Shots: where from and how good, the race of their chances, the chance to win, and the moment of one shot."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from app.analysis.match import AnalysedMatch, ChartData, turned, with_places
from app.analysis.selection import Selection, SelectionError

_SHOWN = (
    "team", "player", "shirt", "name", "clock", "ts_us", "xg", "outcome", "on_target", "body_part", "restart",
    "distance_m", "stopped_by_name",
)  # fmt: skip

#: A moment has the positions of this long before and after it: one at 25 a second, with a margin for a gap.
MOMENT_US = 120_000

#: Returns the positions of the store between two event times.
ReadPositions = Callable[[int, int], pa.Table]


def shot_map(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each shot with its place, its chance and what became of it."""
    shots = match.about("shots", selection)
    notes = {}
    for team in match.teams(selection):
        mine = shots[shots.team == team]
        notes[team] = {"shots": len(mine), "goals": int((mine.outcome == "goal").sum()), "xg": float(mine.xg.sum())}
    return ChartData(with_places(shots, _SHOWN), notes)


def xg_race(match: AnalysedMatch, selection: Selection) -> ChartData:
    """The sum of the chances of each team after each of its shots, over the time of play, and own goals."""
    shots, goals = match.about("shots", selection), match.chosen("goals", selection)
    race = shots[["team", "player", "shirt", "name", "clock", "ts_us", "outcome"]].copy()
    race["xg"] = shots.xg.fillna(0.0)
    race["total"] = race.groupby("team").xg.cumsum()
    race["at_s"], race["goal"] = match.playing_s(shots), shots.outcome.eq("goal")
    race["rows"] = [[row] for row in shots.row]
    own = goals[goals.own.astype(bool) & goals.team.isin(match.teams(selection))]
    own_goals = [[team, at_s] for team, at_s in zip(own.team, match.playing_s(own), strict=True)]
    return ChartData(race.sort_values("at_s").reset_index(drop=True), {**_time_axis(match), "own_goals": own_goals})


def win_chance(match: AnalysedMatch, selection: Selection) -> ChartData:
    """The chances that home wins, of a draw and that away wins, over the time of play (14.12).

    ``rows`` are the goals since the row before.
    """
    found = match.chosen("win_chances", msgspec.structs.replace(selection, phase="", zone=None))
    table = found[["clock", "ts_us", "home", "draw", "away", "minutes", "model"]].reset_index(drop=True)
    table["at_s"] = match.playing_s(found).to_numpy()
    goals = match.tables["goals"]
    at = np.searchsorted(table.ts_us.to_numpy(), goals.ts_us.to_numpy(), side="left")
    table["rows"] = [goals.row[at == index].tolist() for index in range(len(table))]
    return ChartData(table, _time_axis(match))


def _time_axis(match: AnalysedMatch) -> dict[str, object]:
    """Seconds of play at the end, and at the begin of each period."""
    begins = match.playing_s(pd.DataFrame([(s.period, 0.0) for s in match.spans], columns=["period", "period_s"]))
    periods = [[span.period, at_s] for span, at_s in zip(match.spans, begins, strict=True)]
    return {"last_s": sum(span.end_us - span.begin_us for span in match.spans) * 1e-6, "periods": periods}


def freeze_frame(match: AnalysedMatch, selection: Selection, positions: ReadPositions) -> ChartData:
    """Everybody's place and velocity at the begin of an action, with its team attacking to the right.

    Raises:
        SelectionError: ``action`` names no pass and no shot.
    """
    found = [table[table.row == selection.action] for table in (match.tables["shots"], match.tables["passes"])]
    rows = next((table for table in found if len(table)), None)
    if rows is None:
        raise SelectionError("action: the number of a pass or a shot")
    action = rows.iloc[0]
    x_m, y_m = (float(value.iloc[0]) for value in turned(rows, "start"))
    end_x_m, end_y_m = (value.iloc[0] for value in turned(rows, "end"))
    ts_us, sign = int(action.ts_us), match.attacks_x(action.team, int(action.ts_us))
    near = positions(ts_us - MOMENT_US, ts_us + MOMENT_US).to_pandas()
    near["away_us"] = (near.ts_us - ts_us).abs()
    near = near.sort_values("away_us", kind="stable").drop_duplicates("object_id")
    names = {player.object_id: player for player in match.sheet.players}
    table = pd.DataFrame(
        {
            "object_id": near.object_id, "team": near.team,
            "shirt": [names[one].shirt if one in names else None for one in near.object_id],
            "name": [names[one].name if one in names else None for one in near.object_id],
            "goalkeeper": [one in names and names[one].goalkeeper for one in near.object_id],
            "x_m": near.x_m * sign, "y_m": near.y_m * sign, "vx_m_s": near.vx_m_s * sign, "vy_m_s": near.vy_m_s * sign,
        }
    )  # fmt: skip
    inside = (table.x_m.abs() <= match.sheet.length_m / 2 + 4) & (table.y_m.abs() <= match.sheet.width_m / 2 + 4)
    xg = action.get("xg")
    notes = {
        "team": action.team, "player": action.player, "clock": action.clock, "ts_us": ts_us, "x_m": x_m, "y_m": y_m,
        "end_x_m": end_x_m, "end_y_m": end_y_m, "outcome": action.outcome, "name": action["name"],
        "xg": None if xg is None or np.isnan(xg) else float(xg), "row": int(action.row),
    }  # fmt: skip
    return ChartData(table[inside].sort_values("object_id").reset_index(drop=True), notes)
