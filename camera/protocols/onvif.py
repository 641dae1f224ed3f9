"""ONVIF PTZ: SOAP over HTTP, a user token with a digest (ONVIF Core and PTZ Service Specification).

Theory of operation
-------------------
Before the first message the dialect asks the device for its time (a digest holds the device's time, not ours), for the
paths of its services, for its first media profile with a PTZ configuration, and for the spaces of its PTZ node. Where
the device has the space, positions and speeds are in degrees; else they are shares of the travel and of the greatest
speed of the head's profile.

A stop is a movement at speed zero, then ``Stop``: some devices ignore one, some the other. ``ContinuousMove`` carries a
time-out of a second, so that a head whose network is lost stops by itself; the caller repeats a drive that is to go on.
Some devices ignore the time-out. Those that refuse it get drives without one. Some answer with prefixes that they have
not declared, and some close the connection after each answer: both are read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from camera.profile import AxisProfile, Profile
from camera.protocols import messages
from camera.protocols.http_exchange import HttpExchange
from camera.protocols.messages import Message
from camera.protocols.turns import Done, More, Refused, Reply
from football.untrusted import UntrustedError, XmlElement, decode_xml

DEVICE_PATH = "/onvif/device_service"
SPACES = "http://www.onvif.org/ver10/tptz/PanTiltSpaces/"
POSITION_DEGREES = SPACES + "SphericalPositionSpaceDegrees"
VELOCITY_DEGREES = SPACES + "VelocitySpaceDegrees"

#: Time-out of a drive, and the time after which it is repeated: two repetitions may be late.
DRIVE_TIME_OUT = "PT1S"
DRIVE_REPEAT_US = 350_000

_NAMESPACES = {
    "s": "http://www.w3.org/2003/05/soap-envelope",
    "tds": "http://www.onvif.org/ver10/device/wsdl",
    "trt": "http://www.onvif.org/ver10/media/wsdl",
    "tptz": "http://www.onvif.org/ver20/ptz/wsdl",
    "tt": "http://www.onvif.org/ver10/schema",
}
_PREFIX, _DECLARED = re.compile(rb"</?([A-Za-z_][\w.-]*):"), re.compile(rb"xmlns:([A-Za-z_][\w.-]*)\s*=")
_ROOT = re.compile(rb"<[A-Za-z_][\w.:-]*")
_SECURITY = (
    '<s:Header><w:Security xmlns:w="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"'
    ' xmlns:u="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"'
    ' s:mustUnderstand="1"><w:UsernameToken><w:Username>{user}</w:Username><w:Password Type="http://docs.oasis-open.org'
    '/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest">{digest}</w:Password>'
    "<w:Nonce>{nonce}</w:Nonce><u:Created>{created}</u:Created></w:UsernameToken></w:Security></s:Header>"
)


def password_digest(nonce: bytes, created: str, password: str) -> str:
    """Return the digest of a user token: Base64(SHA-1(nonce + created + password)) (WS-Security UsernameToken 1.0).

    >>> password_digest(base64.b64decode("LKqI6G/AikKCQrN0zqZFlg=="), "2010-09-16T07:50:45Z", "userpassword")
    'tuOSpGlFlIXsozq4HFNeeGeFLEI='
    """
    return base64.b64encode(hashlib.sha1(nonce + created.encode() + password.encode()).digest()).decode()


def envelope(body: str, header: str = "") -> bytes:
    """Return a SOAP 1.2 document around a body."""
    spaces = " ".join(f'xmlns:{name}="{uri}"' for name, uri in _NAMESPACES.items())
    text = f'<?xml version="1.0" encoding="UTF-8"?><s:Envelope {spaces}>{header}<s:Body>{body}</s:Body></s:Envelope>'
    return text.encode()


class Onvif:
    """The dialect of ONVIF PTZ.

    Args:
        profile: of the head; its units are its own choice (a hundredth of a degree, say), because none are on the wire.
        host: for the ``Host`` header.
        user, password: for the user token; without a user none is sent.
        now: our time; a test passes its own.
        random: bytes for a nonce.
    """

    interval_us = 0
    answer_us = 2_000_000
    closes_idle = True
    shows_tally = False

    def __init__(
        self,
        profile: Profile,
        host: str,
        user: str = "",
        password: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.profile = profile
        self._http = HttpExchange(host)
        self._user, self._password, self._now, self._random = user, password, now, random
        self._ahead = timedelta(0)  # the device's clock less ours
        self._device_path = self._media_path = self._ptz_path = DEVICE_PATH
        self._token = self._node = ""
        self._spaces: frozenset[str] = frozenset()
        self._introduced = 0  # how many steps of the introduction are done
        self._stopped = False  # the first half of a stop is done
        self._has_time_out = True  # the device takes drives with a time-out
        self._tries_without = False  # it has refused one, and the same drive without is under way

    @property
    def drive_repeat_us(self) -> int:
        """Time after which a drive that is to go on must be repeated."""
        return DRIVE_REPEAT_US if self._has_time_out else 0

    @property
    def closes(self) -> bool:
        """True if the device ends the connection after its last reply."""
        return self._http.closes

    def forget(self) -> None:
        """Begin on a new connection."""
        self._http.forget()

    # -- requests

    def encode(self, message: Message, continued: bool = False) -> bytes:
        """Return the first request of a message, or the next one of a message that is ``continued``."""
        if not continued:
            self._stopped = self._tries_without = False
        if self._introduced < len(_INTRODUCTION):
            step = _INTRODUCTION[self._introduced]
            return self._request(getattr(self, step.path), step.body.format(node=escape(self._node)), step.signed)
        return self._request(self._ptz_path, self._ptz(message))

    def _request(self, path: str, body: str, signed: bool = True) -> bytes:
        header = self._security() if signed and self._user else ""
        content = (("Content-Type", "application/soap+xml; charset=utf-8"),)
        return self._http.request("POST", path, content, envelope(body, header))

    def _security(self) -> str:
        nonce = self._random(16)
        created = (self._now() + self._ahead).strftime("%Y-%m-%dT%H:%M:%SZ")
        digest = password_digest(nonce, created, self._password)
        fields = {"user": escape(self._user), "digest": digest, "created": created}
        return _SECURITY.format(nonce=base64.b64encode(nonce).decode(), **fields)

    def _ptz(self, message: Message) -> str:
        token = f"<tptz:ProfileToken>{escape(self._token)}</tptz:ProfileToken>"
        match message:
            case messages.Drive(0, 0) if self._stopped:
                return f"<tptz:Stop>{token}<tptz:PanTilt>true</tptz:PanTilt><tptz:Zoom>false</tptz:Zoom></tptz:Stop>"
            case messages.Drive(pan, tilt):
                x, y, space = self._velocity(pan, tilt)
                move = f'<tptz:Velocity><tt:PanTilt x="{x:.6g}" y="{y:.6g}"{space}/></tptz:Velocity>'
                limited = self._has_time_out and not self._tries_without and (pan, tilt) != (0, 0)
                time_out = f"<tptz:Timeout>{DRIVE_TIME_OUT}</tptz:Timeout>" if limited else ""
                return f"<tptz:ContinuousMove>{token}{move}{time_out}</tptz:ContinuousMove>"
            case messages.ZoomDirect(units):
                move = f'<tt:Zoom x="{units / self.profile.zoom.max_units:.6f}"/>'
                return f"<tptz:AbsoluteMove>{token}<tptz:Position>{move}</tptz:Position></tptz:AbsoluteMove>"
            case messages.PositionInquiry() | messages.ZoomInquiry() | messages.StatusInquiry():
                return f"<tptz:GetStatus>{token}</tptz:GetStatus>"
        raise ValueError(f"ONVIF has no request for {message}")

    def _velocity(self, pan: int, tilt: int) -> tuple[float, float, str]:
        pan_deg_s, tilt_deg_s = self.profile.pan.speed_deg_s(pan), self.profile.tilt.speed_deg_s(tilt)
        if VELOCITY_DEGREES in self._spaces:
            return pan_deg_s, tilt_deg_s, f' space="{VELOCITY_DEGREES}"'
        tops = self.profile.pan.speeds_deg_s[-1], self.profile.tilt.speeds_deg_s[-1]
        return pan_deg_s / tops[0], tilt_deg_s / tops[1], ""

    # -- answers

    def replies(self, data: bytes, message: Message | None) -> list[Reply]:
        """Take a piece of the stream; return the reply to ``message`` if it is complete.

        Raises:
            GarbledError: no HTTP.
        """
        return [self._reply(answer.status, answer.body, message) for answer in self._http.answers(data)]

    def _reply(self, status: int, body: bytes, message: Message | None) -> Reply:
        try:
            root = decode_xml(with_all_prefixes(body))
        except UntrustedError:
            return Refused(status, login=status == 401)
        fault = root.find(".//{*}Fault")
        if status != 200 or fault is not None:
            if self._introduced < len(_INTRODUCTION) and _INTRODUCTION[self._introduced].may_fail:
                self._introduced += 1
                return More()
            return self._refused(status, message, login=status == 401 or _names_login(fault))
        if self._introduced < len(_INTRODUCTION):
            _INTRODUCTION[self._introduced].take(self, root)
            self._introduced += 1
            return More()
        if self._tries_without:  # the device takes the same drive without a time-out
            self._has_time_out = self._tries_without = False
        if message == messages.Drive(0, 0):
            self._stopped = not self._stopped
            return More() if self._stopped else Done()
        return Done(self._report(root, message))

    def _refused(self, status: int, message: Message | None, *, login: bool) -> Reply:
        """Return the reply to a refusal. A refused drive is tried again without its time-out."""
        is_drive = isinstance(message, messages.Drive) and message != messages.Drive(0, 0)
        if is_drive and self._has_time_out and not self._tries_without and self._introduced == len(_INTRODUCTION):
            self._tries_without = True
            return More()
        self._tries_without = False
        return Refused(status, login)

    def _report(self, root: XmlElement, message: Message | None) -> messages.Report | None:
        pan_tilt, zoom = root.find(".//{*}Position/{*}PanTilt"), root.find(".//{*}Position/{*}Zoom")
        try:
            match message:
                case messages.PositionInquiry() if pan_tilt is not None:
                    in_degrees = pan_tilt.get("space", "") == POSITION_DEGREES
                    x, y = float(pan_tilt.get("x", "nan")), float(pan_tilt.get("y", "nan"))
                    pan, tilt = self.profile.pan, self.profile.tilt
                    return messages.Position(units_of(pan, x, in_degrees), units_of(tilt, y, in_degrees))
                case messages.ZoomInquiry() if zoom is not None:
                    share = min(1.0, max(0.0, float(zoom.get("x", "nan"))))
                    return messages.ZoomPosition(round(share * self.profile.zoom.max_units))
                case messages.StatusInquiry():
                    return messages.Status(root.findtext(".//{*}MoveStatus/{*}PanTilt") == "MOVING")
        except ValueError:
            return None
        return None

    # -- introduction

    def _take_time(self, root: XmlElement) -> None:
        utc = root.find(".//{*}UTCDateTime")
        names = ("Date/{*}Year", "Date/{*}Month", "Date/{*}Day", "Time/{*}Hour", "Time/{*}Minute", "Time/{*}Second")
        try:
            numbers = [int(utc.findtext("{*}" + name, "")) for name in names] if utc is not None else []
            if numbers:
                self._ahead = datetime(*numbers, tzinfo=UTC) - self._now()  # type: ignore[arg-type, misc]
        except ValueError:
            self._ahead = timedelta(0)

    def _take_paths(self, root: XmlElement) -> None:
        for name, service in (("_media_path", "Media"), ("_ptz_path", "PTZ")):
            address = root.findtext(".//{*}" + service + "/{*}XAddr", "")
            # The host is the one that was set: a device behind another address names one that does not exist here.
            setattr(self, name, urlsplit(address).path or DEVICE_PATH)

    def _take_profile(self, root: XmlElement) -> None:
        for profile in root.iterfind(".//{*}Profiles"):
            if profile.find("{*}PTZConfiguration") is not None:
                self._token = profile.get("token", "")
                self._node = profile.findtext("{*}PTZConfiguration/{*}NodeToken", "")
                return

    def _take_node(self, root: XmlElement) -> None:
        self._spaces = frozenset(uri.text or "" for uri in root.iterfind(".//{*}URI"))


def _names_login(fault: XmlElement | None) -> bool:
    """True if a fault says that user or password are wrong: by its subcode, or as some devices do by its text."""
    text = "".join(fault.itertext()) if fault is not None else ""
    return any(word in text for word in ("NotAuthorized", "FailedAuthentication", "InvalidSecurity"))


def with_all_prefixes(body: bytes) -> bytes:
    """Return a document whose root declares all prefixes; some devices answer with prefixes that nobody has declared.

    >>> with_all_prefixes(b'<s:E xmlns:s="u"><ptz:R/></s:E>')
    b'<s:E xmlns:ptz="undeclared" xmlns:s="u"><ptz:R/></s:E>'
    """
    used, declared = set(_PREFIX.findall(body)), set(_DECLARED.findall(body))
    missing = b"".join(b' xmlns:%b="undeclared"' % prefix for prefix in sorted(used - declared - {b"xml"}))
    root = _ROOT.search(body)
    return body[: root.end()] + missing + body[root.end() :] if missing and root else body


def units_of(axis: AxisProfile, value: float, in_degrees: bool) -> int:
    """Return device units for a position in degrees, or in shares of the travel from -1 to 1."""
    middle_deg, half_deg = (axis.max_deg + axis.min_deg) / 2, (axis.max_deg - axis.min_deg) / 2
    return axis.units(value if in_degrees else middle_deg + value * half_deg)


class _Step(NamedTuple):
    """A step of the introduction: its request, and what takes its answer."""

    path: str
    body: str
    take: Callable[[Onvif, XmlElement], None]
    signed: bool = True
    may_fail: bool = False


_CAPABILITIES = "<tds:GetCapabilities><tds:Category>All</tds:Category></tds:GetCapabilities>"
_NODE = "<tptz:GetNode><tptz:NodeToken>{node}</tptz:NodeToken></tptz:GetNode>"
_INTRODUCTION = (
    _Step("_device_path", "<tds:GetSystemDateAndTime/>", Onvif._take_time, signed=False, may_fail=True),
    _Step("_device_path", _CAPABILITIES, Onvif._take_paths),
    _Step("_media_path", "<trt:GetProfiles/>", Onvif._take_profile),
    _Step("_ptz_path", _NODE, Onvif._take_node, may_fail=True),
)
