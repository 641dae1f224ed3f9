"""The relay while no broker answers: it holds a position, and reads from the store what its feed no longer retains."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from kafka import TopicPartition

from app.hub import feed as feeds
from app.hub.feed import MatchFeed
from app.kafka import follow as following
from app.kafka import relay as relaying
from app.kafka import updates
from app.kafka.relay import BehindError, Relay
from app.kafka.updates import TopicUpdate, WriterFence
from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage, View
from replay.match_store import MatchStore, committed_updates, updates_table
from tests.app.kafka.test_topics import event, message
from tests.app.kafka.test_writer_fence import ADDRESS, Log, Reader, begun, cluster, folded

SHEET = MatchSheet("final")
#: Updates of a window, and windows that pass while no broker answers.
WINDOW, WINDOWS = 5, 40


@pytest.fixture(autouse=True)
def _small_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "RETAINED_MAX", 10)


def commit(store: MatchStore, feed: MatchFeed, batch: int, one: UpdateMessage) -> None:
    """Commit a window that is one message, as the driver does it."""
    store.commit(batch, {"updates": updates_table(one.updates, 0)}, {"frontier_us": one.frontier_us})
    feed.settle(one.updates[-1].seq + 1, one.frontier_us)


def delivered(log: Log) -> list[object]:
    """All records, once everything has arrived."""
    for network in log.networks:
        while network:
            log.deliver(network)
    return log.records


@pytest.mark.parametrize("void", [pytest.param(0, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.slow), 4])
def test_a_relay_that_is_far_behind_holds_a_position_and_reads_the_store(tmp_path: Path, void: int):
    """Of what it had sent, the last updates are of an epoch that is replaced while no broker answers."""
    store, log = MatchStore.create(tmp_path / "match", SHEET, {}), Log(lambda: False)
    feed, whole = MatchFeed(SHEET), MatchFeed(SHEET)

    def apply(one: UpdateMessage) -> None:
        feed.apply(one, 0)
        whole.apply(one, 0)

    with cluster(log):
        relay, sender = begun(log, feed, store.path)
        feed.retain_from(lambda: relay._cursor)
        first = message(0, 0, WINDOW)
        apply(first)
        relay._send_updates(sender)
        commit(store, feed, 0, message(0, 0, WINDOW - void))
        begin = WINDOW - void
        for window in range(1, WINDOWS):
            one = message(1, begin, WINDOW, begin if window == 1 else None)
            apply(one)
            commit(store, feed, window, one)
            begin += WINDOW
            assert len(feed.retained_log()[2]) <= 10 + WINDOW
        assert relay.waiting() >= (WINDOWS - 3) * WINDOW
        with pytest.raises(BehindError):
            relay._send_updates(sender)
        relay._catch_up(sender, relay._begin_session(sender))
        last = message(1, begin, 3)
        apply(last)
        relay._send_updates(sender)
    view, wrong = folded(delivered(log), WriterFence())
    assert not wrong
    held = [update.event.id for batch, _ in committed_updates(store.path) for update in batch]
    assert list(view.events) == [*held, *(update.event.id for update in last.updates)]
    assert relay._cursor == feed.update_count()


def test_the_newest_positions_wait_and_no_more(tmp_path: Path):
    log = Log(lambda: False)
    with cluster(log):
        relay = Relay(MatchFeed(SHEET), ADDRESS, tmp_path)
        for number in range(1_000):
            view = View(number, None, ())
            relay._enqueue(UpdateMessage("final", 0, number, 0, view=view), ())
        assert relay.waiting() == len(relay._views) == relaying._VIEWS_MAX
        assert relay._views[-1].ts_us == 999


def hostile(session: str, value: bytes) -> SimpleNamespace:
    """A record of another program in the topic, in the current session."""
    headers = [("kind", updates.UPDATE.encode()), (updates.SESSION, session.encode())]
    return SimpleNamespace(topic="t", partition=0, value=value, key=b"final", headers=headers, offset=-1)


HOSTILE = [
    b"", b"\xff", b"[" * 1_010, b'{"match": "final", "seq": 9e99}', b"{}",
    msgspec.json.encode(TopicUpdate("other", 3, 1, 0, event(1))),
]  # fmt: skip


def test_records_of_others_stop_neither_a_relay_nor_a_follower(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    store, log = MatchStore.create(tmp_path / "match", SHEET, {}), Log(lambda: False)
    feed = MatchFeed(SHEET)
    feed.apply(message(0, 0, 3), 0)
    with cluster(log):
        relay, _ = begun(log, feed, store.path)
        delivered(log)
        for value in HOSTILE:
            record = hostile(relay._sessions[-1], value)
            record.offset = len(log.records)
            log.records.append(record)
        feed.apply(message(0, 3, 2), 0)
        begun(log, feed, store.path)
        delivered(log)
    assert sum("t, partition 0, record" in one.getMessage() for one in caplog.records) == len(HOSTILE)
    left_out: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        reader = Reader(log)
        reader.highwater = lambda part: len(log.records)  # type: ignore[attr-defined]
        patch.setattr(following, "consumer", lambda address: reader)
        patch.setattr(following, "partitions_of", lambda client, address: [TopicPartition("t", 0)])
        changes = list(following.follow(ADDRESS, idle_s=0.2, notify=left_out.append))
    assert dict(changes[-1].events) == feed.events()
    assert len(left_out) == len(HOSTILE)
    assert all(text.startswith("t, partition 0, record ") for text in left_out)
