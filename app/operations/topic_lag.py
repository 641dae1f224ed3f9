"""How many records of a topic wait to be read, as its broker says.

The lane tells when the newest record that was worked on was due, and that is its time in the topic. So the broker's own
index by time says where it stands, and the end less that is what waits; nothing of it need travel with the positions.
"""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition

from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, translate_kafka_errors
from app.operations.background import BackgroundWorker
from app.operations.match_monitor import MatchMonitor

_EVERY_S = 1.0
_RETRY_S = 5.0


class TopicLagPoller(BackgroundWorker):
    """Asks once a second, in a thread of its own, while the context lasts.

    Args:
        address: of the topic.
        partition: that the match stands in.
        position: number of the record that is read first if nothing has been worked on yet.
        watch: who is told.
    """

    def __init__(self, address: Address, partition: int, position: int, watch: MatchMonitor) -> None:
        super().__init__("topic-lag", _EVERY_S)  # a broker that does not answer must not hold up the end
        self._address, self._part = address, TopicPartition(address.topic, partition)
        self._position, self._watch = position, watch

    def _work(self) -> None:
        while not self.stopping.is_set():
            try:
                client = consumer(self._address)
                try:
                    while not self.stopping.wait(_EVERY_S):
                        with translate_kafka_errors(self._address):
                            self._watch.records_behind = self._behind(client)
                        self._watch.source_trouble = ""
                finally:
                    client.close()
            except KafkaError as error:
                self._watch.records_behind = None  # what was known holds no more
                self._watch.source_trouble = str(error)
                self.stopping.wait(_RETRY_S)

    def _behind(self, client: KafkaConsumer) -> int:
        (end,) = client.end_offsets([self._part]).values()
        due_ms = self._watch.newest_due_wall_us() // 1000
        if due_ms:
            at = client.offsets_for_times({self._part: due_ms})[self._part]
            self._position = at.offset + 1 if at is not None else end
        return max(0, end - self._position)
