"""Takes a match's records out of a topic, one by one: the part of the source that speaks to a broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa
from kafka import TopicPartition

from app.kafka import records as schema
from app.kafka.address import Address
from app.kafka.clients import consumer, poll_records, translate_kafka_errors
from app.kafka.matches import belongs_to
from app.pipeline.framing import pack
from replay import wire

#: A block's arrival may be later than the one before it by no more: a gateway that was away comes back sooner.
LEAP_MAX_US = 3_600_000_000

POLL_MS = 50


def waking_stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A stage that does nothing: that its process has found it here has brought all that reading needs."""
    yield from batches


class TopicRecords:
    """A topic's records, of some partitions, from any of them on; one client a process and topic, see :meth:`of`.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """

    #: Spark keeps its workers between batches, and a new client costs a tenth of a second.
    _kept: ClassVar[dict[str, TopicRecords]] = {}

    def __init__(self, address: Address) -> None:
        self._address = address
        self._client = consumer(
            address, auto_offset_reset="none", fetch_max_wait_ms=POLL_MS, max_partition_fetch_bytes=4 << 20
        )
        self._at: dict[int, int] = {}

    @classmethod
    def of(cls, address: Address) -> TopicRecords:
        """This process's own, made when first wanted; where it stood it stands."""
        if address.url not in cls._kept:
            cls._kept[address.url] = cls(address)
        return cls._kept[address.url]

    @classmethod
    def forget(cls, address: Address) -> None:
        """Lets go of the connection: the next one who wants it gets a new one."""
        if (kept := cls._kept.pop(address.url, None)) is not None:
            kept._client.close()

    def first(self, partition: int, position: int) -> int:
        """Number of the partition's first record, as far as it must be asked for to go on at ``position``."""
        if self._at.get(partition) == position:
            return position
        with translate_kafka_errors(self._address):
            (first,) = self._client.beginning_offsets([self._part(partition)]).values()
        return first

    def stand(self, starts: Mapping[int, int]) -> None:
        """Reads on from these records of these partitions."""
        with translate_kafka_errors(self._address):
            if starts.keys() != self._at.keys():
                self._client.assign([self._part(partition) for partition in starts])
                self._at = {}
            for partition, start in starts.items():
                if self._at.get(partition) != start:
                    self._client.seek(self._part(partition), start)
        self._at = dict(starts)

    def read(self, wait_ms: float = POLL_MS) -> Sequence[Any]:
        """What has come; nothing if nothing comes within the wait."""
        with translate_kafka_errors(self._address):
            came = poll_records(self._client, max(0, round(wait_ms)))
        for record in came:
            self._at[record.partition] = record.offset + 1
        return came

    def _part(self, partition: int) -> TopicPartition:
        return TopicPartition(self._address.topic, partition)


class Taker:
    """Takes a match's records one by one, and remembers how far its arrival times have come. No I/O.

    Args:
        match: its id; records with another key are not taken.
        address, partition: where it is read, for the reasons of what is refused.

    Attributes:
        ended: whether the record that ends the match was taken.
    """

    def __init__(self, match: str, address: Address, partition: int) -> None:
        self._match, self._where = match, f"{address.topic} partition {partition}"
        self._arrival_us: int | None = None
        self.ended = False

    def take(self, record: Any) -> bytes:
        """The record as a frame of a row; empty if it says nothing that the engine needs."""
        if not belongs_to(record.key, self._match):
            return b""
        payload = self._payload(record)
        if not payload:
            return b""
        return pack(self._arrival_us or 0, record.timestamp * 1000 if record.timestamp > 0 else 0, payload)

    def _payload(self, record: Any) -> bytes:
        try:
            said = schema.read(record.value, record.headers)
            if isinstance(said, schema.End):
                self.ended = True
                return b""
            if isinstance(said, schema.Sheet):
                return b""
            self._arrive(wire.arrival_of(said.payload))
            return said.payload
        except (schema.RecordError, wire.WireError) as error:
            return wire.refusal(f"{self._where} record {record.offset}: {error}")

    def _arrive(self, arrival_us: int) -> None:
        before_us = self._arrival_us
        if not 0 <= arrival_us < wire.ARRIVAL_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us cannot be")
        if before_us is not None and arrival_us > before_us + LEAP_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us leaps more than an hour beyond {before_us} us")
        self._arrival_us = max(arrival_us, before_us or 0)
