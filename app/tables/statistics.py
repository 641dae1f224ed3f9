"""The statistics of levels 14 and 15 as a table: a row for each number of each event that states one.

What counts at an instant is the newest row of its statistic, variant, team, player, receiver and measure up to then.
"""

from __future__ import annotations

from app.tables.columns import STATISTIC_KINDS
from app.tables.match_events import MatchEvents, Row, flag, number, text
from football.update_stream import EventRecord


def statistics(match: MatchEvents) -> list[Row]:
    """Return the rows, statistic by statistic, each in order of time."""
    return [row for event in match.of(*STATISTIC_KINDS) for row in _rows(match, event)]


def _rows(match: MatchEvents, event: EventRecord) -> list[Row]:
    """Return a row for each number of an event's detail; texts of it stand beside all of them."""
    shared = {
        "id": event.id, **match.when(event.ts_us), **match.actor(event.team, event.player, event.ts_us),
        "statistic": event.kind, "variant": event.variant or None, "model": text(event, "model"),
        "how": text(event, "how"), **match.person("receiver", event.detail.get("receiver")),
    }  # fmt: skip
    values = {name: (number(event, name), flag(event, name)) for name in event.detail}
    return [
        {**shared, "measure": name, "value": float(yes) if value is None and yes is not None else value}
        for name, (value, yes) in values.items()
        if (value, yes) != (None, None)
    ]
