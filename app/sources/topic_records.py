"""Reads records of a topic, and decodes those of a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kafka import TopicPartition

from app.kafka import records as schema
from app.kafka.address import Address
from app.kafka.clients import consumer, poll_records, translate_kafka_errors
from app.kafka.matches import belongs_to
from app.sources.interface import TimedBlock
from football.untrusted import NUMBER_MAX
from replay import wire

#: Limit of the time from one block's arrival to the next: longer than any outage of a gateway.
LEAP_MAX_US = 3_600_000_000

#: The writer of a record chooses its timestamp; in microseconds it must fit a row.
_TIMESTAMP_MAX_MS = NUMBER_MAX // 1_000

POLL_MS = 50


class TopicRecords:
    """Records of some partitions of a topic, from any offset on; one client per process and topic, see :meth:`of`.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """

    #: Cached clients: Spark reuses its workers between batches, and a new client costs 0.1 s.
    _clients: ClassVar[dict[str, TopicRecords]] = {}

    def __init__(self, address: Address) -> None:
        self._address = address
        self._client = consumer(
            address, auto_offset_reset="none", fetch_max_wait_ms=POLL_MS, max_partition_fetch_bytes=4 << 20
        )
        self._at: dict[int, int] = {}

    @classmethod
    def of(cls, address: Address) -> TopicRecords:
        """This process's client of a topic, at the offsets that it has reached."""
        if address.url not in cls._clients:
            cls._clients[address.url] = cls(address)
        return cls._clients[address.url]

    @classmethod
    def forget(cls, address: Address) -> None:
        """Closes the client; the next :meth:`of` creates another."""
        if (client := cls._clients.pop(address.url, None)) is not None:
            client._client.close()

    def first(self, partition: int, position: int) -> int:
        """Offset of the partition's first record; ``position`` without a request if the client is there already."""
        if self._at.get(partition) == position:
            return position
        with translate_kafka_errors(self._address):
            (first,) = self._client.beginning_offsets([self._part(partition)]).values()
        return first

    def seek(self, starts: Mapping[int, int]) -> None:
        """Seeks to these offsets, by partition."""
        with translate_kafka_errors(self._address):
            if starts.keys() != self._at.keys():
                self._client.assign([self._part(partition) for partition in starts])
                self._at = {}
            for partition, start in starts.items():
                if self._at.get(partition) != start:
                    self._client.seek(self._part(partition), start)
        self._at = dict(starts)

    def read(self, wait_ms: float = POLL_MS) -> Sequence[Any]:
        """The next records; none if none arrives within the wait."""
        with translate_kafka_errors(self._address):
            polled = poll_records(self._client, max(0, round(wait_ms)))
        for record in polled:
            self._at[record.partition] = record.offset + 1
        return polled

    def _part(self, partition: int) -> TopicPartition:
        return TopicPartition(self._address.topic, partition)


class RecordDecoder:
    """Decodes the records of a match one by one, and checks their arrival times. No I/O.

    Args:
        match: its id; records with another key are skipped.
        address, partition: location of the records, for the reasons of those that are refused.

    Attributes:
        ended: whether the record that ends the match was taken.
    """

    def __init__(self, match: str, address: Address, partition: int) -> None:
        self._match, self._where = match, f"{address.topic} partition {partition}"
        self._arrival_us: int | None = None
        self.ended = False

    def take(self, record: Any) -> TimedBlock | None:
        """The record's block; None if it holds nothing for the engine. An unreadable record becomes a refused block."""
        if not belongs_to(record.key, self._match):
            return None
        payload = self._payload(record)
        if not payload:
            return None
        due_wall_us = record.timestamp * 1000 if 0 < record.timestamp < _TIMESTAMP_MAX_MS else 0
        return self._arrival_us or 0, due_wall_us, payload

    def _payload(self, record: Any) -> bytes:
        try:
            content = schema.read(record.value, record.headers)
            if isinstance(content, schema.End):
                self.ended = True
                return b""
            if isinstance(content, schema.Sheet):
                return b""
            if isinstance(content, schema.Refused):
                return content.payload
            self._arrive(wire.arrival_of(content.payload))
            return content.payload
        except (schema.RecordError, wire.WireError) as error:
            return wire.refusal(f"{self._where} record {record.offset}: {error}")

    def _arrive(self, arrival_us: int) -> None:
        before_us = self._arrival_us
        if not 0 <= arrival_us < wire.ARRIVAL_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us cannot be")
        if before_us is not None and arrival_us > before_us + LEAP_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us leaps more than an hour beyond {before_us} us")
        self._arrival_us = max(arrival_us, before_us or 0)
