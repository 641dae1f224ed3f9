"""``/metrics`` for Prometheus and ``/health`` for whoever must know whether the match is live; one small server.

On the loopback interface they are open, to requests that name it (a foreign web page that points its own name at
this machine reads nothing). Beyond it each request must bring the token, as ``Authorization: Bearer TOKEN``: never in
an address, since those are logged.
"""

from __future__ import annotations

import errno
import hmac
import socket
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from urllib.parse import urlsplit

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from app.operations.match_monitor import MatchMonitor
from dashboard.access import is_loopback
from football.errors import UserError

#: Below the page's: pages of several matches go upwards from there.
DEFAULT_PORT = 8049

#: A client that says nothing is let go after so long.
_PATIENCE_S = 10


class OperationError(UserError):
    """Metrics and health cannot be served; the message says why."""


class MetricsServer:
    """Serves from its construction to :meth:`stop`; a context manager.

    Args:
        registry: what ``/metrics`` tells.
        watches: whose problems ``/health`` tells.
        host: interface to bind; beyond loopback a token is demanded.
        port: None takes the default one, or a free one if another program has that.
        token: empty for none.

    Raises:
        OperationError: no token, or the port is taken.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        watches: Sequence[MatchMonitor],
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str = "",
    ) -> None:
        if not token and not is_loopback(host):
            raise OperationError(f"metrics would be open to every machine that reaches {host}: set TOUCHLINE_TOKEN")
        self.registry, self.watches, self.token = registry, watches, token
        self._httpd = _bound(host, DEFAULT_PORT, or_free=True) if port is None else _bound(host, port, or_free=False)
        self._httpd.told = self
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._httpd.server_address[1]}"
        self._thread = threading.Thread(target=self._httpd.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def __enter__(self) -> MetricsServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Frees the port and returns."""
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()


def health_of(watches: Sequence[MatchMonitor]) -> tuple[int, dict[str, object]]:
    """Status and body: 200 if every match is live or has ended, else 503, with what is wrong by match."""
    problems = {watch.match: watch.problems() for watch in watches}
    states = {
        watch.match: "troubled" if problems[watch.match] else "ended" if watch.feed.ended() else "live"
        for watch in watches
    }
    reasons = [f"{match}: {problem}" for match, found in problems.items() for problem in found]
    body = {"status": "troubled" if reasons else "live", "reasons": reasons, "matches": states}
    return (503 if reasons else 200), body


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    told: MetricsServer

    def server_bind(self) -> None:
        """Without the library's look for the machine's name, which may wait for a name server."""
        TCPServer.server_bind(self)


class _ServerOn6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    timeout = _PATIENCE_S
    server: _Server
    server_version, sys_version = "touchline", ""

    def do_GET(self) -> None:
        told, path = self.server.told, urlsplit(self.path).path
        if refusal := self._refusal(told.token):
            self._answer(*refusal)
        elif path == "/metrics":
            encode, kind = choose_encoder(self.headers.get("Accept", ""))
            self._answer(200, kind, encode(told.registry))
        elif path == "/health":
            status, body = health_of(told.watches)
            self._answer(status, "application/json", msgspec.json.encode(body) + b"\n")
        else:
            self._answer(404, "text/plain; charset=utf-8", b"/metrics and /health\n")

    do_HEAD = do_GET  # noqa: N815

    def _refusal(self, token: str) -> tuple[int, str, bytes] | None:
        kind = "text/plain; charset=utf-8"
        if token:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode()):
                return None
            return 401, kind, b"bring the token: Authorization: Bearer ...\n"
        if is_loopback(urlsplit(f"//{self.headers.get('Host', '')}").hostname or ""):
            return None
        return 403, kind, b"answers to localhost only; start it with a token to reach it by another name\n"

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
        """No line per look."""


def _bound(host: str, port: int, *, or_free: bool) -> _Server:
    kind = _ServerOn6 if ":" in host else _Server
    try:
        return kind((host, port), _Handler)
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) != errno.EADDRINUSE:
            raise OperationError(f"cannot open {host}:{port} for metrics: {error}") from error
        if or_free:
            return _bound(host, 0, or_free=False)
        raise OperationError(
            f"port {port} on {host} is in use by another program: choose another --metrics-port, or 0 for none"
        ) from error
