"""A kick from rest: the ball was slow for a while, then goes some metres at once (part of 5.10).

A pure fold over frames. A time of slowness survives short bursts (touches, track repairs), because a dead ball
is put down, nudged and put down again; the kick is the last slow sample before the ball went.
"""

from __future__ import annotations

import math

import msgspec

from detectors.play.restart_kicks import kick_off_shape, penalty_shape
from football.payloads import BallState, BodyState, Frame
from football.pitch import Pitch


class RestParameters(msgspec.Struct, frozen=True):
    """What rest is. P: chosen on Portugal-Switzerland 2019.

    Attributes:
        bridge_us, bridge_m: a shorter and smaller burst does not end a time of slowness: the ball is put right,
            or tapped to a mate who then kicks it. Less than any restart's way, but that of a throw-in.
        place_m: a ball that stays within this distance was put down (one in hands is carried on).
        travel_us: a kicked ball goes its way within this time.
    """

    bridge_us: int = 1_000_000
    bridge_m: float = 2.9
    place_m: float = 1.0
    travel_us: int = 1_500_000


class Rest(msgspec.Struct, frozen=True, gc=False):
    """A time of slowness from ``since_us`` to ``last_us`` (-1: none) and how things stood at its end.

    Attributes:
        x_m, y_m: the ball.
        taker: the player nearest to it, ``taker_m`` away.
        shape: whether the teams stood as for a kick-off.
        penalty: whether they stood as for a penalty kick.
        put_us, put_x_m, put_y_m: since when the ball has been within ``place_m`` of a place.
    """

    since_us: int = -1
    last_us: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    taker: BodyState | None = None
    taker_m: float = math.inf
    shape: bool = False
    put_us: int = -1
    put_x_m: float = 0.0
    put_y_m: float = 0.0
    penalty: bool = False


NO_REST = Rest()


def nearest(frame: Frame, x_m: float, y_m: float) -> tuple[BodyState | None, float]:
    """The player nearest to a place, and his distance; None and infinity if there is nobody."""
    best: BodyState | None = None
    best2 = math.inf
    for player in frame.players:
        dx, dy = player.x_m - x_m, player.y_m - y_m
        distance2 = dx * dx + dy * dy
        if distance2 < best2:
            best, best2 = player, distance2
    return best, math.sqrt(best2)


def rest_on(
    rest: Rest,
    p: RestParameters,
    pitch: Pitch,
    now_us: int,
    frame: Frame,
    ball: BallState,
    near: tuple[BodyState | None, float],
) -> Rest:
    """The time of slowness with one more slow frame; a new one if the ball has been elsewhere since."""
    goes_on = (
        rest.since_us >= 0
        and now_us - rest.last_us <= p.bridge_us
        and math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m) <= p.bridge_m
    )
    since_us, put_us, put_x_m, put_y_m = now_us, now_us, ball.x_m, ball.y_m
    if goes_on:
        since_us = rest.since_us
        if math.hypot(ball.x_m - rest.put_x_m, ball.y_m - rest.put_y_m) <= p.place_m:
            put_us, put_x_m, put_y_m = rest.put_us, rest.put_x_m, rest.put_y_m
    shape = kick_off_shape(frame, ball.x_m, ball.y_m)
    penalty = penalty_shape(pitch, frame, ball.x_m, ball.y_m)
    return Rest(since_us, now_us, ball.x_m, ball.y_m, *near, shape, put_us, put_x_m, put_y_m, penalty)


def travelled_m(rest: Rest, p: RestParameters, now_us: int, ball: BallState) -> float:
    """How far the ball has gone from its rest at once; -1 if it did not rest or took too long."""
    if rest.since_us < 0 or now_us - rest.last_us > p.travel_us:
        return -1.0
    return math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m)
