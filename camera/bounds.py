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
#: A stop may drift this little across an edge; the zone is kept all the same. Heads do not resolve it.
DRIFT_DEG = 0.01


class Zone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Directions at which the camera never looks: inside both ranges."""

    pan_deg: Range
    tilt_deg: Range

    def holds(self, pan_deg: float, tilt_deg: float) -> bool:
        """True if a direction is inside."""
        return self.depth_deg(pan_deg, tilt_deg) > 0.0

    def depth_deg(self, pan_deg: float, tilt_deg: float) -> float:
        """Return how far inside of the nearest edge a direction is; negative outside."""
        (left, right), (low, high) = self.pan_deg, self.tilt_deg
        return min(pan_deg - left, right - pan_deg, tilt_deg - low, high - tilt_deg)

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

    def can_stop(
        self,
        now_deg: tuple[float, float],
        pan: Motion,
        tilt: Motion,
        brake: Callable[[Motion, Motion], tuple[Motion, Motion]],
    ) -> bool:
        """True if a camera that brakes after a movement gets no deeper into a zone than it is.

        A zone in which the camera is now, by more than ``DRIFT_DEG``, holds nothing back: it has to get out.

        Args:
            now_deg: pan and tilt before the movement.
            pan, tilt: after the movement.
            brake: returns the movement one tick of braking later.
        """
        depths = [(zone, zone.depth_deg(*now_deg)) for zone in self.forbidden if zone.is_near(pan, tilt)]
        kept = [(zone, max(0.0, depth)) for zone, depth in depths if depth <= DRIFT_DEG]
        if not kept:
            return True
        for _ in range(BRAKE_TICKS_MAX):
            if any(zone.depth_deg(pan.position, tilt.position) > depth for zone, depth in kept):
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
