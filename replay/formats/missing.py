"""Rows of a file that have no position: empty ones, and those with a placeholder instead.

Theory of operation
-------------------
A table may have a row for every object and frame, also where an object was not tracked: a ball that is dead, players on
the bench. Its position is empty then, or it is the origin, x = y = 0, which files put for unknown. Such a row says no
more than one that is not there.

The origin is a position, too: that of a kick-off. But a ball that really comes there rolls, or is carried. So rows at
the very origin are placeholders if the object is farther away than it can have moved, both before and after them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from football.constants import BALL_STEP_MAX_M_S
from football.input_quality import InputFinding
from football.packets import raw_kind
from football.recording import Track

#: A placeholder is at least this far from where the object was, whatever the time: a ball may be put on its spot.
APART_M = 5.0
#: Fewer rows of an object say nothing: a second of 25 Hz.
ROWS_MIN = 25

_Rows = npt.NDArray[np.bool_]


def with_positions(tracks: tuple[Track, ...]) -> tuple[tuple[Track, ...], tuple[InputFinding, ...]]:
    """Return tracks without the rows that have no position, with a finding; a ball that never has one is left as it is.

    A row of which only one coordinate is missing is a bad row, and stays.
    """
    kept: list[Track] = []
    empty = placeholders = 0
    for track in tracks:
        missing = np.isnan(track.x_m) & np.isnan(track.y_m)
        if missing.all() and raw_kind(track.transmitter) == "raw.ball":
            kept.append(track)
            continue
        unknown = _placeholders(track, missing)
        empty, placeholders = empty + int(missing.sum()), placeholders + int(unknown.sum())
        there = ~(missing | unknown)
        if there.any():
            kept.append(track if there.all() else track.part(there))
    findings: list[InputFinding] = []
    if empty:
        found = f"{empty} rows have no position: they count as rows that are not there"
        findings.append(InputFinding("empty", "note", found, "objects that were not tracked"))
    if placeholders:
        found = f"{placeholders} rows are at the origin, where their objects cannot be: they count as rows without one"
        findings.append(InputFinding("placeholders", "note", found, "zeros for unknown positions", "Leave them empty"))
    return tuple(kept), tuple(findings)


def _placeholders(track: Track, missing: _Rows) -> _Rows:
    """Rows at the very origin between others that are too far away; also if the object is never elsewhere."""
    zero = (track.x_m == 0.0) & (track.y_m == 0.0)
    found = np.zeros(len(track), np.bool_)
    if int(zero.sum()) < ROWS_MIN:
        return found
    elsewhere = np.flatnonzero(~zero & ~missing)
    if not len(elsewhere):
        return found if raw_kind(track.transmitter) == "raw.ball" else zero
    rows = np.flatnonzero(zero)
    after = np.searchsorted(elsewhere, rows)
    far = np.ones(len(rows), np.bool_)
    for at, there in ((after - 1, after > 0), (after, after < len(elsewhere))):
        neighbour = elsewhere[np.clip(at, 0, len(elsewhere) - 1)]
        away_m = np.hypot(track.x_m[neighbour], track.y_m[neighbour])
        # How far it may have moved is counted from the edge of the run of rows, which all say the same.
        edge = _edge(rows, neighbour)
        apart_s = np.abs(track.ts_us[edge] - track.ts_us[neighbour]) * 1e-6
        # Two objects under one id are at two places at once.
        far &= ~there | ((away_m > np.maximum(APART_M, BALL_STEP_MAX_M_S * apart_s)) & (apart_s > 0.0))
    found[rows] = far
    return found


def _edge(rows: npt.NDArray[np.int64], neighbour: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of each row at the origin the one of its run that is next to ``neighbour``."""
    return np.where(neighbour < rows, neighbour + 1, neighbour - 1)
