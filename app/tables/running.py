"""Rows of ``running``: how far and how fast each player ran, by quarter of an hour, from positions.

Positions of a fifth of a second are averaged first: the differences of single ones add their noise up to a distance.
A step that no player can run is a jump of the tracking, and counts nothing. Warm-up and half-time are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.tables.clock import MatchClock
from app.tables.match_events import MatchEvents, Row
from replay.match_store import read_table

_BIN_US = 200_000

#: Steps over a longer gap are not counted: what happened in it is unknown.
_GAP_US = 1_000_000

#: Speed beyond which a step is a jump of the tracking: the fastest person ever measured ran 12.4 m/s.
_TOP_M_S = 12.5

#: Upper ends of the zones, in km/h, as in FIFA's match reports.
_ZONES_KM_H = (7.0, 15.0, 20.0, 25.0)

#: A row needs a player who was on the pitch for this share of the time: others are on the bench.
_ON_PITCH_SHARE = 0.5

_COLUMNS = ("ts_us", "object_id", "team", "x_m", "y_m")


def running(match: MatchEvents, folder: Path) -> list[Row]:
    """The rows of ``running``; none where the store has no positions.

    Raises:
        StoreError: a part is damaged.
    """
    table = read_table(folder, "positions", _COLUMNS)
    table = table.filter(pc.is_in(table["team"], pa.array(["home", "away"])))
    if not len(table):
        return []
    sprints = Counter(
        (event.player, at.period, at.quarter_hour)
        for event in match.of("sprint.end")
        for at in (match.clock.at(event.ts_us),)
    )
    rows: list[Row] = []
    for team, player, track in _tracks(table):
        for (period, quarter), steps in _quarters(match.clock, track):
            if (row := _row(match, steps)) is not None:
                named = match.actor(team, player, 0)
                count = sprints[(player, period, quarter)]
                rows.append({**named, "period": period, "quarter_hour": quarter, **row, "sprints": count})
    return sorted(rows, key=lambda row: (row["period"], str(row["quarter_hour"]).zfill(8), row["team"], row["player"]))


def _tracks(table: pa.Table) -> Iterator[tuple[str, str, np.ndarray]]:
    """Team, id and track of each player: rows of time, x and y, averaged over a fifth of a second."""
    codes = table["object_id"].combine_chunks().dictionary_encode()
    indices = codes.indices.to_numpy(zero_copy_only=False)
    values = [table[name].to_numpy() for name in ("ts_us", "x_m", "y_m")]
    order = np.lexsort((values[0], indices))
    bounds = np.flatnonzero(np.diff(indices[order], prepend=-1, append=-2))
    teams = table["team"]
    for low, high in pairwise(bounds):
        chosen = order[low:high]
        track = np.column_stack([value[chosen].astype(np.float64) for value in values])
        track = track[np.isfinite(track).all(axis=1)]
        if len(track):
            name = codes.dictionary[int(indices[chosen[0]])].as_py()
            yield teams[int(chosen[0])].as_py(), name, _averaged(track)


def _averaged(track: np.ndarray) -> np.ndarray:
    bins = np.floor(track[:, 0] / _BIN_US)
    first = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    sizes = np.diff(first, append=len(track))
    return np.add.reduceat(track, first, axis=0) / sizes[:, None]


def _quarters(clock: MatchClock, track: np.ndarray) -> Iterator[tuple[tuple[int, str], np.ndarray]]:
    """The parts of a track, each of a period and a quarter of an hour."""
    keep = np.ones(len(track), bool)
    for begin_us, end_us in clock.pauses:
        keep &= (track[:, 0] < begin_us) | (track[:, 0] >= end_us)
    track = track[keep]
    quarters = clock.quarters()
    index = np.searchsorted([begin_us for begin_us, _, _ in quarters], track[:, 0], side="right") - 1
    for chosen in np.unique(index[index >= 0]):
        yield quarters[chosen][1:], track[index == chosen]


def _row(match: MatchEvents, track: np.ndarray) -> Row | None:
    half_x_m, half_y_m = match.sheet.length_m / 2, match.sheet.width_m / 2
    inside = (np.abs(track[:, 1]) <= half_x_m) & (np.abs(track[:, 2]) <= half_y_m)
    if inside.mean() < _ON_PITCH_SHARE:
        return None
    step_us, dx_m, dy_m = np.diff(track, axis=0).T
    step_m = np.hypot(dx_m, dy_m)
    speed_m_s = step_m / np.maximum(step_us, 1.0) * 1e6
    known = (step_us <= _GAP_US) & (speed_m_s <= _TOP_M_S)
    zone = np.digitize(3.6 * speed_m_s[known], _ZONES_KM_H)
    metres = np.bincount(zone, weights=step_m[known], minlength=5)
    return {
        "seconds": round(float(step_us[known].sum()) * 1e-6, 1), "distance_m": round(float(metres.sum()), 1),
        **{f"zone_{i + 1}_m": round(float(metres[i]), 1) for i in range(5)},
        "top_m_s": round(float(np.quantile(speed_m_s[known], 0.999)), 2) if known.any() else None,
        "mean_x_m": round(float(track[:, 1].mean()), 2), "mean_y_m": round(float(track[:, 2].mean()), 2),
    }  # fmt: skip
