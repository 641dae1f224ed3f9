"""10.13: effective time: how long the ball was in play, and what the rest was lost for.

At each stop the time since the last restart counts as live, at each restart the time since the stop as lost, for what
play was taken up again with; but for an injury, a substitution or a review if one was told meanwhile. A goal is a goal
whatever else happened. Before the first kick-off and between periods nothing is lost.
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.payloads import EventPayload, Scalar, published, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: What time is lost for, by the restart that ends it.
BY_RESTART = {
    "restart.throw_in": "throw-in",
    "restart.goal_kick": "goal kick",
    "restart.corner": "corner",
    "restart.free_kick": "free kick",
    "restart.penalty": "free kick",
    "restart.kick_off": "goal",
}
#: What officials stop play for that outweighs the restart.
_BY_STOP = {"injury": "injury", "substitution": "sub", "var": "VAR"}
CAUSES = (*dict.fromkeys(BY_RESTART.values()), "injury", "sub", "VAR")


class EffectiveState(msgspec.Struct, frozen=True, gc=False):
    """Since when the ball is live or dead (-1: unknown), what was told meanwhile, and the sums so far."""

    live: bool = True
    since_us: int = -1
    cause: str = ""
    live_us: int = 0
    lost_us: int = 0


class EffectiveTime:
    """10.13: ``time.live`` at each stop and ``time.lost`` x {throw-in, goal kick, corner, free kick, goal, injury, sub,
    VAR} at each restart; ``detail.seconds`` of this stretch, ``detail.total_s`` of all."""

    def __init__(self) -> None:
        self.spec = Spec(
            name="effective_time",
            number="10.13",
            level=10,
            inputs=(
                "play.dead", "play.live", "official.stop", "official.var", "official.substitution", "sub.in",
                "period.end", "period.start", *BY_RESTART,
            ),
            outputs=("time.live", "time.lost"),
            source="ours; UEFA and CIES practice",
            variants={"time.lost": CAUSES},
        )  # fmt: skip

    def initial(self) -> EffectiveState:
        """Nothing known."""
        return EffectiveState()

    def step(self, state: EffectiveState, event: Event) -> Step[EffectiveState]:
        """Sums up at stops and restarts."""
        payload = published(event)
        if event.kind in BY_RESTART:
            return self._restart(state, event)
        if event.kind == "play.dead":
            return self._stop(state, event, payload)
        if event.kind == "play.live":
            # With a restart told, its time is known; without one play just went on.
            kick_us = time_us(payload, "kick_us")
            if state.live:
                return state, NOTHING
            return EffectiveState(True, kick_us, "", state.live_us, state.lost_us), NOTHING
        if event.kind.startswith("period."):
            if event.kind == "period.end" and not state.live and not event.annuls:
                return EffectiveState(False, -1, "", state.live_us, state.lost_us), NOTHING
            return state, NOTHING
        cause = "sub" if event.kind in ("sub.in", "official.substitution") else "VAR"
        if event.kind == "official.stop":
            cause = _BY_STOP.get(payload.variant, "")
        if state.live and event.kind != "official.stop":
            return state, NOTHING
        return (msgspec.structs.replace(state, cause=cause) if cause else state), NOTHING

    def _stop(self, state: EffectiveState, event: Event, payload: EventPayload) -> Step[EffectiveState]:
        since_us = time_us(payload, "since_us")
        dead = EffectiveState(False, since_us, state.cause, state.live_us, state.lost_us)
        if not state.live or state.since_us < 0:
            return dead, NOTHING
        live_us = max(0, since_us - state.since_us)
        total_us = state.live_us + live_us
        told = _told("time.live", event, "", live_us, total_us)
        return msgspec.structs.replace(dead, live_us=total_us), (told,)

    def _restart(self, state: EffectiveState, event: Event) -> Step[EffectiveState]:
        """The restart is dated at its kick, so it comes before play is known to be live."""
        alive = EffectiveState(True, event.ts_us, "", state.live_us, state.lost_us)
        if state.live or state.since_us < 0:
            return alive, NOTHING
        cause = BY_RESTART[event.kind]
        if cause != "goal":
            cause = state.cause or cause
        lost_us = max(0, event.ts_us - state.since_us)
        total_us = state.lost_us + lost_us
        told = _told("time.lost", event, cause, lost_us, total_us)
        return msgspec.structs.replace(alive, lost_us=total_us), (told,)


def _told(kind: str, event: Event, variant: str, this_us: int, total_us: int) -> Event:
    detail: dict[str, Scalar] = {"seconds": round(this_us / 1e6, 3), "total_s": round(total_us / 1e6, 3)}
    return make_event(kind, event.ts_us, event.source, EventPayload(variant, detail=detail), causes=(event.id,))
