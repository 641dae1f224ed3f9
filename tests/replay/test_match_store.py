"""The match store: whole batches or none, the same however often, and readable by everybody."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import duckdb
import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replay.match_store as store_module
from football.match_sheet import MatchSheet, Player
from football.packets import RejectedRecord
from football.tables import CAMERA, EVENTS, HEAD, PAYLOAD, QUARANTINE, UPDATES
from football.update_stream import EventRecord, Follower, UpdateMessage, UpdateRecord
from replay.event_list import (
    consolidated_events,
    export_events,
)
from replay.match_store import (
    MatchStore,
    StoreError,
    quarantine_table,
    read_commits,
    read_run,
    read_sheet_of,
    read_table,
    updates_log,
    updates_table,
)

SHEET = MatchSheet("m1", "Reds", "Blues", players=(Player("home_7", "home", "Ana", 7),))


def event(name: str = "pass.complete#a", ts_us: int = 1_000, **changes: object) -> EventRecord:
    kind, place, detail = name.partition("#")[0], (1.5, -2.0, None), {"length_m": 12.5}
    base = EventRecord(name, kind, "", 7, ts_us, "home", "home_7", *place, 0.9, ("hit#1",), detail)
    return msgspec.structs.replace(base, **changes)


@dataclass
class Author:
    """Writes updates with running numbers."""

    seq: int = 0

    def emit(self, diff: int, record: EventRecord, emitted_us: int = 2_000) -> UpdateRecord:
        self.seq += 1
        return UpdateRecord(self.seq - 1, diff, emitted_us, record)


def table(*updates: UpdateRecord, epoch: int = 0) -> dict[str, pa.Table]:
    return {"updates": updates_table(updates, epoch)}


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    return MatchStore.create(tmp_path / "match", SHEET, {"settings": {"speed": 4}, "fingerprint": "abc"})


def ids(store: MatchStore) -> list[str]:
    return consolidated_events(store.path)["id"].to_pylist()


def test_a_new_store_tells_what_it_is_and_holds_nothing(store: MatchStore) -> None:
    assert read_sheet_of(store.path) == SHEET
    assert read_run(store.path) == {"store": 2, "settings": {"speed": 4}, "fingerprint": "abc"}
    assert consolidated_events(store.path).schema == EVENTS
    assert len(consolidated_events(store.path)) == 0
    assert (store.last_window, read_commits(store.path)) == (-1, [])


def test_updates_come_back_as_they_were_published(store: MatchStore) -> None:
    author = Author()
    first, second = author.emit(1, event()), author.emit(-1, event(), 3_000)
    store.commit(1, table(second, epoch=4), {"frontier_us": 10, "end_offset": 20, "epoch": 4})
    store.commit(0, table(first), {"frontier_us": 5, "end_offset": 10})
    rows = updates_log(store.path).to_pylist()
    assert [(r["seq"], r["diff"], r["emitted_us"], r["epoch"]) for r in rows] == [(0, 1, 2_000, 0), (1, -1, 3_000, 4)]
    assert rows[0]["causes"] == ["hit#1"]
    assert json.loads(rows[0]["detail"]) == {"length_m": 12.5}
    assert (rows[0]["x_m"], rows[0]["z_m"], rows[0]["level"]) == (1.5, None, 7)
    assert updates_log(store.path).schema == UPDATES
    assert store.last_window == 1


def test_committing_a_batch_again_is_committing_it_once(store: MatchStore) -> None:
    batch = table(Author().emit(1, event()))
    meta = {"frontier_us": 5, "end_offset": 10, "throughput": 12.5}
    store.commit(0, batch, meta)
    before = {p: p.read_bytes() for p in store.path.rglob("*") if p.is_file()}
    returned = store.commit(0, batch, meta)
    assert {p: p.read_bytes() for p in store.path.rglob("*") if p.is_file()} == before
    (commit,) = read_commits(store.path)
    assert commit == returned
    assert (commit.meta.frontier_us, commit.notes) == (5, {"throughput": 12.5})


def test_a_redone_batch_replaces_what_it_had_written(store: MatchStore) -> None:
    author = Author()
    store.commit(0, {**table(author.emit(1, event())), "quarantine": quarantine_table([REJECTED])}, {})
    store.commit(0, table(UpdateRecord(0, 1, 2_000, event("shot.off#b"))), {})
    assert ids(store) == ["shot.off#b"]
    assert not list((store.path / "quarantine").iterdir())


REJECTED = RejectedRecord("clip row 3", "ball", -1, None, "no usable time", "(nan,)")


def test_rejected_records_are_kept_with_their_reason(store: MatchStore) -> None:
    store.commit(0, {"quarantine": quarantine_table([REJECTED])}, {})
    kept = read_table(store.path, "quarantine")
    assert kept.schema == QUARANTINE
    assert [RejectedRecord(**row) for row in kept.to_pylist()] == [REJECTED]


@pytest.mark.parametrize("crash_at", ["part-00000001.parquet", "00000001.json"])
def test_a_crash_before_the_manifest_leaves_the_old_view(
    store: MatchStore, monkeypatch: pytest.MonkeyPatch, crash_at: str
) -> None:
    author = Author()
    store.commit(0, table(author.emit(1, event("a#1"))), {"frontier_us": 7})
    second = table(author.emit(1, event("b#2")))
    before = consolidated_events(store.path)
    replace = store_module.os.replace

    def dying(source: Path, target: Path) -> None:
        if Path(target).name == crash_at:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(store_module.os, "replace", dying)
        with pytest.raises(KeyboardInterrupt):
            store.commit(1, second, {"frontier_us": 9, "ended": True})
    assert consolidated_events(store.path) == before
    assert store.last_window == 0
    again = MatchStore.open(store.path)
    assert [p.name for p in (store.path / "updates").iterdir()] == ["part-00000000.parquet"]
    again.commit(1, second, {"frontier_us": 9, "ended": True})
    assert ids(again) == ["a#1", "b#2"]


def test_opening_one_series_leaves_the_unfinished_parts_of_another(store: MatchStore) -> None:
    other = store.path / "camera" / "part-head-00000004.parquet"
    other.write_bytes(b"being written")
    MatchStore.open(store.path)
    assert other.exists()
    MatchStore.open(store.path, series="head")
    assert not other.exists()


def test_a_series_of_its_own_does_not_disturb_the_engines(store: MatchStore) -> None:
    row = dict.fromkeys(CAMERA.names) | {"head": "A", "wall_us": 5, "ts_us": 5, "mode": "follow", "framed": True}
    camera = pa.Table.from_pylist([row], schema=CAMERA)
    store.commit(0, table(Author().emit(1, event())), {"frontier_us": 7})
    store.commit(0, {"camera": camera}, {}, series="head")
    assert len(read_table(store.path, "camera")) == 1
    assert store.last_window == 0
    assert ids(store) == ["pass.complete#a"]


def test_withdrawn_events_are_gone_and_amended_ones_keep_their_first_detection(store: MatchStore) -> None:
    author = Author()
    amended = event("a#1", confidence=0.99)
    store.commit(
        0,
        table(
            author.emit(1, event("a#1"), 100),
            author.emit(1, event("b#1"), 100),
            author.emit(-1, event("b#1"), 200),
            author.emit(-1, event("a#1"), 300),
            author.emit(1, amended, 300),
            author.emit(1, event("c#1"), 100),
            author.emit(-1, event("c#1"), 200),
            author.emit(1, event("c#1"), 500),
        ),
        {},
    )
    rows = consolidated_events(store.path).to_pylist()
    assert [(r["id"], r["confidence"], r["detected_us"]) for r in rows] == [("a#1", 0.99, 100), ("c#1", 0.9, 500)]


def test_an_event_before_the_frontier_is_confirmed_and_at_the_end_all_are(store: MatchStore) -> None:
    author = Author()
    updates = table(
        author.emit(1, event("a#1", 10)), author.emit(1, event("b#1", 20)), author.emit(1, event("c#1", 30))
    )
    store.commit(0, updates, {"frontier_us": 20})
    assert consolidated_events(store.path)["state"].to_pylist() == ["confirmed", "tentative", "tentative"]
    store.commit(1, {}, {"frontier_us": 20, "ended": True})
    assert set(consolidated_events(store.path)["state"].to_pylist()) == {"confirmed"}


def test_events_are_sorted_by_time_level_kind_and_id(store: MatchStore) -> None:
    author = Author()
    records = [event("b#2", 10), event("b#1", 10), event("a#9", 10, level=9), event("z#1", 5), event("a#1", 10)]
    store.commit(0, table(*(author.emit(1, r) for r in records)), {})
    assert ids(store) == ["z#1", "a#1", "b#1", "b#2", "a#9"]


NAMES = st.sampled_from(["a#1", "b#1", "c#1"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NAMES, st.integers(0, 2)), max_size=20), st.integers(1, 5))
def test_the_list_equals_what_a_follower_of_the_fast_lane_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], size: int
) -> None:
    """Each step amends an event, or withdraws it if it stands with that very payload."""
    author, follower, held = Author(), Follower(), {}
    updates: list[UpdateRecord] = []
    for now, (name, version) in enumerate(steps):
        record = event(name, confidence=version / 2)
        old = held.pop(name, None)
        if old is not None:
            updates.append(author.emit(-1, old, now))
        if old != record:
            updates.append(author.emit(1, record, now))
            held[name] = record
    follower.apply(UpdateMessage("m", 0, 0, 0, tuple(updates), 0))
    store = MatchStore.create(tmp_path_factory.mktemp("s") / "m", SHEET, {})
    for batch, begin in enumerate(range(0, len(updates), size)):
        store.commit(batch, table(*updates[begin : begin + size]), {})
    listed = {(r["id"], r["confidence"]) for r in consolidated_events(store.path).to_pylist()}
    assert listed == {(e.id, e.confidence) for e in follower.events.values()}


def test_pandas_and_duckdb_read_the_parts_as_they_lie(store: MatchStore) -> None:
    author = Author()
    for batch in range(3):
        store.commit(batch, table(author.emit(1, event(f"a#{batch}", batch))), {})
    frame = pd.read_parquet(store.path / "updates")
    assert sorted(frame["id"]) == ["a#0", "a#1", "a#2"]
    assert list(frame["causes"].iloc[0]) == ["hit#1"]
    parts = f"read_parquet('{store.path}/updates/*.parquet')"
    query = f"select sum(diff), count(distinct id), min(detail->>'$.length_m') from {parts}"
    found = duckdb.sql(query).fetchall()
    assert found == [(3, 3, "12.5")]


def exported(store: MatchStore, form: str) -> bytes:
    out = io.BytesIO()
    export_events(consolidated_events(store.path), form, out)  # type: ignore[arg-type]
    return out.getvalue()


def test_json_has_one_object_a_line_with_a_nested_payload(store: MatchStore) -> None:
    author = Author()
    store.commit(0, table(author.emit(1, event("a#1")), author.emit(1, event("b#1", 2_000, x_m=None, detail={}))), {})
    first, second = (json.loads(line) for line in exported(store, "json").splitlines())
    assert list(first) == [*HEAD, "payload"]
    assert first["payload"] == {"z_m": None, "lag_us": 0, "causes": ["hit#1"], "detail": {"length_m": 12.5}}
    assert (second["x_m"], second["payload"]["detail"]) == (None, {})


def test_csv_and_parquet_hold_the_same_events(store: MatchStore) -> None:
    store.commit(0, table(Author().emit(1, event("a#1", detail={"note": 'a "quoted", word'}))), {})
    (row,) = csv.DictReader(io.StringIO(exported(store, "csv").decode()))
    assert list(row) == [*HEAD, *PAYLOAD]
    assert (row["id"], row["ts_us"], row["causes"]) == ("a#1", "1000", "hit#1")
    assert json.loads(row["detail"]) == {"note": 'a "quoted", word'}
    assert pq.read_table(io.BytesIO(exported(store, "parquet"))) == consolidated_events(store.path)
    with pytest.raises(StoreError, match="xml"):
        exported(store, "xml")


def test_what_is_no_match_store_is_refused_by_name(tmp_path: Path, store: MatchStore) -> None:
    (tmp_path / "other").mkdir()
    for path, why in ((tmp_path / "other", "it has no run.json"), (tmp_path / "absent", "no such folder")):
        with pytest.raises(StoreError, match=rf"{path.name}: not a match store: {why}"):
            consolidated_events(path)
    (store.path / "run.json").write_text('{"store": 99}')
    with pytest.raises(StoreError, match="version found: 99"):
        MatchStore.open(store.path)
    with pytest.raises(StoreError, match="not empty"):
        MatchStore.create(store.path, SHEET, {})


@pytest.mark.parametrize("damage", ["cut", "gone", "garbage"])
def test_a_damaged_part_is_named(store: MatchStore, damage: str) -> None:
    store.commit(3, table(Author().emit(1, event())), {})
    part = store.path / "updates" / "part-00000003.parquet"
    if damage == "gone":
        part.unlink()
    else:
        part.write_bytes(part.read_bytes()[:-20] if damage == "cut" else b"garbage")
    with pytest.raises(StoreError, match=r"part-00000003\.parquet: damaged part of window 3"):
        consolidated_events(store.path)


def test_a_damaged_manifest_or_sheet_is_named(store: MatchStore) -> None:
    store.commit(0, {}, {})
    (store.path / "commits" / "00000000.json").write_text("{")
    with pytest.raises(StoreError, match=r"00000000\.json: damaged"):
        read_commits(store.path)
    (store.path / "sheet.json").write_text("[]")
    with pytest.raises(StoreError, match=r"sheet\.json: damaged"):
        read_sheet_of(store.path)


def test_a_commit_that_does_not_fit_is_refused_and_leaves_nothing(store: MatchStore) -> None:
    good = table(Author().emit(1, event()))
    for tables, meta, message in (
        ({"weather": good["updates"]}, {}, "no table 'weather'"),
        ({"updates": good["updates"].drop_columns(["seq"])}, {}, "updates does not fit its schema"),
        (good, {"frontier_us": "late"}, "window 0: .*frontier_us"),
    ):
        with pytest.raises(StoreError, match=message):
            store.commit(0, tables, meta)
    with pytest.raises(StoreError, match="cannot be named"):
        store.commit(-1, good, {})
    with pytest.raises(StoreError, match="cannot be named"):
        store.commit(0, good, {}, series="../x")
    assert not list((store.path / "updates").iterdir())
    assert len(updates_log(store.path)) == 0


def test_a_part_that_lost_a_value_is_named(store: MatchStore) -> None:
    store.commit(0, table(Author().emit(1, event())), {})
    (part,) = (store.path / "updates").glob("*.parquet")
    rows = pq.read_table(part)
    pq.write_table(rows.set_column(rows.column_names.index("diff"), "diff", pa.array([None], pa.int8())), part)
    with pytest.raises(StoreError, match="damaged part of window 0: no value in diff"):
        updates_log(store.path)
