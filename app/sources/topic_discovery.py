"""Finds the matches of a topic, also those that begin while others play.

A match begins with its sheet, at any time. So a thread reads the whole topic for sheets. It neither decodes other
records nor checks their checksums; the reader of the match does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from kafka import KafkaConsumer

from app.base.background import BackgroundWorker
from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, kind_of, poll_records, translate_kafka_errors
from app.kafka.matches import SHEET_PATIENCE_S, begin_at, sheet_of
from app.kafka.records import SHEET
from app.kafka.topic_location import TopicLocation
from app.sources.interface import Discovered

#: Limit of the matches of one topic in one run: forged sheets must not exhaust the memory.
MATCHES_MAX = 200

_POLL_MS = 200
_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class TopicDiscovery(BackgroundWorker):
    """Looks for matches while the context lasts, from where the address starts; an ``interface.Discovery``.

    Args:
        address: of the topic, without a match.
    """

    def __init__(self, address: Address) -> None:
        super().__init__("topic-discovery", patience_s=5.0)
        self._address = address
        self._locations: dict[str, TopicLocation] = {}
        self._at: dict[int, int] = {}
        self._caught_up = threading.Event()
        self._is_full = False
        #: Why the topic cannot be read now; empty while it can.
        self.trouble = ""

    def matches(self) -> Sequence[Discovered]:
        """See :class:`app.sources.interface.Discovery`."""
        return [
            Discovered(match, msgspec.structs.replace(self._address, match=match).url, location)
            for match, location in self.locations().items()
        ]

    def locations(self) -> Mapping[str, TopicLocation]:
        """Location of each match found so far, by its id, in the order in which they were found."""
        return dict(self._locations)

    def wait_first(self, stop: threading.Event, patience_s: float = SHEET_PATIENCE_S) -> None:
        """Waits until the topic is read to its end and holds a match, or nothing is read for too long."""
        until_s, read = time.monotonic() + patience_s, 0
        while not (self._locations and self._caught_up.is_set()) and not stop.wait(_POLL_MS / 1e3):
            if (now_read := sum(self._at.values())) > read and not self._caught_up.is_set():
                until_s, read = time.monotonic() + patience_s, now_read  # the limit applies to a pause in reading only
            if time.monotonic() > until_s:
                return

    def _work(self) -> None:
        while not self.stopping.is_set():
            client: KafkaConsumer | None = None
            try:
                client = consumer(self._address, check_crcs=False)
                self._look(client)
            except KafkaError as error:
                if not self.trouble:
                    _log.warning("no new matches are seen: %s", error)
                self.trouble = str(error)
                self.stopping.wait(_RETRY_S)
            finally:
                if client is not None:
                    client.close()

    def _look(self, client: KafkaConsumer) -> None:
        with translate_kafka_errors(self._address):
            while not client.partitions_for_topic(self._address.topic):  # no record was written yet
                if self.stopping.wait(_POLL_MS / 1e3):
                    return
        begin_at(client, self._address)
        with translate_kafka_errors(self._address):
            parts = sorted(client.assignment())
            for part in parts:
                if part.partition in self._at:  # after an outage
                    client.seek(part, self._at[part.partition])
            ends = client.end_offsets(parts)
        self.trouble = ""
        while not self.stopping.is_set():
            with translate_kafka_errors(self._address):
                polled = poll_records(client, _POLL_MS)
            for record in polled:
                self._at[record.partition] = record.offset + 1
                self._take(record)
            if not self._caught_up.is_set():
                with translate_kafka_errors(self._address):
                    caught_up = all(client.position(part) >= ends[part] for part in parts)
                if caught_up:
                    self._caught_up.set()

    def _take(self, record: Any) -> None:
        if kind_of(record) != SHEET or (sheet := sheet_of(record)) is None:
            return
        match = sheet.sheet.match_id
        if match not in self._locations and len(self._locations) >= MATCHES_MAX:
            if not self._is_full:
                _log.warning("%s has shown %d matches; further ones are left out", self._address.topic, MATCHES_MAX)
            self._is_full = True
        elif record.key == match.encode():  # a sheet with another key would lead to no records
            self._locations.setdefault(match, TopicLocation(match, record.partition, record.offset, sheet))
