"""6.8: duels: two opponents at the ball."""

from __future__ import annotations

import math

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.emission import make_event
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class DuelParameters(msgspec.Struct, frozen=True):
    """Thresholds of a duel.

    Attributes:
        reach_m: StreamTeam's maxDuelDist: both are so near to the ball.
        leave_m: farther, it is over (4.4's distance).
        slow_m_s: a faster ball that neither has touched is on its way to somebody (6.11).
        low_m: a higher ball is not fought for with the feet (6.9).
        every_us: how often is looked; hold_us: others have been the two nearest for so long. Both ours.
    """

    reach_m: float = 3.0
    leave_m: float = 3.5
    slow_m_s: float = 8.0
    low_m: float = 1.5
    every_us: int = 100_000
    hold_us: int = 300_000


#: Distance to the ball over the ground, and who.
Near = tuple[float, BodyState]


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Two opponents at the ball: the duel's beginning, and since when others are nearer to the ball (-1: nobody)."""

    start: Event
    players: tuple[str, str]
    broken_us: int = -1


class DuelState(msgspec.Struct, frozen=True, gc=False):
    """Whether play is dead, who touched the ball last, the duel, when the next look is due."""

    dead: bool = False
    last: str = ""
    pair: Pair | None = None
    due_us: int = -(2**62)


class Duel:
    """6.8: ``duel.start`` and ``duel.end`` x {ground, loose}: the two players nearest to the ball are opponents.

    ``ground``: one of them touched the ball last, and is the start's ``player``; ``loose``: neither, the ball is slow,
    and ``player`` is the nearer one. ``detail.other`` is the opponent. The end's ``player`` is who of both touched the
    ball last, empty if neither did; it comes with a death of play, a third one's contact, or when one of them is no
    longer there. Named by the players and the beginning.
    """

    def __init__(self, parameters: DuelParameters | None = None) -> None:
        self.parameters = parameters or DuelParameters()
        self.spec = Spec(
            name="duel",
            number="6.8",
            level=6,
            inputs=("frame", "hit", "touch", "phase.dead", "phase.live"),
            outputs=("duel.end", "duel.start"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (duel); kloppy DuelType",
            variants=dict.fromkeys(("duel.end", "duel.start"), ("ground", "loose")),
        )

    def initial(self) -> DuelState:
        """Nobody has touched the ball; play is taken as live, as 5.10 does."""
        return DuelState()

    def step(self, state: DuelState, event: Event) -> Step[DuelState]:
        """Looks now and then; a contact or a death may end a duel at once."""
        if event.kind == "frame":
            return (state, NOTHING) if state.dead or event.ts_us < state.due_us else self._look(state, event)
        payload = published(event)
        if event.kind == "phase.live":
            return DuelState(False, payload.player or state.last), NOTHING
        over = event.kind == "phase.dead" or (state.pair is not None and payload.player not in state.pair.players)
        last = state.last if event.kind == "phase.dead" else payload.player
        if state.dead or not over:
            return DuelState(state.dead, last, state.pair, state.due_us), NOTHING
        out = (_ended(state.pair, event, state.last),) if state.pair is not None else NOTHING
        return DuelState(event.kind == "phase.dead", last, None, state.due_us), out

    def _look(self, state: DuelState, event: Event) -> Step[DuelState]:
        frame, p = frame_of(event), self.parameters
        due_us = event.ts_us + p.every_us
        ball = frame.ball
        if ball is None:
            return DuelState(False, state.last, state.pair, due_us), NOTHING
        nearest = _two_nearest(frame, ball)
        if state.pair is not None:
            pair = self._go_on(state.pair, event, frame, ball, nearest)
            out = (_ended(state.pair, event, state.last),) if pair is None else NOTHING
            return DuelState(False, state.last, pair, due_us), out
        if nearest is None or nearest[1][0] > p.reach_m or not self._disputed(state.last, ball, nearest):
            return DuelState(False, state.last, None, due_us), NOTHING
        start = _started(event, state.last, ball, nearest)
        players = nearest[0][1].object_id, nearest[1][1].object_id
        return DuelState(False, state.last, Pair(start, players), due_us), (start,)

    def _disputed(self, last: str, ball: BallState, nearest: tuple[Near, Near]) -> bool:
        """Whether two who are near enough are opponents, and one has the ball or nobody does."""
        (_, one), (_, two) = nearest
        if one.team == two.team or not one.team or not two.team or ball.z_m > self.parameters.low_m:
            return False
        speed2 = ball.vx_m_s**2 + ball.vy_m_s**2
        return last in (one.object_id, two.object_id) or speed2 < self.parameters.slow_m_s**2

    def _go_on(
        self, pair: Pair, event: Event, frame: Frame, ball: BallState, nearest: tuple[Near, Near] | None
    ) -> Pair | None:
        """The duel, or None once one has left the ball or others have been nearest for long enough."""
        both = [b for b in frame.players if b.object_id in pair.players]
        away_m = max((math.hypot(b.x_m - ball.x_m, b.y_m - ball.y_m) for b in both), default=math.inf)
        if len(both) < 2 or away_m > self.parameters.leave_m:
            return None
        if nearest is not None and {near[1].object_id for near in nearest} == set(pair.players):
            return pair if pair.broken_us < 0 else Pair(pair.start, pair.players)
        if pair.broken_us < 0:
            return Pair(pair.start, pair.players, event.ts_us)
        return None if event.ts_us - pair.broken_us >= self.parameters.hold_us else pair


def _two_nearest(frame: Frame, ball: BallState) -> tuple[Near, Near] | None:
    around = frame.around
    if around is None or around.second < 0:
        return None
    one, two = frame.players[around.first], frame.players[around.second]
    return (_away_m(one, ball), one), (_away_m(two, ball), two)


def _away_m(body: BodyState, ball: BallState) -> float:
    return math.sqrt((body.x_m - ball.x_m) ** 2 + (body.y_m - ball.y_m) ** 2)


def _started(event: Event, last: str, ball: BallState, nearest: tuple[Near, Near]) -> Event:
    (_, one), (_, two) = nearest
    if two.object_id == last:
        one, two = two, one
    variant = "ground" if one.object_id == last else "loose"
    detail: dict[str, Scalar] = {"other": two.object_id}
    payload = EventPayload(variant, one.team, one.object_id, ball.x_m, ball.y_m, ball.z_m, detail=detail)
    return make_event("duel.start", event.ts_us, f"{one.object_id}/{two.object_id}:{event.ts_us}", payload)


def _ended(pair: Pair, event: Event, last: str) -> Event:
    made = published(pair.start)
    one, two = made.player, str(made.detail["other"])
    detail: dict[str, Scalar] = {"seconds_s": round((event.ts_us - pair.start.ts_us) * 1e-6, 2)}
    if last == two:
        team = opponents_of(made.team)
        payload = EventPayload(made.variant, team, two, made.x_m, made.y_m, None, detail={"other": one, **detail})
    elif last == one:
        payload = EventPayload(made.variant, made.team, one, made.x_m, made.y_m, None, detail={"other": two, **detail})
    else:
        payload = EventPayload(
            made.variant, "", "", made.x_m, made.y_m, None, detail={"one": one, "other": two, **detail}
        )
    return make_event("duel.end", event.ts_us, pair.start.source, payload, causes=(pair.start.id,))
