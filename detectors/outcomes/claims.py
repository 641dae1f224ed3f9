"""7.14: what goalkeepers do besides saves: claim, pick up, smother, sweep."""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, published
from football.pitch import Pitch, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

CLAIMS = ("gk.claim", "gk.pickup", "gk.smother", "gk.sweep")


class ClaimParameters(msgspec.Struct, frozen=True):
    """``high_m``: a ball caught or punched above it came as a cross or lob (head height of 2.5). ``feet_m``: with an
    opponent so near, a low ball was taken off his feet (ours). ``shot_us``: so soon after a shot it is a save (7.2)."""

    high_m: float = 1.5
    feet_m: float = 1.5
    shot_us: int = 3_000_000


class ClaimState(msgspec.Struct, frozen=True, gc=False):
    """The newest frame; whether play is dead; the newest shot that nobody has touched since."""

    frame: Event | None = None
    dead: bool = False
    shot: Event | None = None


class GoalkeeperClaim:
    """7.14: ``gk.claim``, ``gk.pickup``, ``gk.smother``, ``gk.sweep`` of the goalkeepers that the sheet names.

    By the ball that he takes in play: ``claim`` a high one, ``smother`` a low one with an opponent at it, ``pickup``
    any other; not a shot at his goal, which he saves. ``sweep``: he plays the ball outside his penalty area.
    Named by his contact.
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
        )

    def initial(self) -> ClaimState:
        """Play is taken as live."""
        return ClaimState()

    def step(self, state: ClaimState, event: Event) -> Step[ClaimState]:
        """Judges what a goalkeeper does with the ball in play."""
        if event.kind == "frame":
            return ClaimState(event, state.dead, state.shot), NOTHING
        if event.kind in ("play.dead", "play.live"):
            return ClaimState(state.frame, event.kind == "play.dead"), NOTHING
        if event.kind == "shot.attempt":
            return ClaimState(state.frame, state.dead, event), NOTHING
        payload = published(event)
        if event.kind == "hit":
            return self._played(state, event, payload)
        if state.dead or (state.shot is not None and event.ts_us - state.shot.ts_us <= self.parameters.shot_us):
            return state, NOTHING
        return state, (_told(self._taken(state, payload), event, payload),)

    def _played(self, state: ClaimState, event: Event, payload: EventPayload) -> Step[ClaimState]:
        """A field player's contact ends a shot; a goalkeeper's outside his area is a sweep."""
        if payload.player not in self._keepers:
            passed = state.shot is not None and event.ts_us > state.shot.ts_us
            return (ClaimState(state.frame, state.dead) if passed else state), NOTHING
        assert payload.x_m is not None
        assert payload.y_m is not None
        if state.dead or self._pitch.in_penalty_area(payload.x_m, payload.y_m, end_of(payload.x_m)):
            return state, NOTHING
        return state, (_told("gk.sweep", event, payload),)

    def _taken(self, state: ClaimState, payload: EventPayload) -> str:
        if payload.z_m is not None and payload.z_m > self.parameters.high_m:
            return "gk.claim"
        return "gk.smother" if self._opponent_m(state, payload) <= self.parameters.feet_m else "gk.pickup"

    def _opponent_m(self, state: ClaimState, payload: EventPayload) -> float:
        """Distance of the nearest opponent to the ball."""
        if state.frame is None or payload.x_m is None or payload.y_m is None:
            return math.inf
        frame = frame_of(state.frame)
        x_m, y_m, team = payload.x_m, payload.y_m, payload.team
        away = [math.hypot(b.x_m - x_m, b.y_m - y_m) for b in frame.players if _rival(b.team, team)]
        return min(away, default=math.inf)


def _rival(one: Team, other: Team) -> bool:
    return bool(one) and one != other


def _told(kind: str, event: Event, payload: EventPayload) -> Event:
    detail: dict[str, Scalar] = {"by": event.kind}
    told = EventPayload(
        "", payload.team, payload.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
    )
    return make_event(kind, event.ts_us, event.source, told, causes=(event.id,))
