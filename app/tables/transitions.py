"""Transitions and presses of a match: counter-presses, attacks, balls won back, team presses, triggers, traps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from app.tables.clock import whole
from app.tables.match_events import MatchEvents, Row, number, read_match_events, text
from football.update_stream import EventRecord

#: A row for each of them, from its begin ``ts_us`` to ``end_us``. ``outcome`` is what came of it, or which one it is.
TRANSITIONS = pa.schema(
    [
        ("ts_us", pa.int64()), ("period", pa.int64()), ("period_s", pa.float64()), ("clock", pa.string()),
        ("team", pa.string()), ("player", pa.string()), ("kind", pa.string()), ("outcome", pa.string()),
        ("end_us", pa.int64()),
    ]
)  # fmt: skip

_ATTACKS = {"attack.buildup": "build-up attack", "attack.direct": "direct attack", "counter.end": "counter-attack"}
_KINDS = (
    "period.start", "period.end", "counterpress.start", "counterpress.won", "recovery.time", "press.team.start",
    "press.team.end", "trigger", "trap", *_ATTACKS,
)  # fmt: skip


def transition_table(folder: Path) -> pa.Table:
    """Return the transitions and presses of both teams (11.6, 12.3 to 12.5, 12.9 to 12.12), in order of their begin.

    Raises:
        StoreError, UntrustedError: not a match store, or damaged.
    """
    match = read_match_events(folder, _KINDS)
    return pa.Table.from_pylist(list(_rows(match)), TRANSITIONS).sort_by("ts_us")


def _rows(match: MatchEvents) -> Iterator[Row]:
    won = {cause: event for event in match.of("counterpress.won") for cause in event.causes}
    for event in match.of("counterpress.start"):
        end = won.get(event.id)
        end_us = (end or event).ts_us
        yield _row(match, event, "counter-press", "won" if end else "not won", _time(event, "lost_us"), end_us)
    for event in match.of(*_ATTACKS):
        shot = {True: "shot", False: "no shot"}.get(event.detail.get("shot"))  # type: ignore[arg-type]
        yield _row(match, event, _ATTACKS[event.kind], shot, _time(event, "start_us"))
    begun = {event.id: event for event in match.of("press.team.start")}
    for event in match.of("press.team.end"):
        start = next((begun[cause] for cause in event.causes if cause in begun), event)
        yield _row(match, event, "team press", text(event, "how"), _time(start, "since_us"), _time(event, "since_us"))
    for event in match.of("recovery.time"):
        took_us = round((number(event, "seconds") or 0.0) * 1e6)
        yield _row(match, event, "ball won back", event.variant, event.ts_us - took_us)
    for event in match.of("trigger"):
        yield _row(match, event, "press trigger", event.variant, _time(event, "cue_us"))
    for event in match.of("trap"):
        yield _row(match, event, "offside trap", event.variant, event.ts_us)


def _row(
    match: MatchEvents, event: EventRecord, kind: str, outcome: str | None, begin_us: int, end_us: int | None = None
) -> Row:
    named = {"team": event.team or None, "player": event.player or None, "kind": kind, "outcome": outcome or None}
    return {**match.when(begin_us), **named, "end_us": max(begin_us, event.ts_us if end_us is None else end_us)}


def _time(event: EventRecord, name: str) -> int:
    return whole(event.detail.get(name), event.ts_us)
