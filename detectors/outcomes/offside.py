"""7.15: the offside line, and the players beyond it when the ball is played (IFAB Law 11).

Theory of operation
-------------------
A position is judged when a team-mate plays the ball: nearer to the opponents' goal line than the ball and the
second-last opponent, in the opponents' half; level is not offside. The goalkeeper is an opponent like others. Attempts
are dated at their kick, so the newest frame is that of the kick.

Law 11 counts head, body and feet. The input is one point of each body, its middle or the mean of its feet. The extent
of a body differs by decimetres, so ``close`` marks the positions that it could turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

import msgspec

from detectors.decisions import at_least, is_over, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Frame, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class OffsideParameters(msgspec.Struct, frozen=True):
    """Limits of the offside line.

    Attributes:
        close_m: a player at most this far beyond the line is close to it.
        move_m: in play the line is published again when it has moved this far.
        every_us: time between two samples of the line.
    """

    close_m: Annotated[float, reason("LaurieOnTracking's tolerance: points for bodies decide no less.")] = 0.2
    move_m: Annotated[float, reason("Ours.")] = 2.0
    every_us: Annotated[int, reason("Ours.")] = 500_000


class OffsideState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        attacks: team that attacks +x.
        holds: team that has the ball.
        frame: newest frame.
        published_m: the newest published line.
        published_team: its team.
        due_us: time of the next sample.
    """

    attacks: Team = ""
    holds: Team = ""
    frame: Event | None = None
    published_m: float = math.inf
    published_team: Team = ""
    due_us: int = -(2**62)


class OffsideLine:
    """7.15: ``offside.line`` of the team that has the ball, and ``offside.position`` of its players beyond it.

    ``offside.line``: ``x_m`` is the line, ``team`` attacks it. Published whenever that team passes or shoots (variant
    ``kick``), and in between when the line has moved (``moved``). ``offside.position``: at each pass and shot, every
    mate beyond the line. ``detail``: ``margin_m`` (metres beyond), ``close`` (true if that is too little to be sure),
    ``kick_us`` (event time of the kick). A position is no offence (9.9).
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
            details={"offside.position": ("margin_m", "close", "kick_us")},
        )

    def initial(self) -> OffsideState:
        """Nothing known."""
        return OffsideState()

    def step(self, state: OffsideState, event: Event) -> Step[OffsideState]:
        """Sample the line while a team has the ball; judge positions at kicks."""
        if event.kind == "frame":
            return self._look(state, event)
        payload = payload_of(event)
        if event.kind == "direction":
            return OffsideState(payload.team, state.holds, state.frame), NOTHING
        if event.kind == "team.possession":
            return OffsideState(
                state.attacks, payload.team, state.frame, state.published_m, state.published_team, state.due_us
            ), NOTHING
        return self._kicked(state, event, payload)

    def _look(self, state: OffsideState, event: Event) -> Step[OffsideState]:
        after = OffsideState(state.attacks, state.holds, event, state.published_m, state.published_team, state.due_us)
        if not state.holds or not state.attacks or event.ts_us < state.due_us:
            return after, NOTHING
        frame = frame_of(event)
        line_u_m = offside_line_m(frame, state.holds, state.attacks, _ball_u_m(frame, state.holds, state.attacks))
        due_us = event.ts_us + self.parameters.every_us
        if line_u_m is None or not self._has_moved(state, line_u_m):
            return msgspec.structs.replace(state, frame=event, due_us=due_us), NOTHING
        anchor = f"{event.source}:{event.ts_us}"
        line = _line(event.ts_us, anchor, "moved", state.holds, state.attacks, line_u_m, ())
        return OffsideState(state.attacks, state.holds, event, line_u_m, state.holds, due_us), (line,)

    def _has_moved(self, state: OffsideState, line_u_m: float) -> bool:
        """True if the line is another team's than the published one, or elsewhere."""
        if state.published_team != state.holds:
            return True
        what, moved_m = "distance that the line has moved", abs(line_u_m - state.published_m)
        return at_least(what, moved_m, self.parameters.move_m, "offside.move_m", about="moved")

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
            if body.team != payload.team or body.object_id == payload.player:
                continue
            about, upfield_m = ("offside.position", body.object_id), sign * body.x_m
            if upfield_m > line_u_m:
                note("distance beyond the line", upfield_m - line_u_m, "at least", 0.0, "", about, "m")
                out.append(self._position(event, body, upfield_m - line_u_m))
        due_us = event.ts_us + self.parameters.every_us
        return OffsideState(state.attacks, state.holds, state.frame, line_u_m, payload.team, due_us), out

    def _position(self, event: Event, body: BodyState, margin_m: float) -> Event:
        what, close_m, about = "distance beyond the line", self.parameters.close_m, ("offside.position", body.object_id)
        close = not is_over(what, margin_m, close_m, "offside.close_m", about)
        detail: dict[str, Scalar] = {"margin_m": round(margin_m, 2), "close": close, "kick_us": event.ts_us}
        payload = EventPayload("", body.team, body.object_id, body.x_m, body.y_m, detail=detail)
        anchor = f"{event.source}/{body.object_id}"
        return make_event("offside.position", event.ts_us, anchor, payload, causes=(event.id,))


def offside_line_m(frame: Frame, team: Team, attacks: Team, ball_u_m: float) -> float | None:
    """The offside line: second-last opponent, ball, or halfway line, whichever is farthest up the pitch.

    Args:
        frame: all players.
        team: the attacking team.
        attacks: the team that attacks +x.
        ball_u_m: position of the ball, towards the goal that ``team`` attacks.

    Returns:
        Metres from the halfway line towards that goal; None with fewer than two opponents.
    """
    sign = 1.0 if team == attacks else -1.0
    return line_before_m((sign * b.x_m for b in frame.players if b.team and b.team != team), ball_u_m)


def line_before_m(opponents_u_m: Iterable[float], ball_u_m: float) -> float | None:
    """The offside line of :func:`offside_line_m`, by the opponents' positions towards their goal line."""
    opponents = sorted(opponents_u_m)
    return max(opponents[-2], ball_u_m, 0.0) if len(opponents) >= 2 else None


def _ball_u_m(frame: Frame, team: Team, attacks: Team) -> float:
    """Position of the ball towards the goal that a team attacks; minus infinity if the ball is lost."""
    if frame.ball is None:
        return -math.inf
    return frame.ball.x_m if team == attacks else -frame.ball.x_m


def _line(
    ts_us: int, anchor: str, variant: str, team: Team, attacks: Team, line_u_m: float, causes: tuple[str, ...]
) -> Event:
    x_m = line_u_m if team == attacks else -line_u_m
    return make_event("offside.line", ts_us, anchor, EventPayload(variant, team, x_m=x_m), causes=causes)
