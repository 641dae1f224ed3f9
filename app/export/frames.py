"""The positions of a match as frames of one rate, for formats of tracking data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.export.actions import ExportError
from football.match_sheet import MatchSheet, Player
from replay.match_store import read_table

#: Frames a second; a store has 25 positions a second.
RATE_HZ = 25

_COLUMNS = ("ts_us", "object_id", "x_m", "y_m", "z_m", "vx_m_s", "vy_m_s", "vz_m_s")


class Frames(NamedTuple):
    """Frames of a match.

    Attributes:
        players: of the sheet, in the order of the axis.
        numbers: of the frames that have a position, from the begin of the stream.
        places: frames x (ball, then players) x (x, y, z, speed); NaN where something is unknown. Metres, m/s.
    """

    players: tuple[Player, ...]
    numbers: np.ndarray
    places: np.ndarray


def read_frames(folder: Path, sheet: MatchSheet) -> Frames:
    """Read the positions of the ball and of the players on the sheet.

    Raises:
        ExportError: the store has no positions.
        StoreError: a part is damaged.
    """
    table = read_table(folder, "positions", _COLUMNS)
    players = tuple(player for player in sheet.players if player.team)
    names = ["ball", *(player.object_id for player in players)]
    column = pc.index_in(table["object_id"], pa.array(names))
    table = table.append_column("column", column).filter(pc.is_valid(column))
    if not len(table):
        raise ExportError(f"{folder}: no positions in this match store (recorded with --no-positions?)")
    frame = np.round(table["ts_us"].to_numpy() * (RATE_HZ * 1e-6)).astype(np.int64)
    numbers, index = np.unique(frame, return_inverse=True)
    at = index, table["column"].to_numpy()
    places = np.full((len(numbers), len(names), 4), np.nan, np.float32)
    for axis, name in enumerate(("x_m", "y_m", "z_m")):
        places[*at, axis] = table[name].to_numpy()
    parts = [np.nan_to_num(table[name].to_numpy().astype(np.float32)) for name in ("vx_m_s", "vy_m_s", "vz_m_s")]
    places[*at, 3] = np.sqrt(sum(part * part for part in parts))
    return Frames(players, numbers, places)


def known(place: Sequence[float]) -> bool:
    """True if a row of ``places`` has a place over the ground."""
    return math.isfinite(place[0]) and math.isfinite(place[1])


def shirts(players: tuple[Player, ...]) -> dict[str, int]:
    """A number for each player that is unique in the team: the shirt's, else one from 100 on."""
    found: dict[str, int] = {}
    for team in ("home", "away"):
        taken: set[int] = set()
        spare: Iterator[int] = iter(range(100, 1000))
        for player in (player for player in players if player.team == team):
            number = player.shirt
            if number is None or number in taken:
                number = next(one for one in spare if one not in taken)
            taken.add(number)
            found[player.object_id] = number
    return found
