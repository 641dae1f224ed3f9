"""7.11: miscontrol: a player's own touch puts the ball out of his reach, and an opponent gets it.

Theory of operation
-------------------
A player controls a ball that he gains in play, unless he only deflects it (5.7), or an opponent has played it so
shortly before that he could only block it. His newest contact counts: the ball must then be lost within
``within_us``, farther than ``away_m`` from that contact, and no faster than a touch sends it; what is faster was
kicked. A kick that is a pass or shot is none. Who is tackled, or sends the ball away with his own tackle, has not
miscontrolled it: a duel on the ground (6.8) between touch and loss takes the miscontrol back, if it becomes known
later.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import above, at_least, at_most
from detectors.emission import make_event, shown_us, withdrawal
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, location_m, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

_CONTACTS = ("hit", "touch")
_KICKS = ("pass.attempt", "shot.attempt")


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
    """State: who has the ball under control, and how it was lost.

    Attributes:
        contact: the newest contact.
        other: the newest one before it by another player.
        gain: the gain of a player who has the ball under control.
        touch: his newest contact.
        deflection: the newest deflection.
        duel: the newest duel on the ground.
        lost: the newest miscontrol.
    """

    contact: Event | None = None
    other: Event | None = None
    gain: Event | None = None
    touch: Event | None = None
    deflection: Event | None = None
    duel: Event | None = None
    lost: Event | None = None


class Miscontrol:
    """7.11: ``miscontrol`` x team: a player's touch puts the ball that he controls out of his reach.

    An opponent gains it. ``player``, position and time are those of the touch. ``detail``: ``by`` (the opponent),
    ``seconds`` (from touch to loss), ``away_m`` (distance between them).
    """

    def __init__(self, parameters: MiscontrolParameters | None = None) -> None:
        self.parameters = parameters or MiscontrolParameters()
        self.spec = Spec(
            name="miscontrol",
            number="7.11",
            level=7,
            inputs=(*_CONTACTS, "deflection", "possession.gain", *_KICKS, "duel.end", "play.dead"),
            outputs=("miscontrol",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="SPADL (bad touch); Opta (unsuccessful touch, dispossessed); numbers ours",
            team_variants={"miscontrol": ("",)},
            amends=("miscontrol",),
            known={"miscontrol": Known("at the loss", "when the loss turns out to be a tackle")},
            details={"miscontrol": ("by", "seconds", "away_m")},
        )

    def initial(self) -> MiscontrolState:
        """Nobody has the ball."""
        return MiscontrolState()

    def step(self, state: MiscontrolState, event: Event) -> Step[MiscontrolState]:
        """Follow contacts and gains; the next gain decides."""
        payload, replace = payload_of(event), msgspec.structs.replace
        if event.kind == "possession.gain":
            return self._gained(state, event, payload)
        if event.kind in _CONTACTS:
            before = state.contact
            other = state.other if before is None or payload_of(before).player == payload.player else before
            mine = state.gain is not None and payload_of(state.gain).player == payload.player
            touch = event if mine else state.touch
            return replace(state, contact=event, other=other, touch=touch), NOTHING
        if event.kind == "duel.end":
            return self._contested(state, event) if payload.variant == "ground" else (state, NOTHING)
        if event.kind == "play.dead":
            return MiscontrolState(lost=state.lost), NOTHING
        if event.kind == "deflection":
            if event.annuls:
                return state, NOTHING
            mine = state.touch is not None and _is_same(state.touch, event)
            state = replace(state, gain=None, touch=None) if mine else state
            return replace(state, deflection=event), NOTHING
        return replace(state, gain=None, touch=None), NOTHING

    def _contested(self, state: MiscontrolState, duel: Event) -> Step[MiscontrolState]:
        """Remember a duel on the ground; it takes back the miscontrol that it decided."""
        lost = state.lost
        if lost is None or not _decides(duel, payload_of(lost).player, shown_us(lost), lost.ts_us):
            return msgspec.structs.replace(state, duel=duel), NOTHING
        return msgspec.structs.replace(state, duel=duel, lost=None), (withdrawal(lost, duel.ts_us),)

    def _gained(self, state: MiscontrolState, event: Event, payload: EventPayload) -> Step[MiscontrolState]:
        lost = self._lost(state, event, payload)
        after = msgspec.structs.replace(state, gain=None, touch=None, lost=lost[0] if lost else state.lost)
        if payload.variant == "restart" or (state.deflection is not None and _is_same(state.deflection, event)):
            return after, lost
        other, contact = state.other, state.contact
        if other is not None and payload_of(other).team != payload.team:
            what, since_us = "time since the opponent's contact", event.ts_us - other.ts_us
            if not at_least(what, since_us, self.parameters.block_us, "miscontrol.block_us"):
                return after, lost
        own = contact is not None and payload_of(contact).player == payload.player
        return msgspec.structs.replace(after, gain=event, touch=contact if own else event), lost

    def _lost(self, state: MiscontrolState, event: Event, by: EventPayload) -> tuple[Event, ...]:
        gain, touch, p = state.gain, state.touch, self.parameters
        if gain is None or touch is None or by.variant == "restart" or by.team == payload_of(gain).team:
            return NOTHING
        touched = payload_of(touch)
        if state.duel is not None and _decides(state.duel, touched.player, touch.ts_us, event.ts_us):
            return NOTHING
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
        causes = (gain.id, event.id)
        return (make_event("miscontrol", event.ts_us, gain.source, lost, causes=causes, dated_us=touch.ts_us),)


def _is_same(contact: Event, event: Event) -> bool:
    """True if both are of one contact."""
    return contact.ts_us == event.ts_us and payload_of(contact).player == payload_of(event).player


def _decides(duel: Event, player: str, touch_us: int, lost_us: int) -> bool:
    """True if a duel of the player was decided between his touch and the loss."""
    made = payload_of(duel)
    return player in (made.player, made.detail["other"]) and touch_us <= shown_us(duel) <= lost_us
