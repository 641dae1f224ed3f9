"""The consolidated event list of a match store, one record an event; and its export."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from football.payloads import Scalar
from football.tables import EVENTS, PAYLOAD
from football.untrusted import decode_json
from football.update_stream import EventRecord
from replay.match_store import (
    StoreError,
    read_commits,
    updates_log,
)

Format = Literal["csv", "json", "parquet"]


#: What makes two assertions of an id the same one.
_COMPARED = (
    "kind",
    "variant",
    "level",
    "ts_us",
    "team",
    "player",
    "x_m",
    "y_m",
    "z_m",
    "confidence",
    "causes",
    "detail",
)


def consolidated_events(path: Path | str, kinds: Sequence[str] = ()) -> pa.Table:
    """Return the events of a match as a table: a row for each event that no update has withdrawn.

    ``state`` is ``confirmed`` for events before the watermark of their kind (all, once the match has ended), else
    ``tentative``. ``detected_us`` is the arrival time at which the event was first asserted and not withdrawn
    since; an amendment (withdrawn and asserted again at one instant) does not change it.

    Args:
        path: of the store.
        kinds: those of the events; empty for all.

    Returns:
        a table of schema ``EVENTS``, sorted by (ts_us, level, kind, id).

    Raises:
        StoreError: not a match store, or damaged.
    """
    log = updates_log(path)
    if kinds:
        log = log.filter(pc.is_in(log["kind"], pa.array(kinds, pa.string())))
    frontier_us, ended = progress(path)
    return standing_events(log, frontier_us, ended=ended)


def standing_events(log: pa.Table, frontier_us: int, *, ended: bool) -> pa.Table:
    """Return the events that stand after an update log, as :func:`consolidated_events` returns them.

    Args:
        log: rows of the ``updates`` table in the order of ``seq``; all updates of the kinds that it has.
        frontier_us: the watermark of the inputs after the log.
        ended: True if the match is over.
    """
    standing = _standing(log)
    rows = log.take(pa.array([row for row, _ in standing], pa.int64()))
    detected = pa.array([detected_us for _, detected_us in standing], pa.int64())
    final = pc.or_(pc.less(pc.add(rows["ts_us"], rows["lag_us"]), frontier_us), pa.scalar(ended))
    state = pc.if_else(final, "confirmed", "tentative")
    table = rows.append_column("detected_us", detected).append_column("state", state)
    order = [("ts_us", "ascending"), ("level", "ascending"), ("kind", "ascending"), ("id", "ascending")]
    return table.select(EVENTS.names).cast(EVENTS).sort_by(order)


def _standing(log: pa.Table) -> list[tuple[int, int]]:
    """Return (row of the latest assertion, arrival time of the first) of every event that stands at the end."""
    ids = log["id"].to_pylist()
    diffs = log["diff"].to_pylist()
    emitted = log["emitted_us"].to_pylist()
    payloads = log.select(_COMPARED).to_pylist()
    held: dict[str, tuple[int, int]] = {}
    withdrawn: dict[str, tuple[int, int]] = {}
    for row, (name, diff, now_us) in enumerate(zip(ids, diffs, emitted, strict=True)):
        if diff > 0:
            if name in held:
                since_us = held[name][1]
            else:
                last_us, first_us = withdrawn.pop(name, (now_us - 1, now_us))
                since_us = first_us if last_us == now_us else now_us
            held[name] = (row, since_us)
        elif name in held and payloads[held[name][0]] == payloads[row]:
            withdrawn[name] = (now_us, held.pop(name)[1])
    return list(held.values())


def progress(path: Path | str) -> tuple[int, bool]:
    """Return (watermark, whether the match has ended) by the commits of a match store.

    Raises:
        StoreError: not a match store, or damaged.
    """
    commits = [commit for commit in read_commits(path) if not commit.series]
    frontier_us = max((commit.meta.frontier_us for commit in commits), default=-(2**62))
    return frontier_us, any(commit.meta.ended for commit in commits)


def event_records(events: pa.Table) -> Iterator[EventRecord]:
    """The rows of a consolidated event list as records."""
    names = [name for name in EventRecord.__struct_fields__ if name != "detail"]
    for batch in events.select([*names, "detail"]).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            detail = decode_json(row.pop("detail"), dict[str, Scalar])
            row["causes"] = tuple(row["causes"])
            yield EventRecord(**row, detail=detail)


def export_events(table: pa.Table, form: Format, out: BinaryIO) -> None:
    """Write a consolidated event list, or an update log.

    Args:
        table: as :func:`consolidated_events` or :func:`replay.match_store.updates_log` give it.
        form: ``csv`` (causes separated by blanks, details as JSON text), ``json`` (one object a line, the
            payload as a nested object) or ``parquet`` (as the table is).
        out: a binary stream.

    Raises:
        StoreError: unknown format.
    """
    if form == "parquet":
        pq.write_table(table, out)
    elif form == "json":
        encoder = msgspec.json.Encoder()
        for record in _records(table):
            out.write(encoder.encode(record) + b"\n")
    elif form == "csv":
        _write_csv(table, out)
    else:
        raise StoreError(f"cannot export as {form!r}: csv, json or parquet")


def _records(table: pa.Table) -> Iterator[dict[str, object]]:
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            payload = {name: row.pop(name) for name in PAYLOAD}
            payload["detail"] = msgspec.Raw(str(payload["detail"]).encode())
            yield {**row, "payload": payload}


def _write_csv(table: pa.Table, out: BinaryIO) -> None:
    lines = _Lines(out)
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            row["causes"] = " ".join(row["causes"])
            writer.writerow(row.values())


class _Lines:
    """The text half of a binary stream: csv writes text, and a wrapper would close the caller's stream."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, text: str) -> int:
        return self._out.write(text.encode())
