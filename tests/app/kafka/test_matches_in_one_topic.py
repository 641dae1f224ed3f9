"""Several matches in one topic: who is found in it, who takes which record, and one query over all of them."""

from __future__ import annotations

import io
import json
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka import KafkaProducer
from rich.console import Console

from app.base.pace import NEVER_US
from app.cli.publish import publish as publish_command
from app.hub.server import Hub
from app.kafka import records
from app.kafka.address import KafkaError, parse
from app.kafka.publish import publish
from app.kafka.topic_location import TopicSpec
from app.run.matches import MatchesRun
from app.settings.model import SettingsError
from app.sources.interface import Entry, SourceRow
from app.sources.topic import TopicInput
from app.sources.topic_demux import TopicDemultiplexer
from app.sources.topic_discovery import TopicDiscovery
from app.sources.topic_records import TopicRecords
from app.spark.results import WindowResults
from app.spark.seat import Seat, StageConfig
from football.match_sheet import MatchSheet, Quality
from football.packets import Block, Packet
from replay import wire
from replay.capture import Capture
from replay.event_list import consolidated_events
from tests.app.cli.test_main import touchline
from tests.app.host_run import PIPELINE, captured, write_capture
from tests.app.kafka.test_topics import capture
from tests.app.recordings import optical_table, record
from tests.app.spark.test_seat import reader_of, updates_in, windows_of

TOPIC = "kafka://broker/round"


def block(arrival_us: int) -> bytes:
    return wire.encode_compact(Block(arrival_us, (Packet("ball", 0, (arrival_us,), (0.0,), (0.0,), (0.11,), 0.9),)))


def of(match: str | None, offset: int, value: bytes | None = None, kind: str = "block", partition: int = 0):
    key = None if match is None else match.encode()
    payload = block(offset * 1_000) if value is None else value
    return SimpleNamespace(
        key=key, offset=offset, value=payload, headers=records.headers(kind), partition=partition, timestamp=5
    )


def end_of(match: str, offset: int):
    return of(match, offset, msgspec.json.encode(records.End(0)), "end")


def entry(match: str, begin: int = 0, window_records: int = 1_000, window_s: float = 60.0) -> Entry:
    spec = TopicSpec(f"{TOPIC}?match={match}", match, 0, window_records, window_s)
    return Entry(f"the {match}", TopicInput.kind, msgspec.structs.asdict(spec), begin, 1.0, NEVER_US)


class FakeReader:
    """Gives what stands in a list, some records at a time, as the broker would."""

    def __init__(self, arrivals: list, at_a_time: int = 3, first: int = 0) -> None:
        self._arrivals, self._at_a_time, self._first, self._at = arrivals, at_a_time, first, 0

    def first(self, partition: int, position: int) -> int:
        return self._first

    def is_read(self) -> bool:
        return all(one.offset < self._at for one in self._arrivals)

    def raises(self, wait_ms: float) -> list:
        raise KafkaError("no answer")

    def seek(self, starts: dict[int, int]) -> None:
        self._at = starts[0]

    def read(self, wait_ms: float) -> list:
        given = [one for one in self._arrivals if one.offset >= self._at][: self._at_a_time]
        self._at = given[-1].offset + 1 if given else self._at
        return given


def heard(
    monkeypatch: pytest.MonkeyPatch, reader: FakeReader, *entries: Entry, stopped=lambda: False, windows: int = 1
) -> list[SourceRow]:
    """Rows of so many windows of each match, or until the stop."""
    monkeypatch.setattr(TopicRecords, "of", lambda address: reader)
    closed: Counter[str] = Counter()

    def goes_on(match: str) -> bool:
        closed[match] += 1
        return closed[match] < windows

    reading = TopicDemultiplexer(stopped, goes_on)
    for one in entries:
        reading.add(one)
    portions: list[SourceRow] = []
    while reading.is_open:
        portions += reading.read(0)
    return portions


def payloads(portions: list[SourceRow], match: str) -> list[bytes]:
    mine = [portion for portion in portions if portion.match == match]
    return [payload for portion in mine for _, _, payload in portion.blocks]


