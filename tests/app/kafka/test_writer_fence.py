"""Late bytes of dead relays among what their successors say: they count for nobody."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka import TopicPartition

from app.hub.feed import MatchFeed
from app.hub.server import Hub
from app.kafka import relay as relaying
from app.kafka import updates
from app.kafka.address import KafkaError, parse
from app.kafka.clients import consumer, header_of, kind_of
from app.kafka.follow import View, follow
from app.kafka.relay import Relay, ReplacedError
from app.kafka.updates import Begin, WriterFence
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore, committed_updates, updates_table
from tests.app.kafka.proxy import Proxy
from tests.app.kafka.test_topics import message
from tests.app.kafka.test_updates import connected_stages
from tests.app.kafka.watching import raw_total

ADDRESS = parse("kafka://nowhere:1/t")
PART = TopicPartition("t", 0)


class Log:
    """One partition, and the networks to it: each producer's records come in their order, when ``chance`` has it."""

    def __init__(self, chance: Callable[[], bool]) -> None:
        self.records: list[Any] = []
        self.networks: list[deque[Any]] = []
        self._chance = chance

    def deliver(self, network: deque[Any]) -> None:
        if network and network[0].topic == "t":
            network[0].offset = len(self.records)
            self.records.append(network[0])
        if network:
            network.popleft()

    def drift(self) -> None:
        """Some of what is under way arrives."""
        for network in self.networks:
            while network and self._chance():
                self.deliver(network)


class Sender:
    """A producer as the relay needs it: the log decides when a sent record arrives, and ``get`` waits for it."""

    def __init__(self, log: Log) -> None:
        self._log, self._network = log, deque[Any]()
        log.networks.append(self._network)

    def send(self, topic: str, value: bytes, key: bytes, headers: list[tuple[str, bytes]]) -> Sent:
        record = SimpleNamespace(topic=topic, partition=0, value=value, key=key, headers=headers, offset=-1)
        self._network.append(record)
        self._log.drift()
        return Sent(self._log, self._network, record)


class Sent:
    def __init__(self, log: Log, network: deque[Any], record: Any) -> None:
        self._log, self._network, self._record = log, network, record

    def add_errback(self, tell: Callable[[BaseException], None]) -> None:
        pass

    def add_callback(self, tell: Callable[[Any], None]) -> None:
        pass

    def get(self, timeout_s: float) -> Any:
        while any(record is self._record for record in self._network):
            self._log.drift()
            self._log.deliver(self._network)
        return self._record


