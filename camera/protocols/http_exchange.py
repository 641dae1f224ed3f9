"""HTTP/1.1 of a controller, one request at a time, without a socket: h11 reads and writes the bytes."""

from __future__ import annotations

from collections.abc import Sequence

import h11
import msgspec

from camera.protocols.turns import GarbledError

#: Limit of the body of a head's answer.
BODY_BYTES_MAX = 256 * 1024


class HttpAnswer(msgspec.Struct, frozen=True):
    """A complete answer: status, headers with names in lower case, and body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return the first header of a name; empty if there is none."""
        return next((value for key, value in self.headers if key == name), "")


class HttpExchange:
    """Requests and answers on one connection after another.

    Args:
        host: for the ``Host`` header.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self.forget()

    def forget(self) -> None:
        """Begin on a new connection."""
        self._connection = h11.Connection(our_role=h11.CLIENT)
        self._answer: h11.Response | None = None
        self._body = b""
        self.closes = False

    def request(self, method: str, target: str, headers: Sequence[tuple[str, str]] = (), body: bytes = b"") -> bytes:
        """Return the bytes of a request."""
        if self._connection.our_state is not h11.IDLE:
            self._connection.start_next_cycle()
        named = [("Host", self._host), *headers]
        if body:
            named.append(("Content-Length", str(len(body))))
        out = self._connection.send(h11.Request(method=method, target=target, headers=named)) or b""
        if body:
            out += self._connection.send(h11.Data(data=body)) or b""
        return out + (self._connection.send(h11.EndOfMessage()) or b"")

    def answers(self, data: bytes) -> list[HttpAnswer]:
        """Take a piece of the stream (empty: the peer has closed); return the answer that it completes.

        ``closes`` is then True if the connection cannot be used again.

        Raises:
            GarbledError: no HTTP, an answer to nothing, or one that is too long.
        """
        try:
            self._connection.receive_data(data)
            return self._read()
        except h11.ProtocolError as error:
            raise GarbledError(f"no HTTP answer: {error}") from error

    def _read(self) -> list[HttpAnswer]:
        while True:
            event = self._connection.next_event()
            if isinstance(event, h11.Response):
                self._answer, self._body = event, b""
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > BODY_BYTES_MAX:
                    raise GarbledError(f"an answer of more than {BODY_BYTES_MAX} bytes")
            elif isinstance(event, h11.EndOfMessage) and self._answer is not None:
                headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in self._answer.headers)
                self.closes = self._connection.their_state is not h11.DONE
                return [HttpAnswer(self._answer.status_code, headers, self._body)]
            elif event in (h11.NEED_DATA, h11.PAUSED) or isinstance(event, h11.ConnectionClosed):
                return []
