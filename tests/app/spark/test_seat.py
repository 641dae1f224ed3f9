"""Many matches in one query: source and stage of a seat by themselves, and the whole against each match alone."""

from __future__ import annotations

import errno
import io
import json
import os
import pickle
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql.datasource import InputPartition
from rich.console import Console

from app.hub.client import HubAddress
from app.hub.server import Hub
from app.pipeline.disk_full import is_full
from app.pipeline.framing import unpack
from app.pipeline.seal import StateError
from app.pipeline.state_store import StateStore
from app.run.match_list import ListError, entries_of, read_list, with_names
from app.run.matches import MatchesRun
from app.sources.interface import Entry
from app.spark import stage as spark_stage
from app.spark.results import ClosedWindow, WindowResults
from app.spark.seat import Seat, StageConfig, UncommittedError
from app.spark.source import SeatBatch, SeatReader
from app.spark.stage import run_seat, table_of
from replay.capture import Capture
from replay.event_list import consolidated_events
from replay.match_store import is_store, read_commits, updates_log
from tests.app.cli.test_main import ROOT, here, refusal, touchline
from tests.app.host_run import BLOCKS, PERIOD_US, PIPELINE, captured, write_capture
from tests.app.recordings import optical_table, record
from tests.app.run.test_crash import below, in_proc, role
from tests.waiting import eventually

END_US = (BLOCKS - 1) * PERIOD_US + 1
WINDOW_US = 4_000_000


def seat_of(folder: Path, *entries: Entry) -> Seat:
    seat = Seat(folder / "seat")
    seat.write(list(entries))
    return seat


def entry_of(folder: Path, match: str, begin: int = 0, speed: float = 0.0) -> Entry:
    return msgspec.structs.replace(captured(write_capture(folder / f"capture-{match}"), match, speed), begin=begin)


def reader_of(seat: Seat, window_us: int = WINDOW_US, windows: int = 2, requests_turns: str = "no") -> SeatReader:
    options = {
        "seat": str(seat.folder), "window_us": str(window_us), "windows": str(windows),
        "stop_flag": str(seat.folder / "stop"), "requests_turns": requests_turns,
    }  # fmt: skip
    return SeatReader(options)


def batches(seat: Seat, reader: SeatReader) -> Iterator[tuple[InputPartition, list[dict]]]:
    """Batches until no match goes on, as Spark asks for them; the roster is moved on by what ``rows`` closes."""
    start = reader.initialOffset()
    while (end := reader.latestOffset(start, None)) != start:
        (partition,) = reader.partitions(start, end)
        rows: list[dict] = []
        yield partition, rows
        closed = {row["match"]: row for row in rows if row["closing"] and not row["frames"].rstrip(b"\0")}
        seat.write([moved(entry, closed.get(entry.match)) for entry in seat.entries()])
        for row in rows:
            if row["closing"] and (reason := row["frames"].rstrip(b"\0")):
                seat.exclude(row["match"], reason.decode())
        start = end


def moved(entry: Entry, closing: dict | None) -> Entry:
    if closing is None:
        return entry
    stop_us = closing["end"] if closing["last"] else entry.stop
    return msgspec.structs.replace(entry, begin=closing["end"], stop=stop_us)


def all_rows(seat: Seat, reader: SeatReader) -> list[list[dict]]:
    """The rows of each batch."""
    found = []
    for partition, rows in batches(seat, reader):
        rows += [row for batch in reader.read(partition) for row in batch.to_pylist() if row["frames"]]
        found.append(rows)
    return found


def blocks_of(rows: list[dict], match: str) -> list[tuple[int, bytes]]:
    mine = [row for row in rows if row["match"] == match and not row["closing"]]
    return [(arrival_us, payload) for row in mine for arrival_us, _, payload in unpack(row["frames"])]


