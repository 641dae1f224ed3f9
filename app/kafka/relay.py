"""From the fast lane into topics: updates as they are said, positions, and what was kept out.

Theory of operation
-------------------
The relay follows the hub, so it leaves as early as the lane does. What it has sent may have to be taken back by a later
process: so when it begins it reads what of the match stands in the topic, undoes what the store does not confirm, and
sends what is missing; from then on it sends what its feed applies. Where the topic was certain to agree with what is
committed is kept in ``relay.json`` beside the store, so only what came after it need be read.

The lane never waits for a broker. A thread sends; while no broker answers, updates wait in memory, and if records were
given up on, the relay begins again as above.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from kafka import KafkaProducer, TopicPartition

from app.hub.feed import MatchFeed
from app.kafka import updates
from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, kind_of, make_topic, partitions_of, producer, records, told
from app.kafka.records import headers
from app.kafka.updates import Line, Told, told_of
from detectors.lane import LaneMessage, UpdateRecord

_POLL_MS = 500
_PLACES_KEPT = 4_000
_RETRY_S = 1.0
#: At the end of a run, how long a broker that does not answer is tried again.
_LAST_TRIES_S = 30.0
_log = logging.getLogger(__name__)


class Mark(msgspec.Struct, frozen=True):
    """In ``partition``, the records before ``offset`` leave the updates before ``seq`` standing, all committed."""

    partition: int
    offset: int
    seq: int


class Relay:
    """Sends one match's feed to topics; a context manager. Leaving it waits until all is sent.

    Args:
        feed: of the match, seeded with what is committed.
        address: topic of updates; those of positions and rejected records stand beside it.
        folder: of the match store, for ``relay.json``.

    Raises:
        KafkaError: no broker answers at the start.
    """

    def __init__(self, feed: MatchFeed, address: Address, folder: Path) -> None:
        self._feed, self._address, self._mark_path = feed, address, folder / "relay.json"
        self._match = feed.sheet().match_id
        self._heard_of: queue.SimpleQueue[LaneMessage | None] = queue.SimpleQueue()
        self._cursor = 0
        self._next_seq = 0
        self._failed: list[BaseException] = []
        self._places: deque[tuple[int, int, int]] = deque(maxlen=_PLACES_KEPT)
        self._rejected: queue.SimpleQueue[tuple[int, pa.Table]] = queue.SimpleQueue()
        self._closing_s: float | None = None
        for suffix in ("", updates.POSITIONS_SUFFIX, updates.REJECTED_SUFFIX):
            make_topic(address.beside(suffix))
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> Relay:
        self._context = contextlib.ExitStack()
        self._context.enter_context(self._feed.subscribed(self._heard))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()
        self._closing_s = time.monotonic()
        self._heard_of.put(None)
        self._thread.join()

    def committed(self, batch: int, seq: int, tables: Mapping[str, pa.Table]) -> None:
        """A batch is in the store: updates before ``seq`` are certain, and what it kept out may be told."""
        if (rejected := tables.get("quarantine")) is not None and len(rejected):
            self._rejected.put((batch, rejected))
        certain = [place for place in tuple(self._places) if place[2] <= seq]
        if certain:
            partition, offset, sure = certain[-1]
            draft = self._mark_path.with_suffix(".draft")
            draft.write_bytes(msgspec.json.encode(Mark(partition, offset, sure)))
            draft.replace(self._mark_path)

    def _heard(self, message: LaneMessage, applied: Sequence[UpdateRecord]) -> None:
        self._heard_of.put(message)

    def _run(self) -> None:
        while True:
            try:
                if self._send_all():
                    return
            except (KafkaError, updates.GapError) as error:
                _log.warning("updates wait for %s: %s", self._address.topic, error)
            if self._closing_s is not None and time.monotonic() > self._closing_s + _LAST_TRIES_S:
                _log.error("%s: not everything could be sent; the next run in this store does it", self._address.url)
                return
            time.sleep(_RETRY_S)

    def _send_all(self) -> bool:
        """Brings the topic to where the feed is, then sends what is heard until the end.

        Returns False if records were given up on: then what stands in the topic must be looked at again.
        """
        self._failed.clear()
        self._places.clear()
        standing = self._standing()
        sender = producer(self._address)
        try:
            self._catch_up(sender, standing)
            while not self._failed:
                message = None if self._closing_s is not None and self._heard_of.empty() else self._heard_of.get()
                self._send_news(sender)
                if message is None:
                    if self._feed.ended():
                        self._put(sender, self._address, updates.END, {"match": self._match})
                    with told(self._address):
                        sender.flush()
                    return not self._failed
                if message.view is not None:
                    self._put(sender, self._address.beside(updates.POSITIONS_SUFFIX), updates.VIEW, message.view)
            return False
        finally:
            sender.close()

    def _send_news(self, sender: KafkaProducer) -> None:
        """What the feed has applied, and what was kept out, since the last time."""
        self._cursor, applied = self._feed.events_since(self._cursor)
        for record in told_of(self._match, self._next_seq, applied):
            self._send_update(sender, record)
        while not self._rejected.empty():
            batch, table = self._rejected.get()
            for number, row in enumerate(table.to_pylist()):
                value = {"match": self._match, "batch": batch, "number": number, **row}
                self._put(sender, self._address.beside(updates.REJECTED_SUFFIX), updates.REJECTED, value)

    def _catch_up(self, sender: KafkaProducer, standing: Line) -> None:
        """Undoes what the feed does not hold, and sends what the topic lacks."""
        self._cursor, log = self._feed.events_since(0)
        held = Line()
        for record in told_of(self._match, 0, log):
            held.take(record)
        agreed = min(standing.next_seq, held.next_seq)
        while agreed > standing.begin and not _same(standing.at(agreed - 1), held.at(agreed - 1)):
            agreed -= 1
        for void in reversed(standing.since(agreed)):
            self._send_update(sender, msgspec.structs.replace(void, diff=-void.diff, undo=True))
        self._next_seq = agreed
        for record in held.since(agreed):
            self._send_update(sender, record)

    def _standing(self) -> Line:
        """What of the match stands in the topic, as far back as it may have to be undone."""
        client = consumer(self._address)
        try:
            parts = partitions_of(client, self._address)
            mark = self._mark()
            line = Line(mark.seq if mark else 0)
            with told(self._address):
                client.assign(parts)
                client.seek_to_beginning(*parts)
                if mark:
                    client.seek(TopicPartition(self._address.topic, mark.partition), mark.offset)
                ends = client.end_offsets(parts)
                while any(client.position(part) < ends[part] for part in parts):
                    for record in records(client, _POLL_MS):
                        if record.key == self._match.encode() and kind_of(record) == updates.UPDATE:
                            line.take(updates.decode(record.value))
            return line
        finally:
            client.close()

    def _mark(self) -> Mark | None:
        try:
            return msgspec.json.decode(self._mark_path.read_bytes(), type=Mark)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _send_update(self, sender: KafkaProducer, record: Told) -> None:
        self._next_seq = record.seq if record.undo else record.seq + 1
        standing = self._next_seq
        sent = self._put(sender, self._address, updates.UPDATE, record)
        sent.add_callback(lambda at: self._places.append((at.partition, at.offset + 1, standing)))

    def _put(self, sender: KafkaProducer, address: Address, kind: str, value: object) -> Any:
        head = headers(kind, updates.VERSION)
        with told(address):
            sent = sender.send(address.topic, msgspec.json.encode(value), self._match.encode(), head)
        sent.add_errback(self._failed.append)
        return sent


def _same(standing: Told, held: Told) -> bool:
    return (standing.diff, standing.event) == (held.diff, held.event)
