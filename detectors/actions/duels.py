"""6.8: duels: two opponents go for one ball, and one of them plays it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most, is_over, is_under
from detectors.emission import make_event
from detectors.reasons import reason
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class DuelParameters(msgspec.Struct, frozen=True):
    """Limits of a duel.

    Attributes:
        reach_m: greatest distance of both players from the ball when they are at it.
        leave_m: they are at it no more when one of them is farther from the ball.
        slow_m_s: a ball at least this fast was kicked before it was played: no challenge of its holder.
        spent_m_s: a kicked ball slower than this is under way to nobody any more.
        low_m: greatest height of the ball.
        loose_m: the opponent of a duel for a loose ball is within this distance of the ball.
        run_m_s: both of them run for it at least this fast, towards the ball.
        every_us: time between two samples.
        hold_us: they are at it no more when other players have been nearest to the ball for this long.
        again_us: time after a duel for a loose ball in which no other begins.
    """

    reach_m: Annotated[float, reason("StreamTeam's maxDuelDist.")] = 3.0
    leave_m: Annotated[float, reason("The leave distance of opponents.near (4.4).")] = 3.5
    slow_m_s: Annotated[float, reason("As loose_ball.slow_m_s (6.11): a faster ball is on its way to a player.")] = 8.0
    spent_m_s: Annotated[float, reason("As interception.moving_m_s (7.8).")] = 4.0
    low_m: Annotated[float, reason("A higher ball is an aerial duel (6.9).")] = 1.5
    loose_m: Annotated[float, reason("Ours: a stride from the ball.")] = 1.5
    run_m_s: Annotated[float, reason("Ours: he does not stand.")] = 1.0
    every_us: Annotated[int, reason("Ours.")] = 100_000
    hold_us: Annotated[int, reason("Ours.")] = 300_000
    again_us: Annotated[int, reason("A scramble is one duel.")] = 3_000_000


#: A player with his distance from the ball over ground, in metres.
Near = tuple[float, BodyState]


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Two opponents at the ball, and when others were nearer first.

    Attributes:
        players: the two, the one who touched the ball last first, if one of them did.
        loose: neither of them did, or he kicked it away.
        distances_m: of each from the ball, at the newest sample.
        running: whether each runs towards it.
        broken_us: time since which others are nearer, -1 if none are.
    """

    players: tuple[str, str]
    loose: bool
    distances_m: tuple[float, float]
    running: tuple[bool, bool]
    broken_us: int = -1


