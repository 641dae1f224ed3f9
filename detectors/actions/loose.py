"""6.11: loose balls."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import EventPayload, frame_of, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class LooseParameters(msgspec.Struct, frozen=True):
    """Limits of a loose ball.

    Attributes:
        alone_us: no player is in the possession zone of the ball for this long.
        slow_m_s: the ball is slower than this.
    """

    alone_us: Annotated[int, reason("Hierarchy 6.11, ours.")] = 500_000
    slow_m_s: Annotated[float, reason("Hierarchy 6.11, ours: a faster ball is on its way to a player.")] = 8.0


class LooseState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        near: players in the possession zone.
        dead: True if play is dead.
        since_us: time since which the ball is slow and alone; -1 if it is not.
        reported: True if it was published since the last contact.
        touched_us: time of the last contact in this play; -1 without one.
    """

    near: tuple[str, ...] = ()
    dead: bool = False
    since_us: int = -1
    reported: bool = False
    touched_us: int = -1


class LooseBall:
    """6.11: ``ball.loose``: in play, slow, without a player in its possession zone for half a second.

    Published once until the ball is played, and shown at the contact since which nobody has had it. ``detail``:
    ``since_us`` (event time since which it is slow and alone).
    """

    def __init__(self, parameters: LooseParameters | None = None) -> None:
        self.parameters = parameters or LooseParameters()
        self._slow2 = self.parameters.slow_m_s**2
        self.spec = Spec(
            name="loose_ball",
            number="6.11",
            level=6,
            inputs=("frame", "pz.leave", "pz.enter", "hit", "touch", "phase.dead", "phase.live"),
            outputs=("ball.loose",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            amends=("ball.loose",),
            known={"ball.loose": Known("when it has been alone for half a second")},
            details={"ball.loose": ("since_us",)},
        )

    def initial(self) -> LooseState:
        """No player near; play counts as live, as in 5.10."""
        return LooseState()

    def step(self, state: LooseState, event: Event) -> Step[LooseState]:
        """Follow a ball without a player near."""
        if event.kind == "frame":
            return (state, NOTHING) if state.near or state.dead or state.reported else self._follow(state, event)
        payload = payload_of(event)
        if event.kind == "pz.enter":
            near = (*state.near, payload.player)
            return LooseState(near, state.dead, -1, state.reported, state.touched_us), NOTHING
        if event.kind == "pz.leave":
            near = tuple(p for p in state.near if p != payload.player)
            return LooseState(near, state.dead, -1, state.reported, state.touched_us), NOTHING
        if event.kind in ("hit", "touch"):
            return LooseState(state.near, state.dead, touched_us=event.ts_us), NOTHING
        return LooseState(state.near, event.kind == "phase.dead"), NOTHING

    def _follow(self, state: LooseState, event: Event) -> Step[LooseState]:
        frame = frame_of(event)
        ball = frame.ball
        if ball is None or ball.vx_m_s**2 + ball.vy_m_s**2 + ball.vz_m_s**2 >= self._slow2:
            return (state if state.since_us < 0 else LooseState(touched_us=state.touched_us)), NOTHING
        if state.since_us < 0:
            return LooseState(since_us=event.ts_us, touched_us=state.touched_us), NOTHING
        alone_us, least_us = event.ts_us - state.since_us, self.parameters.alone_us
        if not at_least("time without a player near", alone_us, least_us, "loose_ball.alone_us"):
            return state, NOTHING
        speed_m_s = math.hypot(ball.vx_m_s, ball.vy_m_s, ball.vz_m_s)
        note("speed of the ball", speed_m_s, "at most", self.parameters.slow_m_s, "loose_ball.slow_m_s")
        payload = EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"since_us": state.since_us})
        began_us = state.touched_us if state.touched_us >= 0 else state.since_us
        loose = make_event("ball.loose", event.ts_us, f"ball:{state.since_us}", payload, dated_us=began_us)
        return LooseState(since_us=state.since_us, reported=True, touched_us=state.touched_us), (loose,)
