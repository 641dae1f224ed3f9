"""Following a match through a topic of updates: the consolidated view, for any client.

    from app.kafka.follow import follow

    for change in follow("kafka://127.0.0.1:9092/events?match=final"):
        print(change.update.diff, change.update.event.kind, len(change.events))

No event is asserted twice, or withdrawn without having been asserted: neither when a window is computed again, nor when
a relay is replaced and its last records arrive late, nor when a record is written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import msgspec
from kafka import KafkaConsumer, TopicPartition

from app.kafka import updates
from app.kafka.address import Address, parse
from app.kafka.clients import (
    NoTopicError,
    consumer,
    header_of,
    kind_of,
    partitions_of,
    poll_records,
    translate_kafka_errors,
)
from app.kafka.updates import StandingUpdates, TopicUpdate
from football.untrusted import UntrustedError
from football.update_stream import EventRecord

_POLL_MS = 100

#: Interval at which a topic that does not exist is looked for.
_TOPIC_S = 0.5


class Change(msgspec.Struct, frozen=True):
    """A step of the view.

    Attributes:
        update: the one applied.
        events: all that is asserted after it, by id; one mapping, which changes with each step.
        offset: of the record.
        behind: records of its partition that had been written after it when it was read.
    """

    update: TopicUpdate
    events: Mapping[str, EventRecord]
    offset: int
    behind: int


class View:
    """The events that stand after updates in their order. Pure.

    Raises:
        GapError: see :class:`app.kafka.updates.StandingUpdates`.
    """

    def __init__(self) -> None:
        self.events: dict[str, EventRecord] = {}
        self._standing = StandingUpdates()

    def take(self, update: TopicUpdate) -> bool:
        """Apply an update; False if it was known already."""
        if not self._standing.take(update):
            return False
        if update.diff > 0:
            self.events[update.event.id] = update.event
        elif self.events.get(update.event.id) == update.event:
            del self.events[update.event.id]
        return True


def follow(
    url: str | Address, *, idle_s: float | None = None, notify: Callable[[str], None] = lambda text: None
) -> Iterator[Change]:
    """Yield every change of a match's view from its first update on, until the match has ended.

    A topic that does not exist yet is waited for.

    Args:
        url: topic of updates; ``?match=`` chooses among several matches.
        idle_s: time without a record after which the iteration ends; None for no limit.
        notify: called with a sentence when a topic has to be waited for, and about each record that cannot be read.

    Raises:
        KafkaError: no broker, or no topic within ``idle_s``.
        GapError: the topic no longer holds the whole match.
    """
    address = parse(url) if isinstance(url, str) else url
    client = consumer(address)
    views: dict[str, View] = {}
    fences: dict[str, updates.WriterFence] = {}
    try:
        parts = _partitions(client, address, idle_s, notify)
        with translate_kafka_errors(address):
            client.assign(parts)
            client.seek_to_beginning(*parts)
        idle_ms = 0.0
        while idle_s is None or idle_ms < idle_s * 1e3:
            with translate_kafka_errors(address):
                arrived = poll_records(client, _POLL_MS)
            idle_ms = 0.0 if arrived else idle_ms + _POLL_MS
            for record in arrived:
                match, kind = (record.key or b"").decode("utf-8", "replace"), kind_of(record)
                if record.key is None or address.match not in ("", match):
                    continue
                fence = fences.setdefault(match, updates.WriterFence())
                if not fence.admits(kind, header_of(record, updates.SESSION), record.value):
                    continue
                if kind == updates.END:
                    return
                if kind != updates.UPDATE:
                    continue
                try:
                    update = updates.decode_of(match, record.value)
                except UntrustedError as error:
                    place = f"{record.topic}, partition {record.partition}, record {record.offset}"
                    notify(f"{place} is left out: {error}")
                    continue
                view = views.setdefault(match, View())
                if view.take(update):
                    yield Change(update, view.events, record.offset, _behind(client, record))
    finally:
        client.close()


def _partitions(
    client: KafkaConsumer, address: Address, idle_s: float | None, notify: Callable[[str], None]
) -> list[TopicPartition]:
    """The partitions of the topic, once it exists."""
    began_s, is_first = time.monotonic(), True
    while True:
        try:
            return partitions_of(client, address)
        except NoTopicError as error:
            if idle_s is not None and time.monotonic() - began_s >= idle_s:
                raise
            if is_first:
                notify(f"{error}: waiting for it")
            is_first = False
            time.sleep(_TOPIC_S)


def _behind(client: object, record: object) -> int:
    newest = client.highwater(TopicPartition(record.topic, record.partition))  # type: ignore[attr-defined]
    return max(0, (newest or record.offset + 1) - record.offset - 1)  # type: ignore[attr-defined]
