"""Addresses of feeds, and the settings file with the secrets of a connection.

    tcp://host:port               connects;     tcp-listen://host:port   waits for connections
    udp://host:port               receives datagrams there; of a multicast group with ``interface=ADDRESS``
    ws://host:port/path, wss://   connects;     ws-listen://host:port    waits for connections
    mqtt://host:port, mqtts://    subscribes; ``version=3|5``, ``group=NAME`` (shared subscription), ``topic=NAME``
    file:PATH                     a file that grows; ``start=end`` leaves out what it has

``profile=P`` names the profile, ``name=N`` the feed, ``priority=N`` its rank among feeds of the same objects (0 first),
``tags=FILE`` a table of tags, ``settings=FILE`` a TOML file. Users, passwords and keys are never part of an address:

    user = "touchline"
    password_env = "MQTT_PASSWORD"     # or password, or password_file
    secret_file = "key.txt"            # {secret} in the profile's subscription; or secret, secret_env
    cafile = "ca.pem"                  # authority of the server's certificate
    certfile = "client.pem"            # certificate of this side, with keyfile; a listener with it speaks TLS
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from football.errors import UserError
from football.untrusted import UntrustedError, is_text, read_toml

Scheme = Literal["tcp", "tcp-listen", "udp", "ws", "wss", "ws-listen", "mqtt", "mqtts", "file"]

_PORTS = {"mqtt": 1883, "mqtts": 8883, "ws": 80, "wss": 443}
_SCHEMES = ("tcp", "tcp-listen", "udp", "ws", "wss", "ws-listen", "mqtt", "mqtts", "file")
_OPTIONS = frozenset(
    ("profile", "name", "priority", "settings", "tags", "interface", "version", "group", "topic", "start"),
)


class FeedError(UserError, ValueError):
    """A feed that cannot be used; the message names its address, without secrets, and the reason."""


class FeedAddress(msgspec.Struct, frozen=True):
    """Address of a feed.

    Attributes:
        scheme: see the module.
        host, port: of the network; of a file empty and 0.
        path: of a WebSocket or a file.
        profile, name, priority, settings, tags: see the module; ``name`` is made of scheme and place without one.
        interface: address of the interface that joins a multicast group.
        version: of MQTT.
        group: of a shared subscription.
        topic: of MQTT, in place of the profile's.
        start: of a file, ``begin`` or ``end``.
    """

    scheme: Scheme
    host: str = ""
    port: int = 0
    path: str = ""
    profile: str = ""
    name: str = ""
    priority: int = 0
    settings: str = ""
    tags: str = ""
    interface: str = ""
    version: Literal[3, 5] = 5
    group: str = ""
    topic: str = ""
    start: Literal["begin", "end"] = "begin"

    @property
    def place(self) -> str:
        """The address without options."""
        if self.scheme == "file":
            return f"file:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    @property
    def url(self) -> str:
        """The address as text; :func:`parse_feed` of it gives it again."""
        given = {name: str(getattr(self, name)) for name in sorted(_OPTIONS)}
        bare = FeedAddress(self.scheme)
        query = urlencode({name: value for name, value in given.items() if value != str(getattr(bare, name))})
        return self.place + (f"?{query}" if query else "")

    def with_absolute_paths(self, folder: Path) -> FeedAddress:
        """The address with absolute paths of its files; relative ones start at ``folder``."""
        names = ("settings", "tags", *(("path",) if self.scheme == "file" else ()))
        names += ("profile",) if (folder / self.profile).is_file() else ()
        found = {name: str((folder / getattr(self, name)).resolve()) for name in names if getattr(self, name)}
        return msgspec.structs.replace(self, **found)

    @property
    def can_be_shared(self) -> bool:
        """True if two processes can receive the whole feed at a time."""
        if self.scheme == "udp":
            with contextlib.suppress(ValueError):
                return ipaddress.ip_address(self.host).is_multicast
            return False
        return not self.scheme.endswith("-listen") and not self.group

    @property
    def label(self) -> str:
        """Name of the feed for people."""
        return self.name or self.place


def parse_feed(url: str) -> FeedAddress:
    """Parse the address of a feed.

    Raises:
        FeedError: it is none, or holds a user or a password, which the message does not repeat.
    """
    plain = url.partition("?")[0].rpartition("@")[2]
    if not is_text(url, 2_000) or url != url.strip():
        raise FeedError("an address of a feed has white space at an end, or characters that cannot be seen")
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query), keep_blank_values=True))
        port = parts.port
    except ValueError as error:
        raise FeedError(f"{plain}: not an address of a feed: {error}") from None
    if "@" in parts.netloc:
        raise FeedError(f"{plain}: an address holds no user or password: put them into a file named by ?settings=")
    if parts.scheme not in _SCHEMES:
        raise FeedError(f"{plain}: must begin with one of {', '.join(_SCHEMES)}")
    if unknown := set(options) - _OPTIONS:
        raise FeedError(f"{plain}: there is no option {', '.join(sorted(unknown))}: {', '.join(sorted(_OPTIONS))} are")
    port = port if port is not None else _PORTS.get(parts.scheme, 0)
    if parts.scheme == "file":
        place = {"path": parts.netloc + parts.path}
        if not place["path"]:
            raise FeedError(f"{plain}: no path of a file")
    elif not parts.hostname or not (port > 0 or parts.scheme in ("tcp-listen", "ws-listen", "udp")):
        raise FeedError(f"{plain}: must be {parts.scheme}://host:port")
    else:
        place = {"host": parts.hostname, "port": port, "path": parts.path}
    try:
        return msgspec.convert({"scheme": parts.scheme, **place, **options}, FeedAddress, strict=False)
    except msgspec.ValidationError as error:
        raise FeedError(f"{plain}: {error}") from None


class FeedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Secrets and certificates of a connection; never logged, never shown."""

    user: str = ""
    password: str = ""
    password_file: str = ""
    password_env: str = ""
    secret: str = ""
    secret_file: str = ""
    secret_env: str = ""
    cafile: str = ""
    certfile: str = ""
    keyfile: str = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no log may show."""
        return tuple(text for text in (self.password, self.secret) if text)


def read_settings(address: FeedAddress, environment: Mapping[str, str] = os.environ) -> FeedSettings:
    """Read the settings of a connection, with secrets from files and variables in their places.

    Raises:
        FeedError: the file cannot be read or has other keys; values are not repeated.
    """
    if not address.settings:
        return FeedSettings()
    path = Path(address.settings)
    try:
        given = msgspec.convert(read_toml(path), FeedSettings)
    except OSError as error:
        raise FeedError(f"{path}: cannot be read: {error.strerror}") from None
    except UntrustedError:
        raise FeedError(f"{path}: is not TOML") from None
    except msgspec.ValidationError as error:
        raise FeedError(f"{path}: {error}") from None
    found = {name: _settled(given, name, path, environment) for name in ("password", "secret")}
    for name in ("cafile", "certfile", "keyfile"):
        if file := getattr(given, name):
            found[name] = str(path.parent / file)
            if not Path(found[name]).is_file():
                raise FeedError(f"{path}: {name}: there is no file {found[name]}")
    return msgspec.structs.replace(given, **found)


def tls_context(settings: FeedSettings, *, listens: bool) -> ssl.SSLContext:
    """Return the TLS settings of a connection; the server's certificate is always verified by a client.

    Raises:
        FeedError: a certificate cannot be used.
    """
    try:
        if listens:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=settings.cafile or None)
        else:
            context = ssl.create_default_context(cafile=settings.cafile or None)
        if settings.certfile:
            context.load_cert_chain(settings.certfile, settings.keyfile or None)
    except (OSError, ssl.SSLError) as error:
        raise FeedError(f"certificates cannot be used: {getattr(error, 'reason', None) or error}") from None
    return context


def _settled(given: FeedSettings, name: str, path: Path, environment: Mapping[str, str]) -> str:
    forms = [form for form in (name, f"{name}_file", f"{name}_env") if getattr(given, form)]
    if len(forms) > 1:
        raise FeedError(f"{path}: {' and '.join(forms)}: one is enough")
    if not forms:
        return ""
    value: str = getattr(given, forms[0])
    if forms[0].endswith("_env"):
        if value not in environment:
            raise FeedError(f"{path}: {forms[0]}: there is no variable {value}")
        return environment[value]
    if forms[0].endswith("_file"):
        try:
            return (path.parent / value).read_text(encoding="utf-8").removesuffix("\n")
        except (OSError, UnicodeDecodeError):
            raise FeedError(f"{path}: {forms[0]}: {value} cannot be read") from None
    return value
