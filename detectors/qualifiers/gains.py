"""8.7, 8.8: what passes and carries gain: way towards the goal, opponents left behind."""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import Way, kick_of, passed_way, upfield
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, number, published
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

PACKINGS = ("0", "1-2", "3-4", "5+")


class ProgressParameters(msgspec.Struct, frozen=True):
    """Wyscout's glossary: progress is so much nearer to the goal within the own half (``own_m``), from there into the
    other half (``across_m``), and within the opponents' half (``beyond_m``)."""

    own_m: float = 30.0
    across_m: float = 15.0
    beyond_m: float = 10.0


class ProgressivePlay:
    """8.7: ``progress.pass`` and ``progress.carry``; ``detail.gain_m``: how much nearer to the goal the ball came.

    A pass counts when it has arrived, and is shown at its kick; a carry is shown at its end.
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
        )

    def initial(self) -> Team:
        """Nobody knows who attacks +x."""
        return ""

    def step(self, state: Team, event: Event) -> Step[Team]:
        """Measures a pass or a carry."""
        payload = published(event)
        if event.kind == "direction":
            return payload.team, NOTHING
        is_pass = event.kind == "pass.complete"
        way = (passed_way(state, payload) if is_pass else carried_way(state, payload)) if state else None
        if way is None:
            return state, NOTHING
        gain_m = self._away_m(way.from_u_m, way.from_w_m) - self._away_m(way.to_u_m, way.to_w_m)
        if gain_m < self._least_m(way):
            return state, NOTHING
        kind = "progress.pass" if is_pass else "progress.carry"
        detail: dict[str, Scalar] = {"gain_m": round(gain_m, 2)}
        told = EventPayload(
            "", payload.team, payload.player, payload.x_m, payload.y_m, None, payload.confidence, detail
        )
        shown_us = kick_of(payload) if is_pass else event.dated_us
        return state, (make_event(kind, event.ts_us, event.source, told, causes=(event.id,), dated_us=shown_us),)

    def _away_m(self, u_m: float, w_m: float) -> float:
        return math.hypot(self._half_length_m - u_m, w_m)

    def _least_m(self, way: Way) -> float:
        if way.to_u_m < 0.0:
            return self.parameters.own_m
        return self.parameters.across_m if way.from_u_m < 0.0 else self.parameters.beyond_m


def carried_way(attacks: Team, carried: EventPayload) -> Way | None:
    """Way of a ``carry.end``."""
    assert carried.x_m is not None
    assert carried.y_m is not None
    from_x_m, from_y_m = number(carried, "from_x_m"), number(carried, "from_y_m")
    return Way(
        *upfield(attacks, carried.team, from_x_m, from_y_m), *upfield(attacks, carried.team, carried.x_m, carried.y_m)
    )


class Ahead(msgspec.Struct, frozen=True, gc=False):
    """How many opponents were nearer to their goal line than the ball, at a kick (``name``: its anchor) or a gain (the
    player)."""

    name: str
    opponents: int


class PackingState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x, the newest frame, the newest kicks, the newest gain."""

    attacks: Team = ""
    frame: Event | None = None
    kicks: tuple[Ahead, ...] = ()
    gain: Ahead | None = None


class Packing:
    """8.8: ``packing`` x {0, 1-2, 3-4, 5+}: opponents between ball and goal line before a pass, less after it; and
    ``packing.carry``, the same of a carry.

    Completed passes are shown at the kick, carries at their end, counted from the gain; ``detail.opponents`` is the
    number, negative for balls played back.
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
        )

    def initial(self) -> PackingState:
        """Nothing known."""
        return PackingState()

    def step(self, state: PackingState, event: Event) -> Step[PackingState]:
        """Counts at kicks and gains, and again at the ends."""
        if event.kind == "frame":
            return PackingState(state.attacks, event, state.kicks, state.gain), NOTHING
        payload = published(event)
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
    told = EventPayload(
        variant, payload.team, payload.player, payload.x_m, payload.y_m, None, payload.confidence, detail
    )
    shown_us = kick_of(payload) if is_pass else event.dated_us
    kind = "packing" if is_pass else "packing.carry"
    return make_event(kind, event.ts_us, event.source, told, causes=(event.id,), dated_us=shown_us)
