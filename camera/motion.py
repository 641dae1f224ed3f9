"""One axis of an ideal movement that never exceeds its speed, acceleration and jerk. O(1) a tick, pure.

Theory of operation
-------------------
Within a tick the jerk is constant, so a state (position, velocity, acceleration) moves on exactly. Two nested
wishes give the acceleration wanted: a speed from the position error and an acceleration from the speed error,
each proportional near the target (together: a critically damped follower) and growing with the root further
out, so that what was built up can be taken back in time. Then it is cut to what is allowed:

1. the jerk limit: the acceleration may change by at most J*dt;
2. the acceleration limit A;
3. the speed limit V, looking ahead: taking the acceleration back to zero with full jerk must not
   carry the speed past V, that is v + a|a|/(2J) <= V and >= -V. Full braking jerk keeps that sum constant, so
   whoever starts within the limits always has an allowed choice (``_cut`` solves for the nearest one).

A tick in which the acceleration changes sign peaks between its ends by at most J*dt^2/8; V is reduced by that.
"""

from __future__ import annotations

import math

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Greatest speed, acceleration and jerk of an axis, in units per s, s^2, s^3."""

    speed: float
    accel: float
    jerk: float


class Motion(msgspec.Struct, frozen=True):
    """State of an axis: position, velocity, acceleration."""

    position: float
    velocity: float = 0.0
    accel: float = 0.0


def follow(
    motion: Motion,
    target: float,
    target_velocity: float,
    dt_s: float,
    limits: Limits,
    stiffness_s: float,
    gain: float = 1.0,
) -> Motion:
    """Play one tick towards a moving target.

    Args:
        motion: state before the tick.
        target, target_velocity: desired position now, and its velocity.
        dt_s: length of the tick.
        limits: never exceeded.
        stiffness_s: natural frequency of the follower, 1/s; it trails a moving target by 2/stiffness_s seconds.
        gain: 0 brakes to a standstill and ignores the target, 1 follows it; between, softly.
    """
    desired_velocity = gain * (target_velocity + _rooted(target - motion.position, stiffness_s / 2, limits.accel))
    desired_velocity = max(-limits.speed, min(limits.speed, desired_velocity))
    desired_accel = _rooted(desired_velocity - motion.velocity, 2 * stiffness_s, 2 * limits.jerk)
    return moved(motion, _cut(motion, desired_accel, dt_s, limits), dt_s)


def _rooted(error: float, slope: float, brake: float) -> float:
    """Return a rate that reduces ``error``: slope * error near zero, further out only what ``brake`` can stop.

    Moving at r towards zero and braking evenly at ``brake``/2 needs r*r/brake of distance; the line goes over into the
    root with the same slope.
    """
    knee = brake / (4 * slope * slope)
    if abs(error) <= knee:
        return slope * error
    return math.copysign(math.sqrt(brake * (abs(error) - knee) / 2 + slope * slope * knee * knee), error)


def moved(motion: Motion, accel: float, dt_s: float) -> Motion:
    """Return the state after a tick in which the acceleration changes evenly to ``accel``."""
    velocity = motion.velocity + (motion.accel + accel) * dt_s / 2
    position = motion.position + motion.velocity * dt_s + (2 * motion.accel + accel) * dt_s * dt_s / 6
    return Motion(position, velocity, accel)


def _cut(motion: Motion, desired: float, dt_s: float, limits: Limits) -> float:
    """Return the acceleration nearest to ``desired`` that the limits allow at the end of the tick."""
    step = limits.jerk * dt_s
    speed = limits.speed - limits.jerk * dt_s * dt_s / 8
    low = max(-limits.accel, motion.accel - step)
    high = min(limits.accel, motion.accel + step)
    half = motion.velocity + motion.accel * dt_s / 2
    high = min(high, _highest(speed - half, limits.jerk, dt_s))
    low = max(low, -_highest(speed + half, limits.jerk, dt_s))
    # Rounding only may put these the wrong way round; braking by full jerk is always allowed.
    high = max(high, motion.accel - step)
    low = min(low, motion.accel + step)
    return max(min(desired, high), low) if low <= high else (low + high) / 2


def _highest(margin: float, jerk: float, dt_s: float) -> float:
    """Return the greatest end acceleration a with a*dt/2 + a|a|/(2*jerk) <= margin."""
    b = jerk * dt_s / 2
    if margin >= 0:
        return -b + math.sqrt(b * b + 2 * jerk * margin)
    return b - math.sqrt(b * b - 2 * jerk * margin)
