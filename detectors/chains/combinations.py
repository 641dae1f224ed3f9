"""11.3, 13.8 (11.4): combinations: a third man who is found, and an overlap that is used."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.control.scene import Scene
from detectors.decisions import at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import BodyState, EventPayload, Scalar, payload_as, payload_of, time_us
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ThirdManParameters(msgspec.Struct, frozen=True):
    """Limits of a third man.

    Attributes:
        blocked_m: an opponent so near to the straight way between two players blocks it.
        reach_m: a mate farther away is not hidden, but far.
        hold_us: greatest time from the first reception to the second kick.
    """

    blocked_m: Annotated[float, reason("Ours: a step.")] = 1.0
    reach_m: Annotated[float, reason("Ours: the length of a pass on the ground.")] = 25.0
    hold_us: Annotated[int, reason("Ours: longer, and it is another move.")] = 2_000_000


class ThirdManState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest scene; anchor of the newest pass, and the mates hidden from its kicker; the newest completed
    pass, and the mates who were hidden from its passer."""

    scene: Scene | None = None
    anchor: str = ""
    hidden: frozenset[str] = frozenset()
    first: Event | None = None
    first_hidden: frozenset[str] = frozenset()


class ThirdMan:
    """11.3: ``thirdman`` x team: A passes to B, B to C at once; an opponent stood between A and C at the first kick.

    ``player`` is C, position and time are those of his reception. ``detail``: ``passer`` (A), ``through`` (B),
    ``seconds`` (from the first kick).
    """

    def __init__(self, parameters: ThirdManParameters | None = None) -> None:
        self.parameters = parameters or ThirdManParameters()
        self.spec = Spec(
            name="third_man",
            number="11.3",
            level=11,
            inputs=("scene", "pass.attempt", "pass.complete", "play.dead"),
            outputs=("thirdman",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"thirdman": ("",)},
            details={"thirdman": ("passer", "through", "seconds")},
        )

    def initial(self) -> ThirdManState:
        """No pass."""
        return ThirdManState()

    def step(self, state: ThirdManState, event: Event) -> Step[ThirdManState]:
        """Look at a kick who is hidden from the kicker; the receiver's own pass decides."""
        if event.kind == "scene":
            return msgspec.structs.replace(state, scene=payload_as(event, Scene)), NOTHING
        if event.kind == "play.dead":
            return ThirdManState(state.scene), NOTHING
        if event.kind == "pass.attempt":
            hidden = self._hidden(state.scene, payload_of(event))
            return msgspec.structs.replace(state, anchor=event.source, hidden=hidden), NOTHING
        if event.source != state.anchor:
            return ThirdManState(state.scene, state.anchor, state.hidden), NOTHING
        after = ThirdManState(state.scene, "", frozenset(), event, state.hidden)
        first = state.first
        return after, NOTHING if first is None else self._found(first, state.first_hidden, event)

    def _found(self, before: Event, hidden: frozenset[str], event: Event) -> tuple[Event, ...]:
        first, second = payload_of(before), payload_of(event)
        receiver, held_us = str(second.detail["receiver"]), time_us(second, "kick_us") - before.ts_us
        if first.detail["receiver"] != second.player or receiver not in hidden:
            return NOTHING
        if not at_most("time from reception to kick", held_us, self.parameters.hold_us, "third_man.hold_us"):
            return NOTHING
        detail: dict[str, Scalar] = {
            "passer": first.player,
            "through": second.player,
            "seconds": round((event.ts_us - time_us(first, "kick_us")) / 1e6, 3),
        }
        payload = msgspec.structs.replace(second, variant="", player=receiver, detail=detail)
        causes = (before.id, event.id)
        return (make_event("thirdman", event.ts_us, event.source, payload, causes=causes),)

    def _hidden(self, scene: Scene | None, kick: EventPayload) -> frozenset[str]:
        passer = scene.body(kick.player) if scene is not None else None
        if scene is None or passer is None:
            return frozenset()
        others, p = scene.opponents(kick.team), self.parameters
        return frozenset(
            mate.object_id
            for mate in scene.team(kick.team)
            if mate is not passer
            and math.hypot(mate.x_m - passer.x_m, mate.y_m - passer.y_m) <= p.reach_m
            and any(from_way_m(passer, mate, other) <= p.blocked_m for other in others)
        )


def from_way_m(begin: BodyState, end: BodyState, other: BodyState) -> float:
    """Distance of a player from the straight way between two others, in metres."""
    along_x, along_y = end.x_m - begin.x_m, end.y_m - begin.y_m
    x, y = other.x_m - begin.x_m, other.y_m - begin.y_m
    length2 = along_x * along_x + along_y * along_y
    share = min(1.0, max(0.0, (x * along_x + y * along_y) / length2)) if length2 else 0.0
    return math.hypot(x - share * along_x, y - share * along_y)


class OverlapUsedParameters(msgspec.Struct, frozen=True):
    """Limits of an overlap that is used.

    Attributes:
        within_us: greatest time from the begin of the run to the reception.
    """

    within_us: Annotated[int, reason("Hierarchy 11.4, ours.")] = 4_000_000


class OverlapUsedState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest overlap, and the newest completed pass."""

    run: Event | None = None
    received: Event | None = None


class OverlapUsed:
    """13.8, 11.4: ``overlap.used`` x team: the player who ran outside the one with the ball gets it.

    Published when pass and run (12.1) are both known: the runner often is still on his way when the pass arrives.
    ``player`` is the runner, the position that of his reception; the event is named by the kick. ``detail``:
    ``passer``, ``received_us`` (event time of the reception), ``since_us`` (begin of the run).
    """

    def __init__(self, parameters: OverlapUsedParameters | None = None) -> None:
        self.parameters = parameters or OverlapUsedParameters()
        self.spec = Spec(
            name="overlap_used",
            number="13.8",
            level=13,
            covers=("11.4",),
            inputs=("run", "pass.complete", "play.dead"),
            outputs=("overlap.used",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"overlap.used": ("",)},
            details={"overlap.used": ("passer", "received_us", "since_us")},
        )

    def initial(self) -> OverlapUsedState:
        """Neither run nor pass."""
        return OverlapUsedState()

    def step(self, state: OverlapUsedState, event: Event) -> Step[OverlapUsedState]:
        """Bring run and pass together, whichever is known first."""
        if event.kind == "play.dead":
            return OverlapUsedState(), NOTHING
        run, received = state.run, state.received
        if event.kind == "pass.complete":
            received = event
        elif payload_of(event).variant == "overlap":
            run = event
        else:
            return state, NOTHING
        if run is None or received is None or not self._belong(run, received):
            return OverlapUsedState(run, received), NOTHING
        ran, passed = payload_of(run), payload_of(received)
        detail: dict[str, Scalar] = {
            "passer": passed.player,
            "received_us": received.ts_us,
            "since_us": time_us(ran, "since_us"),
        }
        payload = msgspec.structs.replace(passed, variant="", player=ran.player, detail=detail)
        causes = (run.id, received.id)
        return OverlapUsedState(), (make_event("overlap.used", event.ts_us, received.source, payload, causes=causes),)

    def _belong(self, run: Event, received: Event) -> bool:
        ran, passed = payload_of(run), payload_of(received)
        begun_us, kick_us, path = time_us(ran, "since_us"), time_us(passed, "kick_us"), "overlap_used.within_us"
        return (
            passed.detail["receiver"] == ran.player
            and kick_us >= begun_us
            and at_most("run's begin to the reception", received.ts_us - begun_us, self.parameters.within_us, path)
        )
