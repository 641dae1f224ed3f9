"""Running: how far and how fast, by player and over time, in the zones of FIFA or the classes of DEBS 2013."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from app.analysis.match import AnalysedMatch, ChartData, with_places
from app.analysis.possession import stretches
from app.analysis.selection import Selection
from app.tables.running import ZONES_KM_H

#: Upper ends of the classes of DEBS 2013 Q1 in km/h: standing, trot, low, medium, high; above is sprint.
DEBS_KM_H = (1.0, 11.0, 14.0, 17.0, 24.0)

#: A class of DEBS 2013 Q1 must last as long; a shorter one counts to the one that follows.
_LASTS_S = 1.0

#: Above this speed, metres are of high intensity.
_FAST_KM_H = 20.0


def zone_names(zones: str) -> list[str]:
    """Names of the zones of speed."""
    if zones == "debs":
        return ["standing", "trot", "low", "medium", "high", "sprint"]
    ends = [f"{end:.0f}" for end in ZONES_KM_H]
    return [f"below {ends[0]}", *(f"{low} to {high}" for low, high in itertools.pairwise(ends)),
            f"{ends[-1]} and more"]  # fmt: skip


def running_players(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each player: time, metres and seconds in each zone of speed, top speed, sprints."""
    return _by_player(match, match.selected_tracks(selection), match.about("sprints", selection), selection.zones)


def running_of_all(match: AnalysedMatch, selection: Selection) -> pd.DataFrame:
    """The table of :func:`running_players` of both teams, in the time, score, phase and zone of a selection."""
    tracks, sprints = match.chosen_tracks(selection), match.chosen("sprints", selection)
    return _by_player(match, tracks, sprints, "fifa").table.drop(columns="rows")


def _by_player(match: AnalysedMatch, tracks: pd.DataFrame, sprints: pd.DataFrame, zones: str) -> ChartData:
    tracks = _stepped(tracks, zones)
    names = zone_names(zones)
    by = tracks.groupby("player", observed=True)
    table = pd.DataFrame(
        {"team": by.team.first().astype(str), "seconds": by.step_s.sum(), "distance_m": by.step_m.sum()}
    )
    for unit, column in (("m", "step_m"), ("s", "step_s")):
        sums = tracks.pivot_table(index="player", columns="zone", values=column, aggfunc="sum", observed=True)
        sums = sums.reindex(columns=range(len(names)), fill_value=0.0).fillna(0.0)
        sums.columns = [f"zone_{number + 1}_{unit}" for number in range(len(names))]
        table = table.join(sums)
    table["top_m_s"] = by.speed_m_s.quantile(0.999)
    begun = sprints.groupby("player").row.agg(list)
    table["rows"] = [begun.get(player, []) for player in table.index]
    table["sprints"] = [len(rows) for rows in table.rows]
    people = match.named(table.index).set_index("player")
    table.index = table.index.astype(str)
    table = table.join(people).rename_axis("player").reset_index()
    table = table.sort_values(["team", "distance_m"], ascending=[False, False]).reset_index(drop=True)
    return ChartData(table, {"zones": names, "unit": "km/h", "measured": bool(len(match.tracks))})


def running_time(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each team and stretch of the match: metres, metres faster than 20 km/h, sprints."""
    tracks = _stepped(match.selected_tracks(selection), selection.zones)
    tracks["stretch"] = stretch_of(match, tracks, selection.step_min)
    fast = tracks.step_m.where(tracks.speed_m_s * 3.6 > _FAST_KM_H, 0.0)
    by = tracks.assign(fast_m=fast).groupby(["stretch", "team"], observed=True)
    table = by.agg(ts_us=("ts_us", "min"), distance_m=("step_m", "sum"), fast_m=("fast_m", "sum")).reset_index()
    sprints = match.about("sprints", selection)
    begun = sprints.groupby([stretches(sprints, selection.step_min), "team"]).row.agg(list)
    table["rows"] = [begun.get((part, team), []) for part, team in zip(table.stretch, table.team, strict=True)]
    table["sprints"] = [len(rows) for rows in table.rows]
    table = table.sort_values(["ts_us", "team"]).drop(columns="ts_us").reset_index(drop=True)
    return ChartData(table.astype({"stretch": str, "team": str}), {"measured": bool(len(match.tracks))})


def sprint_map(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Each sprint with its begin, end and top speed."""
    sprints = match.about("sprints", selection)
    columns = ["team", "player", "shirt", "name", "clock", "ts_us", "seconds", "top_m_s"]
    return ChartData(with_places(sprints, columns), {team: int((sprints.team == team).sum()) for team in
                                                     match.teams(selection)})  # fmt: skip


def stretch_of(match: AnalysedMatch, tracks: pd.DataFrame, step_min: int) -> pd.Categorical:
    """Name of the stretch of the match clock in which each row of positions lies."""
    begins = {span.period: span.begin_us for span in match.spans}
    since_us = tracks.ts_us.to_numpy() - tracks.period.map(begins).to_numpy(np.int64)
    number = since_us // (step_min * 60_000_000)
    keys = pd.DataFrame({"period": tracks.period.to_numpy(int), "period_s": number * step_min * 60.0})
    codes, parts = pd.factorize(keys.period * 1_000_000 + number)
    first = keys.iloc[np.unique(codes, return_index=True)[1]]
    names = stretches(first, step_min).to_numpy()
    return pd.Categorical(names[codes] if len(parts) else [])


def _stepped(tracks: pd.DataFrame, zones: str) -> pd.DataFrame:
    """Tracks with the ``zone`` of each step; steps that do not count are left out."""
    tracks = tracks[tracks.step_s.notna()].copy()
    speed_km_h = 3.6 * tracks.speed_m_s.to_numpy(float)
    if zones == "fifa":
        tracks["zone"] = np.digitize(speed_km_h, ZONES_KM_H)
    else:
        tracks["zone"] = lasting(
            np.digitize(speed_km_h, DEBS_KM_H, right=True), tracks.step_s.to_numpy(float),
            tracks.player.cat.codes.to_numpy(),
        )  # fmt: skip
    return tracks


def lasting(classes: np.ndarray, seconds: np.ndarray, players: np.ndarray) -> np.ndarray:
    """Classes of running in which those that last less than a second become the next longer one.

    Args:
        classes, seconds, players: of each step, in order of player and time.
    """
    if not len(classes):
        return classes
    begins = np.flatnonzero(np.concatenate(([True], (np.diff(classes) != 0) | (np.diff(players) != 0))))
    lengths = np.add.reduceat(seconds, begins)
    values, who = classes[begins].copy(), players[begins]
    for index in range(len(begins) - 2, -1, -1):
        if lengths[index] < _LASTS_S - 1e-6 and who[index] == who[index + 1]:
            values[index] = values[index + 1]
    return np.repeat(values, np.diff(np.append(begins, len(classes))))
