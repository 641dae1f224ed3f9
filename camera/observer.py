"""A model of the head, which gets the same commands and gives the pose between two reports. No I/O."""

from __future__ import annotations

import msgspec

from camera.head import Axis, Head, Pose, new_head, ordered
from camera.profile import Profile
from camera.protocols.messages import Action

#: Share of the difference between report and model by which a report corrects the model.
TRUST = 0.5
#: A larger difference corrects the model completely: something else moved the head.
JUMP_DEG = 2.0


class Observer:
    """Follows one head. A report is compared with the pose at the moment of its inquiry.

    Args:
        profile: the model of the device.
        now_us: any monotonic time.
    """

    def __init__(self, profile: Profile, now_us: int) -> None:
        self._head: Head = new_head(profile)
        self._now_us = now_us
        self._asked: Pose | None = None
        self.known = False

    def at(self, now_us: int) -> Pose:
        """Return the pose at ``now_us``; advances the model."""
        self._head = self._head.advance(max(0, now_us - self._now_us) / 1e6)
        self._now_us = max(self._now_us, now_us)
        return self._head.pose

    def soon(self, ahead_us: int) -> Pose:
        """Return the pose ``ahead_us`` later if no further command is sent."""
        return self._head.advance(ahead_us / 1e6).pose

    def commanded(self, action: Action) -> None:
        """Apply a command that is sent to the head now."""
        self._head = ordered(self._head, action)

    def asked(self) -> None:
        """Remember the present pose, because the head is asked for its position now."""
        self._asked = self._head.pose

    def reported(self, pan_deg: float, tilt_deg: float) -> None:
        """Correct the model by the head's answer to the last inquiry."""
        asked, head = self._asked or self._head.pose, self._head
        self._head = msgspec.structs.replace(
            head,
            pan=_shifted(head.pan, pan_deg - asked.pan_deg, self.known),
            tilt=_shifted(head.tilt, tilt_deg - asked.tilt_deg, self.known),
        )
        self.known = True

    def reported_zoom(self, units: int) -> None:
        """Apply the zoom position that the head reported."""
        zoom = msgspec.structs.replace(self._head.zoom, position=float(units))
        self._head = msgspec.structs.replace(self._head, zoom=zoom if self._head.zoom.still else self._head.zoom)

    def halted(self) -> None:
        """Stop the model; the pose counts as unknown (``known``) until the head reports."""
        head = self._head
        self._head = msgspec.structs.replace(head, pan=head.pan.stop(), tilt=head.tilt.stop(), zoom=head.zoom.stop())
        self.known = False


def _shifted(axis: Axis, difference: float, known: bool) -> Axis:
    share = TRUST if known and abs(difference) < JUMP_DEG else 1.0
    return msgspec.structs.replace(axis, position=axis.position + share * difference)
