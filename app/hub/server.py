"""The hub: receives the update stream from engine stages and holds a feed for each match.

It listens at a Unix socket in the process's private folder, which no other user can enter. A connection may end at any
time, when a worker dies or Spark repeats a task; the stage of the next epoch sends the content of a half-sent frame
again. A thread for each connection reads messages and applies them to the feed of their match; the feeds have locks.

Against a faulty program of the same user, a connection that has not presented the token is *waiting*: it has some
seconds, the hub takes no byte beyond the token from it, and the oldest one gives way where too many wait. The frames
that are being read have a limit in all, too.
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
from pathlib import Path
from typing import BinaryIO

from app.base.private import temporary_folder
from app.hub.client import MAX_FRAME_BYTES, HubAddress, HubConnectionError, frame, read_length
from app.hub.feed import MatchFeed
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.untrusted import msgpack_decoder
from football.update_stream import UpdateMessage, UpdateRecord
from replay.match_store import CommitMeta

#: Time in which a connection must present the token.
TOKEN_S = 5.0
#: Connections that may wait at a time, and the pause after each further one. The kernel holds the next ones meanwhile,
#: as many as are accepted in two seconds, so that a stage behind them is late but connects.
WAITING_MAX = 32
_PAUSE_S = 0.002
_BACKLOG = 1024
#: Pause after the process could not accept a connection, as for want of descriptors.
_RETRY_S = 0.2
#: Stages that may be connected at a time. A seat has one, and a failed task's may linger.
STAGES_MAX = 128
#: Bytes of all frames that are being read or applied; a further frame waits.
FRAMES_MAX_BYTES = 2 * MAX_FRAME_BYTES

_log = logging.getLogger(__name__)


class HubError(UserError):
    """The hub cannot listen, or a match is unknown."""


class Hub:
    """Listens from its construction to :meth:`close`; a context manager.

    Args:
        sheets: of the matches that stages may send.

    Raises:
        HubError: it cannot listen.
        NotPrivateError: see :func:`app.base.private.temporary_folder`.
    """

    def __init__(self, sheets: Iterable[MatchSheet]) -> None:
        self._feeds = {sheet.match_id: MatchFeed(sheet) for sheet in sheets}
        self._decode = msgpack_decoder(UpdateMessage, MAX_FRAME_BYTES)
        self._waiting: list[socket.socket] = []
        self._stages: set[socket.socket] = set()
        self._frames = _ByteBudget(FRAMES_MAX_BYTES)
        self._lock = threading.Lock()
        path = temporary_folder() / f"hub-{secrets.token_hex(4)}"
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._server.bind(str(path))
            self._server.listen(_BACKLOG)
        except OSError as error:
            raise HubError(f"the hub cannot listen at {path}: {error.strerror or error}") from error
        self.address = HubAddress(str(path), secrets.token_hex(16))
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
        return len(self._stages)

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
        self.feed(match).seed(batches, ended=ended)

    def close(self) -> None:
        """Stops listening and ends all connections; the feeds stay readable."""
        self._closing = True
        _end(self._server)  # wakes the thread that waits in accept, which a close alone does not
        self._server.close()
        Path(self.address.path).unlink(missing_ok=True)
        with self._lock:
            for connection in (*self._waiting, *self._stages):
                _end(connection)

    def _accept(self) -> None:
        while not self._closing:
            try:
                connection, _ = self._server.accept()
            except OSError as error:
                if not self._closing:
                    _log.warning("the hub cannot accept a connection: %s", error.strerror or error)
                    time.sleep(_RETRY_S)
                continue
            with self._lock:
                self._waiting.append(connection)
                is_crowded = len(self._waiting) > WAITING_MAX
                if is_crowded:
                    _end(self._waiting.pop(0))  # its thread closes it
            try:
                threading.Thread(target=self._serve, args=(connection,), name="hub connection", daemon=True).start()
            except RuntimeError:  # the system starts no further thread
                self._forget(connection)
                connection.close()
            if is_crowded:
                time.sleep(_PAUSE_S)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._admit(connection)
                with connection.makefile("rb") as stream:
                    self._read(stream)
        except (OSError, HubConnectionError, HubError, ValueError) as error:
            # The stage's next send fails; Spark repeats its task under a new epoch.
            if not self._closing and connection in self._stages:
                _log.warning("a connection of a stage was closed: %s", error)
        finally:
            self._forget(connection)

    def _admit(self, connection: socket.socket) -> None:
        """Take the token from a connection, and not one byte more.

        Raises:
            HubConnectionError: it has another token, or there are too many stages.
            OSError: it ended, or did not present the token in time.
        """
        expected, until_s, received = frame(self.address.token.encode()), time.monotonic() + TOKEN_S, b""
        while len(received) < len(expected):
            connection.settimeout(max(0.001, until_s - time.monotonic()))
            if not (part := connection.recv(len(expected) - len(received))):
                break
            received += part
        connection.settimeout(None)
        with self._lock:
            if not hmac.compare_digest(received, expected):
                raise HubConnectionError("a connection without this run's token")
            if connection not in self._waiting or len(self._stages) >= STAGES_MAX:
                raise HubConnectionError("too many connections")
            self._waiting.remove(connection)
            self._stages.add(connection)

    def _forget(self, connection: socket.socket) -> None:
        with self._lock:
            self._stages.discard(connection)
            if connection in self._waiting:
                self._waiting.remove(connection)

    def _read(self, stream: BinaryIO) -> None:
        """Apply the frames of a stage until it ends, between frames or (it died) within one."""
        while (size := read_length(stream)) is not None:
            with self._frames.held(size):
                body = stream.read(size)
                if len(body) < size:
                    return
                self.apply(self._decode(body))


class _ByteBudget:
    """Bytes that several threads may hold at a time; a thread that needs more waits."""

    def __init__(self, limit: int) -> None:
        self._free = limit
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def held(self, size: int) -> Iterator[None]:
        """Hold ``size`` bytes while the context lasts."""
        with self._changed:
            self._changed.wait_for(lambda: self._free >= size)
            self._free -= size
        try:
            yield
        finally:
            with self._changed:
                self._free += size
                self._changed.notify_all()


def _end(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # the other side has closed it already
        connection.shutdown(socket.SHUT_RDWR)


def _wall_us() -> int:
    return time.time_ns() // 1000
