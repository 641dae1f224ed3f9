"""6.2, 6.3: possession: of the player who played the ball last, and of a team."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.decisions import at_least, is_under
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import EventPayload, Scalar, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class HolderState(msgspec.Struct, frozen=True, gc=False):
    """State: True if play is dead; the holder's gain, None if no player has the ball."""

    dead: bool = False
    gain: Event | None = None


class IndividualPossession:
    """6.2: ``possession.gain`` at a hit or touch, ``possession.loss`` when another player gains the ball or it is dead.

    A *gain* is the first contact of another player than the last. Its id derives from its contact, or from the kick of
    a restart, whose taker has the ball from then on; ``variant`` is hit, touch or restart. Contacts with a dead ball
    are no gain. ``detail``: ``speed_before_m_s`` (of the gained ball). The id of the loss derives from the gain;
    ``variant`` is what ended the possession: hit, touch or dead. A loss to a dead ball is dated when that is known.
    ``detail``: ``held_us`` (duration), ``since_us`` (when the stoppage began, if a stoppage ended it).
    """

    def __init__(self) -> None:
        self.spec = Spec(
            name="individual_possession",
            number="6.2",
            level=6,
            inputs=("hit", "touch", "phase.dead", "phase.live"),
            outputs=("possession.loss", "possession.gain"),
            source="DEBS 2013 Q2; databallpy get_valid_gains",
            team_variants={
                "possession.loss": ("hit", "touch", "dead"),
                "possession.gain": ("hit", "touch", "restart"),
            },
            untyped=("possession.loss", "possession.gain"),
            details={"possession.loss": ("held_us", "since_us"), "possession.gain": ("speed_before_m_s",)},
        )

    def initial(self) -> HolderState:
        """No player has the ball."""
        return HolderState()

    def step(self, state: HolderState, event: Event) -> Step[HolderState]:
        """Follow a contact, a stoppage or a restart."""
        payload = payload_of(event)
        if event.kind == "phase.dead":
            return HolderState(True), (_loss(state.gain, event),) if state.gain is not None else NOTHING
        if event.kind == "phase.live":
            if not payload.player:
                return HolderState(), NOTHING
            gain = _gain(event, payload, "restart", 0.0)
            return HolderState(False, gain), (gain,)
        if state.dead or (state.gain is not None and payload_of(state.gain).player == payload.player):
            return state, NOTHING
        gain = _gain(event, payload, event.kind, number(payload, "speed_before_m_s"))
        lost = (_loss(state.gain, event),) if state.gain is not None else ()
        return HolderState(False, gain), (*lost, gain)


def _stoppage_detail(cause: Event) -> dict[str, int]:
    """``since_us`` of a ``phase.dead``, which is known only some time after the stoppage began; else empty."""
    since_us = payload_of(cause).detail.get("since_us") if cause.kind == "phase.dead" else None
    return {"since_us": since_us} if isinstance(since_us, int) else {}


def _gain(event: Event, payload: EventPayload, variant: str, speed_m_s: float) -> Event:
    gained = msgspec.structs.replace(payload, variant=variant, detail={"speed_before_m_s": speed_m_s})
    return make_event("possession.gain", event.ts_us, f"{event.source}/{variant}", gained, causes=(event.id,))


def _loss(gain: Event, cause: Event) -> Event:
    """The loss that ends a gain; ``variant`` is what ended it: hit, touch or dead."""
    held, ended = payload_of(gain), payload_of(cause)
    variant = "dead" if cause.kind == "phase.dead" else cause.kind
    since = _stoppage_detail(cause)
    ended_us = int(since.get("since_us", cause.ts_us))
    detail: dict[str, Scalar] = {"held_us": max(0, ended_us - gain.ts_us), **since}
    lost = EventPayload(variant, held.team, held.player, ended.x_m, ended.y_m, ended.z_m, held.confidence, detail)
    return make_event("possession.loss", cause.ts_us, gain.source, lost, causes=(gain.id, cause.id))


class TeamPossessionParameters(msgspec.Struct, frozen=True):
    """When both teams contest the ball.

    Attributes:
        contest_us: a team controls the ball once the other team has not played it for this long.
        back_us: the end of a contest is dated at most this long before the input at which it is known.
    """

    contest_us: Annotated[int, reason("Hierarchy 6.3, ours.")] = 800_000
    back_us: Annotated[int, reason("Two ticks (1.8).")] = 200_000


