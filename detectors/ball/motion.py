"""2.4: the ball has come to rest, or moves again.

Rest is a history, not an instant: slow for long enough. StreamTeam's two speeds form the deadband. Between
them a ball that is rolled slowly away from where it rested would stay "at rest" across the pitch, so it also
moves as soon as it has left its place.

A velocity errs, by 0.5 m/s in each direction where radio at 200 Hz gives places to 2 cm: no ball would be slow at
every instant of 1.8 s. So as much is allowed over the bound as the noise of the input feigns, and what a single
velocity then lets through is judged by the way made since: it may not be longer than at the bound.
"""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from detectors.signals.sampling import NOISE_SIGMAS, ball_sampling
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class MotionParameters(msgspec.Struct, frozen=True):
    """Thresholds of rest; the first three are StreamTeam's (45 samples at 25 Hz = 1.8 s).

    Attributes:
        static_speed_m_s: at most this fast throughout.
        static_us: for this long.
        moving_speed_m_s: at least this fast is moving.
        leave_m: so far from where it rested it has moved, however slowly (StreamTeam's spot radius).
    """

    static_speed_m_s: float = 1.0
    static_us: int = 1_800_000
    moving_speed_m_s: float = 4.0
    leave_m: float = 2.0


class MotionState(msgspec.Struct, frozen=True, gc=False):
    """Since when the ball is slow (-1: it is not) and from where; whether rest was reported."""

    slow_since_us: int = -1
    static: bool = False
    x_m: float = 0.0
    y_m: float = 0.0


class BallMotion:
    """2.4: ``ball.static`` and ``ball.moving``; ``detail.since_us`` is when the rest began."""

    def __init__(self, sheet: MatchSheet, parameters: MotionParameters | None = None) -> None:
        self.parameters = p = parameters or MotionParameters()
        sampling = ball_sampling(sheet.quality)
        # A speed in space is so much too great at most: three directions err.
        self._slow_m_s = p.static_speed_m_s + NOISE_SIGMAS * sampling.velocity_noise_m_s
        self._err_m = NOISE_SIGMAS * sampling.jitter_m
        self.spec = Spec(
            name="ball_motion",
            number="2.4",
            level=2,
            inputs=("ball.state",),
            outputs=("ball.static", "ball.moving"),
            parameters={**msgspec.structs.asdict(p), "slow_floor_m_s": round(self._slow_m_s, 2)},
            source="StreamTeam set-play detection",
        )

    def initial(self) -> MotionState:
        """Neither slow nor at rest, as far as known."""
        return MotionState()

    def step(self, state: MotionState, event: Event) -> Step[MotionState]:
        """Counts how long the ball has been slow."""
        ball = event.payload
        assert isinstance(ball, BallState)
        speed2 = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s + ball.vz_m_s * ball.vz_m_s
        slow = speed2 <= self._slow_m_s * self._slow_m_s
        if state.static:
            return self._rests(state, event, ball, speed2, slow)
        if not slow:
            return (state if state.slow_since_us < 0 else MotionState()), NOTHING
        waited_us = event.ts_us - state.slow_since_us
        if state.slow_since_us < 0 or self._has_gone(state, ball, waited_us):
            return MotionState(event.ts_us, False, ball.x_m, ball.y_m), NOTHING
        if waited_us < self.parameters.static_us:
            return state, NOTHING
        payload = _fact(ball, state.slow_since_us)
        static = make_event("ball.static", event.ts_us, f"{event.source}:{state.slow_since_us}", payload)
        return MotionState(state.slow_since_us, True, ball.x_m, ball.y_m), (static,)

    def _has_gone(self, state: MotionState, ball: BallState, waited_us: int) -> bool:
        """Whether the way made since is longer than at the greatest speed of a ball at rest."""
        away_m = math.hypot(ball.x_m - state.x_m, ball.y_m - state.y_m)
        return away_m > self.parameters.static_speed_m_s * waited_us * 1e-6 + self._err_m

    def _rests(self, state: MotionState, event: Event, ball: BallState, speed2: float, slow: bool) -> Step[MotionState]:
        away_m = math.hypot(ball.x_m - state.x_m, ball.y_m - state.y_m)
        if speed2 < self.parameters.moving_speed_m_s**2 and away_m <= self.parameters.leave_m:
            return state, NOTHING
        payload = _fact(ball, state.slow_since_us)
        moving = make_event("ball.moving", event.ts_us, f"{event.source}:{event.ts_us}", payload)
        return MotionState(event.ts_us if slow else -1, False, ball.x_m, ball.y_m), (moving,)


def _fact(ball: BallState, since_us: int) -> EventPayload:
    return EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"since_us": since_us})
