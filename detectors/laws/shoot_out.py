"""10.11: penalties, the shoot-out that decides a match (IFAB Law 10.3, season 2025/26).

Theory of operation
-------------------
In a shoot-out all players but the taker and the goalkeepers are in the centre circle, and both teams kick at one goal.
That shape marks the kick from rest (5.10), whatever the attacking directions. A kick is over when the ball is in the
goal, goes out of play, or stops; the taker may not play it again, so a rebound to him is no second chance.

Kicks of a shoot-out are no goals of the match: ``shootout.kick`` x scored annuls the goal that 7.5 published for it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

_HANDS = ("gk.catch", "gk.parry", "gk.punch")


class ShootOutParameters(msgspec.Struct, frozen=True):
    """Limits of a kick of a shoot-out.

    Attributes:
        over_us: a kick without another end is over after this time.
    """

    over_us: Annotated[int, reason("Ours: the ball has stopped by then.")] = 6_000_000


class ShootOutState(msgspec.Struct, frozen=True, gc=False):
    """State: the kick under way, whether the goalkeeper touched it, and the kicks and goals of both teams."""

    kick: Event | None = None
    touched: bool = False
    kicks: int = 0
    home: int = 0
    away: int = 0


class ShootOut:
    """10.11: ``shootout.kick`` x {scored, missed, saved} x team: a kick of the shoot-out is over.

    ``team`` and ``player`` are the taker's, the position is that of the kick. ``detail``: ``kick`` (its number, from 1
    on), ``home``, ``away`` (goals of the shoot-out so far), ``kick_us`` (event time of the kick).
    """

    def __init__(self, parameters: ShootOutParameters | None = None) -> None:
        self.parameters = parameters or ShootOutParameters()
        self.spec = Spec(
            name="shoot_out",
            number="10.11",
            level=10,
            inputs=("clock.tick", "hit", "touch", *_HANDS, "play.dead", "goal.scored", "goal.own", "restart.penalty"),
            outputs=("shootout.kick",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 10.3 (2025/26)",
            annuls=("goal.scored", "goal.own"),
            team_variants={"shootout.kick": ("scored", "missed", "saved")},
            details={"shootout.kick": ("kick", "home", "away", "kick_us")},
        )

    def initial(self) -> ShootOutState:
        """No shoot-out."""
        return ShootOutState()

    def step(self, state: ShootOutState, event: Event) -> Step[ShootOutState]:
        """Follow a kick to its end."""
        kick = state.kick
        if event.kind == "restart.penalty":
            payload = payload_of(event)
            if not payload.detail["shoot_out"]:
                return state, NOTHING
            before, out = (state, NOTHING) if kick is None else self._missed(state, kick, event)
            return msgspec.structs.replace(before, kick=event, touched=False), out
        if kick is None or event.ts_us <= kick.ts_us:
            return state, NOTHING
        if event.kind == "clock.tick":
            what, since_us, path = "time since the kick", event.ts_us - kick.ts_us, "shoot_out.over_us"
            over = at_least(what, since_us, self.parameters.over_us, path)
            return self._missed(state, kick, event) if over else (state, NOTHING)
        payload = payload_of(event)
        if event.kind in ("goal.scored", "goal.own"):
            return self._over(state, kick, event, "scored", annuls=event.id)
        if event.kind == "play.dead":
            return (state, NOTHING) if payload.variant == "goal" else self._missed(state, kick, event)
        if payload.team == opponents_of(payload_of(kick).team):
            return msgspec.structs.replace(state, touched=True), NOTHING
        return state, NOTHING

    def _missed(self, state: ShootOutState, kick: Event, event: Event) -> Step[ShootOutState]:
        return self._over(state, kick, event, "saved" if state.touched else "missed")

    def _over(
        self, state: ShootOutState, kick: Event, event: Event, variant: str, annuls: str = ""
    ) -> Step[ShootOutState]:
        taken = payload_of(kick)
        goal = variant == "scored"
        home, away = state.home + (goal and taken.team == "home"), state.away + (goal and taken.team == "away")
        detail: dict[str, Scalar] = {"kick": state.kicks + 1, "home": home, "away": away, "kick_us": kick.ts_us}
        payload = EventPayload(variant, taken.team, taken.player, taken.x_m, taken.y_m, detail=detail)
        causes = (kick.id, event.id) if event.id else (kick.id,)
        over = make_event("shootout.kick", event.ts_us, kick.source, payload, causes=causes, annuls=annuls)
        return ShootOutState(None, False, state.kicks + 1, home, away), (over,)
