"""The protocols that a head may speak: one row each."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from camera.profile import Profile
from camera.protocols.interface import HeadLink, HeadSession
from camera.protocols.link import TcpLink, UdpLink
from camera.protocols.messages import PositionInquiry
from camera.protocols.onvif import Onvif
from camera.protocols.panasonic import PanasonicAw
from camera.protocols.turns import Dialect, TurnSession
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
        session: makes the controller's side, which stops a head before all else.
        asking: the same of a session that only asks, and stops nothing.
        link: makes the sockets; raises ``AddressError``.
    """

    port: int
    session: Callable[[Profile, Address], HeadSession]
    asking: Callable[[Profile, Address], HeadSession]
    link: Callable[[tuple[str, int]], HeadLink]


def _turns(port: int, dialect: Callable[[Profile, Address], Dialect]) -> ProtocolRow:
    """Return the row of a protocol that sends one message at a time."""
    return ProtocolRow(
        port,
        lambda profile, to: TurnSession(dialect(profile, to)),
        lambda profile, to: TurnSession(dialect(profile, to), opening=PositionInquiry()),
        TcpLink,
    )


def _visca(profile: Profile, _: Address) -> Session:
    return Session(profile)


PROTOCOLS: dict[str, ProtocolRow] = {
    "visca": ProtocolRow(52381, _visca, _visca, UdpLink),
    "visca-tcp": _turns(5678, lambda profile, _: ViscaTcp(profile)),
    "onvif": _turns(80, lambda profile, to: Onvif(profile, f"{to.host}:{to.port}", to.user, to.password)),
    "aw": _turns(80, lambda profile, to: PanasonicAw(profile, f"{to.host}:{to.port}", to.user, to.password)),
}


def protocol(name: str) -> ProtocolRow:
    """Return the protocol of a name.

    Raises:
        ProtocolError: there is none.
    """
    if name not in PROTOCOLS:
        raise ProtocolError(f"no protocol {name}; there are {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
