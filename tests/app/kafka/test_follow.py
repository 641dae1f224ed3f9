"""``follow`` waits for a topic that does not exist yet, and says so once; it gives up with the time it was given."""

from __future__ import annotations

import pytest

from app.kafka import follow as module
from app.kafka.address import parse
from app.kafka.clients import NoTopicError
from app.kafka.follow import follow


class FakeClient:
    """A consumer whose topic appears at the third look, and ends at once."""

    def __init__(self, looks: int) -> None:
        self.looks, self.closed = looks, False

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        self.looks -= 1
        return {0} if self.looks < 0 else None

    def assign(self, parts: list[object]) -> None:
        self.parts = parts

    def seek_to_beginning(self, *parts: object) -> None:
        pass

    def poll(self, timeout_ms: int) -> dict[object, list[object]]:
        return {}

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    fake = FakeClient(2)
    monkeypatch.setattr(module, "consumer", lambda address: fake)
    monkeypatch.setattr(module, "_TOPIC_S", 0.0)
    return fake


def test_a_topic_that_is_not_there_yet_is_waited_for(client: FakeClient):
    notes: list[str] = []
    assert list(follow("kafka://127.0.0.1:9092/events", idle_s=60.0, notify=notes.append)) == []
    assert client.looks < 0
    assert client.closed
    assert notes == ["there is no topic 'events' at 127.0.0.1:9092: waiting for it"]


def test_the_wait_for_a_topic_has_an_end(client: FakeClient):
    client.looks = 10**9
    with pytest.raises(NoTopicError, match="there is no topic 'events'"):
        list(follow(parse("kafka://127.0.0.1:9092/events"), idle_s=0.0))
    assert client.closed
