"""Level 2: what the ball alone tells of a contact: acceleration peaks, turns, steps of speed.

Theory of operation
-------------------
All three compare the ball's velocity before and after one place, the *corner*, and none of them needs a player.
With ``lag`` = states per velocity fit less one, the velocities at states ``j - lag`` and ``j`` share only the corner
``j - lag``; the states next to them, ``j - lag - 1`` and ``j + 1``, are the *shoulders*.

A contact changes the shoulders. A single wrong position bends three neighbouring velocities and leaves the
shoulders alone. So a corner counts by the change between its shoulders (*net*), found where the change between
the inner two is greatest. That costs one state of delay (5 ms at 200 Hz, 40 ms at 25 Hz) and the event is dated
back to the corner, where the contact was.

Runs (``BallState.run``) are never compared across a jump or a loss.
"""

from __future__ import annotations

import math

import msgspec

from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet
from detectors.signals.sampling import CONTACT_WINDOW_S, ball_sampling, delta_v_noise_m_s
from detectors.states import BallState
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Below it the ball's centre is on the ground (hierarchy 2.5).
GROUND_M = 0.3


class Trail(msgspec.Struct, frozen=True, gc=False):
    """State of the three detectors: newest ball states, oldest first; the two newest changes between inner
    velocities, by which the greatest is found; time of the last corner reported."""

    samples: tuple[Event, ...] = ()
    change: tuple[float, float] = (0.0, 0.0)
    corner_us: int = -(2**62)


class Corners:
    """Finds corners in the ball's way; what the three detectors share.

    Args:
        sheet: its quality gives the length of a fit.
        least_m_s: change of velocity below which nothing is looked at.
        refractory_us: corners are at least so far apart, and at least one whole corner of the input's states.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float, refractory_us: int = 0) -> None:
        sampling = ball_sampling(sheet.quality)
        self._lag = sampling.fit - 1
        self._need = self._lag + 3
        self._least_m_s = least_m_s
        self._refractory_us = max(refractory_us, (self._lag + 1) * sampling.period_us)
        self._horizon_us = corner_horizon_us(sheet)

    def look(self, state: Trail, event: Event) -> tuple[Trail, bool]:
        """The trail with one more state, and whether its second sample is a corner now."""
        ball = event.payload
        assert isinstance(ball, BallState)
        if ball.run < self._need - 2:
            return Trail((), (0.0, 0.0), state.corner_us), False
        samples = (*state.samples[1 - self._need :], event)
        if len(samples) <= self._lag:
            return Trail(samples, (0.0, 0.0), state.corner_us), False
        newest = _change(samples[-1 - self._lag], event)
        older, peak = state.change
        trail = Trail(samples, (peak, newest), state.corner_us)
        if peak < self._least_m_s or peak < older or peak < newest or len(samples) < self._need:
            return trail, False
        corner_us = samples[1].ts_us
        late = event.ts_us - corner_us > self._horizon_us
        return trail, not late and corner_us - state.corner_us >= self._refractory_us


class PeakParameters(msgspec.Struct, frozen=True):
    """Peak heights of hierarchy 2.1 (55 is DEBS 2013 Q2; the others ours), read over ``window_s`` as changes of
    velocity: see ``detectors.signals.sampling``. ``refractory_us``: at least one whole corner of the input's states."""

    touch_m_s2: float = 20.0
    hit_m_s2: float = 55.0
    hard_m_s2: float = 150.0
    window_s: float = CONTACT_WINDOW_S
    refractory_us: int = 20_000


