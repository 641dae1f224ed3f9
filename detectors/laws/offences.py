"""9.9, 9.11: offside offences, and goalkeepers who hold the ball too long (IFAB Laws 11 and 12).

An offside position (7.15) is judged when the ball is played. It becomes an offence if that player is the next to play
the ball (``play``), or the next after it has rebounded from the woodwork or from a save (``advantage``), or, with
doubt, if play is stopped so soon after the kick that nobody else had the ball (``interfere``). There is no offside from
a throw-in, a goal kick or a corner kick.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most, note
from detectors.emission import make_event
from detectors.laws.restarts import restart_kind
from detectors.play.restart_kicks import RestartKickParameters
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, number, payload_of, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Restarts without offside (Law 11.3).
_FREE = ("throw_in", "goal_kick", "corner")
_REBOUNDS = ("ball.woodwork", "gk.parry", "gk.punch", "gk.drop")


class OffenceParameters(msgspec.Struct, frozen=True):
    """Limits of an offside offence.

    Attributes:
        within_us: a player is involved at most this long after the kick.
        stop_us: a stop at most this long after the kick may be for offside.
        same_us: a kick this near in time to a restart is that restart.
        doubt: confidence of an offence concluded from a stop alone.
    """

    within_us: Annotated[int, reason("StreamTeam's longest pass.")] = 7_000_000
    stop_us: Annotated[int, reason("Ours: a flag is up within some seconds.")] = 4_000_000
    same_us: Annotated[int, reason("As restart.back_us.")] = 1_500_000
    doubt: Annotated[float, reason("Ours.")] = 0.4


class OffsideWatch(msgspec.Struct, frozen=True, gc=False):
    """Players in offside positions at the newest kick.

    Attributes:
        kick_us: time of the kick; -1 without such players.
        positions: their events of 7.15.
        free_us: time of the newest restart without offside.
        rebound: True if the ball has rebounded since the kick.
    """

    kick_us: int = -1
    positions: tuple[Event, ...] = ()
    free_us: int = -(2**62)
    rebound: bool = False


class OffsideOffence:
    """9.9: ``offside.offence`` x {play, interfere, advantage}: a player in an offside position was involved.

    The position is where he was involved. ``detail``: ``kick_us`` (event time of the kick), ``margin_m`` (metres beyond
    the offside line then).
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: OffenceParameters | None = None,
        kick: RestartKickParameters | None = None,
    ) -> None:
        self.parameters = parameters or OffenceParameters()
        self.kick = kick or RestartKickParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="offside_offence",
            number="9.9",
            level=9,
            inputs=("play.dead", "play.live", "possession.gain", "offside.position", *_REBOUNDS),
            outputs=("offside.offence",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Law 11",
            team_variants={"offside.offence": ("play", "interfere", "advantage")},
        )

    def initial(self) -> OffsideWatch:
        """No player is watched."""
        return OffsideWatch()

    def step(self, state: OffsideWatch, event: Event) -> Step[OffsideWatch]:
        """Remember positions, and judge the next involvement."""
        payload, p = payload_of(event), self.parameters
        if event.kind == "offside.position":
            return self._position(state, event, payload), NOTHING
        if event.kind == "play.live":
            kick_us = time_us(payload, "kick_us")
            free = restart_kind(self.pitch, payload, self.kick) in _FREE
            # Positions may have been judged at this very kick, before it was known to be a restart.
            mine = free and abs(state.kick_us - kick_us) <= p.same_us
            free_us = kick_us if free else state.free_us
            return (OffsideWatch(free_us=free_us) if mine else msgspec.structs.replace(state, free_us=free_us)), NOTHING
        if state.kick_us < 0:
            return state, NOTHING
        over = OffsideWatch(free_us=state.free_us)
        what, since_us, path = "time since the kick", event.ts_us - state.kick_us, "offside_offence.within_us"
        if not at_most(what, since_us, p.within_us, path):
            return over, NOTHING
        if event.kind == "play.dead":
            soon = payload.variant == "stop" and at_most(what, since_us, p.stop_us, "offside_offence.stop_us")
            return over, (self._offence("interfere", state.positions[0], event, p.doubt),) if soon else NOTHING
        if event.kind in _REBOUNDS:
            return msgspec.structs.replace(state, rebound=True), NOTHING
        return self._gain(state, over, event, payload)

    def _position(self, state: OffsideWatch, event: Event, payload: EventPayload) -> OffsideWatch:
        kick_us = time_us(payload, "kick_us")
        if abs(kick_us - state.free_us) <= self.parameters.same_us:
            return state
        others = state.positions if kick_us == state.kick_us else ()
        return OffsideWatch(kick_us, (*others, event), state.free_us)

    def _gain(self, state: OffsideWatch, over: OffsideWatch, event: Event, payload: EventPayload) -> Step[OffsideWatch]:
        """Judge the first player to have the ball after the kick."""
        if event.ts_us <= state.kick_us:
            return state, NOTHING
        position = next((e for e in state.positions if _player(e) == payload.player), None)
        if position is not None:
            variant = "advantage" if state.rebound else "play"
            confidence = 0.5 if payload_of(position).detail["close"] else 0.9
            return over, (self._offence(variant, position, event, confidence),)
        # A save has not ended the attack: the ball may rebound to a player who was offside.
        saved = state.rebound and payload.team == opponents_of(payload_of(state.positions[0]).team)
        return (state if saved else over), NOTHING

    def _offence(self, variant: str, position: Event, event: Event, confidence: float) -> Event:
        offside, at = payload_of(position), payload_of(event)
        x_m, y_m = (at.x_m, at.y_m) if variant != "interfere" else (offside.x_m, offside.y_m)
        detail: dict[str, Scalar] = {"kick_us": offside.detail["kick_us"], "margin_m": offside.detail["margin_m"]}
        note("distance beyond the line", number(offside, "margin_m"), "at least", 0.0, unit="m")
        payload = EventPayload(variant, offside.team, offside.player, x_m, y_m, confidence=confidence, detail=detail)
        return make_event("offside.offence", event.ts_us, position.source, payload, causes=(position.id, event.id))


