"""The simulator's bodies: thirty-five persons who run, turn, jump, dive and fall within human limits.

Theory of operation
-------------------
A person runs towards a target at a pace. The change of velocity in a tick lies in half an ellipse around the current
velocity: ahead, an acceleration that falls linearly from its maximum at rest to zero at top speed (as sprinters'
does; professionals in matches reach 7.2 m/s2 and 9.5 m/s on average: Morin et al. 2021); behind, the braking limit;
sideways, the centripetal limit. A person brakes for the target in time, and avoids others who stand in the path. Two
who collide nevertheless are pushed apart, beyond these limits, so that bodies do not pass through each other. The
heading is free: running backwards or sideways has a lower top speed. In the air nobody accelerates, and on the ground
a person slides.

The stride's phase grows by one turn a stride; frequency and length of strides grow with speed.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from football.constants import GRAVITY_M_S2
from football.packet_table import Floats
from simulator.records import COLUMNS, PERSONS, TICK_S, Col

SPEED_MAX_M_S = 8.6
ACCELERATION_M_S2 = 7.0
BRAKE_M_S2 = 6.0
TURN_M_S2 = 7.0
#: Friction of somebody who slides over the grass, m/s2.
SLIDE_M_S2 = 9.0
#: Top speed backwards and sideways as shares of that ahead.
BACKWARDS, SIDEWAYS = 0.5, 0.65
#: Turning of the facing in rad/s: on the spot, and what a running speed of 1 m/s leaves less of it.
_TURN_RAD_S, _TURN_SLOWER = 9.0, 0.6
#: Strides a second (two steps each): walking 1.0, jogging 1.25, sprinting 2.3 at 9 m/s.
STRIDE_HZ, STRIDE_HZ_PER_M_S = 0.75, 0.17
#: A person reacts on a target's distance with this lag in seconds when he comes to a stop.
_SETTLE_S = 0.25

_STANDING, _JUMPING, _FALLING, _DIVING = 0, 1, 2, 3
#: A fall takes this long to the ground, and this long up again.
_DOWN_S, _UP_S = 0.45, 1.0
#: A dive: push with the legs, flight until full stretch, lying; how far hands are ahead of the body then.
_PUSH_S, _FLY_S, _LIE_S, _HANDS_AHEAD_M = 0.2, 0.3, 0.7, 1.1
DIVE_M_S2 = 20.0
#: Lying flat; a high ball is dived for less flat, and higher: body's rise and tilt in the air for a ball on the ground
#: and for one two metres up. After landing he goes flat within the last time.
_TILT_DIVING, _DIVE_RISE_M, _DIVE_TILT, _DIVE_HIGH_M, _LAND_S = 0.9, (0.1, 0.6), (0.9, 0.4), 2.0, 0.3
#: Persons nearer than this make room for each other, with up to so many m/s.
_PERSONAL_SPACE_M, _GIVE_WAY_M_S = 0.5, 1.5
#: Axes of two who stand are not nearer than this: trunks are 0.25 to 0.3 m deep, and shoulders turn. How fast they may
#: close on the last way to it, and the push that keeps them to that, on each.
BODIES_M, _CLOSING_PER_S, SHOVE_M_S2 = 0.3, 9.0, 50.0
#: Who is tilted by more than this lies: others get over him.
_LYING = 0.5


class Bodies:
    """All persons, moved together a tick at a time.

    Args:
        positions: (PERSONS, 2) metres; NaN for a person who is not there.
        headings: (PERSONS,) rad; default 0.

    Attributes:
        columns: (PERSONS, COLUMNS) as ``simulator.records.Col``, at the beginning of the coming tick; changed in place.
        speed_max, acceleration_max: (PERSONS,) limits of each.
    """

    def __init__(self, positions: Floats, headings: Floats | None = None) -> None:
        self.columns = np.zeros((PERSONS, COLUMNS))
        self.columns[:, Col.X : Col.Y + 1] = positions
        if headings is not None:
            self.columns[:, Col.HEADING] = headings
        # Not everybody is in step.
        self.columns[:, Col.GAIT] = np.arange(PERSONS) * 2.4
        self.columns[np.isnan(self.columns[:, Col.X])] = np.nan
        self.speed_max = np.full(PERSONS, SPEED_MAX_M_S)
        self.acceleration_max = np.full(PERSONS, ACCELERATION_M_S2)
        # Kind of what he is busy with, time since it began, its duration, height or heading of it, push, share.
        self._acts = np.zeros((PERSONS, 6))

    def put(self, person: int, x_m: float, y_m: float, heading: float = 0.0) -> None:
        """Put a person somewhere, at rest: for persons who enter the match, never for those in it."""
        self.columns[person] = 0.0
        self.columns[person, Col.X], self.columns[person, Col.Y] = x_m, y_m
        self.columns[person, Col.HEADING] = heading
        self._acts[person] = 0.0

    def run(self, targets: Floats, paces: Floats, facing: Floats) -> None:
        """Play one tick.

        Args:
            targets: (PERSONS, 2) metres.
            paces: (PERSONS,) greatest speed, m/s.
            facing: (PERSONS,) heading to look along; NaN: the running direction.
        """
        _run(self.columns, self._acts, self.speed_max, self.acceleration_max, targets, paces, facing, TICK_S)

    def jump(self, person: int, height_m: float) -> None:
        """Jump from the coming tick on, ``height_m`` up to about 0.6, with the velocity unchanged."""
        # Rise and landing are rounded off, which takes a quarter longer than the free flight.
        self._begin(person, _JUMPING, 2.5 * math.sqrt(2.0 * height_m / GRAVITY_M_S2), height_m)

    def fall(self, person: int, for_s: float) -> None:
        """Fall, lie, get up; together ``for_s``, at least as long as falling and getting up take."""
        self._begin(person, _FALLING, max(for_s, _DOWN_S + _UP_S), 0.0)

    def dive(self, person: int, direction: float, reach_m: float, height_m: float = 0.8) -> None:
        """Dive along a heading (rad) so that the hands are ``reach_m`` away after half a second; lie, get up.

        ``height_m`` is the ball's: for a high one the person leaps up, for a low one goes down at once. The legs' push
        is bounded, so that nobody reaches further than about 2.7 m from a stand. Velocity across the dive is unchanged.
        """
        c = self.columns[person]
        along = c[Col.VX] * math.cos(direction) + c[Col.VY] * math.sin(direction)
        reach = max(reach_m - _HANDS_AHEAD_M, 0.0)
        # way = along * push + push^2 / 2 * a + (along + push * a) * fly, solved for a.
        push = (reach - along * (_PUSH_S + _FLY_S)) / (_PUSH_S * (0.5 * _PUSH_S + _FLY_S))
        self._begin(person, _DIVING, _PUSH_S + _FLY_S + _LIE_S + _UP_S, direction)
        self._acts[person, 4] = min(max(push, 0.0), DIVE_M_S2)
        self._acts[person, 5] = min(max(height_m / _DIVE_HIGH_M, 0.0), 1.0)

    def is_busy(self, person: int) -> bool:
        """True if a person is in the air or on the ground."""
        return bool(self._acts[person, 0] != _STANDING)

    def _begin(self, person: int, act: int, duration_s: float, detail: float) -> None:
        self._acts[person] = (act, 0.0, duration_s, detail, 0.0, 0.0)


@njit(cache=True)
def _limit(speed: float, off: float, top: float) -> float:
    """Return the top speed with the facing ``off`` (rad) from the direction of motion."""
    c = math.cos(off)
    if c >= 0.0:
        return top * (SIDEWAYS + (1.0 - SIDEWAYS) * c)
    return top * (SIDEWAYS + (SIDEWAYS - BACKWARDS) * c)


@njit(cache=True)
def _turn(angle: float) -> float:
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@njit(cache=True)
def _smooth(share: float) -> float:
    s = min(max(share, 0.0), 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


@njit(cache=True)
def _act(c: Floats, act: Floats, dt: float) -> bool:
    """Play a jump, fall or dive: set rise and tilt; return whether the legs are of no use in this tick."""
    kind = act[0]
    act[1] += dt
    t, whole = act[1], act[2]
    if t >= whole:
        act[0] = _STANDING
        c[6] = c[7] = 0.0
        return False
    if kind == _JUMPING:
        share = t / whole
        c[6] = act[3] * (4.0 * share * (1.0 - share)) ** 2
        return True
    if kind == _FALLING:
        c[7] = _smooth(t / _DOWN_S) * (1.0 - _smooth((t - whole + _UP_S) / _UP_S))
        return True
    if t < _PUSH_S + 0.5 * dt:
        c[2] += act[4] * math.cos(act[3]) * dt
        c[3] += act[4] * math.sin(act[3]) * dt
    high = act[5]
    rise = _DIVE_RISE_M[0] + high * (_DIVE_RISE_M[1] - _DIVE_RISE_M[0])
    tilt = _DIVE_TILT[0] + high * (_DIVE_TILT[1] - _DIVE_TILT[0])
    dive_s = _PUSH_S + _FLY_S * (1.0 + 0.7 * high)
    share = min(t / dive_s, 1.0)
    c[6] = rise * (4.0 * share * (1.0 - share)) ** 2
    flat = tilt * _smooth(t / (0.7 * dive_s)) + (_TILT_DIVING - tilt) * _smooth((t - 0.8 * dive_s) / _LAND_S)
    c[7] = flat * (1.0 - _smooth((t - whole + _UP_S) / _UP_S))
    return True


@njit(cache=True)
def _head(c: Floats, desired: float, speed: float, dt: float) -> None:
    limit = max(_TURN_RAD_S - _TURN_SLOWER * speed, 2.0) * dt
    off = _turn(desired - c[4])
    c[4] += min(max(0.2 * off, -limit), limit)


@njit(cache=True)
def _push(c: Floats, desired_vx: float, desired_vy: float, top: float, strength: float, dt: float) -> None:
    """Change the velocity towards the desired one, within the limits."""
    vx, vy = c[2], c[3]
    speed = math.hypot(vx, vy)
    dx, dy = desired_vx - vx, desired_vy - vy
    size = math.hypot(dx, dy)
    if size < 1e-12:
        return
    if speed > 0.3:
        along, across = (dx * vx + dy * vy) / speed / size, (dy * vx - dx * vy) / speed / size
    else:
        along, across = 1.0, 0.0
    ahead = max(strength * (1.0 - speed / top), 0.05) if along > 0.0 else BRAKE_M_S2
    limit = 1.0 / math.hypot(along / ahead, across / TURN_M_S2)
    keep = min(1.0, limit * dt / size)
    c[2] += keep * dx
    c[3] += keep * dy


@njit(cache=True)
def _give_way(columns: Floats, person: int) -> tuple[float, float]:
    """Return a velocity away from persons who stand too near."""
    x, y = 0.0, 0.0
    for other in range(len(columns)):
        dx, dy = columns[person, 0] - columns[other, 0], columns[person, 1] - columns[other, 1]
        if not (abs(dx) < _PERSONAL_SPACE_M and abs(dy) < _PERSONAL_SPACE_M):
            continue
        distance = math.hypot(dx, dy)
        if distance < _PERSONAL_SPACE_M and distance > 1e-6:
            much = _GIVE_WAY_M_S * (1.0 - distance / _PERSONAL_SPACE_M) / distance
            x += much * dx
            y += much * dy
    return x, y


@njit(cache=True)
def _keep_apart(columns: Floats, dt: float) -> None:
    """Push apart two persons who would collide: their closing speed is taken from both, half each."""
    for one in range(len(columns)):
        a = columns[one]
        for other in range(one):
            b = columns[other]
            dx, dy = a[0] - b[0], a[1] - b[1]
            # Nobody is faster than what is closed over two metres; NaN is nowhere.
            if not (abs(dx) < 2.0 and abs(dy) < 2.0) or a[7] > _LYING or b[7] > _LYING:
                continue
            distance = math.hypot(dx, dy)
            if distance < 1e-6:
                continue
            dx /= distance
            dy /= distance
            closing = -(dx * (a[2] - b[2]) + dy * (a[3] - b[3]))
            much = 0.5 * (closing - _CLOSING_PER_S * (distance - BODIES_M))
            if much <= 0.0:
                continue
            much = min(much, SHOVE_M_S2 * dt)
            a[2] += much * dx
            a[3] += much * dy
            b[2] -= much * dx
            b[3] -= much * dy


@njit(cache=True)
def _run(
    columns: Floats, acts: Floats, tops: Floats, strengths: Floats, targets: Floats, paces: Floats, facing: Floats,
    dt: float,
) -> None:  # fmt: skip
    before = columns[:, 2:4].copy()
    for person in range(len(columns)):
        c = columns[person]
        if math.isnan(c[0]):
            continue
        vx, vy = c[2], c[3]
        speed = math.hypot(vx, vy)
        busy = acts[person, 0] != _STANDING and _act(c, acts[person], dt)
        if busy:
            if acts[person, 0] == _DIVING:
                _head(c, acts[person, 3], 0.0, dt)
            lies = c[7] > 0.3 and (acts[person, 0] != _DIVING or acts[person, 1] > _PUSH_S + _FLY_S)
            if lies and speed > 0.0:
                keep = max(0.0, 1.0 - SLIDE_M_S2 * dt / speed)
                c[2] *= keep
                c[3] *= keep
        else:
            dx, dy = targets[person, 0] - c[0], targets[person, 1] - c[1]
            distance = math.hypot(dx, dy)
            desired = facing[person]
            top = tops[person]
            off = 0.0
            if distance > 1e-9:
                off = _turn(math.atan2(dy, dx) - c[4])
            pace = min(paces[person], _limit(speed, off, top))
            lag = 0.6 * BRAKE_M_S2 * _SETTLE_S
            pace = min(pace, math.sqrt(lag * lag + 1.2 * BRAKE_M_S2 * distance) - lag)
            scale = pace / distance if distance > 1e-9 else 0.0
            away_x, away_y = _give_way(columns, person)
            _push(c, dx * scale + away_x, dy * scale + away_y, top, strengths[person], dt)
            if not math.isnan(desired):
                _head(c, desired, speed, dt)
            elif speed > 0.4:
                _head(c, math.atan2(c[3], c[2]), speed, dt)
            c[5] += 2.0 * math.pi * (STRIDE_HZ + STRIDE_HZ_PER_M_S * speed) * min(speed / 0.3, 1.0) * dt
    _keep_apart(columns, dt)
    for person in range(len(columns)):
        c = columns[person]
        c[0] += 0.5 * (before[person, 0] + c[2]) * dt
        c[1] += 0.5 * (before[person, 1] + c[3]) * dt
