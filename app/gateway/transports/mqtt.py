"""MQTT 3.1.1 and 5 by paho-mqtt, in the gateway's event loop: a published message is a message, with its topic."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from app.base.errors import one_line
from app.gateway.address import FeedAddress, FeedError, FeedSettings, tls_context
from app.gateway.message_tree import MESSAGE_BYTES_MAX
from app.gateway.profile import Profile
from app.gateway.transports.interface import Backoff, Deliver, LinkFigures

#: Interval at which the client looks after its connection.
_KEEP_S = 1.0

_KEEPALIVE_S = 20

#: Reads of the socket before other work gets its turn.
_AT_ONCE = 64


def _client(address: FeedAddress, settings: FeedSettings) -> paho.Client:
    """Return a client that is not connected."""
    version = paho.MQTTv5 if address.version == 5 else paho.MQTTv311
    client = paho.Client(CallbackAPIVersion.VERSION2, protocol=version, reconnect_on_failure=False)
    if settings.user:
        client.username_pw_set(settings.user, settings.password or None)
    if address.scheme == "mqtts":
        client.tls_set_context(tls_context(settings, listens=False))
    return client


class _Loop:
    """Runs a client's socket in the event loop; paho-mqtt would otherwise want a thread."""

    def __init__(self, client: paho.Client) -> None:
        self._client, self._loop = client, asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.over = self._loop.create_future()
        client.on_socket_open = lambda c, d, sock: self._call(self._loop.add_reader, sock.fileno(), self._read)
        client.on_socket_close = self._closed
        client.on_socket_register_write = lambda c, d, sock: self._call(
            self._loop.add_writer, sock.fileno(), c.loop_write
        )
        client.on_socket_unregister_write = lambda c, d, sock: self._call(self._loop.remove_writer, sock.fileno())
        client.on_disconnect = self._disconnected

    def _call(self, call: Callable[..., object], *arguments: Any) -> None:
        """Call in the loop's thread: a connection is opened in another one."""
        if threading.get_ident() == self._thread:
            call(*arguments)
        else:
            self._loop.call_soon_threadsafe(call, *arguments)

    def _read(self) -> None:
        for _ in range(_AT_ONCE):
            self._client.loop_read()
            # TLS may hold a decrypted rest that no selector sees.
            pending = getattr(self._client.socket(), "pending", None)
            if pending is None or not pending():
                return
        self._loop.call_soon(self._read)

    def _closed(self, client: paho.Client, data: Any, sock: socket.socket) -> None:
        for remove in (self._loop.remove_reader, self._loop.remove_writer):
            self._call(remove, sock.fileno())

    def _disconnected(self, client: paho.Client, data: Any, flags: Any, code: ReasonCode, properties: Any) -> None:
        if not self.over.done():
            self.over.set_result(str(code))

    async def keep(self) -> str:
        """Look after the connection until it breaks; returns the reason."""
        while not self.over.done():
            await asyncio.wait([self.over], timeout=_KEEP_S)
            if not self.over.done():
                self._client.loop_misc()
        return str(self.over.result())


class MqttSubscriber:
    """Subscribes, again and again; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._settings = address, settings
        topic = address.topic or profile.subscription.topic
        self._topic = f"$share/{address.group}/{topic}" if address.group else topic
        if address.group and address.version != 5:
            raise FeedError(f"{address.place}: shared subscriptions are of MQTT 5: version=5")
        self._qos = profile.subscription.qos
        self.figures, self.port = LinkFigures(), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        backoff = Backoff()
        while True:
            if await self._session(deliver):
                backoff.reset()
            await backoff.wait()

    async def _session(self, deliver: Deliver) -> bool:
        """Connect, and receive until the connection breaks; returns whether there was one."""
        client = _client(self._address, self._settings)
        link = _Loop(client)
        subscribed = False

        def on_connect(c: paho.Client, data: Any, flags: Any, code: ReasonCode, properties: Properties | None) -> None:
            if code.is_failure:
                self.figures.trouble = str(code)
            else:
                c.subscribe(self._topic, self._qos)

        def on_subscribe(
            c: paho.Client, data: Any, number: int, codes: list[ReasonCode], properties: Properties | None
        ) -> None:
            nonlocal subscribed
            if any(code.is_failure for code in codes):
                self.figures.trouble = f"subscription to {self._topic} refused: {codes[0]}"
                c.disconnect()
                return
            subscribed = True
            self.figures.opened()

        def on_message(c: paho.Client, data: Any, message: paho.MQTTMessage) -> None:
            if len(message.payload) > MESSAGE_BYTES_MAX:
                self.figures.overlong += 1
            else:
                deliver(message.payload, message.topic)

        client.on_connect, client.on_subscribe, client.on_message = on_connect, on_subscribe, on_message
        try:
            host, port = self._address.host, self._address.port
            await asyncio.get_running_loop().run_in_executor(None, client.connect, host, port, _KEEPALIVE_S)
            reason = await link.keep()
            if subscribed:
                self.figures.closed(reason)
            else:
                self.figures.failures += 1
                self.figures.trouble = self.figures.trouble or reason
        except (OSError, ValueError) as error:
            self.figures.failures += 1
            self.figures.trouble = one_line(error)
        finally:
            client.disconnect()
        return subscribed


class MqttSender:
    """Publishes; see :class:`app.gateway.transports.interface.Sender`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._settings, self._qos = address, settings, profile.subscription.qos
        self._client: paho.Client | None = None
        self._task: asyncio.Task[str] | None = None
        self.port = 0

    async def __aenter__(self) -> MqttSender:
        client = _client(self._address, self._settings)
        client.max_queued_messages_set(0)
        link, opened = _Loop(client), asyncio.get_running_loop().create_future()
        client.on_connect = lambda c, d, f, code, p: opened.done() or opened.set_result(code)
        try:
            host, port = self._address.host, self._address.port
            await asyncio.get_running_loop().run_in_executor(None, client.connect, host, port, _KEEPALIVE_S)
            self._task = asyncio.create_task(link.keep())
            code = await asyncio.wait_for(opened, 10.0)
        except (OSError, ValueError, TimeoutError) as error:
            raise FeedError(f"{self._address.place}: {one_line(error)}") from None
        if code.is_failure:
            raise FeedError(f"{self._address.place}: {code}")
        self._client = client
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._client is not None:
            while self._client.want_write():
                await asyncio.sleep(0.01)
            self._client.disconnect()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def ready(self) -> None:
        """See :class:`app.gateway.transports.interface.Sender`. A broker does not say who subscribes."""

    async def send(self, message: bytes, topic: str) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        assert self._client is not None
        self._client.publish(topic, message, self._qos)
        if self._client.want_write():
            await asyncio.sleep(0)
