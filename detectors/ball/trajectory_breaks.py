"""Breaks of the ball's trajectory: what the changes of level 2 share.

Theory of operation
-------------------
A *break* is a point of the trajectory where the velocity changes at once, as at a contact or a bounce. Three finders,
by the quality of the input, give the same :class:`TrajectoryBreak`:

* :class:`ShoulderBreaks` for inputs of low rates, around :class:`ShoulderFinder`. Their positions are few and already
  smoothed. With ``lag`` = states per velocity fit less one, the velocities at states ``j - lag`` and ``j`` share only
  the state ``j - lag``. The states next to them, ``j - lag - 1`` and ``j + 1``, are the *shoulders*. A contact changes
  the shoulders. A single wrong position bends three neighbouring velocities and leaves the shoulders alone. So a break
  counts by the change between its shoulders (*net*), where the change between the inner two is greatest.
* :class:`detectors.ball.radio_breaks.RadioBreaks` for radio, whose positions are many and noisy.
* :class:`detectors.ball.optical_breaks.OpticalBreaks` for cameras, whose positions are few and good.

All wait for what follows the break and date it back to where it was. Runs (``BallState.run``) are never compared
across a jump or a loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from detectors.signals.kernels.break_solver import Vector
from detectors.signals.sampling import ball_sampling
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet
from football.payloads import BallState, ball_of
from middleware.events import Event

#: Grass or air may slow the ball of cameras by less than this.
SLOWED_MAX_M_S = 2.2


class TrajectoryBreak(msgspec.Struct, frozen=True, gc=False):
    """A break of the ball's trajectory.

    Attributes:
        ts_us: time of it.
        source: the ball.
        x_m, y_m, z_m: position.
        before, after: velocity into it and out of it.
        noise_m_s: standard error of their difference.
    """

    ts_us: int
    source: str
    x_m: float
    y_m: float
    z_m: float
    before: Vector
    after: Vector
    noise_m_s: float

    @property
    def net_m_s(self) -> float:
        """Size of the change of velocity."""
        return math.dist(self.before, self.after)

    @property
    def speeds_m_s(self) -> tuple[float, float]:
        """Speeds over ground, before and after."""
        return math.hypot(self.before[0], self.before[1]), math.hypot(self.after[0], self.after[1])


def possible_velocity(velocity: Vector) -> Vector:
    """A velocity, made as short as the fastest ball's: a fit to few positions may say more than any ball can do."""
    speed_m_s = math.hypot(*velocity)
    if speed_m_s <= BALL_SPEED_MAX_M_S:
        return velocity
    share = BALL_SPEED_MAX_M_S / speed_m_s
    return velocity[0] * share, velocity[1] * share, velocity[2] * share


class Trail(msgspec.Struct, frozen=True, gc=False):
    """State of :class:`ShoulderFinder`.

    Attributes:
        samples: newest ball states, oldest first.
        change: the two newest changes between inner velocities, by which the greatest is found.
        break_us: time of the last break reported.
    """

    samples: tuple[Event, ...] = ()
    change: tuple[float, float] = (0.0, 0.0)
    break_us: int = -(2**62)


class ShoulderFinder:
    """Finds breaks by their shoulders.

    Args:
        sheet: its quality gives the length of a fit.
        least_m_s: least change of velocity.
        refractory_us: least time between breaks, and at least one whole break of the input's states.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float, refractory_us: int = 0) -> None:
        sampling = ball_sampling(sheet.quality)
        self._lag = sampling.fit - 1
        self._need = self._lag + 3
        self._least_m_s = least_m_s
        self._refractory_us = max(refractory_us, (self._lag + 1) * sampling.period_us)
        #: A break is known ``fit`` states later; one more, so that a lost sample does not lose the contact.
        self.horizon_us = (sampling.fit + 1) * sampling.period_us

    def look(self, state: Trail, event: Event) -> tuple[Trail, bool]:
        """The trail with one more state, and True if its second sample is a break now."""
        ball = cast(BallState, event.payload)
        if ball.run < self._need - 2:
            return Trail((), (0.0, 0.0), state.break_us), False
        samples = (*state.samples[1 - self._need :], event)
        if len(samples) <= self._lag:
            return Trail(samples, (0.0, 0.0), state.break_us), False
        newest = _change(samples[-1 - self._lag], event)
        older, peak = state.change
        trail = Trail(samples, (peak, newest), state.break_us)
        if peak < self._least_m_s or peak < older or peak < newest or len(samples) < self._need:
            return trail, False
        break_us = samples[1].ts_us
        late = event.ts_us - break_us > self.horizon_us
        return trail, not late and break_us - state.break_us >= self._refractory_us


class ShoulderBreaks:
    """:class:`ShoulderFinder` as a finder of :class:`TrajectoryBreak`. Arguments as there."""

    def __init__(self, sheet: MatchSheet, least_m_s: float, refractory_us: int = 0) -> None:
        self._finder = ShoulderFinder(sheet, least_m_s, refractory_us)
        self._noise_m_s = math.sqrt(2.0) * ball_sampling(sheet.quality).velocity_noise_m_s
        self.horizon_us = self._finder.horizon_us

    def initial(self) -> Trail:
        """No ball yet."""
        return Trail()

    def look(self, state: Trail, event: Event) -> tuple[Trail, TrajectoryBreak | None]:
        """The trail with one more state, and the break that is known now."""
        trail, found = self._finder.look(state, event)
        if not found:
            return trail, None
        at = ball_of(trail.samples[1])
        into, out = _velocity(trail.samples[0]), _velocity(trail.samples[-1])
        ts_us, source = trail.samples[1].ts_us, trail.samples[1].source
        return trail, TrajectoryBreak(ts_us, source, at.x_m, at.y_m, at.z_m, into, out, self._noise_m_s)

    def reported(self, state: Any, break_: TrajectoryBreak) -> Any:
        """The trail after the report of a break: the next one keeps its distance."""
        return Trail(state.samples, state.change, break_.ts_us)


def _velocity(event: Event) -> Vector:
    ball = cast(BallState, event.payload)
    return ball.vx_m_s, ball.vy_m_s, ball.vz_m_s


def _change(before: Event, after: Event) -> float:
    """Change of velocity between two states, m/s."""
    b, a = before.payload, after.payload
    dx = a.vx_m_s - b.vx_m_s  # type: ignore[attr-defined]
    dy = a.vy_m_s - b.vy_m_s  # type: ignore[attr-defined]
    dz = a.vz_m_s - b.vz_m_s  # type: ignore[attr-defined]
    return math.sqrt(dx * dx + dy * dy + dz * dz)


def only_slowed(before: Sequence[float], change: Sequence[float], slow_m_s: float) -> bool:
    """True if a ball keeps its path and only slows, by less than ``slow_m_s``, as grass or air does.

    Args:
        before, change: velocity before, and its change, over the ground (m/s); further components are ignored.
    """
    vx, vy, dvx, dvy = before[0], before[1], change[0], change[1]
    along = dvx * vx + dvy * vy
    if math.hypot(dvx, dvy) >= slow_m_s or along >= 0.0 or vx * vx + vy * vy + along < 0.0:
        return False
    return 2.0 * abs(dvx * vy - dvy * vx) < -along
