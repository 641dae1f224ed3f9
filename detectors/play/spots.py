"""4.7: the ball lies at a spot where restarts are taken, and a player stands ready for it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most, note
from detectors.emission import make_event
from detectors.play.dead_ball_kicks import nearest
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Frame, frame_of
from football.pitch import Pitch, end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Times (microseconds) and positions (metres) of the ball, oldest first.
Track = tuple[tuple[int, float, float], ...]
#: Kinds of restart spots.
SPOTS = ("centre", "penalty mark", "corner", "goal area", "touch line")


class SpotParameters(msgspec.Struct, frozen=True):
    """Limits of a ball at a restart spot.

    Attributes:
        spot_m: greatest distance of the ball from the spot, also inside a touchline.
        taker_m: greatest distance of the taker from the ball.
        slow_m_s: greatest speed of a ball that lies or is carried.
        hold_us: it is that slow for this long.
        chord_us: its speed is that of its track over this time.
        leave_m: the ball has left the spot when it is this much farther away.
    """

    spot_m: Annotated[float, reason("Hierarchy 4.7.")] = 2.0
    taker_m: Annotated[float, reason("Hierarchy 4.7.")] = 2.0
    slow_m_s: Annotated[float, reason("As in 5.10 (phase.stall.slow_m_s).")] = 2.5
    hold_us: Annotated[int, reason("Ours: a dribble past a spot is shorter.")] = 800_000
    chord_us: Annotated[int, reason("Single velocities of a radio's ball err by more than slow_m_s.")] = 200_000
    leave_m: Annotated[float, reason("Ours: hysteresis.")] = 1.0


class SpotState(msgspec.Struct, frozen=True, gc=False):
    """State of the detector.

    Attributes:
        spot: the spot that the ball is at; empty for none.
        since_us: begin of that.
        reported: True once ``spot.ball`` was published.
        taker: the player of the newest ``spot.taker``.
        track: of the ball over the last ``chord_us``.
    """

    spot: str = ""
    since_us: int = -1
    reported: bool = False
    taker: str = ""
    track: Track = ()


class RestartSpot:
    """4.7: ``spot.ball`` and ``spot.taker``: the ball lies at a spot of restarts, a player stands at it.

    ``variant`` is the spot: centre, penalty mark, corner, goal area or touch line. The position is the ball's; ``team``
    and ``player`` of ``spot.taker`` are the taker's. A taker is published once per stay of the ball.
    """

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
        """Follow a slow ball to a spot, and a ball at a spot until it leaves."""
        frame = frame_of(event)
        ball = frame.ball
        if ball is None:
            return state, NOTHING
        p = self.parameters
        track, slow_us = extend_track(state.track, event.ts_us, ball, p)
        slow = slow_us >= 0
        if state.reported:
            if spot_at(self.pitch, ball.x_m, ball.y_m, p.spot_m + p.leave_m) == "":
                return SpotState(track=track), NOTHING
            state = SpotState(state.spot, state.since_us, True, state.taker, track)
            return self._taker(state, event, frame, ball) if slow else (state, NOTHING)
        spot = spot_at(self.pitch, ball.x_m, ball.y_m, p.spot_m) if slow else ""
        if spot != state.spot:
            return SpotState(spot, slow_us, track=track), NOTHING
        slow_for_us, about = slow_us - state.since_us, "spot.ball"
        if not spot or not at_least("time that it lies there", slow_for_us, p.hold_us, "spots.hold_us", about):
            return SpotState(spot, state.since_us, track=track), NOTHING
        payload = EventPayload(spot, x_m=ball.x_m, y_m=ball.y_m)
        at_spot = make_event("spot.ball", event.ts_us, f"ball:{state.since_us}", payload)
        after, more = self._taker(SpotState(spot, state.since_us, True, "", track), event, frame, ball)
        return after, (at_spot, *more)

    def _taker(self, state: SpotState, event: Event, frame: Frame, ball: BallState) -> Step[SpotState]:
        """Publish the nearest player, once for each player and stay of the ball."""
        player, distance_m = nearest(frame, ball.x_m, ball.y_m)
        limit_m, about = self.parameters.taker_m, "spot.taker"
        if player is None or player.object_id == state.taker:
            return state, NOTHING
        if not at_most("distance to the ball", distance_m, limit_m, "spots.taker_m", about):
            return state, NOTHING
        payload = EventPayload(state.spot, player.team, player.object_id, ball.x_m, ball.y_m)
        anchor = f"{player.object_id}:{event.ts_us}"
        taker = make_event("spot.taker", event.ts_us, anchor, payload)
        return SpotState(state.spot, state.since_us, True, player.object_id, state.track), (taker,)


def extend_track(track: Track, now_us: int, ball: BallState, p: SpotParameters) -> tuple[Track, int]:
    """The track of the ball with the newest position, a quarter of a chord apart; and the middle of its time if the
    ball was slow over it, else -1."""
    if not track or now_us - track[-1][0] > p.chord_us:
        return ((now_us, ball.x_m, ball.y_m),), -1
    if now_us - track[-1][0] >= p.chord_us // 4:
        track = (*[mark for mark in track if now_us - mark[0] <= p.chord_us], (now_us, ball.x_m, ball.y_m))
    began_us, x_m, y_m = track[0]
    if now_us - began_us < p.chord_us // 2:
        return track, -1
    moved_m, took_s = math.hypot(ball.x_m - x_m, ball.y_m - y_m), (now_us - began_us) * 1e-6
    slow = moved_m <= p.slow_m_s * (now_us - began_us) * 1e-6
    if slow:
        note("speed of the ball", moved_m / took_s, "at most", p.slow_m_s, "spots.slow_m_s")
    return track, (began_us + now_us) // 2 if slow else -1


def spot_at(pitch: Pitch, x_m: float, y_m: float, near_m: float) -> str:
    """The kind of restart spot at a position, the narrowest first; empty if there is none within ``near_m``."""
    end = end_of(x_m)
    mark_x_m, mark_y_m = pitch.penalty_mark(end)
    distances_m = {
        "centre": math.hypot(x_m, y_m),
        "penalty mark": math.hypot(x_m - mark_x_m, y_m - mark_y_m),
        "corner": pitch.corner_distance_m(x_m, y_m),
    }
    for spot, distance_m in distances_m.items():
        if at_most("the ball from its spot", distance_m, near_m, "spots.spot_m", about=spot):
            return spot
    if pitch.in_goal_area(x_m, y_m, end):
        return "goal area"
    least_m, what = pitch.half_width_m - near_m, "the ball from the pitch's long axis"
    return "touch line" if at_least(what, abs(y_m), least_m, "spots.spot_m", about="touch line") else ""
