"""Captures into topics and updates out of them, through a real broker."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest
from kafka import KafkaConsumer, KafkaProducer

from app.hub.feed import MatchFeed
from app.kafka import clients, records, updates
from app.kafka.address import KafkaError, parse
from app.kafka.dead_letters import DeadLetter
from app.kafka.follow import Change, follow
from app.kafka.matches import find_match
from app.kafka.publish import publish
from app.kafka.relay import Relay
from football.house_time import HouseTime
from football.match_sheet import MatchSheet
from football.packet_table import from_blocks
from football.packets import Block, Packet, RejectedRecord
from football.update_stream import EventRecord, UpdateMessage, UpdateRecord, View
from replay import wire
from replay.capture import Capture, CaptureWriter
from replay.house_times import write_house_time
from replay.match_store import MatchStore, quarantine_table

pytestmark = pytest.mark.spark


def capture(folder: Path, match: str = "final", blocks: int = 60) -> Capture:
    made = [
        Block(i * 500_000 + 10, (Packet("ball", i, (i * 500_000,), (i / 10,), (0.0,), (0.11,), 0.9),))
        for i in range(blocks)
    ]
    with CaptureWriter(folder, MatchSheet(match), fingerprint=match, channel="none", seed=1, slot_us=0) as writer:
        writer.write(from_blocks(made))
    return Capture.open(folder)


def read_all(address: str, topic: str) -> list:
    client = KafkaConsumer(topic, bootstrap_servers=address, auto_offset_reset="earliest", consumer_timeout_ms=1_000)
    try:
        return list(client)
    finally:
        client.close()


def test_a_capture_is_published_whole_and_in_order_with_sheets_on_the_way(broker: str, tmp_path: Path):
    source = capture(tmp_path / "capture")
    published = publish(source, parse(f"kafka://{broker}/whole"), speed=0)
    arrived = read_all(broker, "whole")
    content = [records.read(record.value, record.headers) for record in arrived]
    blocks = [wire.decode(one.payload) for one in content if isinstance(one, records.Blocks)]
    assert blocks == list(source.blocks(source.begin_us, source.end_us))
    assert {record.key for record in arrived} == {b"final"}
    sheets = [one for one in content if isinstance(one, records.Sheet)]
    assert content[0] == records.Sheet(source.sheet, 0, source.begin_us)
    assert [sheet.arrival_us for sheet in sheets] == [10, 10_000_010, 20_000_010]
    assert content[-1] == records.End(blocks[-1].arrival_us)
    assert (published.match, published.blocks) == ("final", 60)


def test_a_match_is_found_by_name_by_time_and_while_it_goes_on(broker: str, tmp_path: Path):
    for match in ("first", "second"):
        publish(capture(tmp_path / match, match), parse(f"kafka://{broker}/two"), speed=0)
    assert find_match(parse(f"kafka://{broker}/two")).match == "first"
    second = find_match(parse(f"kafka://{broker}/two?match=second"))
    assert (second.match, second.sheet.sheet.match_id) == ("second", "second")
    assert second.offset > 60
    with pytest.raises(KafkaError, match="no match sheet of third came; there are first, second"):
        find_match(parse(f"kafka://{broker}/two?match=third"), patience_s=1.0)
    late = find_match(parse(f"kafka://{broker}/two?start=2000-01-01T00:00:00Z"))
    assert late.match == "first"

    def go_on() -> None:
        publish(capture(tmp_path / "third", "third", 10), parse(f"kafka://{broker}/two"), speed=4)

    speaking = threading.Timer(1.0, go_on)
    speaking.start()
    assert find_match(parse(f"kafka://{broker}/two?start=latest")).match == "third"
    speaking.join()


def test_no_topic_and_no_broker_are_said(broker: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(clients.BOOTSTRAP, "bootstrap_timeout_ms", 1_000)
    with pytest.raises(KafkaError, match=r"no match sheet|there is no topic"):
        find_match(parse(f"kafka://{broker}/nobody-speaks-here"), patience_s=0.5)
    with pytest.raises(KafkaError, match="no answer"):
        find_match(parse("kafka://127.0.0.1:1/t"))


def event(name: int) -> EventRecord:
    return EventRecord(f"hit#{name}", "hit", "", 5, name, "home", "home_7", 1.0, 2.0, None, 1.0, ("x",), {"v_m_s": 1.0})


def message(epoch: int, first: int, count: int, continues_from: int | None = None, **more) -> UpdateMessage:
    content = tuple(UpdateRecord(i, 1, i * 10, event(epoch * 1000 + i)) for i in range(first, first + count))
    return UpdateMessage("final", epoch, (first + count) * 10, 0, content, continues_from, **more)


def keep_out(store: MatchStore, batch: int, record: str) -> None:
    """A batch in which one record was kept out is committed."""
    bad = RejectedRecord(record, "ball", 3, None, "position is not a number", "nan")
    meta = {"frontier_us": 0, "end_offset": batch + 1, "epoch": 0, "ended": False}
    store.commit(batch, {"quarantine": quarantine_table([bad])}, meta)


def test_what_a_dead_process_had_said_beyond_the_store_is_undone_by_the_next(broker: str, tmp_path: Path):
    address = parse(f"kafka://{broker}/events")
    first, store = MatchFeed(MatchSheet("final")), MatchStore.create(tmp_path / "store", MatchSheet("final"), {})
    with Relay(first, address, store.path) as relay:
        first.apply(message(0, 0, 5, 0), 0)
        keep_out(store, 0, "block 3")
        relay.committed(3)
    keep_out(store, 1, "block 5")  # it dies before it can tell this
    # A new process: the store holds three updates, and the match goes on otherwise. Its house time is known by now.
    house = HouseTime(zero_utc_us=1_700_000_000_000_000)
    write_house_time(store.path, house)
    second = MatchFeed(MatchSheet("final"))
    second.apply(message(0, 0, 3), 0)
    with Relay(second, address, store.path) as relay:
        second.apply(message(1, 3, 4, 3, view=View(5, None, ())), 0)
        next(change for change in follow(address, idle_s=20) if (change.update.seq, change.update.diff) == (6, 1))
        # And within it a stage dies, and is replaced.
        second.apply(message(2, 5, 2, 5, ended=True), 0)
        keep_out(store, 2, "block 7")
        relay.committed(7)
    changes: list[Change] = list(follow(f"kafka://{broker}/events?match=final"))
    assert changes[-1].events == second.events()
    records = [(dict(r.headers), r.value) for r in read_all(broker, "events") if dict(r.headers)["kind"] == b"update"]
    raw = [updates.decode(value) for _, value in records]
    stamps = [(head.get("utc"), head.get("timecode")) for head, _ in records]
    assert set(stamps[:5]) == {(None, None)}
    assert stamps[5:] == [(house.utc(u.event.ts_us).encode(), house.timecode(u.event.ts_us).encode()) for u in raw[5:]]
    total: dict[str, int] = {}
    for one in raw:
        total[one.event.id] = total.get(one.event.id, 0) + one.diff
        assert total[one.event.id] in (0, 1)
    assert {name for name, count in total.items() if count} == set(second.events())
    assert [(u.seq, u.undo) for u in raw] == [
        (0, False), (1, False), (2, False), (3, False), (4, False), (4, True), (3, True),
        (3, False), (4, False), (5, False), (6, False), (6, True), (5, True), (5, False), (6, False),
    ]  # fmt: skip
    (view,) = read_all(broker, "events.positions")
    assert msgspec.json.decode(view.value, type=View) == View(5, None, ())
    published = [msgspec.json.decode(r.value, type=DeadLetter) for r in read_all(broker, "events.rejected")]
    assert [(one.seq, one.batch, one.number, one.record) for one in published] == [
        (0, 0, 0, "block 3"), (1, 1, 0, "block 5"), (2, 2, 0, "block 7"),
    ]  # fmt: skip
    assert {one.reason for one in published} == {"position is not a number"}


def test_rubbish_in_a_topic_does_not_hide_the_match(broker: str, tmp_path: Path):
    sender = KafkaProducer(bootstrap_servers=broker)
    for value, headers in ((b"", []), (b"{", [("kind", b"sheet")]), (b"\xff" * 10, [("kind", b"?")]), (b"x", [])):
        sender.send("rubbish", value, headers=headers)
    sender.flush()
    sender.close()
    publish(capture(tmp_path / "capture", blocks=3), parse(f"kafka://{broker}/rubbish"), speed=0)
    assert find_match(parse(f"kafka://{broker}/rubbish")).offset == 4
