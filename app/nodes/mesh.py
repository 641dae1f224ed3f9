"""Connections between the nodes of one match, on this machine: every two nodes have one, which carries sealed records.

A record is four bytes of length, a seal of 16 bytes, one byte of its kind, and a body. The seal is a keyed BLAKE2 hash
over the record's number, kind and body. Its key follows from the run's token and from a random number of either end, so
a record of another process, another connection or another place in the order is refused before anything reads it. The
bodies are not encrypted: they do not leave the machine.

A connection begins with three messages of fixed length, in which both ends prove that they have the token; it is closed
otherwise. Nothing waits for the network but :meth:`Mesh.wait`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType

#: Longest record that is accepted: the state of a node. The largest measured one is below 20 MB.
RECORD_BYTES_MAX = 256 * 1024 * 1024

#: Limit of the time until all nodes are connected: their tasks begin together.
_CONNECT_S = 60.0

#: Limit of the time for the first messages of a connection.
_GREETING_S = 5.0

_LOOPBACK = "127.0.0.1"
_LENGTH_BYTES, _SEAL_BYTES, _NONCE_BYTES, _PROOF_BYTES, _PART_BYTES = 4, 16, 16, 32, 262_144
_HEAD_BYTES = _LENGTH_BYTES + _SEAL_BYTES


class NodeConnectionError(ConnectionError):
    """A node cannot be reached, has ended, or sent what no node sends. All nodes go back to the last commit."""


class Connection:
    """One end of a connection between two nodes; never waits.

    Args:
        peer: number of the other node.
        stream: the connected socket, after the greeting.
        key_out, key_in: keys of the seals, of either direction.
    """

    def __init__(self, peer: int, stream: socket.socket, key_out: bytes, key_in: bytes) -> None:
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.peer = peer
        self._stream, self._key_out, self._key_in = stream, key_out, key_in
        self._sent = self._received = 0
        self._unsent, self._unread = bytearray(), bytearray()

    def fileno(self) -> int:
        """The socket's descriptor, for ``select``."""
        return self._stream.fileno()

    @property
    def has_unsent(self) -> bool:
        """True if the other node has not taken everything yet."""
        return bool(self._unsent)

    def put(self, kind: int, body: bytes) -> None:
        """Queue a record, and send as much as the other node takes.

        Raises:
            NodeConnectionError: the connection is broken.
        """
        content = bytes((kind,)) + body
        self._unsent += len(content).to_bytes(_LENGTH_BYTES, "big") + _seal(self._key_out, self._sent, content)
        self._unsent += content
        self._sent += 1
        self.send()

    def send(self) -> None:
        """Send as much of the queue as the other node takes.

        Raises:
            NodeConnectionError: the connection is broken.
        """
        try:
            while self._unsent:
                del self._unsent[: self._stream.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError as error:
            raise NodeConnectionError(f"node {self.peer} does not answer: {error.strerror or error}") from error

    def take(self) -> list[tuple[int, bytes]]:
        """Return the records that have arrived, each behind its kind.

        Raises:
            NodeConnectionError: the connection is broken, or carries something else than the records of a node.
        """
        has_ended = False
        try:
            while part := self._stream.recv(_PART_BYTES):
                self._unread += part
                if len(part) < _PART_BYTES:
                    break
            else:
                has_ended = True
        except BlockingIOError:
            pass
        except OSError as error:
            raise NodeConnectionError(f"node {self.peer} does not answer: {error.strerror or error}") from error
        records = self._records()
        if has_ended and not records:
            raise NodeConnectionError(f"node {self.peer} has ended")
        return records

    def close(self) -> None:
        """End the connection; what was sent is still delivered."""
        self._stream.close()

    def _records(self) -> list[tuple[int, bytes]]:
        records, at, unread = [], 0, self._unread
        while len(unread) - at >= _HEAD_BYTES:
            length = int.from_bytes(unread[at : at + _LENGTH_BYTES], "big")
            if not 0 < length <= RECORD_BYTES_MAX:
                raise NodeConnectionError(f"node {self.peer} announced a record of {length} bytes")
            begin = at + _HEAD_BYTES
            if len(unread) < begin + length:
                break
            content = bytes(unread[begin : begin + length])
            seal = bytes(unread[at + _LENGTH_BYTES : begin])
            if not hmac.compare_digest(seal, _seal(self._key_in, self._received, content)):
                raise NodeConnectionError(f"a record from node {self.peer} has a broken seal")
            self._received += 1
            records.append((content[0], content[1:]))
            at = begin + length
        del unread[:at]
        return records


class Mesh:
    """The connections of one node to all others; a context manager that closes them.

    Attributes:
        me: number of this node.
        count: number of all nodes.
    """

    def __init__(self, me: int, connections: Mapping[int, Connection]) -> None:
        self.me, self.count = me, len(connections) + 1
        self._connections = dict(connections)

    def __enter__(self) -> Mesh:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    @property
    def others(self) -> tuple[int, ...]:
        """Numbers of the other nodes."""
        return tuple(self._connections)

    def put(self, node: int, kind: int, body: bytes = b"") -> None:
        """Send a record to a node; does not wait for it."""
        self._connections[node].put(kind, body)

    def wait(self, limit_s: float, nodes: tuple[int, ...] = ()) -> list[tuple[int, int, bytes]]:
        """Wait for records, and send what is queued meanwhile; return sender, kind and body of each.

        Args:
            limit_s: limit of the wait; 0 does not wait.
            nodes: take records of these nodes only; those of others stay where they are. Default all.

        Raises:
            NodeConnectionError: a connection is broken.
        """
        reading = [self._connections[node] for node in nodes] if nodes else list(self._connections.values())
        writing = [connection for connection in self._connections.values() if connection.has_unsent]
        readable, writable, _ = select.select(reading, writing, [], limit_s)
        for connection in writable:
            connection.send()
        return [(connection.peer, kind, body) for connection in readable for kind, body in connection.take()]

    def drain(self) -> None:
        """Wait until the other nodes have taken everything that is queued, as long as they live."""
        with suppress(NodeConnectionError):
            until_s = time.monotonic() + _CONNECT_S
            while time.monotonic() < until_s:
                writing = [connection for connection in self._connections.values() if connection.has_unsent]
                if not writing:
                    return
                for connection in select.select([], writing, [], 1.0)[1]:
                    connection.send()


def listen() -> socket.socket:
    """Return a socket at a free port of loopback, at which a node takes the connections of those after it."""
    return socket.create_server((_LOOPBACK, 0))


def connect(me: int, ports: Mapping[int, int], listener: socket.socket, token: str) -> Mesh:
    """Connect a node to all others: it calls those with a lower number, and is called by those with a higher one.

    Args:
        me: number of this node.
        ports: at which each node listens, this one included.
        listener: of this node; is closed.
        token: of the run.

    Raises:
        NodeConnectionError: a node does not answer in time, or not as a node of this run.
    """
    connections: dict[int, Connection] = {}
    until_s = time.monotonic() + _CONNECT_S
    with listener:
        for node in sorted(other for other in ports if other < me):
            connections[node] = _call(me, node, ports[node], token.encode())
        callers = {other for other in ports if other > me}
        while callers - connections.keys():
            listener.settimeout(max(0.001, until_s - time.monotonic()))
            try:
                stream, _ = listener.accept()
            except OSError as error:
                missing = ", ".join(map(str, sorted(callers - connections.keys())))
                raise NodeConnectionError(f"node {me} was not called by node {missing}") from error
            if (caller := _answer(me, stream, token.encode())) is not None and caller.peer in callers:
                connections[caller.peer] = caller
            else:
                stream.close()
    return Mesh(me, connections)


def _call(me: int, node: int, port: int, token: bytes) -> Connection:
    try:
        stream = socket.create_connection((_LOOPBACK, port), timeout=_CONNECT_S)
        own = secrets.token_bytes(_NONCE_BYTES)
        stream.sendall(_number(me) + own + _proof(token, b"call", _number(me), own))
        answer = _exactly(stream, _NONCE_BYTES + _PROOF_BYTES)
        other, proof = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
        if not hmac.compare_digest(proof, _proof(token, b"answer", _number(node), own, other)):
            raise NodeConnectionError(f"port {port} is not node {node} of this run")
        stream.sendall(_proof(token, b"confirm", _number(me), own, other))
    except OSError as error:
        raise NodeConnectionError(f"node {me} cannot call node {node}: {error}") from error
    return Connection(node, stream, *_keys(token, own, other))


def _answer(me: int, stream: socket.socket, token: bytes) -> Connection | None:
    """Answer a call; return None if it is none of a node of this run."""
    try:
        stream.settimeout(_GREETING_S)
        call = _exactly(stream, 2 + _NONCE_BYTES + _PROOF_BYTES)
        caller, other, proof = call[:2], call[2 : 2 + _NONCE_BYTES], call[2 + _NONCE_BYTES :]
        if not hmac.compare_digest(proof, _proof(token, b"call", caller, other)):
            return None
        own = secrets.token_bytes(_NONCE_BYTES)
        stream.sendall(own + _proof(token, b"answer", _number(me), other, own))
        confirmed = _exactly(stream, _PROOF_BYTES)
        if not hmac.compare_digest(confirmed, _proof(token, b"confirm", caller, other, own)):
            return None
    except OSError:
        return None
    key_in, key_out = _keys(token, other, own)
    return Connection(int.from_bytes(caller, "big"), stream, key_out, key_in)


def _exactly(stream: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        if not (part := stream.recv(count - len(received))):
            raise NodeConnectionError("the connection ended in its greeting")
        received += part
    return received


def _number(node: int) -> bytes:
    return node.to_bytes(2, "big")


def _proof(token: bytes, *parts: bytes) -> bytes:
    return hmac.digest(token, b"touchline node" + b"".join(parts), "sha256")


def _keys(token: bytes, caller: bytes, answerer: bytes) -> tuple[bytes, bytes]:
    """Keys from the one that called and to it."""
    return _proof(token, b"from", caller, answerer), _proof(token, b"to", caller, answerer)


def _seal(key: bytes, number: int, content: bytes) -> bytes:
    digest = hashlib.blake2b(number.to_bytes(8, "big"), key=key, digest_size=_SEAL_BYTES)
    digest.update(content)
    return digest.digest()
