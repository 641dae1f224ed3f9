"""A simulated head that speaks Panasonic's AW. No socket, no clock."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from camera.protocols import messages, panasonic
from camera.protocols.messages import Inquiry, ZoomDirect
from camera.simulated.body import Body
from camera.simulated.http_device import HttpDevice

_FIELD = re.compile(r'(\w+)=("[^"]*"|[^,\s]+)')


class PanasonicDevice(HttpDevice):
    """A device that speaks AW.

    Args:
        body: the head that it moves.
        user, password: asked for; empty if nobody needs to log in.
        login: the way of asking.
    """

    def __init__(
        self, body: Body, user: str = "", password: str = "", login: Literal["basic", "digest"] = "basic"
    ) -> None:
        super().__init__(body)
        self._user, self._password, self._digest = user, password, bool(user) and login == "digest"
        self._nonce = os.urandom(8).hex()
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._authorization = f"Basic {token}" if user else ""

    def respond(self, method: str, target: str, body: bytes, authorization: str) -> tuple[int, str, bytes]:
        """Return the answer to a command."""
        if not self._may(method, target, authorization):
            return 401, "text/plain", b"log in"
        address = urlsplit(target)
        command = parse_qs(address.query).get("cmd", [""])[0]
        if method != "GET" or address.path != "/cgi-bin/aw_ptz":
            return 404, "text/plain", b"not found"
        return 200, "text/plain", self._reply(command).encode("latin-1")

    def headers(self, status: int) -> list[tuple[str, str]]:
        """Return further headers of an answer."""
        if status != 401:
            return []
        way = f'Digest realm="head", nonce="{self._nonce}", qop="auth"' if self._digest else 'Basic realm="head"'
        return [("WWW-Authenticate", way)]

    def _may(self, method: str, target: str, authorization: str) -> bool:
        if not self._digest:
            return self._authorization in ("", authorization)
        fields = dict(_FIELD.findall(authorization.removeprefix("Digest ")))
        names = ("username", "nonce", "uri", "nc", "cnonce", "response")
        user, nonce, uri, count, client, response = (fields.get(name, "").strip('"') for name in names)
        first, second = (
            hashlib.md5(text.encode()).hexdigest()
            for text in (f"{self._user}:head:{self._password}", f"{method}:{uri}")
        )
        wanted = hashlib.md5(f"{first}:{nonce}:{count}:{client}:auth:{second}".encode()).hexdigest()
        return authorization.startswith("Digest ") and (user, nonce, uri, response) == (
            self._user,
            self._nonce,
            target,
            wanted,
        )

    def _reply(self, command: str) -> str:
        try:
            message = panasonic.decode(command)
        except panasonic.AwError:
            return f"eR1:{command[1:4]}"
        if isinstance(message, Inquiry):
            return panasonic.encode_report(self._body.report(message))
        profile = self._body.profile
        if isinstance(message, messages.Absolute):
            tops = len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s)
            message = messages.Absolute(message.pan_units, message.tilt_units, *tops)
        if isinstance(message, ZoomDirect) and not 0 <= message.units <= profile.zoom.max_units:
            return f"eR3:{command[1:4]}"
        self._body.order(message)
        return command[1:2].lower() + command[2:] if command[1] != "A" else "a" + command[2:]
