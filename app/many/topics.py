"""Which matches there are in a topic, found while they come.

A match begins with its sheet, and who may begin at any time must be looked out for all the time: a thread reads the
topic for sheets alone. It does not look into the other records, nor check their sums, which their reader does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from kafka import KafkaConsumer

from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, kind_of, poll_records, translate_kafka_errors
from app.kafka.matches import SHEET_PATIENCE_S, begin_at, sheet_of
from app.kafka.records import SHEET
from app.kafka.topic_location import TopicLocation
from app.operations.background import BackgroundWorker

#: Of one topic in one run: invented ones must not take the memory of those that are.
MATCHES_MOST = 200

_POLL_MS = 200
_RETRY_S = 1.0
_log = logging.getLogger(__name__)


class Scout(BackgroundWorker):
    """Looks for matches while the context lasts, from where the address starts.

    Args:
        address: of the topic; the match in it does not matter.
    """

    def __init__(self, address: Address) -> None:
        super().__init__("topic-scout", patience_s=5.0)
        self._address = address
        self._places: dict[str, TopicLocation] = {}
        self._at: dict[int, int] = {}
        self._caught_up = threading.Event()
        self._is_full = False
        #: Why nothing can be read now; empty while it can.
        self.trouble = ""

    def places(self) -> Mapping[str, TopicLocation]:
        """Where each match is that was found so far, by its id, in the order in which they were found."""
        return dict(self._places)

    def wait_first(self, stop: threading.Event, patience_s: float = SHEET_PATIENCE_S) -> None:
        """Returns when all that stands in the topic has been seen and there is a match, or the patience is over."""
        until_s, read = time.monotonic() + patience_s, 0
        while not (self._places and self._caught_up.is_set()) and not stop.wait(_POLL_MS / 1e3):
            if (now_read := sum(self._at.values())) > read and not self._caught_up.is_set():
                until_s, read = time.monotonic() + patience_s, now_read  # time runs only where nothing is to be read
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
            while not client.partitions_for_topic(self._address.topic):  # nobody has spoken yet
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
                came = poll_records(client, _POLL_MS)
            for record in came:
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
        if match not in self._places and len(self._places) >= MATCHES_MOST:
            if not self._is_full:
                _log.warning("%s has shown %d matches; further ones are left out", self._address.topic, MATCHES_MOST)
            self._is_full = True
        elif record.key == match.encode():  # a sheet with another key would lead to no records
            self._places.setdefault(match, TopicLocation(match, record.partition, record.offset, sheet))
