"""Access control of all routes, the headers of all responses, and an audit in the log.

On the loopback interface routes that only read are open; beyond it, and wherever the run has a token, a client needs
one. A program sends it as ``Authorization: Bearer TOKEN``. A browser opens ``/?token=TOKEN`` once: the answer is a
session cookie and a redirect to the address without the token, so that the token does not stay in histories or
screenshots. The cookie is a random number that this server alone knows. A session ends after twelve hours, at
``/logout``, with the server, and when its token ends or is revoked.

A request that changes something needs the token of an operator in its header. A cookie does not suffice, so no foreign
web page can make a browser send one.

A stream ends with what granted it: a second after its token is revoked, or its session is over, nothing more is sent.

A browser lets any page open a WebSocket to any address. So a WebSocket whose ``Origin`` is another one is refused. It
reads only.

Where no token is needed the ``Host`` header must name the loopback interface, so that a foreign web page that points
its own name at this machine (DNS rebinding) reads nothing.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.roles import Grant, Role, Verifier, digest_of

#: Time from the opening of a session to its end: longer than a match and its preparation.
SESSION_S: Final = 12 * 3600.0
#: Sessions of one server; a further one ends the oldest.
SESSIONS_MAX: Final = 1000
#: Interval at which the continued use of a token, and the number of refused requests, get a line in the log.
_USE_S: Final = 600.0
_REFUSALS_S: Final = 10.0
#: Time for which the grant of an open stream is taken to hold.
_HOLDS_S: Final = 1.0
#: What ends a stream, by the message that it would send next (RFC 6455, 7.4.1).
_ENDS: Final[dict[str, Message]] = {
    "http.response.body": {"type": "http.response.body"},
    "websocket.send": {"type": "websocket.close", "code": 1008, "reason": "the token has ended"},
}

#: Headers of every response; a response may bring its own policy for what it loads.
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_READS: Final = ("GET", "HEAD")
_HOST: Final = re.compile(r"[\w.-]*(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", flags=re.ASCII)
_OPEN: Final = Grant("", Role.VIEWER)

_log = logging.getLogger(__name__)


def is_loopback(host: str) -> bool:
    """True if only this machine can reach ``host``. A name other than ``localhost`` may resolve to anything.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("pitch.example")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def permits(request: HTTPConnection, role: Role) -> bool:
    """True if the client of a request that :class:`AccessGuard` has let through has a role."""
    return bool(grant_of(request).role >= role)


def grant_of(request: HTTPConnection) -> Grant:
    """Return what the token of a request grants."""
    grant: Grant = request.scope["grant"]
    return grant


def audit(what: str, grant: Grant, request: HTTPConnection, **figures: object) -> None:
    """Write to the log that the holder of a token has done something."""
    client = request.client.host if request.client is not None else ""
    who = {"token": grant.name or "none", "role": grant.role.name.lower(), "client": client}
    _log.info(what, extra={"figures": {**who, **figures}})


