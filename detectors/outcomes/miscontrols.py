"""7.11: miscontrol: a player's own touch puts the ball out of his reach, and an opponent gets it.

Theory of operation
-------------------
A player controls a ball that he gains in play, unless an opponent has played it so shortly before that he could only
block it. His newest contact counts: the ball must then be lost within ``within_us``, farther than ``away_m`` from that
contact, and no faster than a touch sends it; what is faster was kicked. A kick that is a pass or shot is none.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import above, at_least, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, location_m, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class MiscontrolParameters(msgspec.Struct, frozen=True):
    """Limits of a miscontrol.

    Attributes:
        away_m: the ball has gone farther than this from the touch when it is lost.
        within_us: greatest time from the touch to the loss.
        block_us: a gain so soon after an opponent's contact is a block.
        most_m_s: greatest mean speed of the ball from the touch to the loss.
    """

    away_m: Annotated[float, reason("Hierarchy 7.11.")] = 3.0
    within_us: Annotated[int, reason("Hierarchy 7.11.")] = 2_000_000
    block_us: Annotated[int, reason("Ours: the time to react and to move a leg.")] = 300_000
    most_m_s: Annotated[float, reason("Ours: half of the mean speed of a pass (Spearman).")] = 7.5


class MiscontrolState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contact, and the newest one before it by another player; the gain of a player who has the ball
    under control, and his newest contact."""

    contact: Event | None = None
    other: Event | None = None
    gain: Event | None = None
    touch: Event | None = None


class Miscontrol:
    """7.11: ``miscontrol`` x team: a player's touch puts the ball that he controls out of his reach.

    An opponent gains it. ``player`` and position are those of the touch, the time is that of the loss. ``detail``:
    ``by`` (the opponent), ``seconds`` (from touch to loss), ``away_m`` (distance between them).
    """

    def __init__(self, parameters: MiscontrolParameters | None = None) -> None:
        self.parameters = parameters or MiscontrolParameters()
        self.spec = Spec(
            name="miscontrol",
            number="7.11",
            level=7,
            inputs=("hit", "touch", "possession.gain", "pass.attempt", "shot.attempt", "play.dead"),
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
        """Follow contacts and gains; the next gain decides."""
        payload = payload_of(event)
        if event.kind == "possession.gain":
            return self._gained(state, event, payload)
        if event.kind in ("hit", "touch"):
            before = state.contact
            other = state.other if before is None or payload_of(before).player == payload.player else before
            mine = state.gain is not None and payload_of(state.gain).player == payload.player
            return MiscontrolState(event, other, state.gain, event if mine else state.touch), NOTHING
        if event.kind == "play.dead":
            return MiscontrolState(), NOTHING
        return MiscontrolState(state.contact, state.other), NOTHING

    def _gained(self, state: MiscontrolState, event: Event, payload: EventPayload) -> Step[MiscontrolState]:
        lost = self._lost(state, event, payload)
        after = MiscontrolState(state.contact, state.other)
        if payload.variant == "restart":
            return after, lost
        other, contact = state.other, state.contact
        if other is not None and payload_of(other).team != payload.team:
            what, since_us = "time since the opponent's contact", event.ts_us - other.ts_us
            if not at_least(what, since_us, self.parameters.block_us, "miscontrol.block_us"):
                return after, lost
        own = contact is not None and payload_of(contact).player == payload.player
        return MiscontrolState(contact, other, event, contact if own else event), lost

    def _lost(self, state: MiscontrolState, event: Event, by: EventPayload) -> tuple[Event, ...]:
        gain, touch, p = state.gain, state.touch, self.parameters
        if gain is None or touch is None or by.variant == "restart" or by.team == payload_of(gain).team:
            return NOTHING
        touched = payload_of(touch)
        (from_x, from_y), (x_m, y_m) = location_m(touched), location_m(by)
        away_m, lasted_us = math.hypot(x_m - from_x, y_m - from_y), event.ts_us - touch.ts_us
        if not (
            at_most("time from the touch to the loss", lasted_us, p.within_us, "miscontrol.within_us")
            and above("distance of the loss", away_m, p.away_m, "miscontrol.away_m")
            and at_most("mean speed of the ball", 1e6 * away_m / max(lasted_us, 1), p.most_m_s, "miscontrol.most_m_s")
        ):
            return NOTHING
        detail: dict[str, Scalar] = {
            "by": by.player,
            "seconds": round(lasted_us / 1e6, 3),
            "away_m": round(away_m, 2),
        }
        lost = msgspec.structs.replace(touched, variant="", team=payload_of(gain).team, detail=detail)
        return (make_event("miscontrol", event.ts_us, gain.source, lost, causes=(gain.id, event.id)),)
