"""Rows of ``running``: how far and how fast each player ran, by quarter of an hour, from positions.

The steps are those of ``app.tables.tracks``. Warm-up and half-time are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.tables.clock import MatchClock
from app.tables.match_events import MatchEvents, Row
from app.tables.tracks import read_tracks, steps_of

#: Upper ends of the zones, in km/h, as in FIFA's match reports.
ZONES_KM_H = (7.0, 15.0, 20.0, 25.0)

#: A row needs a player who was on the pitch for this share of the time: others are on the bench.
_ON_PITCH_SHARE = 0.5


def running(match: MatchEvents, folder: Path) -> list[Row]:
    """The rows of ``running``; none where the store has no positions.

    Raises:
        StoreError: a part is damaged.
    """
    sprints = Counter(
        (event.player, at.period, at.quarter_hour)
        for event in match.of("sprint.end")
        for at in (match.clock.at(event.ts_us),)
    )
    rows: list[Row] = []
    for team, player, track in read_tracks(folder):
        for (period, quarter), steps in _quarters(match.clock, track):
            if (row := _row(match, steps)) is not None:
                named = match.actor(team, player, 0)
                count = sprints[(player, period, quarter)]
                rows.append({**named, "period": period, "quarter_hour": quarter, **row, "sprints": count})
    return sorted(rows, key=lambda row: (row["period"], str(row["quarter_hour"]).zfill(8), row["team"], row["player"]))


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
    step_s, step_m, speed_m_s = steps_of(track)
    known = np.isfinite(step_s)
    zone = np.digitize(3.6 * speed_m_s[known], ZONES_KM_H)
    metres = np.bincount(zone, weights=step_m[known], minlength=5)
    return {
        "seconds": round(float(step_s[known].sum()), 1), "distance_m": round(float(metres.sum()), 1),
        **{f"zone_{i + 1}_m": round(float(metres[i]), 1) for i in range(5)},
        "top_m_s": round(float(np.quantile(speed_m_s[known], 0.999)), 2) if known.any() else None,
        "mean_x_m": round(float(track[:, 1].mean()), 2), "mean_y_m": round(float(track[:, 2].mean()), 2),
    }  # fmt: skip