def closings(portions: list[SourceRow]) -> dict[str, tuple[int, int, bool]]:
    return {one.match: (one.start, one.end, one.last) for one in portions if one.closing}


def test_each_takes_its_own_from_where_it_goes_on_and_is_closed_where_the_topic_was_left(monkeypatch):
    arrivals = [of("a", 0), of("b", 1), of(None, 2), of("c", 3), of("a", 4), end_of("b", 5), of("b", 6), of("a", 7)]
    reader = FakeReader(arrivals)
    rows = heard(monkeypatch, reader, entry("a", begin=4, window_records=2), entry("b", window_records=1_000),
                 stopped=reader.is_read)  # fmt: skip
    assert payloads(rows, "the a") == [arrivals[4].value, arrivals[7].value]
    assert payloads(rows, "the b") == [arrivals[1].value], "what comes after a match's end is nobody's"
    assert closings(rows) == {"the a": (4, 8, False), "the b": (0, 6, True)}


def test_what_has_waited_long_is_taken_in_pieces_and_a_match_that_joins_late_is_not_held_up(monkeypatch):
    arrivals = [of("a" if n % 2 else "b", n) for n in range(100)]
    reader = FakeReader(arrivals)
    a, b = entry("a", window_records=10), entry("b", 90, window_records=10)
    rows = heard(monkeypatch, reader, a, b, stopped=reader.is_read, windows=99)
    pieces = [(one.start, one.end) for one in rows if one.closing and one.match == "the a"]
    assert pieces == [(0, 20), (20, 40), (40, 60), (60, 80), (80, 100)]
    assert payloads(rows, "the a") == [one.value for one in arrivals if one.key == b"a"]
    assert closings(rows)["the b"] == (90, 100, False)


def test_who_joins_is_read_from_where_it_begins_and_nobody_hears_anything_twice(monkeypatch):
    arrivals = [of("ab"[n % 2], n) for n in range(40)]
    reader = FakeReader(arrivals)
    monkeypatch.setattr(TopicRecords, "of", lambda address: reader)
    reading = TopicDemultiplexer(reader.is_read, lambda match: True)
    reading.add(entry("a", window_records=7))
    portions: list[SourceRow] = []
    joining = [entry("b", begin=3)]
    while reading.is_open:
        portions += reading.read(0)
        if joining and len(payloads(portions, "the a")) >= 9:
            reading.add(joining.pop())
    assert payloads(portions, "the a") == [one.value for one in arrivals if one.key == b"a"]
    assert payloads(portions, "the b") == [one.value for one in arrivals[3:] if one.key == b"b"]


def test_the_window_ends_also_where_nothing_comes(monkeypatch):
    assert heard(monkeypatch, FakeReader([]), entry("a", window_s=0.05)) == []
    rows = heard(monkeypatch, FakeReader([of("other", 0)]), entry("a", window_s=0.05))
    assert closings(rows) == {"the a": (0, 1, False)}, "so that it is not read over and over again"


def test_a_broker_that_is_away_now_and_then_costs_nothing_but_time(monkeypatch):
    class Shaky(FakeReader):
        calls = 0

        def read(self, wait_ms: float) -> list:
            self.calls += 1
            if self.calls % 2:
                raise KafkaError("no answer")
            return super().read(wait_ms)

    arrivals = [of("a" if n % 3 else "b", n) for n in range(20)]
    reader = Shaky(arrivals)
    rows = heard(monkeypatch, reader, entry("a"), entry("b"), stopped=reader.is_read)
    assert payloads(rows, "the a") == [one.value for one in arrivals if one.key == b"a"]
    assert payloads(rows, "the b") == [one.value for one in arrivals if one.key == b"b"]
    away = heard(monkeypatch, SimpleNamespace(first=reader.first, seek=reader.seek, read=reader.raises),
                 entry("a", window_s=0.05))  # fmt: skip
    assert away == [], "and the window ends, so that a batch can"


