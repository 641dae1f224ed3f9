"""Panasonic's AW protocol: commands in the query of an HTTP GET, at least 130 ms apart.

``/cgi-bin/aw_ptz?cmd=%23PTS5050&res=1``: ``#PTS`` turns at speeds 01 to 99 (50 stands still), ``#APC`` moves to and
asks for the position, ``#AXZ`` and ``#GZ`` the zoom, ``#DA`` the tally lamp (Panasonic, HD/4K Integrated Camera
Interface Specifications).
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from urllib.parse import quote

from camera.profile import Profile
from camera.protocols import messages
from camera.protocols.http_digest import Challenge, answered, challenge_of
from camera.protocols.http_exchange import HttpExchange
from camera.protocols.messages import Message
from camera.protocols.turns import Done, More, Refused, Reply

#: Position on the wire at pan 0 and tilt 0, and zoom on the wire at full wide.
CENTRE, WIDE = 0x8000, 0x555
#: Speed on the wire that stands still; one less or more is one step.
STILL = 50


class AwError(ValueError):
    """Text that is no AW command or reply."""


def encode(message: Message) -> str:
    """Return the command of a message.

    Raises:
        AwError: the protocol has no such command.
    """
    match message:
        case messages.Drive(pan, tilt):
            return f"#PTS{STILL + pan:02d}{STILL + tilt:02d}"
        case messages.Absolute(pan_units, tilt_units):
            return f"#APC{CENTRE + pan_units:04X}{CENTRE + tilt_units:04X}"
        case messages.Home():
            return f"#APC{CENTRE:04X}{CENTRE:04X}"
        case messages.ZoomDirect(units):
            return f"#AXZ{WIDE + units:03X}"
        case messages.ZoomDrive(step):
            return f"#Z{STILL + 6 * step:02d}"
        case messages.Tally(on):
            return f"#DA{on:d}"
        case messages.PositionInquiry():
            return "#APC"
        case messages.ZoomInquiry():
            return "#GZ"
    raise AwError(f"AW has no command for {message}")


def decode(command: str) -> Message:
    """Return the message of a command, as the head reads it.

    Raises:
        AwError: not one of the commands above.
    """
    name, numbers = command[:4], command[4:]
    try:
        if command in _INQUIRIES:
            return _INQUIRIES[command]
        if name == "#PTS" and len(numbers) == 4:
            return messages.Drive(int(numbers[:2]) - STILL, int(numbers[2:]) - STILL)
        if name == "#APC" and len(numbers) == 8:
            top = 0x7F
            return messages.Absolute(int(numbers[:4], 16) - CENTRE, int(numbers[4:], 16) - CENTRE, top, top)
        if name[:3] == "#DA" and command[3:] in ("0", "1"):
            return messages.Tally(command[3:] == "1")
        if name == "#AXZ" and len(numbers) == 3:
            return messages.ZoomDirect(int(numbers, 16) - WIDE)
    except ValueError as error:
        raise AwError(f"{command}: {error}") from error
    raise AwError(f"{command} is unknown")


_INQUIRIES: dict[str, Message] = {"#APC": messages.PositionInquiry(), "#GZ": messages.ZoomInquiry()}


def encode_report(report: messages.Report) -> str:
    """Return the reply that carries a report."""
    match report:
        case messages.Position(pan_units, tilt_units):
            return f"aPC{CENTRE + pan_units:04X}{CENTRE + tilt_units:04X}"
        case messages.ZoomPosition(units):
            return f"gz{WIDE + units:03X}"
    raise AwError(f"AW has no reply for {report}")


def decode_report(text: str) -> messages.Report | None:
    """Return the report in a reply; None if it carries none (an echo of a command).

    Raises:
        AwError: a report with numbers that are none.
    """
    try:
        if text.startswith("aPC") and len(text) == 11:
            return messages.Position(int(text[3:7], 16) - CENTRE, int(text[7:], 16) - CENTRE)
        if text.startswith("gz") and len(text) == 5:
            return messages.ZoomPosition(int(text[2:], 16) - WIDE)
    except ValueError as error:
        raise AwError(f"{text}: {error}") from error
    return None


class PanasonicAw:
    """The dialect of AW.

    Args:
        profile: of the head; its speed tables have 49 steps.
        host: for the ``Host`` header.
        user, password: for the login; empty if the head asks for none. A head that asks for HTTP Digest gets it, any
            other gets HTTP Basic.
        random: bytes for a nonce.
    """

    interval_us = 130_000
    answer_us = 2_000_000
    drive_repeat_us = 0
    closes_idle = True
    shows_tally = True

    def __init__(
        self,
        profile: Profile,
        host: str,
        user: str = "",
        password: str = "",
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.profile = profile
        self._http = HttpExchange(host)
        self._user, self._password, self._random = user, password, random
        self._challenge: Challenge | None = None
        self._challenged = False  # the message in flight was refused once for its login, and is sent again

    @property
    def closes(self) -> bool:
        """True if the head ends the connection after its last reply."""
        return self._http.closes

    def forget(self) -> None:
        """Begin on a new connection."""
        self._http.forget()

    def encode(self, message: Message, continued: bool = False) -> bytes:
        """Return the request of a message."""
        self._challenged = continued
        target = f"/cgi-bin/aw_ptz?cmd={quote(encode(message), safe='')}&res=1"
        return self._http.request("GET", target, self._login(target))

    def _login(self, target: str) -> tuple[tuple[str, str], ...]:
        if not self._user:
            return ()
        if self._challenge is not None:
            nonce = self._random(8).hex()
            self._challenge, header = answered(self._challenge, "GET", target, self._user, self._password, nonce)
            return (("Authorization", header),)
        token = base64.b64encode(f"{self._user}:{self._password}".encode()).decode()
        return (("Authorization", f"Basic {token}"),)

    def replies(self, data: bytes, message: Message | None) -> list[Reply]:
        """Take a piece of the stream; return the reply to ``message`` if it is complete.

        Raises:
            GarbledError: no HTTP.
        """
        out: list[Reply] = []
        for answer in self._http.answers(data):
            challenge = challenge_of(answer.header("www-authenticate")) if answer.status == 401 else None
            if challenge is not None and self._user and not self._challenged:
                self._challenge = challenge  # the first, or a new one after the old nonce has expired
                out.append(More())
                continue
            text = answer.body.decode("latin-1").strip()
            if answer.status != 200 or text.startswith(("eR", "ER")):
                code = int(text[2]) if text[2:3].isdigit() else answer.status
                out.append(Refused(code, login=answer.status == 401))
                continue
            try:
                out.append(Done(decode_report(text)))
            except AwError:
                out.append(Done())
        return out
