"""Clients of a cluster, made in one place, with errors that say which broker or topic is meant."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError as ClientError
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from app.kafka.address import Address, KafkaError, connection

#: A producer gives up on a record that no broker has taken for so long: longer than a stall that is to be survived.
DELIVERY_MS = 120_000

#: After an outage a client comes back within so long, however long that was: the library's own bound is 30 s.
COMING_BACK = {"reconnect_backoff_max_ms": 250}

#: What waited for a broker leaves in batches of so much: in the library's own of 16 KB that takes seconds.
BATCH_BYTES = 256 * 1024

#: How long a cluster may take to answer the first time.
BOOTSTRAP = {"bootstrap_timeout_ms": 10_000}


class _Causes(logging.Handler):
    """Hears why a cluster could not be reached: the library tells it only to its log, its error says "timeout"."""

    _CAUSE = re.compile(r"Bootstrap connection to \S+ failed: (.*?) \(backoff", re.DOTALL)

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = (0.0, "")

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps when and why it was last."""
        if found := self._CAUSE.search(record.getMessage()):
            self.last = (time.monotonic(), " ".join(found[1].split()))


# The library tells of every try to connect; what comes of it is said once, by the error.
logging.getLogger("kafka").setLevel(logging.CRITICAL)
_causes = _Causes()
_manager_log = logging.getLogger("kafka.net.manager")
_manager_log.setLevel(logging.WARNING)
_manager_log.propagate = False
_manager_log.addHandler(_causes)


@contextmanager
def translate_kafka_errors(address: Address) -> Iterator[None]:
    """Errors of the client library in words for people."""
    began_s = time.monotonic()
    try:
        yield
    except KafkaTimeoutError as error:
        at_s, cause = _causes.last
        said = _for_people(address, cause) if at_s >= began_s else _words(error)
        raise KafkaError(f"{address.topic} at {', '.join(address.brokers)}: no answer: {said}") from None
    except (ClientError, OSError, ValueError, AssertionError) as error:
        raise KafkaError(f"{address.topic} at {', '.join(address.brokers)}: {_words(error)}") from error


def consumer(address: Address, **options: Any) -> KafkaConsumer:
    """A consumer in no group, which keeps its offsets itself.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """
    with translate_kafka_errors(address):
        return KafkaConsumer(
            **{
                **connection(address), "group_id": None, "enable_auto_commit": False, "fetch_max_wait_ms": 100,
                **BOOTSTRAP, **COMING_BACK, **options,
            }
        )  # fmt: skip


def producer(address: Address, **options: Any) -> KafkaProducer:
    """A producer that neither loses nor doubles a record, nor changes their order, whatever it must try again.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """
    with translate_kafka_errors(address):
        return KafkaProducer(
            **{
                **connection(address), "acks": "all", "enable_idempotence": True, "linger_ms": 0,
                "batch_size": BATCH_BYTES, "delivery_timeout_ms": DELIVERY_MS, **BOOTSTRAP, **COMING_BACK, **options,
            }
        )  # fmt: skip


def make_topic(address: Address, partitions: int = 1) -> None:
    """Makes a topic unless it is there; a cluster that copies each partition as often as it does by itself.

    Raises:
        KafkaError: it cannot be made.
    """
    with translate_kafka_errors(address):
        admin = KafkaAdminClient(**connection(address), **BOOTSTRAP)
        try:
            admin.create_topics([NewTopic(address.topic, partitions, -1)])
        except TopicAlreadyExistsError:
            pass
        finally:
            admin.close()


def partitions_of(client: KafkaConsumer, address: Address) -> list[TopicPartition]:
    """The partitions of a topic.

    Raises:
        KafkaError: there is no such topic.
    """
    with translate_kafka_errors(address):
        numbers = client.partitions_for_topic(address.topic)
    if not numbers:
        raise KafkaError(f"there is no topic {address.topic!r} at {', '.join(address.brokers)}")
    return [TopicPartition(address.topic, number) for number in sorted(numbers)]


def poll_records(client: KafkaConsumer, wait_ms: int) -> Sequence[Any]:
    """What has come, of all partitions, each in its order; empty if nothing came within the wait."""
    polled = client.poll(timeout_ms=wait_ms)
    return [record for partition in sorted(polled) for record in polled[partition]]


def header_of(record: Any, name: str) -> str:
    """What a record's header says; empty without one."""
    return (dict(record.headers or ()).get(name) or b"").decode("ascii", "replace")


def kind_of(record: Any) -> str:
    """What a record's header says that it is; empty without one."""
    return header_of(record, "kind")


def _for_people(address: Address, cause: str) -> str:
    """What the cause of a refused connection may mean, by what we asked for."""
    asked = connection(address)
    protocol, user = asked.get("security_protocol", "PLAINTEXT"), asked.get("sasl_plain_username", "")
    if "CERTIFICATE_VERIFY_FAILED" in cause:
        reason = cause.partition("certificate verify failed: ")[2].partition(" (_ssl")[0] or "verification failed"
        return f"the broker's certificate is not trusted ({reason}); ssl_cafile must name who signed it"
    if "Handshake failed" in cause:
        return f"no TLS could be agreed on ({cause}); is {protocol} right for this port?"
    if any(words in cause for words in ("socket disconnected", "Invalid frame length", "SaslAuthenticationFailed")):
        if protocol.startswith("SASL_"):
            mechanism = asked.get("sasl_mechanism", "")
            return (
                f"the broker ended the connection while user {user!r} logged in with {mechanism} over {protocol}: "
                "password, user, mechanism or protocol is wrong"
            )
        return f"the broker ended the connection: {protocol} may be wrong for this port, it may want TLS or a login"
    return cause


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
