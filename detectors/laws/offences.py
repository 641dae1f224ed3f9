"""9.9, 9.11: offside offences, and goalkeepers who hold the ball too long (IFAB Laws 11 and 12, season 2025/26).

Theory of operation
-------------------
An offside position (7.15) is judged when a team-mate plays the ball. It becomes an offence (Law 11.2) by involvement:

| variant | involvement |
|---|---|
| ``play`` | the player is the next to play the ball |
| ``advantage`` | he is the next to play it after a rebound from the woodwork, a save, or an opponent's deflection |
| ``interfere`` | play stops soon after the kick, and the opponents take a free kick where he was |

An opponent who plays the ball deliberately ends the watch. A deflection (5.7), a save or a block is no deliberate play;
nor is a contact so soon after the kick that the opponent could not co-ordinate his movement (IFAB's guidance on
deliberate play). There is no offside from a throw-in, a goal kick or a corner kick (Law 11.3).

The offence stands if the next restart is a free kick of the opponents. If play runs on instead, or another restart
follows, the referee saw none, and the offence is withdrawn.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most, note
from detectors.emission import make_event, withdrawal
from detectors.play.restart_kicks import RestartKickParameters, restart_kind
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, location_m, number, payload_of, time_us
from football.pitch import pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: Restarts without offside (Law 11.3).
_FREE = ("throw_in", "goal_kick", "corner")
#: Contacts of opponents that are no deliberate play, and the woodwork.
_REBOUNDS = ("ball.woodwork", "gk.parry", "gk.punch", "gk.drop", "deflection")


class OffenceParameters(msgspec.Struct, frozen=True):
    """Limits of an offside offence.

    Attributes:
        within_us: a player is involved at most this long after the kick.
        stop_us: a stop at most this long after the kick may be for offside.
        same_us: a kick this near in time to a restart is that restart.
        deliberate_us: an opponent's contact sooner after the kick is no deliberate play.
        spot_m: the free kick for interfering is taken at most this far from where the player was at the kick.
        run_on_us: play that goes on for this long after an offence was not stopped for it.
        doubt: confidence of an offence concluded from stop and free kick alone.
    """

    within_us: Annotated[int, reason("StreamTeam's longest pass.")] = 7_000_000
    stop_us: Annotated[int, reason("Ours: a flag is up within some seconds.")] = 4_000_000
    same_us: Annotated[int, reason("As restart.back_us.")] = 1_500_000
    deliberate_us: Annotated[int, reason("As strike.block_us (6.7): a block.")] = 350_000
    spot_m: Annotated[float, reason("Ours: two seconds of a sprint, and the freedom that referees grant.")] = 20.0
    run_on_us: Annotated[int, reason("Ours: an assistant may wait with the flag until an attack is over.")] = 10_000_000
    doubt: Annotated[float, reason("Ours.")] = 0.6


class OffsideWatch(msgspec.Struct, frozen=True, gc=False):
    """Players in offside positions at the newest kick, and the newest offence.

    Attributes:
        positions: their events of 7.15, of one kick.
        free_us: time of the newest restart without offside.
        rebound: True if the ball has rebounded since the kick.
        stopped: the stop after the kick, until the restart shows what it was for.
        restarted: players in offside positions at the kick of that restart, which is known to be one only later.
        offence: the published offence, until the restart or play that runs on decides.
    """

    positions: tuple[Event, ...] = ()
    free_us: int = -(2**62)
    rebound: bool = False
    stopped: Event | None = None
    restarted: tuple[Event, ...] = ()
    offence: Event | None = None


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
            inputs=("clock.tick", "play.dead", "play.live", "possession.gain", "offside.position", *_REBOUNDS),
            outputs=("offside.offence",),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.kick)},
            source="IFAB Law 11 (2025/26)",
            annuls=("offside.offence",),
            amends=("offside.offence",),
            known={"offside.offence": Known("when he is involved")},
            team_variants={"offside.offence": ("play", "interfere", "advantage")},
            details={"offside.offence": ("kick_us", "margin_m")},
        )

    def initial(self) -> OffsideWatch:
        """No player is watched."""
        return OffsideWatch()

    def step(self, state: OffsideWatch, event: Event) -> Step[OffsideWatch]:
        """Remember positions, judge the next involvement, and see whether play stops for it."""
        if event.kind == "clock.tick":
            pending = state.offence if state.stopped is None else None
            return self._run_on(state, pending, event) if pending is not None else (state, NOTHING)
        if event.kind == "deflection" and event.annuls:
            return state, NOTHING
        payload = payload_of(event)
        if event.kind == "offside.position":
            return self._position(state, event, payload), NOTHING
        if event.kind == "play.live":
            return self._live(state, event, payload)
        if event.kind == "play.dead":
            return self._dead(state, event, payload), NOTHING
        if not state.positions or event.ts_us <= _kick_us(state.positions):
            return state, NOTHING
        over = OffsideWatch(free_us=state.free_us, offence=state.offence)
        what, since_us = "time since the kick", event.ts_us - _kick_us(state.positions)
        if not at_most(what, since_us, self.parameters.within_us, "offside_offence.within_us"):
            return over, NOTHING
        if event.kind in _REBOUNDS:
            mine = payload.team == payload_of(state.positions[0]).team
            return (state if mine else msgspec.structs.replace(state, rebound=True)), NOTHING
        return self._gain(state, over, event, payload)

    def _position(self, state: OffsideWatch, event: Event, payload: EventPayload) -> OffsideWatch:
        kick_us = time_us(payload, "kick_us")
        if abs(kick_us - state.free_us) <= self.parameters.same_us:
            return state
        if state.stopped is not None:
            return msgspec.structs.replace(state, restarted=_with(state.restarted, event, kick_us))
        return OffsideWatch(_with(state.positions, event, kick_us), state.free_us, offence=state.offence)

    def _dead(self, state: OffsideWatch, event: Event, payload: EventPayload) -> OffsideWatch:
        """Remember a stop that may be for offside, until the restart shows it."""
        if state.offence is not None:
            return msgspec.structs.replace(state, stopped=event)
        if state.positions and payload.variant == "stop":
            what, since_us = "time since the kick", event.ts_us - _kick_us(state.positions)
            if at_most(what, since_us, self.parameters.stop_us, "offside_offence.stop_us"):
                return msgspec.structs.replace(state, stopped=event)
        return OffsideWatch(free_us=state.free_us)

    def _live(self, state: OffsideWatch, event: Event, payload: EventPayload) -> Step[OffsideWatch]:
        """Let the restart decide about an offence or a stop before it."""
        kick_us, kind = time_us(payload, "kick_us"), restart_kind(self.pitch, payload, self.kick)
        free = kind in _FREE
        # Positions may have been judged at this very kick, before it was known to be a restart.
        newest = state.positions if state.stopped is None else state.restarted
        after = OffsideWatch(free_us=kick_us if free else state.free_us)
        if newest and not free and abs(_kick_us(newest) - kick_us) <= self.parameters.same_us:
            after = OffsideWatch(newest, after.free_us)
        if state.offence is not None and state.stopped is not None:
            confirmed = kind == "" or (kind == "free_kick" and payload.team == _opponents(state.offence))
            return after, NOTHING if confirmed else (withdrawal(state.offence, event.ts_us),)
        if state.stopped is None or kind != "free_kick" or payload.team != _opponents(state.positions[0]):
            return after, NOTHING
        nearest = min(state.positions, key=lambda position: _apart_m(position, payload))
        what, apart_m, spot_m = "the free kick from him", _apart_m(nearest, payload), self.parameters.spot_m
        if not at_most(what, apart_m, spot_m, "offside_offence.spot_m"):
            return after, NOTHING
        return after, (self._offence("interfere", nearest, event, self.parameters.doubt),)

    def _run_on(self, state: OffsideWatch, offence: Event, event: Event) -> Step[OffsideWatch]:
        """Withdraw an offence that the referee has not stopped play for."""
        what, since_us, limit_us = "time of play since", event.ts_us - offence.ts_us, self.parameters.run_on_us
        if not at_least(what, since_us, limit_us, "offside_offence.run_on_us"):
            return state, NOTHING
        return msgspec.structs.replace(state, offence=None), (withdrawal(offence, event.ts_us),)

    def _gain(self, state: OffsideWatch, over: OffsideWatch, event: Event, payload: EventPayload) -> Step[OffsideWatch]:
        """Judge the next player to have the ball after the kick."""
        position = next((e for e in state.positions if _player(e) == payload.player), None)
        if position is not None:
            variant = "advantage" if state.rebound else "play"
            confidence = 0.5 if payload_of(position).detail["close"] else 0.9
            offence = self._offence(variant, position, event, confidence)
            return msgspec.structs.replace(over, offence=offence), (offence,)
        if payload.team != _opponents(state.positions[0]):
            return over, NOTHING
        # A save, a deflection or a block has not ended the attack: the ball may come to a player who was offside.
        after_us, least_us = event.ts_us - _kick_us(state.positions), self.parameters.deliberate_us
        blocked = not at_least("time from the kick", after_us, least_us, "offside_offence.deliberate_us")
        return (msgspec.structs.replace(state, rebound=True) if blocked or state.rebound else over), NOTHING

    def _offence(self, variant: str, position: Event, event: Event, confidence: float) -> Event:
        offside, at = payload_of(position), payload_of(event)
        x_m, y_m = (at.x_m, at.y_m) if variant != "interfere" else (offside.x_m, offside.y_m)
        detail: dict[str, Scalar] = {"kick_us": offside.detail["kick_us"], "margin_m": offside.detail["margin_m"]}
        note("distance beyond the line", number(offside, "margin_m"), "at least", 0.0, unit="m")
        payload = EventPayload(variant, offside.team, offside.player, x_m, y_m, confidence=confidence, detail=detail)
        return make_event("offside.offence", event.ts_us, position.source, payload, causes=(position.id, event.id))


def _kick_us(positions: tuple[Event, ...]) -> int:
    """The kick at which positions were judged."""
    return time_us(payload_of(positions[0]), "kick_us")


def _with(positions: tuple[Event, ...], event: Event, kick_us: int) -> tuple[Event, ...]:
    """The positions of one kick, with one more; those of an earlier kick are over."""
    return (*positions, event) if positions and _kick_us(positions) == kick_us else (event,)


def _player(event: Event) -> str:
    return payload_of(event).player


def _opponents(event: Event) -> Team:
    """The opponents of the team of an event."""
    return opponents_of(payload_of(event).team)


def _apart_m(position: Event, restart: EventPayload) -> float:
    """Distance of a restart from a player's position."""
    (x_m, y_m), (at_x_m, at_y_m) = location_m(payload_of(position)), location_m(restart)
    return math.hypot(x_m - at_x_m, y_m - at_y_m)


