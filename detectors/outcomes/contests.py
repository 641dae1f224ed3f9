"""7.12, 7.13: take-ons and tackles, between a player with the ball and an opponent."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.hits import ReleaseParameters
from detectors.decisions import at_most, is_under, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class TakeOnParameters(msgspec.Struct, frozen=True):
    """Limits of a take-on.

    Attributes:
        front_m: an opponent in front is taken on at this distance.
        within_us: he is passed, or has the ball, within this time.
        front_share: in front means that the cosine of the angle to the carrier's heading is at least this.
        behind_m: he is passed when he is this far behind, along that heading.
        moving_m_s: least speed of a carrier who takes an opponent on.
        with_m: the ball is with the carrier up to this distance.
        kept_us: a take-on is lost if the passed opponent has the ball within this time.
        every_us: time between two samples.
        slow_m_s: a ball at least this fast was kicked before it was lost.
    """

    front_m: Annotated[float, reason("Hierarchy 7.12, ours.")] = 2.0
    within_us: Annotated[int, reason("Hierarchy 7.12, ours.")] = 2_000_000
    front_share: Annotated[float, reason("Ours: 60 degrees.")] = 0.5
    behind_m: Annotated[float, reason("Ours.")] = 0.3
    moving_m_s: Annotated[float, reason("StreamTeam's dribbling.")] = 1.944
    with_m: Annotated[float, reason("The default of release.release_m (5.8): farther away, the ball was kicked.")] = (
        ReleaseParameters().release_m
    )
    kept_us: Annotated[int, reason("Ours.")] = 1_000_000
    every_us: Annotated[int, reason("Ours.")] = 100_000
    slow_m_s: Annotated[float, reason("As tackle.slow_m_s (7.13).")] = 8.0


class Faced(msgspec.Struct, frozen=True, gc=False):
    """An opponent in front of the carrier: the newest time of it, and the carrier's heading then (a unit vector)."""

    player: str
    at_us: int
    heading_x: float
    heading_y: float


class TakeOnState(msgspec.Struct, frozen=True, gc=False):
    """State: the carrier's gain; opponents lately in front of him; the newest take-on won; time of the next sample."""

    gain: Event | None = None
    faced: tuple[Faced, ...] = ()
    won: Event | None = None
    due_us: int = -(2**62)


