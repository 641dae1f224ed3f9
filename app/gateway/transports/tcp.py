"""TCP: a stream of bytes in either direction of connecting, cut into messages by the profile's framing."""

from __future__ import annotations

import asyncio
import ssl

from app.base.errors import one_line
from app.gateway.address import FeedAddress, FeedError, FeedSettings, tls_context
from app.gateway.framing import Cutter, framed
from app.gateway.profile import Profile
from app.gateway.transports.interface import Backoff, Deliver, LinkFigures

#: Connections that a listener takes at a time.
CONNECTIONS_MAX = 16


class _Connection(asyncio.Protocol):
    """One connection of a feed."""

    def __init__(self, profile: Profile, deliver: Deliver, figures: LinkFigures, hello: bytes, limit: int) -> None:
        self._cutter = Cutter(profile.framing)
        self._profile, self._deliver, self._figures, self._hello, self._limit = profile, deliver, figures, hello, limit
        self._transport: asyncio.Transport | None = None
        self._counted = False
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if self._figures.connected >= self._limit:
            transport.abort()
            return
        self._counted = True
        self._figures.opened()
        if self._hello:
            transport.write(framed(self._hello, self._profile.framing))

    def data_received(self, data: bytes) -> None:
        before = self._cutter.overlong
        for message in self._cutter.feed(data):
            self._deliver(message, "")
        self._figures.overlong += self._cutter.overlong - before
        if self._cutter.is_broken and self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if self._counted:
            if self._profile.framing.cut == "lines" and (rest := self._cutter.rest()):
                self._deliver(rest, "")
            self._figures.closed(one_line(error) if error else "the other side closed the connection")
        if not self.over.done():
            self.over.set_result(None)


class TcpClient:
    """Connects to the vendor's server, again and again; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._profile = address, profile
        self._hello = profile.subscription.text.replace("{secret}", settings.secret).encode()
        self._tls = tls_context(settings, listens=False) if settings.cafile else None
        self.figures, self.port = LinkFigures(), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        loop, backoff = asyncio.get_running_loop(), Backoff()
        while True:
            try:
                transport, connection = await loop.create_connection(
                    lambda: _Connection(self._profile, deliver, self.figures, self._hello, 1),
                    self._address.host, self._address.port, ssl=self._tls,
                )  # fmt: skip
            except (OSError, ssl.SSLError) as error:
                self.figures.failures += 1
                self.figures.trouble = one_line(error)
            else:
                backoff.reset()
                try:
                    await connection.over
                finally:
                    transport.abort()
            await backoff.wait()


class TcpListener:
    """Waits for the vendor's connections; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._profile = address, profile
        self._tls = tls_context(settings, listens=True) if settings.certfile else None
        self.figures, self.port = LinkFigures(trouble="nobody has connected"), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        try:
            server = await asyncio.get_running_loop().create_server(
                lambda: _Connection(self._profile, deliver, self.figures, b"", CONNECTIONS_MAX),
                self._address.host, self._address.port, ssl=self._tls,
            )  # fmt: skip
        except OSError as error:
            raise FeedError(f"{self._address.place}: {error.strerror or one_line(error)}") from None
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            await server.serve_forever()


class TcpSender:
    """Sends over TCP, connecting or listening; see :class:`app.gateway.transports.interface.Sender`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address, self._profile, self._settings = address, profile, settings
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._somebody = asyncio.Event()
        self.port = 0

    async def __aenter__(self) -> TcpSender:
        host, port = self._address.host, self._address.port
        try:
            if self._address.scheme == "tcp-listen":
                tls = tls_context(self._settings, listens=True) if self._settings.certfile else None
                self._server = await asyncio.start_server(self._accept, host, port, ssl=tls)
                self.port = self._server.sockets[0].getsockname()[1]
            else:
                tls = tls_context(self._settings, listens=False) if self._settings.cafile else None
                await self._accept(*await asyncio.open_connection(host, port, ssl=tls))
        except OSError as error:
            raise FeedError(f"{self._address.place}: {one_line(error)}") from None
        return self

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self._somebody.set()

    async def __aexit__(self, *error: object) -> None:
        for writer in self._writers:
            writer.close()
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def ready(self) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        await self._somebody.wait()

    async def send(self, message: bytes, topic: str) -> None:
        """See :class:`app.gateway.transports.interface.Sender`."""
        data = framed(message, self._profile.framing)
        for writer in tuple(self._writers):
            try:
                writer.write(data)
                await writer.drain()
            except OSError:
                self._writers.discard(writer)
