"""A slow correction of a camera's heading and tilt offset by the operator's nudges. Pure.

Theory of operation
-------------------
A mount that was measured badly, or that has been knocked, misses the ball always by the same angle. An operator who
drives the picture right and hands back has shown that angle: where the camera stood at the hand-back, less where the
planner would aim. One nudge may have other reasons, so each corrects by ``SHARE`` only, and one that is no small
correction, or is made while the play moves fast, does not count.
"""

from __future__ import annotations

import msgspec

from camera.mount import Mount

#: Share of a nudge that is believed, and limit of the correction.
SHARE, BIAS_DEG_MAX = 0.25, 3.0
#: A nudge beyond this share of the picture's width shows another subject.
SMALL = 0.25
#: The aim moves at most this fast when a nudge counts: the lead hides the rest.
SLOW_DEG_S = 2.0


class Correction(msgspec.Struct, frozen=True):
    """The correction in force: how far the aim goes to the right and up, and how many nudges have shown it."""

    pan_deg: float = 0.0
    tilt_deg: float = 0.0
    nudges: int = 0

    def nudged(self, pan_deg: float, tilt_deg: float, width_deg: float, speed_deg_s: float) -> Correction:
        """Return the correction after a nudge.

        Args:
            pan_deg, tilt_deg: pose of the operator less the aim of the planner, which has the correction in it.
            width_deg: of the picture.
            speed_deg_s: of the aim.
        """
        if max(abs(pan_deg), abs(tilt_deg)) > SMALL * width_deg or speed_deg_s > SLOW_DEG_S:
            return self
        return Correction(
            _bounded(self.pan_deg + SHARE * pan_deg), _bounded(self.tilt_deg + SHARE * tilt_deg), self.nudges + 1
        )

    def applied(self, mount: Mount) -> Mount:
        """Return a mount that aims so much farther to the right and up."""
        return msgspec.structs.replace(
            mount,
            heading_deg=mount.heading_deg + self.pan_deg,
            tilt_offset_deg=mount.tilt_offset_deg - self.tilt_deg,
        )


def _bounded(angle_deg: float) -> float:
    return max(-BIAS_DEG_MAX, min(BIAS_DEG_MAX, angle_deg))
