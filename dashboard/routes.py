"""Routes of a match's page: the page itself, its live state as JSON, and the stream of its live messages.

The browser opens the page once (``/``) and then reads ``/live/stream`` (server-sent events) over one connection. After
a loss it reconnects by itself; every stream begins with a complete message. ``dashboard/assets/10_link.js`` is the
browser's side.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Mapping
from typing import Final

import msgspec
from a2wsgi import WSGIMiddleware
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.families import FAMILIES, FAMILY_NAMES
from dashboard.live import LiveState, Reader
from dashboard.page import Links, build_app
from dashboard.rooms import shared_routes

#: Time between two messages: 30 a second, since views arrive at most 50 a second and eyes want 25.
TICK_S: Final = 1 / 30
#: Number of messages from one that has the health strip to the next. That message is sent even if nothing has changed,
#: so a page can tell silence of the match from loss of the server.
STRIP_EVERY: Final = 15
#: Open streams of one page at most.
STREAMS_MAX: Final = 24
#: Kinds that a page may ask for besides its families.
KINDS_MAX: Final = 40
#: Threads that render the page and read its scripts from disk.
_PAGE_THREADS: Final = 4

#: Where Dash serves its scripts, and the size of the parts in which they are sent.
_SCRIPTS: Final = "/_dash-component-suites/"
_PART_BYTES: Final = 64 * 1024

_NO_STORE: Final = {"Cache-Control": "no-store"}
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
    routes = LiveRoutes(live)
    return [
        Route("/live/state", routes.state),
        Route("/live/stream", routes.stream),
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


class LiveRoutes:
    """``/live/state`` and ``/live/stream``.

    Both take ``?families=a,b`` (default: those that the page shows when it opens) and ``?kinds=c,d``, kinds of other
    families that the page needs. ``/live/state`` also takes
    ``events``, the version that the client has (0: none, so the message is complete), and ``strip=0`` to leave out
    health and totals.
    """

    def __init__(self, live: LiveState) -> None:
        self._live = live
        self._streams = 0
        self._encoder = msgspec.json.Encoder()

    async def state(self, request: Request) -> Response:
        """Answer with one message."""
        query = request.query_params
        if (families := _families(query)) is None:
            return _unknown_family()
        since = _version(query.get("events", "0"))
        message = self._live.message(
            since, families, _kinds(query), complete=since == 0, strip=query.get("strip") != "0"
        )
        return Response(self._encoder.encode(message), headers=_NO_STORE, media_type="application/json")

    async def stream(self, request: Request) -> Response:
        """Answer with messages until the client leaves or the server stops."""
        query = request.query_params
        if (families := _families(query)) is None:
            return _unknown_family()
        if self._streams >= STREAMS_MAX:
            return PlainTextResponse(f"{STREAMS_MAX} pages are open already; close one.\n", 503)
        reader = Reader(self._live, families, _kinds(query))
        return _Stream(self, self._messages(reader, request.app.state.stopping))

    async def _messages(self, reader: Reader, stopping: threading.Event) -> AsyncIterator[bytes]:
        due_s = time.monotonic()
        count = 0
        yield b"retry: 1000\n\n"
        while not stopping.is_set():
            message = reader.next(strip=count % STRIP_EVERY == 0)
            if message is not None:
                yield b"data: " + self._encoder.encode(message) + b"\n\n"
            count += 1
            # Messages that a stall has delayed are dropped: the next one is due a tick after it.
            due_s = max(due_s + TICK_S, time.monotonic())
            await asyncio.sleep(due_s - time.monotonic())


class _Stream(EventSourceResponse):
    """A stream that is counted while it is open."""

    def __init__(self, routes: LiveRoutes, messages: AsyncIterator[bytes]) -> None:
        super().__init__(messages, ping=0)
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._routes._streams += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._routes._streams -= 1


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


def _version(text: str) -> int:
    """Return the version in a query; 0 if it is no number."""
    try:
        return int(text)
    except ValueError:
        return 0


def _unknown_family() -> Response:
    return PlainTextResponse(f"families must be among {', '.join(FAMILY_NAMES)}\n", 400)
