"""8.7, 8.8: progressive passes and carries, and packing."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import PassPath, kick_of, passed_path, upfield
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, location_m, number, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

PACKINGS = ("0", "1-2", "3-4", "5+")


class ProgressParameters(msgspec.Struct, frozen=True):
    """Least gains of progress: how much nearer to the goal.

    Attributes:
        own_m: within the own half.
        across_m: from the own half into the opponents'.
        beyond_m: within the opponents' half.
    """

    own_m: Annotated[float, reason("Wyscout's glossary.")] = 30.0
    across_m: Annotated[float, reason("Wyscout's glossary.")] = 15.0
    beyond_m: Annotated[float, reason("Wyscout's glossary.")] = 10.0


class ProgressivePlay:
    """8.7: ``progress.pass`` and ``progress.carry``: a pass or carry brings the ball much nearer to the goal.

    A pass counts when it has arrived, and is shown at its kick; a carry is shown at its end. The position is that of
    the end. ``detail``: ``gain_m`` (metres nearer to the goal).
    """

    def __init__(self, sheet: MatchSheet, parameters: ProgressParameters | None = None) -> None:
        self.parameters = parameters or ProgressParameters()
        self._half_length_m = pitch_of(sheet).half_length_m
        self.spec = Spec(
            name="progressive_play",
            number="8.7",
            level=8,
            inputs=("direction", "pass.complete", "carry.end"),
            outputs=("progress.pass", "progress.carry"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Wyscout glossary",
            team_variants=dict.fromkeys(("progress.pass", "progress.carry"), ("",)),
            amends=("progress.pass", "progress.carry"),
            known={
                "progress.pass": Known("when the pass has arrived"),
                "progress.carry": Known("when the end of the carry is known"),
            },
            details=dict.fromkeys(("progress.pass", "progress.carry"), ("gain_m",)),
        )

    def initial(self) -> Team:
        """The attacking direction is unknown."""
        return ""

    def step(self, state: Team, event: Event) -> Step[Team]:
        """Measure a pass or a carry."""
        payload = payload_of(event)
        if event.kind == "direction":
            return payload.team, NOTHING
        is_pass = event.kind == "pass.complete"
        path = (passed_path(state, payload) if is_pass else carried_path(state, payload)) if state else None
        if path is None:
            return state, NOTHING
        gain_m = self._away_m(path.from_u_m, path.from_w_m) - self._away_m(path.to_u_m, path.to_w_m)
        if not at_least("metres nearer to the goal", gain_m, *self._least(path)):
            return state, NOTHING
        kind = "progress.pass" if is_pass else "progress.carry"
        detail: dict[str, Scalar] = {"gain_m": round(gain_m, 2)}
        shown = msgspec.structs.replace(payload, variant="", z_m=None, detail=detail)
        shown_us = kick_of(payload) if is_pass else event.dated_us
        return state, (make_event(kind, event.ts_us, event.source, shown, causes=(event.id,), dated_us=shown_us),)

    def _away_m(self, u_m: float, w_m: float) -> float:
        return math.hypot(self._half_length_m - u_m, w_m)

    def _least(self, path: PassPath) -> tuple[float, str]:
        """Least gain of a path, and the path of its parameter."""
        if path.to_u_m < 0.0:
            return self.parameters.own_m, "progress.own_m"
        if path.from_u_m < 0.0:
            return self.parameters.across_m, "progress.across_m"
        return self.parameters.beyond_m, "progress.beyond_m"


def carried_path(attacks: Team, carried: EventPayload) -> PassPath | None:
    """Path of a ``carry.end``."""
    from_x_m, from_y_m = number(carried, "from_x_m"), number(carried, "from_y_m")
    to_x_m, to_y_m = location_m(carried)
    return PassPath(
        *upfield(attacks, carried.team, from_x_m, from_y_m), *upfield(attacks, carried.team, to_x_m, to_y_m)
    )


class Ahead(msgspec.Struct, frozen=True, gc=False):
    """Number of opponents nearer to their goal line than the ball, at a kick (``name``: its anchor) or a gain (the
    player)."""

    name: str
    opponents: int


class PackingState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, the newest frame, the newest kicks, the newest gain."""

    attacks: Team = ""
    frame: Event | None = None
    kicks: tuple[Ahead, ...] = ()
    gain: Ahead | None = None


class Packing:
    """8.8: ``packing`` x {0, 1-2, 3-4, 5+}: the opponents that a pass leaves behind; ``packing.carry``, the same of a
    carry.

    It is the number of opponents between ball and goal line before, less that after. Completed passes are shown at the
    kick, carries at their end, counted from the gain. ``detail``: ``opponents`` (the number, negative for balls played
    back).
    """

    def __init__(self) -> None:
        self.spec = Spec(
            name="packing",
            number="8.8",
            level=8,
            inputs=("frame", "direction", "possession.gain", "pass.attempt", "pass.complete", "carry.end"),
            outputs=("packing", "packing.carry"),
            source="StreamTeam (packing)",
            team_variants=dict.fromkeys(("packing", "packing.carry"), PACKINGS),
            amends=("packing", "packing.carry"),
            known={
                "packing": Known("when the pass has arrived"),
                "packing.carry": Known("when the end of the carry is known"),
            },
            details=dict.fromkeys(("packing", "packing.carry"), ("opponents",)),
        )

    def initial(self) -> PackingState:
        """Nothing known."""
        return PackingState()

    def step(self, state: PackingState, event: Event) -> Step[PackingState]:
        """Count at kicks and gains, and again at the ends."""
        if event.kind == "frame":
            return PackingState(state.attacks, event, state.kicks, state.gain), NOTHING
        payload = payload_of(event)
        if event.kind == "direction":
            return PackingState(payload.team, state.frame, state.kicks, state.gain), NOTHING
        ahead = self._ahead(state, payload)
        if ahead is None:
            return state, NOTHING
        if event.kind == "pass.attempt":
            kicks = (*state.kicks[-1:], Ahead(event.source, ahead))
            return PackingState(state.attacks, state.frame, kicks, state.gain), NOTHING
        if event.kind == "possession.gain":
            return PackingState(state.attacks, state.frame, state.kicks, Ahead(payload.player, ahead)), NOTHING
        before = self._before(state, event, payload)
        return state, (_packed(event, payload, before.opponents - ahead),) if before is not None else NOTHING

    def _before(self, state: PackingState, event: Event, payload: EventPayload) -> Ahead | None:
        if event.kind == "pass.complete":
            return next((kick for kick in state.kicks if kick.name == event.source), None)
        return state.gain if state.gain is not None and state.gain.name == payload.player else None

    def _ahead(self, state: PackingState, payload: EventPayload) -> int | None:
        if not state.attacks or state.frame is None or payload.x_m is None:
            return None
        frame = frame_of(state.frame)
        sign = 1.0 if payload.team == state.attacks else -1.0
        ball_u_m = sign * payload.x_m
        return sum(1 for b in frame.players if b.team != payload.team and sign * b.x_m > ball_u_m)


def _packed(event: Event, payload: EventPayload, opponents: int) -> Event:
    variant = PACKINGS[0 if opponents <= 0 else min((opponents + 1) // 2, 3)]
    is_pass = event.kind == "pass.complete"
    detail: dict[str, Scalar] = {"opponents": opponents}
    shown = msgspec.structs.replace(payload, variant=variant, z_m=None, detail=detail)
    shown_us = kick_of(payload) if is_pass else event.dated_us
    kind = "packing" if is_pass else "packing.carry"
    return make_event(kind, event.ts_us, event.source, shown, causes=(event.id,), dated_us=shown_us)
