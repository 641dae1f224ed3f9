"""Choose speed steps of a head that has only a few speeds, so that it follows the ideal movement smoothly.

Theory of operation
-------------------
The BRC-X400 turns at 24 speeds with gaps just where a ball moves (2.9, 6.7, 11, 23 degrees a second). A controller
that sends the nearest speed drifts off the aim and switches back and forth. So the chooser looks for the speed s with
the least cost over a short horizon,

    mean squared error / tolerance^2  +  (change of speed / ease)^2

The first term feeds the error back: the error that a coarse speed leaves grows until another speed costs less. The
second term keeps the speed while the error is small, because each change jolts the head, and a larger change jolts
it more: the squared jerk of a head with a lag is proportional to the squared change. A head that takes few commands
gets larger changes as cheaply: the same change in n small steps would cost an nth. The prediction knows the lag
(:class:`Response`): the speed of a head approaches the commanded one, so a change acts late, and
switching between two speeds faster than the lag gives a smooth speed between them.

With this response the error at each instant is linear in s, so that the cost is a parabola. Its lowest speed of the
table is the one nearest to its lowest point, which a division and a search in the table find. The speeds of the steps
come from the head's profile (``camera/profiles``, :class:`camera.profile.AxisProfile`).
"""

from __future__ import annotations

import math
from bisect import bisect_left

import msgspec

from camera.motion import Motion
from camera.profile import AxisProfile, Profile
from camera.protocols.messages import Drive

#: Instants at which the error is predicted, as shares of the horizon.
LOOKS = (0.25, 0.5, 0.75, 1.0)

#: Limit of the gap between two speeds of a table that makes larger changes of speed cheap.
GAP_MAX_DEG_S = 1.8
#: Interval of commands for which ``Fit.ease_deg_s`` holds, and limit of the longer ones.
EASE_S, EASE_S_MAX = 0.04, 0.6
#: A shorter lag counts as none.
LAG_MIN_S = 0.001


class Fit(msgspec.Struct, frozen=True):
    """Weights of error and jolts.

    Attributes:
        horizon_s: how far ahead the error is predicted, beyond the lag of the head.
        tolerance: an error of this share of the picture's width costs 1.
        ease_deg_s: a change of speed of this size, and of the table's gap there (at most ``GAP_MAX_DEG_S``), costs 1: a
            coarse table needs larger changes to keep the aim.
        still_deg_s: below this speed of the plan, and with an error within the tolerance, the head stands still.
    """

    horizon_s: float = 0.27
    tolerance: float = 0.04
    ease_deg_s: float = 1.6
    still_deg_s: float = 0.05


class Response(msgspec.Struct, frozen=True):
    """The speed of a head on its way to the commanded one: critically damped, second order, within a lag.

    Attributes:
        velocity, accel: of the head now, in degrees.
        lag_s: mean delay of a change; 0 changes at once.
    """

    velocity: float = 0.0
    accel: float = 0.0
    lag_s: float = 0.0

    def after(self, speed: float, dt_s: float) -> Response:
        """Return the response ``dt_s`` later, with ``speed`` commanded since now."""
        if self.lag_s < LAG_MIN_S:
            return Response(speed, 0.0, self.lag_s)
        rate = 2 / self.lag_s
        left, rest = math.exp(-rate * dt_s), self.velocity - speed
        slope = self.accel + rate * rest
        velocity = speed + (rest + slope * dt_s) * left
        return Response(velocity, (slope - rate * (rest + slope * dt_s)) * left, self.lag_s)

    def path(self, dt_s: float) -> tuple[float, float]:
        """Return (a, b): commanded to the speed s, the head turns by a * s + b in ``dt_s``."""
        if self.lag_s < LAG_MIN_S:
            return dt_s, 0.0
        rate = 2 / self.lag_s
        left = math.exp(-rate * dt_s)
        held = 2 / rate * (1 - left) - dt_s * left  # turned meanwhile by a speed that dies away from 1
        pushed = (1 - left) / rate**2 - dt_s * left / rate  # the same of an acceleration
        return dt_s - held, self.velocity * held + self.accel * pushed


