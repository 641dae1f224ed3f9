"""A UDP socket that never blocks and never raises for network errors."""

from __future__ import annotations

import socket
from collections.abc import Iterable

#: Limit of datagrams read by one call; the next call reads the rest.
BURST_MAX = 64


class UdpLink:
    """Exchanges datagrams with one address.

    Args:
        address: numeric IPv4 address and port of the device. Datagrams of any other sender are dropped, so a host name
            would receive nothing.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, datagrams: Iterable[bytes]) -> None:
        """Send datagrams; one that the network refuses is lost, like any lost datagram."""
        for data in datagrams:
            try:
                self._socket.sendto(data, self.address)
            except OSError:
                continue

    def receive(self) -> list[bytes]:
        """Return the device's datagrams since the last call."""
        out: list[bytes] = []
        for _ in range(BURST_MAX):
            try:
                data, peer = self._socket.recvfrom(2048)
            except BlockingIOError:
                break
            except OSError:  # the device's port is closed: ICMP reports it once per datagram sent
                continue
            if peer == self.address:
                out.append(data)
        return out

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
