"""The simulator's ball: struck, carried, held and released by play, moved by ``simulator.physics.ball_motion``.

A ball of FIFA's size and mass (Law 2). Time advances by ticks of ``TICK_S``; within a tick the ball's path is known
every ``STEP_S``, the 2,000 Hz of its transmitter (paper 004, IV-A).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from football.packet_table import Floats
from simulator.physics import ball_motion as steps
from simulator.records import STEP_S, STEPS, TICK_S, Vector

#: How long a foot touches the ball; measured contacts last 8 to 10 ms.
CONTACT_S = 0.009
#: Mean acceleration of a throw while the ball is still in the hands, m/s2.
_THROW_M_S2 = 250.0
#: Step of forecasts.
_LOOK_S = 0.002
_NOWHERE = np.zeros(2)
_LAUNCH_ROUNDS = 30
_FASTEST_M_S = 50.0


class Bump(NamedTuple):
    """The ball hit something that is no person.

    Attributes:
        what: ``ground``, ``left post``, ``right post`` (as seen by a player who attacks that goal), ``bar``, ``net``,
            ``board``.
        t_s: first touch, into the tick.
        position: ball's centre then; it shows which goal it was.
        before, after: velocity into and out of it; of a net, what the net leaves at once: all but the part into it.
    """

    what: str
    t_s: float
    position: Vector
    before: Vector
    after: Vector


class BallTick(NamedTuple):
    """A tick of a ball: (STEPS, 3) centres and velocities at the beginning of each step, and what it hit."""

    positions: Floats
    velocities: Floats
    bumps: tuple[Bump, ...]


class MovingBall:
    """One ball. ``position``, ``velocity`` and ``spin`` are those at the beginning of the coming tick.

    Args:
        position: its centre; on the ground that is ``BALL_RADIUS_M`` high.
        length_m, width_m: size of the pitch: there are the goals, the nets, the boards.
    """

    def __init__(self, position: Vector, length_m: float, width_m: float) -> None:
        self._state = np.zeros(steps.STATE)
        self._state[:3] = position
        self._state[steps.GROUNDED] = float(position[2] < BALL_RADIUS_M + 0.01)
        self._pulses = np.zeros((steps.PULSES, steps.PULSE))
        # Time since the hands began, duration; of a carry start, velocity, end; of a hold new place, -, old place.
        self._hands = np.zeros(11)
        self._half = np.array([length_m / 2.0, width_m / 2.0])
        self._bumps = np.zeros((steps.BUMPS_MAX, steps.BUMP))

    @property
    def position(self) -> Vector:
        """Centre, metres."""
        return _vector(self._state, steps.POSITION)

    @property
    def velocity(self) -> Vector:
        """Velocity, m/s."""
        return _vector(self._state, steps.VELOCITY)

    @property
    def spin(self) -> Vector:
        """Axis and size of the spin, rad/s."""
        return _vector(self._state, steps.SPIN)

    @property
    def in_hands(self) -> bool:
        """True if somebody carries or holds it."""
        return bool(self._state[steps.HANDS] != steps.FREE)

    @property
    def in_net(self) -> bool:
        """True if it is in a goal, having come in through the mouth."""
        return bool(self._state[steps.INSIDE] != 0.0)

    def strike(
        self, velocity: Vector, spin: Vector = (0.0, 0.0, 0.0), *, after_s: float = 0.0, contact_s: float = CONTACT_S
    ) -> None:
        """Begin a contact ``after_s`` into the coming tick that leaves the ball with ``velocity`` and ``spin``.

        The acceleration over ``contact_s`` has the shape of half a sine: its peak is pi/2 times the change of velocity
        through the duration. Up to two strikes may wait in a tick; a third replaces the first.
        """
        assert 0.0 <= after_s < TICK_S, "a strike begins in the coming tick"
        assert contact_s >= STEP_S, "nothing is quicker than a step"
        waiting = self._pulses[:2, 0]
        free = np.flatnonzero(waiting == steps.IDLE)
        slot = int(free[0]) if len(free) else int(np.argmin(self._pulses[:2, 1]))
        self._pulses[slot] = (steps.PENDING, after_s, contact_s, *velocity, *spin)

    def carry(self, to: Vector, duration_s: float) -> None:
        """Move the ball in hands on a quintic that begins with its velocity and ends at rest."""
        self._drop_pulses()
        self._state[steps.HANDS] = steps.CARRIED
        self._hands[:] = (0.0, duration_s, *self.position, *self.velocity, *to)

    def hold(self, position: Vector) -> None:
        """Hold the ball in hands for the coming tick; it moves evenly from the hands' last ``position`` to this one.

        A ball that is elsewhere at first is drawn in within about 0.15 s. To be called before each tick.
        """
        held = self._state[steps.HANDS] == steps.HELD
        if not held:
            self._drop_pulses()
        was = self._hands[2:5].copy() if held else np.asarray(position)
        self._state[steps.HANDS] = steps.HELD
        self._hands[2:5] = position
        self._hands[8:11] = was

    def release(self, velocity: Vector, spin: Vector = (0.0, 0.0, 0.0)) -> float:
        """Release the ball from the hands with the coming tick: thrown, dropped, or put down with zero velocity.

        Returns:
            for how long the hands still push, seconds: a throw takes longer than a kick.
        """
        gain = math.dist(velocity, self.velocity)
        contact_s = max(CONTACT_S, gain / _THROW_M_S2)
        self._drop_pulses()
        self._state[steps.HANDS] = steps.FREE
        self.strike(velocity, spin, contact_s=contact_s)
        return contact_s

    def advance(self) -> BallTick:
        """Play one tick."""
        positions, velocities = np.empty((STEPS, 3)), np.empty((STEPS, 3))
        count = steps.play(
            self._state, self._pulses, self._hands, self._half, STEP_S, positions, velocities, self._bumps
        )
        if not count:
            return BallTick(positions, velocities, ())
        return BallTick(positions, velocities, tuple(_bump(row) for row in self._bumps[:count].tolist()))

    def _drop_pulses(self) -> None:
        self._pulses[:, 0] = steps.IDLE


def _vector(state: Floats, first: int) -> Vector:
    x, y, z = state[first : first + 3].tolist()
    return x, y, z


def _bump(row: list[float]) -> Bump:
    x, y, z, bx, by, bz, ax, ay, az = row[2:]
    return Bump(steps.BUMP_NAMES[int(row[0])], row[1], (x, y, z), (bx, by, bz), (ax, ay, az))


def forecast(position: Vector, velocity: Vector, spin: Vector, horizon_s: float, every_s: float = 0.05) -> Floats:
    """Forecast a ball that nobody touches; goals and boards are left out.

    Returns:
        (k, 4) rows t, x, y, z from ``t = 0`` on, one each ``every_s`` (rounded to 2 ms), the last at or just before
        ``horizon_s``.
    """
    state = np.zeros(steps.STATE)
    state[:9] = (*position, *velocity, *spin)
    state[steps.GROUNDED] = float(position[2] < BALL_RADIUS_M + 0.01 and abs(velocity[2]) < steps.REST_M_S)
    stride = max(round(every_s / _LOOK_S), 1)
    rows = int(horizon_s / (stride * _LOOK_S) + 1e-9) + 1
    positions, velocities = np.empty(((rows - 1) * stride + 1, 3)), np.empty(((rows - 1) * stride + 1, 3))
    pulses, bumps = np.zeros((steps.PULSES, steps.PULSE)), np.zeros((0, steps.BUMP))
    steps.play(state, pulses, np.zeros(11), _NOWHERE, _LOOK_S, positions, velocities, bumps)
    return np.column_stack((np.arange(rows) * (stride * _LOOK_S), positions[::stride]))


def launch(
    start: Vector,
    target: Vector,
    *,
    flight_s: float | None = None,
    speed_m_s: float | None = None,
    spin: Vector = (0.0, 0.0, 0.0),
) -> Vector:
    """Return the velocity with which a resting ball, struck at ``start``, flies through ``target``.

    Give one of both: ``flight_s``, time from first touch to target, or ``speed_m_s``, the speed as it leaves the foot.
    Of the two trajectories that a speed allows it is the flatter one. Where the speed does not suffice at all, the
    velocity is that of the flight which needs the least speed. A bounce on the path is not considered.

    Raises:
        ValueError: neither or both are given, or the flight is not longer than the contact.
    """
    if (flight_s is None) == (speed_m_s is None):
        raise ValueError("launch: give flight_s or speed_m_s, one of both")
    if flight_s is not None:
        if flight_s <= 2.0 * CONTACT_S:
            raise ValueError(f"launch: a flight of {flight_s} s is over before the contact")
        x, y, z = _aim_for(np.array(start), np.array(target), np.array(spin), flight_s).tolist()
        return x, y, z
    assert speed_m_s is not None
    x, y, z = _aim_at_speed(np.array(start), np.array(target), np.array(spin), speed_m_s).tolist()
    return x, y, z


@njit(cache=True, error_model="numpy")
def _fly(start: Floats, velocity: Floats, spin: Floats, flight_s: float) -> Floats:
    """Return the position after ``flight_s``, of which the contact is the first part."""
    s, pull, before = np.zeros(9), np.empty(3), np.empty(3)
    for axis in range(3):
        s[axis] = start[axis] + velocity[axis] * (CONTACT_S / 2.0)
        s[3 + axis] = velocity[axis]
        s[6 + axis] = spin[axis]
    left = flight_s - CONTACT_S
    n = max(int(left / 0.01), 4)
    dt = left / n
    for _ in range(n):
        steps.air(s, pull)
        for axis in range(3):
            before[axis] = s[3 + axis]
            s[3 + axis] += pull[axis] * (dt / 2.0)
        steps.air(s, pull)
        for axis in range(3):
            s[axis] += (before[axis] + 0.5 * pull[axis] * dt) * dt
            s[3 + axis] = before[axis] + pull[axis] * dt
            s[6 + axis] *= 1.0 - steps.SPIN_DECAY_PER_S * dt
    return s[:3]


@njit(cache=True, error_model="numpy")
def _aim(start: Floats, target: Floats, spin: Floats, flight_s: float, velocity: Floats) -> float:
    """Solve the velocity for a given time of flight, into ``velocity`` which holds a guess; return its size."""
    for _ in range(_LAUNCH_ROUNDS):
        miss = target - _fly(start, velocity, spin, flight_s)
        # A miss costs more velocity the more the drag will eat of it.
        eaten = 0.5 * steps.DRAG_PER_M * np.sqrt(np.sum(velocity**2)) * flight_s
        velocity += miss / flight_s * (1.0 + eaten)
        if np.sum(miss**2) < 1e-5:
            break
    return np.sqrt(np.sum(velocity**2))


@njit(cache=True, error_model="numpy")
def _guess(start: Floats, target: Floats, flight_s: float) -> Floats:
    velocity = (target - start) / flight_s
    velocity[2] += 0.5 * GRAVITY_M_S2 * flight_s
    return velocity


@njit(cache=True, error_model="numpy")
def _aim_for(start: Floats, target: Floats, spin: Floats, flight_s: float) -> Floats:
    velocity = _guess(start, target, flight_s)
    _aim(start, target, spin, flight_s, velocity)
    return velocity


@njit(cache=True, error_model="numpy")
def _aim_at_speed(start: Floats, target: Floats, spin: Floats, speed: float) -> Floats:
    """Solve the shortest flight whose velocity has the given size; the speed needed falls with the time, then grows."""
    time = np.sqrt(np.sum((target - start) ** 2)) / max(speed, _FASTEST_M_S) + 2.0 * CONTACT_S
    short, velocity = time, _guess(start, target, time)
    size = _aim(start, target, spin, time, velocity)
    while size > speed:
        short = time
        time *= 1.07
        longer = _guess(start, target, time)
        longer_size = _aim(start, target, spin, time, longer)
        if longer_size >= size:
            return velocity
        velocity, size = longer, longer_size
    long = time
    while long - short > 2e-4:
        middle = 0.5 * (short + long)
        if _aim(start, target, spin, middle, velocity) > speed:
            short = middle
        else:
            long = middle
    return velocity


def rolling(distance_m: float, arriving_m_s: float) -> float:
    """Return the speed of a kick along the ground that arrives with ``arriving_m_s`` after ``distance_m``.

    The ball leaves the foot without spin, slides, and rolls once the grass has turned it.
    """
    return float(_rolling(distance_m, arriving_m_s))


@njit(cache=True, error_model="numpy")
def _rolling(distance_m: float, arriving_m_s: float) -> float:
    low, high = arriving_m_s, arriving_m_s + 60.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _arrives(middle, distance_m) < arriving_m_s:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True, error_model="numpy")
def _arrives(speed: float, distance_m: float) -> float:
    """Return the speed after a distance along the ground; -1 if it never gets there."""
    rolled_m, turn, dt = speed * CONTACT_S / 2.0, 0.0, 0.005
    while rolled_m < distance_m:
        if speed <= 0.0:
            return -1.0
        slip = speed - turn
        grip = steps.SLIDING * GRAVITY_M_S2 * dt
        was = speed
        drag = steps.DRAG_PER_M * speed * speed * dt
        if 0.4 * slip > grip:
            speed -= grip + drag
            turn += 1.5 * grip
        else:
            # A rolling ball is slowed like one of 5/3 of its mass: it must be turned as well.
            speed -= 0.4 * slip + 0.6 * drag + steps.ROLLING_M_S2 * dt
            turn = speed
        rolled_m += 0.5 * (was + speed) * dt
    return speed
