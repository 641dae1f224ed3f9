"""Officials in a match from the command line: given, doubled, wrong; and the same again after a restart."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from app.base.pace import NEVER_US
from app.cli.official import run_official
from app.hub.server import Hub
from app.pipeline.inprocess import InProcessConfig, InProcessHost
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.captured import CaptureSource
from app.sources.interface import OpenBatch
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet, Player
from football.packets import RAW_KINDS, Block, Packet
from football.update_stream import UpdateRecord
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.capture import Capture, CaptureWriter
from replay.event_list import consolidated_events
from replay.formats.officials import FILE, OfficialError, OfficialLine, decode, encode, is_official
from replay.match_store import MatchStore, StoreError, updates_table
from replay.official_feed import JOURNAL, OfficialFeed, replayed
from tests.app.cli.test_main import here, refusal, write_track
from tests.app.host_run import FileCommitter, captured

PIPELINE = "app.pipeline.pipeline:MatchPipeline"
PLAYERS = (Player("home_1", "home"), Player("home_2", "home"), Player("away_1", "away"))
CARD = {"kind": "card", "variant": "yellow", "team": "home", "player": "home_1", "at_s": 2.0, "number": 7}


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def test_decisions_of_a_file_are_events_of_the_match_and_bad_lines_are_named(tmp_path: Path):
    track = write_track(tmp_path / "track.parquet", 8.0)
    written = write(
        tmp_path / "var.jsonl", CARD, CARD, {**CARD, "variant": "red"}, {"kind": "stop", "at_s": 3.0}, "{",
        {"kind": "added_time", "minutes": 4, "at_s": 4.0, "said_s": 7.0}, {"kind": "resume", "at_s": 60.0},
    )  # fmt: skip
    done = here(
        "live", "--source", track, "--engine", "inprocess", "--speed", "max", "--store", tmp_path / "store",
        "--no-dashboard", "--json", "--official", written,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = consolidated_events(tmp_path / "store").to_pylist()
    noted = {row["kind"]: row for row in rows if row["kind"].startswith("official.")}
    assert sorted(noted) == ["official.added_time", "official.card", "official.stop"]
    assert noted["official.card"]["id"] == "official.card#official:var:7"
    assert noted["official.card"]["variant"] == "yellow"
    assert (noted["official.added_time"]["ts_us"], noted["official.stop"]["ts_us"]) == (4_000_000, 3_000_000)
    assert [row["variant"] for row in rows if row["kind"] == "play.dead"] == ["stop"]
    bad = {row["record"]: row["reason"] for row in pq.read_table(tmp_path / "store" / "quarantine").to_pylist()}
    assert bad[f"{written} line 3"] == "number 7 of var was another decision before: a card"
    assert bad[f"{written} line 5"].startswith("not JSON")
    assert bad[f"{written} line 7"].startswith("at_s = 60 is later than the match has come to")
    assert len(bad) == 3
    run_official(tmp_path / "store", {"kind": "foul", "team": "home", "at_s": 5.0})
    after = consolidated_events(tmp_path / "store").to_pylist()
    assert {row["id"] for row in after} - {row["id"] for row in rows} == {"official.foul#official:operator:1"}


def test_what_the_command_refuses_is_said_in_a_line(tmp_path: Path):
    MatchStore.create(tmp_path / "store", MatchSheet(players=PLAYERS), {"settings": {"source": "sim"}})
    store = tmp_path / "store"
    assert "is none of card, foul" in refusal("official", store, "rain", run=here)
    with pytest.raises(OfficialError, match="a card needs player"):
        run_official(store, {"kind": "card", "variant": "red", "team": "home"})
    with pytest.raises(OfficialError, match="is not of team away"):
        run_official(store, {"kind": "foul", "team": "away", "player": "home_1"})
    with pytest.raises(StoreError, match="not a match store"):
        run_official(tmp_path, {"kind": "stop"})
    assert not (store / FILE).exists()
    MatchStore.create(tmp_path / "topic", MatchSheet(), {"settings": {"source": "kafka://h:1/t"}})
    with pytest.raises(OfficialError, match="out of a topic"):
        run_official(tmp_path / "topic", {"kind": "stop"})


def test_the_command_appends_a_line(tmp_path: Path, capsys):
    MatchStore.create(tmp_path / "store", MatchSheet(players=PLAYERS), {"settings": {"source": "sim"}})
    run_official(tmp_path / "store", {"kind": "stop", "variant": "var", "player": "", "at_s": None})
    run_official(tmp_path / "store", {"kind": "goal", "team": "home", "player": "home_2", "at_s": 3.5})
    lines = (tmp_path / "store" / FILE).read_text()
    assert lines == capsys.readouterr().out
    assert [json.loads(line) for line in lines.splitlines()] == [
        {"kind": "stop", "variant": "var"},
        {"kind": "goal", "team": "home", "player": "home_2", "at_s": 3.5},
    ]


@pytest.fixture
def capture(tmp_path: Path) -> Capture:
    """Twelve seconds, 25 blocks a second, of three players who stand and a ball that goes to and fro."""
    with CaptureWriter(tmp_path / "capture", MatchSheet(match_id="m", players=PLAYERS)) as writer:
        writer.extend(Block(t * 40_000 + 1, packets(t)) for t in range(300))
    return Capture.open(tmp_path / "capture")


def packets(t: int) -> tuple[Packet, ...]:
    places = {
        "ball": (abs(t % 100 - 50) / 2.5 - 10.0, 0.0, 0.1),
        "home_1": (-10.0, 0.3, 0.0),
        "home_2": (10.0, 0.3, 0.0),
    }
    places["away_1"] = (0.0, 9.0, 0.0)
    return tuple(Packet(name, t, (t * 40_000,), (x,), (y,), (z,)) for name, (x, y, z) in places.items())


def host(capture: Capture, folder: Path, hub: Hub, **more: object) -> tuple[InProcessHost, FileCommitter]:
    folder.mkdir(exist_ok=True)
    committer = FileCommitter(folder / "commits", capture.begin_us)
    values = {"pipeline": PIPELINE, "settings": PipelineOptions(), "states": folder / "states", "speed": 0.0,
              "window_us": 4_000_000, "officials": (folder,)}  # fmt: skip
    return InProcessHost(capture, InProcessConfig(**{**values, **more}), hub, committer), committer


def plain(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "epoch"} for row in rows]


def test_a_match_that_was_interrupted_says_the_same_and_is_replayed_the_same(capture: Capture, tmp_path: Path):
    """A run ends after a window, lines are written meanwhile, another goes on; then all is played from the journal."""
    folder, sheet = tmp_path / "store", capture.sheet
    folder.mkdir()
    write(folder / FILE, CARD, {"kind": "stop", "at_s": 5.0}, "nonsense")
    with Hub([sheet]) as hub:
        half, _ = host(capture, folder, hub, stop_us=4_000_001)
        half.run(threading.Event())
        with (folder / FILE).open("a") as more:
            more.write('{"kind": "foul", "team": "home"}\n')
        rest, committer = host(capture, folder, hub)
        rest.run(threading.Event())
    pipeline = MatchPipeline(sheet, PipelineOptions())
    for arrival_us, payload in replayed(folder, capture.payloads(0, capture.end_us), 0, capture.end_us):
        pipeline.push(payload, arrival_us)
    pipeline.finish()
    again = pipeline.take_tables()
    assert plain(committer.rows()) == plain(again["updates"].to_pylist())
    assert [row["record"] for row in again["quarantine"].to_pylist()] == [f"{FILE} line 3"]
    kinds = {row["kind"]: row["ts_us"] for row in committer.rows() if row["kind"].startswith("official.")}
    assert kinds == {"official.card": 2_000_000, "official.stop": 5_000_000, "official.foul": 4_000_002}


def test_a_recording_is_folded_up_to_where_officials_may_still_say_something(capture: Capture, tmp_path: Path):
    """Portions of a second: lines that are known hold a promise back, one that comes later is dated by its place."""
    feed = OfficialFeed(tmp_path)
    write(tmp_path / FILE, {**CARD, "at_s": 2.5}, {"kind": "stop", "at_s": 3.0, "said_s": 4.5})
    interleaved = feed.interleaved(capture.payloads(0, capture.end_us), 0, capture.end_us, lambda: False)
    blocks = [next(interleaved) for _ in range(26)]
    assert blocks[-1][0] == 1_000_001
    assert feed.settled(1_000_001, 900_000) == 900_000
    blocks += [next(interleaved) for _ in range(26)]
    assert feed.settled(2_040_001, 2_000_000) == 2_000_000
    more = {"kind": "foul", "team": "home", "at_s": 1.9}
    with (tmp_path / FILE).open("a") as grown:
        grown.write(json.dumps(more) + "\n")
    blocks += interleaved
    assert feed.settled(capture.end_us, 20_000_000) == 20_000_000
    written = {arrival_us: decode(payload) for arrival_us, payload in blocks if is_official(payload)}
    assert sorted((arrival_us, json.loads(line.text)["kind"]) for arrival_us, line in written.items()) == [
        (2_040_002, "foul"), (2_520_002, "card"), (4_520_002, "stop"),
    ]  # fmt: skip
    assert written[2_040_002].settled_us == 2_000_000
    pipeline = MatchPipeline(capture.sheet, PipelineOptions())
    for block in replayed(tmp_path, capture.payloads(0, capture.end_us), 0, capture.end_us):
        pipeline.push(block[1], block[0])
    pipeline.finish()
    dated = {row["kind"]: row["ts_us"] for row in pipeline.take_tables()["updates"].to_pylist()}
    assert dated["official.card"] == 2_500_000
    assert dated["official.foul"] == 1_900_000, "shown under the time of what it is about"
    again = OfficialFeed(tmp_path)
    list(again.interleaved(capture.payloads(0, capture.end_us), 0, capture.end_us, lambda: False))
    assert [again.settled(us, us) for us in (2_040_001, 2_080_002, 4_000_001)] == [2_040_001, 2_080_002, 3_000_000]


def test_a_source_gives_lines_at_their_places_and_the_same_again(capture: Capture, tmp_path: Path):
    write(tmp_path / FILE, CARD, {"kind": "stop", "at_s": 9.0})

    entry = captured(capture, "m", 0.0, officials=(str(tmp_path),))

    def lines(start_us: int, end_us: int) -> list[int]:
        batch = OpenBatch(8_000_000, 20, NEVER_US, tmp_path.joinpath, lambda: False, lambda match: True)
        reader = CaptureSource().reader(batch)
        reader.add(msgspec.structs.replace(entry, begin=start_us, stop=end_us), 1.0)
        blocks = [block for portion in reader.read(0) for block in portion.blocks]
        return [arrival_us for arrival_us, _, payload in blocks if is_official(payload)]

    first, second = (1, 4_000_001), (4_000_001, capture.end_us)
    assert (lines(*first), lines(*second)) == ([2_000_002], [9_000_002])
    with (tmp_path / FILE).open("a") as more:
        more.write('{"kind": "resume"}\n')
    assert (lines(*first), lines(*second)) == ([2_000_002], [9_000_002])
    assert len((tmp_path / JOURNAL).read_text().splitlines()) == 4


def event_of(row: dict) -> dict:
    """Return the event of an update."""
    values = {name: value for name, value in row.items() if name not in ("seq", "diff", "emitted_us", "epoch")}
    return {**values, "detail": json.loads(row["detail"])}


def standing(pipeline: MatchPipeline, blocks: list[tuple[int, bytes]]) -> dict[str, dict]:
    """Return what stands after blocks, by id, without what tells one arrival from another."""
    found: dict[str, dict] = {}
    for arrival_us, payload in blocks:
        pipeline.push(payload, arrival_us)
    pipeline.finish()
    for row in pipeline.take_tables()["updates"].to_pylist():
        record = event_of(row)
        if row["diff"] > 0:
            found[row["id"]] = record
        elif found.get(row["id"]) == record:
            del found[row["id"]]
    return found


def test_a_correction_gives_the_list_that_truth_would_have_given(capture: Capture):
    """Of late blocks, with a correction soon after its event, and after it is final; by the oracle, too."""
    blocks = list(capture.payloads(0, capture.end_us))
    truth = standing(MatchPipeline(capture.sheet, PipelineOptions()), blocks)
    wrong = next(row for row in truth.values() if row["kind"] == "pass.complete")
    right = {
        **wrong, "kind": "pass.intercepted", "player": "away_1", "team": "away", "ts_us": wrong["ts_us"] - 100_000,
        "confidence": 1.0, "detail": {**wrong["detail"], "official": True},
    }  # fmt: skip
    expected = {name: right if name == wrong["id"] else row for name, row in truth.items()}
    line = {
        "kind": "correction", "event": wrong["id"], "right_kind": "pass.intercepted", "team": "away",
        "player": "away_1", "right_s": right["ts_us"] / 1e6,
    }  # fmt: skip
    for seed, entered_us in ((1, wrong["ts_us"] + 700_000), (2, wrong["ts_us"] + 5_000_000)):
        chance = random.Random(seed)
        late = [(at_us + chance.choice((0, 0, 400_000)), payload) for at_us, payload in blocks]
        given = sorted([*late, (entered_us, encode(OfficialLine(FILE, 1, json.dumps(line))))], key=lambda one: one[0])
        found = standing(MatchPipeline(capture.sheet, PipelineOptions()), given)
        statement = found.pop("official.correction#official:operator:1")
        assert (statement["player"], statement["detail"]["event"]) == ("away_1", wrong["id"])
        assert found == expected, f"seed {seed}"
        assert _by_the_oracle(capture.sheet, given) == {**expected, statement["id"]: statement}


def _by_the_oracle(sheet: MatchSheet, given: list[tuple[int, bytes]]) -> dict[str, dict]:
    """Return what the sorted replay gives, with the decision at its place."""
    pipeline = MatchPipeline(sheet, PipelineOptions())
    events, now_us = [], 0
    for at_us, payload in given:
        now_us = pipeline._state.now_us = max(now_us, at_us)
        official = is_official(payload)
        arrivals = pipeline._official_arrivals(payload) if official else pipeline._block_arrivals(payload, at_us)
        events += [one.event for one in arrivals]
    detectors = build_detectors(sheet)
    maker = RecordMaker(detectors, sheet, Hierarchy(RAW_KINDS, detectors).lag_us)
    records = [maker.record(event) for event in published(Hierarchy(RAW_KINDS, detectors), events)]
    rows = updates_table([UpdateRecord(0, 1, 0, record) for record in records], 0).to_pylist()
    return {row["id"]: event_of(row) for row in rows}


def test_a_decision_below_memory_is_known_from_when_it_was_said(capture: Capture):
    pipeline = MatchPipeline(capture.sheet, PipelineOptions())
    for arrival_us, payload in capture.payloads(0, capture.end_us):
        pipeline.push(payload, arrival_us)
        if arrival_us == 8_000_001:
            pipeline.push(encode(OfficialLine(FILE, 1, json.dumps(CARD))), arrival_us)
            pipeline.push(encode(OfficialLine(FILE, 2, json.dumps({**CARD, "at_s": 7.5, "number": 8}))), arrival_us)
    pipeline.finish()
    rows = pipeline.take_tables()["updates"].to_pylist()
    assert [row["ts_us"] for row in rows if row["kind"] == "official.card"] == [2_000_000, 7_500_000]
    assert pipeline.commit_meta()["lost"] == 0
