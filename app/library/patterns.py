"""Reads files of patterns, and runs a pattern over the events of stored matches."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from detectors.patterns.detector import PatternDetector
from detectors.patterns.language import parse
from detectors.patterns.matcher import MOST_MATCHES, Matcher
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match
from detectors.patterns.syntax import PatternError, PatternEvent, Query, steps_of
from football.errors import UserError
from football.untrusted import UntrustedError, read_text
from football.update_stream import EventRecord
from replay.event_list import consolidated_events, event_records

#: Ending of a file of a pattern.
SUFFIX = ".touchline"


class PatternFileError(UserError):
    """A file that is no pattern; the message names file, line and column."""


def read_pattern(file: Path) -> Query:
    """Read and compile the pattern of a file.

    Raises:
        PatternFileError: it cannot be read, or means nothing; names file, line and column.
    """
    try:
        query = parse(read_text(file))
        Matcher([query])
        Returns(query)
    except FileNotFoundError:
        raise PatternFileError(f"{file}: no such file") from None
    except (OSError, UntrustedError, PatternError) as error:
        raise PatternFileError(f"{file}: {error}") from error
    return query


def pattern_detector(file: Path) -> PatternDetector:
    """The detector of a pattern's file; a pattern without a name has that of the file.

    Raises:
        PatternFileError: as :func:`read_pattern`; or the pattern cannot be a detector.
    """
    query = read_pattern(file)
    try:
        return PatternDetector(query if query.name else query._replace(name=file.stem))
    except PatternError as error:
        raise PatternFileError(f"{file}: {error}") from error


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