def _player(event: Event) -> str:
    return payload_of(event).player


class HoldParameters(msgspec.Struct, frozen=True):
    """Limits of holding the ball.

    Attributes:
        warn_us: a goalkeeper who holds the ball for this long is warned.
        offence_us: one who holds it for this long commits an offence.
    """

    warn_us: Annotated[int, reason("The referee counts down the last seconds.")] = 5_000_000
    offence_us: Annotated[int, reason("Law 12 since 2025/26: a corner kick for the opponents.")] = 8_000_000


class HoldState(msgspec.Struct, frozen=True, gc=False):
    """A goalkeeper who holds the ball with his hands.

    Attributes:
        player: the goalkeeper; empty if no one holds it.
        team: his team.
        since_us: time of the catch.
        anchor: name of the catch.
        reported: number of events published of it.
        dead: True if play is dead.
    """

    player: str = ""
    team: Team = ""
    since_us: int = 0
    anchor: str = ""
    reported: int = 0
    dead: bool = False


class KeeperHolding:
    """9.11: ``gk.hold_warn`` and ``gk.hold_offence``: a goalkeeper has held the ball for 5 s, and for 8 s.

    He holds it from the catch (5.5) until he releases it, another player hits it, it drops, or play is dead.
    ``detail``: ``since_us`` (event time of the catch).
    """

    KINDS = ("gk.hold_warn", "gk.hold_offence")

    def __init__(self, parameters: HoldParameters | None = None) -> None:
        self.parameters = parameters or HoldParameters()
        self.spec = Spec(
            name="keeper_holding",
            number="9.11",
            level=9,
            inputs=("clock.tick", "hit", "kick.released", "pz.leave", "gk.catch", "gk.drop", "play.dead", "play.live"),
            outputs=self.KINDS,
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 12 (2025/26)",
            team_variants=dict.fromkeys(self.KINDS, ("",)),
        )

    def initial(self) -> HoldState:
        """No goalkeeper holds the ball."""
        return HoldState()

    def step(self, state: HoldState, event: Event) -> Step[HoldState]:
        """Measure the time since the catch."""
        if event.kind == "clock.tick":
            return self._count(state, event) if state.player else (state, NOTHING)
        payload = payload_of(event)
        if event.kind in ("play.dead", "play.live"):
            return HoldState(dead=event.kind == "play.dead"), NOTHING
        if event.kind == "gk.catch":
            if state.dead or payload.player == state.player:
                return state, NOTHING
            return HoldState(payload.player, payload.team, event.ts_us, event.source), NOTHING
        if not state.player or event.ts_us <= state.since_us:
            return state, NOTHING
        if event.kind in ("pz.leave", "gk.drop") and payload.player != state.player:
            return state, NOTHING
        if event.kind == "hit" and payload.player == state.player:
            return state, NOTHING  # he handles the ball; a kick of his is released
        return HoldState(), NOTHING

    def _count(self, state: HoldState, event: Event) -> Step[HoldState]:
        name = ("warn_us", "offence_us")[state.reported]
        limit_us, held_us = getattr(self.parameters, name), event.ts_us - state.since_us
        if not at_least("time in his hands", held_us, limit_us, f"keeper_holding.{name}"):
            return state, NOTHING
        detail: dict[str, Scalar] = {"since_us": state.since_us}
        payload = EventPayload("", state.team, state.player, detail=detail)
        hold = make_event(self.KINDS[state.reported], event.ts_us, state.anchor, payload)
        after = HoldState() if state.reported else msgspec.structs.replace(state, reported=1)
        return after, (hold,)
