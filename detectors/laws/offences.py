"""9.9, 9.11: offside offences and goalkeepers who hold the ball too long (IFAB Laws 11 and 12).

An offside position (7.15) is judged where the ball is played. It becomes an offence when that player is the next to
play the ball (``play``), when he is after it has come back from a post or from a save (``advantage``), or, told with
doubt, when play is stopped so soon after the kick that nobody else had the ball (``interfere``). From a throw-in, a
goal kick or a corner nobody is offside.
"""

from __future__ import annotations

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.emission import make_event
from detectors.laws.restarts import restart_kind
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, published, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Restarts from which nobody is offside (Law 11.3).
_FREE = ("throw_in", "goal_kick", "corner")
_REBOUNDS = ("ball.woodwork", "gk.parry", "gk.punch", "gk.drop")


class OffenceParameters(msgspec.Struct, frozen=True):
    """What makes an offence of a position; all ours.

    Attributes:
        within_us: he is involved at most so long after the kick (StreamTeam's longest pass).
        stop_us: a stop at most so long after the kick may be for offside: a flag goes up within some seconds.
        same_us: a kick so near to a restart's is that restart.
        doubt: confidence of an offence that a stop alone tells of.
    """

    within_us: int = 7_000_000
    stop_us: int = 4_000_000
    same_us: int = 1_500_000
    doubt: float = 0.4


class Offside(msgspec.Struct, frozen=True, gc=False):
    """Players in offside positions at the newest kick.

    Attributes:
        kick_us: the kick; -1 when there is nothing to watch.
        positions: events of 7.15.
        free_us: the newest kick from which nobody is offside.
        rebound: whether the ball has come back since.
    """

    kick_us: int = -1
    positions: tuple[Event, ...] = ()
    free_us: int = -(2**62)
    rebound: bool = False


class OffsideOffence:
    """9.9: ``offside.offence`` x {play, interfere, advantage}; ``player`` was offside at ``detail.kick_us``."""

    def __init__(self, sheet: MatchSheet, parameters: OffenceParameters | None = None) -> None:
        self.parameters = parameters or OffenceParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="offside_offence",
            number="9.9",
            level=9,
            inputs=("play.dead", "play.live", "possession.gain", "offside.position", *_REBOUNDS),
            outputs=("offside.offence",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 11",
            team_variants={"offside.offence": ("play", "interfere", "advantage")},
        )

    def initial(self) -> Offside:
        """Nobody is watched."""
        return Offside()

    def step(self, state: Offside, event: Event) -> Step[Offside]:
        """Remembers positions, and looks who is involved next."""
        payload, p = published(event), self.parameters
        if event.kind == "offside.position":
            return self._position(state, event, payload), NOTHING
        if event.kind == "play.live":
            kick_us = time_us(payload, "kick_us")
            free = restart_kind(self.pitch, payload) in _FREE
            # Positions may have been judged at this very kick, before it was known for what it is.
            mine = free and abs(state.kick_us - kick_us) <= p.same_us
            free_us = kick_us if free else state.free_us
            return (Offside(free_us=free_us) if mine else msgspec.structs.replace(state, free_us=free_us)), NOTHING
        if state.kick_us < 0:
            return state, NOTHING
        over = Offside(free_us=state.free_us)
        if event.ts_us - state.kick_us > p.within_us:
            return over, NOTHING
        if event.kind == "play.dead":
            soon = event.ts_us - state.kick_us <= p.stop_us and payload.variant == "stop"
            return over, (self._told("interfere", state.positions[0], event, p.doubt),) if soon else NOTHING
        if event.kind in _REBOUNDS:
            return msgspec.structs.replace(state, rebound=True), NOTHING
        return self._gain(state, over, event, payload)

    def _position(self, state: Offside, event: Event, payload: EventPayload) -> Offside:
        kick_us = time_us(payload, "kick_us")
        if abs(kick_us - state.free_us) <= self.parameters.same_us:
            return state
        others = state.positions if kick_us == state.kick_us else ()
        return Offside(kick_us, (*others, event), state.free_us)

    def _gain(self, state: Offside, over: Offside, event: Event, payload: EventPayload) -> Step[Offside]:
        """The first who has the ball after the kick."""
        if event.ts_us <= state.kick_us:
            return state, NOTHING
        his = next((e for e in state.positions if _player(e) == payload.player), None)
        if his is not None:
            variant = "advantage" if state.rebound else "play"
            confidence = 0.5 if published(his).detail["close"] else 0.9
            return over, (self._told(variant, his, event, confidence),)
        # A keeper who saves has not ended it: the ball may come back to who was offside.
        kept = state.rebound and payload.team == opponents_of(published(state.positions[0]).team)
        return (state if kept else over), NOTHING

    def _told(self, variant: str, position: Event, event: Event, confidence: float) -> Event:
        payload, at = published(position), published(event)
        x_m, y_m = (at.x_m, at.y_m) if variant != "interfere" else (payload.x_m, payload.y_m)
        detail: dict[str, Scalar] = {"kick_us": payload.detail["kick_us"], "margin_m": payload.detail["margin_m"]}
        told = EventPayload(variant, payload.team, payload.player, x_m, y_m, confidence=confidence, detail=detail)
        return make_event("offside.offence", event.ts_us, position.source, told, causes=(position.id, event.id))