def test_whose_records_are_gone_has_failed_and_the_others_go_on(monkeypatch):
    reader = FakeReader([of("a", 50)], first=50)
    rows = heard(monkeypatch, reader, entry("a", 50), entry("b", 7), stopped=reader.is_read)
    assert payloads(rows, "the a") == [block(50_000)]
    (failed,) = [one for one in rows if one.match == "the b"]
    assert failed.closing
    assert "begins with record 50 by now" in failed.failed


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.booleans(), st.binary(max_size=40)), max_size=60))
def test_rubbish_of_one_leaves_what_another_gets_as_it_is(made):
    arrivals = [
        of(match, n, value if rubbish and match != "a" else None) for n, (match, rubbish, value) in enumerate(made)
    ]
    with pytest.MonkeyPatch.context() as patch:
        reader = FakeReader(arrivals)
        matches = [entry("a"), entry("b")]
        both = heard(patch, reader, *matches, stopped=reader.is_read)
        reader.seek({0: 0})
        alone = heard(patch, reader, matches[0], stopped=reader.is_read)
    assert payloads(both, "the a") == payloads(alone, "the a")


def records_of(made: Capture, match: str) -> list:
    """A match's records as they would be published, with no numbers yet."""
    blocks = [of(match, 0, payload) for _, payload in made.payloads(made.begin_us, made.end_us)]
    sheet = msgspec.json.encode(records.Sheet(MatchSheet(match), 0, 0))
    return [of(match, 0, sheet, "sheet"), *blocks, end_of(match, 0)]


@pytest.mark.slow
def test_matches_of_one_topic_say_what_they_say_out_of_captures_batch_by_batch(tmp_path: Path, monkeypatch):
    made = write_capture(tmp_path / "capture")
    published = {name: records_of(made, name) for name in "ab"}
    turns = [name for pair in zip(["a"] * 1_602, ["b"] * 1_602, strict=True) for name in pair]
    arrivals = [published[name].pop(0) for name in turns]
    arrivals[400:400] = [of("nobody", 0, b"\xff"), of(None, 0)]
    for number, one in enumerate(arrivals):
        one.offset = number
    monkeypatch.setattr(TopicRecords, "of", lambda address: reader)
    with Hub([MatchSheet(name) for name in ("the a", "the b", "alone")]) as hub:
        reader = FakeReader(arrivals, at_a_time=70)
        seat = Seat(tmp_path / "seat")
        alone = captured(made, "alone", 0.0)
        seat.write([entry("a", window_records=150), entry("b", begin=1, window_records=150), alone])
        for one in seat.entries():
            states = str(tmp_path / f"states-{one.match}")
            seat.write_stage(one.match, StageConfig(MatchSheet(one.match), "", PIPELINE, states, one.begin))
        windows = windows_of(seat, reader_of(seat), WindowResults(tmp_path / "results"), hub.address)
        assert all(hub.feed(name).wait_ended(10) for name in ("the a", "the b", "alone"))
    assert updates_in(windows, "the a") == updates_in(windows, "the b") == updates_in(windows, "alone") != []
    assert sum(window.match == "the a" for window in windows) > 5


def test_sheets_that_promise_more_than_can_be_are_refused():
    sheet = records.Sheet(MatchSheet("a"), 0, 0)
    result = json.loads(msgspec.json.encode(sheet))
    for hz in (0, -1, 1e12):
        result["sheet"]["quality"]["ball_hz"] = hz
        with pytest.raises(records.RecordError, match="rates must be"):
            records.read(json.dumps(result).encode(), records.headers("sheet"))
    assert Quality().ball_hz == 25.0


def test_names_of_captures_that_are_published_together(tmp_path: Path):
    for name in "ab":
        capture(tmp_path / name, "final")
    both, topic = [tmp_path / "a", tmp_path / "b"], "kafka://127.0.0.1:1/t"
    with pytest.raises(SettingsError, match="final: several captures have it"):
        publish_command([*map(str, both), topic], "1", partitions=1, as_json=False)
    with pytest.raises(SettingsError, match="1 names for 2 captures"):
        publish_command([*map(str, both), topic], "1", match=["x"], partitions=1, as_json=False)


