"""A simulated head that speaks Panasonic's AW. No socket, no clock."""

from __future__ import annotations

import base64
from urllib.parse import parse_qs, urlsplit

from camera.protocols import messages, panasonic
from camera.protocols.messages import Inquiry, ZoomDirect
from camera.simulated.body import Body
from camera.simulated.http_device import HttpDevice


class PanasonicDevice(HttpDevice):
    """A device that speaks AW.

    Args:
        body: the head that it moves.
        user, password: asked for by HTTP Basic; empty if nobody needs to log in.
    """

    def __init__(self, body: Body, user: str = "", password: str = "") -> None:
        super().__init__(body)
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._authorization = f"Basic {token}" if user else ""

    def respond(self, method: str, target: str, body: bytes, authorization: str) -> tuple[int, str, bytes]:
        """Return the answer to a command."""
        if self._authorization not in ("", authorization):
            return 401, "text/plain", b"log in"
        address = urlsplit(target)
        command = parse_qs(address.query).get("cmd", [""])[0]
        if method != "GET" or address.path != "/cgi-bin/aw_ptz":
            return 404, "text/plain", b"not found"
        return 200, "text/plain", self._reply(command).encode("latin-1")

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
