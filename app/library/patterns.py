"""Runs a pattern over the events of stored matches, and writes down what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from app.base.files import write_atomically, writing
from app.batch.inputs import BatchError, find_recorded
from detectors.patterns.detector import LEVEL, in_match
from detectors.patterns.matcher import MOST_MATCHES, Matcher
from detectors.patterns.returns import Returns
from detectors.patterns.search import Match
from detectors.patterns.syntax import PatternEvent, Query, kinds_of
from football.pitch import pitch_of
from football.update_stream import EventRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import read_sheet_of

#: A match of a pattern: the ids of its events, event times of the first and the last, and what it returns.
FOUND = (
    ("store", pa.string()),
    ("first_us", pa.int64()),
    ("last_us", pa.int64()),
    ("events", pa.list_(pa.string())),
    ("values", pa.string()),
)


class StoreResult(msgspec.Struct, frozen=True):
    """The matches of a pattern in one store, in order of time.

    Attributes:
        store: its folder.
        matches: ids of the events of each.
        times_us: event times of the first and the last event of each.
        values: what each returns.
        broken: why the store cannot be read, or the pattern not be searched there; empty if it was.
    """

    store: str
    matches: list[list[str]] = []
    times_us: list[tuple[int, int]] = []
    values: list[dict[str, Any]] = []
    broken: str = ""


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
    query = _in_store(query, store)
    kinds = set(kinds_of(query))
    is_strict = query.strategy == "strict"
    reads_all = is_strict or any(kind.endswith(".*") for kind in kinds)
    matcher = Matcher([query], most=most)
    for record in event_records(consolidated_events(store, () if reads_all else sorted(kinds))):
        # In a match the other patterns are no neighbours: a pattern reads what lies below its own level.
        if not is_strict or record.level < LEVEL or record.kind in kinds:
            matcher.push(pattern_event(record))
    found = sorted((match for _, match in matcher.matches()), key=lambda match: [event[:3] for event in match])
    return StoredMatches(store, tuple(found))


def _in_store(query: Query, store: Path) -> Query:
    return in_match(query)._replace(pitch=pitch_of(read_sheet_of(store)))


def pattern_event(record: EventRecord) -> PatternEvent:
    """A published event as patterns see it; what is empty is no value."""
    fixed = {
        "variant": record.variant, "team": record.team, "player": record.player, "x_m": record.x_m, "y_m": record.y_m,
        "z_m": record.z_m, "confidence": record.confidence,
    }  # fmt: skip
    payload = {**record.detail, **{name: value for name, value in fixed.items() if value not in (None, "")}}
    return PatternEvent(record.ts_us, (record.level, record.kind), record.id, record.kind, payload)


def find_stores(given: Sequence[Path]) -> list[Path]:
    """The match stores of arguments, each once; of a folder of matches all in it, by name.

    Raises:
        BatchError: a path does not exist, or has no events.
    """
    found: list[Path] = []
    for path in given:
        stores = [Path(one.store) for one in find_recorded([str(path)]) if one.store]
        if not stores:
            raise BatchError(f"{path}: holds no match store; only a store has events")
        found += [store for store in stores if store not in found]
    return found


def search_store(query: Query, store: Path, most: int = MOST_MATCHES) -> StoreResult:
    """Run a query over one store; see :func:`app.library.patterns.match_store` for its errors."""
    returns = Returns(_in_store(query, store))
    matches = match_store(query, store, most).matches
    return StoreResult(
        str(store),
        [[event.id for event in match] for match in matches],
        [(match[0].ts_us, match[-1].ts_us) for match in matches],
        [returns.values(match) for match in matches],
    )


def found_table(results: Sequence[StoreResult]) -> pa.Table:
    """All matches of all stores, a row each; ``values`` is a JSON object."""
    rows = [
        {"store": one.store, "first_us": first_us, "last_us": last_us, "events": ids,
         "values": msgspec.json.encode(values).decode()}
        for one in results
        for ids, (first_us, last_us), values in zip(one.matches, one.times_us, one.values, strict=True)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, pa.schema(FOUND))


def write_found(results: Sequence[StoreResult], out: Path) -> None:
    """Write :func:`found_table` as Parquet.

    Raises:
        OutputError: it cannot be written.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(found_table(results), sink, compression="zstd")
    with writing(out):
        write_atomically(out, sink.getvalue().to_pybytes())
