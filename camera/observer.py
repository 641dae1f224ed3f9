"""A model of the head, which gets the same commands and gives the pose between two reports. No I/O."""

from __future__ import annotations

from collections import deque

import msgspec

from camera.head import Axis, Head, Pose, new_head, ordered
from camera.profile import Profile
from camera.protocols.messages import Action

#: Share of the difference between report and model by which a report corrects the model.
TRUST = 0.5
#: A larger difference corrects the model completely: something else moved the head.
JUMP_DEG = 2.0
#: Limit of the poses that are remembered, so that a report can be compared with the pose at its own time.
POSES_MAX = 64


class Observer:
    """Follows one head. A report is compared with the pose that the model had at the time of the report.

    Args:
        profile: the model of the device.
        now_us: any monotonic time.

    Attributes:
        known: the pose has been reported since the head was last lost.
    """

    def __init__(self, profile: Profile, now_us: int) -> None:
        self._head: Head = new_head(profile, accel_deg_s2=profile.motion.accel_deg_s2)
        self._now_us = now_us
        self._poses: deque[tuple[int, float, float]] = deque(maxlen=POSES_MAX)
        self._dead_us = round(profile.motion.dead_time_ms * 1000)
        self._coming: deque[tuple[int, Action]] = deque()  # commands on their way: when they take effect
        self.known = False
        self._was_turning = False  # when it was lost, and nothing has been reported since

    @property
    def may_turn(self) -> bool:
        """True if pan or tilt moves in the model, a command is on its way, or the head was lost so and is silent yet.

        The model ends at the end of travel that the profile states; the head may not.
        """
        moves = not (self._head.pan.still and self._head.tilt.still and not self._coming)
        return moves or self._was_turning

    def at(self, now_us: int) -> Pose:
        """Return the pose at ``now_us``; advances the model."""
        self._head = self._advanced(max(now_us, self._now_us))
        self._now_us = max(self._now_us, now_us)
        while self._coming and self._coming[0][0] <= self._now_us:
            self._coming.popleft()
        if not self._poses or self._poses[-1][0] < self._now_us:
            self._poses.append((self._now_us, self._head.pan.position, self._head.tilt.position))
        return self._head.pose

    def soon(self, ahead_us: int) -> Pose:
        """Return the pose ``ahead_us`` later if no further command is sent."""
        return self._advanced(self._now_us + ahead_us).pose

    def commanded(self, action: Action) -> None:
        """Take a command that is sent to the head now; the model follows it after the head's dead time."""
        self._coming.append((self._now_us + self._dead_us, action))

    def reported(self, pan_deg: float, tilt_deg: float, at_us: int) -> None:
        """Correct the model by a report.

        Args:
            pan_deg, tilt_deg: the direction of the head.
            at_us: when the head had it.
        """
        then_pan_deg, then_tilt_deg = self._pose_then(at_us)
        pan_off_deg = self._correction(pan_deg - then_pan_deg)
        tilt_off_deg = self._correction(tilt_deg - then_tilt_deg)
        head = self._head
        self._head = msgspec.structs.replace(
            head, pan=_shifted(head.pan, pan_off_deg), tilt=_shifted(head.tilt, tilt_off_deg)
        )
        shifted = [(time_us, pan + pan_off_deg, tilt + tilt_off_deg) for time_us, pan, tilt in self._poses]
        self._poses = deque(shifted, maxlen=POSES_MAX)
        self.known, self._was_turning = True, False

    def reported_zoom(self, units: int) -> None:
        """Apply the zoom position that the head reported."""
        zoom = msgspec.structs.replace(self._head.zoom, position=float(units))
        self._head = msgspec.structs.replace(self._head, zoom=zoom if self._head.zoom.still else self._head.zoom)

    def halted(self) -> None:
        """Brake the model, because a stop is on its way to the head."""
        self._coming.clear()
        head = self._head
        self._head = msgspec.structs.replace(head, pan=head.pan.stop(), tilt=head.tilt.stop(), zoom=head.zoom.stop())

    def lost(self) -> None:
        """Count the pose as unknown. The model goes on with its last command, as the head does that gets no other."""
        self.known, self._was_turning = False, self.may_turn

    def _advanced(self, now_us: int) -> Head:
        """Return the head at a time not before now, with the commands that have taken effect by then."""
        head, time_us = self._head, self._now_us
        for due_us, action in self._coming:
            if due_us > now_us:
                break
            due_us = max(due_us, time_us)
            head = ordered(head.advance((due_us - time_us) / 1e6), action)
            time_us = due_us
        return head.advance((now_us - time_us) / 1e6)

    def _pose_then(self, at_us: int) -> tuple[float, float]:
        """Return pan and tilt of the model at a time; now if it is not remembered."""
        for time_us, pan_deg, tilt_deg in reversed(self._poses):
            if time_us <= at_us:
                return pan_deg, tilt_deg
        return self._head.pan.position, self._head.tilt.position

    def _correction(self, difference_deg: float) -> float:
        """Return the part of a difference by which the model is corrected."""
        return difference_deg * (TRUST if self.known and abs(difference_deg) < JUMP_DEG else 1.0)


def _shifted(axis: Axis, offset: float) -> Axis:
    return msgspec.structs.replace(axis, position=axis.position + offset)
