"""The periods and formations of a match store: from when to when."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from app.tables.clock import whole
from app.tables.match_events import read_match_events

PERIODS = pa.schema([("period", pa.int8()), ("begin_us", pa.int64()), ("end_us", pa.int64())])

FORMATIONS = pa.schema([("team", pa.string()), ("formation", pa.string()), ("since_us", pa.int64())])

#: Kinds that show how far a period without an end goes.
_PLAY = ("team.possession", "pass.attempt", "shot.attempt", "goal.scored", "goal.own", "duel.start", "clock.minute")


def period_table(folder: Path) -> pa.Table:
    """A row for each period: event times of its begin and its end, or of what was last seen in it.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    match = read_match_events(folder, ("period.start", "period.end", *_PLAY))
    last_us = max((event.ts_us for event in match.records), default=0)
    return pa.Table.from_pylist([dict(zip(PERIODS.names, span, strict=True)) for span in match.clock.spans(last_us)],
                                PERIODS)  # fmt: skip


def formation_table(folder: Path) -> pa.Table:
    """A row for each formation of a team (12.13), and the event time from when it had it.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    events = read_match_events(folder, ("formation",)).records
    return pa.Table.from_pylist(
        [{"team": one.team, "formation": one.variant, "since_us": whole(one.detail.get("since_us"), one.ts_us)}
         for one in events if one.variant],
        FORMATIONS,
    )  # fmt: skip