def _player(event: Event) -> str:
    return published(event).player


class HoldParameters(msgspec.Struct, frozen=True):
    """Law 12 since 2025/26: the referee counts down from ``warn_us`` on, at ``offence_us`` it is a corner kick."""

    warn_us: int = 5_000_000
    offence_us: int = 8_000_000


class Hold(msgspec.Struct, frozen=True, gc=False):
    """Who holds the ball with his hands since when, what was told of it (0, 1, 2), and whether play is dead."""

    player: str = ""
    team: Team = ""
    since_us: int = 0
    anchor: str = ""
    told: int = 0
    dead: bool = False


class KeeperHolding:
    """9.11: ``gk.hold_warn`` and ``gk.hold_offence``: a goalkeeper has held the ball for 5 s, and for 8 s.

    He holds it from the catch (5.5) until he releases it, somebody else hits it, it drops, or play is dead.
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

    def initial(self) -> Hold:
        """Nobody holds it."""
        return Hold()

    def step(self, state: Hold, event: Event) -> Step[Hold]:
        """Counts from the catch on."""
        if event.kind == "clock.tick":
            return self._count(state, event) if state.player else (state, NOTHING)
        payload = published(event)
        if event.kind in ("play.dead", "play.live"):
            return Hold(dead=event.kind == "play.dead"), NOTHING
        if event.kind == "gk.catch":
            if state.dead or payload.player == state.player:
                return state, NOTHING
            return Hold(payload.player, payload.team, event.ts_us, event.source), NOTHING
        if not state.player or event.ts_us <= state.since_us:
            return state, NOTHING
        if event.kind in ("pz.leave", "gk.drop") and payload.player != state.player:
            return state, NOTHING
        if event.kind == "hit" and payload.player == state.player:
            return state, NOTHING  # he handles the ball; a kick of his is released
        return Hold(), NOTHING

    def _count(self, state: Hold, event: Event) -> Step[Hold]:
        limit_us = (self.parameters.warn_us, self.parameters.offence_us)[state.told]
        if event.ts_us - state.since_us < limit_us:
            return state, NOTHING
        detail: dict[str, Scalar] = {"since_us": state.since_us}
        payload = EventPayload("", state.team, state.player, detail=detail)
        told = make_event(self.KINDS[state.told], event.ts_us, state.anchor, payload)
        after = Hold() if state.told else msgspec.structs.replace(state, told=1)
        return after, (told,)
