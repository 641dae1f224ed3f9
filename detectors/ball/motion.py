"""2.4: the ball has come to rest, or moves again.

Rest is a history, not an instant: slow for long enough. StreamTeam's two speeds form the deadband. Between them a ball
that is rolled slowly away from where it rested would stay "at rest" across the pitch. So it also moves as soon as it
has left its position.

A velocity errs: by 0.5 m/s in each direction where radio at 200 Hz gives positions to 2 cm. No ball would be slow at
every instant of 1.8 s. So the bound is raised by what the noise of the input can feign. A ball that only the raised
bound lets through is judged by its path since: that may not be longer than at the plain bound.
"""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.decisions import above, at_least, is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.sampling import NOISE_SIGMAS, ball_sampling
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class MotionParameters(msgspec.Struct, frozen=True):
    """Thresholds of rest.

    Attributes:
        static_speed_m_s: greatest speed of a ball at rest.
        static_us: how long it must be that slow.
        moving_speed_m_s: least speed of a moving ball.
        leave_m: distance from where it rested at which it has moved, however slowly.
    """

    static_speed_m_s: Annotated[float, reason("StreamTeam")] = 1.0
    static_us: Annotated[int, reason("StreamTeam: 45 samples at 25 Hz")] = 1_800_000
    moving_speed_m_s: Annotated[float, reason("StreamTeam")] = 4.0
    leave_m: Annotated[float, reason("StreamTeam's radius of a spot")] = 2.0


class MotionState(msgspec.Struct, frozen=True, gc=False):
    """Start of the ball's slowness (-1: it is not slow), position then, and whether rest was reported."""

    slow_since_us: int = -1
    static: bool = False
    x_m: float = 0.0
    y_m: float = 0.0


class BallMotion:
    """2.4: ``ball.static`` and ``ball.moving``; ``detail.since_us`` is when the rest began."""

    def __init__(self, sheet: MatchSheet, parameters: MotionParameters | None = None) -> None:
        self.parameters = p = parameters or MotionParameters()
        sampling = ball_sampling(sheet.quality)
        # The greatest error of a speed in space: three directions err.
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
            details=dict.fromkeys(("ball.static", "ball.moving"), ("since_us",)),
        )

    def initial(self) -> MotionState:
        """Neither slow nor at rest, as far as known."""
        return MotionState()

    def step(self, state: MotionState, event: Event) -> Step[MotionState]:
        """Follow how long the ball has been slow."""
        ball = cast(BallState, event.payload)
        speed2 = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s + ball.vz_m_s * ball.vz_m_s
        slow = speed2 <= self._slow_m_s * self._slow_m_s
        if state.static:
            return self._rests(state, event, ball, speed2, slow)
        if not slow:
            return (state if state.slow_since_us < 0 else MotionState()), NOTHING
        waited_us = event.ts_us - state.slow_since_us
        if state.slow_since_us < 0 or self._moved_on(state, ball, waited_us):
            return MotionState(event.ts_us, False, ball.x_m, ball.y_m), NOTHING
        p = self.parameters
        if not at_least("time that it rests", waited_us, p.static_us, "ball_motion.static_us"):
            return state, NOTHING
        if is_recording():
            path = "ball_motion.static_speed_m_s"
            note("speed of the ball", math.sqrt(speed2), "at most", self._slow_m_s, path)
        payload = _payload_of(ball, state.slow_since_us)
        static = make_event("ball.static", event.ts_us, f"{event.source}:{state.slow_since_us}", payload)
        return MotionState(state.slow_since_us, True, ball.x_m, ball.y_m), (static,)

    def _moved_on(self, state: MotionState, ball: BallState, waited_us: int) -> bool:
        """True if its path since is longer than at the greatest speed of a ball at rest."""
        away_m = math.hypot(ball.x_m - state.x_m, ball.y_m - state.y_m)
        return away_m > self.parameters.static_speed_m_s * waited_us * 1e-6 + self._err_m

    def _rests(self, state: MotionState, event: Event, ball: BallState, speed2: float, slow: bool) -> Step[MotionState]:
        p, away_m = self.parameters, math.hypot(ball.x_m - state.x_m, ball.y_m - state.y_m)
        if speed2 >= p.moving_speed_m_s**2:
            note("speed of the ball", math.sqrt(speed2), "at least", p.moving_speed_m_s, "ball_motion.moving_speed_m_s")
        elif not above("the ball from where it lay", away_m, p.leave_m, "ball_motion.leave_m"):
            return state, NOTHING
        payload = _payload_of(ball, state.slow_since_us)
        moving = make_event("ball.moving", event.ts_us, f"{event.source}:{event.ts_us}", payload)
        return MotionState(event.ts_us if slow else -1, False, ball.x_m, ball.y_m), (moving,)


def _payload_of(ball: BallState, since_us: int) -> EventPayload:
    return EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"since_us": since_us})
