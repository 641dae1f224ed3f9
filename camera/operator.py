"""Orders of an operator: a drive, a hold, a pose, a player. They are carried out within the style's limits."""

from __future__ import annotations

import msgspec

from camera.head import Pose

#: A drive stops this long after the operator's last message: a lost connection must not leave the camera turning.
DEAD_MAN_US = 500_000


class ManualDrive(msgspec.Struct, frozen=True):
    """Turn and zoom at shares (-1 to 1) of the style's greatest speeds; right, up and towards tele are positive."""

    pan: float
    tilt: float
    zoom: float
    at_us: int


class Hold(msgspec.Struct, frozen=True):
    """Brake and stand still."""


class GoTo(msgspec.Struct, frozen=True):
    """Move to a pose and stay there."""

    pose: Pose


class Track(msgspec.Struct, frozen=True):
    """Follow one player, by object id."""

    player: str


Order = ManualDrive | Hold | GoTo
