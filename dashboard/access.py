"""Access control of all routes. On the loopback interface they are open; beyond it a client needs a token.

A program sends the token as ``Authorization: Bearer TOKEN``. A browser opens ``/?token=TOKEN`` once: the answer is a
cookie and a redirect to the address without the token, so that the token does not stay in histories or screenshots.
The cookie holds a digest of the token. Without a token the ``Host`` header must name the loopback interface, so that
a foreign web page that points its own name at this machine (DNS rebinding) reads nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send


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


class AccessGuard:
    """ASGI middleware that checks every request before ``app`` receives it.

    Args:
        token: the secret that a client must present; empty for a server on the loopback interface.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token
        self._proof = hmac.new(token.encode(), b"touchline dashboard", hashlib.sha256).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None if scope["type"] == "lifespan" else self._check(HTTPConnection(scope))
        await (refusal or self._app)(scope, receive, send)

    def _check(self, request: HTTPConnection) -> Response | None:
        """Return the response to a request that is refused or redirected; None for one that is allowed."""
        if not self._token:
            return None if _names_loopback(request.headers.get("host", "")) else _FOREIGN_NAME
        cookie_name = _cookie_name(request)
        offered = request.query_params.get("token") if request.scope["path"] == "/" else None
        if offered is not None and _equal(offered, self._token):
            response = RedirectResponse("/", 302)
            response.set_cookie(cookie_name, self._proof, httponly=True, samesite="strict", path="/")
            return response
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ").encode("latin-1")
        if hmac.compare_digest(bearer, self._token.encode()):
            return None
        return None if _equal(request.cookies.get(cookie_name, ""), self._proof) else _NO_TOKEN


def _cookie_name(request: HTTPConnection) -> str:
    """Return the name of the cookie. It has the port, because all ports of a host share their cookies."""
    _, port = request.scope["server"]
    return f"touchline_{port}"


def _names_loopback(host: str) -> bool:
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:  # an open bracket
        return False


def _equal(offered: str, expected: str) -> bool:
    return hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), expected.encode())


_FOREIGN_NAME = PlainTextResponse(
    "This server answers to localhost only. To reach it by another name, start it with TOUCHLINE_TOKEN set.\n", 403
)
_NO_TOKEN = PlainTextResponse(
    "A token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN.\n",
    401,
    {"WWW-Authenticate": "Bearer"},
)
