"""Finds a match in a topic: its partition, the offset to begin at, and its sheet."""

from __future__ import annotations

import time

from kafka import KafkaConsumer, TopicPartition

from app.kafka import records as schema
from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, partitions_of, poll_records, translate_kafka_errors
from app.kafka.topic_location import TopicLocation

#: Interval, in arrival time, at which a sheet is repeated; a reader that joins late waits this long, and some more.
SHEET_EVERY_US = 10_000_000
SHEET_PATIENCE_S = 30.0

_POLL_MS = 200


def find_match(address: Address, patience_s: float = SHEET_PATIENCE_S) -> TopicLocation:
    """Find the match of an address: the one it names, else the first one from where it starts.

    Waits for a topic that does not exist yet, and for the next sheet if the address starts in the middle of a match.

    Raises:
        KafkaError: no broker, no topic, or no such match within the time.
    """
    client = consumer(address)
    try:
        until_s = time.monotonic() + patience_s
        while not client.partitions_for_topic(address.topic) and time.monotonic() < until_s:
            time.sleep(_POLL_MS / 1e3)
        begin_at(client, address)
        others: set[str] = set()
        while time.monotonic() < until_s:
            with translate_kafka_errors(address):
                arrived = poll_records(client, _POLL_MS)
            for record in arrived:
                sheet = sheet_of(record)
                if sheet is None:
                    continue
                match = sheet.sheet.match_id
                if address.match in ("", match):
                    return TopicLocation(match, record.partition, record.offset, sheet)
                others.add(match)
            if arrived:  # the time counts from the last record
                until_s = time.monotonic() + patience_s
    finally:
        client.close()
    listed = f"; there are {', '.join(sorted(others))}" if others else ""
    raise KafkaError(f"{address.url}: no match sheet {f'of {address.match} ' if address.match else ''}came{listed}")


def belongs_to(record_key: bytes | None, match: str) -> bool:
    """True if a record belongs to a match; a record without a key belongs to the topic's only match."""
    return record_key is None or record_key == match.encode()


def begin_at(client: KafkaConsumer, address: Address) -> None:
    """Assign all partitions of a topic to a consumer, and seek where the address starts.

    Raises:
        KafkaError: there is no such topic, or no broker answers.
    """
    parts = partitions_of(client, address)
    with translate_kafka_errors(address):
        client.assign(parts)
        if address.start == "earliest":
            client.seek_to_beginning(*parts)
        elif address.start == "latest":
            client.seek_to_end(*parts)
            for part in parts:  # now, and not at the first poll
                client.position(part)
        else:
            _seek_time(client, parts, address.start_ms or 0)


def _seek_time(client: KafkaConsumer, parts: list[TopicPartition], start_ms: int) -> None:
    located = client.offsets_for_times(dict.fromkeys(parts, start_ms))
    ends = client.end_offsets(parts)
    for part in parts:
        at = located.get(part)
        client.seek(part, at.offset if at is not None else ends[part])


def sheet_of(record: object) -> schema.Sheet | None:
    """The sheet in a record, None without one; the reader of the match quarantines records that cannot be read."""
    try:
        content = schema.read(record.value, record.headers)  # type: ignore[attr-defined]
    except schema.RecordError:
        return None
    return content if isinstance(content, schema.Sheet) else None
