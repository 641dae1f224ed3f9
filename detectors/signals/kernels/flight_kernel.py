"""The flight of a ball that nobody touches, step by step."""

from __future__ import annotations

import math

from numba import njit

from football.constants import GRAVITY_M_S2

Point = tuple[float, float, float]


@njit(cache=True)
def integrate(
    at: Point, velocity: Point, line_m: float, touch_m: float, drag: float, roll: float, bounce: float,
    air_m: float, dt: float, steps: int, radius_m: float,
) -> tuple[int, int, Point, Point, tuple[float, float]]:  # fmt: skip
    """Integrate a flight step by step until it has crossed a line.

    Returns:
        the step of the crossing and of the first landing from the air (0: none); the positions before and after the
        last step; and where it landed. (The radius is an argument, because a cached kernel does not see another
        module's changes.)
    """
    (x, y, z), (vx, vy, vz) = at, velocity
    before, landed, land_x, land_y = at, 0, 0.0, 0.0
    airborne = z > air_m
    for i in range(1, steps + 1):
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        rolls = z <= radius_m + 0.01 and abs(vz) < 0.5
        slow = drag * speed + (roll / speed if rolls and speed > 0.0 else 0.0)
        vx -= slow * vx * dt
        vy -= slow * vy * dt
        vz = 0.0 if rolls else vz - (slow * vz + GRAVITY_M_S2) * dt
        before = (x, y, z)
        x, y, z = x + vx * dt, y + vy * dt, z + vz * dt
        if z < radius_m and not rolls:
            if airborne and not landed:
                landed, land_x, land_y = i, x, y
            z, vz = radius_m, abs(vz) * bounce
        if abs(x) > line_m or abs(y) > touch_m:
            return i, landed, before, (x, y, z), (land_x, land_y)
    return 0, landed, before, (x, y, z), (land_x, land_y)
