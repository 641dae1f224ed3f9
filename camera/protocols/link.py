"""Sockets to a head that never block and never raise for network errors."""

from __future__ import annotations

import errno
import socket
import struct
from collections.abc import Sequence

from football.errors import UserError

#: Limit of datagrams, or pieces of a stream, read by one call; the next call reads the rest.
BURST_MAX = 64
#: Limit of bytes that wait for a stream which the head does not read; beyond it the connection is closed.
WAITING_BYTES_MAX = 64 * 1024


class AddressError(UserError, OSError):
    """The host of a head has no IPv4 address; the message has host and reason."""


def resolve(host: str, port: int) -> tuple[str, int]:
    """Return the numeric IPv4 address of a host and its port.

    Raises:
        AddressError: the name is unknown.
    """
    try:
        found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)
    except OSError as error:
        raise AddressError(f"the head's host {host} has no IPv4 address: {error}") from error
    return found[0][4][0], port


class UdpLink:
    """Exchanges datagrams with one address. Datagrams of any other sender are dropped.

    Args:
        address: host and port of the device; a name is looked up once, here.

    Raises:
        AddressError: the name is unknown.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = resolve(*address)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, pieces: Sequence[bytes]) -> None:
        """Send datagrams; one that the network refuses is lost, like any lost datagram."""
        for data in pieces:
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
            if peer == self.address and data:
                out.append(data)
        return out

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


class TcpLink:
    """Exchanges a stream with one address.

    The link connects when there is something to send. When the peer closes, or an error occurs, ``receive`` returns
    one empty piece, and the next ``send`` connects anew.

    Args:
        address: host and port of the device; a name is looked up once, here.

    Raises:
        AddressError: the name is unknown.
    """

    def __init__(self, address: tuple[str, int]) -> None:
        self.address = resolve(*address)
        self._socket: socket.socket | None = None
        self._waiting = b""
        self._closed = False

    def send(self, pieces: Sequence[bytes]) -> None:
        """Send pieces of the stream; what the network does not take yet goes out with a later call."""
        if pieces and self._socket is None:
            self._connect()
        if self._socket is None:
            return
        self._waiting += b"".join(pieces)
        if self._waiting:
            try:
                self._waiting = self._waiting[self._socket.send(self._waiting) :]
            except BlockingIOError:  # connecting still, or the head does not read
                if len(self._waiting) > WAITING_BYTES_MAX:
                    self._lose()
            except OSError:
                self._lose()

    def receive(self) -> list[bytes]:
        """Return the pieces that have arrived since the last call; an empty one if the connection is gone."""
        out: list[bytes] = []
        while self._socket is not None and len(out) < BURST_MAX:
            try:
                data = self._socket.recv(4096)
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno == errno.ENOTCONN:  # the connection is being made
                    break
                data = b""
            if not data:
                self._lose()
            else:
                out.append(data)
        if self._closed:
            self._closed = False
            out.append(b"")
        return out

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            # Without a reset the system would deliver a drive of before an outage after it, behind a later stop.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._socket.close()
            self._socket = None
        self._waiting = b""

    def _connect(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._socket.connect(self.address)
        except BlockingIOError:
            pass
        except OSError:
            self._lose()

    def _lose(self) -> None:
        self.close()
        self._closed = True
