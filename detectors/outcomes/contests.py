"""7.12, 7.13: take-ons and tackles: what a duel on the ground was."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least
from detectors.emission import make_event, shown_us
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class TakeOnParameters(msgspec.Struct, frozen=True):
    """Limits of a take-on that is lost.

    Attributes:
        moving_m_s: least speed of a carrier who takes an opponent on.
        ahead_m: the opponent is at least this far ahead on his way.
    """

    moving_m_s: Annotated[float, reason("As duel.moving_m_s (6.8).")] = 2.5
    ahead_m: Annotated[float, reason("Ours: not from beside or behind.")] = 0.0


class TakeOn:
    """7.12: ``takeon.won`` and ``takeon.lost``: the carrier passes an opponent, or runs at him and is tackled.

    A duel on the ground (6.8) that the carrier wins is a take-on won. One that the opponent wins is a take-on lost if
    the carrier ran towards him; else the carrier was only tackled. ``player`` is the carrier. ``detail``: ``other``
    (the opponent).
    """

    def __init__(self, parameters: TakeOnParameters | None = None) -> None:
        self.parameters = parameters or TakeOnParameters()
        kinds = ("takeon.won", "takeon.lost")
        self.spec = Spec(
            name="take_on",
            number="7.12",
            level=7,
            inputs=("duel.end",),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta (take-on); StatsBomb (dribble); SPADL take_on",
            team_variants=dict.fromkeys(kinds, ("",)),
            amends=kinds,
            known=dict.fromkeys(kinds, Known("with the duel")),
            details=dict.fromkeys(kinds, ("other",)),
        )

    def initial(self) -> None:
        """Nothing is remembered."""

    def step(self, state: None, event: Event) -> Step[None]:
        """Name a duel on the ground."""
        duel, p = payload_of(event), self.parameters
        carrier = str(duel.detail["carrier"])
        if duel.variant != "ground":
            return None, NOTHING
        if duel.player == carrier:
            return None, (_named("takeon.won", event, duel),)
        moving = at_least("speed of the carrier", number(duel, "speed_m_s"), p.moving_m_s, "take_on.moving_m_s")
        if not moving or not at_least("the opponent ahead", number(duel, "ahead_m"), p.ahead_m, "take_on.ahead_m"):
            return None, NOTHING
        detail: dict[str, Scalar] = {"other": duel.player}
        lost = msgspec.structs.replace(duel, team=opponents_of(duel.team), player=carrier, detail=detail)
        return None, (_named("takeon.lost", event, lost),)


class TackleParameters(msgspec.Struct, frozen=True):
    """Limits of a tackle that is lost.

    Attributes:
        within_us: a tackle is lost if the other team plays the ball next, within this time.
    """

    within_us: Annotated[int, reason("StreamTeam's maxTime of a pass.")] = 7_000_000


class TackleState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest contact, the tackle that may still be lost, and when play was last dead."""

    contact: Event | None = None
    tackle: Event | None = None
    dead_us: int = -(2**62)


class Tackle:
    """7.13: ``tackle.won`` and ``tackle.lost``: in a duel, the player without the ball plays it.

    Won if his team plays the ball next, or it goes out (Opta). If the other team plays it next, ``tackle.lost`` annuls
    the tackle that was won. A kicked ball is intercepted, not tackled; an attempt that misses the ball is no tackle.
    ``detail``: ``other`` (the player who had the ball).
    """

    def __init__(self, parameters: TackleParameters | None = None) -> None:
        self.parameters = parameters or TackleParameters()
        kinds = ("tackle.won", "tackle.lost")
        self.spec = Spec(
            name="tackle",
            number="7.13",
            level=7,
            inputs=("hit", "touch", "duel.end", "phase.dead"),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; SPADL tackle",
            team_variants=dict.fromkeys(kinds, ("",)),
            amends=kinds,
            known={"tackle.won": Known("with the duel"), "tackle.lost": Known("when the other team plays the ball")},
            annuls=("tackle.won",),
            details=dict.fromkeys(kinds, ("other",)),
        )

    def initial(self) -> TackleState:
        """No tackle."""
        return TackleState()

    def step(self, state: TackleState, event: Event) -> Step[TackleState]:
        """Name a duel on the ground; the next contact may lose it."""
        if event.kind == "phase.dead":
            return TackleState(dead_us=event.ts_us), NOTHING
        payload = payload_of(event)
        if event.kind != "duel.end":
            return self._contact(state, event, payload)
        if payload.variant != "ground" or payload.player == payload.detail["carrier"]:
            return state, NOTHING
        won = _named("tackle.won", event, payload)
        dated_us = event.dated_us or event.ts_us
        # The ball may have gone out, or a mate may have played it, by the time that the duel is known.
        own = state.contact is not None and state.contact.ts_us > dated_us and self._own(state.contact, payload.team)
        return TackleState(state.contact, None if own or state.dead_us >= dated_us else won), (won,)

    def _own(self, contact: Event, team: Team) -> bool:
        return payload_of(contact).team == team

    def _contact(self, state: TackleState, event: Event, made: EventPayload) -> Step[TackleState]:
        tackle = state.tackle
        if tackle is None:
            return TackleState(event), NOTHING
        won, since_us = payload_of(tackle), event.ts_us - (tackle.dated_us or tackle.ts_us)
        if since_us <= 0:
            return TackleState(event, tackle), NOTHING
        if made.team == won.team or since_us > self.parameters.within_us:
            return TackleState(event), NOTHING
        lost = make_event(
            "tackle.lost", event.ts_us, tackle.source, won, causes=(tackle.id, event.id), annuls=tackle.id,
            dated_us=tackle.dated_us or tackle.ts_us,
        )  # fmt: skip
        return TackleState(event), (lost,)


def _named(kind: str, event: Event, duel: EventPayload) -> Event:
    """A duel under another name, at its time."""
    detail: dict[str, Scalar] = {"other": duel.detail["other"]}
    payload = msgspec.structs.replace(duel, variant="", z_m=None, confidence=0.7 * duel.confidence, detail=detail)
    return make_event(kind, event.ts_us, event.source, payload, causes=(event.id,), dated_us=shown_us(event))
