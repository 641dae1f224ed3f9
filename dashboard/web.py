"""The live routes beside Dash's own: one message as JSON, and the stream of messages.

A stream (server-sent events) and not polling, by measurement (``bench/dashboard_fps.py``): Werkzeug closes the
connection after each answer, so a polled message pays for a connection and a thread. The stream also reconnects by
itself, since every stream begins with a complete message.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

import msgspec
from flask import Flask, Response, request

from dashboard.families import FAMILIES, FAMILY_NAMES
from dashboard.live import LiveState, Reader

#: Time between two messages: 30 a second, since views come at most 50 a second and eyes want 25.
TICK_S: Final = 1 / 30
#: The strip goes with every this many messages; it is also the sign of life while no data comes.
STRIP_EVERY: Final = 15
#: Open pages at most. Each holds a thread of the driver process.
STREAMS_MAX: Final = 12

_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def add_live_routes(app: Flask, live: LiveState, stopping: threading.Event) -> None:
    """Adds ``/live/state`` and ``/live/stream``; ``stopping`` ends every open stream.

    Both take ``?families=a,b`` (default: those shown at first). The state also takes ``events``, the version that
    the asker has (0: none, tell everything), and ``strip=0`` to leave out health and totals.
    """
    free = threading.BoundedSemaphore(STREAMS_MAX)
    encoder = msgspec.json.Encoder()

    @app.get("/live/state")
    def state() -> Response:
        families = _families(request.args.get("families"))
        if families is None:
            return _unknown_family()
        since = request.args.get("events", default=0, type=int)
        strip = request.args.get("strip") != "0"
        message = live.message(since, families, hello=since == 0, strip=strip)
        return Response(encoder.encode(message), content_type="application/json", headers=_HEADERS)

    @app.get("/live/stream")
    def stream() -> Response:
        families = _families(request.args.get("families"))
        if families is None:
            return _unknown_family()
        if not free.acquire(blocking=False):
            reason = f"{STREAMS_MAX} pages are open already; close one.\n"
            return Response(reason, 503, content_type="text/plain; charset=utf-8")
        answer = Response(
            _events(Reader(live, families), encoder, stopping), content_type="text/event-stream", headers=_HEADERS
        )
        answer.call_on_close(free.release)
        return answer


def _events(reader: Reader, encoder: msgspec.json.Encoder, stopping: threading.Event) -> Iterator[bytes]:
    """Messages in the form of server-sent events, until the server stops or the page goes away."""
    due = time.monotonic()
    count = 0
    yield b"retry: 1000\n\n"
    while not stopping.is_set():
        message = reader.next(strip=count % STRIP_EVERY == 0)
        if message is not None:
            yield b"data: " + encoder.encode(message) + b"\n\n"
        count += 1
        # After a stall the beat begins anew: messages are never sent in a bunch to make up for it.
        due = max(due + TICK_S, time.monotonic())
        stopping.wait(due - time.monotonic())


def _families(text: str | None) -> frozenset[str] | None:
    """The families asked for, or None if one of them does not exist."""
    if text is None:
        return frozenset(family.name for family in FAMILIES if family.shown)
    names = frozenset(filter(None, text.split(",")))
    return names if names <= set(FAMILY_NAMES) else None


def _unknown_family() -> Response:
    reason = f"families must be among {', '.join(FAMILY_NAMES)}\n"
    return Response(reason, 400, content_type="text/plain; charset=utf-8")
