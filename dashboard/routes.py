"""Routes of a match's page: the page itself, and the WebSocket of its live messages.

The browser opens the page once (``/``) and then reads ``/live/stream`` over one WebSocket. It acknowledges by count
what it has taken in, and a page that is behind gets nothing until it does: so what it gets next is new, however slow
its network is. After a loss it reconnects, and continues from the version of the timeline that it has.
``dashboard/assets/10_link.js`` is the browser's side.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from a2wsgi import WSGIMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Mount, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.families import FAMILIES, FAMILY_NAMES
from dashboard.live import LiveState, Reader
from dashboard.page import Links, build_app
from dashboard.rooms import shared_routes

#: Time between two messages: 30 a second, since views arrive at most 50 a second and eyes want 25.
TICK_S: Final = 1 / 30
#: Number of messages from one that has the health strip to the next. That message is sent even if nothing has changed,
#: so a page can tell silence of the match from loss of the server.
STRIP_EVERY: Final = 15
#: Open pages at most.
STREAMS_MAX: Final = 24
#: Messages that a page may have received without an acknowledgement: a second's, so that it is never further behind.
UNACKNOWLEDGED_MAX: Final = 30
#: Time after which a page that acknowledges nothing is disconnected.
ACKNOWLEDGED_S: Final = 20.0
#: Kinds that a page may ask for besides its families.
KINDS_MAX: Final = 40
#: Threads that render the page and read its scripts from disk.
_PAGE_THREADS: Final = 4

#: Where Dash serves its scripts, and the size of the parts in which they are sent.
_SCRIPTS: Final = "/_dash-component-suites/"
_PART_BYTES: Final = 64 * 1024

#: Codes with which a WebSocket is closed (RFC 6455, 7.4).
_GOING_AWAY: Final = 1001
_REFUSED: Final = 1008
_TRY_LATER: Final = 1013

_NO_MAP: Final = PlainTextResponse("There is no such file.\n", 404)
_READ_ONLY: Final = PlainTextResponse("The page can be read only.\n", 405, {"Allow": "GET, HEAD"})


def page_routes(live: LiveState, links: Links = tuple, rooms: Links = tuple) -> list[BaseRoute]:
    """Return all routes of a match's page.

    Args:
        live: the state of the match.
        links: returns the pages of all matches of a run, as (name, address); the page shows two or more.
        rooms: returns the other pages of the match, as (name, address).

    Raises:
        football.pitch.PitchError: the match sheet has a pitch that Law 1 does not allow.
    """
    page = build_app(live.feed, links, rooms)
    return [
        WebSocketRoute("/live/stream", Pages(live).serve),
        *shared_routes(),
        Mount("/", _ReadOnly(_CachedScripts(WSGIMiddleware(page.server, workers=_PAGE_THREADS)))),
    ]


class _ReadOnly:
    """Refuses every request that does not read: the page takes no input, and a body would occupy a thread."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reads = scope.get("method") in ("GET", "HEAD")  # a WebSocket has no method
        await (self._app if reads else _READ_ONLY)(scope, receive, send)


