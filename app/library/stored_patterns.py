"""Runs a pattern over the events of stored matches."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from detectors.patterns.matcher import MOST_MATCHES, Matcher
from detectors.patterns.search import Match
from detectors.patterns.syntax import PatternEvent, Query, steps_of
from football.update_stream import EventRecord
from replay.event_list import consolidated_events, event_records


class StoredMatches(NamedTuple):
    """The matches of a pattern in one store, in order of time."""

    store: Path
    matches: tuple[Match, ...]


def match_store(query: Query, store: Path, most: int = MOST_MATCHES) -> StoredMatches:
    """Run a query over the events of a store that no update has withdrawn.

    Args:
        query: its kinds are those of docs/detectors.md; a value is ``variant``, ``team``, ``player``, ``x_m``, ``y_m``,
            ``z_m``, ``confidence``, or one of the event's ``detail``.
        store: folder of a match store.
        most: bound on the matches of one event.

    Raises:
        StoreError: not a match store, or damaged.
        PatternError: the query means nothing, or has too many matches.
    """
    kinds = {step.kind for step in steps_of(query.structure)}
    strict = query.strategy == "strict" or any(kind.endswith(".*") for kind in kinds)
    matcher = Matcher([query], most=most)
    for record in event_records(consolidated_events(store, () if strict else sorted(kinds))):
        matcher.push(pattern_event(record))
    found = sorted((match for _, match in matcher.matches()), key=lambda match: [event[:3] for event in match])
    return StoredMatches(store, tuple(found))


def pattern_event(record: EventRecord) -> PatternEvent:
    """A published event as patterns see it; what is empty is no value."""
    fixed = {
        "variant": record.variant, "team": record.team, "player": record.player, "x_m": record.x_m, "y_m": record.y_m,
        "z_m": record.z_m, "confidence": record.confidence,
    }  # fmt: skip
    payload = {**record.detail, **{name: value for name, value in fixed.items() if value not in (None, "")}}
    return PatternEvent(record.ts_us, (record.level, record.kind), record.id, record.kind, payload)