class AccelerationPeak:
    """2.1: ``ball.accel_peak`` x {touch, hit, hard}.

    ``detail``: ``delta_v_m_s`` (net change; over the ground ``delta_vx_m_s``, ``delta_vy_m_s``), ``speed_before_m_s``,
    ``speed_after_m_s``, ``vx_m_s``, ``vy_m_s``, ``vz_m_s`` (velocity after), ``bounce`` (the ground explains it).
    The anchor is the ball's state at the corner.
    """

    def __init__(self, sheet: MatchSheet, parameters: PeakParameters | None = None) -> None:
        self.parameters = p = parameters or PeakParameters()
        noise_m_s = delta_v_noise_m_s(sheet.quality)
        self._touch_m_s = max(p.touch_m_s2 * p.window_s, noise_m_s)
        self._hit_m_s = max(p.hit_m_s2 * p.window_s, noise_m_s)
        self._hard_m_s = p.hard_m_s2 * p.window_s
        self._corners = Corners(sheet, self._touch_m_s, p.refractory_us)
        self.spec = Spec(
            name="ball_acceleration_peak",
            number="2.1",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.accel_peak",),
            horizon_us=corner_horizon_us(sheet),
            parameters={
                **msgspec.structs.asdict(p),
                "touch_floor_m_s": round(self._touch_m_s, 2),
                "hit_floor_m_s": round(self._hit_m_s, 2),
            },
            source="DEBS 2013 Q2; 004 IV-B2 (delay 1-2 ms); read as change of velocity: ours",
            variants={"ball.accel_peak": ("touch", "hit", "hard")},
        )

    def initial(self) -> Trail:
        """No ball yet."""
        return Trail()

    def step(self, state: Trail, event: Event) -> Step[Trail]:
        """Looks whether the state before this one was the greatest change."""
        trail, found = self._corners.look(state, event)
        if not found:
            return trail, NOTHING
        net_m_s = _change(trail.samples[0], event)
        if net_m_s < self._touch_m_s:
            return trail, NOTHING
        variant = "hard" if net_m_s >= self._hard_m_s else "hit" if net_m_s >= self._hit_m_s else "touch"
        return _report("ball.accel_peak", variant, trail, net_m_s)


class BendParameters(msgspec.Struct, frozen=True):
    """``turn_rad``: StreamTeam (databallpy: 10 degrees). ``step_m_s``, ``slow_m_s``: StreamTeam's 2 m/s while the
    new speed is below 10 m/s."""

    turn_rad: float = 0.5
    step_m_s: float = 2.0
    slow_m_s: float = 10.0


class BallTurn:
    """2.2: ``ball.turn`` x {ground, air}: the ball's way over ground bends by more than ``turn_rad`` at one corner.

    The slowest speed looked at is where the noise of two velocities could feign the angle.
    """

    def __init__(self, sheet: MatchSheet, parameters: BendParameters | None = None) -> None:
        self.parameters = parameters or BendParameters()
        self._speed_min_m_s = max(1.0, delta_v_noise_m_s(sheet.quality) / self.parameters.turn_rad / 2.0)
        self._cos = math.cos(self.parameters.turn_rad)
        # A turn at the slowest speed looked at changes the velocity by at least so much.
        self._corners = Corners(sheet, self._speed_min_m_s * math.sin(self.parameters.turn_rad))
        self.spec = Spec(
            name="ball_turn",
            number="2.2",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.turn",),
            horizon_us=corner_horizon_us(sheet),
            parameters={
                **msgspec.structs.asdict(self.parameters),
                "speed_min_m_s": round(self._speed_min_m_s, 2),
            },
            source="StreamTeam (0.5 rad); databallpy",
            variants={"ball.turn": ("ground", "air")},
        )

    def initial(self) -> Trail:
        """No ball yet."""
        return Trail()

    def step(self, state: Trail, event: Event) -> Step[Trail]:
        """Compares the shoulders of a corner."""
        trail, found = self._corners.look(state, event)
        if not found or not self._turned(trail.samples[0].payload, event.payload):  # type: ignore[arg-type]
            return trail, NOTHING
        corner = trail.samples[1].payload
        assert isinstance(corner, BallState)
        variant = "ground" if corner.z_m < GROUND_M else "air"
        return _report("ball.turn", variant, trail, _change(trail.samples[0], event))

    def _turned(self, before: BallState, after: BallState) -> bool:
        """By the cosine of the angle, without a root unless both are fast enough."""
        b2 = before.vx_m_s * before.vx_m_s + before.vy_m_s * before.vy_m_s
        a2 = after.vx_m_s * after.vx_m_s + after.vy_m_s * after.vy_m_s
        least = self._speed_min_m_s * self._speed_min_m_s
        if b2 < least or a2 < least:
            return False
        dot = before.vx_m_s * after.vx_m_s + before.vy_m_s * after.vy_m_s
        return dot < self._cos * math.sqrt(a2 * b2)


