"""Limits on connections: their number, the time in which a request arrives, the time in which a client reads nothing.

uvicorn itself limits running requests and the pause between two requests. It waits forever for the first request of a
connection, for the rest of a request and for a client that stops reading. Each of these occupies a file descriptor, so
each has a limit here. The number is limited for each port and for all ports of the process, since a match that finds no
descriptor for its files ends.
"""

from __future__ import annotations

import asyncio
import math
import socket
from contextlib import suppress
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

#: Open connections of one server. A browser opens up to six for a page, of which one stays.
CONNECTIONS_MAX: Final = 100
#: Open connections of all servers of this process: a third of the descriptors that a process usually may have.
PROCESS_CONNECTIONS_MAX: Final = 300
#: Time from the opening of a connection, or from the first byte of a later request, to the request's last byte.
REQUEST_S: Final = 10.0
#: Time after which a client that reads nothing of its response is disconnected.
WRITE_S: Final = 20.0
#: Time after which a client that reads nothing may be disconnected in favour of a new one.
STALL_S: Final = 2.0
#: Size of a message that a client may send over a WebSocket.
SOCKET_BYTES_MAX: Final = 4_096
#: Connections that the event loop accepts before it closes those beyond the limit, and that wait in the kernel.
ACCEPTED_AT_ONCE: Final = 16
_WAITING: Final = 256

_REASON: Final = b"Too many connections are open.\n"
_FULL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_REASON), _REASON)
)


#: Connections of all servers of this process. Each server has a thread; single operations on a set are atomic.
_open: set[_BoundedReader] = set()


class BoundedServer(uvicorn.Server):
    """uvicorn's server. It accepts few connections at a time, while many may wait in the kernel.

    The event loop takes the number that a socket lets wait also as the number that it accepts in a row.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_WAITING)


class _BoundedReader:
    """The part of a connection that disconnects a client which reads nothing of what is sent to it."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    connections: set[Any]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._opened_s = self.loop.time()
        self._stalled_s = math.inf
        self._evicted = False
        self._write_timer: asyncio.TimerHandle | None = None

    def is_idle(self) -> bool:
        """True if no request is running."""
        return False

    def is_stalled(self) -> bool:
        """True if the client has not read its response for some time."""
        return self.loop.time() - self._stalled_s > STALL_S

    def pause_writing(self) -> None:
        """Limit the time in which the client reads nothing, once it reads more slowly than the application writes."""
        super().pause_writing()
        self._stalled_s = self.loop.time()
        self._await_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stalled_s = math.inf
        self._write_timer = _cancel(self._write_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        _open.discard(self)
        self._write_timer = _cancel(self._write_timer)
        super().connection_lost(exc)

    def _await_reader(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        self._write_timer = self.loop.call_later(WRITE_S, self._check_reader, unsent)

    def _check_reader(self, unsent_before: int) -> None:
        if self.transport.get_write_buffer_size() >= unsent_before:
            self.transport.abort()
        else:
            self._await_reader()


class BoundedSocket(_BoundedReader, WSProtocol):
    """uvicorn's WebSocket, which counts as the connection that it was before.

    A message of the client has at most ``SOCKET_BYTES_MAX``; the streams read none, so at most one waits in memory.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _open.add(self)

    def is_idle(self) -> bool:
        """True if this side has closed it, and only the client's word is missing."""
        return bool(self.close_sent)


class BoundedProtocol(_BoundedReader, H11Protocol):
    """uvicorn's HTTP/1.1 connection with limits of number and time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._request_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection. Beyond a limit, close the oldest one that does nothing, or refuse this one."""
        super().connection_made(transport)
        _open.add(self)
        self._limit_request_time()
        everyone = [one for one in list(_open) if not one._evicted and not one.transport.is_closing()]
        own = [one for one in everyone if one.connections is self.connections]
        if len(own) <= CONNECTIONS_MAX and len(everyone) <= PROCESS_CONNECTIONS_MAX:
            return
        others = own if len(own) > CONNECTIONS_MAX else everyone
        spare = [one for one in others if one is not self and (one.is_idle() or one.is_stalled())]
        if not spare:
            self._evicted = True
            transport.write(_FULL)
            transport.close()
            return
        oldest = min(spare, key=lambda one: (not one.is_idle(), one._opened_s))
        oldest._evicted = True
        with suppress(RuntimeError):  # its server has stopped meanwhile
            oldest.loop.call_soon_threadsafe(oldest.transport.abort)

    def is_idle(self) -> bool:
        """True if no request is running."""
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self in _open:  # else it is a WebSocket now
            self._limit_request_time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_timer = _cancel(self._request_timer)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand the connection over to a WebSocket."""
        self._request_timer = _cancel(self._request_timer)
        _open.discard(self)
        super().handle_websocket_upgrade(event)

    def shutdown(self) -> None:
        """Let a running response end, but do not wait for a client that does not send or does not read."""
        super().shutdown()
        if self._request_timer is not None or self._write_timer is not None:
            self.transport.abort()

    def _limit_request_time(self) -> None:
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._request_timer = _cancel(self._request_timer)
        elif self._request_timer is None:
            self._request_timer = self.loop.call_later(REQUEST_S, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
