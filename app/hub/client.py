"""Sends the update stream from an engine stage to the hub: length-prefixed msgpack over a Unix socket.

Wire format: every frame is a 4-byte big-endian length and that many bytes. The first frame of a connection is
the run's token, so that no other process of the machine can write to the stream; the hub reads no length before it has
that frame. Each further frame is a :class:`~football.update_stream.UpdateMessage` in msgpack.

A send that fails is not repeated, because nothing shows which of the bytes before it were read. The error ends the task
of the seat. Spark repeats the task with a new epoch, and the first message of the epoch names the update from which it
continues.

A send waits while the hub is slow: that is the backpressure from the hub to the stage.
"""

from __future__ import annotations

import socket
import struct
from typing import BinaryIO

import msgspec

from football.update_stream import UpdateMessage

LENGTH = struct.Struct(">I")

#: Longest frame that is accepted; the largest real one (thousands of updates in one message) is under 4 MB.
MAX_FRAME_BYTES = 64 * 1024 * 1024

_CONNECT_TIMEOUT_S = 10.0


class HubConnectionError(ConnectionError):
    """The connection to the hub cannot be opened, is broken, or carries something else than the update stream."""


class HubAddress(msgspec.Struct, frozen=True):
    """Path of a hub's Unix socket, and the token that a client sends first."""

    path: str
    token: str

    def __repr__(self) -> str:
        """Omits the token, because a printed address may be stored."""
        return f"HubAddress({self.path})"


def frame(body: bytes) -> bytes:
    """Puts the length of ``body`` before it."""
    return LENGTH.pack(len(body)) + body


def read_length(stream: BinaryIO) -> int | None:
    """Read the length of the next frame; None if the stream has ended.

    Raises:
        HubConnectionError: the length is beyond any real message.
    """
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(head)
    if size > MAX_FRAME_BYTES:
        raise HubConnectionError(f"a frame of {size} bytes was announced; the limit is {MAX_FRAME_BYTES}")
    return int(size)


class HubClient:
    """One connection to the hub. Not thread-safe: each engine stage has its own."""

    def __init__(self, address: HubAddress) -> None:
        self.address = address
        self._encoder = msgspec.msgpack.Encoder()
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(_CONNECT_TIMEOUT_S)
            self._socket.connect(address.path)
            self._socket.settimeout(None)  # backpressure: a slow hub slows the stage down instead of failing it
            self._socket.sendall(frame(address.token.encode()))
        except OSError as error:
            raise HubConnectionError(f"no hub at {address.path}: {error}") from error

    def send(self, message: UpdateMessage) -> None:
        """Sends one message; returns when it is in the socket's buffer, so a slow hub makes the caller wait.

        Raises:
            HubConnectionError: the hub has closed the connection.
        """
        try:
            self._socket.sendall(frame(self._encoder.encode(message)))
        except OSError as error:
            raise HubConnectionError(f"the hub at {self.address.path} does not answer: {error}") from error

    def close(self) -> None:
        """Ends the connection; what was sent is still delivered."""
        self._socket.close()