class AccessGuard:
    """ASGI middleware that checks every request before ``app`` receives it.

    Args:
        token: of the run's settings, an administrator's; empty for none.
        verify: finds the other tokens.
        closed: True if reading needs a token, too; it does where ``token`` is set.
        clock_s: a monotonic clock.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str = "",
        verify: Verifier = lambda digest: None,
        *,
        closed: bool = False,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._verify, self._clock_s = app, verify, clock_s
        self._run_token = digest_of(token) if token else ""
        self._closed = closed or bool(token)
        #: Digest of a session's number -> digest of its token, and the time of its end.
        self._sessions: dict[str, tuple[str, float]] = {}
        self._used_s: dict[str, float] = {}
        self._refused, self._refused_s = 0, -_REFUSALS_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        began = ended = False
        streams, checked_s = scope["type"] == "websocket", self._clock_s()

        async def send_with_headers(message: Message) -> None:
            nonlocal began, ended, streams, checked_s
            if message["type"] in ("websocket.accept", "websocket.close", "websocket.http.response.start"):
                began = True
            if message["type"] == "http.response.start":
                began = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                streams = "content-length" not in headers
            if streams and message["type"] in _ENDS and not ended and self._clock_s() - checked_s >= _HOLDS_S:
                checked_s, ended = self._clock_s(), not self._holds(request)
                if ended:
                    await send(_ENDS[message["type"]])
            if not ended:
                await send(message)
            elif scope["type"] == "websocket":
                raise OSError("the connection is closed")  # as a server says it (ASGI)

        try:
            await (self._check(request) or self._app)(scope, receive, send_with_headers)
        except Exception as error:
            # The message of the error may repeat what the client has sent, such as a token: it is not logged.
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            at = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else ""
            _log.error("request failed", extra={"figures": {"error": type(error).__name__, "at": at}})
            if not began:
                await _FAILED(scope, receive, send_with_headers)

    def _check(self, request: HTTPConnection) -> Response | None:
        """Return the response to a request that is refused or redirected; None for one that is allowed."""
        host = request.headers.get("host", "")
        if not _HOST.fullmatch(host):
            return _BAD_HOST
        is_socket = request.scope["type"] == "websocket"
        if is_socket and not _is_own_origin(request.headers.get("origin"), host):
            return _FOREIGN_ORIGIN
        path, reads = request.scope["path"], is_socket or request.scope["method"] in _READS
        offered = request.query_params.get("token") if path == "/" and reads else None
        if offered is not None and (grant := self._grant(digest_of(offered))) is not None:
            return self._opened(request, grant, digest_of(offered))
        if path == "/logout":
            return self._closed_session(request)
        grant = self._of_bearer(request)
        if grant is not None:
            self._note_use(request, grant)
        elif reads:
            grant = self._of_reader(request)
        if grant is None or (not reads and grant.role < Role.OPERATOR):
            self._note_refusal()
            return _NO_TOKEN if grant is None else NO_ROLE
        if grant is _OPEN and not _names_loopback(host):
            return _FOREIGN_NAME
        request.scope["grant"] = grant
        return None

    def _holds(self, request: HTTPConnection) -> bool:
        """True if a stream that was granted would still be."""
        grant = self._of_bearer(request) or self._of_reader(request)
        return grant is not None and grant.role >= grant_of(request).role

    def _of_bearer(self, request: HTTPConnection) -> Grant | None:
        bearer = request.headers.get("authorization", "")
        presented = bearer.removeprefix("Bearer ").encode("latin-1").decode("utf-8", "surrogateescape")
        return self._grant(digest_of(presented)) if bearer.startswith("Bearer ") else None

    def _of_reader(self, request: HTTPConnection) -> Grant | None:
        return self._of_session(request) or (None if self._closed else _OPEN)

    def _grant(self, digest: str) -> Grant | None:
        if self._run_token and hmac.compare_digest(digest, self._run_token):
            return Grant("token of the run", Role.ADMIN)
        return self._verify(digest)

    def _opened(self, request: HTTPConnection, grant: Grant, token: str) -> Response:
        """Begin a session; redirect to the address without the token."""
        now_s = self._clock_s()
        ended = [number for number, (_, end_s) in self._sessions.items() if end_s <= now_s]
        for number in ended or list(self._sessions)[: max(0, len(self._sessions) - SESSIONS_MAX + 1)]:
            del self._sessions[number]
        number = secrets.token_urlsafe(32)
        self._sessions[digest_of(number)] = token, now_s + SESSION_S
        audit("session begins", grant, request)
        response = RedirectResponse("/", 302, {"Cache-Control": "no-store"})
        response.set_cookie(
            _cookie_name(request), number, max_age=int(SESSION_S), path="/", httponly=True, samesite="strict",
            secure=request.scope.get("scheme") == "https",
        )  # fmt: skip
        return response

    def _of_session(self, request: HTTPConnection) -> Grant | None:
        number = digest_of(request.cookies.get(_cookie_name(request), ""))
        token, end_s = self._sessions.get(number, ("", 0.0))
        grant = self._grant(token) if end_s > self._clock_s() else None
        if grant is None:
            self._sessions.pop(number, None)
        return grant

    def _closed_session(self, request: HTTPConnection) -> Response:
        if (grant := self._of_session(request)) is not None:
            audit("session ends", grant, request)
            del self._sessions[digest_of(request.cookies[_cookie_name(request)])]
        response = PlainTextResponse("The session has ended.\n")
        response.delete_cookie(_cookie_name(request), path="/")
        return response

    def _note_use(self, request: HTTPConnection, grant: Grant) -> None:
        now_s = self._clock_s()
        if now_s - self._used_s.get(grant.name, -_USE_S) >= _USE_S:
            self._used_s[grant.name] = now_s
            audit("token is used", grant, request)

    def _note_refusal(self) -> None:
        self._refused += 1
        if self._clock_s() - self._refused_s >= _REFUSALS_S:
            _log.info("requests refused", extra={"figures": {"count": self._refused}})
            self._refused, self._refused_s = 0, self._clock_s()


def _cookie_name(request: HTTPConnection) -> str:
    """Return the name of the cookie. It has the port, because all ports of a host share their cookies."""
    _, port = request.scope["server"]
    return f"touchline_{port}"


def _is_own_origin(origin: str | None, host: str) -> bool:
    """True if a WebSocket is opened by a page of this server, or by a program, which sends no origin."""
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def _names_loopback(host: str) -> bool:
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:  # brackets around what is no address
        return False


_BAD_HOST = PlainTextResponse("The Host header names no host.\n", 400)
_FAILED = PlainTextResponse("The request failed.\n", 500)
_FOREIGN_NAME = PlainTextResponse(
    "This server answers to localhost only. To reach it by another name, start it with TOUCHLINE_TOKEN set.\n", 403
)
_FOREIGN_ORIGIN = PlainTextResponse("A page of another origin may not open a WebSocket here.\n", 403)
_NO_TOKEN = PlainTextResponse(
    "A token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN.\n",
    401,
    {"WWW-Authenticate": "Bearer"},
)
#: The response to a request whose token has too low a role.
NO_ROLE = PlainTextResponse("The token does not permit this.\n", 403)
