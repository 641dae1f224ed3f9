"""Quarantined records reach the dead-letter topic once, whichever relay dies when: sent from the store, by number."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kafka import TopicPartition

from app.hub.feed import MatchFeed
from app.kafka import relay as relaying
from app.kafka.address import parse
from app.kafka.dead_letters import DeadLetter, DeadLetterReader, decode_dead_letter, read_mark
from app.kafka.relay import Relay
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from replay.match_store import MatchStore, quarantine_table, read_table
from tests.app.kafka.test_topics import message

ADDRESS = parse("kafka://nowhere:1/t")
REJECTED = "t.rejected"


class Broker:
    """Topics of one partition each. After ``room`` letters no more arrive: they are lost, or come later."""

    def __init__(self) -> None:
        self.topics: defaultdict[str, list[Any]] = defaultdict(list)
        self.late: list[Any] = []
        self.room = 0

    def arrive(self, record: Any) -> None:
        record.offset = len(self.topics[record.topic])
        self.topics[record.topic].append(record)

    def sent(self) -> list[DeadLetter]:
        return [one for record in self.topics[REJECTED] if (one := decode_dead_letter(record.value))]


class Producer:
    """The relay's use of a producer; callbacks of acknowledged records are called at once."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def send(self, topic: str, value: bytes, key: bytes, headers: Sequence[tuple[str, bytes]]) -> Any:
        record = SimpleNamespace(topic=topic, partition=0, value=value, key=key, headers=headers, offset=-1)
        if topic == REJECTED and self._broker.room == 0:
            self._broker.late.append(record)
        else:
            self._broker.room -= topic == REJECTED
            self._broker.arrive(record)

        def callback(notify: Callable[[Any], None]) -> None:
            if record.offset >= 0:
                notify(record)

        return SimpleNamespace(add_errback=lambda tell: None, add_callback=callback, get=lambda timeout_s: record)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class Consumer:
    """The relay's use of a consumer."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self._log, self._part, self._at = broker.topics[topic], TopicPartition(topic, 0), 0

    def assign(self, parts: Sequence[TopicPartition]) -> None:
        pass

    def seek_to_beginning(self, *parts: TopicPartition) -> None:
        self._at = 0

    def seek(self, part: TopicPartition, offset: int) -> None:
        self._at = offset

    def end_offsets(self, parts: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        return {self._part: len(self._log)}

    def position(self, part: TopicPartition) -> int:
        return self._at

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        arrived, self._at = self._log[self._at :], len(self._log)
        return {self._part: arrived}

    def close(self) -> None:
        pass


@contextmanager
def cluster(broker: Broker) -> Iterator[None]:
    """The relay's clients are those of the broker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relaying, "producer", lambda address: Producer(broker))
        patch.setattr(relaying, "consumer", lambda address: Consumer(broker, address.topic))
        patch.setattr(relaying, "partitions_of", lambda client, address: [TopicPartition(address.topic, 0)])
        patch.setattr(relaying, "make_topic", lambda address: None)
        yield


def store_in(folder: Path) -> MatchStore:
    return MatchStore.create(folder, MatchSheet("m"), {})


def commit(store: MatchStore, records: Sequence[str]) -> None:
    """Another batch is committed, in which these were kept out."""
    rows = [RejectedRecord(record, "", -1, None, "of no use", "") for record in records]
    meta = {"frontier_us": 0, "end_offset": 1, "epoch": 0, "ended": False}
    store.commit(store.last_window + 1, {"quarantine": quarantine_table(rows)}, meta)


def stored(store: MatchStore) -> dict[int, str]:
    return dict(enumerate(read_table(store.path, "quarantine")["record"].to_pylist()))


def newest(broker: Broker) -> dict[int, str]:
    """The view of a reader of the topic: the newest record of each number."""
    return {one.seq: one.record for one in broker.sent()}


lives = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.integers(0, 4), st.booleans()), max_size=4
        ),  # dead letters of a batch, and True if it is confirmed
        st.integers(0, 6),  # dead letters that arrive before the relay dies
        st.lists(st.integers(0, 9), max_size=3),  # which of the lost ones come late, after it
    ),
    max_size=5,
)


@settings(max_examples=12)
@example([([(4, False)], 0, [3])])
@given(lives)
def test_whichever_relay_dies_when_the_topic_ends_with_what_the_store_holds(lives):
    with tempfile.TemporaryDirectory() as folder:
        store, broker, number = store_in(Path(folder) / "store"), Broker(), 0
        with cluster(broker):
            for batches, room, late in lives:
                broker.room = room
                with Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path) as relay:
                    for count, is_confirmed in batches:
                        commit(store, [f"record {number + i}" for i in range(count)])
                        number += count
                        if is_confirmed:  # else it dies right after the commit
                            relay.committed(0)
                for which in late:
                    if which < len(broker.late):
                        broker.arrive(broker.late[which])
            broker.room = -1
            with Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path):
                pass
            assert newest(broker) == stored(store)
            assert len(stored(store)) == number
            count_before = len(broker.topics[REJECTED])
            with Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path):
                pass
            assert len(broker.topics[REJECTED]) == count_before, "what is there is not sent again"


