"""Pressing: how early a team attacks the ball, and where it wins it."""

from __future__ import annotations

import pandas as pd

from app.analysis.figures import REGAINS, ppda, pressed_rows
from app.analysis.match import AnalysedMatch, ChartData, turned, with_places
from app.analysis.possession import stretches
from app.analysis.selection import Selection
from football.match_sheet import TEAMS

_REGAIN = ("team", "player", "shirt", "name", "clock", "ts_us", "begin", "end", "seconds", "xg", "end_us")


def pressing(match: AnalysedMatch, selection: Selection) -> ChartData:
    """PPDA of each team by stretch: passes it lets its opponents make, for each tackle and interception there."""
    rows, notes = [], {}
    for team in TEAMS:
        seen = match.as_seen_by(team, selection)
        tables = {name: match.chosen(name, seen) for name in ("passes", "duels")}
        notes[team] = ppda(tables, team, match.sheet.length_m)
        if team not in match.teams(selection):
            continue
        stretch = {name: stretches(table, selection.step_min) for name, table in tables.items()}
        begins = pd.concat([table.ts_us.groupby(stretch[name]).min() for name, table in tables.items()])
        for part, begin_us in begins.groupby(level=0).min().items():
            mine = {name: table[stretch[name] == part] for name, table in tables.items()}
            rows.append({"stretch": part, "team": team, "begin_us": begin_us, **_ppda(match, mine, team)})
    columns = ["stretch", "team", "ppda", "passes", "actions", "rows", "begin_us"]
    table = pd.DataFrame(rows, columns=columns)
    table["begin_us"] = table.groupby("stretch").begin_us.transform("min")
    table = table.sort_values(["begin_us", "team"], ascending=[True, False]).drop(columns="begin_us")
    return ChartData(table.reset_index(drop=True), notes)


def _ppda(match: AnalysedMatch, tables: dict[str, pd.DataFrame], team: str) -> dict[str, object]:
    let, stopped, tackled = pressed_rows(tables, team, match.sheet.length_m)
    behind = [*let.row, *tackled.row]
    count = len(stopped) + len(tackled)
    value = ppda(tables, team, match.sheet.length_m)
    return {"ppda": value, "passes": len(let), "actions": count, "rows": behind}


def regains(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Where the ball was won in play, and how; by third in the notes."""
    had = match.about("possessions", selection)
    won = had[had.begin.isin(REGAINS) & had.start_x_m.notna()]
    x_m, _ = turned(won, "start")
    third_m = match.sheet.length_m / 6
    notes = {}
    for team in match.teams(selection):
        mine = x_m[won.team == team]
        low, high = int((mine < -third_m).sum()), int((mine > third_m).sum())
        notes[team] = {"own": low, "middle": len(mine) - low - high, "final": high}
    return ChartData(with_places(won, _REGAIN), notes)
