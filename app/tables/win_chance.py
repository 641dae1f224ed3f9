"""The chance of each team to win as the match went (14.12)."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from app.tables.match_events import number, read_match_events, text

#: A row for each time at which the chances were published. ``home`` and ``away`` are those to win, 0 to 1.
WIN_CHANCES = pa.schema(
    [
        ("ts_us", pa.int64()), ("period", pa.int64()), ("period_s", pa.float64()), ("clock", pa.string()),
        ("team", pa.string()), ("home", pa.float64()), ("draw", pa.float64()), ("away", pa.float64()),
        ("minutes", pa.float64()), ("model", pa.string()),
    ]
)  # fmt: skip


def win_chance_table(folder: Path) -> pa.Table:
    """Return the chances of both teams over time; ``team`` is home, ``minutes`` are those that were left.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    match = read_match_events(folder, ("period.start", "period.end", "win.chance"))
    rows = [
        {**match.when(event.ts_us), "team": event.team, "home": number(event, "win"), "draw": number(event, "draw"),
         "away": number(event, "lose"), "minutes": number(event, "minutes"), "model": text(event, "model")}
        for event in match.of("win.chance") if event.team == "home"
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, WIN_CHANCES)
