"""7.14: goalkeepers' actions besides saves: claim, pick-up, smother, sweep."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import is_over
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, location_m, payload_of
from football.pitch import Pitch, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

CLAIMS = ("gk.claim", "gk.pickup", "gk.smother", "gk.sweep")


class ClaimParameters(msgspec.Struct, frozen=True):
    """Limits of a goalkeeper's actions.

    Attributes:
        high_m: a ball caught or punched above this height was a cross or lob.
        feet_m: a low ball with an opponent this near was taken off his feet.
        shot_us: a contact at most this long after a shot is a save.
    """

    high_m: Annotated[float, reason("Head height of 2.5.")] = 1.5
    feet_m: Annotated[float, reason("Ours.")] = 1.5
    shot_us: Annotated[int, reason("As save.within_us (7.2).")] = 3_000_000


class ClaimState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest frame; True if play is dead; the newest shot without a contact since; the last hit's team."""

    frame: Event | None = None
    dead: bool = False
    shot: Event | None = None
    last: Team = ""


class GoalkeeperClaim:
    """7.14: ``gk.claim``, ``gk.pickup``, ``gk.smother``, ``gk.sweep`` of the goalkeepers that the sheet names.

    The ball that he takes in play decides: ``claim`` a high one, ``smother`` a low one with an opponent at it,
    ``pickup`` any other; a shot at his goal is a save instead. ``sweep``: outside his penalty area he takes a ball that
    an opponent played; what he plays on, or a mate plays to him, is none. Named by his contact. ``detail``: ``by``
    (kind of the contact).
    """

    def __init__(self, sheet: MatchSheet, parameters: ClaimParameters | None = None) -> None:
        self.parameters = parameters or ClaimParameters()
        self._pitch: Pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="goalkeeper_claim",
            number="7.14",
            level=7,
            inputs=("frame", "hit", "gk.catch", "gk.punch", "shot.attempt", "play.dead", "play.live"),
            outputs=CLAIMS,
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy GoalkeeperActionType; SPADL keeper actions",
            team_variants=dict.fromkeys(CLAIMS, ("",)),
            details=dict.fromkeys(("gk.claim", "gk.pickup", "gk.smother", "gk.sweep"), ("by",)),
        )

    def initial(self) -> ClaimState:
        """Play counts as live."""
        return ClaimState()

    def step(self, state: ClaimState, event: Event) -> Step[ClaimState]:
        """Judge a goalkeeper's contact in play."""
        if event.kind == "frame":
            return ClaimState(event, state.dead, state.shot, state.last), NOTHING
        if event.kind in ("play.dead", "play.live"):
            return ClaimState(state.frame, event.kind == "play.dead"), NOTHING
        if event.kind == "shot.attempt":
            return ClaimState(state.frame, state.dead, event, state.last), NOTHING
        payload = payload_of(event)
        if event.kind == "hit":
            return self._played(state, event, payload)
        if state.dead or (state.shot is not None and event.ts_us - state.shot.ts_us <= self.parameters.shot_us):
            return state, NOTHING
        return state, (_publish(self._taken(state, payload), event, payload),)

    def _played(self, state: ClaimState, event: Event, payload: EventPayload) -> Step[ClaimState]:
        """End a shot at a field player's contact; publish a goalkeeper's first contact outside his area."""
        if payload.player not in self._keepers:
            passed = state.shot is not None and event.ts_us > state.shot.ts_us
            return ClaimState(state.frame, state.dead, None if passed else state.shot, payload.team), NOTHING
        x_m, y_m = location_m(payload)
        after = ClaimState(state.frame, state.dead, state.shot, payload.team)
        swept = _rival(state.last, payload.team) and not self._pitch.in_penalty_area(x_m, y_m, end_of(x_m))
        return after, (_publish("gk.sweep", event, payload),) if swept and not state.dead else NOTHING

    def _taken(self, state: ClaimState, payload: EventPayload) -> str:
        high_m, feet_m = self.parameters.high_m, self.parameters.feet_m
        if payload.z_m is not None and is_over("height of the ball", payload.z_m, high_m, "goalkeeper_claim.high_m"):
            return "gk.claim"
        away_m = self._opponent_m(state, payload)
        if is_over("the nearest opponent from the ball", away_m, feet_m, "goalkeeper_claim.feet_m"):
            return "gk.pickup"
        return "gk.smother"

    def _opponent_m(self, state: ClaimState, payload: EventPayload) -> float:
        """Distance of the nearest opponent from the ball, in metres."""
        if state.frame is None or payload.x_m is None or payload.y_m is None:
            return math.inf
        frame = frame_of(state.frame)
        x_m, y_m, team = payload.x_m, payload.y_m, payload.team
        away = [math.hypot(b.x_m - x_m, b.y_m - y_m) for b in frame.players if _rival(b.team, team)]
        return min(away, default=math.inf)


def _rival(one: Team, other: Team) -> bool:
    return bool(one) and one != other


def _publish(kind: str, event: Event, payload: EventPayload) -> Event:
    detail: dict[str, Scalar] = {"by": event.kind}
    taken = msgspec.structs.replace(payload, variant="", detail=detail)
    return make_event(kind, event.ts_us, event.source, taken, causes=(event.id,))
