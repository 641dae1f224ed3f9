"""A minute of a match by hand, in two windows: positions 25 times a second, passes, a goal, a shot that is withdrawn.

The ball is at x = event time in seconds - 30 m, y = 0, and 2 m high in the second half minute. Each of four players
stands still. One pass is amended in the second window, and a shot that was reported in the first one is withdrawn.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa

from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import UpdateRecord
from replay.match_store import MatchStore, updates_table
from tests.app.tables.small_match import event

S = 1_000_000
FRAME_US = 40_000
PLAYERS = (
    Player("home_1", "home", "Ada Keeper", 1, goalkeeper=True),
    Player("home_9", "home", "Mara Striker", 9),
    Player("away_1", "away", "Ben Keeper", 1, goalkeeper=True),
    Player("away_4", "away", "Tom Back", 4),
)
SHEET = MatchSheet("derby", "Harbour", "Northgate", players=PLAYERS)
PLACES = {"home_1": (-48.0, 0.0), "home_9": (10.0, 5.0), "away_1": (48.0, 0.0), "away_4": (30.0, -4.0)}

DIRECTION = event("direction", 0, "frame:0", "home", basis="sheet")
PASS = event("pass.attempt", 10, "ball:10", "home_9", (-20.0, 0.0), kick_us=10 * S, receiver="home_1")
DONE = event("pass.complete", 12, "ball:10", "home_9", (-18.0, 0.0), kick_us=10 * S, receiver="home_1")
WRONG = event("shot.attempt", 20, "ball:20", "home_9", (-10.0, 0.0), kick_us=20 * S)
GOAL = event("goal.scored", 50, "goal:1", "home_9", (20.0, 0.0), "right", since_us=50 * S)
TOUCH = event("hit", 30, "ball:30", "away_4", (0.0, 0.0))
#: The pass as the second window amends it: to another player.
AMENDED = msgspec.structs.replace(DONE, x_m=-17.0)

#: Arrival time, sign, event.
LOG = (
    (1, 1, DIRECTION), (10.1, 1, PASS), (12.1, 1, DONE), (20.1, 1, WRONG), (31, 1, TOUCH), (33, -1, DONE),
    (33, 1, AMENDED), (35, -1, WRONG), (50.2, 1, GOAL),
)  # fmt: skip


def derby_store(folder: Path) -> Path:
    """Write the match into a folder."""
    store = empty_store(folder)
    for window in (0, 1):
        commit_window(store, window)
    return folder


def empty_store(folder: Path) -> MatchStore:
    """Create the store of the match before its first window."""
    return MatchStore.create(folder, SHEET, {"settings": {}, "created": "2026-05-16T15:00:00+00:00"})


def commit_window(store: MatchStore, window: int, *, frontier_us: int | None = None) -> None:
    """Commit one of the two windows, with a watermark 3 s before its end if none is given."""
    log = [UpdateRecord(seq, diff, round(at_s * S), one) for seq, (at_s, diff, one) in enumerate(LOG)]
    updates = [one for one in log if (one.emitted_us >= 30 * S) == window]
    tables = {"updates": updates_table(updates, 0), "positions": positions(window * 30, window * 30 + 30)}
    end_us = (window + 1) * 30 * S
    meta = {
        "frontier_us": end_us - 3 * S if frontier_us is None else frontier_us,
        "end_offset": end_us,
        "ended": window == 1,
        "now_us": end_us,
    }
    store.commit(window, tables, {**meta, "next_seq": updates[-1].seq + 1})


def positions(begin_s: int, end_s: int) -> pa.Table:
    """Positions of a stretch."""
    rows = []
    for ts_us in range(begin_s * S, end_s * S, FRAME_US):
        places = {"ball": (ts_us / S - 30, 0.0), **PLACES}
        for name, (x_m, y_m) in places.items():
            z_m = 0.0 if ts_us < 30 * S else 2.0
            team = name.partition("_")[0] if "_" in name else ""
            rows.append({"ts_us": ts_us, "object_id": name, "team": team, "x_m": x_m, "y_m": y_m, "z_m": z_m})
    return pa.Table.from_pylist(rows, POSITIONS)
