"""A TCP proxy on loopback that can stop forwarding, without closing anything: a network that stalls."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Proxy:
    """Forwards what comes to ``port``; while ``flowing`` is clear it holds all back, new connections too."""

    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.flowing = threading.Event()
        self.flowing.set()
        self.forwarded = 0
        self._target = 0
        self._open: list[socket.socket] = []

    def forward_to(self, port: int) -> None:
        """Begins to take connections for a port on loopback."""
        self._target = port
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Ends all connections."""
        self.flowing.set()
        for one in (self._server, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # nobody is there now: the client shall try again
                near.close()
                continue
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                self.flowing.wait()
                sink.sendall(data)
                self.forwarded += len(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy() -> Iterator[Proxy]:
    """A proxy that is closed at the end."""
    made = Proxy()
    try:
        yield made
    finally:
        made.close()