class Reader:
    """A consumer as the relay needs it."""

    def __init__(self, log: Log) -> None:
        self._log, self._at = log, 0

    def assign(self, parts: Sequence[TopicPartition]) -> None:
        pass

    def seek_to_beginning(self, *parts: TopicPartition) -> None:
        self._at = 0

    def end_offsets(self, parts: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        return {PART: len(self._log.records)}

    def position(self, part: TopicPartition) -> int:
        return self._at

    def poll(self, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        newer, self._at = self._log.records[self._at :], len(self._log.records)
        self._log.drift()
        return {PART: newer}

    def close(self) -> None:
        pass


@contextmanager
def cluster(log: Log) -> Iterator[None]:
    """The relay's clients are those of the log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relaying, "consumer", lambda address: Reader(log))
        patch.setattr(relaying, "partitions_of", lambda client, address: [PART])
        patch.setattr(relaying, "make_topic", lambda address: None)
        yield


def folded(records: Sequence[Any], fence: WriterFence | None) -> tuple[View, list[str]]:
    """The view of a follower after all records, and its impossible updates; without a fence it admits every record."""
    view, wrong, standing = View(), list[str](), set[str]()
    for record in records:
        kind = kind_of(record)
        if fence is not None and not fence.admits(kind, header_of(record, updates.SESSION), record.value):
            continue
        if kind != updates.UPDATE:
            continue
        update = updates.decode(record.value)
        if view.take(update):
            if (update.diff > 0) == (update.event.id in standing):
                wrong.append(f"{update.diff:+d} {update.event.id}")
            (standing.add if update.diff > 0 else standing.discard)(update.event.id)
    return view, wrong


def begun(log: Log, feed: MatchFeed, folder: Path) -> tuple[Relay, Sender]:
    """A relay that has begun its session, without its thread."""
    made, sender = Relay(feed, ADDRESS, folder), Sender(log)
    made._catch_up(sender, made._begin_session(sender))
    return made, sender


@settings(max_examples=60)
@given(connected_stages(), st.randoms(use_true_random=False), st.sampled_from([0.1, 0.5, 0.9]))
def test_whatever_of_dead_relays_arrives_and_when_followers_hold_what_the_last_one_holds(messages, chance, share):
    """Each relay sends the stream for a while, and dies; the next begins with what was committed by then."""
    log = Log(lambda: chance.random() < share)
    with cluster(log):
        begin = 0
        while begin < len(messages):
            end = chance.randint(begin, len(messages) - 1) + 1
            feed = MatchFeed(MatchSheet("m"))
            # What the dead one had heard beyond the last commit is not held by the next one, until it is redone.
            for message in messages[: chance.randint(0, begin)]:
                feed.apply(message, 0)
            relay, sender = begun(log, feed, Path("/nonexistent"))
            for message in messages[feed.messages : end]:
                feed.apply(message, 0)
                relay._send_updates(sender)
            begin = end
        for network in log.networks:
            while network:
                log.deliver(network)
    view, wrong = folded(log.records, WriterFence())
    assert not wrong
    assert view.events == feed.events()


def late_records() -> tuple[Log, MatchFeed]:
    """A relay's five updates arrive after its successor has sent three others."""
    log = Log(lambda: False)
    with cluster(log):
        first, second = MatchFeed(MatchSheet("final")), MatchFeed(MatchSheet("final"))
        relay, sender = begun(log, first, Path("/nonexistent"))
        first.apply(message(0, 0, 5, 0), 0)
        first.apply(message(1, 2, 1, 2), 0)
        relay._send_updates(sender)
        log.deliver(log.networks[0])
        relay, sender = begun(log, second, Path("/nonexistent"))
        second.apply(message(2, 0, 3, 0), 0)
        relay._send_updates(sender)
        for network in reversed(log.networks):
            while network:
                log.deliver(network)
    return log, second


def test_late_records_count_and_would_be_wrong_if_they_did():
    log, feed = late_records()
    view, wrong = folded(log.records, WriterFence())
    assert (view.events, wrong) == (feed.events(), [])
    assert folded(log.records, None)[0].events != feed.events(), "what is late would have been believed"


def test_a_late_begin_record_does_not_make_a_dead_session_current():
    log = Log(lambda: False)
    dead = Sender(log)
    dead.send("t", msgspec.json.encode(Begin("m", "dead", "")), b"m", [("kind", b"begin"), ("session", b"dead")])
    with cluster(log):
        feed = MatchFeed(MatchSheet("m"))
        relay, _ = begun(log, feed, Path("/nonexistent"))
        log.deliver(log.networks[0])
    fence = WriterFence()
    folded(log.records, fence)
    assert fence.session == relay._sessions[-1] != "dead"


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_relay_sends_from_the_store_the_updates_that_its_feed_has_forgotten(tmp_path: Path, before: int):
    """The feed was settled at two commits; the topic has the first messages of an earlier relay."""
    messages = [message(0, 0, 4, 0), message(0, 4, 3), message(0, 7, 2)]
    sheet, log = MatchSheet("final"), Log(lambda: False)
    store = MatchStore.create(tmp_path / "match", sheet, {})
    earlier, whole = MatchFeed(sheet), MatchFeed(sheet)
    for batch, one in enumerate(messages):
        whole.apply(one, 0)
        if batch < before:
            earlier.apply(one, 0)
        if batch < 2:
            store.commit(batch, {"updates": updates_table(one.updates, 0)}, {"frontier_us": one.frontier_us})
    with cluster(log), Hub([sheet]) as hub:
        begun(log, earlier, tmp_path / "another")
        feed = hub.feed("final")
        hub.seed("final", committed_updates(store.path))
        feed.apply(messages[2], 0)
        assert feed.retained_log()[1] == 7
        begun(log, feed, store.path)
        for network in log.networks:
            while network:
                log.deliver(network)
    view, wrong = folded(log.records, WriterFence())
    assert (view.events, wrong) == (whole.events(), [])


def test_of_two_that_begin_at_once_one_is_current_and_the_other_tries_again():
    log = Log(lambda: False)
    with cluster(log):
        made, sender = Relay(MatchFeed(MatchSheet("m")), ADDRESS, Path("/nonexistent")), Sender(log)
        quicker = Sender(log)
        quicker.send("t", msgspec.json.encode(Begin("m", "quick", "")), b"m", [("kind", b"begin")])
        real = made._put

        def beaten(*given: Any) -> Any:
            log.deliver(log.networks[1])
            return real(*given)

        made._put = beaten  # type: ignore[method-assign]
        with pytest.raises(KafkaError, match="another relay began to write for m"):
            made._begin_session(sender)
        made._begin_session(sender)
        other = Relay(MatchFeed(MatchSheet("m")), ADDRESS, Path("/nonexistent"))
        other._begin_session(Sender(log))
        with pytest.raises(ReplacedError, match="another relay writes for m"):
            made._begin_session(sender)


@pytest.mark.slow
@pytest.mark.spark
def test_what_a_replaced_relay_had_under_way_changes_nothing_when_it_comes(
    broker: str, far: str, between: Proxy, tmp_path: Path
):
    """Through a real broker: the network of the first relay stalls with updates in it, and flows again after the second
    has spoken."""
    near, name = f"kafka://{broker}/floor", "final"
    first, second = MatchFeed(MatchSheet(name)), MatchFeed(MatchSheet(name))
    old = Relay(first, parse(f"kafka://{far}/floor"), tmp_path)
    with old:
        first.apply(message(0, 0, 5, 0), 0)
        arrived(near, 6)
        between.flowing.clear()
        first.apply(message(0, 5, 5), 0)
        second.apply(message(0, 0, 3), 0)
        with Relay(second, parse(near), tmp_path / "another"):
            second.apply(message(1, 3, 4, 3), 0)
            standing = arrived(near, 6 + 1 + 2 + 4)
            between.flowing.set()
            arrived(near, standing + 5)
            second.apply(message(1, 7, 1, ended=True), 0)
    *_, last = follow(near, idle_s=20)
    assert last.events == second.events()
    assert {name for name, count in raw_total(parse(near)).items() if count} == set(second.events())


def arrived(near: str, records: int) -> int:
    """Waits until so many records are in the topic's one partition."""
    client, part = consumer(parse(near)), TopicPartition("floor", 0)
    try:
        end_s = time.monotonic() + 60
        while (there := client.end_offsets([part])[part]) < records:
            assert time.monotonic() < end_s, f"{there} of {records}"
            time.sleep(0.05)
        return there
    finally:
        client.close()
