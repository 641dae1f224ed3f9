"""A simulated head that speaks ONVIF PTZ. No socket, no clock of a match."""

from __future__ import annotations

import base64
import re
from collections.abc import Hashable
from datetime import UTC, datetime
from typing import Literal

from camera.profile import AxisProfile
from camera.protocols import messages, onvif
from camera.protocols.messages import Drive, ZoomDirect
from camera.simulated.body import Body
from camera.simulated.http_device import HttpDevice, Out
from football.untrusted import UntrustedError, XmlElement, decode_xml

#: Durations that the head reads.
_TIME_OUT = re.compile(r"PT([0-9]+(?:\.[0-9]+)?)S")


class OnvifDevice(HttpDevice):
    """A device that speaks ONVIF: device, media and PTZ service on one path.

    Args:
        body: the head that it moves.
        address: ``host:port`` under which it names its services.
        user, password: of the user token; empty if nobody needs to log in.
        in_degrees: it has the spaces in degrees.
        time_outs: what it does with the time-out of a drive.
    """

    def __init__(
        self,
        body: Body,
        address: str = "127.0.0.1",
        user: str = "",
        password: str = "",
        in_degrees: bool = True,
        time_outs: Literal["honoured", "ignored", "refused"] = "honoured",
    ) -> None:
        super().__init__(body)
        self._time_outs = time_outs
        self._drive_ends_us: int | None = None
        self._now_us = 0
        self.address = address
        self._user, self._password, self._in_degrees = user, password, in_degrees

    def poll(self, now_us: int) -> Out:
        """Advance the head, and end a drive whose time-out has passed."""
        self._now_us = now_us
        if self._drive_ends_us is not None and self._drive_ends_us <= now_us:
            self._body.advance(self._drive_ends_us)
            self._body.order(Drive(0, 0))
            self._drive_ends_us = None
        return super().poll(now_us)

    def receive(self, data: bytes, peer: Hashable, now_us: int) -> Out:
        """Take a piece of a peer's stream."""
        self.poll(now_us)
        return super().receive(data, peer, now_us)

    def respond(self, method: str, target: str, body: bytes, authorization: str) -> tuple[int, str, bytes]:
        """Return the answer to a SOAP request."""
        kind = "application/soap+xml; charset=utf-8"
        try:
            root = decode_xml(body)
            request = root.find("{*}Body/*")
            if request is None:
                raise UntrustedError("no body")
            name = request.tag.rpartition("}")[2]
            if name != "GetSystemDateAndTime" and not self._may(root):
                return 400, kind, _fault("NotAuthorized")
            return 200, kind, onvif.envelope(self._content(name, request))
        except (UntrustedError, ValueError) as error:
            return 400, kind, _fault(type(error).__name__)
        except KeyError:
            return 400, kind, _fault("ActionNotSupported")

    def _may(self, root: XmlElement) -> bool:
        if not self._user:
            return True
        token = root.find(".//{*}UsernameToken")
        if token is None or token.findtext("{*}Username") != self._user:
            return False
        nonce, created = token.findtext("{*}Nonce", ""), token.findtext("{*}Created", "")
        expected = onvif.password_digest(base64.b64decode(nonce), created, self._password)
        return token.findtext("{*}Password") == expected

    def _content(self, name: str, request: XmlElement) -> str:
        answers = {
            "GetSystemDateAndTime": self._time,
            "GetCapabilities": self._capabilities,
            "GetServices": self._services,
            "GetProfiles": self._profiles,
            "GetNode": self._node,
            "GetNodes": self._node,
            "GetStatus": self._status,
            "ContinuousMove": self._continuous,
            "AbsoluteMove": self._absolute,
            "RelativeMove": self._relative,
            "Stop": self._stop,
        }
        return answers[name](request)

    def _time(self, _request: XmlElement) -> str:
        now = datetime.now(UTC)
        date = _elements(Year=now.year, Month=now.month, Day=now.day)
        time = _elements(Hour=now.hour, Minute=now.minute, Second=now.second)
        return (
            "<tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType>"
            f"<tt:DaylightSavings>false</tt:DaylightSavings><tt:UTCDateTime><tt:Time>{time}</tt:Time>"
            f"<tt:Date>{date}</tt:Date></tt:UTCDateTime>"
            "</tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>"
        )

    def _capabilities(self, _request: XmlElement) -> str:
        url = f"<tt:XAddr>http://{self.address}{onvif.DEVICE_PATH}</tt:XAddr>"
        media = "<tt:StreamingCapabilities/>"
        return (
            f"<tds:GetCapabilitiesResponse><tds:Capabilities><tt:Device>{url}</tt:Device>"
            f"<tt:Media>{url}{media}</tt:Media><tt:PTZ>{url}</tt:PTZ></tds:Capabilities></tds:GetCapabilitiesResponse>"
        )

    def _services(self, _request: XmlElement) -> str:
        url = f"http://{self.address}{onvif.DEVICE_PATH}"
        names = ("ver10/device", "ver10/media", "ver20/ptz")
        services = "".join(
            f"<tds:Service><tds:Namespace>http://www.onvif.org/{name}/wsdl</tds:Namespace><tds:XAddr>{url}</tds:XAddr>"
            "<tds:Version><tt:Major>2</tt:Major><tt:Minor>0</tt:Minor></tds:Version></tds:Service>"
            for name in names
        )
        return f"<tds:GetServicesResponse>{services}</tds:GetServicesResponse>"

    def _profiles(self, _request: XmlElement) -> str:
        return (
            '<trt:GetProfilesResponse><trt:Profiles token="main" fixed="true"><tt:Name>main</tt:Name>'
            '<tt:PTZConfiguration token="ptz"><tt:Name>ptz</tt:Name><tt:UseCount>1</tt:UseCount>'
            "<tt:NodeToken>head</tt:NodeToken></tt:PTZConfiguration></trt:Profiles></trt:GetProfilesResponse>"
        )

    def _node(self, request: XmlElement) -> str:
        pan = self._body.profile.pan
        spaces = self._space("AbsolutePanTiltPositionSpace", onvif.SPACES + "PositionGenericSpace", -1, 1)
        spaces += self._space("ContinuousPanTiltVelocitySpace", onvif.SPACES + "VelocityGenericSpace", -1, 1)
        if self._in_degrees:
            spaces += self._space("AbsolutePanTiltPositionSpace", onvif.POSITION_DEGREES, pan.min_deg, pan.max_deg)
            top = pan.speeds_deg_s[-1]
            spaces += self._space("ContinuousPanTiltVelocitySpace", onvif.VELOCITY_DEGREES, -top, top)
        many = "s" if request.tag.endswith("GetNodes") else ""
        return (
            f'<tptz:GetNode{many}Response><tptz:PTZNode token="head"><tt:Name>head</tt:Name>'
            f"<tt:SupportedPTZSpaces>{spaces}</tt:SupportedPTZSpaces>"
            "<tt:MaximumNumberOfPresets>0</tt:MaximumNumberOfPresets><tt:HomeSupported>false</tt:HomeSupported>"
            f"</tptz:PTZNode></tptz:GetNode{many}Response>"
        )

    def _space(self, name: str, uri: str, low: float, high: float) -> str:
        ends = f"<tt:Min>{low:.2f}</tt:Min><tt:Max>{high:.2f}</tt:Max>"
        return (
            f"<tt:{name}><tt:URI>{uri}</tt:URI><tt:XRange>{ends}</tt:XRange><tt:YRange>{ends}</tt:YRange></tt:{name}>"
        )

    def _status(self, _request: XmlElement) -> str:
        body, pose = self._body, self._body.head.pose
        profile = body.profile
        if self._in_degrees:
            x, y, space = pose.pan_deg, pose.tilt_deg, f' space="{onvif.POSITION_DEGREES}"'
        else:
            x, y = _share(profile.pan, pose.pan_deg), _share(profile.tilt, pose.tilt_deg)
            space = f' space="{onvif.SPACES}PositionGenericSpace"'
        zoom = body.head.zoom.position / profile.zoom.max_units
        moves = ["IDLE" if body.is_still(slot) else "MOVING" for slot in ("pan_tilt", "zoom")]
        return (
            f'<tptz:GetStatusResponse><tptz:PTZStatus><tt:Position><tt:PanTilt x="{x:.6f}" y="{y:.6f}"{space}/>'
            f'<tt:Zoom x="{zoom:.6f}"/></tt:Position><tt:MoveStatus><tt:PanTilt>{moves[0]}</tt:PanTilt>'
            f"<tt:Zoom>{moves[1]}</tt:Zoom></tt:MoveStatus><tt:UtcTime>{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}</tt:UtcTime>"
            "</tptz:PTZStatus></tptz:GetStatusResponse>"
        )

    def _continuous(self, request: XmlElement) -> str:
        move, profile = request.find("{*}Velocity/{*}PanTilt"), self._body.profile
        time_out = _TIME_OUT.fullmatch(request.findtext("{*}Timeout", ""))
        if time_out and self._time_outs == "refused":
            raise ValueError("a time-out")
        limited = time_out is not None and self._time_outs == "honoured"
        self._drive_ends_us = self._now_us + int(float(time_out[1]) * 1e6) if time_out and limited else None
        if move is not None:
            in_degrees = move.get("space", "") == onvif.VELOCITY_DEGREES
            speeds = [
                float(move.get(name, "nan")) * (1.0 if in_degrees else axis.speeds_deg_s[-1])
                for name, axis in (("x", profile.pan), ("y", profile.tilt))
            ]
            self._body.turn(*speeds)
        return "<tptz:ContinuousMoveResponse/>"

    def _absolute(self, request: XmlElement) -> str:
        move, zoom = request.find("{*}Position/{*}PanTilt"), request.find("{*}Position/{*}Zoom")
        profile = self._body.profile
        if move is not None:
            in_degrees = move.get("space", "") == onvif.POSITION_DEGREES
            units = [
                onvif.units_of(axis, float(move.get(name, "nan")), in_degrees)
                for name, axis in (("x", profile.pan), ("y", profile.tilt))
            ]
            tops = len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s)
            self._body.order(messages.Absolute(units[0], units[1], *tops))
        if zoom is not None:
            share = min(1.0, max(0.0, float(zoom.get("x", "nan"))))
            self._body.order(ZoomDirect(round(share * profile.zoom.max_units)))
        return "<tptz:AbsoluteMoveResponse/>"

    def _relative(self, request: XmlElement) -> str:
        move, profile = request.find("{*}Translation/{*}PanTilt"), self._body.profile
        if move is not None:
            halves = [(axis.max_deg - axis.min_deg) / 2 for axis in (profile.pan, profile.tilt)]
            pan, tilt = (float(move.get(name, "nan")) * half for name, half in zip("xy", halves, strict=True))
            units = (
                round(pan * profile.pan.sign * profile.pan.units_per_deg),
                round(tilt * profile.tilt.sign * profile.tilt.units_per_deg),
            )
            tops = len(profile.pan.speeds_deg_s), len(profile.tilt.speeds_deg_s)
            self._body.order(messages.Relative(units[0], units[1], *tops))
        return "<tptz:RelativeMoveResponse/>"

    def _stop(self, _request: XmlElement) -> str:
        self._drive_ends_us = None
        self._body.halt()
        return "<tptz:StopResponse/>"


def _share(axis: AxisProfile, angle_deg: float) -> float:
    return 2 * (angle_deg - axis.min_deg) / (axis.max_deg - axis.min_deg) - 1


def _fault(reason: str) -> bytes:
    text = re.sub("[^A-Za-z]", "", reason)
    why = f'<s:Reason><s:Text xml:lang="en">{text}</s:Text></s:Reason>'
    return onvif.envelope(f"<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code>{why}</s:Fault>")


def _elements(**values: object) -> str:
    return "".join(f"<tt:{name}>{value}</tt:{name}>" for name, value in values.items())
