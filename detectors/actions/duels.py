"""6.8: duels: two opponents at the ball."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most, is_over, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class DuelParameters(msgspec.Struct, frozen=True):
    """Limits of a duel.

    Attributes:
        reach_m: greatest distance of both players from the ball when a duel begins.
        leave_m: a duel is over when one of them is farther from the ball.
        slow_m_s: greatest speed of a loose ball.
        low_m: greatest height of the ball when a duel begins.
        every_us: time between two samples.
        hold_us: a duel is over when other players have been nearest to the ball for this long.
    """

    reach_m: Annotated[float, reason("StreamTeam's maxDuelDist.")] = 3.0
    leave_m: Annotated[float, reason("The leave distance of opponents.near (4.4).")] = 3.5
    slow_m_s: Annotated[float, reason("As loose_ball.slow_m_s (6.11): a faster ball is on its way to a player.")] = 8.0
    low_m: Annotated[float, reason("A higher ball is an aerial duel (6.9).")] = 1.5
    every_us: Annotated[int, reason("Ours.")] = 100_000
    hold_us: Annotated[int, reason("Ours.")] = 300_000


#: A player with his distance from the ball over ground, in metres.
Near = tuple[float, BodyState]


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Two opponents at the ball: the start of the duel, and the time since which others are nearer (-1: none)."""

    start: Event
    players: tuple[str, str]
    broken_us: int = -1


class DuelState(msgspec.Struct, frozen=True, gc=False):
    """State: True if play is dead; the player of the last touch; the duel; the time of the next sample."""

    dead: bool = False
    last: str = ""
    pair: Pair | None = None
    due_us: int = -(2**62)


class Duel:
    """6.8: ``duel.start`` and ``duel.end`` x {ground, loose}: the two players nearest to the ball are opponents.

    ``ground``: one of them touched the ball last, and is the ``player`` of the start. ``loose``: neither did, the ball
    is slow, and ``player`` is the nearer one. A duel ends when the ball is dead, at a third player's contact, or when
    one of the two has left. ``player`` of the end is the one of the two who touched the ball last, empty if neither
    did. Named by the players and the start. ``detail``: ``other`` (the opponent); of the end also ``seconds_s``, and
    ``one`` (if ``player`` is empty, the other of the two).
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
            details={"duel.end": ("other", "seconds_s", "one"), "duel.start": ("other",)},
        )

    def initial(self) -> DuelState:
        """No touch; play counts as live, as in 5.10."""
        return DuelState()

    def step(self, state: DuelState, event: Event) -> Step[DuelState]:
        """Sample the players at the ball; a contact or a stoppage may end a duel at once."""
        if event.kind == "frame":
            return (state, NOTHING) if state.dead or event.ts_us < state.due_us else self._look(state, event)
        payload = payload_of(event)
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
        if nearest is None or not self._disputed(state.last, ball, nearest):
            return DuelState(False, state.last, None, due_us), NOTHING
        start = _started(event, state.last, ball, nearest)
        players = nearest[0][1].object_id, nearest[1][1].object_id
        return DuelState(False, state.last, Pair(start, players), due_us), (start,)

    def _disputed(self, last: str, ball: BallState, nearest: tuple[Near, Near]) -> bool:
        """True if the two nearest players are near enough and opponents, and the ball is one's, or loose and slow."""
        p, about, (_, one), (away_m, two) = self.parameters, "duel.start", *nearest
        if one.team == two.team or not one.team or not two.team:
            return False
        if not at_most("the farther player from the ball", away_m, p.reach_m, "duel.reach_m", about):
            return False
        if not at_most("height of the ball", ball.z_m, p.low_m, "duel.low_m", about):
            return False
        if last in (one.object_id, two.object_id):
            return True
        speed2 = ball.vx_m_s**2 + ball.vy_m_s**2
        if speed2 >= p.slow_m_s**2:
            return False
        note("speed of the ball", math.sqrt(speed2), "at most", p.slow_m_s, "duel.slow_m_s", ("loose", about))
        return True

    def _go_on(
        self, pair: Pair, event: Event, frame: Frame, ball: BallState, nearest: tuple[Near, Near] | None
    ) -> Pair | None:
        """The duel; None once a player has left the ball, or others have been nearest for long enough."""
        both = [b for b in frame.players if b.object_id in pair.players]
        away_m = max((math.hypot(b.x_m - ball.x_m, b.y_m - ball.y_m) for b in both), default=math.inf)
        leave_m, hold_us, about = self.parameters.leave_m, self.parameters.hold_us, "duel.end"
        if len(both) < 2 or is_over("the farther player from the ball", away_m, leave_m, "duel.leave_m", about):
            return None
        if nearest is not None and {near[1].object_id for near in nearest} == set(pair.players):
            return pair if pair.broken_us < 0 else Pair(pair.start, pair.players)
        if pair.broken_us < 0:
            return Pair(pair.start, pair.players, event.ts_us)
        nearer_us = event.ts_us - pair.broken_us
        return None if at_least("time that others are nearer", nearer_us, hold_us, "duel.hold_us", about) else pair


def _two_nearest(frame: Frame, ball: BallState) -> tuple[Near, Near] | None:
    around = frame.nearest
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
    start = payload_of(pair.start)
    one, two = start.player, str(start.detail["other"])
    team: Team = ""
    player, detail = "", dict[str, Scalar](one=one, other=two)
    if last == two:
        team, player, detail = opponents_of(start.team), two, {"other": one}
    elif last == one:
        team, player, detail = start.team, one, {"other": two}
    detail["seconds_s"] = round((event.ts_us - pair.start.ts_us) * 1e-6, 2)
    payload = EventPayload(start.variant, team, player, start.x_m, start.y_m, None, detail=detail)
    return make_event("duel.end", event.ts_us, pair.start.source, payload, causes=(pair.start.id,))
