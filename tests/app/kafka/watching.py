"""Whoever follows a topic while things die: what he sees must be possible at every single moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.kafka import updates
from app.kafka.address import Address, KafkaError, parse
from app.kafka.clients import consumer, header_of, kind_of, partitions_of, poll_records, translate_kafka_errors
from app.kafka.follow import follow


class Watcher:
    """Follows a topic of updates in two ways: as a client of ours, and by summing up the raw records."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.wrong: list[str] = []
        self.changes = 0
        self.events: set[str] = set()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def _follow(self) -> None:
        standing: set[str] = set()
        try:
            while not self._there():
                time.sleep(0.2)
            for change in follow(self.url, idle_s=150):
                name, diff = change.update.event.id, change.update.diff
                if (diff > 0) == (name in standing):
                    self.wrong.append(f"{diff:+d} {name} after {self.changes} changes")
                (standing.add if diff > 0 else standing.discard)(name)
                self.changes += 1
                if set(change.events) != standing:
                    self.wrong.append(f"the view holds something else after {self.changes} changes")
        except Exception as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
        self.events = standing

    def _there(self) -> bool:
        try:
            client = consumer(parse(self.url))
        except KafkaError:
            return False
        try:
            return bool(client.partitions_for_topic(parse(self.url).topic))
        finally:
            client.close()

    def check(self, events: list[str]) -> None:
        """Both ways ended with these events, and on no record was one there twice, or withdrawn without having been."""
        self._thread.join(60)
        assert not self._thread.is_alive(), f"the end did not come after {self.changes} changes"
        assert not self.wrong, self.wrong[:5]
        assert sorted(self.events) == events
        total = raw_total(parse(self.url))
        assert sorted(name for name, count in total.items() if count) == events


def raw_total(address: Address) -> dict[str, int]:
    """The sum of all ``diff`` of a topic of one match by event, which is 0 or 1 after every record."""
    client, total, floor = consumer(address), dict[str, int](), updates.WriterFence()
    try:
        parts = partitions_of(client, address)
        with translate_kafka_errors(address):
            client.assign(parts)
            client.seek_to_beginning(*parts)
            ends = client.end_offsets(parts)
        while any(client.position(part) < ends[part] for part in parts):
            for record in poll_records(client, 500):
                kind = kind_of(record)
                if floor.admits(kind, header_of(record, updates.SESSION), record.value) and kind == updates.UPDATE:
                    one = updates.decode(record.value)
                    total[one.event.id] = total.get(one.event.id, 0) + one.diff
                    assert total[one.event.id] in (0, 1), f"record {record.offset}: {one.event.id}"
        return total
    finally:
        client.close()


@contextmanager
def watching(url: str) -> Iterator[Watcher]:
    """A watcher at work."""
    watcher = Watcher(url)
    watcher._thread.start()
    yield watcher
