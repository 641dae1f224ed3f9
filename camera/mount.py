"""Position of a camera and its view: pitch metres to angles and back.

The one table of conventions (each row has a test):

| quantity | grows | zero |
|---|---|---|
| pitch x, y, z (metres) | as in ``football.packets``: along, across to the left, up | the centre spot, on the grass |
| heading_deg | counter-clockwise seen from above, from the +x axis | the camera's pan zero looks along +x |
| pan_deg | to the right, clockwise seen from above | along the heading |
| tilt_deg | up | level, or along the tilt offset |
| tilt_offset_deg | up | the head's tilt zero is level |
| roll_deg | clockwise seen from behind the camera | upright |
| width_deg, height_deg | with a wider picture | |

The head's three axes meet in one point, where the lens is.
"""

from __future__ import annotations

import math

import msgspec
import shapely

from camera.head import Pose

Vector = tuple[float, float, float]

#: Grass beyond the lines that still counts as "on the pitch" in a footprint.
SURROUND_M = 8.0


class Mount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fixed camera position. The default: on the halfway line, 40 m behind the touchline, 15 m up."""

    x_m: float = 0.0
    y_m: float = -74.0
    z_m: float = 15.0
    heading_deg: float = 90.0
    tilt_offset_deg: float = 0.0
    roll_deg: float = 0.0

    def aim(self, x_m: float, y_m: float, z_m: float = 0.0) -> tuple[float, float]:
        """Return (pan_deg, tilt_deg) at which the point is in the middle of the picture."""
        forward, right, up = self._base()
        offset = (x_m - self.x_m, y_m - self.y_m, z_m - self.z_m)
        ahead_m, across_m = _dot(offset, forward), _dot(offset, right)
        pan_deg = math.degrees(math.atan2(across_m, ahead_m))
        return pan_deg, math.degrees(math.atan2(_dot(offset, up), math.hypot(ahead_m, across_m)))

    def distance_m(self, x_m: float, y_m: float, z_m: float = 0.0) -> float:
        """Return the distance from the lens to a point."""
        return math.dist((x_m, y_m, z_m), (self.x_m, self.y_m, self.z_m))

    def point(self, pan_deg: float, tilt_deg: float, z_m: float = 0.0) -> tuple[float, float] | None:
        """Return where the middle of the picture meets the plane at height ``z_m``; None if it never does."""
        dx, dy, dz = self._axes(pan_deg, tilt_deg)[0]
        drop_m = z_m - self.z_m
        if dz == 0 or drop_m / dz <= 0:
            return None
        return self.x_m + dx * drop_m / dz, self.y_m + dy * drop_m / dz

    def in_picture(
        self, pose: Pose, aspect: float, x_m: float, y_m: float, z_m: float = 0.0, margin: float = 0.0
    ) -> bool:
        """True if the point is inside the picture, ``margin`` (share of the half width) away from its edges."""
        across_m, above_m, depth_m = self.in_camera(pose.pan_deg, pose.tilt_deg, (x_m, y_m, z_m))
        if depth_m <= 0:
            return False
        half_m = math.tan(math.radians(pose.width_deg / 2)) * depth_m
        return abs(across_m) <= half_m * (1 - margin) and abs(above_m) <= half_m / aspect * (1 - margin)

    def looking(self, pan_deg: float, tilt_deg: float) -> Vector:
        """Return the unit vector of the middle of the picture, in pitch axes."""
        return self._axes(pan_deg, tilt_deg)[0]

    def in_camera(self, pan_deg: float, tilt_deg: float, point: Vector) -> Vector:
        """Return a point in metres as the camera has it at a direction: to the right, up, and ahead of the lens."""
        forward, right, up = self._axes(pan_deg, tilt_deg)
        offset = (point[0] - self.x_m, point[1] - self.y_m, point[2] - self.z_m)
        return _dot(offset, right), _dot(offset, up), _dot(offset, forward)

    def footprint(
        self, pose: Pose, aspect: float, length_m: float = 105.0, width_m: float = 68.0
    ) -> list[tuple[float, float]]:
        """Corners (x_m, y_m) of the grass in the picture, in order; empty if the picture shows none.

        What lies beyond the pitch and ``SURROUND_M`` of grass around it is cut off.
        """
        forward, right, up = self._axes(pose.pan_deg, pose.tilt_deg)
        half = math.tan(math.radians(pose.width_deg / 2))
        corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        rays = [_combined(forward, right, up, across * half, above * half / aspect) for across, above in corners]
        # Straight edges of the picture are straight on the ground, once rays at or above the horizon are cut.
        ground = [(self.x_m - dx * self.z_m / dz, self.y_m - dy * self.z_m / dz) for dx, dy, dz in _below_horizon(rays)]
        if len(ground) < 3:
            return []
        box = shapely.box(
            -length_m / 2 - SURROUND_M, -width_m / 2 - SURROUND_M, length_m / 2 + SURROUND_M, width_m / 2 + SURROUND_M
        )
        rays_in_sight = shapely.intersection(shapely.Polygon(ground), box)
        if rays_in_sight.is_empty or rays_in_sight.geom_type != "Polygon":
            return []
        return [(float(x), float(y)) for x, y in shapely.get_coordinates(rays_in_sight)[:-1]]

    def _base(self) -> tuple[Vector, Vector, Vector]:
        """Return the unit vectors of the head at pan and tilt zero."""
        forward, right, up = _axes(self.heading_deg, self.tilt_offset_deg)
        c, s = math.cos(math.radians(self.roll_deg)), math.sin(math.radians(self.roll_deg))
        return forward, _combined((0.0, 0.0, 0.0), right, up, c, -s), _combined((0.0, 0.0, 0.0), right, up, s, c)

    def _axes(self, pan_deg: float, tilt_deg: float) -> tuple[Vector, Vector, Vector]:
        """Return the unit vectors forward, right and up of the camera at a direction of its head."""
        zero = (0.0, 0.0, 0.0)
        base_forward, base_right, base_up = self._base()
        head = _axes(-pan_deg, tilt_deg)  # in the head's own frame: x forward, y to the left, z up
        turned = [
            _combined(_combined(zero, base_forward, base_right, x, -y), base_up, zero, z, 0.0) for x, y, z in head
        ]
        return turned[0], turned[1], turned[2]


def wrapped_deg(angle_deg: float) -> float:
    """Return the same direction in (-180, 180].

    >>> wrapped_deg(270.0), wrapped_deg(-180.0)
    (-90.0, 180.0)
    """
    return angle_deg - 360.0 * math.ceil((angle_deg - 180.0) / 360.0)


def _axes(bearing_deg: float, tilt_deg: float) -> tuple[Vector, Vector, Vector]:
    """Return the unit vectors forward, right and up of a camera."""
    b, t = math.radians(bearing_deg), math.radians(tilt_deg)
    forward = (math.cos(b) * math.cos(t), math.sin(b) * math.cos(t), math.sin(t))
    right = (math.sin(b), -math.cos(b), 0.0)
    up = (-math.cos(b) * math.sin(t), -math.sin(b) * math.sin(t), math.cos(t))
    return forward, right, up


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _combined(forward: Vector, right: Vector, up: Vector, across: float, above: float) -> Vector:
    x, y, z = (f + across * r + above * u for f, r, u in zip(forward, right, up, strict=True))
    return x, y, z


def _below_horizon(rays: list[Vector], dz_max: float = -1e-3) -> list[Vector]:
    """Return the part of a cone of rays that points down by ``dz_max`` or more (Sutherland-Hodgman, one plane)."""
    visible: list[Vector] = []
    for a, b in zip(rays, rays[1:] + rays[:1], strict=True):
        if a[2] <= dz_max:
            visible.append(a)
        if (a[2] <= dz_max) != (b[2] <= dz_max):
            s = (dz_max - a[2]) / (b[2] - a[2])
            visible.append((a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), dz_max))
    return visible
