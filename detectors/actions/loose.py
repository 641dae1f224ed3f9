"""6.11: the ball is nobody's."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.payloads import EventPayload, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class LooseParameters(msgspec.Struct, frozen=True):
    """``alone_us``: nobody in the possession zone (4.2) for so long. ``slow_m_s``: a faster ball is on its way to
    somebody. Both are the hierarchy's (6.11, ours)."""

    alone_us: int = 500_000
    slow_m_s: float = 8.0


class LooseState(msgspec.Struct, frozen=True, gc=False):
    """Who is in the possession zone; whether play is dead; since when the ball is slow and alone (-1: it is not);
    whether that was told since the last contact."""

    near: tuple[str, ...] = ()
    dead: bool = False
    since_us: int = -1
    told: bool = False


class LooseBall:
    """6.11: ``ball.loose``: in play, slow, nobody in its possession zone for half a second. Once until it is played."""

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
        )

    def initial(self) -> LooseState:
        """Nobody near; play is taken as live, as 5.10 does."""
        return LooseState()

    def step(self, state: LooseState, event: Event) -> Step[LooseState]:
        """Only frames of a ball that nobody is near to are looked at."""
        if event.kind == "frame":
            return (state, NOTHING) if state.near or state.dead or state.told else self._look(state, event)
        payload = published(event)
        if event.kind == "pz.enter":
            return LooseState((*state.near, payload.player), state.dead, -1, state.told), NOTHING
        if event.kind == "pz.leave":
            return LooseState(tuple(p for p in state.near if p != payload.player), state.dead, -1, state.told), NOTHING
        if event.kind in ("hit", "touch"):
            return LooseState(state.near, state.dead), NOTHING
        return LooseState(state.near, event.kind == "phase.dead"), NOTHING

    def _look(self, state: LooseState, event: Event) -> Step[LooseState]:
        frame = frame_of(event)
        ball = frame.ball
        if ball is None or ball.vx_m_s**2 + ball.vy_m_s**2 + ball.vz_m_s**2 >= self._slow2:
            return (state if state.since_us < 0 else LooseState()), NOTHING
        if state.since_us < 0:
            return LooseState(since_us=event.ts_us), NOTHING
        if event.ts_us - state.since_us < self.parameters.alone_us:
            return state, NOTHING
        payload = EventPayload(x_m=ball.x_m, y_m=ball.y_m, z_m=ball.z_m, detail={"since_us": state.since_us})
        loose = make_event("ball.loose", event.ts_us, f"ball:{state.since_us}", payload)
        return LooseState(since_us=state.since_us, told=True), (loose,)