class _CachedScripts:
    """Sends Dash's scripts from one copy in memory, in parts that follow the client.

    Dash reads a script for each request, and sends it in one part: clients that read nothing would each hold some
    megabytes. The number of scripts is fixed; source maps, which are larger than all of them, are left out.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._scripts: dict[str, tuple[Message, bytes]] = {}
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if not path.startswith(_SCRIPTS):
            await self._app(scope, receive, send)
            return
        if path.endswith(".map"):
            await _NO_MAP(scope, receive, send)
            return
        async with self._lock:
            start, body = self._scripts.get(path) or await self._fetched(scope, receive)
        await send(start)
        for begin in range(0, len(body), _PART_BYTES):
            await send({"type": "http.response.body", "body": body[begin : begin + _PART_BYTES], "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _fetched(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        messages: list[Message] = []

        async def collect(message: Message) -> None:
            messages.append(message)

        await self._app({**scope, "method": "GET", "headers": [(b"host", b"localhost")]}, receive, collect)
        script = messages[0], b"".join(message.get("body", b"") for message in messages[1:])
        if messages[0]["status"] == 200:
            self._scripts[scope["path"]] = script
        return script


class Pages:
    """The open pages of a match, all served by one event loop.

    ``?families=a,b`` are those that the page shows (default: those that it shows when it opens), ``?kinds=c,d`` kinds
    of other families that it needs. ``?version=N&run=ID`` is what the page has from an earlier connection.
    """

    def __init__(self, live: LiveState) -> None:
        self._live = live
        self._open = 0
        self._tick = -1

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it leaves or the server stops."""
        query = socket.query_params
        families = _families(query)
        await socket.accept()
        if families is None:
            await socket.close(_REFUSED, f"families must be among {', '.join(FAMILY_NAMES)}")
            return
        if self._open >= STREAMS_MAX:
            await socket.close(_TRY_LATER, f"{STREAMS_MAX} pages are open already; close one")
            return
        of_before = _version(query), query.get("run", "")
        reader = Reader(self._live, families, _kinds(query), *of_before, all_units="units" in query)
        page = _Page(socket, reader, self)
        self._open += 1
        self._tick = -1  # its first message is of now
        sending = asyncio.create_task(page.send(socket.app.state.stopping))
        try:
            while (received := await socket.receive())["type"] != "websocket.disconnect":
                if not page.acknowledge(received.get("text") or ""):
                    sending.cancel()
                    await socket.close(_REFUSED, "a page sends only the number of messages that it has received")
                    return
        finally:
            self._open -= 1
            sending.cancel()

    def tick(self, now_s: float) -> int:
        """Bring the state to the tick of this time, once for all pages; return the number of the tick."""
        tick = int(now_s / TICK_S + 0.05)  # a timer may be a little early
        if tick != self._tick:
            self._tick = tick
            self._live.step()
        return tick


class _Page:
    """One open page: what it was sent, and what of it it has taken in."""

    def __init__(self, socket: WebSocket, reader: Reader, pages: Pages) -> None:
        self._socket, self._reader, self._pages = socket, reader, pages
        self._sent, self._acknowledged, self._acknowledged_s = 0, 0, time.monotonic()

    def acknowledge(self, text: str) -> bool:
        """Note that the page has received so many messages; False if it cannot have."""
        count = int(text) if text.isdecimal() and len(text) < 12 else -1
        if not self._acknowledged <= count <= self._sent:
            return False
        self._acknowledged, self._acknowledged_s = count, time.monotonic()
        return True

    async def send(self, stopping: threading.Event) -> None:
        """Send what changes, 30 times a second at most, until the server stops or the page takes in nothing more."""
        strip = -1
        with suppress(WebSocketDisconnect):
            while not stopping.is_set():
                tick = self._pages.tick(time.monotonic())
                if self._sent - self._acknowledged < UNACKNOWLEDGED_MAX:
                    # Messages that a stall has delayed are left out: each holds all that has changed.
                    message = self._reader.next(strip=strip != tick // STRIP_EVERY)
                    strip = tick // STRIP_EVERY
                    if message is not None:
                        await self._socket.send_text(message)
                        self._sent += 1
                elif time.monotonic() - self._acknowledged_s > ACKNOWLEDGED_S:
                    await self._socket.close(_REFUSED, "the page acknowledges nothing")
                    return
                await asyncio.sleep((tick + 1) * TICK_S - time.monotonic())
            await self._socket.close(_GOING_AWAY)


def _families(query: Mapping[str, str]) -> frozenset[str] | None:
    """Return the families in a query; None if one of them does not exist."""
    text = query.get("families")
    if text is None:
        return frozenset(family.name for family in FAMILIES if family.shown)
    names = frozenset(filter(None, text.split(",")))
    return names if names <= set(FAMILY_NAMES) else None


def _kinds(query: Mapping[str, str]) -> frozenset[str]:
    """Return the kinds in a query, the first ones if there are too many; an unknown one has no events."""
    return frozenset([kind for kind in query.get("kinds", "").split(",") if kind][:KINDS_MAX])


def _version(query: Mapping[str, str]) -> int:
    """Return the version in a query; -1 if it has none."""
    text = query.get("version", "")
    return int(text) if text.isdecimal() and len(text) < 20 else -1
