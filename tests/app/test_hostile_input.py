"""Hostile records, files and stores: each is refused with its reason, and the match goes on, also from its store."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.history.layout import open_archive
from app.kafka import records, updates
from app.kafka.address import parse
from app.kafka.dead_letters import decode_dead_letter, read_mark
from app.kafka.updates import WriterFence
from app.pipeline.framing import pack, unpack
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.pipeline.state_store import StateError, StateStore
from app.run.match_list import ListError, read_list
from app.sources.topic import TOPIC, TopicSource
from app.sources.topic_records import RecordDecoder
from football.errors import CaptureError, TrackingError, UserError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay import wire
from replay.capture import Capture, CaptureWriter
from replay.formats.match_sheets import read_sheet
from replay.formats.officials import PREFIX, OfficialError, OfficialLine
from replay.formats.officials import parse as parse_line
from replay.formats.tracking import read_tracking
from replay.match_store import MatchStore, StoreError, read_commits, read_run, read_sheet_of, read_table, updates_table
from replay.official_feed import JOURNAL, replayed
from tests.fuzz.test_fuzz_files import EVENT, UpdateRecord

ADDRESS = parse("kafka://broker/positions")
#: Deeper than the interpreter's limit of 1,000 calls.
DEEP = b"[" * 1_010 + b"]" * 1_010
DEEP_FIELD = b', "x": ' + DEEP + b"}"
DEEP_ARRAY = b"\x91" * 1_010 + b"\x00"

END = msgspec.json.encode(records.End(80))[:-1] + DEEP_FIELD
SHEET = msgspec.json.encode(records.Sheet(MatchSheet("final"), 0, 0))[:-1] + DEEP_FIELD
#: Wire version 1: a packet of eight elements, though it has seven.
BLOCK = bytes([wire.VERSION, 0x92, 0x28, 0x91, 0x98, 0xA1]) + b"a\x00\x90\x90\x90\x90\x00" + DEEP_ARRAY


def record(value: bytes, kind: str, offset: int, timestamp: int = 5) -> SimpleNamespace:
    head = records.headers(kind)
    return SimpleNamespace(value=value, headers=head, key=b"final", offset=offset, timestamp=timestamp)


def good(number: int) -> bytes:
    packet = Packet("ball", number, (40_000 * number,), (1.0,), (2.0,), (0.1,))
    return wire.encode(Block(40_000 * (number + 1), (packet,)))


@pytest.mark.parametrize(("kind", "value"), [("end", END), ("sheet", SHEET), ("block", BLOCK)])
def test_a_record_that_nests_deep_is_quarantined_and_the_match_goes_on_also_after_a_restart(kind: str, value: bytes):
    def play(topic: list[SimpleNamespace], pipeline: MatchPipeline) -> None:
        taker = RecordDecoder("final", ADDRESS, 0)
        for one in topic:
            if (block := taker.take(one)) is not None:
                for arrival_us, _, payload in unpack(pack(*block)):
                    pipeline.push(payload, arrival_us)

    topic = [record(good(n), "block", n) for n in range(6)]
    topic[3] = record(value, kind, 3)
    first = MatchPipeline(MatchSheet("final"), PipelineOptions(alpha=0.0))
    play(topic[:2], first)
    first.take_tables()
    stored = first.snapshot()
    for _ in range(2):  # from the store, twice
        pipeline = MatchPipeline(MatchSheet("final"), PipelineOptions(alpha=0.0))
        pipeline.restore(stored)
        play(topic[2:], pipeline)
        (rejected,) = pipeline.take_tables()["quarantine"].to_pylist()
        assert "nested more than 64 deep" in rejected["reason"]
        assert len(rejected["raw"]) <= 120
        assert pipeline._state.packets == 5


def test_updates_dead_letters_marks_and_lines_that_nest_deep_are_none(tmp_path: Path):
    update = msgspec.json.encode(updates.TopicUpdate("m", 0, 1, 5, EVENT))[:-1] + DEEP_FIELD
    with pytest.raises(ValueError, match="not an update: nested"):
        updates.decode(update)
    fence = WriterFence()
    assert not fence.admits(updates.BEGIN, "a", b'{"match":"m","session":"a","after":""' + DEEP_FIELD)
    assert fence.session == ""
    assert decode_dead_letter(b'{"match":"m"' + DEEP_FIELD) is None
    (tmp_path / "rejected.json").write_bytes(DEEP)
    assert read_mark(tmp_path) is None
    with pytest.raises(OfficialError, match="nested"):
        parse_line('{"kind":"stop"' + DEEP_FIELD.decode())
    pipeline = MatchPipeline(MatchSheet("m"))
    pipeline.push(bytes([PREFIX, 0x95]) + b"\xa1a\x01\xa1b\x00" + DEEP_ARRAY, 1_000)
    assert "not a line of officials" in pipeline.take_tables()["quarantine"].to_pylist()[0]["reason"]
    (tmp_path / JOURNAL).write_bytes(b'{"arrival_us": 5' + DEEP_FIELD + b"\n")
    assert list(replayed(tmp_path, iter([]), 0, 10)) == []


def test_a_record_may_have_any_timestamp():
    for timestamp in (2**63 - 1, 2**62, -(2**63)):
        block = RecordDecoder("final", ADDRESS, 0).take(record(good(0), "block", 0, timestamp))
        assert list(unpack(pack(*block))) == [(40_000, 0, good(0))]


@pytest.mark.parametrize("slot_us", [-1, 2**53 + 1, 10**400])
def test_a_sheet_of_a_topic_has_an_interval_that_windows_can_be_computed_from(slot_us: int):
    value = f'{{"sheet": {{}}, "slot_us": {slot_us}, "arrival_us": 0}}'.encode()
    with pytest.raises(records.RecordError, match="not a record of kind sheet"):
        records.read(value, records.headers("sheet"))


COLUMNS = {"object_id": pa.string(), "team": pa.string(), "t_ms": pa.float64(), "x": pa.float64(), "y": pa.float64(),
           "z": pa.float64()}  # fmt: skip


def table(rows: int = 4, **changed: pa.Array) -> pa.Table:
    """A table of the ball, with some columns changed."""
    columns = {name: pa.array(["ball"] * rows if kind == pa.string() else np.arange(rows) * 40.0, kind)
               for name, kind in COLUMNS.items()}  # fmt: skip
    return pa.table({**columns, **changed})


def repeated(value: object, times: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, np.int32)), pa.array([value]))


BOMBS = {
    "rows": lambda: pa.table({"object_id": repeated("ball", 20_000_001), "t_ms": repeated(0.0, 20_000_001)}),
    "text": lambda: table(300_000, object_id=repeated("x" * 1_000_000, 300_000)),
}  # fmt: skip


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_parquet_bomb_is_refused_by_its_sizes_in_little_memory(tmp_path: Path, bomb: str):
    file = tmp_path / "bomb.parquet"
    pq.write_table(BOMBS[bomb](), file, compression="zstd", store_schema=False, row_group_size=1 << 26)
    assert file.stat().st_size < 3_000_000
    program = (
        "import resource, sys\nfrom football.errors import TrackingError\n"
        "from replay.formats.tracking import read_tracking\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_tracking(sys.argv[1])\nexcept TrackingError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, file], capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30)),
    )  # fmt: skip
    reason, kilobytes = done.stdout.splitlines()
    assert "rows; at most" in reason or "too many for the size of its file" in reason
    assert "truncated" not in reason
    assert int(kilobytes) < 600_000


def test_one_hostile_row_of_a_table_does_not_block_the_file(tmp_path: Path):
    file = tmp_path / "match.parquet"
    ids = ["ball", "ball", "home_" + "9" * 5_000, "x" * 400, "home_7\x1b[2J", "ball"]
    times = pa.array([0, 40, 40, 40, 40, 2**62 + 1], pa.int64())
    pq.write_table(table(6, object_id=pa.array(ids), t_ms=times), file)
    recording = read_tracking(str(file))
    assert [(track.transmitter, len(track)) for track in recording.tracks] == [("ball", 2)]
    assert [(one.record, one.reason) for one in recording.rejected] == [
        *((f"match.parquet row {row}", "no usable object id") for row in (2, 3, 4)),
        ("match.parquet row 5", "no usable time"),
    ]
    assert max(len(one.transmitter) for one in recording.rejected) <= 100


def test_a_table_of_nothing_but_bad_rows_or_of_a_million_objects_is_refused_shortly(tmp_path: Path):
    file, count = tmp_path / "match.parquet", 100_000
    ids = pa.array([f"p{n}" for n in range(count)])
    pq.write_table(table(count, object_id=ids), file)
    with pytest.raises(TrackingError, match=r"match.parquet: 100000 objects; at most 50000"):
        read_tracking(str(file))
    at_once = table(1_000, object_id=pa.array(["ball", *(f"p{n}" for n in range(999))]), t_ms=pa.array([0.0] * 1_000))
    pq.write_table(at_once, file)
    with pytest.raises(TrackingError, match=r"match.parquet: more than 200 players of a team at once"):
        read_tracking(str(file))
    pq.write_table(table(count, t_ms=pa.array([0.0] + [np.nan] * (count - 1))), file)
    rejected = read_tracking(str(file)).rejected
    assert len(rejected) == 20_001
    assert rejected[-1].reason == f"{count - 20_001} more cannot be used"


HOSTILE_SHEETS = {
    "depth": b'{"x": ' + DEEP + b"}",
    "digits": b'{"players": [{"object_id": "home_' + b"9" * 5_000 + b'"}]}',
    "number": b'{"match": {"source_match_id": ' + b"9" * 5_000 + b"}}",
    "long id": b'{"match": {"source_match_id": "' + b"m" * 400 + b'"}}',
    "dots": b'{"match": {"source_match_id": ".."}}',
    "shirt": b'{"players": [{"object_id": "a", "shirt": 4611686018427387904}]}',
    "million": b'{"players": [' + b",".join([b'{"object_id":"a"}'] * 1_000_000) + b"]}",
    "crowd": b'{"players": [' + b",".join([b'{"object_id":"a"}'] * 201) + b"]}",
    "escape": b'{"teams": {"home": "\\u001b[2J"}}',
    "encoding": b'{"teams": {"home": "\xff"}}',
}


@pytest.mark.parametrize("which", HOSTILE_SHEETS)
def test_a_hostile_sheet_of_a_file_is_refused_with_its_reason(tmp_path: Path, which: str):
    (tmp_path / "metadata.json").write_bytes(HOSTILE_SHEETS[which])
    with pytest.raises(TrackingError, match=r"metadata\.json: not a usable match sheet: .{5}") as error:
        read_sheet(tmp_path / "metadata.json")
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize("match", ["..", ".", "", "a\nb", "x" * 201])
def test_no_sheet_makes_states_or_matches_outside_their_folder(tmp_path: Path, match: str):
    with pytest.raises(StateError, match="cannot be the name of a folder"):
        StateStore(tmp_path / "states", match)
    assert not list(tmp_path.iterdir())
    batch = tmp_path / "matches.toml"
    batch.write_text(f"[[match]]\nsource = 'sim'\nname = {json.dumps(match)}\n")
    with pytest.raises(ListError, match=r"match 1: name = .* is no name of a folder"):
        read_list(batch)
    store = MatchStore.create(tmp_path / "store", MatchSheet("m"), {})
    sheet = json.loads((store.path / "sheet.json").read_text()) | {"match_id": match}
    (store.path / "sheet.json").write_text(json.dumps(sheet))
    with pytest.raises(StoreError, match=r"sheet.json: damaged: the id of the match"):
        MatchStore.open(store.path)
    (tmp_path / TOPIC).write_text(json.dumps({"match": match, "partition": 0, "offset": 0, "sheet": {"sheet": sheet}}))
    with pytest.raises(StoreError, match=TOPIC):
        TopicSource().load("kafka://broker/topic", tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of one event, next to a table that is none of its own."""
    rows = updates_table([UpdateRecord(0, 1, 5, EVENT)], 0)
    MatchStore.create(tmp_path / "store", MatchSheet("m"), {}).commit(0, {"updates": rows}, {})
    pq.write_table(rows, tmp_path / "secret.parquet")
    assert read_table(tmp_path / "store", "updates").num_rows == 1
    return tmp_path / "store"


