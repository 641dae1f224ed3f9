"""Pressing, areas of the teams, and speed and height of the ball over time, from positions.

Measures of one instant are those of the detectors (10.1, 10.4), on positions that are averaged over fifths of a second.
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from app.analysis.match import AnalysedMatch, ChartData
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
    """Of each team and stretch: mean pressing index on the ball while the other team has it, mean area of the hull."""
    parts = [_team(match, selection, team) for team in match.teams(selection)]
    table = pd.concat(parts, ignore_index=True)
    order = table.groupby("stretch").at_us.min().sort_values().index
    table["order"] = table.stretch.map({name: number for number, name in enumerate(order)})
    table = table.sort_values(["order", "team"], ascending=[True, False]).drop(columns=["order", "at_us"])
    return ChartData(table.reset_index(drop=True), {"measured": bool(len(match.tracks))})


def ball_time(match: AnalysedMatch, selection: Selection) -> ChartData:
    """Of each stretch: mean and greatest speed of the ball, mean and greatest height."""
    ball = match.in_selection(match.ball, selection).copy()
    ball["speed_m_s"] = np.hypot(*_velocities(ball))
    ball.loc[ball.speed_m_s > _BALL_TOP_M_S, "speed_m_s"] = np.nan
    ball["stretch"] = stretch_of(match, ball, selection.step_min)
    by = ball.groupby("stretch", observed=True, sort=False)
    table = by.agg(
        speed_m_s=("speed_m_s", "mean"), top_m_s=("speed_m_s", "max"), height_m=("z_m", "mean"), top_m=("z_m", "max")
    ).reset_index()
    heights = bool(ball.z_m.notna().any())
    return ChartData(table.astype({"stretch": str}), {"measured": bool(len(match.ball)), "heights": heights})


def _team(match: AnalysedMatch, selection: Selection, team: str) -> pd.DataFrame:
    tracks = match.in_selection(match.tracks, selection)
    mine = tracks[tracks.team == team]
    ball = _turned_ball(match, selection, team)
    index = _pressing(mine, ball, ~mine.has_ball & _other_has(match, mine, team))
    areas = _areas(match, mine)
    measured = pd.concat([index, areas], axis=1)
    measured.columns = pd.Index(["press_per_s", "area_m2"])
    bins = measured.index.to_numpy()
    frame = measured.assign(ts_us=bins * BIN_US, period=match.periods_of(bins * BIN_US))
    frame = frame[frame.period > 0].reset_index(drop=True)
    frame["stretch"] = stretch_of(match, frame, selection.step_min)
    by = frame.groupby("stretch", observed=True, sort=False)
    table = by.agg(press_per_s=("press_per_s", "mean"), area_m2=("area_m2", "mean"), at_us=("ts_us", "min"))
    return table.reset_index().assign(team=team).astype({"stretch": str})


def _turned_ball(match: AnalysedMatch, selection: Selection, team: str) -> pd.DataFrame:
    """Place and velocity of the ball by bin, as a team attacks to the right."""
    ball = match.in_selection(match.ball, selection)
    signs = ball.period.map({span.period: match.attacks_x(team, span.begin_us) for span in match.spans})
    vx, vy = _velocities(ball)
    places = {"bx": ball.x_m * signs, "by": ball.y_m * signs, "bvx": vx * signs, "bvy": vy * signs}
    return pd.DataFrame(places).assign(bin=ball.ts_us // BIN_US).groupby("bin").first()


def _velocities(track: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Velocity from the row before; NaN after a gap."""
    step_s = np.diff(track.ts_us.to_numpy(float), prepend=np.nan) * 1e-6
    step_s[~(step_s < 2 * _STEP_S)] = np.nan
    vx, vy = (np.diff(track[name].to_numpy(float), prepend=np.nan) / step_s for name in ("x_m", "y_m"))
    return vx, vy


def _other_has(match: AnalysedMatch, mine: pd.DataFrame, team: str) -> pd.Series:
    """True while the other team has the ball."""
    had = match.tables["possessions"]
    had = had[had.team != team]
    index = np.searchsorted(had.ts_us.to_numpy(), mine.ts_us.to_numpy(), side="right") - 1
    if had.empty:
        return pd.Series(False, index=mine.index)
    return pd.Series((index >= 0) & (mine.ts_us.to_numpy() < had.end_us.to_numpy()[np.maximum(index, 0)]), mine.index)


def _pressing(mine: pd.DataFrame, ball: pd.DataFrame, presses: pd.Series) -> pd.Series:
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
