"""The hub: receives the update stream from engine stages and holds a feed for each match.

It listens on the loopback interface only. A connection may end at any time, when a worker dies or Spark repeats a task;
the stage of the next epoch sends the content of a half-sent frame again. A thread for each connection reads messages
and applies them to the feed of their match; the feeds have locks.
"""

from __future__ import annotations

import contextlib
import hmac
import logging
import secrets
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import msgspec

from app.hub.client import HubAddress, HubConnectionError, read_frame
from app.hub.feed import MatchFeed
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage, UpdateRecord
from replay.match_store import CommitMeta

_HOST = "127.0.0.1"
_log = logging.getLogger(__name__)


class HubError(UserError):
    """The hub cannot listen, or a match is unknown."""


class Hub:
    """Listens from its construction to :meth:`close`; a context manager.

    Args:
        sheets: of the matches that stages may send.
        port: 0 takes a free one.

    Raises:
        HubError: the port is taken.
    """

    def __init__(self, sheets: Iterable[MatchSheet], port: int = 0) -> None:
        self._feeds = {sheet.match_id: MatchFeed(sheet) for sheet in sheets}
        self._decoder = msgspec.msgpack.Decoder(UpdateMessage)
        self._connections: set[socket.socket] = set()
        self._stage_count = 0
        self._lock = threading.Lock()
        try:
            self._server = socket.create_server((_HOST, port))
        except OSError as error:
            raise HubError(f"the hub cannot listen on port {port}: {error.strerror or error}") from error
        self.address = HubAddress(_HOST, self._server.getsockname()[1], secrets.token_hex(16))
        self._closing = False
        threading.Thread(target=self._accept, name="hub", daemon=True).start()

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def feed(self, match: str) -> MatchFeed:
        """The feed of a match.

        Raises:
            HubError: there is no such match here.
        """
        try:
            return self._feeds[match]
        except KeyError:
            raise HubError(f"unknown match {match!r}; the hub has {', '.join(self._feeds)}") from None

    def add(self, sheet: MatchSheet) -> MatchFeed:
        """Adds a match that stages may send from now on; returns its feed. A known match keeps its feed."""
        return self._feeds.setdefault(sheet.match_id, MatchFeed(sheet))

    def connected_stages(self) -> int:
        """Number of stages that are connected now."""
        return self._stage_count

    def apply(self, message: UpdateMessage) -> None:
        """Applies a message directly, as if a stage had sent it (in-process runs, resumed runs)."""
        self.feed(message.match).apply(message, _wall_us())

    def seed(
        self,
        match: str,
        batches: Iterable[tuple[Sequence[UpdateRecord], CommitMeta]],
        *,
        ended: bool = False,
    ) -> None:
        """Applies what earlier runs have committed, window by window, and settles each.

        Args:
            match: its id.
            batches: committed updates in their order from seq 0, each with the data of its commit.
            ended: True if the match is over.
        """
        feed = self.feed(match)
        message = None
        for updates, meta in batches:
            now_us = updates[-1].emitted_us if updates else feed.now_us()
            message = UpdateMessage(match, max(meta.epoch, feed.epoch()), now_us, meta.frontier_us, tuple(updates))
            self.apply(message)
            feed.settle(feed.next_seq(), meta.frontier_us)
        if ended and message is not None:
            self.apply(msgspec.structs.replace(message, updates=(), ended=True))

    def close(self) -> None:
        """Stops listening and ends all connections; the feeds stay readable."""
        self._closing = True
        _end(self._server)  # wakes the thread that waits in accept, which a close alone does not
        self._server.close()
        with self._lock:
            for connection in self._connections:
                _end(connection)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:  # closed
                return
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="hub connection", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as stream:
                self._read(stream)
        except (OSError, HubConnectionError, HubError, ValueError) as error:
            # The stage's next send fails; Spark repeats its task under a new epoch.
            if not self._closing:
                _log.warning("a connection of a stage was closed: %s", error)
        finally:
            with self._lock:
                self._connections.discard(connection)

    def _read(self, stream: BinaryIO) -> None:
        token = read_frame(stream)
        if token is None or not hmac.compare_digest(token, self.address.token.encode()):
            raise HubConnectionError("a connection without this run's token")
        with self._counted():
            while (body := read_frame(stream)) is not None:
                self.apply(self._decoder.decode(body))

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._stage_count += 1
        try:
            yield
        finally:
            with self._lock:
                self._stage_count -= 1


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side has closed it already
        connection.shutdown(socket.SHUT_RDWR)


def _wall_us() -> int:
    return time.time_ns() // 1000
