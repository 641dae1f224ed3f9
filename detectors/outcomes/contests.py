"""7.12, 7.13: take-ons and tackles: what becomes of a player who has the ball and an opponent who wants it."""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, number, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class TakeOnParameters(msgspec.Struct, frozen=True):
    """Thresholds of a take-on; the first two are the hierarchy's (7.12), all ours.

    Attributes:
        front_m: an opponent so near in front is taken on.
        within_us: he must be passed, or have the ball, within this time.
        front_share: in front means within 60 degrees of the carrier's way (cosine).
        behind_m: he is passed when he is so far behind, along that way.
        moving_m_s: StreamTeam's dribbling: who stands takes nobody on.
        with_m: the ball is with the carrier (5.8).
        kept_us: who loses the ball to whom he passed within this time has lost the take-on.
        every_us: how often is looked.
        slow_m_s: a faster ball had been kicked (7.13).
    """

    front_m: float = 2.0
    within_us: int = 2_000_000
    front_share: float = 0.5
    behind_m: float = 0.3
    moving_m_s: float = 1.944
    with_m: float = 2.25
    kept_us: int = 1_000_000
    every_us: int = 100_000
    slow_m_s: float = 8.0


class Faced(msgspec.Struct, frozen=True, gc=False):
    """An opponent in front of the carrier: when last, and the carrier's way then (a unit vector)."""

    player: str
    at_us: int
    way_x: float
    way_y: float


class TakeOnState(msgspec.Struct, frozen=True, gc=False):
    """The gain of who has the ball; opponents in front of him lately; the take-on won last; when to look next."""

    gain: Event | None = None
    faced: tuple[Faced, ...] = ()
    won: Event | None = None
    due_us: int = -(2**62)


