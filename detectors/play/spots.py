"""4.7: the ball lies at a place where restarts are taken from, and somebody stands ready for it."""

from __future__ import annotations

import math

import msgspec

from detectors.emission import make_event
from detectors.play.dead_ball_kicks import nearest
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Frame, frame_of
from football.pitch import Pitch, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Times (microseconds) and places (metres) of the ball, oldest first.
Way = tuple[tuple[int, float, float], ...]
#: Kinds of restart spots.
SPOTS = ("centre", "penalty mark", "corner", "goal area", "touch line")


class SpotParameters(msgspec.Struct, frozen=True):
    """How near is at the spot.

    Attributes:
        spot_m: ball to the spot, hierarchy 4.7; also how far inside a touchline.
        taker_m: player to the ball.
        slow_m_s, hold_us: the ball lies, or is carried: this slow for this long (ours; a dribble past is shorter).
        chord_us: how slow is read from the way of so long: single velocities of a radio's ball err by more.
        leave_m: the ball has left the spot this much farther out.
    """

    spot_m: float = 2.0
    taker_m: float = 2.0
    slow_m_s: float = 2.5
    hold_us: int = 800_000
    chord_us: int = 200_000
    leave_m: float = 1.0


class SpotState(msgspec.Struct, frozen=True, gc=False):
    """The spot that the ball is at ("" for none), since when, whether that was told, and the taker told; times and
    places of the ball over the last ``chord_us``, oldest first."""

    spot: str = ""
    since_us: int = -1
    told: bool = False
    taker: str = ""
    way: Way = ()


class RestartSpot:
    """4.7: ``spot.ball`` and ``spot.taker``; ``variant`` is centre, penalty mark, corner, goal area or touch line."""

    def __init__(self, sheet: MatchSheet, parameters: SpotParameters | None = None) -> None:
        self.parameters = parameters or SpotParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="restart_spot",
            number="4.7",
            level=4,
            inputs=("frame",),
            outputs=("spot.ball", "spot.taker"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam set plays; IFAB Laws 8, 14-17",
            variants=dict.fromkeys(("spot.ball", "spot.taker"), SPOTS),
        )

    def initial(self) -> SpotState:
        """At no spot."""
        return SpotState()

    def step(self, state: SpotState, event: Event) -> Step[SpotState]:
        """Follows a slow ball to a spot, and a ball at a spot until it leaves."""
        frame = frame_of(event)
        ball = frame.ball
        if ball is None:
            return state, NOTHING
        p = self.parameters
        way, slow_us = followed(state.way, event.ts_us, ball, p)
        slow = slow_us >= 0
        if state.told:
            if spot_at(self.pitch, ball.x_m, ball.y_m, p.spot_m + p.leave_m) == "":
                return SpotState(way=way), NOTHING
            state = SpotState(state.spot, state.since_us, True, state.taker, way)
            return self._taker(state, event, frame, ball) if slow else (state, NOTHING)
        spot = spot_at(self.pitch, ball.x_m, ball.y_m, p.spot_m) if slow else ""
        if spot != state.spot:
            return SpotState(spot, slow_us, way=way), NOTHING
        if not spot or slow_us - state.since_us < p.hold_us:
            return SpotState(spot, state.since_us, way=way), NOTHING
        payload = EventPayload(spot, x_m=ball.x_m, y_m=ball.y_m)
        at_spot = make_event("spot.ball", event.ts_us, f"ball:{state.since_us}", payload)
        after, more = self._taker(SpotState(spot, state.since_us, True, "", way), event, frame, ball)
        return after, (at_spot, *more)

    def _taker(self, state: SpotState, event: Event, frame: Frame, ball: BallState) -> Step[SpotState]:
        """Tells who is nearest, once for each player and stay."""
        player, distance_m = nearest(frame, ball.x_m, ball.y_m)
        if player is None or distance_m > self.parameters.taker_m or player.object_id == state.taker:
            return state, NOTHING
        payload = EventPayload(state.spot, player.team, player.object_id, ball.x_m, ball.y_m)
        anchor = f"{player.object_id}:{event.ts_us}"
        taker = make_event("spot.taker", event.ts_us, anchor, payload)
        return SpotState(state.spot, state.since_us, True, player.object_id, state.way), (taker,)


def followed(way: Way, now_us: int, ball: BallState, p: SpotParameters) -> tuple[Way, int]:
    """The ball's last places with the newest, a quarter of a chord apart; and the middle of their time, if the ball
    went slowly over it, else -1."""
    if not way or now_us - way[-1][0] > p.chord_us:
        return ((now_us, ball.x_m, ball.y_m),), -1
    if now_us - way[-1][0] >= p.chord_us // 4:
        way = (*[mark for mark in way if now_us - mark[0] <= p.chord_us], (now_us, ball.x_m, ball.y_m))
    began_us, x_m, y_m = way[0]
    if now_us - began_us < p.chord_us // 2:
        return way, -1
    slow = math.hypot(ball.x_m - x_m, ball.y_m - y_m) <= p.slow_m_s * (now_us - began_us) * 1e-6
    return way, (began_us + now_us) // 2 if slow else -1


def spot_at(pitch: Pitch, x_m: float, y_m: float, near_m: float) -> str:
    """The kind of restart spot at a place, the narrowest first; empty if there is none within ``near_m``."""
    if math.hypot(x_m, y_m) <= near_m:
        return "centre"
    end = end_of(x_m)
    mark_x_m, mark_y_m = pitch.penalty_mark(end)
    if math.hypot(x_m - mark_x_m, y_m - mark_y_m) <= near_m:
        return "penalty mark"
    if pitch.corner_distance_m(x_m, y_m) <= near_m:
        return "corner"
    if pitch.in_goal_area(x_m, y_m, end):
        return "goal area"
    return "touch line" if abs(y_m) >= pitch.half_width_m - near_m else ""
