"""Streams of the API: the same messages as server-sent events or over a WebSocket.

A stream asks its source for the next message at intervals, and waits while the client reads slowly: nothing is
buffered for it. A client that reads nothing at all is disconnected (``dashboard/connections.py``).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

import msgspec
from sse_starlette import EventSourceResponse
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.api.limits import StreamLimit
from app.api.schemas import refused
from dashboard.server import STOPPING

#: Interval at which a stream looks for news.
TICK_S: Final = 0.04
#: Time after which a stream without news sends something, so that its client can tell silence from loss.
ALIVE_S: Final = 5.0

#: Returns the next message and its id, None if there is no news.
Next = Callable[[], Awaitable[tuple[object, str] | None]]


class Stream:
    """Sends the messages of a source to one client.

    Args:
        limit: counts the open streams.
        next_message: returns the next message, see ``Next``.
        tick_s: interval at which it is called.
    """

    def __init__(self, limit: StreamLimit, next_message: Next, tick_s: float = TICK_S) -> None:
        self._limit, self._next, self._tick_s = limit, next_message, tick_s

    def events(self, connection: HTTPConnection) -> _Events:
        """Return the stream as server-sent events."""
        return _Events(self._limit, self._as_events(connection))

    async def serve(self, socket: WebSocket) -> None:
        """Serve the stream over a WebSocket. What the client sends is ignored."""
        if self._limit.is_full:
            await socket.send_denial_response(refused("too many streams are open", 503))
            return
        await socket.accept()
        with self._limit.opened():
            sending = asyncio.create_task(self._send(socket))
            try:
                while (await socket.receive())["type"] != "websocket.disconnect":
                    pass
            finally:
                sending.cancel()

    async def _send(self, socket: WebSocket) -> None:
        encoder = msgspec.json.Encoder()
        with suppress(WebSocketDisconnect):
            async for message in self._messages(socket):
                if message is not None:
                    await socket.send_text(encoder.encode(message[0]).decode())
            await socket.close(1001)  # the server stops

    async def _as_events(self, connection: HTTPConnection) -> AsyncIterator[bytes]:
        encoder = msgspec.json.Encoder()
        yield b"retry: 1000\n\n"
        async for message in self._messages(connection):
            if message is None:
                yield b": no news\n\n"
            else:
                number = f"id: {message[1]}\n" if message[1] else ""
                yield number.encode() + b"data: " + encoder.encode(message[0]) + b"\n\n"

    async def _messages(self, connection: HTTPConnection) -> AsyncIterator[tuple[object, str] | None]:
        """Yield messages, and None where there were none for ``ALIVE_S``."""
        stopping: threading.Event = connection.scope[STOPPING]
        sent_s = time.monotonic()
        while not stopping.is_set():
            message = await self._next()
            if message is not None or time.monotonic() - sent_s > ALIVE_S:
                yield message
                sent_s = time.monotonic()
            await asyncio.sleep(self._tick_s)


class _Events(EventSourceResponse):
    """Server-sent events that are counted while they are open."""

    def __init__(self, limit: StreamLimit, messages: AsyncIterator[bytes]) -> None:
        super().__init__(messages, ping=0)
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._limit.is_full:
            await refused("too many streams are open", 503)(scope, receive, send)
            return
        with self._limit.opened():
            await super().__call__(scope, receive, send)
