"""7.11: miscontrol: a player's own touch puts the ball out of his reach, and an opponent gets it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import above, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import Scalar, location_m, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class MiscontrolParameters(msgspec.Struct, frozen=True):
    """Limits of a miscontrol.

    Attributes:
        away_m: the ball has gone farther than this when it is lost.
        within_us: greatest time from the gain to the loss.
    """

    away_m: Annotated[float, reason("Hierarchy 7.11.")] = 3.0
    within_us: Annotated[int, reason("Hierarchy 7.11.")] = 2_000_000


class MiscontrolState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest gain, until its player plays the ball away."""

    gain: Event | None = None


class Miscontrol:
    """7.11: ``miscontrol`` x team: a player gains the ball, plays it to nobody, and an opponent gains it.

    ``player`` and position are those of the first gain, the time is that of the loss. ``detail``: ``by``
    (the opponent), ``seconds`` (from gain to loss), ``away_m`` (distance between them).
    """

    def __init__(self, parameters: MiscontrolParameters | None = None) -> None:
        self.parameters = parameters or MiscontrolParameters()
        self.spec = Spec(
            name="miscontrol",
            number="7.11",
            level=7,
            inputs=("possession.gain", "pass.attempt", "shot.attempt", "play.dead"),
            outputs=("miscontrol",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="SPADL (bad touch); numbers ours",
            team_variants={"miscontrol": ("",)},
            details={"miscontrol": ("by", "seconds", "away_m")},
        )

    def initial(self) -> MiscontrolState:
        """Nobody has the ball."""
        return MiscontrolState()

    def step(self, state: MiscontrolState, event: Event) -> Step[MiscontrolState]:
        """Keep a gain while its player does nothing with the ball; the next gain decides."""
        if event.kind != "possession.gain":
            return MiscontrolState(), NOTHING
        after = MiscontrolState(event)
        if state.gain is None:
            return after, NOTHING
        lost, gain, p = payload_of(state.gain), payload_of(event), self.parameters
        (from_x, from_y), (x_m, y_m) = location_m(lost), location_m(gain)
        away_m, lasted_us = math.hypot(x_m - from_x, y_m - from_y), event.ts_us - state.gain.ts_us
        if gain.team == lost.team or gain.variant == "restart":
            return after, NOTHING
        if not (
            at_most("time from the gain to the loss", lasted_us, p.within_us, "miscontrol.within_us")
            and above("distance of the loss", away_m, p.away_m, "miscontrol.away_m")
        ):
            return after, NOTHING
        detail: dict[str, Scalar] = {
            "by": gain.player,
            "seconds": round(lasted_us / 1e6, 3),
            "away_m": round(away_m, 2),
        }
        payload = msgspec.structs.replace(lost, variant="", detail=detail)
        causes = (state.gain.id, event.id)
        return after, (make_event("miscontrol", event.ts_us, state.gain.source, payload, causes=causes),)
