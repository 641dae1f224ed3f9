"""Measures how a head moves: the speed of each step, the dead time after a command, the acceleration.

Theory of operation
-------------------
A trial drives one axis at one step from a standstill and notes reports: the instant half way between an inquiry and its
answer, and the angle. A head that begins after the dead time d and accelerates at a to the speed v has turned by
v * (t - d - v / 2a) once it is at speed. So the slope of the later part of a trial is v, and its zero is d + v / 2a. A
straight line through the zeros of all trials over v gives d and a.

The head stays within the camera's limits and out of its forbidden zones: a trial ends so early that the head can stop.
A trial that ends for lack of room before the head has reached its speed is left out; its step gets its speed from the
old table, scaled as its nearest measured neighbour.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np

from camera.bounds import Bounds
from camera.head_connection import HeadConnection
from camera.profile import AxisProfile, MotionProfile, Profile
from camera.protocols.messages import Drive
from football.errors import UserError

AxisName = Literal["pan", "tilt"]

#: A trial ends after this turn, or this time, whichever is first, but not before the shortest time.
TURN_DEG, TRIAL_S_MAX, TRIAL_S_MIN = 12.0, 4.0, 1.6
#: Reports that a trial must have at least.
SAMPLES_MIN = 4
#: Deceleration and delay that are assumed for a stop before a limit.
BRAKE_DEG_S2, BRAKE_S, MARGIN_DEG = 80.0, 0.3, 1.0
REST_US = 4_000_000
#: Speed of a camera that follows play: the delay of a change of speed is stated for it.
PLAY_DEG_S = 10.0
#: Least turn against the command that counts as a wrong sign.
WRONG_DEG = 0.5
#: Smallest difference of two steps in a written table, which must rise.
RISE_DEG_S = 0.001
#: Gain of speed within the later part of a short trial, as a share, from which on it counts as accelerating still.
GAIN_MAX = 0.03


class MeasuringError(UserError):
    """The head cannot be measured; the message says why."""


class Trial(msgspec.Struct, frozen=True):
    """A drive at one step from a standstill: seconds since the command, and degrees from where it began.

    ``is_short``: it ended for lack of room, so that the head may have been on its way to the speed still.
    """

    step: int
    times_s: tuple[float, ...]
    turned_deg: tuple[float, ...]
    is_short: bool = False


class Measured(msgspec.Struct, frozen=True):
    """The fit of the trials of one axis: speed by step, dead time, acceleration, mean delay of a change of speed.

    ``left_out``: steps whose speed was not reached within the room that the head has.
    """

    speeds_deg_s: dict[int, float]
    dead_time_s: float
    accel_deg_s2: float
    lag_s: float
    left_out: tuple[int, ...] = ()


def measured_axis(
    head: HeadConnection,
    name: AxisName,
    steps: Sequence[int],
    bounds: Bounds,
    clock: Callable[[], int],
    pause: Callable[[float], None] = time.sleep,
    say: Callable[[str], None] = lambda _: None,
) -> Measured:
    """Turn the head at each step and return what it does.

    Args:
        head: that is steered.
        name: of the axis.
        steps: of the speed table, 1 and up.
        bounds: within which it stays.
        clock: monotonic time in microseconds.
        pause: waits for some seconds.
        say: shows progress.

    Raises:
        MeasuringError: the head stops answering, does not move, or moves the other way; or too few steps are left.
    """
    trials: list[Trial] = []
    left_out: list[int] = []
    for step in steps:
        trial = _trial(head, name, step, bounds, clock, pause)
        if has_reached_speed(trial):
            trials.append(trial)
            say(f"{name} step {step}: {speed_of(trial):.3f} deg/s")
        else:
            left_out.append(step)
            say(f"{name} step {step}: left out, the head has no room to reach its speed")
    return msgspec.structs.replace(fitted(trials), left_out=tuple(left_out))


def has_reached_speed(trial: Trial) -> bool:
    """True if a trial shows the speed of its step: it was long enough, or the head no longer gained speed at its end.

    A head that still accelerates turns faster in the second half of what is fitted than in the first.
    """
    times, turned = np.array(trial.times_s), np.array(trial.turned_deg)
    late = _late(turned)
    times, turned = times[late], turned[late]
    half = len(times) // 2
    if not trial.is_short:
        return True
    if half < 2:
        return False
    first, second = _slope(times[: half + 1], turned[: half + 1]), _slope(times[half:], turned[half:])
    return bool(second <= (1 + GAIN_MAX) * first)


def speed_of(trial: Trial) -> float:
    """Return the speed in the later part of a trial, in degrees a second."""
    return _line(trial)[0]


def fitted(trials: Sequence[Trial]) -> Measured:
    """Return speeds, dead time and acceleration of trials.

    Raises:
        MeasuringError: there are fewer than two trials.
    """
    if len(trials) < 2:
        raise MeasuringError(f"{len(trials)} trials; two or more steps are needed")
    lines = [_line(trial) for trial in trials]
    speeds, zeros = np.array([line[0] for line in lines]), np.array([line[1] for line in lines])
    # The zero of a slow trial is uncertain by the resolution of the reports over its speed.
    slope, dead_s = np.polyfit(speeds, zeros, 1, w=speeds)
    accel = 1 / (2 * slope) if slope > 1e-5 else 10_000.0
    return Measured(
        {trial.step: float(line[0]) for trial, line in zip(trials, lines, strict=True)},
        max(0.0, float(dead_s)),
        min(10_000.0, float(accel)),
        max(0.0, float(slope * PLAY_DEG_S)),  # half of the ramp; the dead time before it is known to the observer
    )


def measured_profile(profile: Profile, pan: Measured, tilt: Measured) -> Profile:
    """Return a profile with measured speeds and motion; steps that were not measured lie between their neighbours."""
    motion = MotionProfile(
        round(1000 * (pan.dead_time_s + tilt.dead_time_s) / 2, 1),
        round(min(pan.accel_deg_s2, tilt.accel_deg_s2), 1),
        round(500 * (pan.lag_s + tilt.lag_s), 1),
    )
    return msgspec.structs.replace(profile, pan=_axis(profile.pan, pan), tilt=_axis(profile.tilt, tilt), motion=motion)


def with_steps(profile: Profile, pan: int, tilt: int) -> Profile:
    """Return a profile with as many steps as the head has; the speeds are spread between those that were there."""
    return msgspec.structs.replace(profile, pan=_spread(profile.pan, pan), tilt=_spread(profile.tilt, tilt))


def scaled(profile: Profile, pan: Measured, tilt: Measured) -> Profile:
    """Return a profile whose speeds are scaled by what was measured.

    For a protocol whose commands are speeds or shares of a speed (ONVIF): another spacing of the table would be other
    commands.
    """
    axes = {}
    for name, axis, found in (("pan", profile.pan, pan), ("tilt", profile.tilt, tilt)):
        ratios = [speed / axis.speeds_deg_s[step - 1] for step, speed in found.speeds_deg_s.items()]
        speeds = tuple(round(float(np.median(ratios)) * speed, 4) for speed in axis.speeds_deg_s)
        axes[name] = msgspec.structs.replace(axis, speeds_deg_s=speeds)
    motion = measured_profile(profile, pan, tilt).motion
    return msgspec.structs.replace(profile, **axes, motion=motion)


def _trial(
    head: HeadConnection,
    name: AxisName,
    step: int,
    bounds: Bounds,
    clock: Callable[[], int],
    pause: Callable[[float], None],
) -> Trial:
    if not head.rest(REST_US, clock, pause) or head.report is None:
        raise MeasuringError(f"{name} step {step}: the head does not come to a standstill")
    axis = head.profile.pan if name == "pan" else head.profile.tilt
    begin = _angles(head)
    low, high = _room(bounds, name, begin)
    here = begin[name == "tilt"]
    sign = 1 if high - here >= here - low else -1
    room_deg = (high - here if sign > 0 else here - low) - MARGIN_DEG
    begin_us = clock()
    head.drive(Drive(sign * step, 0) if name == "pan" else Drive(0, sign * step), begin_us)
    samples: list[tuple[float, float]] = [(0.0, 0.0)]
    seen = head.report
    while True:
        now_us = clock()
        head.listen(now_us)
        head.send(now_us)
        if not head.online:
            raise MeasuringError(f"{name} step {step}: {head.problem}")
        if head.report is not None and head.report is not seen and head.report[0] > begin_us:
            seen = head.report
            turned = sign * (_angles(head)[name == "tilt"] - here)
            samples.append((((seen[0] + seen[1]) / 2 - begin_us) / 1e6, turned))
            if turned < -WRONG_DEG:
                head.rest(REST_US, clock, pause)
                raise MeasuringError(f'{name} turns the other way: its "positive" is not {axis.positive}')
        elapsed_s = (now_us - begin_us) / 1e6
        is_enough = _is_enough(samples, elapsed_s)
        if is_enough or _ahead_deg(samples, elapsed_s) > room_deg:
            break
        pause(0.004)
    head.rest(REST_US, clock, pause)
    if len(samples) < SAMPLES_MIN or samples[-1][1] <= 0:
        raise MeasuringError(f"{name} step {step}: the head has not turned, or has no room within its limits")
    return Trial(step, tuple(s[0] for s in samples), tuple(s[1] for s in samples), is_short=not is_enough)


def _ahead_deg(samples: Sequence[tuple[float, float]], elapsed_s: float) -> float:
    """Return how far the head will have turned if it is stopped now, at most."""
    if len(samples) < 2:
        return 0.0
    (before_s, before_deg), (last_s, last_deg) = samples[-2:]
    speed = 1.2 * max(0.0, last_deg - before_deg) / max(0.01, last_s - before_s)
    return last_deg + speed * (elapsed_s - last_s + BRAKE_S) + speed * speed / (2 * BRAKE_DEG_S2)


def _is_enough(samples: Sequence[tuple[float, float]], elapsed_s: float) -> bool:
    """True if a trial has shown the speed."""
    if elapsed_s < TRIAL_S_MIN or len(samples) < 2 * SAMPLES_MIN:
        return False
    return samples[-1][1] > TURN_DEG or elapsed_s > TRIAL_S_MAX


def _line(trial: Trial) -> tuple[float, float]:
    """Return the speed at the end of a trial, and the instant at which its line starts from zero."""
    times, turned = np.array(trial.times_s), np.array(trial.turned_deg)
    late = _late(turned)
    speed, offset = np.polyfit(times[late], turned[late], 1)
    return float(speed), float(-offset / speed)


def _late(turned: np.ndarray) -> np.ndarray:
    """Return which samples belong to the later part of a trial."""
    late: np.ndarray = turned >= 0.6 * turned[-1]
    late[-3:] = True
    return late


def _slope(times: np.ndarray, turned: np.ndarray) -> float:
    return float((turned[-1] - turned[0]) / (times[-1] - times[0]))


def _angles(head: HeadConnection) -> tuple[float, float]:
    assert head.report is not None
    pan_units, tilt_units = head.report[2]
    return head.profile.pan.deg(pan_units), head.profile.tilt.deg(tilt_units)


def _room(bounds: Bounds, name: AxisName, begin: tuple[float, float]) -> tuple[float, float]:
    """Return the range of an axis that is free from where the head stands: its limits, and zones in the way."""
    low, high = bounds.pan_deg if name == "pan" else bounds.tilt_deg
    here, other = (begin[0], begin[1]) if name == "pan" else (begin[1], begin[0])
    for zone in bounds.forbidden:
        along, across = (zone.pan_deg, zone.tilt_deg) if name == "pan" else (zone.tilt_deg, zone.pan_deg)
        if across[0] - MARGIN_DEG < other < across[1] + MARGIN_DEG:
            low = max(low, along[1]) if along[1] <= here else low
            high = min(high, along[0]) if along[0] >= here else high
    return low, high


def _axis(axis: AxisProfile, found: Measured) -> AxisProfile:
    steps = sorted(found.speeds_deg_s)
    count = len(axis.speeds_deg_s)
    logs = np.log([found.speeds_deg_s[step] for step in steps])
    speeds = np.exp(np.interp(range(1, count + 1), steps, logs))
    # Outside the measured steps the old table is scaled, because a flat end would not rise.
    for step in (*range(1, steps[0]), *range(steps[-1] + 1, count + 1)):
        near = steps[0] if step < steps[0] else steps[-1]
        speeds[step - 1] = axis.speeds_deg_s[step - 1] / axis.speeds_deg_s[near - 1] * found.speeds_deg_s[near]
    rising: list[float] = []
    for speed in speeds:
        rising.append(round(max(float(speed), rising[-1] + RISE_DEG_S if rising else RISE_DEG_S), 4))
    return msgspec.structs.replace(axis, speeds_deg_s=tuple(rising))


def _spread(axis: AxisProfile, count: int) -> AxisProfile:
    if count == len(axis.speeds_deg_s):
        return axis
    logs = np.log(axis.speeds_deg_s)
    at = np.linspace(0, len(logs) - 1, count)
    speeds = tuple(float(speed) for speed in np.exp(np.interp(at, range(len(logs)), logs)))
    return msgspec.structs.replace(axis, speeds_deg_s=speeds)
