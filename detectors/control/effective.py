"""10.13: effective time: the time that the ball was in play, and the time lost, by cause.

At each stop the time since the last restart counts as live. At each restart the time since the stop counts as lost,
with the restart as its cause; an injury, a substitution or a review in between replaces that cause, except after a
goal. A dropped ball follows an injury, as nothing else is known of it. Before the first kick-off and between periods no
time is lost.
"""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.payloads import EventPayload, Scalar, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Cause of lost time by the restart that ends it.
BY_RESTART = {
    "restart.throw_in": "throw-in",
    "restart.goal_kick": "goal kick",
    "restart.corner": "corner",
    "restart.free_kick": "free kick",
    "restart.penalty": "free kick",
    "restart.kick_off": "goal",
    "restart.dropped": "injury",
}
#: Causes of the officials' stops that replace the restart.
_BY_STOP = {"injury": "injury", "substitution": "sub", "var": "VAR"}
CAUSES = (*dict.fromkeys(BY_RESTART.values()), "sub", "VAR")


class EffectiveState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        live_since_us: time since which the ball is in play; -1: it is not, or the time is unknown.
        dead_since_us: time since which it was dead, until a restart says what for; -1: unknown, or counted.
        cause: cause that replaces the restart.
        live_us: live time so far.
        lost_us: lost time so far.
    """

    live_since_us: int = -1
    dead_since_us: int = -1
    cause: str = ""
    live_us: int = 0
    lost_us: int = 0


class EffectiveTime:
    """10.13: ``time.live`` at each stop and ``time.lost`` x {throw-in, goal kick, corner, free kick, goal, injury, sub,
    VAR} at each restart.

    ``detail``: ``seconds`` (of this stretch), ``total_s`` (of all so far); of ``time.live`` ``since_us`` (event time of
    the stop).
    """

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
            details={"time.live": ("seconds", "total_s", "since_us"), "time.lost": ("seconds", "total_s")},
        )  # fmt: skip

    def initial(self) -> EffectiveState:
        """Nothing known."""
        return EffectiveState()

    def step(self, state: EffectiveState, event: Event) -> Step[EffectiveState]:
        """Sum up at stops and restarts."""
        payload = payload_of(event)
        if event.kind in BY_RESTART:
            return self._restart(state, event)
        if event.kind == "play.dead":
            return self._stop(state, event, payload)
        if event.kind == "play.live":
            # A restart is dated at its kick and comes before this, or with it. Without one play just went on.
            live_since_us = state.live_since_us if state.live_since_us >= 0 else time_us(payload, "kick_us")
            return msgspec.structs.replace(state, live_since_us=live_since_us), NOTHING
        if event.kind.startswith("period."):
            if event.kind == "period.end" and state.live_since_us < 0 and not event.annuls:
                return EffectiveState(live_us=state.live_us, lost_us=state.lost_us), NOTHING
            return state, NOTHING
        cause = "sub" if event.kind in ("sub.in", "official.substitution") else "VAR"
        if event.kind == "official.stop":
            cause = _BY_STOP.get(payload.variant, "")
        if state.live_since_us >= 0 and event.kind != "official.stop":
            return state, NOTHING
        return (msgspec.structs.replace(state, cause=cause) if cause else state), NOTHING

    def _stop(self, state: EffectiveState, event: Event, payload: EventPayload) -> Step[EffectiveState]:
        since_us = time_us(payload, "since_us")
        if state.live_since_us < 0:
            return EffectiveState(-1, since_us, state.cause, state.live_us, state.lost_us), NOTHING
        cause = state.cause if state.dead_since_us < 0 else ""  # else of a stop that no restart ended
        live_us = max(0, since_us - state.live_since_us)
        total_us = state.live_us + live_us
        stretch = _stretch("time.live", event, "", live_us, total_us, since_us=since_us)
        return EffectiveState(-1, since_us, cause, total_us, state.lost_us), (stretch,)

    def _restart(self, state: EffectiveState, event: Event) -> Step[EffectiveState]:
        """Count lost time."""
        alive = EffectiveState(event.ts_us, -1, "", state.live_us, state.lost_us)
        cause = BY_RESTART[event.kind]
        first = cause == "goal" and not state.live_us
        if first or state.dead_since_us < 0:
            return alive, NOTHING
        if cause != "goal":
            cause = state.cause or cause
        lost_us = max(0, event.ts_us - state.dead_since_us)
        total_us = state.lost_us + lost_us
        stretch = _stretch("time.lost", event, cause, lost_us, total_us)
        return msgspec.structs.replace(alive, lost_us=total_us), (stretch,)


def _stretch(kind: str, event: Event, variant: str, this_us: int, total_us: int, **more: int) -> Event:
    detail: dict[str, Scalar] = {"seconds": round(this_us / 1e6, 3), "total_s": round(total_us / 1e6, 3), **more}
    return make_event(kind, event.ts_us, event.source, EventPayload(variant, detail=detail), causes=(event.id,))
