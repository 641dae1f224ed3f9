"""Addresses of topics, ``kafka://host:port/topic``, and the settings file with the secrets of a connection.

    kafka://broker1:9092,broker2:9092/positions?match=final&start=latest

``start`` is ``earliest`` (the default), ``latest`` or a time (ISO 8601); ``match`` names one of several matches in a
topic. User names, passwords and certificates never stand in an address, since addresses are logged, stored and seen in
process lists. They come from a TOML file, named by ``settings=FILE`` or by ``TOUCHLINE_KAFKA_SETTINGS``, with the
names that kafka-python gives them, files relative to it:

    security_protocol = "SASL_SSL"
    ssl_cafile = "ca.pem"
    sasl_mechanism = "SCRAM-SHA-512"
    sasl_plain_username = "touchline"
    sasl_plain_password_env = "KAFKA_PASSWORD"

A password stands there (``sasl_plain_password``, ``ssl_password``), in a file of its own (``..._file``) or in an
environment variable (``..._env``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from football.errors import UserError
from football.untrusted import UntrustedError, read_toml

SCHEME = "kafka"
SETTINGS_VARIABLE = "TOUCHLINE_KAFKA_SETTINGS"

#: Keys of a settings file: how to connect, never what to read.
ALLOWED = frozenset(
    (
        "security_protocol", "ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_password", "ssl_crlfile", "ssl_ciphers",
        "ssl_check_hostname", "sasl_mechanism", "sasl_plain_username", "sasl_plain_password",
        "sasl_kerberos_service_name", "sasl_kerberos_domain_name", "request_timeout_ms", "client_id",
    )
)  # fmt: skip

#: Secrets, which may also stand in a file or a variable of their own.
SECRETS = ("sasl_plain_password", "ssl_password")
_CHOICES = {
    "security_protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "sasl_mechanism": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"),
}
_FILES = ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_crlfile")

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")


class KafkaError(UserError):
    """An address, a topic or a broker that cannot be used; the message names it and the reason."""


class Address(msgspec.Struct, frozen=True):
    """A topic on a cluster.

    Attributes:
        brokers: ``host:port`` of one broker or more.
        topic: its name.
        match: one of the topic's matches; empty for the only one.
        start: ``earliest``, ``latest``, or an ISO 8601 time.
        settings: file with the settings of the connection; empty for none.
    """

    brokers: tuple[str, ...]
    topic: str
    match: str = ""
    start: str = "earliest"
    settings: str = ""

    @property
    def url(self) -> str:
        """The address as text; ``parse`` of it gives it again."""
        asked = {"match": self.match, "start": self.start, "settings": self.settings}
        query = urlencode({name: value for name, value in asked.items() if value and value != "earliest"})
        return f"{SCHEME}://{','.join(self.brokers)}/{self.topic}" + (f"?{query}" if query else "")

    @property
    def start_ms(self) -> int | None:
        """The time to start at, in ms since 1970; None if ``start`` is a word."""
        return (
            None
            if self.start in ("earliest", "latest")
            else round(datetime.fromisoformat(self.start).timestamp() * 1e3)
        )

    def sibling(self, suffix: str) -> Address:
        """The topic of the same cluster whose name has a suffix more."""
        return msgspec.structs.replace(self, topic=f"{self.topic}{suffix}")


def is_kafka(source: str) -> bool:
    """True if a source is the address of a topic."""
    return source.startswith(f"{SCHEME}://")


def parse(url: str) -> Address:
    """The address in a URL.

    Raises:
        KafkaError: it is no address, or holds a secret, which the message does not repeat.
    """
    try:
        # urlsplit ignores white space and control characters; the address of a resumed run must be the same.
        if not url.isprintable() or url != url.strip():
            raise ValueError("it has white space at an end, or characters that cannot be seen")
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError as error:
        raise KafkaError(f"not an address of a topic: {error}") from None
    if "@" in parts.netloc:
        raise KafkaError(
            "an address holds no user or password: put them into a file, and name that by ?settings= or by "
            f"{SETTINGS_VARIABLE}"
        )
    plain = url.partition("?")[0]  # the query may hold a secret, and messages are logged
    topic = parts.path.removeprefix("/")
    if not is_kafka(url) or not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        raise KafkaError(f"{plain}: must be kafka://host:port/topic, and a topic letters, digits, '.', '_' and '-'")
    brokers = tuple(_broker(text, plain) for text in parts.netloc.split(","))
    if unknown := set(query) - {"match", "start", "settings"}:
        raise KafkaError(
            f"{plain}: there is no {', '.join(sorted(unknown))} to ask for, only match, start and settings"
        )
    address = Address(brokers, topic, **query)
    try:
        _ = address.start_ms
    except ValueError:
        raise KafkaError(f"{plain}: start must be earliest, latest or a time like 2026-11-21T15:00:00Z") from None
    return address


def with_absolute_settings(url: str, folder: Path) -> str:
    """The address with an absolute path of its settings file, which starts at ``folder``; a wrong one unchanged."""
    try:
        address = parse(url)
    except KafkaError:
        return url
    if not address.settings or Path(address.settings).is_absolute():
        return url
    return msgspec.structs.replace(address, settings=str((folder / address.settings).resolve())).url


def connection(address: Address, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Settings of kafka-python's clients, secrets included: only for these clients.

    Raises:
        KafkaError: the settings file cannot be read, or has other keys; values are not repeated.
    """
    settings: dict[str, Any] = {"bootstrap_servers": list(address.brokers)}
    name = address.settings or environment.get(SETTINGS_VARIABLE, "")
    if not name:
        return settings
    try:
        given = read_toml(Path(name))
    except OSError as error:
        raise KafkaError(f"{name}: cannot be read: {error.strerror or 'not text'}") from None
    except UntrustedError:
        raise KafkaError(f"{name}: is not TOML") from None
    known = ALLOWED.union(*({f"{secret}_file", f"{secret}_env"} for secret in SECRETS))
    if unknown := set(given) - known:
        raise KafkaError(f"{name}: {', '.join(sorted(unknown))}: unknown; known are {', '.join(sorted(known))}")
    for key, choices in _CHOICES.items():
        if key in given and given[key] not in choices:
            raise KafkaError(f"{name}: {key}: must be one of {', '.join(choices)}")
    for secret in SECRETS:
        _settle(given, secret, Path(name), environment)
    for file in _FILES:
        if isinstance(given.get(file), str):
            given[file] = str(Path(name).parent / given[file])
            if not Path(given[file]).is_file():
                raise KafkaError(f"{name}: {file}: there is no file {given[file]}")
    return {**settings, **given}


def _settle(given: dict[str, Any], secret: str, settings: Path, environment: Mapping[str, str]) -> None:
    """Put a secret that a file or a variable holds into ``given``."""
    forms = [form for form in (secret, f"{secret}_file", f"{secret}_env") if form in given]
    if len(forms) > 1:
        raise KafkaError(f"{settings}: {' and '.join(forms)}: one is enough")
    if not forms or forms == [secret]:
        return
    where = str(given.pop(forms[0]))
    if forms[0].endswith("_env"):
        if where not in environment:
            raise KafkaError(f"{settings}: {forms[0]}: there is no variable {where}")
        given[secret] = environment[where]
        return
    try:
        given[secret] = (settings.parent / where).read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text"
        raise KafkaError(f"{settings}: {forms[0]}: {where} cannot be read: {reason}") from None


def _broker(text: str, url: str) -> str:
    parts = re.fullmatch(r"([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?", text)
    if parts is None or not 0 < int(parts[2] or 9092) < 65536:
        raise KafkaError(f"{url}: {text!r} is not host:port")
    return f"{parts[1]}:{parts[2] or 9092}"
