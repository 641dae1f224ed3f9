"""Who may look. A page on the loopback interface is open; beyond it a token is needed.

The token comes once in the address (``?token=``), is answered with a cookie and a redirect to the address without
it, and so does not stay in histories or pictures of the screen. The cookie holds a digest of the token and not the
token. Without a token the ``Host`` header must name the loopback interface, so that a foreign web page that points
its own name at this machine (DNS rebinding) reads nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, request
from werkzeug.wrappers import Response as BaseResponse


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


def guard(app: Flask, token: str | None, port: int) -> None:
    """Puts the check before every request of ``app``. Cookies know no ports, so the cookie's name holds it."""
    if token is None:
        app.before_request(_only_local_names)
        return
    cookie_name = f"touchline_{port}"
    proof = hmac.new(token.encode(), b"touchline dashboard", hashlib.sha256).hexdigest()

    def check() -> BaseResponse | None:
        given = request.args.get("token")
        if given is not None and hmac.compare_digest(given.encode(), token.encode()):
            answer = redirect(request.path)
            answer.set_cookie(cookie_name, proof, httponly=True, samesite="Strict", path="/")
            return answer
        if hmac.compare_digest(request.cookies.get(cookie_name, "").encode(), proof.encode()):
            return None
        return _refusal(401, "This page needs its token: open the address that was printed at the start.")

    app.before_request(check)


def _only_local_names() -> BaseResponse | None:
    if is_loopback(urlsplit(f"//{request.host}").hostname or ""):
        return None
    return _refusal(403, "This page answers to localhost only. Start it with a token to reach it by another name.")


def _refusal(status: int, reason: str) -> Response:
    return Response(reason + "\n", status, content_type="text/plain; charset=utf-8")
