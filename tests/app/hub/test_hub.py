from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import msgspec
import pytest

from app.hub.client import HubAddress, HubClient, HubConnectionError, frame
from app.hub.feed import MatchFeed
from app.hub.latency import Histogram
from app.hub.server import Hub, HubError
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, UpdateMessage, UpdateRecord
from replay.match_store import CommitMeta
from tests.waiting import eventually


def update(seq: int, diff: int = 1, name: str = "") -> UpdateRecord:
    event = EventRecord(name or f"e{seq}", "hit", "", 5, seq, "home", "home_1", None, None, None, 1.0)
    return UpdateRecord(seq, diff, seq + 10, event)


def message(*updates: UpdateRecord, epoch: int = 0, **more) -> UpdateMessage:
    return UpdateMessage("m", epoch, 100, 50, tuple(updates), **more)


@pytest.fixture
def hub():
    with Hub([MatchSheet(match_id="m")]) as running:
        yield running


def send_again_and_again(client: HubClient, what: UpdateMessage) -> None:
    """For two seconds: that the other side has closed shows only some sends later."""
    for _ in range(200):
        client.send(what)
        time.sleep(0.01)


def test_what_is_sent_on_the_lane_is_what_the_feed_shows(hub):
    client = HubClient(hub.address)
    client.send(message(update(0), update(1), continues_from=0))
    client.send(message(UpdateRecord(2, -1, 12, update(0).event), ended=True))
    feed = hub.feed("m")
    assert feed.wait_ended(10)
    assert set(feed.events()) == {"e1"}
    cursor, seen = feed.events_since(0)
    assert (cursor, [u.diff for u in seen]) == (3, [1, 1, -1])
    assert feed.events_since(cursor) == (3, [])


def test_a_stage_that_died_in_mid_sentence_is_superseded_by_its_successor(hub):
    first = HubClient(hub.address)
    first.send(message(update(0), update(1), update(2), continues_from=0))
    first._socket.sendall(frame(msgspec.msgpack.encode(message(update(3))))[:20])
    first.close()
    feed = hub.feed("m")
    eventually(lambda: len(feed.events()) == 3)
    second = HubClient(hub.address)
    second.send(message(update(1, name="other"), epoch=1, continues_from=1, ended=True))
    assert feed.wait_ended(10)
    assert set(feed.events()) == {"e0", "other"}
    assert [u.diff for u in feed.events_since(0)[1]] == [1, 1, 1, -1, -1, 1]


def test_a_gap_closes_the_lane_so_that_the_stage_begins_anew(hub):
    client = HubClient(hub.address)
    client.send(message(update(5), continues_from=0))
    with pytest.raises(HubConnectionError):
        send_again_and_again(client, message())
    assert hub.feed("m").events() == {}


def test_a_stranger_is_not_listened_to(hub):
    stranger = HubClient(HubAddress(hub.address.path, "guess"))
    with pytest.raises(HubConnectionError):
        send_again_and_again(stranger, message(update(0), continues_from=0))
    assert hub.feed("m").messages == 0


def test_no_other_user_can_enter_the_folder_of_the_socket(hub):
    folder = Path(hub.address.path).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.stat().st_uid == os.geteuid()


def test_a_folder_that_is_lost_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("app.hub.server.temporary_folder", lambda: tmp_path / "lost")
    with pytest.raises(HubError, match="lost"):
        Hub([])


def test_a_closed_hub_leaves_no_socket_behind():
    hub = Hub([])
    hub.close()
    assert not Path(hub.address.path).exists()


def test_a_closed_hub_refuses_the_lane_with_a_reason():
    hub = Hub([MatchSheet(match_id="m")])
    hub.close()
    with pytest.raises(HubConnectionError, match="no hub at"):
        HubClient(hub.address)


def test_an_unknown_match_is_named(hub):
    with pytest.raises(HubError, match="unknown match 'x'"):
        hub.feed("x")


def test_a_seeded_hub_goes_on_where_the_committed_run_ended(hub):
    hub.seed("m", [([update(0), update(1)], CommitMeta(epoch=3))])
    client = HubClient(hub.address)
    client.send(message(update(2), epoch=4, continues_from=2, ended=True))
    assert hub.feed("m").wait_ended(10)
    assert set(hub.feed("m").events()) == {"e0", "e1", "e2"}


def test_subscribers_hear_every_message_while_they_listen(hub):
    heard, feed = [], hub.feed("m")
    with feed.subscribed(lambda m, applied: heard.append(len(applied))):
        hub.apply(message(update(0), update(1), continues_from=0))
    hub.apply(message(update(2)))
    assert heard == [2]


def test_latency_is_measured_by_stage_and_only_where_the_arrival_is_known(hub):
    feed = hub.feed("m")
    feed.apply(message(due_wall_us=1_000, stage_wall_us=3_000, sent_wall_us=4_000, continues_from=0), 10_000)
    feed.apply(message(due_wall_us=0, stage_wall_us=3_000, sent_wall_us=4_000), 10_000)
    figures = feed.latency_summary()
    assert {stage: (f["max"], f["count"]) for stage, f in figures.items()} == {
        "source": (2.0, 1), "engine": (1.0, 1), "lane": (6.0, 1), "total": (9.0, 1)
    }  # fmt: skip