class DuelState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        dead: True if play is dead.
        last: player of the last contact.
        kicked: True if he has kicked the ball away.
        pair: two opponents at the ball.
        loose_us: time of the newest duel for a loose ball.
        due_us: time of the next sample.
    """

    dead: bool = False
    last: str = ""
    kicked: bool = False
    pair: Pair | None = None
    loose_us: int = -(2**62)
    due_us: int = -(2**62)


class Duel:
    """6.8: ``duel.start`` and ``duel.end`` x {ground, loose}: a challenge between two opponents, at its decision.

    ``ground``: one of the two nearest players has the ball, and the other one, his opponent, plays it. ``player`` of
    the start had the ball. ``loose``: two opponents go for a slow ball that neither has; ``player`` of the start is who
    plays it. ``player`` of the end won the ball. To be near an opponent with the ball is no duel, and a kicked ball is
    intercepted. Both are dated at the contact that decides. ``detail``: ``other`` (the opponent).
    """

    def __init__(self, parameters: DuelParameters | None = None) -> None:
        self.parameters = parameters or DuelParameters()
        self.spec = Spec(
            name="duel",
            number="6.8",
            level=6,
            inputs=("frame", "hit", "touch", "kick.released", "phase.dead", "phase.live"),
            outputs=("duel.end", "duel.start"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Opta (duel: tackle, or loose ball both go for); StreamTeam (two opponents at the ball)",
            variants=dict.fromkeys(("duel.end", "duel.start"), ("ground", "loose")),
            details=dict.fromkeys(("duel.end", "duel.start"), ("other",)),
        )

    def initial(self) -> DuelState:
        """No touch; play counts as live, as in 5.10."""
        return DuelState()

    def step(self, state: DuelState, event: Event) -> Step[DuelState]:
        """Sample the players at the ball; a contact may decide a duel."""
        if event.kind == "frame":
            return (state, NOTHING) if state.dead or event.ts_us < state.due_us else self._look(state, event)
        player = payload_of(event).player
        if event.kind == "phase.live":
            return DuelState(False, player or state.last), NOTHING
        if event.kind == "phase.dead":
            return DuelState(True, state.last), NOTHING
        if event.kind == "kick.released":
            if player != state.last:
                return state, NOTHING
            pair = state.pair and msgspec.structs.replace(state.pair, loose=True)
            return msgspec.structs.replace(state, kicked=True, pair=pair), NOTHING
        return (state, NOTHING) if state.dead else self._contact(state, event, player)

    def _contact(self, state: DuelState, event: Event, player: str) -> Step[DuelState]:
        pair, out = state.pair, NOTHING
        loose_us = state.loose_us
        if pair is not None and player in pair.players:
            other = pair.players[player == pair.players[0]]
            if self._challenged(state, pair, event, player):
                out = _challenge(event, "ground", other, player, player)
            elif pair.loose and self._both_run(state, pair, event, player):
                out, loose_us = _challenge(event, "loose", player, other, player), event.ts_us
            pair = _held(pair, player)
        elif pair is not None:
            pair = None
        return DuelState(False, player, False, pair, loose_us, state.due_us), out

    def _challenged(self, state: DuelState, pair: Pair, event: Event, player: str) -> bool:
        """True if the opponent of the player with the ball plays it."""
        if pair.loose or player == state.last:
            return False
        speed_m_s = number(payload_of(event), "speed_before_m_s")
        return is_under("speed of the ball before", speed_m_s, self.parameters.slow_m_s, "duel.slow_m_s", "ground")

    def _both_run(self, state: DuelState, pair: Pair, event: Event, player: str) -> bool:
        """True if both go for a loose ball, and no other scramble was just decided."""
        p = self.parameters
        if event.ts_us - state.loose_us < p.again_us or not all(pair.running):
            return False
        name = "spent_m_s" if state.kicked else "slow_m_s"
        other_m = pair.distances_m[player == pair.players[0]]
        speed_m_s, most_m_s = number(payload_of(event), "speed_before_m_s"), getattr(p, name)
        return is_under("speed of the ball before", speed_m_s, most_m_s, f"duel.{name}", "loose") and at_most(
            "the opponent from the ball", other_m, p.loose_m, "duel.loose_m", "loose"
        )

    def _look(self, state: DuelState, event: Event) -> Step[DuelState]:
        frame, due_us = frame_of(event), event.ts_us + self.parameters.every_us
        ball = frame.ball
        if ball is None:
            return msgspec.structs.replace(state, due_us=due_us), NOTHING
        nearest = _two_nearest(frame, ball)
        pair = self._begun(state, ball, nearest)
        if pair is None and state.pair is not None:
            pair = self._continued(state.pair, event, frame, ball, nearest)
        return msgspec.structs.replace(state, pair=pair, due_us=due_us), NOTHING

    def _begun(self, state: DuelState, ball: BallState, nearest: tuple[Near, Near] | None) -> Pair | None:
        """The two nearest players, if they are opponents and near enough to a low ball."""
        if nearest is None or ball.z_m > self.parameters.low_m or nearest[1][0] > self.parameters.reach_m:
            return None
        (_, one), (_, two) = nearest
        if one.team == two.team or not one.team or not two.team:
            return None
        first, second = (two, one) if two.object_id == state.last else (one, two)
        return self._pair(first, second, state.kicked or first.object_id != state.last, ball)

    def _pair(self, one: BodyState, two: BodyState, loose: bool, ball: BallState, broken_us: int = -1) -> Pair:
        run_m_s = self.parameters.run_m_s
        return Pair(
            (one.object_id, two.object_id),
            loose,
            (_away_m(one, ball), _away_m(two, ball)),
            (_towards_m_s(one, ball) >= run_m_s, _towards_m_s(two, ball) >= run_m_s),
            broken_us,
        )

    def _continued(
        self, pair: Pair, event: Event, frame: Frame, ball: BallState, nearest: tuple[Near, Near] | None
    ) -> Pair | None:
        """The pair; None once a player has left the ball, or others have been nearest for long enough."""
        bodies = {b.object_id: b for b in frame.players if b.object_id in pair.players}
        away_m = max((_away_m(body, ball) for body in bodies.values()), default=math.inf)
        leave_m, hold_us = self.parameters.leave_m, self.parameters.hold_us
        if len(bodies) < 2 or is_over("the farther player from the ball", away_m, leave_m, "duel.leave_m"):
            return None
        since_us = -1
        if nearest is not None and {near[1].object_id for near in nearest} != set(pair.players):
            since_us = event.ts_us if pair.broken_us < 0 else pair.broken_us
            if at_least("time that others are nearer", event.ts_us - since_us, hold_us, "duel.hold_us"):
                return None
        one, two = (bodies[player] for player in pair.players)
        return self._pair(one, two, pair.loose, ball, since_us)


def _held(pair: Pair, player: str) -> Pair:
    """The pair once a player of it has touched the ball."""
    if player == pair.players[0]:
        return msgspec.structs.replace(pair, loose=False)
    return Pair(pair.players[::-1], False, pair.distances_m[::-1], pair.running[::-1], pair.broken_us)


def _two_nearest(frame: Frame, ball: BallState) -> tuple[Near, Near] | None:
    around = frame.nearest
    if around is None or around.second < 0:
        return None
    one, two = frame.players[around.first], frame.players[around.second]
    return (_away_m(one, ball), one), (_away_m(two, ball), two)


def _away_m(body: BodyState, ball: BallState) -> float:
    return math.sqrt((body.x_m - ball.x_m) ** 2 + (body.y_m - ball.y_m) ** 2)


def _towards_m_s(body: BodyState, ball: BallState) -> float:
    """Speed of a player in the direction of the ball; all of it if he is at the ball."""
    dx, dy = ball.x_m - body.x_m, ball.y_m - body.y_m
    away_m = math.sqrt(dx * dx + dy * dy)
    if away_m < 0.5:
        return math.sqrt(body.vx_m_s**2 + body.vy_m_s**2)
    return (body.vx_m_s * dx + body.vy_m_s * dy) / away_m


def _challenge(event: Event, variant: str, first: str, second: str, winner: str) -> tuple[Event, Event]:
    """Start and end of a duel that a contact decides; the start is ``first``'s."""
    made = payload_of(event)
    loser = second if winner == first else first
    own = made.team if first == winner else opponents_of(made.team)

    def payload(team: str, player: str, other: str) -> EventPayload:
        detail: dict[str, Scalar] = {"other": other}
        return msgspec.structs.replace(made, variant=variant, team=team, player=player, detail=detail)

    anchor = f"{event.source}/{first}-{second}"
    start = make_event("duel.start", event.ts_us, anchor, payload(own, first, second), causes=(event.id,))
    end = make_event("duel.end", event.ts_us, anchor, payload(made.team, winner, loser), causes=(start.id, event.id))
    return start, end
