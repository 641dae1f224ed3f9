"""Takes a match's records out of a topic, one by one: the part of the source that speaks to a broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from kafka import TopicPartition

from app.kafka import records as schema
from app.kafka.address import Address, parse
from app.kafka.clients import consumer, records
from app.kafka.matches import is_of
from app.match.framing import pack
from replay import wire

#: A block's arrival may be later than the one before it by no more: a gateway that was away comes back sooner.
LEAP_MAX_US = 3_600_000_000

_POLL_MS = 50


class TopicRecords:
    """A partition's records, from any of them on; one client a process and partition, see :meth:`of`."""

    #: Spark keeps its workers between batches, and a new client costs a tenth of a second.
    _kept: ClassVar[dict[tuple[str, int], TopicRecords]] = {}

    def __init__(self, url: str, partition: int) -> None:
        self.address = parse(url)
        self._part = TopicPartition(self.address.topic, partition)
        self._client = consumer(
            self.address, auto_offset_reset="none", fetch_max_wait_ms=_POLL_MS, max_partition_fetch_bytes=4 << 20
        )
        self._client.assign([self._part])

    @classmethod
    def of(cls, url: str, partition: int) -> TopicRecords:
        """This process's own, made when first wanted.

        Raises:
            KafkaError: no broker answers, or the settings are refused.
        """
        if (url, partition) not in cls._kept:
            cls._kept[url, partition] = cls(url, partition)
        return cls._kept[url, partition]

    def seek(self, number: int) -> None:
        """The next record is that of the number."""
        self._client.seek(self._part, number)

    def next(self) -> Sequence[Any]:
        """What has come; nothing if nothing comes within a moment."""
        return records(self._client, _POLL_MS)


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
        if not is_of(record.key, self._match):
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
            return wire.refused(f"{self._where} record {record.offset}: {error}")

    def _arrive(self, arrival_us: int) -> None:
        before_us = self._arrival_us
        if not 0 <= arrival_us < wire.ARRIVAL_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us cannot be")
        if before_us is not None and arrival_us > before_us + LEAP_MAX_US:
            raise schema.RecordError(f"arrival time {arrival_us} us leaps more than an hour beyond {before_us} us")
        self._arrival_us = max(arrival_us, before_us or 0)
