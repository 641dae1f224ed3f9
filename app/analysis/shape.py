"""Pressing, areas of the teams, and speed and height of the ball over time, from positions.

Measures of one instant are those of the detectors (10.1, 10.4), on positions that are averaged over fifths of a second.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from app.analysis.match import AnalysedMatch, ChartData
from app.analysis.possession import stretches
from app.analysis.running import stretch_of
from app.analysis.selection import Selection
from app.tables.tracks import BIN_US
from detectors.control.pressure import PressingParameters
from detectors.control.shape import SHAPE_PLAYERS, hull_area_m2

#: An area is measured in one of as many fifths of a second.
_AREA_EVERY = 10

#: A ball that is faster was found elsewhere: the fastest measured shot had 59 m/s.
_BALL_TOP_M_S = 60.0

_STEP_S = BIN_US * 1e-6


def shape_time(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each team and stretch: mean pressing index on the ball while the other team has it, mean area of the hull.

    An instant lies in the zone in which the ball is. The index of chosen players is their share of the sum; the area is
    that of all. ``rows`` are the possessions of the others in which pressing was measured, ``area_rows`` those of both.
    """
    parts = [_team(match, selection, team) for team in match.teams(selection)]
    table = pd.concat(parts, ignore_index=True)
    order = table.groupby("stretch").at_us.min().sort_values().index
    table["order"] = table.stretch.map({name: number for number, name in enumerate(order)})
    table = table.sort_values(["order", "team"], ascending=[True, False]).drop(columns=["order", "at_us"])
    return ChartData(table.reset_index(drop=True), {"measured": bool(len(match.tracks))})


