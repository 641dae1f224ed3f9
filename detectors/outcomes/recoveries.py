"""7.10: recoveries: a loose ball becomes the other team's."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from football.payloads import EventPayload, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class RecoveryState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest gain in play, and the ball that has been loose since."""

    gain: Event | None = None
    loose: Event | None = None


class Recovery:
    """7.10: ``recovery``: the first player to gain a loose ball is of the other team than its last holder.

    If the last holder fetches it himself, it is not loose any more, and there is no recovery. ``detail``: ``from`` (the
    last holder), ``loose_us`` (event time of the loose ball).
    """

    def __init__(self) -> None:
        self.spec = Spec(
            name="recovery",
            number="7.10",
            level=7,
            inputs=("hit", "touch", "possession.gain", "ball.loose", "play.dead"),
            outputs=("recovery",),
            source="Opta; kloppy RECOVERY",
            team_variants={"recovery": ("",)},
            details={"recovery": ("from", "loose_us")},
        )

    def initial(self) -> RecoveryState:
        """No gain."""
        return RecoveryState()

    def step(self, state: RecoveryState, event: Event) -> Step[RecoveryState]:
        """Follow a loose ball, then the first contact with it."""
        if event.kind == "ball.loose":
            return RecoveryState(state.gain, event), NOTHING
        if event.kind == "play.dead":
            return RecoveryState(), NOTHING
        payload, gain = payload_of(event), state.gain
        held = gain.payload if gain is not None else None
        if event.kind != "possession.gain":
            again = isinstance(held, EventPayload) and held.player == payload.player
            return (RecoveryState(gain) if again and state.loose is not None else state), NOTHING
        after = RecoveryState(event)
        if state.loose is None or gain is None or not isinstance(held, EventPayload) or held.team == payload.team:
            return after, NOTHING
        won = msgspec.structs.replace(payload, variant="", detail={"from": held.player, "loose_us": state.loose.ts_us})
        causes = (state.loose.id, gain.id, event.id)
        return after, (make_event("recovery", event.ts_us, event.source, won, causes=causes),)
