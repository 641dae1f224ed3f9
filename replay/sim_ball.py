"""How the simulator's ball moves: it flies, bounces and rolls, is carried, or is held in hands.

A ball of FIFA's size and mass: 0.11 m radius, 0.43 kg, drag coefficient 0.25, which gives a drag deceleration
of 0.0133 / m times speed squared. It bounces with a restitution of 0.6 and rolls on grass with 1.2 m/s2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

RADIUS_M = 0.11
GRAVITY_M_S2 = 9.81
DRAG_PER_M = 0.0133
RESTITUTION = 0.6
#: Share of the horizontal speed that survives a bounce.
GRIP = 0.8
ROLLING_M_S2 = 1.2
#: A bounce that would leave the ground slower than this, in m/s, ends in rolling.
REST_M_S = 0.7
#: Fastest kick over ground in m/s.
KICK_MAX_M_S = 30.0

Vector = tuple[float, float, float]


@dataclass
class Ball:
    """Position and velocity in metres and metres a second; changed in place by :meth:`move`."""

    x: float = 0.0
    y: float = 0.0
    z: float = RADIUS_M
    vx: float = 0.0
    vy: float = 0.0
    vz: float = 0.0

    @property
    def speed(self) -> float:
        """Absolute velocity in m/s."""
        return math.sqrt(self.vx * self.vx + self.vy * self.vy + self.vz * self.vz)

    def kick(self, velocity: Vector) -> None:
        """Gives the ball a new velocity at once, where it is."""
        self.vx, self.vy, self.vz = velocity

    def move(self, dt_s: float) -> None:
        """Lets it go on for a short time under gravity, drag, bounce and friction."""
        speed = self.speed
        if self.z <= RADIUS_M + 1e-6 and abs(self.vz) < REST_M_S:
            self.z, self.vz = RADIUS_M, 0.0
            if speed:
                brake = (ROLLING_M_S2 + DRAG_PER_M * speed * speed) * dt_s
                keep = max(0.0, 1.0 - brake / speed)
                self.vx *= keep
                self.vy *= keep
        else:
            slow = 1.0 - DRAG_PER_M * speed * dt_s
            self.vx *= slow
            self.vy *= slow
            self.vz = self.vz * slow - GRAVITY_M_S2 * dt_s
        self.x += self.vx * dt_s
        self.y += self.vy * dt_s
        self.z += self.vz * dt_s
        if self.z < RADIUS_M:
            self.z = RADIUS_M
            self.vz = -RESTITUTION * self.vz
            self.vx *= GRIP
            self.vy *= GRIP
            if self.vz < REST_M_S:
                self.vz = 0.0

    def brake(self, dt_s: float, per_s: float) -> None:
        """Nets and boards: takes the share ``per_s`` of the horizontal speed a second."""
        keep = math.exp(-per_s * dt_s)
        self.vx *= keep
        self.vy *= keep


@dataclass(frozen=True)
class Carry:
    """A ball taken from one place to another by hand, without a jerk (fifth order polynomial)."""

    begin: Vector
    end: Vector
    begin_s: float
    end_s: float

    def at(self, t_s: float) -> Vector:
        """Where it is at ``t_s``; it stays at the end."""
        share = min(max((t_s - self.begin_s) / (self.end_s - self.begin_s), 0.0), 1.0)
        smooth = share**3 * (10.0 - 15.0 * share + 6.0 * share * share)
        x, y, z = (a + (b - a) * smooth for a, b in zip(self.begin, self.end, strict=True))
        return x, y, z


def rolling_speed(distance_m: float, arriving_m_s: float) -> float:
    """Speed at which a rolling ball must be kicked to arrive with ``arriving_m_s`` after ``distance_m``.

    From v dv/ds = -(ROLLING + DRAG v^2), solved for the initial v.
    """
    growth = math.exp(2.0 * DRAG_PER_M * distance_m)
    base = ROLLING_M_S2 / DRAG_PER_M
    return math.sqrt((arriving_m_s**2 + base) * growth - base)


def lob(dx_m: float, dy_m: float, flight_s: float, rise_m: float = 0.0) -> Vector:
    """Velocity that takes a ball over (dx, dy) and up by ``rise_m`` in ``flight_s``.

    Drag is allowed for to first order: the mean speed lost is half of what the distance costs. Nobody kicks
    faster than ``KICK_MAX_M_S`` over ground: the ball then falls short.
    """
    distance = math.hypot(dx_m, dy_m)
    boost = 1.0 + 0.5 * DRAG_PER_M * distance
    boost = min(boost, KICK_MAX_M_S * flight_s / max(distance, 1e-9))
    vz = rise_m / flight_s + 0.5 * GRAVITY_M_S2 * flight_s
    return dx_m / flight_s * boost, dy_m / flight_s * boost, vz
