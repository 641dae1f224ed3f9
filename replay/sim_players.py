"""How the simulator's players run, and where their limbs are.

Twenty-two bodies with bounded acceleration and speed, moved together. A body's limbs are not simulated: they
follow from its way afterwards. Feet swing to and fro around the body with its pace, in opposite phase, so that
their mean is the body; around a contact the limb that touched the ball is drawn to it and through it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replay.recording import Floats

SPEED_MAX_M_S = 8.5
ACCELERATION_M_S2 = 5.0
#: A player within this distance of where he wants to be slows down, in metres.
EASE_M = 2.5

#: Half of the time, in seconds, during which a limb goes for the ball and comes back.
SWING_S = 0.16

_OUTFIELD = (
    (-35, -20), (-37, -7), (-37, 7), (-35, 20),
    (-18, -23), (-20, -8), (-20, 8), (-18, 23),
    (-3, -7), (-5, 7),
)  # fmt: skip

#: Places of players 1 to 11 in a 4-4-2 at kick-off, for a team that attacks towards +x; metres.
FORMATION: Floats = np.array([(-50.0, 0.0), *_OUTFIELD], dtype=np.float64)


@dataclass(frozen=True)
class Contact:
    """A limb touches the ball: when, whose, which, where, and which way the limb swings (unit vector x speed)."""

    t_s: float
    player: int
    limb: str
    place: tuple[float, float, float]
    swing: tuple[float, float]


class Bodies:
    """Positions and velocities of all players, rows 0..10 home, 11..21 away; moved in place."""

    def __init__(self, places: Floats) -> None:
        self.p = places.copy()
        self.v = np.zeros_like(places)

    def run(self, targets: Floats, paces: Floats, dt_s: float) -> None:
        """Runs towards ``targets`` for a tick, at most at ``paces`` (m/s)."""
        way = targets - self.p
        distance = np.hypot(way[:, 0], way[:, 1])
        pace = np.minimum(paces, SPEED_MAX_M_S) * np.minimum(distance / EASE_M, 1.0)
        wish = way * (pace / np.maximum(distance, 1e-9))[:, None]
        change = wish - self.v
        size = np.hypot(change[:, 0], change[:, 1])
        most = ACCELERATION_M_S2 * dt_s
        self.v += change * np.minimum(1.0, most / np.maximum(size, 1e-9))[:, None]
        self.p += self.v * dt_s


def limb_track(
    t_s: Floats, ticks_s: Floats, body: Floats, limb: str, contacts: list[Contact]
) -> tuple[Floats, Floats, Floats]:
    """Positions of one limb at the times ``t_s``.

    Args:
        t_s: sampling times.
        ticks_s, body: the body's way: times, and (n, 2) places.
        limb: ``left_foot``, ``right_foot``, ``left_hand``, ``right_hand``, or empty for the body itself.
        contacts: those of this limb, in time order.
    """
    x = np.interp(t_s, ticks_s, body[:, 0])
    y = np.interp(t_s, ticks_s, body[:, 1])
    if not limb:
        return x, y, np.full_like(x, 0.9)
    tick_s = ticks_s[1] - ticks_s[0]
    velocity = np.gradient(body, tick_s, axis=0)
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    heading = _headings(velocity, speed)
    gait = np.cumsum((0.6 + 0.25 * speed) * (speed > 0.2)) * tick_s * 2 * np.pi
    side = 1.0 if limb.startswith("left") else -1.0
    is_foot = limb.endswith("foot")
    wave = np.sin(np.interp(t_s, ticks_s, gait))
    stride = np.interp(t_s, ticks_s, np.minimum(0.45, 0.09 * speed)) * (1.0 if is_foot else 0.5)
    forward = side * wave * stride
    across = side * (0.12 if is_foot else 0.32)
    angle = np.interp(t_s, ticks_s, heading)
    x = x + forward * np.cos(angle) - across * np.sin(angle)
    y = y + forward * np.sin(angle) + across * np.cos(angle)
    lift = np.maximum(0.0, side * np.cos(np.interp(t_s, ticks_s, gait))) * 0.3 * stride
    z = 0.06 + lift if is_foot else np.full_like(x, 0.95)
    for contact in contacts:
        _draw_to(contact, t_s, x, y, z)
    return x, y, z


def _headings(velocity: Floats, speed: Floats) -> Floats:
    """Continuous heading in radians; a player who stands keeps the one he had."""
    angle = np.arctan2(velocity[:, 1], velocity[:, 0])
    moving = np.where(speed > 0.3, np.arange(len(angle)), 0)
    held = angle[np.maximum.accumulate(moving)]
    # Over a fifth of a second, so that a turn on the spot does not throw the feet about.
    kernel = np.ones(11) / 11
    return np.convolve(np.pad(np.unwrap(held), 5, mode="edge"), kernel, mode="valid")


def _draw_to(contact: Contact, t_s: Floats, x: Floats, y: Floats, z: Floats) -> None:
    """Bends a limb's way, in place, so that it meets the ball at the contact and swings through it."""
    first, stop = np.searchsorted(t_s, [contact.t_s - SWING_S, contact.t_s + SWING_S])
    part = slice(int(first), int(stop))
    late = t_s[part] - contact.t_s
    weight = 0.5 * (1.0 + np.cos(np.pi * late / SWING_S))
    for way, place, swing in ((x, contact.place[0], contact.swing[0]), (y, contact.place[1], contact.swing[1])):
        way[part] += weight * (place + swing * late - way[part])
    z[part] += weight * (contact.place[2] - z[part])
