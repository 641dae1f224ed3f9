"""12.5: the offside trap: a last line that steps up as the ball is played."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import above, at_least
from detectors.emission import make_event, withdrawal
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import EventPayload, Scalar, location_m, payload_as, payload_of, time_us
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class OffsideTrapParameters(msgspec.Struct, frozen=True):
    """Limits of an offside trap.

    Attributes:
        step_m_s: least mean speed of the last line, away from its goal, before the kick.
        within_us: time over which it steps up.
    """

    step_m_s: Annotated[float, reason("Hierarchy 12.5, ours.")] = 1.5
    within_us: Annotated[int, reason("Hierarchy 12.5, ours.")] = 1_000_000


class Lines(msgspec.Struct, frozen=True, gc=False):
    """The last lines of both teams in a scene, as x; +1 if home attacks +x, else -1."""

    ts_us: int
    home_x_m: float
    away_x_m: float
    sign: float


class OffsideTrapState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest lines, oldest first; offside positions (7.15) of the newest kick; the newest sprung trap."""

    lines: tuple[Lines, ...] = ()
    positions: tuple[Event, ...] = ()
    sprung: Event | None = None


class OffsideTrap:
    """12.5: ``trap`` x {sprung, beaten} x team: the last line steps up within a second before a pass.

    ``sprung``: the step leaves an opponent in an offside position (7.15), who is ``player``, and he offends (9.9); it
    is withdrawn with the offence. Who is beyond the place where the line was before it steps up was not caught by it.
    ``beaten``: a pass is received behind it; ``player`` is the receiver. ``team`` sets the trap. ``detail``:
    ``kick_us``, ``line_x_m`` (the line at the kick), ``step_m`` (how far it stepped up).
    """

    def __init__(self, sheet: MatchSheet, parameters: OffsideTrapParameters | None = None) -> None:
        self.parameters = parameters or OffsideTrapParameters()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="offside_trap",
            number="12.5",
            level=12,
            inputs=("scene", "offside.position", "pass.complete", "offside.offence"),
            outputs=("trap",),
            annuls=("trap",),
            amends=("trap",),
            known={"trap": Known("when the pass is received, or the player offends")},
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"trap": ("sprung", "beaten")},
            details={"trap": ("kick_us", "line_x_m", "step_m")},
        )

    def initial(self) -> OffsideTrapState:
        """Nobody seen."""
        return OffsideTrapState()

    def step(self, state: OffsideTrapState, event: Event) -> Step[OffsideTrapState]:
        """Keep the scenes and positions of a pass; judge the line at its reception and at an offence."""
        if event.kind == "scene":
            lines = self._lines(event)
            kept = tuple(one for one in state.lines if one.ts_us >= event.ts_us - _KEPT_US)
            return msgspec.structs.replace(state, lines=kept if lines is None else (*kept, lines)), NOTHING
        if event.kind == "offside.offence":
            return self._offence(state, event)
        payload = payload_of(event)
        kick_us = time_us(payload, "kick_us")
        if event.kind == "offside.position":
            same = tuple(one for one in state.positions if time_us(payload_of(one), "kick_us") == kick_us)
            return msgspec.structs.replace(state, positions=(*same, event)), NOTHING
        receiver = str(payload.detail["receiver"])
        if self._position(state, receiver, kick_us) is not None:
            return state, NOTHING
        return state, self._trap(state, event, payload, "beaten", receiver, kick_us)

    def _position(self, state: OffsideTrapState, player: str, kick_us: int) -> Event | None:
        """The offside position of a player at a kick."""
        at_kick = (one for one in state.positions if time_us(payload_of(one), "kick_us") == kick_us)
        return next((one for one in at_kick if payload_of(one).player == player), None)

    def _offence(self, state: OffsideTrapState, event: Event) -> Step[OffsideTrapState]:
        """A player who was caught offends, or did not."""
        sprung, offence = state.sprung, payload_of(event)
        if event.annuls:
            if sprung is None or event.annuls not in sprung.causes:
                return state, NOTHING
            return msgspec.structs.replace(state, sprung=None), (withdrawal(sprung, event.ts_us),)
        kick_us = time_us(offence, "kick_us")
        position = self._position(state, offence.player, kick_us)
        if position is None:
            return state, NOTHING
        caught = msgspec.structs.replace(payload_of(position), confidence=offence.confidence)
        out = self._trap(state, event, caught, "sprung", offence.player, kick_us)
        return (msgspec.structs.replace(state, sprung=out[0]) if out else state), out

    def _trap(
        self, state: OffsideTrapState, event: Event, payload: EventPayload, how: str, player: str, kick_us: int
    ) -> tuple[Event, ...]:
        p, defends = self.parameters, opponents_of(payload.team)
        now, before = (_newest(state.lines, at_us) for at_us in (kick_us, kick_us - p.within_us))
        if now is None or before is None or now.sign != before.sign:
            return NOTHING
        home = defends == "home"
        sign, line_m = (now.sign, now.home_x_m) if home else (-now.sign, now.away_x_m)
        step_m = sign * (line_m - (before.home_x_m if home else before.away_x_m))
        path = "offside_trap.step_m_s"
        if not at_least("speed of the last line", step_m / p.within_us * 1e6, p.step_m_s, path):
            return NOTHING
        x_m, y_m = location_m(payload)
        before_m = line_m - sign * step_m
        if how == "sprung" and not at_least("in front of the line before", sign * (x_m - before_m), 0.0, ""):
            return NOTHING
        if how == "beaten" and not above("behind the line", sign * (line_m - x_m), 0.0, ""):
            return NOTHING
        detail: dict[str, Scalar] = {"kick_us": kick_us, "line_x_m": round(line_m, 2), "step_m": round(step_m, 2)}
        trap = EventPayload(how, defends, player, x_m, y_m, None, payload.confidence, detail)
        return (make_event("trap", event.ts_us, event.source, trap, causes=(event.id,)),)

    def _lines(self, event: Event) -> Lines | None:
        """The rearmost player of each team but the goalkeeper; None if sides or players are unknown."""
        scene = payload_as(event, Scene)
        sign = scene.sign("home")
        if not sign:
            return None
        (_, home), (_, away) = (
            outfield(scene.team(team), scene.sign(team), self._keepers) for team in ("home", "away")
        )
        return Lines(event.ts_us, home[0].x_m, away[0].x_m, sign) if home and away else None


def _newest(lines: tuple[Lines, ...], ts_us: int) -> Lines | None:
    return next((one for one in reversed(lines) if one.ts_us <= ts_us), None)


#: A pass may be on its way for so long, after the line has stepped up.
_KEPT_US = 6_000_000
