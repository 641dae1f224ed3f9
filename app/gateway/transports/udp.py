"""UDP: a datagram is a message; unicast, or a multicast group that the socket joins."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct

from app.base.errors import one_line
from app.gateway.address import FeedAddress, FeedError, FeedSettings
from app.gateway.profile import Profile
from app.gateway.transports.interface import Deliver, LinkFigures

#: Receive buffer that is asked for; the kernel gives at most ``net.core.rmem_max``.
BUFFER_BYTES = 8 << 20

#: Datagrams that are taken before other work gets its turn.
_AT_ONCE = 256

_DATAGRAM_BYTES_MAX = 65_535

#: Linux's option that tells a socket's memory (``SO_MEMINFO``); the last of its nine numbers are datagrams dropped.
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("9I")

_LOOK_S = 0.5


class UdpReceiver:
    """Receives datagrams; see :class:`app.gateway.transports.interface.Transport`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address = address
        self.figures, self.port = LinkFigures(), 0

    async def run(self, deliver: Deliver) -> None:
        """See :class:`app.gateway.transports.interface.Transport`."""
        try:
            receiver = self._open()
        except OSError as error:
            raise FeedError(f"{self._address.place}: {error.strerror or one_line(error)}") from None
        self.port = receiver.getsockname()[1]
        self.figures.opened()

        def receive() -> None:
            for _ in range(_AT_ONCE):
                try:
                    deliver(receiver.recv(_DATAGRAM_BYTES_MAX), "")
                except BlockingIOError:
                    return
                except OSError as error:  # an ICMP answer to something earlier
                    self.figures.failures += 1
                    self.figures.trouble = one_line(error)
                    return

        loop = asyncio.get_running_loop()
        loop.add_reader(receiver, receive)
        try:
            while True:
                await asyncio.sleep(_LOOK_S)
                self.figures.dropped = _dropped(receiver)
        finally:
            loop.remove_reader(receiver)
            receiver.close()

    def _open(self) -> socket.socket:
        host, port = self._address.host, self._address.port
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        group = ipaddress.ip_address(place[0])
        receiver = socket.socket(family, socket.SOCK_DGRAM)
        try:
            receiver.setblocking(False)
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
            if group.is_multicast:
                receiver.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            receiver.bind(place)
            if isinstance(group, ipaddress.IPv4Address) and group.is_multicast:
                member = group.packed + socket.inet_aton(self._address.interface or "0.0.0.0")
                receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
            elif group.is_multicast:
                index = socket.if_nametoindex(self._address.interface) if self._address.interface else 0
                member = group.packed + index.to_bytes(4, "little")
                receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, member)
        except OSError:
            receiver.close()
            raise
        return receiver


def _dropped(receiver: socket.socket) -> int:
    """Return how many datagrams the kernel has dropped; 0 where it does not say."""
    try:
        return int(_MEMINFO.unpack(receiver.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[-1])
    except (OSError, struct.error):
        return 0


class UdpSender:
    """Sends datagrams; see :class:`app.gateway.transports.interface.Sender`."""

    def __init__(self, address: FeedAddress, profile: Profile, settings: FeedSettings) -> None:
        self._address = address
        self._socket: socket.socket | None = None
        self.port = 0

    async def __aenter__(self) -> UdpSender:
        try:
            family, _, _, _, place = socket.getaddrinfo(self._address.host, self._address.port, type=socket.SOCK_DGRAM)[
                0
            ]
            sender = socket.socket(family, socket.SOCK_DGRAM)
            if ipaddress.ip_address(place[0]).is_multicast and self._address.interface:
                interface = socket.inet_aton(self._address.interface)
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
            sender.connect(place)
        except OSError as error:
            raise FeedError(f"{self._address.place}: {one_line(error)}") from None
        self._socket = sender
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._socket is not None:
            self._socket.close()

    async def ready(self) -> None:
        """See :class:`app.gateway.transports.interface.Sender`. Nobody can know that of datagrams."""

    async def send(self, message: bytes, topic: str) -> None:
        """See :class:`app.gateway.transports.interface.Sender`. A datagram that nobody takes is lost."""
        assert self._socket is not None
        try:
            self._socket.send(message)
        except OSError:
            await asyncio.sleep(0)
