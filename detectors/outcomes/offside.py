"""7.15: the offside line, and who is beyond it when the ball is played (IFAB Law 11).

Theory of operation
-------------------
A position is judged when a team-mate plays the ball: nearer to the opponents' goal line than the ball and the
second-last opponent, in the opponents' half; level is not offside. The goalkeeper is an opponent like others. Attempts
are dated at their kick, so the newest frame is that of the kick.

Law 11 counts head, body and feet. What comes in here is one point of a body, its middle, or the mean of its feet, of
both players alike. What sticks out of them differs by decimetres, so ``close`` marks what that could turn.
"""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Frame, Scalar, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OffsideParameters(msgspec.Struct, frozen=True):
    """``close_m``: nearer than this to the line, bodies as points cannot tell (Laurie's tolerance). ``move_m``,
    ``every_us``: in play the line is told again when it has moved so far; it is looked at so often (ours)."""

    close_m: float = 0.2
    move_m: float = 2.0
    every_us: int = 500_000


class OffsideState(msgspec.Struct, frozen=True, gc=False):
    """Who attacks +x; who has the ball; the newest frame; which line was told last, of which team; when the next look
    is due."""

    attacks: Team = ""
    holds: Team = ""
    frame: Event | None = None
    told_m: float = math.inf
    told: Team = ""
    due_us: int = -(2**62)


class OffsideLine:
    """7.15: ``offside.line`` of the team that has the ball, and ``offside.position`` of its players beyond it.

    ``offside.line``: ``x_m`` is the line, ``team`` attacks it. Told whenever that team passes or shoots (variant
    ``kick``), and in between when the line has moved (``moved``). ``offside.position``: at each pass and shot, every
    mate beyond the line; ``detail.margin_m`` by how much, ``detail.close`` if that is too little to be sure. A position
    is no offence (9.9).
    """

    def __init__(self, parameters: OffsideParameters | None = None) -> None:
        self.parameters = parameters or OffsideParameters()
        self.spec = Spec(
            name="offside_line",
            number="7.15",
            level=7,
            inputs=("frame", "direction", "team.possession", "pass.attempt", "shot.attempt"),
            outputs=("offside.line", "offside.position"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 11; StreamTeam; LaurieOnTracking (tolerance)",
            team_variants={"offside.line": ("kick", "moved"), "offside.position": ("",)},
            untyped=("offside.line",),
        )

    def initial(self) -> OffsideState:
        """Nothing known."""
        return OffsideState()

    def step(self, state: OffsideState, event: Event) -> Step[OffsideState]:
        """A look now and then while somebody has the ball; at kicks the positions."""
        if event.kind == "frame":
            return self._look(state, event)
        payload = published(event)
        if event.kind == "direction":
            return OffsideState(payload.team, state.holds, state.frame), NOTHING
        if event.kind == "team.possession":
            return OffsideState(
                state.attacks, payload.team, state.frame, state.told_m, state.told, state.due_us
            ), NOTHING
        return self._kicked(state, event, payload)

    def _look(self, state: OffsideState, event: Event) -> Step[OffsideState]:
        after = OffsideState(state.attacks, state.holds, event, state.told_m, state.told, state.due_us)
        if not state.holds or not state.attacks or event.ts_us < state.due_us:
            return after, NOTHING
        frame = frame_of(event)
        line_u_m = offside_line_m(frame, state.holds, state.attacks, _ball_u_m(frame, state.holds, state.attacks))
        due_us = event.ts_us + self.parameters.every_us
        moved = state.told != state.holds or line_u_m is None or abs(line_u_m - state.told_m) >= self.parameters.move_m
        if line_u_m is None or not moved:
            return OffsideState(state.attacks, state.holds, event, state.told_m, state.told, due_us), NOTHING
        anchor = f"{event.source}:{event.ts_us}"
        line = _line(event.ts_us, anchor, "moved", state.holds, state.attacks, line_u_m, ())
        return OffsideState(state.attacks, state.holds, event, line_u_m, state.holds, due_us), (line,)

    def _kicked(self, state: OffsideState, event: Event, payload: EventPayload) -> Step[OffsideState]:
        if not state.attacks or state.frame is None or payload.x_m is None or not payload.team:
            return state, NOTHING
        frame = frame_of(state.frame)
        sign = 1.0 if payload.team == state.attacks else -1.0
        line_u_m = offside_line_m(frame, payload.team, state.attacks, sign * payload.x_m)
        if line_u_m is None:
            return state, NOTHING
        out = [_line(event.ts_us, event.source, "kick", payload.team, state.attacks, line_u_m, (event.id,))]
        for body in frame.players:
            if body.team == payload.team and body.object_id != payload.player and sign * body.x_m > line_u_m:
                out.append(self._position(event, body, sign * body.x_m - line_u_m))
        due_us = event.ts_us + self.parameters.every_us
        return OffsideState(state.attacks, state.holds, state.frame, line_u_m, payload.team, due_us), out

    def _position(self, event: Event, body: BodyState, margin_m: float) -> Event:
        detail: dict[str, Scalar] = {
            "margin_m": round(margin_m, 2),
            "close": margin_m <= self.parameters.close_m,
            "kick_us": event.ts_us,
        }
        payload = EventPayload("", body.team, body.object_id, body.x_m, body.y_m, detail=detail)
        anchor = f"{event.source}/{body.object_id}"
        return make_event("offside.position", event.ts_us, anchor, payload, causes=(event.id,))


def offside_line_m(frame: Frame, team: Team, attacks: Team, ball_u_m: float) -> float | None:
    """How far up the field a team is onside: second-last opponent, ball, or halfway line, whichever is farthest.

    Args:
        frame: everybody.
        team: which attacks.
        attacks: the team that attacks +x.
        ball_u_m: the ball, towards the goal that ``team`` attacks.

    Returns:
        metres from halfway towards that goal; None if fewer than two opponents are seen.
    """
    sign = 1.0 if team == attacks else -1.0
    opponents = sorted(sign * b.x_m for b in frame.players if b.team and b.team != team)
    return max(opponents[-2], ball_u_m, 0.0) if len(opponents) >= 2 else None


def _ball_u_m(frame: Frame, team: Team, attacks: Team) -> float:
    """The ball as a team sees it; of a lost ball nothing is claimed."""
    if frame.ball is None:
        return -math.inf
    return frame.ball.x_m if team == attacks else -frame.ball.x_m


def _line(
    ts_us: int, anchor: str, variant: str, team: Team, attacks: Team, line_u_m: float, causes: tuple[str, ...]
) -> Event:
    x_m = line_u_m if team == attacks else -line_u_m
    return make_event("offside.line", ts_us, anchor, EventPayload(variant, team, x_m=x_m), causes=causes)