def test_readers_and_the_lane_do_not_disturb_each_other(hub):
    feed, wrong = hub.feed("m"), []

    def read() -> None:
        cursor, total = 0, 0
        while not feed.ended():
            cursor, new = feed.events_since(cursor)
            total += len(new)
        cursor, new = feed.events_since(cursor)
        if total + len(new) != 2000:
            wrong.append(total)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for seq in range(2000):
        hub.apply(message(update(seq), continues_from=0 if seq == 0 else None, ended=seq == 1999))
    for reader in readers:
        reader.join(10)
    assert not wrong


def test_percentiles_of_a_histogram_are_right_to_five_percent():
    histogram = Histogram()
    histogram.extend(range(100, 100_001, 100))
    for percent in (1, 50, 95, 99):
        assert histogram.percentile_us(percent) == pytest.approx(percent * 1000, rel=0.05)
    assert histogram.percentile_us(100) == 100_000
    assert Histogram().percentile_us(50) is None


def at(seq: int, ts_us: int, name: str, diff: int = 1, kind: str = "hit") -> UpdateRecord:
    event = EventRecord(name, kind, "", 5, ts_us, "home", "home_1", None, None, None, 1.0)
    return UpdateRecord(seq, diff, ts_us + 10, event)


def test_a_settled_feed_forgets_the_log_and_final_events_and_keeps_their_figures():
    feeds = [MatchFeed(MatchSheet(match_id="m")) for _ in range(2)]
    settled, whole = feeds
    batches = [
        [at(0, 1, "a"), at(1, 2, "b"), at(2, 2, "b", -1), at(3, 8, "c")],
        [at(4, 8, "c", -1), at(5, 9, "c"), at(6, 12, "d", kind="pass.attempt")],
    ]
    for batch, frontier_us in zip(batches, (5, 10), strict=True):
        for feed in feeds:
            feed.apply(message(*batch), 0)
        settled.settle(batch[-1].seq + 1, frontier_us)
    assert settled.figures() == whole.figures()
    assert settled.figures()["events"] == {"hit": 2, "pass.attempt": 1}
    assert settled.figures()["lifecycle"] == {"tentative": 0, "confirmed": 3, "withdrawn": 1, "amended": 1}
    assert set(settled.events()) == {"d"}, "what may still change stays"
    assert settled.events_since(0) == (7, [])
    assert settled.retained_log() == (7, 7, ())
    assert settled.update_count() == whole.update_count() == 7


def test_a_final_event_that_is_amended_or_annulled_is_counted_as_in_a_feed_that_forgets_nothing():
    settled, whole = (MatchFeed(MatchSheet(match_id="m")) for _ in range(2))
    shot, late = at(0, 1, "a", kind="shot.attempt"), at(2, 1, "a", -1, "shot.attempt")
    amended = msgspec.structs.replace(late, seq=3, diff=1, event=msgspec.structs.replace(late.event, variant="volley"))
    batches = [[shot, at(1, 2, "b")], [late, amended, at(4, 2, "b", -1)], [at(5, 30, "c")]]
    for batch in batches:
        for feed in (settled, whole):
            feed.apply(message(*batch), 0)
        settled.settle(batch[-1].seq + 1, 50)
        assert settled.figures() == whole.figures()
    assert settled.figures()["events"] == {"hit": 1, "shot.attempt": 1}
    assert settled.figures()["lifecycle"] == {"tentative": 0, "confirmed": 2, "withdrawn": 1, "amended": 1}
    assert settled.figures()["detection_latency_ms"]["shot"]["count"] == 1


def test_a_log_is_retained_as_far_as_a_reader_has_not_read_it():
    feed, cursor = MatchFeed(MatchSheet(match_id="m")), 1
    feed.retain_from(lambda: cursor)
    feed.apply(message(update(0), update(1), update(2)), 0)
    feed.settle(3, 100)
    assert [u.seq for u in feed.events_since(0)[1]] == [1, 2]
    assert feed.retained_log()[:2] == (3, 1)
    cursor = 3
    feed.settle(3, 100)
    assert feed.events_since(1) == (3, [])


def test_an_epoch_that_repeats_committed_updates_changes_nothing_of_them(hub: Hub):
    feed = hub.feed("m")
    feed.apply(message(update(0), update(1), update(2)), 0)
    feed.settle(2, 0)
    feed.apply(message(update(0), update(1), update(2, name="other"), epoch=1, continues_from=0), 0)
    assert [(u.seq, u.diff) for u in feed.events_since(0)[1]] == [(2, 1), (2, -1), (2, 1)]
    assert set(feed.events()) == {"e0", "e1", "other"}


def test_a_seed_of_many_batches_keeps_figures_and_no_log(hub: Hub):
    batches = [([update(i)], CommitMeta(frontier_us=i + 1, epoch=i)) for i in range(100)]
    hub.seed("m", batches, ended=True)
    feed = hub.feed("m")
    assert feed.figures()["lifecycle"] == {"tentative": 0, "confirmed": 100, "withdrawn": 0, "amended": 0}
    assert (feed.retained_log()[2], feed.events(), feed.epoch(), feed.ended()) == ((), {}, 99, True)
