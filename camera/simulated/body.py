"""The body of a simulated head: one motion model behind whatever protocol. No socket, no clock."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import msgspec

from camera.head import Head, Pose, ordered, reported
from camera.profile import Profile
from camera.protocols.messages import Action, Drive, Inquiry, Report, SpeedMode, Tally, ZoomDrive


class Body:
    """A head that moves as its orders say.

    Args:
        head: the head at ``now_us``.
        now_us: any monotonic time; all later calls use the same clock.
        dead_us: time from an order until the head begins to obey.

    Attributes:
        executed: number of orders executed so far.
        tally: its tally lamp is lit.
        speed_mode: the table of speeds that was chosen; empty after power on.
    """

    def __init__(self, head: Head, now_us: int = 0, dead_us: int = 0) -> None:
        self.head, self._now_us, self._dead_us = head, now_us, dead_us
        self._coming: deque[tuple[int, Callable[[Head], Head]]] = deque()
        self.executed = 0
        self.tally = False
        self.speed_mode = ""

    def refuses(self, action: Action) -> bool:
        """Return True for a drive in another speed mode than that of the profile, whose steps the head has not."""
        wanted = self.profile.link.speed_mode
        turns = isinstance(action, Drive) and action != Drive(0, 0)
        return turns and bool(wanted) and self.speed_mode != wanted

    def reboot(self) -> None:
        """Stop, and forget lamp and speed mode."""
        self.halt()
        self.tally, self.speed_mode = False, ""

    @property
    def profile(self) -> Profile:
        """The profile of the head."""
        return self.head.profile

    def head_at(self, now_us: int) -> Head:
        """Return the head at a time not before the last call."""
        head, time_us = self.head, self._now_us
        for due_us, change in self._coming:
            if due_us > now_us:
                break
            head, time_us = change(head.advance(max(0, due_us - time_us) / 1e6)), max(due_us, time_us)
        return head.advance(max(0, now_us - time_us) / 1e6)

    def pose_at(self, now_us: int) -> Pose:
        """Return the exact pose, without the rounding of a report."""
        return self.head_at(now_us).pose

    def advance(self, now_us: int) -> None:
        """Move on to ``now_us``."""
        self.head = self.head_at(now_us)
        self._now_us = max(self._now_us, now_us)
        while self._coming and self._coming[0][0] <= self._now_us:
            self._coming.popleft()

    def order(self, action: Action) -> None:
        """Execute an order."""
        if isinstance(action, Tally):
            self.tally = action.on
            return
        if isinstance(action, SpeedMode):
            self.speed_mode = action.name
            return
        self._change(lambda head: ordered(head, action))

    def turn(self, pan_deg_s: float, tilt_deg_s: float) -> None:
        """Turn at signed speeds that need not stand in the speed table, within the greatest of it."""
        pan = _within(pan_deg_s, self.profile.pan.speeds_deg_s[-1])
        tilt = _within(tilt_deg_s, self.profile.tilt.speeds_deg_s[-1])
        self._change(lambda head: msgspec.structs.replace(head, pan=head.pan.drive(pan), tilt=head.tilt.drive(tilt)))

    def report(self, inquiry: Inquiry) -> Report:
        """Return the answer to an inquiry."""
        return reported(self.head, inquiry)

    def halt(self) -> None:
        """Stop all axes, as a head does that loses power or is told to stop."""
        self._coming.clear()
        self.head = ordered(ordered(self.head, Drive(0, 0)), ZoomDrive(0))

    def is_still(self, slot: str) -> bool:
        """True if no motion of a slot (``pan_tilt`` or ``zoom``) is left."""
        head = self.head
        if self._coming:
            return False
        return head.zoom.still if slot == "zoom" else head.pan.still and head.tilt.still

    def _change(self, change: Callable[[Head], Head]) -> None:
        self.executed += 1
        if self._dead_us:
            self._coming.append((self._now_us + self._dead_us, change))
        else:
            self.head = change(self.head)


def _within(speed: float, top: float) -> float:
    if math.isnan(speed):
        raise ValueError("a speed that is no number")
    return max(-top, min(top, speed))