READS = [read_commits, lambda path: read_table(path, "updates"), MatchStore.open, lambda path: open_archive([path])]


@pytest.mark.parametrize("part", ["../secret.parquet", "updates/../../secret.parquet", "/etc/passwd", "updates/x", ""])
def test_a_manifest_names_parts_of_its_own_batch_only(store: Path, part: str):
    manifest = store / "commits" / "00000000.json"
    content = json.loads(manifest.read_text())
    content["parts"]["updates"] = part.replace("/secret", f"{store.parent}/secret") if part.startswith("/s") else part
    manifest.write_text(json.dumps(content))
    for read in READS:
        with pytest.raises(StoreError, match=r"00000000\.json: damaged: it names another window, or other parts"):
            read(store)


@pytest.mark.parametrize("changed", [{"batch": 1}, {"batch": -1}, {"batch": 2**70}, {"series": "../x"}, {"series": "A"},
                                     {"parts": {"unknown": "x"}}, {"meta": {"end_offset": 2**63}}])  # fmt: skip
def test_a_manifest_is_that_of_its_own_name(store: Path, changed: dict):
    manifest = store / "commits" / "00000000.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | changed))
    with pytest.raises(StoreError, match=r"00000000\.json: damaged"):
        read_commits(store)


def test_no_link_leads_out_of_a_store(store: Path):
    (store / "updates" / "part-00000000.parquet").unlink()
    (store / "updates" / "part-00000000.parquet").symlink_to(store.parent / "secret.parquet")
    for read in READS[1], READS[3]:
        with pytest.raises(StoreError, match="leads out of the folder"):
            read(store)
    for name, read in (("commits/00000000.json", read_commits), ("sheet.json", read_sheet_of), ("run.json", read_run)):
        moved = store.parent / "moved.json"
        (store / name).rename(moved)
        (store / name).symlink_to(moved)
        with pytest.raises(StoreError, match="leads out of the folder"):
            read(store)
        (store / name).unlink()
        moved.rename(store / name)


