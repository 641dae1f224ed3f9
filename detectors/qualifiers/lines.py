"""8.5: through balls: passes through the last line."""

from __future__ import annotations

import msgspec

from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import Way, kick_of, passed_way, upfield
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class ThroughParameters(msgspec.Struct, frozen=True):
    """``line_m``: whoever stands so near to the rearmost defender, along the pitch, makes the last line with him (ours:
    a line that is staggered by more is none to be played through)."""

    line_m: float = 6.0


class LastLine(msgspec.Struct, frozen=True, gc=False):
    """The defenders of the last line when a ball was kicked, as the passer's team sees them: along, to the left."""

    anchor: str
    places: tuple[tuple[float, float], ...]


class ThroughState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x, the newest frame, the last lines of the newest kicks."""

    attacks: Team = ""
    frame: Event | None = None
    lines: tuple[LastLine, ...] = ()


class ThroughBall:
    """8.5: ``pass.through``: received behind the last line, having passed it with a defender of it on either side.

    The last line is that of the kick: the rearmost opponent but the goalkeeper, and who stands near to him along the
    pitch. Shown at the kick; ``detail.beyond_m``: how far behind the line it was received.
    """

    def __init__(self, sheet: MatchSheet, parameters: ThroughParameters | None = None) -> None:
        self.parameters = parameters or ThroughParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="through_ball",
            number="8.5",
            level=8,
            inputs=("frame", "direction", "pass.attempt", "pass.complete"),
            outputs=("pass.through",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StatsBomb (through ball); line ours",
            team_variants={"pass.through": ("",)},
            amends=("pass.through",),
        )

    def initial(self) -> ThroughState:
        """Nothing known."""
        return ThroughState()

    def step(self, state: ThroughState, event: Event) -> Step[ThroughState]:
        """Keeps the last line of a kick until the pass has arrived."""
        if event.kind == "frame":
            return ThroughState(state.attacks, event, state.lines), NOTHING
        payload = published(event)
        if event.kind == "direction":
            return ThroughState(payload.team, state.frame, state.lines), NOTHING
        if not state.attacks or state.frame is None:
            return state, NOTHING
        if event.kind == "pass.attempt":
            line = LastLine(event.source, self._line(state, payload))
            return ThroughState(state.attacks, state.frame, (*state.lines[-1:], line)), NOTHING
        way, line_of = (
            passed_way(state.attacks, payload),
            next((x for x in state.lines if x.anchor == event.source), None),
        )
        if way is None or line_of is None or not is_through(way, line_of.places):
            return state, NOTHING
        detail: dict[str, Scalar] = {"beyond_m": round(way.to_u_m - max(u for u, _ in line_of.places), 2)}
        told = EventPayload(
            "", payload.team, payload.player, payload.x_m, payload.y_m, None, payload.confidence, detail
        )
        shown_us = kick_of(payload)
        causes = (event.id,)
        return state, (make_event("pass.through", event.ts_us, event.source, told, causes=causes, dated_us=shown_us),)

    def _line(self, state: ThroughState, made: EventPayload) -> tuple[tuple[float, float], ...]:
        """The rearmost opponents but the goalkeeper: by the sheet, or else the rearmost of all."""
        assert state.frame is not None
        frame = frame_of(state.frame)
        places = sorted(
            (*upfield(state.attacks, made.team, b.x_m, b.y_m), b.object_id)
            for b in frame.players
            if b.team and b.team != made.team
        )
        named = [p for p in places if p[2] in self._keepers]
        outfield = [p for p in places if p not in named] if named else places[:-1]
        if not outfield:
            return ()
        last_m = outfield[-1][0]
        return tuple((round(u, 2), round(w, 2)) for u, w, _ in outfield if u > last_m - self.parameters.line_m)


def is_through(way: Way, line: tuple[tuple[float, float], ...]) -> bool:
    """Whether a pass goes from before a line to behind it, between two of those who make it.

    >>> is_through(Way(0.0, 0.0, 30.0, 0.0), ((20.0, 5.0), (19.0, -6.0)))
    True
    >>> is_through(Way(0.0, 0.0, 30.0, 0.0), ((20.0, 5.0), (19.0, 6.0)))
    False
    """
    last_m = max((u for u, _ in line), default=None)
    if last_m is None or not way.from_u_m < last_m < way.to_u_m:
        return False
    slope = (way.to_w_m - way.from_w_m) / (way.to_u_m - way.from_u_m)
    sides = [way.from_w_m + slope * (u - way.from_u_m) - w for u, w in line if u > way.from_u_m]
    return min(sides) < 0.0 < max(sides)
