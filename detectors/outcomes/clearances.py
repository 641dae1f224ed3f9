"""7.9: clearances: a ball headed or kicked away from the own goal, meant for nobody."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most, note
from detectors.emission import is_version, make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, number, payload_of
from football.pitch import PENALTY_AREA_DEPTH_M, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class ClearanceParameters(msgspec.Struct, frozen=True):
    """Limits of a clearance.

    Attributes:
        within_us: the kick ends within this time.
        depth_m: a kick is from at most so far from the own goal line; a header from anywhere in the own third.
        blocked_m_s: least speed up the pitch of a kick that an opponent blocks at once.
    """

    within_us: Annotated[int, reason("StreamTeam's maxTime of a pass.")] = 7_000_000
    depth_m: Annotated[float, reason("The penalty area and ten metres: from farther up it is a misplaced pass.")] = (
        PENALTY_AREA_DEPTH_M + 10.0
    )
    blocked_m_s: Annotated[
        float, reason("Mean speed of a pass (Spearman); blocked passes of four simulated matches are slower there.")
    ] = 15.0


class ClearanceState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; pairs of opponents near each other (4.4); the last header and the last
    deflection, each with its player and event time; a kick that may be a clearance, and whether it was headed;
    event time of the newest clearance."""

    attacks: Team = ""
    near: tuple[tuple[str, str], ...] = ()
    header: tuple[str, int] = ("", 0)
    deflection: tuple[str, int] = ("", 0)
    kick: Event | None = None
    headed: bool = False
    cleared_us: int | None = None


