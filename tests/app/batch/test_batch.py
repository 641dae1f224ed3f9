"""Recorded matches played again: the same where nothing has changed, with every change listed where something has."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.batch.inputs import BatchError, RecordedMatch, find_recorded, name_matches
from app.batch.play import BatchOptions, finished, play
from app.batch.run import BATCH, Batch, run_batch
from app.pipeline.folder import locked
from football.tables import EVENTS
from replay.event_list import (
    consolidated_events,
)
from replay.match_store import StoreError, read_table
from replay.scoring.changes import KindChange, compare
from tests.app.cli.test_main import ROOT, refusal, touchline
from tests.app.recordings import optical_table, read_from_topic, record


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> Path:
    """Two stores, a store that was interrupted, a tracking file."""
    folder = tmp_path_factory.mktemp("recordings")
    for seed, name in ((1, "one"), (2, "two")):
        record(optical_table(folder / f"{name}.parquet", seed, 20.0), folder / "stores" / name)
    half = folder / "half"
    shutil.copytree(folder / "stores" / "one", half, symlinks=True)
    manifest = half / "commits" / "00000000.json"
    commit = json.loads(manifest.read_text())
    commit["meta"] |= {"end_offset": 10_000_001, "ended": False, "frontier_us": 5_000_000}
    manifest.write_text(json.dumps(commit))
    return folder


def test_nothing_changes_where_nothing_has_changed(recordings: Path, tmp_path: Path):
    store = recordings / "stores" / "one"
    result = play("one", RecordedMatch(str(store), str(store)), BatchOptions(str(tmp_path)))
    assert not result.broken
    assert all(counts.unchanged and counts.agreement == 1 for counts in result.kinds.values())
    before, now = consolidated_events(store), consolidated_events(tmp_path / "one")
    assert now.drop_columns("detected_us").equals(before.drop_columns("detected_us"))
    assert read_table(tmp_path / "one", "positions").equals(read_table(store, "positions"))
    assert pq.read_table(tmp_path / "one" / "changes.parquet").num_rows == 0
    assert finished("one", RecordedMatch(str(store), str(store)), tmp_path) == result


def test_an_interrupted_recording_is_held_against_as_much_as_it_had_played(recordings: Path, tmp_path: Path):
    store = recordings / "half"
    result = play("half", RecordedMatch(str(store), str(store)), BatchOptions(str(tmp_path)))
    assert not result.broken
    assert result.stream_s == pytest.approx(10.0, abs=0.1)
    assert max(consolidated_events(tmp_path / "half")["ts_us"].to_pylist()) <= 10_000_001
    assert all(counts.unchanged for counts in result.kinds.values())
    table = consolidated_events(store)
    compared = [
        ts_us + lag_us < 5_000_000
        for ts_us, lag_us in zip(*(table[name].to_pylist() for name in ("ts_us", "lag_us")), strict=True)
    ]
    assert sum(counts.recorded for counts in result.kinds.values()) == sum(compared) > 0


def test_two_batches_do_not_play_into_one_folder(recordings: Path, tmp_path: Path):
    given = [str(recordings / "stores")]
    with locked(tmp_path), pytest.raises(StoreError, match="another run is using this folder"):
        run_batch(given, BatchOptions(str(tmp_path)))


def test_other_parameters_change_events_and_every_change_is_told(recordings: Path, tmp_path: Path):
    store = recordings / "stores" / "one"
    (tmp_path / "other.toml").write_text("[near]\nenter_m = 0.7\n")
    choices = BatchOptions(str(tmp_path / "out"), parameters=str(tmp_path / "other.toml"), positions=False)
    result = play("one", RecordedMatch(str(store), str(store)), choices)
    assert not result.broken
    near = result.kinds["near"]
    assert not near.unchanged
    changes = pq.read_table(tmp_path / "out" / "one" / "changes.parquet").to_pylist()
    for kind, counts in result.kinds.items():
        mine = [row["change"] for row in changes if row["kind"] == kind]
        assert (mine.count("gone"), mine.count("new"), mine.count("moved")) == (
            counts.missing,
            counts.new,
            counts.moved,
        )
        assert counts.recorded == counts.kept + counts.moved + counts.missing
        assert counts.now == counts.kept + counts.moved + counts.new
    assert read_table(tmp_path / "out" / "one", "positions").num_rows == 0


def test_a_match_that_came_out_of_a_topic_is_broken_with_its_reason(recordings: Path, tmp_path: Path):
    store = tmp_path / "topic"
    shutil.copytree(recordings / "stores" / "one", store, symlinks=True)
    read_from_topic(store)
    result = play("topic", RecordedMatch(str(store), str(store)), BatchOptions(str(tmp_path / "out")))
    assert "topic" in result.broken
    assert not (tmp_path / "out" / "topic").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_a_batch_skips_what_is_finished_and_a_broken_one_disturbs_no_other(recordings: Path, tmp_path: Path):
    damaged = tmp_path / "damaged"
    shutil.copytree(recordings / "stores" / "two", damaged)
    for part in (damaged / "updates").glob("*.parquet"):
        part.write_bytes(b"rubbish")
    out = tmp_path / "out"
    arguments = ("batch", recordings / "stores", recordings / "one.parquet", damaged, "--out", out, "--json")
    first = touchline(*arguments)
    assert first.returncode == 1, first.stdout + first.stderr
    report = json.loads(first.stdout)
    assert set(report["broken"]) == {"damaged"}
    assert "part-00000000.parquet" in report["broken"]["damaged"]
    assert sorted(p.name for p in out.iterdir() if p.is_dir() and p.name[0] != ".") == ["one", "one-2", "two"]
    assert all(counts["agreement"] == 1 for counts in report["kinds"].values())
    assert len(touchline("events", out / "two").stdout.splitlines()) == 1 + len(consolidated_events(out / "two"))
    written = {path: path.stat().st_mtime_ns for path in out.glob("*/batch.json")}
    shutil.rmtree(damaged)
    shutil.copytree(recordings / "stores" / "two", damaged)
    second = touchline(*arguments)
    assert second.returncode == 0, second.stdout + second.stderr
    assert json.loads(second.stdout)["skipped"] == 3
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert "other options" in refusal(*arguments[:-1], "--no-positions")


@pytest.mark.spark
@pytest.mark.slow
def test_a_batch_that_is_killed_in_the_middle_goes_on_with_what_is_missing(recordings: Path, tmp_path: Path):
    record(optical_table(tmp_path / "three.parquet", 3, 30.0), tmp_path / "three")
    out = tmp_path / "out"
    batch = ("batch", recordings / "stores", tmp_path / "three", "--out", out, "--jobs", "1", "--json")
    command = [sys.executable, "-m", "app.cli.main", *map(str, batch)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until_s = time.monotonic() + 400
    while not (list(out.glob("*/batch.json")) and list(out.glob(".playing/*/run.json"))):
        assert running.poll() is None, "it was over before it could be killed"
        assert time.monotonic() < until_s
        time.sleep(0.02)
    running.kill()
    running.wait()
    finished_by_then = {path.parent.name: path.stat().st_mtime_ns for path in out.glob("*/batch.json")}
    done = touchline(*batch, timeout_s=600)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["matches"], report["skipped"]) == (3, len(finished_by_then))
    assert 0 < len(finished_by_then) < 3
    assert all(counts["agreement"] == 1 for counts in report["kinds"].values())
    assert all((out / name / "batch.json").stat().st_mtime_ns == ns for name, ns in finished_by_then.items())
    for name, store in (("one", recordings / "stores" / "one"), ("three", tmp_path / "three")):
        again = consolidated_events(out / name).drop_columns("detected_us")
        assert again.equals(consolidated_events(store).drop_columns("detected_us"))
    assert not (out / ".playing").exists()


def test_a_folder_of_something_else_is_left_alone(recordings: Path, tmp_path: Path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BatchError, match="neither empty"):
        run_batch([str(recordings / "stores")], BatchOptions(str(tmp_path)))
    with pytest.raises(BatchError, match="no such file"):
        run_batch([str(tmp_path / "absent")], BatchOptions(str(tmp_path / "out")))
    with pytest.raises(BatchError, match="onto itself"):
        run_batch([str(recordings / "stores")], BatchOptions(str(recordings / "stores")), anew=True)


@pytest.mark.parametrize("name", ["..", "../other", "a/b", "", ".playing"])
def test_a_folder_that_names_a_result_elsewhere_is_refused_before_anything_is_deleted(tmp_path: Path, name: str):
    source, out, kept = tmp_path / "match.parquet", tmp_path / "out", tmp_path / "kept"
    source.touch()
    kept.touch()
    out.mkdir()
    batch = Batch(BatchOptions(""), "", {str(source): name})
    (out / BATCH).write_bytes(msgspec.json.encode(batch))
    with pytest.raises(BatchError, match="is no name of a folder"):
        run_batch([str(source)], BatchOptions(str(out)), anew=True)
    assert kept.exists()
    assert source.exists()


def test_a_name_that_no_folder_may_have_is_replaced(tmp_path: Path):
    matches = [RecordedMatch(str(tmp_path / name)) for name in ("a\nb", "x" * 199, "cup final")]
    assert list(name_matches(matches, {})) == ["match", "match-2", "cup final"]


def test_inputs_are_stores_captures_files_and_folders_of_them(recordings: Path):
    stores = [
        RecordedMatch(str(recordings / "stores" / name), str(recordings / "stores" / name)) for name in ("one", "two")
    ]
    capture = RecordedMatch(str(recordings / "stores" / "one" / "capture"))
    table = RecordedMatch(str(recordings / "one.parquet"))
    assert find_recorded([str(recordings / "stores")]) == stores
    assert find_recorded([capture.source, table.source, table.source]) == [capture, table]
    assert name_matches([stores[0], table], {}) == {"one": stores[0], "one-2": table}
    assert name_matches([table], {table.source: "kept"}) == {"kept": table}


def test_a_result_is_not_taken_for_that_of_another_input(recordings: Path, tmp_path: Path):
    table = shutil.copy(recordings / "one.parquet", tmp_path / "one.parquet")
    result = play("one", RecordedMatch(str(table)), BatchOptions(str(tmp_path / "out")))
    assert not result.broken
    assert finished("one", RecordedMatch(str(table)), tmp_path / "out") == result
    shutil.copy(recordings / "two.parquet", table)
    assert finished("one", RecordedMatch(str(table)), tmp_path / "out") is None


def events_of(rows: list[tuple[int, str]]):
    """(time, player) of hits as a consolidated list."""
    import pyarrow as pa

    filled = [
        {"id": f"hit#{i}", "kind": "hit", "variant": "", "level": 5, "ts_us": ts_us, "team": "home", "player": player,
         "x_m": 0.0, "y_m": 0.0, "state": "confirmed", "confidence": 1.0, "detected_us": ts_us, "z_m": 0.0,
         "causes": [], "detail": "{}"}
        for i, (ts_us, player) in enumerate(rows)
    ]  # fmt: skip
    return pa.Table.from_pylist(filled, schema=EVENTS)


def test_a_pair_moves_within_its_window_and_parts_beyond_it():
    before = events_of([(0, "a"), (1_000_000, "a"), (2_000_000, "b")])
    now = events_of([(0, "a"), (1_150_000, "a"), (2_000_000, "a"), (3_000_000, "a")])
    counts, changes = compare("m", before, now)
    assert counts["hit"] == KindChange(recorded=3, now=4, kept=1, moved=1, missing=1, new=2, shift_ms=150.0)
    assert counts["hit"].agreement == 4 / 7
    listed = [(row["change"], row["recorded_us"], row["now_us"]) for row in changes.to_pylist()]
    assert sorted(listed, key=str) == sorted(
        [
            ("moved", 1_000_000, 1_150_000),
            ("gone", 2_000_000, None),
            ("new", None, 2_000_000),
            ("new", None, 3_000_000),
        ],
        key=str,
    )


hits = st.lists(st.tuples(st.integers(0, 20).map(lambda t: t * 60_000), st.sampled_from("ab")), max_size=12)


@given(hits, hits)
def test_counts_add_up_and_swapping_sides_swaps_gone_and_new(before: list, now: list):
    one, changes = compare("m", events_of(before), events_of(now))
    other, _ = compare("m", events_of(now), events_of(before))
    hit, back = one.get("hit", KindChange()), other.get("hit", KindChange())
    assert (hit.missing, hit.new, hit.kept + hit.moved) == (back.new, back.missing, back.kept + back.moved)
    assert hit.recorded == hit.kept + hit.moved + hit.missing == len(before)
    assert len(changes) == hit.moved + hit.missing + hit.new
    if sorted(before) == sorted(now):
        assert hit.unchanged
