"""8.9: passes and carries that break a line of the opponents.

Theory of operation
-------------------
4.9 gives the lines of a team. At a kick, or at a gain, each opponent counts to the line that he is nearest to, and the
line is at the mean of its players. It is broken if the ball was before it then, and the same team controls the ball
behind it in the end: *around* if the straight path passes outside its outermost players, *over* if the ball was above
the bar's height on its path, else *through*.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.ball.bands import HEIGHTS
from detectors.decisions import note
from detectors.emission import make_event
from detectors.qualifiers.gains import carried_path
from detectors.qualifiers.pass_qualifier import PassPath, kick_of, passed_path, upfield
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

LINES = ("attack", "midfield", "defence")
MANNERS = ("through", "around", "over")


class LineBreakParameters(msgspec.Struct, frozen=True):
    """Limits of a line break.

    Attributes:
        behind_m: least distance behind the line at which the ball is controlled.
    """

    behind_m: Annotated[float, reason("Ours: a step; lines are not straight.")] = 1.0


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A line of the opponents, relative to the attacking direction: position along, and its extent across."""

    name: str
    u_m: float
    right_w_m: float
    left_w_m: float


class FacedLines(msgspec.Struct, frozen=True, gc=False):
    """The lines at a kick (``name``: its anchor) or a gain (the player); True if the ball has been high since."""

    name: str
    lines: tuple[Standing, ...]
    high: bool = False


class LineBreakState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        attacks: team that attacks +x.
        frame: newest frame.
        line_positions: team, line and its x in metres.
        high: True if the ball is above the bar's height.
        passes: newest passes.
        gain: newest gain.
    """

    attacks: Team = ""
    frame: Event | None = None
    line_positions: tuple[tuple[str, str, float], ...] = ()
    high: bool = False
    passes: tuple[FacedLines, ...] = ()
    gain: FacedLines | None = None


class LineBreak:
    """8.9: ``linebreak``: a pass that arrives, or a carry, goes past a line of the opponents.

    ``variant`` is the line (attack, midfield or defence) and the manner (through, around, over). One event per line. A
    pass is shown at its kick, a carry at its end. ``detail``: ``by`` (pass or carry), ``line_x_m`` (the line).
    """

    def __init__(self, sheet: MatchSheet, parameters: LineBreakParameters | None = None) -> None:
        self.parameters = parameters or LineBreakParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="line_break",
            number="8.9",
            level=8,
            inputs=(
                "frame", "ball.height", "direction", "lines.changed", "possession.gain", "pass.attempt", "carry.end",
                "pass.complete",
            ),
            outputs=("linebreak",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI (line breaks)",
            needs="ball height",
            team_variants={"linebreak": tuple(f"{line} {path}" for line in LINES for path in MANNERS)},
            amends=("linebreak",),
            known={"linebreak": Known("when the pass has arrived, or the carry has ended")},
            details={"linebreak": ("by", "line_x_m")},
        )  # fmt: skip

    def initial(self) -> LineBreakState:
        """Nothing known."""
        return LineBreakState()

    def step(self, state: LineBreakState, event: Event) -> Step[LineBreakState]:
        """Note the lines when a pass or carry begins; compare them with the ball at its end."""
        if event.kind == "frame":
            return self._with(state, frame=event), NOTHING
        payload = payload_of(event)
        if event.kind == "direction":
            # As in 4.9: changed ends make the published lines void.
            return self._with(state, attacks=payload.team, line_positions=()), NOTHING
        if event.kind == "ball.height":
            return self._risen(state, payload.variant == HEIGHTS[-1]), NOTHING
        if event.kind == "lines.changed":
            kept = tuple(p for p in state.line_positions if p[:2] != (payload.team, payload.variant))
            return self._with(
                state, line_positions=(*kept, (payload.team, payload.variant, number(payload, "x_m")))
            ), NOTHING
        if not state.attacks or state.frame is None:
            return state, NOTHING
        if event.kind == "pass.attempt":
            faced = FacedLines(event.source, self._lines(state, payload.team), state.high)
            return self._with(state, passes=(*state.passes[-1:], faced)), NOTHING
        if event.kind == "possession.gain":
            return self._with(state, gain=FacedLines(payload.player, self._lines(state, payload.team))), NOTHING
        return state, self._broken(state, event, payload)

    def _with(self, state: LineBreakState, **changes: object) -> LineBreakState:
        return msgspec.structs.replace(state, **changes)

    def _risen(self, state: LineBreakState, high: bool) -> LineBreakState:
        passes = state.passes
        if high and passes:
            passes = (*passes[:-1], msgspec.structs.replace(passes[-1], high=True))
        return self._with(state, high=high, passes=passes)

    def _lines(self, state: LineBreakState, team: Team) -> tuple[Standing, ...]:
        """The opponents' lines now: each outfield player counts to the nearest line of 4.9."""
        if state.frame is None:
            return ()
        frame = frame_of(state.frame)
        lines = [(line, x_m) for owner, line, x_m in state.line_positions if owner and owner != team]
        if not lines:
            return ()
        members: dict[str, list[tuple[float, float]]] = {}
        for body in frame.players:
            if body.team and body.team != team and body.object_id not in self._keepers:
                line = min(lines, key=lambda named: (abs(named[1] - body.x_m), named[0]))[0]
                members.setdefault(line, []).append(upfield(state.attacks, team, body.x_m, body.y_m))
        return tuple(_standing(name, members[name]) for name in LINES if name in members)

    def _broken(self, state: LineBreakState, event: Event, ended: EventPayload) -> tuple[Event, ...]:
        is_pass = event.kind == "pass.complete"
        if is_pass:
            faced = next((f for f in state.passes if f.name == event.source), None)
            path = passed_path(state.attacks, ended)
        else:
            faced = state.gain if state.gain is not None and state.gain.name == ended.player else None
            path = carried_path(state.attacks, ended)
        if faced is None or path is None:
            return NOTHING
        sign = 1.0 if ended.team == state.attacks else -1.0
        shown_us = kick_of(ended) if is_pass else event.dated_us
        out = []
        for line in faced.lines:
            behind_m = self.parameters.behind_m
            if not path.from_u_m < line.u_m <= path.to_u_m - behind_m:
                continue
            detail: dict[str, Scalar] = {"by": "pass" if is_pass else "carry", "line_x_m": round(sign * line.u_m, 2)}
            variant = f"{line.name} {_manner(path, line, high=faced.high)}"
            beyond_m, about = path.to_u_m - line.u_m, variant
            note("distance behind the line", beyond_m, "at least", behind_m, "line_break.behind_m", about)
            shown = msgspec.structs.replace(ended, variant=variant, z_m=None, detail=detail)
            anchor = f"{event.source}/{'' if is_pass else 'carry/'}{line.name}"
            out.append(make_event("linebreak", event.ts_us, anchor, shown, causes=(event.id,), dated_us=shown_us))
        return tuple(out)


def _standing(name: str, members: list[tuple[float, float]]) -> Standing:
    along, across = [u for u, _ in members], [w for _, w in members]
    return Standing(name, round(sum(along) / len(along), 2), round(min(across), 2), round(max(across), 2))


def _manner(path: PassPath, line: Standing, *, high: bool) -> str:
    if high:
        return "over"
    share = (line.u_m - path.from_u_m) / (path.to_u_m - path.from_u_m)
    w_m = path.from_w_m + share * (path.to_w_m - path.from_w_m)
    return "through" if line.right_w_m <= w_m <= line.left_w_m else "around"
