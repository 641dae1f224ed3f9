"""Where a camera may look: soft limits inside the travel of its head, and zones at which it never looks."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from camera.motion import Motion
from camera.profile import Profile

Range = tuple[float, float]

#: Limit of the ticks of a stop that are looked at; the slowest style needs about a hundred.
BRAKE_TICKS_MAX = 300
#: Distance that a target keeps from the edge of a zone.
MARGIN_DEG = 0.2


class Zone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Directions at which the camera never looks: inside both ranges."""

    pan_deg: Range
    tilt_deg: Range

    def holds(self, pan_deg: float, tilt_deg: float) -> bool:
        """True if a direction is inside."""
        return self.pan_deg[0] < pan_deg < self.pan_deg[1] and self.tilt_deg[0] < tilt_deg < self.tilt_deg[1]

    def is_near(self, pan: Motion, tilt: Motion) -> bool:
        """True unless the zone is so far away that a stop from this movement cannot end in it."""
        axes = ((pan, self.pan_deg), (tilt, self.tilt_deg))
        return all(low - _reach(axis) < axis.position < high + _reach(axis) for axis, (low, high) in axes)


class Bounds(msgspec.Struct, frozen=True):
    """Soft limits and forbidden zones of one camera. The camera waits before a zone in its way."""

    pan_deg: Range
    tilt_deg: Range
    forbidden: tuple[Zone, ...] = ()

    def clipped(self, pan_deg: float, tilt_deg: float) -> tuple[float, float]:
        """Return the allowed direction nearest to one: within the limits, and outside a zone by ``MARGIN_DEG``."""
        pan_deg = min(max(pan_deg, self.pan_deg[0]), self.pan_deg[1])
        tilt_deg = min(max(tilt_deg, self.tilt_deg[0]), self.tilt_deg[1])
        for zone in self.forbidden:
            if zone.holds(pan_deg, tilt_deg):
                (left, right), (low, high) = zone.pan_deg, zone.tilt_deg
                edges = [(left - MARGIN_DEG, tilt_deg), (right + MARGIN_DEG, tilt_deg)]
                edges += [(pan_deg, low - MARGIN_DEG), (pan_deg, high + MARGIN_DEG)]
                inside = [edge for edge in edges if self._within(*edge)] or edges
                return min(inside, key=lambda edge: abs(edge[0] - pan_deg) + abs(edge[1] - tilt_deg))
        return pan_deg, tilt_deg

    def can_stop(self, pan: Motion, tilt: Motion, brake: Callable[[Motion, Motion], tuple[Motion, Motion]]) -> bool:
        """True if a camera that brakes from now on stays out of the zones that it is not in now.

        Args:
            pan, tilt: the movement now.
            brake: returns the movement one tick of braking later.
        """
        others = [zone for zone in self.forbidden if zone.is_near(pan, tilt)]
        others = [zone for zone in others if not zone.holds(pan.position, tilt.position)]
        if not others:
            return True
        for _ in range(BRAKE_TICKS_MAX):
            if any(zone.holds(pan.position, tilt.position) for zone in others):
                return False
            if max(abs(pan.velocity), abs(tilt.velocity), abs(pan.accel), abs(tilt.accel)) < 1e-3:
                return True
            pan, tilt = brake(pan, tilt)
        return True

    def _within(self, pan_deg: float, tilt_deg: float) -> bool:
        return self.pan_deg[0] <= pan_deg <= self.pan_deg[1] and self.tilt_deg[0] <= tilt_deg <= self.tilt_deg[1]


def bounds_of(
    profile: Profile, pan_deg: Range | None = None, tilt_deg: Range | None = None, forbidden: tuple[Zone, ...] = ()
) -> Bounds:
    """Return the bounds of a head; None takes its whole travel."""
    pan, tilt = profile.pan, profile.tilt
    return Bounds(pan_deg or (pan.min_deg, pan.max_deg), tilt_deg or (tilt.min_deg, tilt.max_deg), forbidden)


def _reach(motion: Motion) -> float:
    """Return a distance that is longer than any stop from a movement, in degrees."""
    return 1.0 + 3.0 * abs(motion.velocity) + 0.5 * abs(motion.accel)