def test_without_late_bytes_each_record_is_there_once_and_in_order(tmp_path: Path):
    store, broker = store_in(tmp_path / "store"), Broker()
    with cluster(broker):
        for room in (2, 0, 3, -1):
            broker.room = room
            with Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path) as relay:
                commit(store, [f"{room} {i}" for i in range(4)])
                relay.committed(0)
                relay.committed(0)
    assert [one.seq for one in broker.sent()] == list(range(16))
    assert newest(broker) == stored(store)
    mark = read_mark(store.path)
    assert mark is not None
    assert (mark.seq, mark.batch, mark.number, mark.offset) == (15, 3, 3, 16)


def test_what_another_run_had_told_of_the_match_is_replaced_where_it_differs(tmp_path: Path):
    broker = Broker()
    broker.room = -1
    with cluster(broker):
        for name in ("one", "another"):
            store = store_in(tmp_path / name)
            commit(store, ["of both", f"of {name}"])
            with Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path):
                pass
    assert [(one.seq, one.record) for one in broker.sent()] == [
        (0, "of both"), (1, "of one"), (1, "of another"),
    ]  # fmt: skip


def test_a_topic_that_was_made_anew_is_told_everything_again(tmp_path: Path):
    store, feed = store_in(tmp_path / "store"), MatchFeed(MatchSheet("final"))
    feed.apply(message(0, 0, 3, 0), 0)
    for _ in range(2):
        broker = Broker()
        broker.room = -1
        with cluster(broker):
            with Relay(feed, ADDRESS, store.path) as relay:
                commit(store, ["one", "two"])
                relay.committed(3)
            for _ in range(2):
                with Relay(feed, ADDRESS, store.path) as relay:
                    relay.committed(3)
        assert newest(broker) == stored(store)
        assert len(broker.topics[REJECTED]) == len(stored(store))
        kinds = [dict(record.headers)["kind"] for record in broker.topics["t"]]
        assert kinds == [b"begin", *[b"update"] * 3, b"begin", b"begin"]
    assert read_mark(store.path) is not None
    assert (store.path / "relay.json").exists()


def test_what_no_broker_has_taken_is_counted_and_timed(tmp_path: Path):
    """Letters beyond the broker's room are taken by nobody."""
    store, broker = store_in(tmp_path / "store"), Broker()
    broker.room = 1
    commit(store, ["one", "two", "three"])
    with cluster(broker), Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path) as relay:
        pass
    assert relay.waiting() == 2
    assert relay.waits_s() > 0
    broker.room = -1
    with cluster(broker), Relay(MatchFeed(MatchSheet("m")), ADDRESS, store.path) as relay:
        pass
    assert (relay.waiting(), relay.waits_s()) == (0, 0.0)


def test_a_store_that_cannot_be_read_stops_the_letters_and_nothing_else(tmp_path: Path, caplog):
    store, broker = store_in(tmp_path / "store"), Broker()
    commit(store, ["one"])
    next((store.path / "quarantine").glob("*.parquet")).write_bytes(b"rubbish")
    feed = MatchFeed(MatchSheet("m"))
    with cluster(broker), Relay(feed, ADDRESS, store.path) as relay:
        relay.committed(0)
    assert "can no longer be sent" in caplog.text
    assert not broker.topics[REJECTED]
    assert [dict(record.headers)["kind"] for record in broker.topics["t"]] == [b"begin"]


def test_letters_are_taken_a_few_at_a_time_and_gone_on_with_from_a_mark(tmp_path: Path):
    store = store_in(tmp_path / "store")
    for records in (["a", "b", "c"], [], ["d"]):
        commit(store, records)
    sent = DeadLetterReader(store.path, "m")
    taken = [sent.take(2), sent.take(2), sent.take(2)]
    assert [[one.record for one in part] for part in taken] == [["a", "b"], ["c", "d"], []]
    assert [(one.seq, one.batch, one.number) for part in taken for one in part] == [
        (0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 2, 0),
    ]  # fmt: skip
    commit(store, ["e"])
    assert [one.record for one in sent.take(2)] == ["e"]
    for number, expected in ((1, ["c", "d", "e"]), (2, ["d", "e"])):
        mark = relaying.DeadLetterMark(0, 9, number, 0, number)
        assert [one.record for one in DeadLetterReader(store.path, "m", mark).take(9)] == expected
