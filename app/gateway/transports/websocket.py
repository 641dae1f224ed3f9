"""WebSocket: a message is a message; as a client with a subscription, or as a server that the vendor connects to."""

from __future__ import annotations

import asyncio
import contextlib

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from app.base.errors import one_line
from app.gateway.address import FeedAddress, FeedError, FeedSettings, tls_context
from app.gateway.message_tree import MESSAGE_BYTES_MAX
from app.gateway.profile import Profile
from app.gateway.transports.interface import Backoff, Deliver, LinkFigures
from app.gateway.transports.tcp import CONNECTIONS_MAX

_BROKEN = (OSError, ConnectionClosed, InvalidHandshake, InvalidURI, TimeoutError)


async def _receive(connection: Connection, deliver: Deliver, figures: LinkFigures) -> None:
    """Hand on a connection's messages until it closes."""
    figures.opened()
    reason = "the other side closed the connection"
    try:
        async for message in connection:
            deliver(message if isinstance(message, bytes) else message.encode(), "")
    except ConnectionClosed as error:
        reason = one_line(error)
        figures.overlong += error.sent is not None and error.sent.code == 1009  # RFC 6455, 7.4.1: too big
    finally:
        figures.closed(reason)


class WebSocketClient:
    """Connects and subscribes, again and again; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address = address
        self._hello = profile.subscription.text.replace("{secret}", settings.secret)
        self._tls = tls_context(settings, listens=False) if address.scheme == "wss" else None
        self.figures, self.port = LinkFigures(), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        backoff = Backoff()
        while True:
            try:
                async with connect(self._address.place, ssl=self._tls, max_size=MESSAGE_BYTES_MAX) as connection:
                    if self._hello:
                        await connection.send(self._hello)
                    backoff.reset()
                    await _receive(connection, deliver, self.figures)
            except _BROKEN as error:
                self.figures.failures += 1
                self.figures.trouble = one_line(error)
            await backoff.wait()


class WebSocketListener:
    """Waits for connections; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address = address
        self._tls = tls_context(settings, listens=True) if settings.certfile else None
        self.figures, self.port = LinkFigures(trouble="nobody has connected"), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""

        async def take(connection: ServerConnection) -> None:
            if self.figures.connected < CONNECTIONS_MAX:
                await _receive(connection, deliver, self.figures)

        try:
            server = await serve(
                take, self._address.host, self._address.port, ssl=self._tls, max_size=MESSAGE_BYTES_MAX
            )
        except OSError as error:
            raise FeedError(f"{self._address.place}: {error.strerror or one_line(error)}") from None
        self.port = next(iter(server.sockets)).getsockname()[1]
        async with server:
            await server.serve_forever()


class WebSocketSender:
    """Sends over WebSockets, connecting or listening; see :class:`app.gateway.transports.interface.Sender`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._settings = address, settings
        self._is_text = profile.format != "binary"
        self._connections: set[Connection] = set()
        self._somebody = asyncio.Event()
        self._stack = contextlib.AsyncExitStack()
        self.port = 0

    async def __aenter__(self) -> WebSocketSender:
        address, settings = self._address, self._settings
        try:
            if address.scheme == "ws-listen":
                tls = tls_context(settings, listens=True) if settings.certfile else None
                server: Server = await self._stack.enter_async_context(
                    serve(self._accept, address.host, address.port, ssl=tls)
                )
                self.port = next(iter(server.sockets)).getsockname()[1]
            else:
                tls = tls_context(settings, listens=False) if address.scheme == "wss" else None
                self._connections.add(await self._stack.enter_async_context(connect(address.place, ssl=tls)))
                self._somebody.set()
        except _BROKEN as error:
            raise FeedError(f"{address.place}: {one_line(error)}") from None
        return self

    async def _accept(self, connection: ServerConnection) -> None:
        self._connections.add(connection)
        self._somebody.set()
        await connection.wait_closed()
        self._connections.discard(connection)

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def ready(self) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        await self._somebody.wait()

    async def send(self, message: bytes, topic: str) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        content = message.decode() if self._is_text else message
        for connection in tuple(self._connections):
            with contextlib.suppress(ConnectionClosed):
                await connection.send(content)