class HoldParameters(msgspec.Struct, frozen=True):
    """Limits of holding the ball.

    Attributes:
        warn_us: a goalkeeper who holds the ball for this long is warned.
        offence_us: one who holds it for this long commits an offence.
        feet_us: a ball that stays on the ground for this long is at his feet, not held.
    """

    warn_us: Annotated[int, reason("Law 12 since 2025/26: the referee counts down the last five of eight seconds.")] = (
        3_000_000
    )
    offence_us: Annotated[int, reason("Law 12 since 2025/26: a corner kick for the opponents.")] = 8_000_000
    feet_us: Annotated[int, reason("Ours: longer than a bounce, which is still control.")] = 1_000_000


class HoldState(msgspec.Struct, frozen=True, gc=False):
    """A goalkeeper who holds the ball with his hands.

    Attributes:
        player: the goalkeeper; empty if no one holds it.
        team: his team.
        since_us: time of the catch.
        anchor: name of the catch.
        reported: number of events published of it.
        dead: True if play is dead.
        ground_us: the ball has been on the ground since then; -1 if it is not, or was there at the catch.
    """

    player: str = ""
    team: Team = ""
    since_us: int = 0
    anchor: str = ""
    reported: int = 0
    dead: bool = False
    ground_us: int = -1


class KeeperHolding:
    """9.11: ``gk.hold_warn`` and ``gk.hold_offence``: a goalkeeper has held the ball for 3 s, and for 8 s.

    He holds it from the catch (5.5) until he releases it, another player hits it, it drops or stays on the ground, or
    play is dead. ``detail``: ``since_us`` (event time of the catch).
    """

    KINDS = ("gk.hold_warn", "gk.hold_offence")

    def __init__(self, parameters: HoldParameters | None = None, *, heights: bool = True) -> None:
        self.parameters = parameters or HoldParameters()
        self.spec = Spec(
            name="keeper_holding",
            number="9.11",
            level=9,
            inputs=(
                "clock.tick",
                *(("ball.height",) if heights else ()),
                "hit",
                "kick.released",
                "pz.leave",
                "gk.catch",
                "gk.drop",
                "play.dead",
                "play.live",
            ),
            outputs=self.KINDS,
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 12 (2025/26)",
            team_variants=dict.fromkeys(self.KINDS, ("",)),
            details=dict.fromkeys(("gk.hold_warn", "gk.hold_offence"), ("since_us",)),
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
        if event.kind == "ball.height":
            return msgspec.structs.replace(state, ground_us=event.ts_us if payload.variant == "ground" else -1), NOTHING
        if event.kind in ("pz.leave", "gk.drop") and payload.player != state.player:
            return state, NOTHING
        if event.kind == "hit" and payload.player == state.player:
            return state, NOTHING  # he handles the ball; a kick of his is released
        return HoldState(), NOTHING

    def _count(self, state: HoldState, event: Event) -> Step[HoldState]:
        p = self.parameters
        on_ground_us = event.ts_us - state.ground_us if state.ground_us >= 0 else 0
        if at_least("time that the ball is on the ground", on_ground_us, p.feet_us, "keeper_holding.feet_us"):
            return HoldState(), NOTHING
        name = ("warn_us", "offence_us")[state.reported]
        limit_us, held_us = getattr(p, name), event.ts_us - state.since_us
        if not at_least("time in his hands", held_us, limit_us, f"keeper_holding.{name}"):
            return state, NOTHING
        detail: dict[str, Scalar] = {"since_us": state.since_us}
        payload = EventPayload("", state.team, state.player, detail=detail)
        hold = make_event(self.KINDS[state.reported], event.ts_us, state.anchor, payload)
        after = HoldState() if state.reported else msgspec.structs.replace(state, reported=1)
        return after, (hold,)
