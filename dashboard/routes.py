"""Routes of a match's page: the page itself, its live state as JSON, and the stream of its live messages.

The page reads a stream (server-sent events): it needs one connection, and it reconnects by itself, since every stream
begins with a complete message.
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
from starlette.types import Receive, Scope, Send

from dashboard.families import FAMILIES, FAMILY_NAMES
from dashboard.live import LiveState, Reader
from dashboard.page import Links, build_app

#: Time between two messages: 30 a second, since views arrive at most 50 a second and eyes want 25.
TICK_S: Final = 1 / 30
#: The strip is part of every this many messages; it is also the sign of life while no data arrives.
STRIP_EVERY: Final = 15
#: Open streams of one page at most.
STREAMS_MAX: Final = 12
#: Threads that render the page and read its scripts from disk.
_PAGE_THREADS: Final = 4

_NO_STORE: Final = {"Cache-Control": "no-store"}


def page_routes(live: LiveState, links: Links = tuple) -> list[BaseRoute]:
    """All routes of a match's page.

    Args:
        live: the state of the match.
        links: the pages of all matches of a run, as (name, address); from two on the page shows them.

    Raises:
        football.pitch.PitchError: the sheet gives a pitch that cannot be played on.
    """
    page = build_app(live.feed, links)
    routes = LiveRoutes(live)
    return [
        Route("/live/state", routes.state),
        Route("/live/stream", routes.stream),
        Mount("/", WSGIMiddleware(page.server, workers=_PAGE_THREADS)),
    ]


class LiveRoutes:
    """``/live/state`` and ``/live/stream``.

    Both take ``?families=a,b`` (default: those shown at first). The state also takes ``events``, the version that
    the client has (0: none, send everything), and ``strip=0`` to leave out health and totals.
    """

    def __init__(self, live: LiveState) -> None:
        self._live = live
        self._streams = 0
        self._encoder = msgspec.json.Encoder()

    async def state(self, request: Request) -> Response:
        """One message."""
        query = request.query_params
        if (families := _families(query)) is None:
            return _unknown_family()
        since = _version(query.get("events", "0"))
        message = self._live.message(since, families, hello=since == 0, strip=query.get("strip") != "0")
        return Response(self._encoder.encode(message), headers=_NO_STORE, media_type="application/json")

    async def stream(self, request: Request) -> Response:
        """Messages until the client leaves or the server stops."""
        if (families := _families(request.query_params)) is None:
            return _unknown_family()
        if self._streams >= STREAMS_MAX:
            return PlainTextResponse(f"{STREAMS_MAX} pages are open already; close one.\n", 503)
        return _Stream(self, self._messages(Reader(self._live, families), request.app.state.stopping))

    async def _messages(self, reader: Reader, stopping: threading.Event) -> AsyncIterator[bytes]:
        due_s = time.monotonic()
        count = 0
        yield b"retry: 1000\n\n"
        while not stopping.is_set():
            message = reader.next(strip=count % STRIP_EVERY == 0)
            if message is not None:
                yield b"data: " + self._encoder.encode(message) + b"\n\n"
            count += 1
            # After a stall the beat begins anew: messages are never sent in a bunch to make up for it.
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
    """The families asked for, or None if one of them does not exist."""
    text = query.get("families")
    if text is None:
        return frozenset(family.name for family in FAMILIES if family.shown)
    names = frozenset(filter(None, text.split(",")))
    return names if names <= set(FAMILY_NAMES) else None


def _version(text: str) -> int:
    """A version as a client sends it; 0 if it is no number."""
    try:
        return int(text)
    except ValueError:
        return 0


def _unknown_family() -> Response:
    return PlainTextResponse(f"families must be among {', '.join(FAMILY_NAMES)}\n", 400)