def test_a_seat_gives_of_each_match_what_its_capture_holds(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b", begin=9_000_000))
    by_batch = all_rows(seat, reader_of(seat))
    assert len(by_batch) == 2, "two windows of 4 s each in a batch, and 16 s in all"
    rows = [row for batch in by_batch for row in batch]
    for match, begin in (("a", 0), ("b", 9_000_000)):
        capture = Capture.open(tmp_path / f"capture-{match}")
        assert blocks_of(rows, match) == list(capture.payloads(begin, END_US))
        closing = [(row["start"], row["end"], row["last"]) for row in rows if row["match"] == match and row["closing"]]
        assert [last for *_, last in closing] == [False] * (len(closing) - 1) + [True]
        assert [start for start, _, _ in closing[1:]] == [end for _, end, _ in closing[:-1]]
        assert (closing[0][0], closing[-1][1]) == (begin, END_US)


def test_paced_matches_are_merged_by_when_they_are_due(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a", speed=40.0), entry_of(tmp_path, "b", 12_000_000, speed=40.0))
    rows = [row for batch in all_rows(seat, reader_of(seat, window_us=50_000)) for row in batch]
    due = [due_us for row in rows if not row["closing"] for _, due_us, _ in unpack(row["frames"])]
    assert len(due) == BLOCKS + BLOCKS - 1_200
    late = [before - after for before, after in pairwise(due) if after < before]
    assert all(us <= 100_000 for us in late), "a row holds what is due of one match, so rows overlap a little"


def test_paced_matches_close_their_windows_at_different_times_and_their_batch_together(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a", speed=10.0), entry_of(tmp_path, "b", speed=10.0))
    first, *_ = all_rows(seat, reader_of(seat, window_us=400_000, windows=3))
    ends = {match: [row["end"] for row in first if row["match"] == match and row["closing"]] for match in "ab"}
    assert ends["a"][-1] == pytest.approx(9_000_000, abs=1_000_000), "three windows of 4 s, less the lead-in"
    assert ends["a"][-1] == pytest.approx(ends["b"][-1], abs=500_000)
    assert (ends["a"][0], ends["b"][0]) == (2_000_000, 4_000_000), "the first of one is half as long"


def test_who_joins_the_roster_plays_in_the_same_batch(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a", speed=10.0))
    reader = reader_of(seat, window_us=1_500_000, windows=1)
    partition, _ = next(batches(seat, reader))
    rows: list[dict] = []
    for batch in reader.read(partition):
        rows += [row for row in batch.to_pylist() if row["frames"]]
        if len(seat.entries()) == 1:
            seat.write([*seat.entries(), entry_of(tmp_path, "b", speed=10.0)])
    assert {row["match"] for row in rows if row["closing"]} == {"a", "b"}
    assert blocks_of(rows, "b") == list(
        Capture.open(tmp_path / "capture-b").payloads(0, len(blocks_of(rows, "b")) * PERIOD_US)
    )


def test_an_empty_seat_waits_for_a_match_as_long_as_another_seat_plays(tmp_path: Path):
    playing, empty = Seat(tmp_path / "run" / "seat-0"), Seat(tmp_path / "run" / "seat-1")
    playing.write([entry_of(tmp_path, "a", speed=4.0)])
    empty.write([])
    times: dict[str, list[float]] = {"a": [], "b": [], "end": []}

    def read(seat: Seat) -> None:
        reader = reader_of(seat, window_us=1_000_000, windows=20)
        assert reader.latestOffset({"batch": 0}, None) == {"batch": 1}, "it has a batch, too"
        for batch in reader.read(SeatBatch(1)):
            times[batch.column("match")[0].as_py()].append(time.monotonic())
        times["end"].append(time.monotonic())

    readers = [threading.Thread(target=read, args=(seat,)) for seat in (playing, empty)]
    for reader in readers:
        reader.start()
    time.sleep(2.5)
    empty.write([entry_of(tmp_path, "b", begin=END_US - 2_000_000, speed=4.0)])
    for reader in readers:
        reader.join(20)
    assert times["b"], "the new match was played"
    assert times["b"][-1] < times["a"][-1] <= min(times["end"])
    assert max(times["end"]) < times["a"][-1] + 1.0


def test_a_stop_closes_all_windows_where_they_end(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a", speed=1.0), entry_of(tmp_path, "b", speed=1.0))
    (seat.folder / "stop").touch()
    reader = reader_of(seat)
    assert reader.latestOffset(reader.initialOffset(), None) == reader.initialOffset()
    (seat.folder / "stop").unlink()
    partition, _ = next(batches(seat, reader))
    rows: list[dict] = []
    for batch in reader.read(partition):
        rows += [row for row in batch.to_pylist() if row["frames"]]
        (seat.folder / "stop").touch()
    assert sorted((row["match"], row["end"]) for row in rows if row["closing"]) == [("a", 2_000_000), ("b", 4_000_000)]


def test_a_damaged_capture_closes_its_match_with_the_reason_and_no_other(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b"))
    (tmp_path / "capture-b" / "0000001.arrow").write_bytes(b"rubbish")
    (rows,) = all_rows(seat, reader_of(seat, window_us=20_000_000))
    assert blocks_of(rows, "a") == list(Capture.open(tmp_path / "capture-a").payloads(0, END_US))
    (closing,) = [row for row in rows if row["match"] == "b" and row["closing"]]
    assert b"0000001.arrow" in closing["frames"]
    assert not closing["last"]


def test_who_is_out_is_not_read_and_a_batch_for_nobody_is_not_offered(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b"))
    seat.exclude("b", "because")
    assert {row["match"] for batch in all_rows(seat, reader_of(seat)) for row in batch} == {"a"}
    reader = reader_of(seat)
    assert reader.latestOffset(reader.initialOffset(), None) == reader.initialOffset()


def test_a_task_that_is_begun_again_waits_for_its_turn_and_what_its_first_attempt_gave_is_given_up(tmp_path: Path):
    seat, results = seat_of(tmp_path, entry_of(tmp_path, "a")), tmp_path / "results"
    seat.forget_turns()
    outcome: list[str] = []

    def driver() -> None:
        while len(outcome) < 2:
            if turn := seat.requested_turn():
                (results / turn).mkdir(parents=True)
                outcome.append(turn)
                seat.grant(turn)
            threading.Event().wait(0.01)

    granting = threading.Thread(target=driver, daemon=True)
    granting.start()
    seat.request_turn()
    with Hub(sheets("a")) as hub:
        sheet = msgspec.structs.replace(Capture.open(seat.entries()[0].spec["path"]).sheet, match_id="a")
        seat.write_stage("a", StageConfig(sheet, "", PIPELINE, str(tmp_path / "states"), 0))
        rows = reader_of(seat).read(SeatBatch(1))
        assert not list(run_seat(seat, results, hub.address, rows))
    assert [closed.end for closed in WindowResults(results / outcome[0]).ready(lambda *_: True)] == [
        WINDOW_US,
        2 * WINDOW_US,
    ]
    seat.request_turn()
    granting.join(10)
    assert seat.turn() == outcome[1] != outcome[0]
    assert not list(WindowResults(results / outcome[1]).ready(lambda *_: True))


class Moody:
    """A pipeline that fails at a block of one match."""

    def __new__(cls, sheet, settings, epoch):
        from tests.app.fake_pipeline import FakePipeline

        class Failing(FakePipeline):
            def push(self, payload, arrival_us, due_wall_us):
                if arrival_us >= 1_000_000 and sheet.match_id == settings:
                    raise ZeroDivisionError("of this match")
                return super().push(payload, arrival_us, due_wall_us)

        return Failing(sheet, settings, epoch)


def played(tmp_path: Path, seat: Seat, hub: Hub, settings: str = "") -> list[ClosedWindow]:
    """All batches of a seat through its stage; the windows in the order in which they would be committed."""
    for entry in seat.entries():
        sheet = msgspec.structs.replace(Capture.open(entry.spec["path"]).sheet, match_id=entry.match)
        pipeline = f"{__name__}:Moody" if settings else PIPELINE
        states = str(tmp_path / f"states-{entry.match}")
        seat.write_stage(entry.match, StageConfig(sheet, settings, pipeline, states, 0))
    return windows_of(seat, reader_of(seat), WindowResults(tmp_path / "results"), hub.address)


def windows_of(seat: Seat, reader: SeatReader, results: WindowResults, hub: HubAddress) -> list[ClosedWindow]:
    """Play all batches, and return the windows that were closed."""
    shutil.rmtree(results.folder, ignore_errors=True)
    results.folder.mkdir()
    found: list[ClosedWindow] = []
    for partition, rows in batches(seat, reader):

        def noted(partition: InputPartition = partition, rows: list[dict] = rows) -> Iterator[pa.RecordBatch]:
            for batch in reader.read(partition):
                rows += [row for row in batch.to_pylist() if row["frames"]]
                yield batch

        assert not list(run_seat(seat, results.folder, hub, noted()))
        for closed in results.ready(lambda match, *at: StateStore(Path(seat.stage(match).states), match).has(*at)):
            found.append(closed)
            if closed.failed:
                seat.exclude(closed.match, closed.failed)
        assert not list(results.folder.iterdir()), "what will never have a state is left out"
    return found


def updates_in(windows: list[ClosedWindow], match: str) -> list[dict]:
    tables = [table_of(body) for window in windows if window.match == match for body in window.tables.values()]
    return [{**update, "epoch": 0} for table in tables for update in table.to_pylist()]


def sheets(*names: str):
    from football.match_sheet import MatchSheet

    return [MatchSheet(match_id=name) for name in names]


def test_each_match_of_a_seat_gives_what_it_gives_alone(tmp_path: Path):
    with Hub(sheets("a", "b")) as hub:
        alone = played(tmp_path / "alone", seat_of(tmp_path / "alone", entry_of(tmp_path, "a")), hub)
        spark_stage._cached_pipelines.clear()
        seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b"))
        both = played(tmp_path, seat, hub)
        assert hub.feed("b").wait_ended(10)
    assert updates_in(both, "a") == updates_in(alone, "a") == updates_in(both, "b") != []


def test_a_match_whose_engine_fails_disturbs_no_other(tmp_path: Path):
    with Hub(sheets("a", "b")) as hub:
        windows = played(tmp_path, seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b")), hub, "b")
        assert hub.feed("a").wait_ended(10)
        assert not hub.feed("b").ended()
    assert [window.failed for window in windows if window.match == "b"] == ["ZeroDivisionError: of this match"]
    assert max(update["ts_us"] for update in updates_in(windows, "a")) > 15_000_000


def test_a_match_whose_state_cannot_be_stored_is_out_and_its_window_before_that_is_not_lost(tmp_path: Path):
    with Hub(sheets("a", "b")) as hub:
        seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b"))
        (tmp_path / "states-b" / "b" / f"{2 * WINDOW_US}.0.draft").mkdir(parents=True)
        windows = played(tmp_path, seat, hub)
    outcome = [(window.end, bool(window.failed)) for window in windows if window.match == "b"]
    assert outcome == [(WINDOW_US, False), (WINDOW_US, True)]


def test_the_next_batch_is_asked_for_when_the_one_before_is_committed(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"))
    other = Seat(tmp_path / "other")
    other.write([])
    reader = reader_of(seat, requests_turns="yes")
    asking = ThreadPoolExecutor(1).submit(reader.latestOffset, {"batch": 1}, None)
    eventually(lambda: seat.ended_batch() == 1)
    assert not asking.done()
    seat.settle(1, "")
    assert asking.result(5) == {"batch": 2}
    other.settle(1, "")
    assert reader_of(other, requests_turns="yes").latestOffset({"batch": 1}, None) == {"batch": 2}, (
        "no seat waits twice"
    )


def test_a_batch_that_cannot_be_committed_fails_the_query_with_the_reason(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"))
    seat.settle(1, "[Errno 28] No space left on device")
    with pytest.raises(UncommittedError, match="No space left on device") as failed:
        reader_of(seat, requests_turns="yes").latestOffset({"batch": 1}, None)
    assert is_full(failed.value)
    seat.forget_turns()
    assert seat.ended_batch() == 0
    assert reader_of(seat, requests_turns="yes").latestOffset({"batch": 0}, None) == {"batch": 1}, (
        "another query begins anew"
    )


def test_a_task_begins_when_the_processes_are_warm(tmp_path: Path):
    seat = seat_of(tmp_path, entry_of(tmp_path, "a"))
    sending = ThreadPoolExecutor(1).submit(pickle.dumps, reader_of(seat, requests_turns="yes"))
    time.sleep(0.1)
    assert not sending.done()
    seat.permit_tasks()
    assert isinstance(pickle.loads(sending.result(5)), SeatReader)


def test_a_disk_that_is_full_is_nobodys_own_fault(tmp_path: Path, monkeypatch):
    def full(self: WindowResults, closed: ClosedWindow) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(WindowResults, "put", full)
    with Hub(sheets("a")) as hub, pytest.raises(OSError, match="No space left"):
        played(tmp_path, seat_of(tmp_path, entry_of(tmp_path, "a")), hub)


def test_a_full_disk_is_no_matchs_own_fault_and_ends_the_batch_which_is_then_redone(tmp_path: Path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    write = StateStore.write
    with Hub(sheets("a", "b")) as hub, monkeypatch.context() as patch:
        seat = seat_of(tmp_path, entry_of(tmp_path, "a"), entry_of(tmp_path, "b"))
        patch.setattr(StateStore, "write", full)
        with pytest.raises(OSError, match="No space"):
            played(tmp_path, seat, hub)
        patch.setattr(StateStore, "write", write)
        windows = played(tmp_path, seat, hub)
    assert not any(window.failed for window in windows)


def test_what_a_foreign_hand_wrote_is_not_unpickled(tmp_path: Path):
    seat = seat_of(tmp_path)
    (seat.folder / "a.stage").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(StateError, match="not written by us"):
        seat.stage("a")


def test_lists_of_matches(tmp_path: Path):
    outcome = tmp_path / "round.toml"
    outcome.write_text('[[match]]\nsource = "x.parquet"\nseed = 3\n[[match]]\nsource = "sim"\nname = "x"\n')
    entries = read_list(outcome)
    assert entries == [{"source": str(tmp_path / "x.parquet"), "seed": 3}, {"source": "sim", "name": "x"}]
    assert [one["name"] for one in with_names([*entries, {"source": str(tmp_path / "x")}])] == ["x.parquet", "x", "x-2"]
    assert entries_of([str(outcome), "sim"])[2] == {"source": "sim"}
    outcome.write_text('[[match]]\nsource = "sim"\nsped = 3\n')
    with pytest.raises(ListError, match="match 1: no option sped"):
        read_list(outcome)
    assert "cannot be combined with --source" in refusal("live", "--matches", "sim", "--source", "sim", run=here)
    assert "no such file" in refusal("live", "--matches", tmp_path / "absent.toml", "--store", tmp_path / "run")


@pytest.mark.spark
@pytest.mark.slow
def test_matches_begin_and_end_while_others_play_and_say_what_they_say_alone(tmp_path: Path):
    tables = {name: optical_table(tmp_path / f"{name}.parquet", seed, s) for name, seed, s in
              (("a", 1, 30.0), ("b", 2, 12.0), ("c", 3, 12.0), ("bad", 4, 20.0))}  # fmt: skip
    alone = {name: record(tables[name], tmp_path / "alone" / name) for name in "abc"}
    shutil.copytree(record(tables["bad"], tmp_path / "bad") / "capture", tmp_path / "damaged")
    (tmp_path / "damaged" / "0000001.arrow").write_bytes(b"rubbish")
    entries = [{"source": str(tables[name]), "name": name} for name in "ab"]
    entries.append({"source": str(tmp_path / "damaged"), "name": "bad"})
    common = {
        "alpha": "0", "retraction": "on-demand", "dashboard": False, "camera": False, "window_s": 3.0, "speed": "4",
        "seats": 2,
    }  # fmt: skip
    run = MatchesRun(lambda: entries, common, tmp_path / "run", Console(file=io.StringIO()))

    def join() -> None:
        while not is_store(tmp_path / "run" / "a"):
            threading.Event().wait(0.2)
        entries.append({"source": str(tables["c"]), "name": "c"})

    threading.Thread(target=join, daemon=True).start()
    outcome = run.run(threading.Event())
    assert set(outcome["broken"]) == {"bad"}
    assert "0000001.arrow" in outcome["broken"]["bad"]
    for name in "abc":
        assert outcome["matches"][name]["ended"]
        assert consolidated_events(tmp_path / "run" / name).equals(consolidated_events(alone[name])), name


@pytest.mark.spark
@pytest.mark.slow
@in_proc
def test_an_engine_that_is_killed_costs_no_match_of_any_seat_anything(tmp_path: Path):
    tables = {name: optical_table(tmp_path / f"{name}.parquet", seed, 40.0) for name, seed in (("a", 1), ("b", 2))}
    alone = {name: record(tables[name], tmp_path / "alone" / name) for name in "ab"}
    common = {
        "alpha": "0", "retraction": "on-demand", "dashboard": False, "camera": False, "window_s": 1.5, "speed": "4",
        "seats": 2,
    }  # fmt: skip
    entries = [{"source": str(tables[name]), "name": name} for name in "ab"]
    run = MatchesRun(lambda: entries, common, tmp_path / "run", Console(file=io.StringIO()))
    killed: list[int] = []

    def kill() -> None:
        while not all(list((tmp_path / "run" / name).glob("commits/*.json")) for name in "ab"):
            threading.Event().wait(0.1)
        threading.Event().wait(0.7)
        killed.extend(pid for pid in below(os.getpid()) if role(pid) == "engine-0")
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    outcome = run.run(threading.Event())
    killing.join(10)
    assert killed, "no engine was found"
    assert not outcome["broken"]
    epochs = [{commit.meta.epoch for commit in read_commits(tmp_path / "run" / name)} for name in "ab"]
    assert sorted(map(len, epochs)) == [1, 2], f"the match of one seat was redone, and the other played on: {epochs}"
    for name in "ab":
        assert consolidated_events(tmp_path / "run" / name).equals(consolidated_events(alone[name])), name
        numbers = updates_log(tmp_path / "run" / name)["seq"].to_pylist()
        assert numbers == list(range(len(numbers))), f"{name}: an update is missing or there twice"


@pytest.mark.spark
@pytest.mark.slow
def test_python_processes_that_start_too_slowly_for_spark_are_waited_for(tmp_path: Path):
    """Spark gives up on one after ten seconds; on a machine that is busy, what forks them may begin later."""
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "sitecustomize.py").write_text(
        "import sys, time\n"
        "if 'app.spark.fork_server' in sys.orig_argv:\n"
        f"    open({str(tmp_path / 'starts')!r}, 'a').write('x')\n"
        "    time.sleep(25)\n"
    )
    table = optical_table(tmp_path / "a.parquet", 1, 6.0)
    options = ("--speed", "max", "--alpha", "0", "--retraction", "on-demand", "--no-dashboard", "--seats", "2")
    run = ("live", "--matches", table, "--store", tmp_path / "run", "--json")
    outcome = touchline(*run, *options, paths=[slow, ROOT], timeout_s=600)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout)["matches"]["a"]["ended"]
    assert (tmp_path / "starts").stat().st_size == 1, "the server was slow"
    assert consolidated_events(tmp_path / "run" / "a").equals(consolidated_events(record(table, tmp_path / "alone")))


def test_the_page_links_to_all_matches_of_a_run_and_to_nothing_where_there_is_one():
    from dashboard.demo import ScriptedFeed, demo_sheet
    from dashboard.page import build_app

    pages = {"derby": "http://127.0.0.1:8050/", "final": "http://127.0.0.1:8051/"}
    feed = ScriptedFeed(demo_sheet())

    def shown(*links) -> str:
        layout = build_app(feed, *links).server.test_client().get("/_dash-layout").get_json()
        return json.dumps(layout)

    assert all(f'"href": "{url}"' in shown(pages.items) for url in pages.values())
    assert '"matches"' not in shown()
    del pages["final"]
    assert '"matches"' not in shown(pages.items)
