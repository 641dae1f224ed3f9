"""Possession over time: who had the ball, where, and who was the more dangerous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter1d

from app.analysis.match import AnalysedMatch, ChartData, by_selected, turned
from app.analysis.selection import Selection
from app.tables.clock import stretch_name
from football.match_sheet import TEAMS

#: Danger of a pass or carry that ends in the last third, and of one that ends in the penalty area, beside the chances
#: of shots. Ours: about as many expected goals follow from each.
_THIRD_DANGER, _BOX_DANGER = 0.01, 0.04

#: A sequence says how long it lasted in milliseconds.
_ROUNDED_US = 1_000

#: Width of the smoothing of momentum, in minutes.
_MOMENTUM_MIN = 1.5

_BOX_DEPTH_M, _BOX_HALF_WIDTH_M = 16.5, 20.16


def stretches(table: pd.DataFrame, step_min: int) -> pd.Series:
    """Name of the stretch of the match clock in which each row begins, such as ``15-20``; None before the kick-off."""
    known = zip(table.period, table.period_s, strict=True)
    names = [None if pd.isna(period) else stretch_name(int(period), seconds, step_min) for period, seconds in known]
    return pd.Series(names, index=table.index, dtype=object)


def possession(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Time with the ball of each team by stretch of the match, and its share of what both had."""
    had = match.chosen("possessions", selection)
    had = had.assign(stretch=stretches(had, selection.step_min)).dropna(subset=["stretch"])
    table = _by_stretch(had, seconds=("seconds", "sum"))
    table["share"] = table.seconds / table.groupby("stretch", sort=False).seconds.transform("sum")
    whole = had.groupby("team").seconds.sum()
    notes = {team: _share(whole.get(team, 0.0), whole.sum()) for team in TEAMS}
    return ChartData(table, notes)


