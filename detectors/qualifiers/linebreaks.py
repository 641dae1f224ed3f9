"""8.9: passes and carries that break a line of the opponents.

Theory of operation
-------------------
Where the lines of a team stand, 4.9 tells. At a kick, or when somebody gets the ball, each opponent counts to the
line that he is nearest to, and the line stands where its players are on average. It is broken if the ball was before
it then, and is controlled by the same team behind it in the end: *around* if the straight way passes it beyond its
outermost players, *over* if the ball was above the bar's height on the way, else *through*.
"""

from __future__ import annotations

import msgspec

from detectors.ball.bands import HEIGHTS
from detectors.emission import make_event
from detectors.qualifiers.gains import carried_way
from detectors.qualifiers.pass_qualifier import Way, kick_of, passed_way, upfield
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, number, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

LINES = ("attack", "midfield", "defence")
WAYS = ("through", "around", "over")


class LineBreakParameters(msgspec.Struct, frozen=True):
    """``behind_m``: the ball is controlled so far behind the line at least (ours: a step; lines are not straight)."""

    behind_m: float = 1.0


class Standing(msgspec.Struct, frozen=True, gc=False):
    """A line of the opponents as the team with the ball sees it: how far up the field, between which sides."""

    name: str
    u_m: float
    right_w_m: float
    left_w_m: float


class Faced(msgspec.Struct, frozen=True, gc=False):
    """The lines before a pass (``name``: its anchor) or a carry (the player), and whether the ball has been high."""

    name: str
    lines: tuple[Standing, ...]
    high: bool = False


class LineBreakState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; the newest frame; x of each line by (team, line); whether the ball is high; newest passes and
    gain."""

    attacks: Team = ""
    frame: Event | None = None
    places: tuple[tuple[str, str, float], ...] = ()
    high: bool = False
    passes: tuple[Faced, ...] = ()
    gain: Faced | None = None


class LineBreak:
    """8.9: ``linebreak``: a pass that arrives, or a carry, goes past a line of the opponents.

    ``variant``: the line, of attack, midfield or defence, and how: through, around, over. One event a line. A pass
    is shown at its kick, a carry at its end; ``detail.by`` says which, ``line_x_m`` where the line was.
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
            team_variants={"linebreak": tuple(f"{line} {way}" for line in LINES for way in WAYS)},
            amends=("linebreak",),
        )  # fmt: skip

    def initial(self) -> LineBreakState:
        """Nothing known."""
        return LineBreakState()

    def step(self, state: LineBreakState, event: Event) -> Step[LineBreakState]:
        """Notes the lines when a pass or carry begins, and looks which are behind the ball at its end."""
        if event.kind == "frame":
            return self._with(state, frame=event), NOTHING
        payload = published(event)
        if event.kind == "direction":
            # As in 4.9: with changed ends what was told of lines is void.
            return self._with(state, attacks=payload.team, places=()), NOTHING
        if event.kind == "ball.height":
            return self._risen(state, payload.variant == HEIGHTS[-1]), NOTHING
        if event.kind == "lines.changed":
            kept = tuple(p for p in state.places if p[:2] != (payload.team, payload.variant))
            return self._with(state, places=(*kept, (payload.team, payload.variant, number(payload, "x_m")))), NOTHING
        if not state.attacks or state.frame is None:
            return state, NOTHING
        if event.kind == "pass.attempt":
            faced = Faced(event.source, self._lines(state, payload.team), state.high)
            return self._with(state, passes=(*state.passes[-1:], faced)), NOTHING
        if event.kind == "possession.gain":
            return self._with(state, gain=Faced(payload.player, self._lines(state, payload.team))), NOTHING
        return state, self._broken(state, event, payload)

    def _with(self, state: LineBreakState, **changes: object) -> LineBreakState:
        return msgspec.structs.replace(state, **changes)

    def _risen(self, state: LineBreakState, high: bool) -> LineBreakState:
        passes = state.passes
        if high and passes:
            passes = (*passes[:-1], msgspec.structs.replace(passes[-1], high=True))
        return self._with(state, high=high, passes=passes)

    def _lines(self, state: LineBreakState, team: Team) -> tuple[Standing, ...]:
        """The opponents' lines now: each outfield player counts to the nearest of those that 4.9 told."""
        assert state.frame is not None
        frame = frame_of(state.frame)
        told = [(line, x_m) for owner, line, x_m in state.places if owner and owner != team]
        if not told:
            return ()
        members: dict[str, list[tuple[float, float]]] = {}
        for body in frame.players:
            if body.team and body.team != team and body.object_id not in self._keepers:
                line = min(told, key=lambda named: (abs(named[1] - body.x_m), named[0]))[0]
                members.setdefault(line, []).append(upfield(state.attacks, team, body.x_m, body.y_m))
        return tuple(_standing(name, members[name]) for name in LINES if name in members)

    def _broken(self, state: LineBreakState, event: Event, ended: EventPayload) -> tuple[Event, ...]:
        is_pass = event.kind == "pass.complete"
        if is_pass:
            faced = next((f for f in state.passes if f.name == event.source), None)
            way = passed_way(state.attacks, ended)
        else:
            faced = state.gain if state.gain is not None and state.gain.name == ended.player else None
            way = carried_way(state.attacks, ended)
        if faced is None or way is None:
            return NOTHING
        sign = 1.0 if ended.team == state.attacks else -1.0
        shown_us = kick_of(ended) if is_pass else event.dated_us
        out = []
        for line in faced.lines:
            if not way.from_u_m < line.u_m <= way.to_u_m - self.parameters.behind_m:
                continue
            detail: dict[str, Scalar] = {"by": "pass" if is_pass else "carry", "line_x_m": round(sign * line.u_m, 2)}
            variant = f"{line.name} {_how(way, line, high=faced.high)}"
            told = EventPayload(variant, ended.team, ended.player, ended.x_m, ended.y_m, None, ended.confidence, detail)
            anchor = f"{event.source}/{'' if is_pass else 'carry/'}{line.name}"
            out.append(make_event("linebreak", event.ts_us, anchor, told, causes=(event.id,), dated_us=shown_us))
        return tuple(out)


def _standing(name: str, members: list[tuple[float, float]]) -> Standing:
    along, across = [u for u, _ in members], [w for _, w in members]
    return Standing(name, round(sum(along) / len(along), 2), round(min(across), 2), round(max(across), 2))


def _how(way: Way, line: Standing, *, high: bool) -> str:
    if high:
        return "over"
    share = (line.u_m - way.from_u_m) / (way.to_u_m - way.from_u_m)
    w_m = way.from_w_m + share * (way.to_w_m - way.from_w_m)
    return "through" if line.right_w_m <= w_m <= line.left_w_m else "around"