def ball_time(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each stretch: mean and greatest speed of the ball, mean and greatest height.

    ``rows`` are the passes, carries and shots of the stretch; ``top_us`` and ``high_us`` the instants of the greatest
    speed and height.
    """
    speeds_m_s = pd.Series(np.hypot(*_velocities(match.ball)), match.ball.index)
    ball = match.selected_ball(selection).copy()
    ball["speed_m_s"] = speeds_m_s[speeds_m_s <= _BALL_TOP_M_S].reindex(ball.index)
    ball["stretch"] = stretch_of(match, ball, selection.step_min).astype(str)
    table = ball.groupby("stretch", sort=False).agg(
        speed_m_s=("speed_m_s", "mean"), top_m_s=("speed_m_s", "max"), height_m=("z_m", "mean"), top_m=("z_m", "max")
    ).reset_index()  # fmt: skip
    for name, column in (("top_us", "speed_m_s"), ("high_us", "z_m")):
        greatest = ball.sort_values(column, kind="stable").dropna(subset=[column]).groupby("stretch").ts_us.last()
        table[name] = table.stretch.map(greatest).astype("Int64")
    doings = pd.concat([match.about(name, selection) for name in ("passes", "carries", "shots")])
    behind = doings.groupby(stretches(doings, selection.step_min)).row.agg(list)
    table["rows"] = [behind.get(part, []) for part in table.stretch]
    return ChartData(table, {"measured": bool(len(match.ball)), "heights": bool(ball.z_m.notna().any())})


def _team(match: AnalysedMatch, selection: Selection, team: str) -> pd.DataFrame:
    mine = match.tracks[match.tracks.team == team]
    ball = _turned_ball(match, team)
    places = ball.reindex(mine.ts_us // BIN_US)
    kept = match.kept(mine, (places.bx, places.by), selection)
    chosen = mine.player.isin(selection.players).to_numpy() if selection.players else True
    other = "away" if team == "home" else "home"
    index = _pressing(mine, ball, kept & chosen & (match.holders(mine.ts_us.to_numpy()) == other))
    areas = _areas(match, mine[kept])
    measured = pd.concat([index, areas], axis=1)
    measured.columns = pd.Index(["press_per_s", "area_m2"])
    times = measured.index.to_numpy(np.int64) * BIN_US
    frame = measured.assign(ts_us=times, period=match.periods_of(times), had=match.possessions_at(times))
    frame = frame[frame.period > 0].reset_index(drop=True)
    frame["stretch"] = stretch_of(match, frame, selection.step_min)
    by = frame.groupby("stretch", observed=True, sort=False)
    table = by.agg(press_per_s=("press_per_s", "mean"), area_m2=("area_m2", "mean"), at_us=("ts_us", "min"))
    for name, figure in (("rows", "press_per_s"), ("area_rows", "area_m2")):
        known = frame[frame[figure].notna() & (frame.had >= 0)].drop_duplicates(["stretch", "had"])
        behind = known.groupby("stretch", observed=True).had.agg(list)
        table[name] = [behind.get(part, []) for part in table.index]
    return table.reset_index().assign(team=team).astype({"stretch": str})


def _turned_ball(match: AnalysedMatch, team: str) -> pd.DataFrame:
    """Place and velocity of the ball by bin, as a team attacks to the right."""
    ball = match.ball.assign(team=team)
    ball["x_m"], ball["y_m"] = match.ball_of(ball)
    vx, vy = _velocities(ball)
    places = {"bx": ball.x_m, "by": ball.y_m, "bvx": vx, "bvy": vy}
    return pd.DataFrame(places).assign(bin=ball.ts_us // BIN_US).groupby("bin").first()


def _velocities(track: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Velocity from the row before; NaN after a gap."""
    step_s = np.diff(track.ts_us.to_numpy(float), prepend=np.nan) * 1e-6
    step_s[~(step_s < 2 * _STEP_S)] = np.nan
    vx, vy = (np.diff(track[name].to_numpy(float), prepend=np.nan) / step_s for name in ("x_m", "y_m"))
    return vx, vy


def _pressing(mine: pd.DataFrame, ball: pd.DataFrame, presses: np.ndarray) -> pd.Series:
    """StreamTeam's pressing index (10.1) of a team by bin."""
    step = mine.groupby("player", observed=True)[["x_m", "y_m", "ts_us"]].diff()
    step_s = (step.ts_us * 1e-6).where(step.ts_us < 2 * BIN_US)
    rows = pd.DataFrame({
        "bin": mine.ts_us // BIN_US, "x": mine.x_m, "y": mine.y_m, "vx": step.x_m / step_s, "vy": step.y_m / step_s,
    })[presses]  # fmt: skip
    rows = rows.join(ball, on="bin", how="inner")
    dx, dy = rows.bx - rows.x, rows.by - rows.y
    distance_m = np.hypot(dx, dy).clip(lower=PressingParameters().nearest_m)
    closing_m_s = ((rows.vx - rows.bvx) * dx + (rows.vy - rows.bvy) * dy) / distance_m
    return (closing_m_s.clip(lower=0.0) / distance_m).groupby(rows.bin).sum(min_count=1)


def _areas(match: AnalysedMatch, mine: pd.DataFrame) -> pd.Series:
    """Area of the hull of the outfield players, by bin."""
    keepers = {player.object_id for player in match.sheet.players if player.goalkeeper}
    bins = mine.ts_us.to_numpy() // BIN_US
    kept = np.flatnonzero(~mine.player.isin(keepers).to_numpy() & (bins % _AREA_EVERY == 0))
    kept = kept[np.argsort(bins[kept], kind="stable")]
    places = mine[["x_m", "y_m"]].to_numpy(float)[kept].tolist()
    first = np.flatnonzero(np.diff(bins[kept], prepend=-1)).tolist()
    found = {
        int(bins[kept[low]]): hull_area_m2([(x_m, y_m) for x_m, y_m in places[low:high]])
        for low, high in itertools.pairwise([*first, len(kept)])
        if high - low >= SHAPE_PLAYERS
    }
    return pd.Series(found, dtype=float)