def territory(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Field tilt by stretch: the share of a team of all complete passes that end in an attacking third (14.9)."""
    passes = match.chosen("passes", selection).query("outcome == 'complete'")
    end_x_m, _ = turned(passes, "end")
    deep = passes[end_x_m >= match.sheet.length_m / 6]
    deep = deep.assign(stretch=stretches(deep, selection.step_min)).dropna(subset=["stretch"])
    table = _by_stretch(deep, n=("row", "size"))
    table["share"] = table.n / table.groupby("stretch", sort=False).n.transform("sum")
    whole = deep.groupby("team").size()
    return ChartData(table, {team: _share(float(whole.get(team, 0)), float(whole.sum())) for team in TEAMS})


def momentum(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Danger of each minute: chances of shots, and passes and carries into the last third and the box.

    ``home`` and ``away`` are a minute's sums, ``balance`` the smoothed difference, positive for home.
    """
    parts = [_danger(match, selection, name) for name in ("passes", "carries")]
    shots = match.chosen("shots", selection)
    parts.append(pd.DataFrame({"at_s": match.playing_s(shots), "team": shots.team, "row": shots.row,
                               "danger": shots.xg.fillna(0.0)}))  # fmt: skip
    rows = pd.concat(parts, ignore_index=True)
    rows["minute"] = (rows.at_s // 60).astype(int)
    last = int(sum(span.end_us - span.begin_us for span in match.spans) / 60e6) + 1
    minutes = pd.RangeIndex(max(last, 1), name="minute")
    sums = rows.pivot_table(index="minute", columns="team", values="danger", aggfunc="sum")
    sums = sums.reindex(index=minutes, columns=list(TEAMS)).fillna(0.0)
    behind = rows.groupby("minute").row.agg(list).reindex(minutes)
    table = sums.reset_index().rename_axis(columns=None)
    table["balance"] = gaussian_filter1d((sums.home - sums.away).to_numpy(float), _MOMENTUM_MIN, mode="constant")
    table["rows"] = [rows if isinstance(rows, list) else [] for rows in behind]
    goals = match.chosen("goals", selection)
    scored = [[team, at_s, row] for team, at_s, row in zip(goals.team, match.playing_s(goals), goals.row, strict=True)]
    return ChartData(table, {"goals": scored})


def sequences(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each possession: how it began and ended, and what was done in it. ``ts_us`` and ``end_us`` let it be played."""
    had = match.about("possessions", selection)
    columns = ["team", "player", "shirt", "name", "clock", "ts_us", "end_us", "seconds", "begin", "end", "passes",
               "carries", "shots", "xg", "gain_m", "final_third", "box", "players"]  # fmt: skip
    table = had[columns].reset_index(drop=True)
    table["rows"] = _within(had, [match.tables[name] for name in ("passes", "carries", "shots")])
    notes = {
        team: {"n": int((had.team == team).sum()), "passes": _mean(had[had.team == team].passes),
               "longest": _most(had[had.team == team].passes), "seconds": _mean(had[had.team == team].seconds)}
        for team in match.teams(selection)
    }  # fmt: skip
    return ChartData(table, notes)


def players_with_ball(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each player: seconds with the ball (until he loses it, and to his last contact), contacts, times, share.

    The times are those of DEBS 2013 Q2 (14.2). The share is of what his team's players had. ``rows`` are his passes,
    carries and shots.
    """
    had = match.chosen("stints", selection)
    whole = had.groupby("team").seconds.sum()
    mine = by_selected(had, selection)
    doings = pd.concat([match.about(name, selection)[["player", "row"]] for name in ("passes", "carries", "shots")])
    behind = doings.groupby("player").row.agg(list)
    table = mine.groupby(["team", "player"]).agg(
        seconds=("seconds", "sum"), hit_s=("hit_s", "sum"), hits=("hits", "sum"), n=("seconds", "size")
    ).reset_index()  # fmt: skip
    table["share"] = table.seconds / table.team.map(whole)
    people = match.named(table.player)
    table = table.assign(shirt=people.shirt, name=people["name"], rows=[behind.get(one, []) for one in table.player])
    table = table.sort_values(["team", "seconds"], ascending=[False, False]).reset_index(drop=True)
    return ChartData(table, {team: float(whole.get(team, 0.0)) for team in match.teams(selection)})


def chains(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each sequence of passes (11.1) and each double pass (11.2), with its passes in ``rows``.

    It belongs to whoever passed or received in it, and lies in the zone in which its first pass begins.
    """
    found = match.chosen("chains", selection)
    found = found[found.team == selection.team] if selection.team else found
    passes = match.tables["passes"]
    if selection.zone is not None:
        begun = set(match.chosen("passes", selection).row)
        found = found[np.array([not begun.isdisjoint(_between(passes, row)[:1]) for row in found.itertuples()], bool)]
    if selection.players:
        of_player = passes[passes.player.isin(selection.players) | passes.receiver.isin(selection.players)]
        found = found[np.array([_between(of_player, row) != [] for row in found.itertuples()], bool)]
    columns = ["team", "kind", "clock", "begin_us", "ts_us", "passes", "seconds"]
    table = found[columns].reset_index(drop=True)
    table["rows"] = [_between(passes, row) for row in table.itertuples()]
    notes = {}
    for team in match.teams(selection):
        mine = found[(found.team == team) & (found.kind == "sequence")]
        doubles = int(((found.team == team) & (found.kind == "double pass")).sum())
        notes[team] = {"n": len(mine), "passes": _mean(mine.passes), "longest": _most(mine.passes), "doubles": doubles}
    return ChartData(table, notes)


def _between(passes: pd.DataFrame, row: Any) -> list[int]:
    """The complete passes of a team from the begin of a sequence to its end; a begin is rounded to milliseconds."""
    done = passes[(passes.team == row.team) & (passes.outcome == "complete")]
    return done.row[(done.ts_us >= row.begin_us - _ROUNDED_US) & (done.ts_us < row.ts_us)].tolist()


def _within(had: pd.DataFrame, doings: Sequence[pd.DataFrame]) -> list[list[int]]:
    """The passes, carries and shots of each possession after its own number."""
    found = [[row] for row in had.row]
    for rows in doings:
        for team in TEAMS:
            mine = rows[rows.team == team]
            times, numbers = mine.ts_us.to_numpy(), mine.row.to_numpy()
            for index, (begin_us, end_us, side) in enumerate(zip(had.ts_us, had.end_us, had.team, strict=True)):
                if side == team:
                    low, high = np.searchsorted(times, (begin_us, end_us))
                    found[index] += numbers[low:high].tolist()
    return found


def _danger(match: AnalysedMatch, selection: Selection, name: str) -> pd.DataFrame:
    rows = match.chosen(name, selection)
    rows = rows[rows.outcome.eq("complete")] if name == "passes" else rows
    x_m, y_m = turned(rows, "end")
    third = x_m >= match.sheet.length_m / 6
    box = (x_m >= match.sheet.length_m / 2 - _BOX_DEPTH_M) & (y_m.abs() <= _BOX_HALF_WIDTH_M)
    danger = np.where(box, _BOX_DANGER, np.where(third, _THIRD_DANGER, 0.0))
    frame = pd.DataFrame({"at_s": match.playing_s(rows), "team": rows.team, "row": rows.row, "danger": danger})
    return frame[frame.danger > 0]


def _by_stretch(rows: pd.DataFrame, **sums: tuple[str, str]) -> pd.DataFrame:
    """Rows by stretch in order of time and by team, with zeros and the actions behind them."""
    order = rows.groupby("stretch").ts_us.min().sort_values().index
    index = pd.MultiIndex.from_product([order, TEAMS], names=["stretch", "team"])
    table = rows.groupby(["stretch", "team"]).agg(**sums, rows=("row", list)).reindex(index)
    table["rows"] = [found if isinstance(found, list) else [] for found in table.rows]
    return table.fillna(dict.fromkeys(sums, 0)).reset_index()


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _mean(values: pd.Series) -> float | None:
    return float(values.mean()) if len(values) else None


def _most(values: pd.Series) -> int | None:
    return int(values.max()) if len(values) else None