class Clearance:
    """7.9: ``clearance``: headed up the pitch in the own third, or kicked near the own goal with an opponent near.

    Who receives a header says little about what was meant, so it counts without regard to that.
    A kicked ball goes out, or an opponent receives it beyond the own third; one that a mate receives is a pass, as in
    StreamTeam. Of a kick that an opponent blocks before it has left its kicker, only the speed up the pitch shows what
    was meant. Who is hit by the ball has cleared nothing. Shown at the kick, named by it. ``detail``: ``to`` (the
    player who received it, empty if it went out), ``end_x_m``, ``end_y_m``.
    """

    def __init__(self, sheet: MatchSheet, parameters: ClearanceParameters | None = None) -> None:
        self.parameters = parameters or ClearanceParameters()
        self._half_length_m = pitch_of(sheet).half_length_m
        # Measured from the halfway line, the own third ends a sixth of the pitch behind it.
        self._third_u_m = -self._half_length_m / 3.0
        # 5.4 sees headers where the ball has a height.
        headers = ("header",) if sheet.quality.ball_height else ()
        self.spec = Spec(
            name="clearance",
            number="7.9",
            level=7,
            inputs=(
                "direction", "opponents.apart", "opponents.near", *headers, "deflection", "kick.released",
                "pass.attempt", "possession.gain", "out",
            ),
            outputs=("clearance",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta (clearance); StreamTeam",
            team_variants={"clearance": ("",)},
            amends=("clearance",),
            known={"clearance": Known("when the ball is received or out")},
            details={"clearance": ("to", "end_x_m", "end_y_m")},
        )  # fmt: skip

    def initial(self) -> ClearanceState:
        """Nothing known."""
        return ClearanceState()

    def step(self, state: ClearanceState, event: Event) -> Step[ClearanceState]:
        """Follow pairs of opponents, contacts, a kick, and its end."""
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload.team), NOTHING
        if event.kind.startswith("opponents."):
            pair = payload.player, str(payload.detail["other"])
            rest = tuple(p for p in state.near if p != pair)
            near = (*rest, pair) if event.kind == "opponents.near" else rest
            return msgspec.structs.replace(state, near=near), NOTHING
        if event.kind == "header":
            return msgspec.structs.replace(state, header=(payload.player, event.ts_us)), NOTHING
        if event.kind == "deflection":
            if event.annuls:
                return state, NOTHING
            return msgspec.structs.replace(state, deflection=(payload.player, event.ts_us)), NOTHING
        if event.kind == "kick.released":
            if state.cleared_us == round(number(payload, "kick_us")):
                return state, NOTHING
            headed = self._is_headed(state, payload)
            clears = self._heads_away(state, payload) if headed else self._hasty(state, payload)
            return msgspec.structs.replace(state, kick=event if clears else None, headed=headed), NOTHING
        if event.kind == "pass.attempt":
            return self._attempted(state, event, payload), NOTHING
        return self._ended(state, event, payload)

    def _attempted(self, state: ClearanceState, event: Event, attempt: EventPayload) -> ClearanceState:
        """Note a kick that is met before 5.8 sees it leave."""
        detail = attempt.detail
        if not state.attacks or detail["released_us"] != detail["kick_us"] or attempt.x_m is None:
            return state
        placed = {**detail, "kick_x_m": attempt.x_m, "kick_y_m": attempt.y_m}
        kick = msgspec.structs.replace(attempt, detail=placed)
        headed = self._is_headed(state, kick)
        if not (self._heads_away(state, kick) if headed else self._is_deep(state, kick) and self._is_hard(state, kick)):
            return state
        event = msgspec.structs.replace(event, payload=kick)
        return msgspec.structs.replace(state, kick=event, headed=headed)

    def _is_headed(self, state: ClearanceState, kick: EventPayload) -> bool:
        return state.header == (kick.player, round(number(kick, "kick_us")))

    def _is_hard(self, state: ClearanceState, kick: EventPayload) -> bool:
        """True of a kick that goes up the pitch so fast that it was meant to go far."""
        upfield_m_s, least_m_s = self._upfield(state, kick.team, number(kick, "vx_m_s")), self.parameters.blocked_m_s
        return at_least("speed up the pitch", upfield_m_s, least_m_s, "clearance.blocked_m_s")

    def _heads_away(self, state: ClearanceState, kick: EventPayload) -> bool:
        """True of a header in the own third that goes up the pitch."""
        if not state.attacks or self._upfield(state, kick.team, number(kick, "vx_m_s")) <= 0.0:
            return False
        return self._upfield(state, kick.team, number(kick, "kick_x_m")) < self._third_u_m

    def _hasty(self, state: ClearanceState, kick: EventPayload) -> bool:
        """True of a kick under pressure near the own goal."""
        if not state.attacks or not any(kick.player in pair for pair in state.near):
            return False
        if state.deflection == (kick.player, round(number(kick, "kick_us"))):
            return False
        return self._is_deep(state, kick)

    def _is_deep(self, state: ClearanceState, kick: EventPayload) -> bool:
        depth_m = self._half_length_m + self._upfield(state, kick.team, number(kick, "kick_x_m"))
        return at_most("the kick from the own goal line", depth_m, self.parameters.depth_m, "clearance.depth_m")

    def _ended(self, state: ClearanceState, event: Event, ended: EventPayload) -> Step[ClearanceState]:
        if state.kick is None or is_version(event):
            return state, NOTHING
        kick = payload_of(state.kick)
        kick_us = round(number(kick, "kick_us"))
        is_out = event.kind == "out"
        if not is_out and (ended.player == kick.player or event.ts_us <= kick_us):
            return state, NOTHING
        after = msgspec.structs.replace(state, kick=None)
        what, since_us, limit_us = "time since the kick", event.ts_us - kick_us, self.parameters.within_us
        if not at_most(what, since_us, limit_us, "clearance.within_us") or ended.x_m is None:
            return after, NOTHING
        near_by = ended.team == kick.team or self._upfield(state, kick.team, ended.x_m) < self._third_u_m
        blocked = state.kick.kind == "pass.attempt"
        if near_by and not (is_out or state.headed or blocked):
            return after, NOTHING
        detail: dict[str, Scalar] = {"to": "" if is_out else ended.player, "end_x_m": ended.x_m, "end_y_m": ended.y_m}
        kick_x_m, kick_y_m = number(kick, "kick_x_m"), number(kick, "kick_y_m")
        if state.headed:
            behind_m = -self._upfield(state, kick.team, kick_x_m)
            note("the header behind the halfway line", behind_m, "at least", -self._third_u_m, unit="m")
        payload = EventPayload("", kick.team, kick.player, kick_x_m, kick_y_m, None, kick.confidence, detail)
        causes = (state.kick.id, event.id)
        cleared = make_event("clearance", event.ts_us, state.kick.source, payload, causes=causes, dated_us=kick_us)
        return msgspec.structs.replace(after, cleared_us=kick_us), (cleared,)

    def _upfield(self, state: ClearanceState, team: Team, x_m: float) -> float:
        return x_m if team == state.attacks else -x_m
