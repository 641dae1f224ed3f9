"""10.15, 9.10: falls that may have been fouls."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene
from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, payload_as, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class FoulParameters(msgspec.Struct, frozen=True):
    """Limits of a fall that may be a foul.

    Attributes:
        contact_m: an opponent is at most this far from the player who falls.
        before_us: so long before the fall at most.
        stop_us: play stops at most this long after the fall.
    """

    contact_m: Annotated[float, reason("Ours: within reach of a leg or an arm.")] = 1.2
    before_us: Annotated[int, reason("Hierarchy 9.10.")] = 500_000
    stop_us: Annotated[int, reason("Hierarchy 9.10.")] = 4_000_000


class Fall(msgspec.Struct, frozen=True, gc=False):
    """A player who went down, and the opponent who was nearest to him just before."""

    event: Event
    opponent: str
    distance_m: float


class FoulState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest scenes, and the falls near an opponent since play was last stopped."""

    scenes: tuple[Event, ...] = ()
    falls: tuple[Fall, ...] = ()


class FoulCandidate:
    """10.15, 9.10: ``foul.candidate`` x team: a player falls near an opponent, and play stops without a ball out.

    Published with the stop. ``team`` and ``player`` are the opponent's, who may have fouled; the position is the fall.
    ``detail``: ``fouled`` (who fell), ``fell_us``, ``distance_m`` (of the two before the fall).
    """

    def __init__(self, parameters: FoulParameters | None = None) -> None:
        self.parameters = parameters or FoulParameters()
        self.spec = Spec(
            name="foul_candidate",
            number="10.15",
            level=10,
            covers=("9.10",),
            inputs=("scene", "player.down", "play.dead"),
            outputs=("foul.candidate",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 12; SoccER (foul)",
            needs="a transmitter on each hand (3.6)",
            team_variants={"foul.candidate": ("",)},
            details={"foul.candidate": ("fouled", "fell_us", "distance_m")},
        )

    def initial(self) -> FoulState:
        """Nobody is down."""
        return FoulState()

    def step(self, state: FoulState, event: Event) -> Step[FoulState]:
        """Keep who fell beside whom until play stops."""
        p = self.parameters
        if event.kind == "scene":
            kept = (one for one in state.scenes if one.ts_us >= event.ts_us - p.before_us)
            return FoulState((*kept, event), state.falls), NOTHING
        if event.kind == "player.down":
            fall = self._fall(state, event)
            return state if fall is None else FoulState(state.scenes, (*state.falls[-3:], fall)), NOTHING
        stopped = FoulState(state.scenes)
        if payload_of(event).variant != "stop":
            return stopped, NOTHING
        return stopped, tuple(self._candidate(fall, event) for fall in state.falls if self._is_near(fall, event))

    def _fall(self, state: FoulState, event: Event) -> Fall | None:
        fallen = payload_of(event)
        near = [
            (math.hypot(other.x_m - own.x_m, other.y_m - own.y_m), other.object_id)
            for scene in map(_scene, state.scenes)
            if (own := scene.body(fallen.player)) is not None
            for other in scene.opponents(fallen.team)
        ]
        distance_m, opponent = min(near, default=(math.inf, ""))
        return Fall(event, opponent, distance_m) if distance_m <= self.parameters.contact_m else None

    def _is_near(self, fall: Fall, event: Event) -> bool:
        p, about = self.parameters, fall.opponent
        since_us = event.ts_us - fall.event.ts_us
        return at_most("time from the fall to the stop", since_us, p.stop_us, "foul.stop_us", about) and at_most(
            "distance of the opponent", fall.distance_m, p.contact_m, "foul.contact_m", about
        )

    def _candidate(self, fall: Fall, event: Event) -> Event:
        fallen = payload_of(fall.event)
        detail: dict[str, Scalar] = {
            "fouled": fallen.player,
            "fell_us": fall.event.ts_us,
            "distance_m": round(fall.distance_m, 2),
        }
        team = opponents_of(fallen.team)
        payload = EventPayload("", team, fall.opponent, fallen.x_m, fallen.y_m, detail=detail)
        causes = (fall.event.id, event.id)
        return make_event("foul.candidate", event.ts_us, fall.event.source, payload, causes=causes)


def _scene(event: Event) -> Scene:
    return payload_as(event, Scene)