class TakeOn:
    """7.12: ``takeon.won`` and ``takeon.lost``: the carrier passes an opponent in front, or loses the ball to him.

    Won when the opponent is behind him along his heading. If that opponent has the ball a moment later, ``takeon.lost``
    annuls it. ``player`` is the carrier. ``detail``: ``other`` (the opponent).
    """

    def __init__(self, parameters: TakeOnParameters | None = None) -> None:
        self.parameters = parameters or TakeOnParameters()
        self.spec = Spec(
            name="take_on",
            number="7.12",
            level=7,
            inputs=("frame", "kick.released", "possession.gain", "play.dead"),
            outputs=("takeon.won", "takeon.lost"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="SPADL take_on; numbers ours",
            team_variants=dict.fromkeys(("takeon.won", "takeon.lost"), ("",)),
            annuls=("takeon.won",),
            details=dict.fromkeys(("takeon.won", "takeon.lost"), ("other",)),
        )

    def initial(self) -> TakeOnState:
        """No player has the ball."""
        return TakeOnState()

    def step(self, state: TakeOnState, event: Event) -> Step[TakeOnState]:
        """Sample the carrier; a gain decides."""
        if event.kind == "frame":
            if state.gain is None or event.ts_us < state.due_us:
                return state, NOTHING
            return self._look(state, state.gain, event)
        if event.kind == "play.dead":
            return TakeOnState(), NOTHING
        if event.kind == "kick.released":
            kicked = state.gain is not None and payload_of(state.gain).player == payload_of(event).player
            return (TakeOnState(state.gain, (), state.won, state.due_us) if kicked else state), NOTHING
        lost = self._lost(state, event) if state.gain is not None else None
        return TakeOnState(event), (lost,) if lost is not None else NOTHING

    def _look(self, state: TakeOnState, gain: Event, event: Event) -> Step[TakeOnState]:
        frame, p = frame_of(event), self.parameters
        due_us = event.ts_us + p.every_us
        name, ball = payload_of(gain).player, frame.ball
        carrier = next((b for b in frame.players if b.object_id == name), None)
        if carrier is None or ball is None or math.hypot(ball.x_m - carrier.x_m, ball.y_m - carrier.y_m) > p.with_m:
            return TakeOnState(gain, state.faced, state.won, due_us), NOTHING
        faced = {f.player: f for f in state.faced if event.ts_us - f.at_us <= p.within_us}
        speed_m_s = math.hypot(carrier.vx_m_s, carrier.vy_m_s)
        won, out = state.won, []
        for body in frame.players:
            dx, dy = body.x_m - carrier.x_m, body.y_m - carrier.y_m
            if body.team == carrier.team or abs(dx) > p.front_m or abs(dy) > p.front_m:
                continue
            before = faced.get(body.object_id)
            behind_m = 0.0 if before is None else -(dx * before.heading_x + dy * before.heading_y)
            if before is not None and behind_m > p.behind_m:
                faced_us = event.ts_us - before.at_us
                note("distance of the opponent behind", behind_m, "at least", p.behind_m, "take_on.behind_m")
                note("time since he was in front", faced_us, "at most", p.within_us, "take_on.within_us")
                del faced[body.object_id]
                won = _won(event, gain, carrier, body)
                out.append(won)
            elif self._in_front(carrier, speed_m_s, dx, dy):
                heading = carrier.vx_m_s / speed_m_s, carrier.vy_m_s / speed_m_s
                faced[body.object_id] = Faced(body.object_id, event.ts_us, round(heading[0], 3), round(heading[1], 3))
        return TakeOnState(gain, tuple(faced.values()), won, due_us), out or NOTHING

    def _in_front(self, carrier: BodyState, speed_m_s: float, dx: float, dy: float) -> bool:
        away_m = math.hypot(dx, dy)
        if speed_m_s < self.parameters.moving_m_s or not 0.0 < away_m <= self.parameters.front_m:
            return False
        return carrier.vx_m_s * dx + carrier.vy_m_s * dy >= self.parameters.front_share * speed_m_s * away_m

    def _lost(self, state: TakeOnState, event: Event) -> Event | None:
        """The loss of the ball to an opponent who was in front, or was just passed."""
        if state.gain is None:
            return None
        taker, loser = payload_of(event), payload_of(state.gain)
        if taker.variant == "restart" or taker.team == loser.team:
            return None
        speed_m_s, slow_m_s = number(taker, "speed_before_m_s"), self.parameters.slow_m_s
        if not is_under("speed of the ball before", speed_m_s, slow_m_s, "take_on.slow_m_s"):
            return None
        won, annuls = state.won, ""
        within_us, kept_us, now_us = self.parameters.within_us, self.parameters.kept_us, event.ts_us
        passed = won is not None and payload_of(won).detail["other"] == taker.player
        if (
            won is not None
            and passed
            and at_most("time since he was passed", now_us - won.ts_us, kept_us, "take_on.kept_us")
        ):
            annuls = won.id
        elif not any(
            at_most("time since he was in front", now_us - f.at_us, within_us, "take_on.within_us")
            for f in state.faced
            if f.player == taker.player
        ):
            return None
        detail: dict[str, Scalar] = {"other": taker.player}
        payload = EventPayload("", loser.team, loser.player, taker.x_m, taker.y_m, None, detail=detail)
        causes = (state.gain.id, event.id)
        return make_event("takeon.lost", event.ts_us, event.source, payload, causes=causes, annuls=annuls)


def _won(event: Event, gain: Event, carrier: BodyState, body: BodyState) -> Event:
    detail: dict[str, Scalar] = {"other": body.object_id}
    payload = EventPayload("", carrier.team, carrier.object_id, carrier.x_m, carrier.y_m, None, detail=detail)
    anchor = f"{gain.source}/{body.object_id}:{event.ts_us}"
    return make_event("takeon.won", event.ts_us, anchor, payload, causes=(gain.id,))


class TackleParameters(msgspec.Struct, frozen=True):
    """Limits of a tackle.

    Attributes:
        kept_us: a tackle is lost if the ball is out within this time.
        control_us: a tackle is lost if the other team has the ball again within this time.
    """

    kept_us: Annotated[int, reason("Hierarchy 7.13.")] = 1_000_000
    control_us: Annotated[int, reason("As strike.block_us (6.7): nobody has controlled a ball for less.")] = 350_000


class TackleState(msgspec.Struct, frozen=True, gc=False):
    """State: the tackle that may still be lost."""

    tackle: Event | None = None


class Tackle:
    """7.13: ``tackle.won`` and ``tackle.lost``: in a duel, the player without the ball plays it.

    Published as won at his contact. If the other team has the ball again before he can have controlled it, or it is out
    within a second, ``tackle.lost`` annuls that, and is shown at the contact as well. A kicked ball is intercepted, not
    tackled; an attempt that misses the ball is not detected. ``detail``: ``other`` (the player who had the ball).
    """

    def __init__(self, parameters: TackleParameters | None = None) -> None:
        self.parameters = parameters or TackleParameters()
        self.spec = Spec(
            name="tackle",
            number="7.13",
            level=7,
            inputs=("duel.end", "possession.gain", "play.dead"),
            outputs=("tackle.won", "tackle.lost"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; SPADL tackle",
            team_variants=dict.fromkeys(("tackle.won", "tackle.lost"), ("",)),
            amends=("tackle.won", "tackle.lost"),
            known={
                "tackle.won": Known("at his contact"),
                "tackle.lost": Known("when the other team has the ball again, or it is out"),
            },
            annuls=("tackle.won",),
            details=dict.fromkeys(("tackle.won", "tackle.lost"), ("other",)),
        )

    def initial(self) -> TackleState:
        """No tackle."""
        return TackleState()

    def step(self, state: TackleState, event: Event) -> Step[TackleState]:
        """A duel on the ground is a tackle; the next gain or the end of play may lose it."""
        payload = payload_of(event)
        if event.kind == "duel.end":
            if payload.variant != "ground":
                return state, NOTHING
            lost = self._lost(state.tackle, event, payload.team, "control_us")
            won = _tackled(event, payload)
            return TackleState(won), (won,) if lost is None else (lost, won)
        if event.kind == "play.dead":
            lost = self._lost(state.tackle, event, "", "kept_us")
            return TackleState(), (lost,) if lost is not None else NOTHING
        if state.tackle is None or event.ts_us <= state.tackle.ts_us:
            return state, NOTHING
        lost = self._lost(state.tackle, event, payload.team, "control_us")
        return TackleState(), (lost,) if lost is not None else NOTHING

    def _lost(self, tackle: Event | None, event: Event, team: Team, name: str) -> Event | None:
        """The tackle as lost, if the ball is not his team's within the time of a parameter."""
        if tackle is None or event.ts_us <= tackle.ts_us:
            return None
        what, since_us, within_us = "time since the tackle", event.ts_us - tackle.ts_us, getattr(self.parameters, name)
        if not at_most(what, since_us, within_us, f"tackle.{name}", about="tackle.lost"):
            return None
        won = payload_of(tackle)
        if team == won.team:
            return None
        causes = (tackle.id, event.id)
        return make_event(
            "tackle.lost", event.ts_us, tackle.source, won, causes=causes, annuls=tackle.id, dated_us=tackle.ts_us
        )


def _tackled(event: Event, end: EventPayload) -> Event:
    detail: dict[str, Scalar] = {"other": end.detail["other"]}
    won = msgspec.structs.replace(end, variant="", z_m=None, confidence=0.7 * end.confidence, detail=detail)
    return make_event("tackle.won", event.ts_us, event.source, won, causes=(event.id,))
