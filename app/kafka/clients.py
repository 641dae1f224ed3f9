"""Clients of a cluster, made in one place, with errors that name the broker, the topic and the cause."""

from __future__ import annotations

import logging
import math
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import (
    KafkaConnectionError,
    KafkaProtocolError,
    SaslAuthenticationFailedError,
    TopicAlreadyExistsError,
)
from kafka.errors import KafkaError as ClientError
from kafka.net.compat import KafkaNetClient
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector

from app.base.errors import one_line
from app.kafka.address import Address, KafkaError, connection

#: Time after which a producer gives up on an unacknowledged record: longer than a stall that must be survived.
DELIVERY_MS = 120_000

#: Limit of the time to reconnect after an outage of any length; the library's default is 30 s.
RECONNECT = {"reconnect_backoff_max_ms": 250}

#: Records that waited for a broker leave in batches of so much: in the library's own of 16 KB that takes seconds.
BATCH_BYTES = 256 * 1024

#: Time that a cluster has for its first answer.
BOOTSTRAP = {"bootstrap_timeout_ms": 10_000}

# The library logs each attempt to connect; users get one error with the cause of the last attempt.
logging.getLogger("kafka").setLevel(logging.CRITICAL)

Client = TypeVar("Client", KafkaConsumer, KafkaProducer, KafkaAdminClient)


class _Failure(NamedTuple):
    """A connection that could not be used. ``connected``: over TCP and TLS it was; the protocol or the login failed."""

    error: Exception
    connected: bool


class _Connections(KafkaConnectionManager):  # type: ignore[misc]  # the library has no types
    """Connections of a client that hand on why they fail: the library's own error is "unable to bootstrap"."""

    def __init__(self, net: NetworkSelector, failures: deque[_Failure], **options: Any) -> None:
        super().__init__(net, **options)
        self._failures = failures

    def get_connection(self, node_id: Any, timeout_ms: float | None = None, **options: Any) -> Any:
        """The connection to a node, with its failure recorded.

        The last attempt has only what is left of the time for all of them. That it ran out of time says less than why
        an earlier one failed.
        """
        until_s = math.inf if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        made = super().get_connection(node_id, timeout_ms=timeout_ms, **options)

        def failed(error: Exception) -> None:
            if not self._failures or time.monotonic() < until_s:
                self._failures.append(_Failure(error, made.parser is not None))

        made.init_future.add_errback(failed)
        return made


class NoTopicError(KafkaError):
    """A topic does not exist."""


@contextmanager
def translate_kafka_errors(address: Address, failures: Sequence[_Failure] = ()) -> Iterator[None]:
    """Errors of the client library as ``KafkaError`` that names topic and brokers.

    Args:
        address: of the topic.
        failures: of connections; the last one that was recorded is the cause where the library gives up.
    """
    try:
        yield
    except (ClientError, OSError, ValueError, AssertionError) as error:
        where = f"{address.topic} at {', '.join(address.brokers)}"
        if failures:
            raise KafkaError(f"{where}: no answer: {_cause(address, failures[-1])}") from None
        raise KafkaError(f"{where}: {one_line(error)}") from error


def consumer(address: Address, **options: Any) -> KafkaConsumer:
    """A consumer in no group, which keeps its offsets itself.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """
    own = {"group_id": None, "enable_auto_commit": False, "fetch_max_wait_ms": 100}
    return _connect(KafkaConsumer, address, {**own, **RECONNECT, **options})


def producer(address: Address, **options: Any) -> KafkaProducer:
    """A producer that neither loses nor doubles a record, nor changes their order, whatever it must try again.

    Raises:
        KafkaError: no broker answers, or the settings are refused.
    """
    exactly_once = {"acks": "all", "enable_idempotence": True, "delivery_timeout_ms": DELIVERY_MS}
    batches = {"linger_ms": 0, "batch_size": BATCH_BYTES}
    return _connect(KafkaProducer, address, {**exactly_once, **batches, **RECONNECT, **options})


def make_topic(address: Address, partitions: int = 1) -> None:
    """Make a topic unless it exists, with as many copies of each partition as the cluster makes by default.

    Raises:
        KafkaError: it cannot be made.
    """
    admin = _connect(KafkaAdminClient, address, {})
    with translate_kafka_errors(address):
        try:
            admin.create_topics([NewTopic(address.topic, partitions, -1)])
        except TopicAlreadyExistsError:
            pass
        finally:
            admin.close()


def partitions_of(client: KafkaConsumer, address: Address) -> list[TopicPartition]:
    """The partitions of a topic.

    Raises:
        NoTopicError: there is no such topic.
    """
    with translate_kafka_errors(address):
        numbers = client.partitions_for_topic(address.topic)
    if not numbers:
        raise NoTopicError(f"there is no topic {address.topic!r} at {', '.join(address.brokers)}")
    return [TopicPartition(address.topic, number) for number in sorted(numbers)]


def poll_records(client: KafkaConsumer, wait_ms: int) -> Sequence[Any]:
    """The records that have arrived, of all partitions, each in its order; empty if none arrives within the wait."""
    polled = client.poll(timeout_ms=wait_ms)
    return [record for partition in sorted(polled) for record in polled[partition]]


def header_of(record: Any, name: str) -> str:
    """A header of a record; empty without one."""
    return (dict(record.headers or ()).get(name) or b"").decode("ascii", "replace")


def kind_of(record: Any) -> str:
    """The header ``kind`` of a record; empty without one."""
    return header_of(record, "kind")


def _connect(make: Callable[..., Client], address: Address, options: dict[str, Any]) -> Client:
    failures: deque[_Failure] = deque(maxlen=1)

    def client(**settings: Any) -> KafkaNetClient:
        net = NetworkSelector(**settings)
        return KafkaNetClient(net, _Connections(net, failures, **settings))

    with translate_kafka_errors(address, failures):
        return make(**{**connection(address), **BOOTSTRAP, **options, "kafka_client": client})


def _cause(address: Address, failure: _Failure) -> str:
    """The likely reason of a refused connection, in view of the settings of the client."""
    settings = connection(address)
    protocol, user = settings.get("security_protocol", "PLAINTEXT"), settings.get("sasl_plain_username", "")
    handshake = failure.error.__context__  # the library raises its own error while it handles that of the handshake
    if isinstance(handshake, ssl.SSLCertVerificationError):
        reason = handshake.verify_message
        return f"the broker's certificate is not trusted ({reason}); ssl_cafile must name who signed it"
    if isinstance(handshake, OSError):
        return f"no TLS could be agreed on ({one_line(handshake)}); is {protocol} right for this port?"
    refused = (KafkaConnectionError, KafkaProtocolError, SaslAuthenticationFailedError)
    if not failure.connected or not isinstance(failure.error, refused):
        return one_line(failure.error)
    if protocol.startswith("SASL_"):
        mechanism = settings.get("sasl_mechanism", "")
        return (
            f"the broker ended the connection while user {user!r} logged in with {mechanism} over {protocol}: "
            "password, user, mechanism or protocol is wrong"
        )
    return f"the broker ended the connection: {protocol} may be wrong for this port, it may want TLS or a login"