@pytest.mark.spark
def test_matches_are_found_as_they_begin(broker: str, tmp_path: Path):
    address = parse(f"kafka://{broker}/found")
    publish(capture(tmp_path / "a", "a", 5), address, speed=0, partitions=3)
    with TopicDiscovery(address) as scout:
        scout.wait_first(threading.Event())
        assert list(scout.locations()) == ["a"]
        publish(capture(tmp_path / "b", "b", 5), address, speed=0, match="renamed")
        until = threading.Event()
        while "renamed" not in scout.locations():
            until.wait(0.1)
        place = scout.locations()["renamed"]
    assert (place.match, place.sheet.sheet.match_id) == ("renamed", "renamed")
    where = TopicSpec(f"{address.url}?match=renamed", "renamed", place.partition, 100, 60.0)
    started = Entry("x", TopicInput.kind, msgspec.structs.asdict(where), place.offset, 1.0, NEVER_US)
    reading = TopicDemultiplexer(lambda: False, lambda match: True)
    reading.add(started)
    portions: list[SourceRow] = []
    while reading.is_open:
        portions += reading.read(50_000)
    made = Capture.open(tmp_path / "b")
    assert [wire.decode(one) for one in payloads(portions, "x")] == list(made.blocks(made.begin_us, made.end_us))
    assert portions[-1].last


@pytest.mark.spark
@pytest.mark.slow
def test_matches_of_one_topic_begin_beside_others_go_on_after_a_stop_and_rubbish_disturbs_none(
    broker: str, tmp_path: Path
):
    tables = {name: optical_table(tmp_path / f"{name}.parquet", seed, s) for name, seed, s in
              (("a", 1, 30.0), ("b", 2, 12.0), ("c", 3, 12.0))}  # fmt: skip
    alone = {name: record(tables[name], tmp_path / "alone" / name) for name in "abc"}
    url = f"kafka://{broker}/round"
    captures = [alone[name] for name in "ab"]
    run_over = threading.Event()

    def rubbish() -> None:
        sender = KafkaProducer(bootstrap_servers=broker)
        sheet = records.Sheet(msgspec.structs.replace(Capture.open(alone["a"] / "capture").sheet, match_id="bad"), 0, 0)
        sender.send("round", msgspec.json.encode(sheet), b"bad", records.headers("sheet"))
        for number in range(10_000):
            value = (b"", b"\xff" * 40, b"{", block(2**60), block(number * 10_000_000_000))[number % 5]
            sender.send(
                "round", value, (b"bad", None, b"a-and-b")[number % 3], records.headers(("block", "?")[number % 2])
            )
            if run_over.wait(0.01):
                break
        sender.send("round", msgspec.json.encode(records.End(0)), b"bad", records.headers("end"))
        sender.flush()
        sender.close()

    def play() -> None:
        result = touchline("publish", *captures, url, "--match", "a", "--match", "b", "--json")
        assert result.returncode == 0, result.stderr

    speaking = [threading.Thread(target=rubbish, daemon=True), threading.Thread(target=play, daemon=True)]
    common = {"alpha": "0", "retraction": "on-demand", "dashboard": False, "camera": False, "window_s": 3.0, "seats": 2}
    stop = threading.Event()

    def run(stop: threading.Event) -> dict:
        made = MatchesRun(lambda: [{"source": url}], common, tmp_path / "run", Console(file=io.StringIO()))
        return made.run(stop)

    def join() -> None:
        while not list((tmp_path / "run" / "b").glob("commits/*.json")):
            threading.Event().wait(0.2)
        publish(Capture.open(alone["c"] / "capture"), parse(url), speed=1, match="c")
        stop.set()
        run_over.set()

    speaking.append(threading.Thread(target=join, daemon=True))
    for thread in speaking:
        thread.start()
    run(stop)
    for thread in speaking:
        thread.join(30)
    result = run(threading.Event())
    assert not result["broken"]
    for name in "abc":
        assert result["matches"][name]["ended"], name
        assert consolidated_events(tmp_path / "run" / name).equals(consolidated_events(alone[name])), name
    assert result["matches"]["bad"]["ended"]
    assert sum(result["matches"]["bad"]["quarantined"].values()) > 0
