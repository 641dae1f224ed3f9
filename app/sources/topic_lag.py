"""Number of unread records of a topic, as its broker reports.

The update stream states the due time of the newest processed record, which is that record's time in the topic. The
broker's time index gives its offset; the end of the partition minus that offset is the number of unread records.
"""

from __future__ import annotations

from kafka import KafkaConsumer, TopicPartition

from app.base.background import BackgroundWorker
from app.kafka.address import Address, KafkaError
from app.kafka.clients import consumer, translate_kafka_errors
from app.sources.interface import InputMonitor

_EVERY_S = 1.0
_RETRY_S = 5.0


class TopicLagPoller(BackgroundWorker):
    """Polls the broker once a second, in a thread of its own, while the context lasts.

    Args:
        address: of the topic.
        partition: of the match.
        position: offset at which the match is read if nothing was processed yet.
        monitor: receives the number.
    """

    def __init__(self, address: Address, partition: int, position: int, monitor: InputMonitor) -> None:
        super().__init__("topic-lag", _EVERY_S)  # a broker that does not answer must not delay the end
        self._address, self._part = address, TopicPartition(address.topic, partition)
        self._position, self._monitor = position, monitor

    def _work(self) -> None:
        while not self.stopping.is_set():
            try:
                client = consumer(self._address)
                try:
                    while not self.stopping.wait(_EVERY_S):
                        with translate_kafka_errors(self._address):
                            self._monitor.records_behind = self._behind(client)
                        self._monitor.source_trouble = ""
                finally:
                    client.close()
            except KafkaError as error:
                self._monitor.records_behind = None  # the last number is out of date
                self._monitor.source_trouble = str(error)
                self.stopping.wait(_RETRY_S)

    def _behind(self, client: KafkaConsumer) -> int:
        (end,) = client.end_offsets([self._part]).values()
        due_ms = self._monitor.newest_due_wall_us() // 1000
        if due_ms:
            at = client.offsets_for_times({self._part: due_ms})[self._part]
            self._position = at.offset + 1 if at is not None else end
        return max(0, end - self._position)
