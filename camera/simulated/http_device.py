"""Simulated heads behind HTTP. No socket, no clock."""

from __future__ import annotations

from collections.abc import Hashable

import h11

from camera.simulated.body import Body

Out = list[tuple[Hashable, bytes]]

#: Limit of the body of a request; a longer one ends the connection.
BODY_BYTES_MAX = 64 * 1024


class HttpDevice:
    """A device behind HTTP: subclasses answer one request at a time.

    Args:
        body: the head that it moves.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._connections: dict[Hashable, h11.Connection] = {}
        self._requests: dict[Hashable, tuple[h11.Request, bytes]] = {}

    def respond(self, method: str, target: str, body: bytes, authorization: str) -> tuple[int, str, bytes]:
        """Return status, content type and body of the answer to a request."""
        raise NotImplementedError

    def headers(self, status: int) -> list[tuple[str, str]]:
        """Return further headers of an answer."""
        return []

    def receive(self, data: bytes, peer: Hashable, now_us: int) -> Out:
        """Take a piece of a peer's stream; return (peer, piece) to send. An empty piece closes the connection."""
        self._body.advance(now_us)
        connection = self._connections.setdefault(peer, h11.Connection(our_role=h11.SERVER))
        out: Out = []
        try:
            connection.receive_data(data)
            while self._take(connection, peer, out):
                pass
        except h11.ProtocolError:
            return [*out, (peer, b"")]
        if connection.our_state is h11.MUST_CLOSE:
            out.append((peer, b""))
        return out

    def poll(self, now_us: int) -> Out:
        """Advance the head; an HTTP device says nothing by itself."""
        self._body.advance(now_us)
        return []

    def disconnected(self, peer: Hashable) -> None:
        """Forget a peer that has closed its connection."""
        self._connections.pop(peer, None)
        self._requests.pop(peer, None)

    def _take(self, connection: h11.Connection, peer: Hashable, out: Out) -> bool:
        event = connection.next_event()
        if isinstance(event, h11.Request):
            self._requests[peer] = (event, b"")
        elif isinstance(event, h11.Data):
            request, body = self._requests[peer]
            if len(body) + len(event.data) > BODY_BYTES_MAX:
                raise h11.RemoteProtocolError("a body that is too long")
            self._requests[peer] = (request, body + event.data)
        elif isinstance(event, h11.EndOfMessage):
            out.append((peer, self._answer(connection, *self._requests.pop(peer))))
            if connection.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
                connection.start_next_cycle()
        else:
            return False
        return True

    def _answer(self, connection: h11.Connection, request: h11.Request, body: bytes) -> bytes:
        authorization = next((v.decode("latin-1") for k, v in request.headers if k == b"authorization"), "")
        target = request.target.decode("latin-1")
        status, kind, content = self.respond(request.method.decode("latin-1"), target, body, authorization)
        headers = [("Content-Type", kind), ("Content-Length", str(len(content))), *self.headers(status)]
        out = connection.send(h11.Response(status_code=status, headers=headers)) or b""
        return out + (connection.send(h11.Data(data=content)) or b"") + (connection.send(h11.EndOfMessage()) or b"")
