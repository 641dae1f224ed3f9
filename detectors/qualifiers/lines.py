"""8.5: through balls: passes through the last line."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.qualifiers.pass_qualifier import PassPath, kick_of, passed_path, upfield
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class ThroughParameters(msgspec.Struct, frozen=True):
    """Limits of the last line.

    Attributes:
        line_m: a defender within this distance of the rearmost one, along the pitch, is in the last line.
        beyond_m: the ball is received at least this far behind the line.
    """

    line_m: Annotated[float, reason("Ours: a line that is staggered by more is none to be played through.")] = 6.0
    beyond_m: Annotated[float, reason("Ours: a stride; who is nearer stands in the line.")] = 1.0


class LastLine(msgspec.Struct, frozen=True, gc=False):
    """Positions of the last line at a kick, relative to the passer's attacking direction: along, to the left."""

    anchor: str
    line_positions: tuple[tuple[float, float], ...]


class ThroughState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, the newest frame, the last lines at the newest kicks."""

    attacks: Team = ""
    frame: Event | None = None
    lines: tuple[LastLine, ...] = ()


class ThroughBall:
    """8.5: ``pass.through``: received behind the last line, having passed it with a defender of it on either side.

    The last line is that of the kick: the rearmost opponent but the goalkeeper, and the opponents near him along the
    pitch. Shown at the kick; the position is that of the reception. ``detail``: ``beyond_m`` (metres behind the line
    at the reception).
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
            known={"pass.through": Known("when the pass has arrived")},
            details={"pass.through": ("beyond_m",)},
        )

    def initial(self) -> ThroughState:
        """Nothing known."""
        return ThroughState()

    def step(self, state: ThroughState, event: Event) -> Step[ThroughState]:
        """Keep the last line of a kick until the pass has arrived."""
        if event.kind == "frame":
            return ThroughState(state.attacks, event, state.lines), NOTHING
        payload = payload_of(event)
        if event.kind == "direction":
            return ThroughState(payload.team, state.frame, state.lines), NOTHING
        if not state.attacks or state.frame is None:
            return state, NOTHING
        if event.kind == "pass.attempt":
            line = LastLine(event.source, self._line(state, payload))
            return ThroughState(state.attacks, state.frame, (*state.lines[-1:], line)), NOTHING
        path, line_of = (
            passed_path(state.attacks, payload),
            next((x for x in state.lines if x.anchor == event.source), None),
        )
        if path is None or line_of is None or not is_through(path, line_of.line_positions):
            return state, NOTHING
        beyond_m = path.to_u_m - max(u for u, _ in line_of.line_positions)
        if not at_least("distance beyond the last line", beyond_m, self.parameters.beyond_m, "through_ball.beyond_m"):
            return state, NOTHING
        detail: dict[str, Scalar] = {"beyond_m": round(beyond_m, 2)}
        shown = msgspec.structs.replace(payload, variant="", z_m=None, detail=detail)
        shown_us = kick_of(payload)
        causes = (event.id,)
        return state, (make_event("pass.through", event.ts_us, event.source, shown, causes=causes, dated_us=shown_us),)

    def _line(self, state: ThroughState, attempt: EventPayload) -> tuple[tuple[float, float], ...]:
        """The rearmost opponents but the goalkeeper (by the sheet; without goalkeepers there, the rearmost of all)."""
        if state.frame is None:
            return ()
        frame = frame_of(state.frame)
        line_positions = sorted(
            (*upfield(state.attacks, attempt.team, b.x_m, b.y_m), b.object_id)
            for b in frame.players
            if b.team and b.team != attempt.team
        )
        named = [p for p in line_positions if p[2] in self._keepers]
        outfield = [p for p in line_positions if p not in named] if named else line_positions[:-1]
        if not outfield:
            return ()
        last_m = outfield[-1][0]
        return tuple((round(u, 2), round(w, 2)) for u, w, _ in outfield if u > last_m - self.parameters.line_m)


def is_through(path: PassPath, line: tuple[tuple[float, float], ...]) -> bool:
    """True if a pass goes from before a line to behind it, between two of its players.

    >>> is_through(PassPath(0.0, 0.0, 30.0, 0.0), ((20.0, 5.0), (19.0, -6.0)))
    True
    >>> is_through(PassPath(0.0, 0.0, 30.0, 0.0), ((20.0, 5.0), (19.0, 6.0)))
    False
    """
    last_m = max((u for u, _ in line), default=None)
    if last_m is None or not path.from_u_m < last_m < path.to_u_m:
        return False
    slope = (path.to_w_m - path.from_w_m) / (path.to_u_m - path.from_u_m)
    sides = [path.from_w_m + slope * (u - path.from_u_m) - w for u, w in line if u > path.from_u_m]
    return min(sides) < 0.0 < max(sides)
