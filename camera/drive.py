"""Choose speed steps of a head that has only a few speeds, so that it follows the ideal movement.

Theory of operation
-------------------
The BRC-X400 turns at 24 speeds with gaps just where a ball moves (2.9, 6.7, 11, 23 degrees a second). A controller
that sends the nearest speed drifts off the aim and switches back and forth. So the chooser predicts, for each step, the
error against the plan over a short horizon, from the head's present position. It sends the step with the lowest cost

    mean squared error / tolerance^2  +  (change of speed / ease)^2

The first term feeds the error back: the error that a coarse speed leaves grows until another step costs less. The
second term keeps a step while the error is small, because each change of speed jolts the head, and a larger change
jolts it more. The speeds of the steps come from the head's profile (``camera/profiles``,
:class:`camera.profile.AxisProfile`).
"""

from __future__ import annotations

import msgspec

from camera.motion import Motion
from camera.profile import AxisProfile, Profile
from camera.protocols.messages import Drive

#: Instants at which the error is predicted, as shares of the horizon.
LOOKS = (0.25, 0.5, 0.75, 1.0)


class Fit(msgspec.Struct, frozen=True):
    """Weights of error and jolts.

    Attributes:
        horizon_s: how far ahead the error is predicted.
        tolerance_deg: an error of this size costs 1.
        ease_deg_s: a change of speed of this size costs 1.
        still_deg_s: below this speed of the plan, and with an error within the tolerance, the head stands still.
    """

    horizon_s: float = 0.4
    tolerance_deg: float = 0.7
    ease_deg_s: float = 2.0
    still_deg_s: float = 0.05


class StepChooser:
    """Chooses the steps of one head's pan and tilt; at most one command per ``command_interval_us``.

    Its choice is as good as the position of the head that the caller passes to ``choose``.
    """

    def __init__(self, profile: Profile, fit: Fit | None = None) -> None:
        self.profile, self.fit = profile, fit or Fit()
        self.current = Drive(0, 0)
        self._sent_us: int | None = None

    def choose(self, pan: Motion, tilt: Motion, pan_deg: float, tilt_deg: float, now_us: int) -> Drive | None:
        """Return the drive command to send now; None if the command in force continues.

        Args:
            pan, tilt: the plan for the instant at which a command sent now takes effect.
            pan_deg, tilt_deg: position of the head at that instant.
            now_us: time on any clock that does not go back.
        """
        interval_us = self.profile.link.command_interval_us
        if self._sent_us is not None and now_us - self._sent_us < interval_us:
            return None
        best = Drive(
            best_step(self.profile.pan, pan, pan_deg, self.current.pan_step, self.fit),
            best_step(self.profile.tilt, tilt, tilt_deg, self.current.tilt_step, self.fit),
        )
        if best == self.current:
            return None
        self.current, self._sent_us = best, now_us
        return best

    def forget(self) -> None:
        """Forget the command in force: the next choice starts from a standstill (after a reconnect or a refusal)."""
        self.current, self._sent_us = Drive(0, 0), None


def best_step(axis: AxisProfile, plan: Motion, position_deg: float, current: int, fit: Fit) -> int:
    """Return the signed step with the least cost (see the module's theory of operation)."""
    error = plan.position - position_deg
    if abs(plan.velocity) < fit.still_deg_s and abs(error) < fit.tolerance_deg:
        return 0
    now = axis.speed_deg_s(current)
    top = len(axis.speeds_deg_s)
    # A step against the wanted direction never costs least: half of the table is enough.
    wanted_deg_s = error / fit.horizon_s + plan.velocity + plan.accel * fit.horizon_s / 2
    steps = range(top + 1) if wanted_deg_s >= 0 else range(-top, 1)
    choices: tuple[int, ...] = (*steps, current)
    return min(choices, key=lambda step: _cost(axis.speed_deg_s(step), now, error, plan, fit))


def _cost(speed: float, now: float, error: float, plan: Motion, fit: Fit) -> float:
    total, jolt = 0.0, (speed - now) / fit.ease_deg_s
    for share in LOOKS:
        t = share * fit.horizon_s
        off = error + (plan.velocity - speed) * t + plan.accel * t * t / 2
        total += off * off
    return total / (len(LOOKS) * fit.tolerance_deg * fit.tolerance_deg) + jolt * jolt


def nearest_step(axis: AxisProfile, speed_deg_s: float) -> int:
    """Return the step of the nearest speed, the choice of a controller without error feedback."""
    top = len(axis.speeds_deg_s)
    return min(range(-top, top + 1), key=lambda step: abs(axis.speed_deg_s(step) - speed_deg_s))