class StepChooser:
    """Chooses the steps of one head's pan and tilt; at most one command per ``command_interval_us``.

    Its choice is as good as the position of the head that the caller passes to ``choose``.
    """

    def __init__(self, profile: Profile, fit: Fit | None = None) -> None:
        self.profile, self.fit = profile, fit or Fit()
        self.current = Drive(0, 0)
        self._sent_us: int | None = None
        self._at_us: int | None = None
        self._chose_us: int | None = None
        self._pan = self._tilt = Response(lag_s=profile.motion.lag_ms / 1000)

    def choose(
        self, pan: Motion, tilt: Motion, pan_deg: float, tilt_deg: float, now_us: int, width_deg: float = 25.0
    ) -> Drive | None:
        """Return the drive command to send now; None if the command in force continues.

        Args:
            pan, tilt: the plan for the instant at which a command sent now takes effect.
            pan_deg, tilt_deg: position of the head at that instant.
            now_us: time on any clock that does not go back.
            width_deg: width of the picture: a tele lens shows smaller errors.
        """
        self._turn(now_us)
        interval_us, table, fit = self.profile.link.command_interval_us, self.profile, self.fit
        if self._sent_us is not None and now_us - self._sent_us < interval_us:
            return None
        every_s = EASE_S if self._chose_us is None else (now_us - self._chose_us) / 1e6
        self._chose_us = now_us
        height_deg = table.zoom.height_deg(width_deg)
        now = self.current
        best = Drive(
            best_step(table.pan, pan, pan_deg, now.pan_step, self._pan, fit, width_deg, every_s),
            best_step(table.tilt, tilt, tilt_deg, now.tilt_step, self._tilt, fit, height_deg, every_s),
        )
        if best == self.current:
            return None
        self.current, self._sent_us = best, now_us
        return best

    def forget(self) -> None:
        """Forget the command in force: the next choice starts from a standstill (after a reconnect or a refusal)."""
        self.current, self._sent_us, self._at_us, self._chose_us = Drive(0, 0), None, None, None
        self._pan = self._tilt = Response(lag_s=self._pan.lag_s)

    def _turn(self, now_us: int) -> None:
        """Move the responses on to now."""
        dt_s = max(0, now_us - (now_us if self._at_us is None else self._at_us)) / 1e6
        self._at_us, profile = now_us, self.profile
        self._pan = self._pan.after(profile.pan.speed_deg_s(self.current.pan_step), dt_s)
        self._tilt = self._tilt.after(profile.tilt.speed_deg_s(self.current.tilt_step), dt_s)


def best_step(
    axis: AxisProfile,
    plan: Motion,
    position_deg: float,
    current: int,
    response: Response,
    fit: Fit,
    size_deg: float,
    every_s: float = EASE_S,
) -> int:
    """Return the signed step with the least cost (see the module's theory of operation).

    Args:
        axis: the speed table.
        plan: the ideal movement, at the instant at which a command takes effect.
        position_deg: of the head at that instant.
        current: step in force.
        response: of the head.
        fit: weights.
        size_deg: of the picture along this axis.
        every_s: time since the last choice, as the next one is as far away.
    """
    error, tolerance_deg = plan.position - position_deg, fit.tolerance * size_deg
    if abs(plan.velocity) < fit.still_deg_s and abs(error) < tolerance_deg:
        return 0
    by, square = 0.0, 0.0
    for share in LOOKS:
        t = share * (fit.horizon_s + response.lag_s)
        a, b = response.path(t)
        off = error + plan.velocity * t + plan.accel * t * t / 2 - b
        by, square = by + off * a, square + a * a
    ease_deg_s = fit.ease_deg_s + min(GAP_MAX_DEG_S, _gap(axis, plan.velocity))
    steps = max(1.0, min(every_s, EASE_S_MAX) / EASE_S)
    errors, jolts = 1 / (len(LOOKS) * tolerance_deg**2), 1 / (ease_deg_s**2 * steps)
    lowest = (by * errors + axis.speed_deg_s(current) * jolts) / (square * errors + jolts)
    return nearest_step(axis, lowest)


def _gap(axis: AxisProfile, speed_deg_s: float) -> float:
    """Return the difference of the two speeds of the table between which a speed lies."""
    speeds = axis.speeds_deg_s
    above = min(bisect_left(speeds, abs(speed_deg_s)), len(speeds) - 1)
    return speeds[above] - (speeds[above - 1] if above else 0.0)


def nearest_step(axis: AxisProfile, speed_deg_s: float) -> int:
    """Return the step of the nearest speed."""
    speeds, speed = axis.speeds_deg_s, abs(speed_deg_s)
    above = min(bisect_left(speeds, speed), len(speeds) - 1)  # index of a speed is its step less 1
    below = speeds[above - 1] if above else 0.0
    step = above if speed - below <= speeds[above] - speed else above + 1
    return step if speed_deg_s > 0 else -step
