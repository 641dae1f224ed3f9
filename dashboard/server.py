"""Serves the page from a thread of the process that runs the match."""

from __future__ import annotations

import errno
import socket
import threading
from typing import Any
from urllib.parse import quote

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from dashboard.access import guard, is_loopback
from dashboard.feed import Feed
from dashboard.live import LiveState
from dashboard.page import Links, build_app
from dashboard.web import add_live_routes
from football.errors import UserError


class DashboardError(UserError):
    """The page cannot be served; the message is for people."""


class PortInUseError(DashboardError):
    """Another program listens at the address."""


class TokenNeededError(DashboardError):
    """A page that others can reach was asked for without a token."""


class _QuietHandler(WSGIRequestHandler):
    """No line per request on the terminal of a live match; a page that stops reading is let go after 20 s."""

    timeout = 20

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


class Server:
    """A running page. ``url`` is what to open in a browser, the token included."""

    def __init__(self, url: str, httpd: BaseWSGIServer, stopping: threading.Event) -> None:
        self.url = url
        self._httpd = httpd
        self._stopping = stopping
        self._thread = threading.Thread(target=httpd.serve_forever, name="dashboard", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends all streams, frees the port and returns. May be called twice."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def serve(
    feed: Feed, *, host: str = "127.0.0.1", port: int = 8050, token: str | None = None, links: Links = tuple
) -> Server:
    """Starts the page and returns at once.

    Args:
        feed: the match; read from the page's threads.
        host: interface to bind; anything but loopback needs a token.
        port: 0 takes a free one.
        token: what a visitor must bring (``?token=``), None for an open page on loopback.
        links: the pages of all matches of a run, as (name, address); from two on the page shows them.

    Raises:
        TokenNeededError: ``host`` can be reached from other machines and there is no token.
        PortInUseError: the port is taken.
        DashboardError: the address cannot be bound for another reason.
        football.pitch.PitchError: the sheet gives a pitch that cannot be played on.
    """
    if not token and not is_loopback(host):
        raise TokenNeededError(
            f"the dashboard would be open to every machine that reaches {host}: give it a token, "
            "or bind it to 127.0.0.1"
        )
    listener = _bind(host, port)
    try:
        bound_port = listener.getsockname()[1]
        stopping = threading.Event()
        app = build_app(feed, links)
        guard(app.server, token or None, bound_port)
        add_live_routes(app.server, LiveState(feed), stopping)
        # The socket is handed over bound: left to itself Werkzeug would exit the process on a port in use.
        httpd = make_server(
            host, bound_port, app.server, threaded=True, request_handler=_QuietHandler, fd=listener.fileno()
        )
    finally:
        listener.close()
    query = f"?token={quote(token, safe='')}" if token else ""
    shown = f"[{host}]" if ":" in host else host
    return Server(f"http://{shown}:{bound_port}/{query}", httpd, stopping)


def _bind(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise PortInUseError(
                f"port {port} on {host} is in use by another program: stop it, or choose another with --port"
            ) from error
        raise DashboardError(f"cannot open {host}:{port} for the dashboard: {error}") from error
    return listener