@pytest.mark.parametrize("name", ["run.json", "sheet.json", "commits/00000000.json"])
def test_documents_of_a_store_that_nest_deep_or_are_large_are_damage(store: Path, name: str):
    for content in (b'{"x": ' + DEEP + b"}", b" " * (2 << 20)):
        (store / name).write_bytes(content)
        with pytest.raises(StoreError, match=r"nested|larger"):
            MatchStore.open(store)


def test_a_detail_that_nests_deep_is_damage(store: Path):
    from replay.match_store import committed_updates

    part = store / "updates" / "part-00000000.parquet"
    rows = pq.read_table(part)
    at = rows.column_names.index("detail")
    pq.write_table(rows.set_column(at, "detail", pa.array([f'{{"x": {DEEP.decode()}}}'])), part)
    with pytest.raises(UserError):
        list(committed_updates(store))


@pytest.mark.parametrize("changed", [{"segment_us": 0}, {"segment_us": -5}, {"slot_us": -1}, {"begin_us": 2**62}])
def test_a_capture_states_numbers_that_time_can_be_computed_from(tmp_path: Path, changed: dict):
    with CaptureWriter(tmp_path, MatchSheet("m")) as writer:
        writer.extend([Block(7, (Packet("ball", 0, (5,), (0.0,), (0.0,), (0.0,)),))])
    head = tmp_path / "head.json"
    head.write_text(json.dumps(json.loads(head.read_text()) | changed))
    with pytest.raises(CaptureError, match=r"head\.json"):
        Capture.open(tmp_path)


def test_names_of_transmitters_in_the_stream_are_short_and_without_control_characters():
    pipeline = MatchPipeline(MatchSheet("m"), PipelineOptions(alpha=0.0))
    names = ["x" * 101, "ball_" + "x" * 500_000, "home_7\x1b[2J", "referee\n", "home_7"]
    packets = tuple(Packet(name, 0, (5,), (0.0,), (0.0,), (0.0,)) for name in names)
    pipeline.push(wire.encode(Block(10, packets)), 10)
    rejected = pipeline.take_tables()["quarantine"].to_pylist()
    assert [row["reason"].split(" that")[0] for row in rejected] == ["name of a transmitter"] * 4
    assert max(len(row["transmitter"]) for row in rejected) == 100


def test_an_official_line_is_a_line():
    with pytest.raises(OfficialError, match="longer than"):
        parse_line(OfficialLine("f", 1, "x" * 4_001).text)