#: What a contest compares, and with which parameter.
_SINCE, _CONTEST = "time since the other team's contact", "team_possession.contest_us"


class TeamState(msgspec.Struct, frozen=True, gc=False):
    """State: True if play is dead; the last published value; the newest contact of each team."""

    dead: bool = False
    shown: str = ""
    home: Event | None = None
    away: Event | None = None


class TeamPossession:
    """6.3: ``team.possession`` x {home, away, in contest, dead}: the team that has the ball.

    A contact gives the ball to its team at once, unless the other team played it less than ``contest_us`` ago. Then it
    is in contest until one team has had it alone for exactly that long: a contact just after begins another contest. A
    restart gives the ball to the taker's team. ``team`` and ``player`` are set where the value is a team. ``dead`` is
    dated when it is known. ``detail`` of ``dead``: ``since_us`` (when the stoppage began).
    """

    def __init__(self, parameters: TeamPossessionParameters | None = None) -> None:
        self.parameters = parameters or TeamPossessionParameters()
        self.spec = Spec(
            name="team_possession",
            number="6.3",
            level=6,
            inputs=("clock.tick", "hit", "touch", "phase.dead", "phase.live"),
            outputs=("team.possession",),
            horizon_us=self.parameters.back_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI possession control; 0.8 s ours",
            variants={"team.possession": ("home", "away", "in contest", "dead")},
            details={"team.possession": ("since_us",)},
        )

    def initial(self) -> TeamState:
        """Unknown."""
        return TeamState()

    def step(self, state: TeamState, event: Event) -> Step[TeamState]:
        """Follow a contact, a stoppage, a restart, or a tick (the end of a contest)."""
        if event.kind == "clock.tick":
            return self._settle(state, event, event.ts_us)
        payload = payload_of(event)
        if event.kind == "phase.dead":
            return _show(TeamState(True, state.shown), "dead", event, event)
        if event.kind == "phase.live":
            kicked = {payload.team: event} if payload.team else {}
            alive = TeamState(False, state.shown, kicked.get("home"), kicked.get("away"))
            return _show(alive, payload.team, event, event) if payload.team else (alive, ())
        if state.dead:
            return state, NOTHING
        state, settled = self._settle(state, event, event.ts_us - 1)
        home = event if payload.team == "home" else state.home
        away = event if payload.team == "away" else state.away
        rival = away if payload.team == "home" else home
        contested = rival is not None and is_under(
            _SINCE, event.ts_us - played_us(rival), self.parameters.contest_us, _CONTEST
        )
        value = "in contest" if contested else payload.team
        after, shown = _show(TeamState(False, state.shown, home, away), value, event, event)
        return after, (*settled, *shown)

    def _settle(self, state: TeamState, event: Event, until_us: int) -> tuple[TeamState, tuple[Event, ...]]:
        """End a contest that was over by ``until_us``, at ``event`` or before it."""
        if state.shown != "in contest" or state.home is None or state.away is None:
            return state, ()
        home_is_last = played_us(state.home) >= played_us(state.away)
        last, rival = (state.home, state.away) if home_is_last else (state.away, state.home)
        over_us = played_us(rival) + self.parameters.contest_us
        if not at_least(_SINCE, until_us - played_us(rival), self.parameters.contest_us, _CONTEST):
            return state, ()
        return _show(state, payload_of(last).team, event, last, max(over_us, event.ts_us - self.parameters.back_us))


def played_us(event: Event) -> int:
    """The time of a contact; the kick of a restart is known only some metres later."""
    kick_us = payload_of(event).detail.get("kick_us") if event.kind == "phase.live" else None
    return kick_us if isinstance(kick_us, int) else event.ts_us


def _show(
    state: TeamState, value: str, event: Event, cause: Event, at_us: int | None = None
) -> tuple[TeamState, tuple[Event, ...]]:
    """Publish a new value at ``event``, or dated ``at_us``; team, player and position are those of ``cause``."""
    if value == state.shown:
        return state, ()
    payload = payload_of(cause)
    controlled = value in ("home", "away")
    team, player = (payload.team, payload.player) if controlled else ("", "")
    detail = _stoppage_detail(cause)
    shown = EventPayload(value, team, player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail)
    ts_us = event.ts_us if at_us is None else at_us
    change = make_event("team.possession", ts_us, f"{event.source}:{ts_us}", shown, causes=(cause.id,))
    return TeamState(state.dead, value, state.home, state.away), (change,)