class SpeedStep:
    """2.3: ``ball.speed_step`` x {up, down}: the speed over ground changes at one corner, the new one being low."""

    def __init__(self, sheet: MatchSheet, parameters: BendParameters | None = None) -> None:
        self.parameters = parameters or BendParameters()
        self._step_m_s = max(self.parameters.step_m_s, delta_v_noise_m_s(sheet.quality))
        # Half of the step may happen on either side of the corner's middle.
        self._corners = Corners(sheet, self._step_m_s / 2.0)
        self.spec = Spec(
            name="ball_speed_step",
            number="2.3",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.speed_step",),
            horizon_us=corner_horizon_us(sheet),
            parameters={**msgspec.structs.asdict(self.parameters), "step_floor_m_s": round(self._step_m_s, 2)},
            source="StreamTeam (2 m/s below 10 m/s); databallpy (5 m/s)",
            variants={"ball.speed_step": ("up", "down")},
        )

    def initial(self) -> Trail:
        """No ball yet."""
        return Trail()

    def step(self, state: Trail, event: Event) -> Step[Trail]:
        """Compares the shoulders of a corner."""
        trail, found = self._corners.look(state, event)
        if not found:
            return trail, NOTHING
        before, after = _speed(trail.samples[0]), _speed(event)
        if abs(after - before) <= self._step_m_s or after >= self.parameters.slow_m_s:
            return trail, NOTHING
        return _report("ball.speed_step", "up" if after > before else "down", trail, _change(trail.samples[0], event))


def corner_horizon_us(sheet: MatchSheet) -> int:
    """A corner is known ``fit`` states later; one more, so that a lost sample does not lose the contact."""
    sampling = ball_sampling(sheet.quality)
    return (sampling.fit + 1) * sampling.period_us


def _report(kind: str, variant: str, trail: Trail, net_m_s: float) -> Step[Trail]:
    """The corner as an event, and the trail that remembers it."""
    before, corner, after = trail.samples[0], trail.samples[1], trail.samples[-1]
    found = _corner_event(kind, variant, before, corner, after, net_m_s)
    return Trail(trail.samples, trail.change, corner.ts_us), (found,)


def _change(before: Event, after: Event) -> float:
    """Change of velocity between two states, m/s."""
    b, a = before.payload, after.payload
    dx = a.vx_m_s - b.vx_m_s  # type: ignore[attr-defined]
    dy = a.vy_m_s - b.vy_m_s  # type: ignore[attr-defined]
    dz = a.vz_m_s - b.vz_m_s  # type: ignore[attr-defined]
    return math.sqrt(dx * dx + dy * dy + dz * dz)


def _speed(event: Event) -> float:
    ball = event.payload
    assert isinstance(ball, BallState)
    return math.hypot(ball.vx_m_s, ball.vy_m_s)


def _is_bounce(before: BallState, corner: BallState, after: BallState, horizontal_m_s: float) -> bool:
    """The ball falls, is at the ground, and rises: nobody is needed for that unless its way over ground changes too."""
    up_m_s = after.vz_m_s - before.vz_m_s
    falls = before.vz_m_s < -1.0 and after.vz_m_s > before.vz_m_s / 2.0
    return falls and corner.z_m < GROUND_M + 0.2 and horizontal_m_s < 0.5 * up_m_s


def _corner_event(kind: str, variant: str, before: Event, corner: Event, after: Event, net_m_s: float) -> Event:
    at, out = corner.payload, after.payload
    assert isinstance(at, BallState)
    into = before.payload
    assert isinstance(out, BallState)
    assert isinstance(into, BallState)
    dvx_m_s, dvy_m_s = out.vx_m_s - into.vx_m_s, out.vy_m_s - into.vy_m_s
    horizontal_m_s = math.hypot(dvx_m_s, dvy_m_s)
    fact = Fact(
        variant=variant,
        x_m=at.x_m,
        y_m=at.y_m,
        z_m=at.z_m,
        detail={
            "delta_v_m_s": round(net_m_s, 2),
            "delta_vx_m_s": round(dvx_m_s, 2),
            "delta_vy_m_s": round(dvy_m_s, 2),
            "bounce": _is_bounce(into, at, out, horizontal_m_s),
            "speed_before_m_s": round(_speed(before), 2),
            "speed_after_m_s": round(_speed(after), 2),
            "vx_m_s": round(out.vx_m_s, 2),
            "vy_m_s": round(out.vy_m_s, 2),
            "vz_m_s": round(out.vz_m_s, 2),
        },
    )
    return fact_event(kind, corner.ts_us, f"{corner.source}:{corner.ts_us}", fact)
