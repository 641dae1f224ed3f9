"""One axis of an ideal movement that never exceeds its speed, acceleration and jerk. O(1) a tick, pure.

Theory of operation
-------------------
Within a tick the jerk is constant, so the next state (position, velocity, acceleration) is exact. Three nested
controllers give the jerk: the position error gives a desired speed, the speed error a desired acceleration, and the
acceleration approaches that one. Near the target each is proportional to its error, and together they are a filter of
third order: a pair of poles with a damping of 0.70, which overshoots a little, and a quick lag, by which a kick reaches
the acceleration through one integration more. For the same jerk the picture has more lead room than with a Bessel
filter, which does not overshoot. Further out the desired speed and acceleration grow with the square root of their
errors, so that the axis can still brake in time.
Then the acceleration is limited:

1. the jerk limit: the acceleration may change by at most J*dt;
2. the acceleration limit A;
3. the speed limit V, looking ahead: taking the acceleration back to zero with full jerk must not
   carry the speed past V, that is v + a|a|/(2J) <= V and >= -V. Full braking jerk keeps that sum constant, so
   a motion that starts within the limits always has an allowed acceleration (``_limited`` finds the nearest one).

A tick in which the acceleration changes sign peaks between its ends by at most J*dt^2/8; V is reduced by that.
"""

from __future__ import annotations

import math

import msgspec

#: Rates of the nested controllers for a trail of 1 s: the filter is s^3 + 12 s^2 + 24 s + 24.
ACCEL_RATE, JERK_RATE = 2.0, 12.0


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
    trail_s: float,
    gain: float = 1.0,
) -> Motion:
    """Return the motion after one tick towards a moving target.

    Args:
        motion: state before the tick.
        target, target_velocity: desired position now, and its velocity.
        dt_s: length of the tick.
        limits: never exceeded.
        trail_s: time by which it trails an evenly moving target whose velocity is not given.
        gain: 1 follows the target, 0 brakes to a standstill; values between scale the desired speed.
    """
    desired_velocity = gain * (target_velocity + _rate_towards(target - motion.position, 1 / trail_s, limits.accel))
    desired_velocity = max(-limits.speed, min(limits.speed, desired_velocity))
    desired_accel = _rate_towards(desired_velocity - motion.velocity, ACCEL_RATE / trail_s, 2 * limits.jerk)
    approach = min(1.0, JERK_RATE / trail_s * dt_s)
    accel = motion.accel + approach * (desired_accel - motion.accel)
    return moved(motion, _limited(motion, accel, dt_s, limits), dt_s)


def _rate_towards(error: float, slope: float, brake: float) -> float:
    """Return the rate that reduces ``error``: ``slope`` * error near zero, further out a rate that can still stop.

    From a rate r, braking evenly at ``brake``/2 takes a distance of r*r/brake. The straight line and the square root
    meet with the same slope.
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


def _limited(motion: Motion, desired: float, dt_s: float, limits: Limits) -> float:
    """Return the acceleration nearest to ``desired`` that the limits allow at the end of the tick."""
    step = limits.jerk * dt_s
    speed = limits.speed - limits.jerk * dt_s * dt_s / 8
    low = max(-limits.accel, motion.accel - step)
    high = min(limits.accel, motion.accel + step)
    half = motion.velocity + motion.accel * dt_s / 2
    high = min(high, _highest(speed - half, limits.jerk, dt_s))
    low = max(low, -_highest(speed + half, limits.jerk, dt_s))
    # Only rounding can make low exceed high; braking with full jerk is always allowed.
    high = max(high, motion.accel - step)
    low = min(low, motion.accel + step)
    return max(min(desired, high), low) if low <= high else (low + high) / 2


def _highest(margin: float, jerk: float, dt_s: float) -> float:
    """Return the greatest end acceleration a with a*dt/2 + a|a|/(2*jerk) <= margin."""
    b = jerk * dt_s / 2
    if margin >= 0:
        return -b + math.sqrt(b * b + 2 * jerk * margin)
    return b - math.sqrt(b * b - 2 * jerk * margin)
