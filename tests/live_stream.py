"""A client of the live page's WebSocket, as the page is one: it acknowledges what it has received."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

Message = dict[str, Any]


class LiveStream:
    """The messages of a page. Its ``next`` raises StopIteration once the server has closed the connection."""

    def __init__(
        self, url: str, query: str = "", headers: dict[str, str] | None = None, *, silent: bool = False
    ) -> None:
        self._connection = connect(
            f"ws{url.removeprefix('http').rstrip('/')}/live/stream{query}",
            additional_headers=headers, compression=None, proxy=None, max_size=2**24, close_timeout=1.0,
        )  # fmt: skip
        self._socket: ClientConnection = self._connection.__enter__()
        self._silent = silent
        self.received = 0

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        try:
            message: Message = json.loads(self._socket.recv(timeout=10.0))
            self.received += 1
            if not self._silent:
                self.say(str(self.received))
        except ConnectionClosed:
            raise StopIteration from None
        return message

    def say(self, text: str) -> None:
        """Send something to the server."""
        self._socket.send(text)

    def refusal(self) -> tuple[int, str]:
        """Code and reason with which the server closes the connection."""
        for _ in self:
            pass
        return self._socket.close_code or 0, self._socket.close_reason or ""

    def close(self) -> None:
        """Leave."""
        self._connection.__exit__(None, None, None)


@contextmanager
def live_stream(url: str, query: str = "", headers: dict[str, str] | None = None) -> Iterator[LiveStream]:
    """A page while the context lasts."""
    stream = LiveStream(url, query, headers)
    try:
        yield stream
    finally:
        stream.close()


def live_state(url: str, query: str = "", headers: dict[str, str] | None = None) -> Message:
    """The first message of a page."""
    with live_stream(url, query, headers) as stream:
        return next(stream)