class TakeOn:
    """7.12: ``takeon.won`` and ``takeon.lost``: who has the ball passes an opponent in front, or loses it to him.

    Won when the opponent is behind him along the way that he went; if that opponent has the ball a moment later after
    all, ``takeon.lost`` annuls it. ``player`` has the ball, ``detail.other`` is the opponent.
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
        )

    def initial(self) -> TakeOnState:
        """Nobody has the ball."""
        return TakeOnState()

    def step(self, state: TakeOnState, event: Event) -> Step[TakeOnState]:
        """Looks at the carrier now and then; a gain decides."""
        if event.kind == "frame":
            if state.gain is None or event.ts_us < state.due_us:
                return state, NOTHING
            return self._look(state, state.gain, event)
        if event.kind == "play.dead":
            return TakeOnState(), NOTHING
        if event.kind == "kick.released":
            kicked = state.gain is not None and published(state.gain).player == published(event).player
            return (TakeOnState(state.gain, (), state.won, state.due_us) if kicked else state), NOTHING
        lost = self._lost(state, event) if state.gain is not None else None
        return TakeOnState(event), (lost,) if lost is not None else NOTHING

    def _look(self, state: TakeOnState, gain: Event, event: Event) -> Step[TakeOnState]:
        frame, p = frame_of(event), self.parameters
        due_us = event.ts_us + p.every_us
        name, ball = published(gain).player, frame.ball
        carrier = next((b for b in frame.players if b.object_id == name), None)
        if carrier is None or ball is None or math.hypot(ball.x_m - carrier.x_m, ball.y_m - carrier.y_m) > p.with_m:
            return TakeOnState(gain, state.faced, state.won, due_us), NOTHING
        kept = {f.player: f for f in state.faced if event.ts_us - f.at_us <= p.within_us}
        speed_m_s = math.hypot(carrier.vx_m_s, carrier.vy_m_s)
        won, out = state.won, []
        for body in frame.players:
            dx, dy = body.x_m - carrier.x_m, body.y_m - carrier.y_m
            if body.team == carrier.team or abs(dx) > p.front_m or abs(dy) > p.front_m:
                continue
            before = kept.get(body.object_id)
            if before is not None and dx * before.way_x + dy * before.way_y < -p.behind_m:
                del kept[body.object_id]
                won = _won(event, gain, carrier, body)
                out.append(won)
            elif self._in_front(carrier, speed_m_s, dx, dy):
                way = carrier.vx_m_s / speed_m_s, carrier.vy_m_s / speed_m_s
                kept[body.object_id] = Faced(body.object_id, event.ts_us, round(way[0], 3), round(way[1], 3))
        return TakeOnState(gain, tuple(kept.values()), won, due_us), out or NOTHING

    def _in_front(self, carrier: BodyState, speed_m_s: float, dx: float, dy: float) -> bool:
        away_m = math.hypot(dx, dy)
        if speed_m_s < self.parameters.moving_m_s or not 0.0 < away_m <= self.parameters.front_m:
            return False
        return carrier.vx_m_s * dx + carrier.vy_m_s * dy >= self.parameters.front_share * speed_m_s * away_m

    def _lost(self, state: TakeOnState, event: Event) -> Event | None:
        """Who was in front, or just passed, has the ball now."""
        assert state.gain is not None
        taker, loser = published(event), published(state.gain)
        if taker.variant == "restart" or taker.team == loser.team:
            return None
        if number(taker, "speed_before_m_s") >= self.parameters.slow_m_s:
            return None
        won, annuls = state.won, ""
        passed = won is not None and published(won).detail["other"] == taker.player
        if won is not None and passed and event.ts_us - won.ts_us <= self.parameters.kept_us:
            annuls = won.id
        elif not any(
            f.player == taker.player and event.ts_us - f.at_us <= self.parameters.within_us for f in state.faced
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
    """``kept_us``: hierarchy 7.13: by then it must be his team's ball. ``control_us``: who gets it for less than this
    has not had it (6.7's block). ``slow_m_s``: a faster ball was kicked, not kept: stopping it is a block or an
    interception (6.11's bound; the true tackles of two simulated matches were at balls below 6 m/s)."""

    kept_us: int = 1_000_000
    control_us: int = 350_000
    slow_m_s: float = 8.0


class Fight(msgspec.Struct, frozen=True, gc=False):
    """A duel on the ground: its id, who has the ball, and who wants it."""

    id: str
    holder: str
    rival: str


class TackleState(msgspec.Struct, frozen=True, gc=False):
    """The duel that goes on, while its holder keeps the ball, and the tackle that may still turn out to be lost."""

    fight: Fight | None = None
    tackle: Event | None = None


class Tackle:
    """7.13: ``tackle.won`` and ``tackle.lost``: in a duel, the one without the ball plays it.

    Told as won at his contact. If the other team has the ball again before he can have controlled it, or it is out
    within a second, ``tackle.lost`` annuls that, and is shown at the contact, too. ``detail.other`` is who had the
    ball. A ball that its holder has kicked is not tackled but intercepted; a try that misses the ball is not seen.
    """

    def __init__(self, parameters: TackleParameters | None = None) -> None:
        self.parameters = parameters or TackleParameters()
        self.spec = Spec(
            name="tackle",
            number="7.13",
            level=7,
            inputs=("kick.released", "duel.end", "duel.start", "possession.gain", "play.dead"),
            outputs=("tackle.won", "tackle.lost"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta; SPADL tackle",
            team_variants=dict.fromkeys(("tackle.won", "tackle.lost"), ("",)),
            amends=("tackle.won", "tackle.lost"),
            annuls=("tackle.won",),
        )

    def initial(self) -> TackleState:
        """No duel."""
        return TackleState()

    def step(self, state: TackleState, event: Event) -> Step[TackleState]:
        """A duel, a gain by who wanted the ball, and who has it then."""
        payload = published(event)
        if event.kind == "duel.start":
            fight = (
                Fight(event.id, payload.player, str(payload.detail["other"])) if payload.variant == "ground" else None
            )
            return TackleState(fight, state.tackle), NOTHING
        if event.kind == "duel.end":
            return TackleState(None, state.tackle), NOTHING
        if event.kind == "kick.released":
            gone = state.fight is not None and payload.player == state.fight.holder
            return (TackleState(None, state.tackle) if gone else state), NOTHING
        if event.kind == "play.dead":
            lost = self._lost(state.tackle, event, "", self.parameters.kept_us)
            return TackleState(), (lost,) if lost is not None else NOTHING
        return self._gained(state, event, payload)

    def _gained(self, state: TackleState, event: Event, gain: EventPayload) -> Step[TackleState]:
        lost = self._lost(state.tackle, event, gain.team, self.parameters.control_us)
        out = [lost] if lost is not None else []
        fight, tackle = state.fight, None
        if fight is not None and gain.player == fight.rival and gain.variant != "restart":
            if number(gain, "speed_before_m_s") < self.parameters.slow_m_s:
                tackle = _tackled(event, gain, fight)
                out.append(tackle)
            fight = Fight(fight.id, fight.rival, fight.holder)
        return TackleState(fight, tackle), out or NOTHING

    def _lost(self, tackle: Event | None, event: Event, team: Team, within_us: int) -> Event | None:
        """The tackle as lost, if the ball is not his team's so soon after it."""
        if tackle is None or not 0 < event.ts_us - tackle.ts_us <= within_us:
            return None
        made = published(tackle)
        if team == made.team:
            return None
        causes = (tackle.id, event.id)
        return make_event(
            "tackle.lost", event.ts_us, tackle.source, made, causes=causes, annuls=tackle.id, dated_us=tackle.ts_us
        )


def _tackled(event: Event, gain: EventPayload, fight: Fight) -> Event:
    detail: dict[str, Scalar] = {"other": fight.holder}
    won = EventPayload("", gain.team, gain.player, gain.x_m, gain.y_m, None, 0.7 * gain.confidence, detail)
    return make_event("tackle.won", event.ts_us, event.source, won, causes=(fight.id, event.id))
