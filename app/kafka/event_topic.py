"""The records of a topic as bytes, up to the end that it has when the reading begins: events of other programs."""

from __future__ import annotations

from collections.abc import Iterator

from app.kafka.address import Address
from app.kafka.clients import consumer, partitions_of, poll_records, translate_kafka_errors

_POLL_MS = 100


def topic_records(address: Address) -> Iterator[bytes]:
    """Yield the values of all records, of each partition in its order; of an empty record nothing.

    Raises:
        KafkaError: no broker answers, or there is no such topic.
    """
    client = consumer(address)
    try:
        parts = partitions_of(client, address)
        with translate_kafka_errors(address):
            client.assign(parts)
            client.seek_to_beginning(*parts)
            ends = client.end_offsets(parts)
            while any(client.position(part) < ends[part] for part in parts):
                for record in poll_records(client, _POLL_MS):
                    if record.offset < ends[parts[0]._replace(partition=record.partition)] and record.value:
                        yield record.value
    finally:
        client.close()
