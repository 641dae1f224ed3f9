"""The ball of a match store: who had it, by contacts; sequences of passes; where it was.

The analyst's room has these beside the tables that are published.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.tables.clock import whole
from app.tables.match_events import MatchEvents, Row, anchor_of, read_match_events
from app.tables.tracks import averaged
from football.update_stream import EventRecord
from replay.match_store import read_table

_WHEN = [("ts_us", pa.int64()), ("period", pa.int64()), ("period_s", pa.float64()), ("clock", pa.string())]
_WHO = [("team", pa.string()), ("player", pa.string()), ("shirt", pa.int64()), ("name", pa.string())]

#: A row for each time that a player has the ball, which begins at a place. ``hit_s`` runs from his first to his last
#: contact.
STINTS = pa.schema(
    [
        *_WHEN, *_WHO, ("attacks_x", pa.int8()), ("start_x_m", pa.float64()), ("start_y_m", pa.float64()),
        ("end_us", pa.int64()), ("seconds", pa.float64()), ("hit_s", pa.float64()), ("hits", pa.int64()),
    ]
)  # fmt: skip

#: A row for each sequence of passes (11.1) and each double pass (11.2), which ends at ``ts_us``.
CHAINS = pa.schema(
    [*_WHEN, *_WHO, ("kind", pa.string()), ("begin_us", pa.int64()), ("passes", pa.int64()), ("seconds", pa.float64())]
)

#: Where the ball was, averaged over fifths of a second; without height if the source has none.
BALL = pa.schema([("ts_us", pa.int64()), ("x_m", pa.float32()), ("y_m", pa.float32()), ("z_m", pa.float32())])


def stint_table(folder: Path) -> pa.Table:
    """Return who had the ball from when to when, as DEBS 2013 Q2 asks and detector 14.2 counts.

    A player has it from his contact until another player's, or until play is dead.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    match = read_match_events(folder, ("period.start", "period.end", "direction", "hit", "play.dead", "play.live"))
    rows: list[Row] = []
    mine: list[EventRecord] = []
    dead = False

    def lose(until_us: int) -> None:
        if mine:
            rows.append(_stint(match, mine, max(until_us, mine[-1].ts_us)))
            mine.clear()

    for event in sorted(match.of("hit", "play.dead", "play.live"), key=_happened_us):
        if event.kind == "play.dead":
            lose(_happened_us(event))
            dead = True
        elif event.kind == "play.live":
            dead = False
            if event.player:
                mine[:] = [event]
        elif not dead and event.player:
            if mine and mine[-1].player != event.player:
                lose(event.ts_us)
            mine.append(event)
    lose(0)
    return pa.Table.from_pylist(rows, STINTS)


def _happened_us(event: EventRecord) -> int:
    """A ball is dead since it crossed the line, and live since the kick of the restart; both are known later."""
    name = {"play.dead": "since_us", "play.live": "kick_us"}.get(event.kind, "")
    return whole(event.detail.get(name), event.ts_us)


def _stint(match: MatchEvents, hits: list[EventRecord], end_us: int) -> Row:
    times = [_happened_us(hit) for hit in hits]
    return {
        **match.when(times[0]), **match.actor(hits[0].team, hits[0].player, times[0]), "end_us": end_us,
        "start_x_m": hits[0].x_m, "start_y_m": hits[0].y_m, "seconds": (end_us - times[0]) * 1e-6,
        "hit_s": (times[-1] - times[0]) * 1e-6, "hits": len(hits),
    }  # fmt: skip


def chain_table(folder: Path) -> pa.Table:
    """Return the sequences of passes and the double passes of a match.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    match = read_match_events(folder, ("period.start", "period.end", "sequence.end", "onetwo", "pass.complete"))
    rows: list[Row] = []
    for event in match.of("sequence.end", "onetwo"):
        seconds = event.detail.get("seconds")
        lasted_s = float(seconds) if isinstance(seconds, int | float) else 0.0
        # A sequence is dated when it is known to be over, and named by its last pass, with whose reception it ends.
        last = match.at("pass.complete", anchor_of(event))
        end_us = last.ts_us if last else event.ts_us
        kind, passes = ("double pass", 2) if event.kind == "onetwo" else ("sequence", event.detail.get("passes"))
        rows.append({
            **match.when(end_us), **match.actor(event.team, event.player, end_us), "kind": kind,
            "begin_us": end_us - round(lasted_s * 1e6), "passes": whole(passes, 2), "seconds": lasted_s,
        })  # fmt: skip
    return pa.Table.from_pylist(rows, CHAINS).sort_by("begin_us")


def ball_table(folder: Path) -> pa.Table:
    """Return where the ball was (``BALL``).

    Raises:
        StoreError: a part is damaged.
    """
    table = read_table(folder, "positions", ("ts_us", "object_id", "x_m", "y_m", "z_m"))
    table = table.filter(pc.equal(table["object_id"], "ball")).sort_by("ts_us")
    track = np.column_stack([table[name].to_numpy().astype(np.float64) for name in ("ts_us", "x_m", "y_m", "z_m")])
    track = track[np.isfinite(track[:, :3]).all(axis=1)]
    if not len(track):
        return BALL.empty_table()
    track = averaged(track)
    columns = [pa.array(np.rint(track[:, 0]).astype(np.int64))]
    columns += [pa.array(values, pa.float32(), from_pandas=True) for values in track[:, 1:].T]
    return pa.Table.from_arrays(columns, schema=BALL)
