"""Where each player was, five times a second, from the positions of a match store.

Positions of a fifth of a second are averaged: the differences of single ones add their noise up to a distance. A step
that no player can run is a jump of the tracking, and counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay.match_store import read_table

BIN_US = 200_000

#: Steps over a longer gap are not counted: what happened in it is unknown.
_GAP_US = 1_000_000

#: Speed beyond which a step is a jump of the tracking: the fastest person ever measured ran 12.4 m/s.
_TOP_M_S = 12.5

#: Columns of the table of all tracks. A step leads to a row from the one before: its length, duration and speed; null
#: where it does not count.
TRACKS = pa.schema(
    [
        ("team", pa.string()),
        ("player", pa.string()),
        ("ts_us", pa.int64()),
        ("x_m", pa.float32()),
        ("y_m", pa.float32()),
        ("step_s", pa.float32()),
        ("step_m", pa.float32()),
        ("speed_m_s", pa.float32()),
    ]
)

_COLUMNS = ("ts_us", "object_id", "team", "x_m", "y_m")


def read_tracks(folder: Path) -> Iterator[tuple[str, str, np.ndarray]]:
    """Team, id and track of each player of a store: rows of time, x and y, averaged over a fifth of a second.

    Raises:
        StoreError: a part is damaged.
    """
    table = read_table(folder, "positions", _COLUMNS)
    table = table.filter(pc.is_in(table["team"], pa.array(["home", "away"])))
    if not len(table):
        return
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
            yield teams[int(chosen[0])].as_py(), name, averaged(track)


def steps_of(track: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Duration in seconds, length and speed of each step of a track, NaN for those that do not count."""
    step_us, dx_m, dy_m = np.diff(track, axis=0).T
    step_m = np.hypot(dx_m, dy_m)
    speed_m_s = step_m / np.maximum(step_us, 1.0) * 1e6
    known = (step_us <= _GAP_US) & (speed_m_s <= _TOP_M_S)
    return tuple(np.where(known, value, np.nan) for value in (step_us * 1e-6, step_m, speed_m_s))  # type: ignore[return-value]


def track_table(folder: Path) -> pa.Table:
    """All tracks of a store in one table (``TRACKS``).

    Raises:
        StoreError: a part is damaged.
    """
    parts = [TRACKS.empty_table()]
    for team, player, track in read_tracks(folder):
        steps = [np.concatenate(([np.nan], values)) for values in steps_of(track)]
        numbers = [pa.array(values, pa.float32(), from_pandas=True) for values in (*track[:, 1:].T, *steps)]
        who = [pa.array([name] * len(track), pa.string()) for name in (team, player)]
        times = pa.array(np.rint(track[:, 0]).astype(np.int64))
        parts.append(pa.Table.from_arrays([*who, times, *numbers], schema=TRACKS))
    return pa.concat_tables(parts)


def averaged(track: np.ndarray) -> np.ndarray:
    """A track (rows that begin with a time) averaged over fifths of a second."""
    bins = np.floor(track[:, 0] / BIN_US)
    first = np.flatnonzero(np.diff(bins, prepend=bins[0] - 1))
    sizes = np.diff(first, append=len(track))
    return np.add.reduceat(track, first, axis=0) / sizes[:, None]
