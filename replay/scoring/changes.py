"""Compares the events of a match played again with the recorded ones: kept, moved in time, gone, new.

A recorded event and one of the replay may be the same if they have one kind, team and player, and are no further apart
than the scoring's window of that kind (``replay.scoring.rules``); kinds whose variant is a location need the same
location. Among all such pairings the one with the most pairs counts, and of those the one that moves least. A pair at
two times is *moved*. One at one time is *altered* if its variant, position, confidence or details differ, else *kept*;
the counts of a kind have both in ``kept``. Ids and causes are not compared: they name other events. The agreement of a
kind is the F1 of its pairs: twice the pairs over the events of both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from replay.scoring.matching import Pairs, assign, within
from replay.scoring.rules import rule_of

#: Fields that an event may keep or not while it stays the same event.
COMPARED = ("variant", "x_m", "y_m", "z_m", "confidence", "detail")

#: A row for each changed event: ``change`` is moved, altered, gone or new; absent sides are null.
CHANGES = pa.schema(
    [
        ("match", pa.string()),
        ("change", pa.string()),
        ("kind", pa.string()),
        ("team", pa.string()),
        ("player", pa.string()),
        ("recorded_us", pa.int64()),
        ("now_us", pa.int64()),
        ("recorded_variant", pa.string()),
        ("now_variant", pa.string()),
        ("recorded_id", pa.string()),
        ("now_id", pa.string()),
        ("altered", pa.list_(pa.string())),
    ]
)

Row = Mapping[str, Any]


class KindChange(msgspec.Struct, frozen=True, rename={"missing": "gone"}):
    """Counts of a kind; ``missing`` is stored as ``gone``. ``shift_ms`` is the median of moves, None without one."""

    recorded: int = 0
    now: int = 0
    kept: int = 0
    moved: int = 0
    altered: int = 0
    missing: int = 0
    new: int = 0
    shift_ms: float | None = None

    @property
    def agreement(self) -> float:
        """F1 of the pairs; 1 where there is nothing on either side."""
        both = self.recorded + self.now
        return 2 * (self.kept + self.moved) / both if both else 1.0

    @property
    def unchanged(self) -> bool:
        """True if no event has changed."""
        return not (self.moved or self.altered or self.missing or self.new)


class Pairing(NamedTuple):
    """Events of one kind on both sides, and which belong together (indexes)."""

    kind: str
    recorded: Sequence[Row]
    now: Sequence[Row]
    pairs: Pairs


def compare(match: str, recorded: pa.Table, now: pa.Table) -> tuple[dict[str, KindChange], pa.Table]:
    """The changes, by kind and event by event.

    Args:
        match: name to give the rows.
        recorded, now: event lists as :func:`replay.event_list.consolidated_events` gives them.

    Returns:
        counts by kind, and a table of schema :data:`CHANGES`, sorted by time.
    """
    before, after = _by_kind(recorded), _by_kind(now)
    counts: dict[str, KindChange] = {}
    rows: list[dict[str, Any]] = []
    for kind in sorted(before.keys() | after.keys()):
        pairing = _pair(kind, before.get(kind, []), after.get(kind, []))
        mine = list(_rows(match, pairing))
        counts[kind] = _count(pairing, mine)
        rows += (row for row in mine if row["change"] != "kept")
    rows.sort(key=lambda row: (row["recorded_us"] if row["now_us"] is None else row["now_us"], row["kind"]))
    return counts, pa.Table.from_pylist(rows, schema=CHANGES)


def sum_changes(counts: Sequence[KindChange]) -> KindChange:
    """Counts of several matches or kinds together; the shift is the median of their medians."""
    sums = {name: sum(getattr(one, name) for one in counts) for name in KindChange.__struct_fields__[:-1]}
    shifts = [one.shift_ms for one in counts if one.shift_ms is not None]
    return KindChange(**sums, shift_ms=float(np.median(shifts)) if shifts else None)


def _by_kind(events: pa.Table) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in events.select(["id", "kind", "ts_us", "team", "player", *COMPARED]).to_pylist():
        found.setdefault(row["kind"], []).append(row)
    return found


def _pair(kind: str, recorded: Sequence[Row], now: Sequence[Row]) -> Pairing:
    rule = rule_of(kind)
    before_us, now_us = _times(recorded), _times(now)
    rows, cols = within(before_us, now_us, rule.window_us)
    fields = ("team", "player", "variant") if rule.by_variant else ("team", "player")
    same = np.ones(len(rows), np.bool_)
    for field in fields:
        same &= _column(recorded, field)[rows] == _column(now, field)[cols]
    rows, cols = rows[same], cols[same]
    # Of two at the same distance in time the one that is otherwise the same.
    other = [_altered(recorded[i], now[j]) != [] for i, j in zip(rows.tolist(), cols.tolist(), strict=True)]
    cost = 2 * np.abs(before_us[rows] - now_us[cols]) + np.array(other, np.int64)
    return Pairing(kind, recorded, now, assign((rows, cols), cost, len(recorded), len(now)))


def _rows(match: str, pairing: Pairing) -> Iterator[dict[str, Any]]:
    kind, recorded, now, (left, right) = pairing
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        before, after = recorded[i], now[j]
        altered = _altered(before, after)
        change = "moved" if before["ts_us"] != after["ts_us"] else "altered" if altered else "kept"
        yield _row(match, change, kind, before, after, altered)
    for i in sorted(set(range(len(recorded))) - set(left.tolist())):
        yield _row(match, "gone", kind, recorded[i], None, [])
    for j in sorted(set(range(len(now))) - set(right.tolist())):
        yield _row(match, "new", kind, None, now[j], [])


def _row(
    match: str, change: str, kind: str, before: Row | None, after: Row | None, altered: list[str]
) -> dict[str, Any]:
    one = after or before
    assert one is not None, "a change has a side"
    fields: dict[str, Any] = {"match": match, "change": change, "kind": kind, "team": one["team"]}
    fields |= {"player": one["player"], "altered": altered}
    for side, row in (("recorded", before), ("now", after)):
        fields[f"{side}_us"] = row["ts_us"] if row else None
        fields[f"{side}_variant"] = row["variant"] if row else None
        fields[f"{side}_id"] = row["id"] if row else None
    return fields


def _count(pairing: Pairing, rows: Sequence[dict[str, Any]]) -> KindChange:
    changes = Counter(row["change"] for row in rows)
    shifts = [abs(row["now_us"] - row["recorded_us"]) for row in rows if row["change"] == "moved"]
    return KindChange(
        recorded=len(pairing.recorded),
        now=len(pairing.now),
        kept=changes["kept"] + changes["altered"],
        moved=changes["moved"],
        altered=sum(bool(row["altered"]) for row in rows),
        missing=changes["gone"],
        new=changes["new"],
        shift_ms=float(np.median(shifts)) / 1e3 if shifts else None,
    )


def _altered(before: Row, after: Row) -> list[str]:
    return [name for name in COMPARED if before[name] != after[name]]


def _times(rows: Sequence[Row]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([row["ts_us"] for row in rows], np.int64)


def _column(rows: Sequence[Row], name: str) -> np.ndarray[Any, np.dtype[np.object_]]:
    return np.array([row[name] for row in rows], dtype=object)
