"""The body of a simulated head: one motion model behind whatever protocol. No socket, no clock."""

from __future__ import annotations

import math

import msgspec

from camera.head import Head, Pose, ordered, reported
from camera.profile import Profile
from camera.protocols.messages import Action, Drive, Inquiry, Report, ZoomDrive


class Body:
    """A head that moves as its orders say.

    Args:
        head: the head at ``now_us``.
        now_us: any monotonic time; all later calls use the same clock.

    Attributes:
        executed: number of orders executed so far.
    """

    def __init__(self, head: Head, now_us: int = 0) -> None:
        self.head, self._now_us = head, now_us
        self.executed = 0

    @property
    def profile(self) -> Profile:
        """The profile of the head."""
        return self.head.profile

    def head_at(self, now_us: int) -> Head:
        """Return the head at a time not before the last call."""
        return self.head.advance(max(0, now_us - self._now_us) / 1e6)

    def pose_at(self, now_us: int) -> Pose:
        """Return the exact pose, without the rounding of a report."""
        return self.head_at(now_us).pose

    def advance(self, now_us: int) -> None:
        """Move on to ``now_us``."""
        self.head = self.head_at(now_us)
        self._now_us = max(self._now_us, now_us)

    def order(self, action: Action) -> None:
        """Execute an order."""
        self.head = ordered(self.head, action)
        self.executed += 1

    def turn(self, pan_deg_s: float, tilt_deg_s: float) -> None:
        """Turn at signed speeds that need not stand in the speed table, within the greatest of it."""
        head, profile = self.head, self.profile
        pan = head.pan.drive(_within(pan_deg_s, profile.pan.speeds_deg_s[-1]))
        tilt = head.tilt.drive(_within(tilt_deg_s, profile.tilt.speeds_deg_s[-1]))
        self.head = msgspec.structs.replace(head, pan=pan, tilt=tilt)
        self.executed += 1

    def report(self, inquiry: Inquiry) -> Report:
        """Return the answer to an inquiry."""
        return reported(self.head, inquiry)

    def halt(self) -> None:
        """Stop all axes, as a head does that loses power or is told to stop."""
        self.head = ordered(ordered(self.head, Drive(0, 0)), ZoomDrive(0))

    def is_still(self, slot: str) -> bool:
        """True if no motion of a slot (``pan_tilt`` or ``zoom``) is left."""
        head = self.head
        return head.zoom.still if slot == "zoom" else head.pan.still and head.tilt.still


def _within(speed: float, top: float) -> float:
    if math.isnan(speed):
        raise ValueError("a speed that is no number")
    return max(-top, min(top, speed))
