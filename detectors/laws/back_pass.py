"""9.14: back-passes: a goalkeeper handles the ball that a mate has kicked or thrown to him (IFAB Law 12, 2025/26).

Theory of operation
-------------------
An indirect free kick is given if a goalkeeper touches the ball with his hands in his own penalty area after a mate has
deliberately kicked it to him, or directly from a mate's throw-in. Tracking knows neither intent nor the referee's view,
so the event is a candidate. The last contact of another player must be a mate's hit by the foot; the goalkeeper may
have played the ball with his feet since. A header, a chest, a knee or a deflection is none, and any contact of an
opponent ends it. Centroids show neither hands nor the mate's foot, and a header back to the goalkeeper is far more
common than this offence: such a match lacks the detector.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.play.restart_kicks import RestartKickParameters, restart_kind
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, location_m, payload_of, time_us
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

FEET = ("left foot", "right foot")
#: The body part is not known, as on centroids.
UNKNOWN = ("", "other")
VARIANTS = ("kick", "throw-in")


class BackPassParameters(msgspec.Struct, frozen=True):
    """Limits of a back-pass.

    Attributes:
        within_us: the goalkeeper handles the ball at most this long after the mate's kick.
        same_us: a contact this near in time to a throw-in is the throw.
        sure: confidence if the foot was seen.
        doubt: confidence if the body part is not known.
    """

    within_us: Annotated[int, reason("As pass_outcome.within_us.")] = 7_000_000
    same_us: Annotated[int, reason("As restart.back_us.")] = 1_500_000
    sure: Annotated[float, reason("Ours: intent is not seen.")] = 0.7
    doubt: Annotated[float, reason("Ours.")] = 0.4


class BackPassState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest hit, its body part if known, whether it was a throw-in; None after any other contact."""

    kick: Event | None = None
    part: str = ""
    thrown: bool = False


class BackPass:
    """9.14: ``gk.backpass`` x {kick, throw-in} x team: a goalkeeper handles a mate's kick or throw-in; a candidate.

    ``player`` is the goalkeeper, the position that of his contact. ``detail``: ``passer``, ``kick_us`` (event time of
    the mate's contact), ``part`` (its body part, as of 5.3; empty if unknown).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: BackPassParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or BackPassParameters()
        self.kick = kick or RestartKickParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="back_pass",
            number="9.14",
            level=9,
            inputs=("hit", "touch", "bodypart", "deflection", "gk.catch", "play.live", "play.dead"),
            outputs=("gk.backpass",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Law 12 (2025/26); confidences ours",
            needs="a transmitter on each hand",
            team_variants={"gk.backpass": VARIANTS},
            details={"gk.backpass": ("passer", "kick_us", "part")},
        )

    def initial(self) -> BackPassState:
        """No contact."""
        return BackPassState()

    def step(self, state: BackPassState, event: Event) -> Step[BackPassState]:
        """Remember the newest contact; judge it when a goalkeeper has the ball in his hands."""
        payload, kick = payload_of(event), state.kick
        if event.kind == "deflection" and event.annuls:
            return state, NOTHING  # his next contact says the same
        if event.kind == "gk.catch":
            return self._caught(state, event, payload)
        if event.kind == "play.dead":
            return BackPassState(), NOTHING
        if event.kind == "play.live":
            if kick is None or restart_kind(self.pitch, payload, self.kick) != "throw_in":
                return state, NOTHING
            apart_us = abs(kick.ts_us - time_us(payload, "kick_us"))
            thrown = payload_of(kick).player == payload.player and apart_us <= self.parameters.same_us
            return (BackPassState(kick, state.part, True) if thrown else state), NOTHING
        if event.kind == "bodypart":
            mine = kick is not None and kick.ts_us == event.ts_us
            return (BackPassState(kick, payload.variant, state.thrown) if mine else state), NOTHING
        if kick is not None and payload.player in self._keepers and payload.team == payload_of(kick).team:
            return state, NOTHING  # his own contacts with the ball that a mate kicked
        if event.kind == "deflection":
            return (BackPassState() if kick is not None and kick.ts_us <= event.ts_us else state), NOTHING
        return (BackPassState(event) if event.kind == "hit" else BackPassState()), NOTHING

    def _caught(self, state: BackPassState, event: Event, payload: EventPayload) -> Step[BackPassState]:
        kick, p = state.kick, self.parameters
        if kick is None or payload.x_m is None or payload.y_m is None:
            return state, NOTHING
        kicked = payload_of(kick)
        mate = kicked.team == payload.team and kicked.player != payload.player
        x_m, y_m = location_m(payload)
        by_foot = state.thrown or state.part in (*UNKNOWN, *FEET)
        what, since_us = "time since the mate's kick", event.ts_us - kick.ts_us
        if not (mate and by_foot and self.pitch.in_penalty_area(x_m, y_m, end_of(x_m))):
            return BackPassState(), NOTHING
        if not at_most(what, since_us, p.within_us, "back_pass.within_us"):
            return BackPassState(), NOTHING
        detail: dict[str, Scalar] = {"passer": kicked.player, "kick_us": kick.ts_us, "part": state.part}
        confidence = p.sure if state.thrown or state.part in FEET else p.doubt
        variant = "throw-in" if state.thrown else "kick"
        candidate = EventPayload(variant, payload.team, payload.player, x_m, y_m, confidence=confidence, detail=detail)
        out = make_event("gk.backpass", event.ts_us, event.source, candidate, causes=(kick.id, event.id))
        return BackPassState(), (out,)
