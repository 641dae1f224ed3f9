"""The protocols that a head may speak: one row each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from camera.profile import Profile
from camera.protocols.interface import HeadLink, HeadSession
from camera.protocols.link import TcpLink, UdpLink
from camera.protocols.onvif import Onvif
from camera.protocols.panasonic import PanasonicAw
from camera.protocols.turns import TurnSession
from camera.protocols.visca_tcp import ViscaTcp
from camera.protocols.visca_udp import Session
from football.errors import UserError


class ProtocolError(UserError, ValueError):
    """No such protocol; the message names those that exist."""


class Address(msgspec.Struct, frozen=True):
    """Where a head is, and who may steer it. ``user`` is empty if the head asks for nobody."""

    host: str
    port: int
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Return host and port; a password never enters a log."""
        return f"{self.host}:{self.port}"


class ProtocolRow(msgspec.Struct, frozen=True):
    """A protocol.

    Attributes:
        port: its usual port.
        session: makes the controller's side.
        link: makes the sockets; raises ``AddressError``.
    """

    port: int
    session: Callable[[Profile, Address], HeadSession]
    link: Callable[[tuple[str, int]], HeadLink]


PROTOCOLS: dict[str, ProtocolRow] = {
    "visca": ProtocolRow(52381, lambda profile, _: Session(profile), UdpLink),
    "visca-tcp": ProtocolRow(5678, lambda profile, _: TurnSession(ViscaTcp(profile)), TcpLink),
    "onvif": ProtocolRow(
        80, lambda profile, to: TurnSession(Onvif(profile, f"{to.host}:{to.port}", to.user, to.password)), TcpLink
    ),
    "aw": ProtocolRow(
        80, lambda profile, to: TurnSession(PanasonicAw(profile, f"{to.host}:{to.port}", to.user, to.password)), TcpLink
    ),
}


def protocol(name: str) -> ProtocolRow:
    """Return the protocol of a name.

    Raises:
        ProtocolError: there is none.
    """
    if name not in PROTOCOLS:
        raise ProtocolError(f"no protocol {name}; there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
