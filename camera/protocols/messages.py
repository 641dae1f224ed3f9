"""Commands, inquiries and their outcomes: what a controller says to a head, whatever the protocol.

Positions are DEVICE units and device signs; ``camera.profile`` turns them into degrees. Speeds are steps of the
profile's speed table with our signs: a positive pan step turns right, a positive tilt step up. A protocol turns these
values into bytes and back.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Literal

import msgspec


class Drive(msgspec.Struct, frozen=True):
    """Turn at signed speed steps (right and up positive) until the next command; 0, 0 stops."""

    pan_step: int
    tilt_step: int


class Absolute(msgspec.Struct, frozen=True):
    """Move to a position in device units at the given steps (1 and up)."""

    pan_units: int
    tilt_units: int
    pan_step: int
    tilt_step: int


class Relative(msgspec.Struct, frozen=True):
    """Move by a distance in device units at the given steps (1 and up)."""

    pan_units: int
    tilt_units: int
    pan_step: int
    tilt_step: int


class Home(msgspec.Struct, frozen=True):
    """Move to pan 0, tilt 0."""


class Recalibrate(msgspec.Struct, frozen=True):
    """Pan-tilt reset: find the ends of travel again and move to pan 0, tilt 0."""


class ZoomDrive(msgspec.Struct, frozen=True):
    """Zoom at a signed speed: +1..+8 towards tele, -1..-8 towards wide (wire speeds 0..7), 0 stops."""

    step: int


class ZoomDirect(msgspec.Struct, frozen=True):
    """Zoom to a position in device units."""

    units: int


class Tally(msgspec.Struct, frozen=True):
    """Light the tally lamp of the head, or put it out."""

    on: bool


class SpeedMode(msgspec.Struct, frozen=True):
    """Choose the table of speeds that the steps of a drive mean; see ``camera.profile.LinkProfile``."""

    name: Literal["slow-off", "slow-on", "steps-normal", "steps-extended"]


class Cancel(msgspec.Struct, frozen=True):
    """Cancel the command that runs in ``socket``."""

    socket: int


class InterfaceClear(msgspec.Struct, frozen=True):
    """Clear the command buffer."""


class PositionInquiry(msgspec.Struct, frozen=True):
    """Ask for pan and tilt."""


class ZoomInquiry(msgspec.Struct, frozen=True):
    """Ask for the zoom."""


class MaxSpeedInquiry(msgspec.Struct, frozen=True):
    """Ask for the highest speed steps."""


class StatusInquiry(msgspec.Struct, frozen=True):
    """Ask whether pan and tilt move."""


Inquiry = PositionInquiry | ZoomInquiry | MaxSpeedInquiry | StatusInquiry
_Movement = Drive | Absolute | Relative | Home | Recalibrate | ZoomDrive | ZoomDirect
Action = _Movement | Tally | SpeedMode | Cancel | InterfaceClear
Message = Action | Inquiry


class Position(msgspec.Struct, frozen=True):
    """The head's answer to a position inquiry."""

    pan_units: int
    tilt_units: int


class ZoomPosition(msgspec.Struct, frozen=True):
    """The head's answer to a zoom inquiry."""

    units: int


class MaxSteps(msgspec.Struct, frozen=True):
    """The head's answer to a maximum speed inquiry: its highest steps."""

    pan_step: int
    tilt_step: int


class Status(msgspec.Struct, frozen=True):
    """The head's answer to a status inquiry."""

    moving: bool


Report = Position | ZoomPosition | MaxSteps | Status


class Signal(Enum):
    """A signal that may change the state of a message."""

    SENT = auto()
    ACKED = auto()
    COMPLETED = auto()
    ANSWERED = auto()
    REFUSED = auto()
    FULL = auto()
    OVERTAKEN = auto()
    CANCELLED = auto()
    REPLACED = auto()
    GIVEN_UP = auto()
    LOST = auto()


class Connected(msgspec.Struct, frozen=True):
    """The head answers. ``again``: the link had been lost before, and the session sends a stop first."""

    again: bool


class Outcome(msgspec.Struct, frozen=True):
    """A signal that changed the state of a message.

    Attributes:
        ticket: as ``submit`` returned it.
        message: as submitted.
        signal: ACKED, after which another outcome follows; or a signal that closed the message.
        sent_us: time at which it was first sent; 0 if it was not.
        report: answer to an inquiry; None if the session could not read it.
        code: error code of a refusal.
    """

    ticket: int
    message: Message
    signal: Signal
    sent_us: int = 0
    report: Report | None = None
    code: int = 0


SessionEvent = Connected | Outcome


def slot_of(message: Message) -> str:
    """Return a message's slot; a newer message of a slot replaces an older one."""
    if isinstance(message, ZoomDrive | ZoomDirect):
        return "zoom"
    if isinstance(message, Inquiry | Tally | SpeedMode | Cancel | InterfaceClear):
        return type(message).__name__
    return "pan_tilt"
