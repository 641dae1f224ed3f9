"""A UDP socket that never blocks and never raises for network errors."""

from __future__ import annotations

import socket
from collections.abc import Iterable

#: Datagrams read in one go; more are left for the next.
BURST_MAX = 64


class UdpLink:
    """Talks to one address.

    Args:
        address: host and port of the device.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, datagrams: Iterable[bytes]) -> None:
        """Send a datagram; one that the network refuses is lost, as any datagram may be."""
        for data in datagrams:
            try:
                self._socket.sendto(data, self.address)
            except OSError:
                continue

    def receive(self) -> list[bytes]:
        """Return the device's datagrams since the last call, without those of other senders."""
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
        """Frees the socket."""
        self._socket.close()
