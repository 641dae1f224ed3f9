"""A ball that crosses the goal line by a post, or nobody knows how high: whether it is in the net (part of 5.10).

The track of a camera errs there by more than the ball's width, so the side of the post on which the ball crossed says
little. And many sources have no heights, or none of some flights, so a low ball may have flown over the bar. The net
stops a ball within the goal; one that passed the post or the bar goes on.
"""

from __future__ import annotations

import msgspec

from detectors.play.phase_parameters import PhaseParameters
from football.payloads import BallState, location_m, payload_of
from football.pitch import BAR_HEIGHT_M, GOAL_HALF_WIDTH_M, Pitch, end_of
from middleware.events import Event

#: Confidence of a goal whose ball was tracked beside the post, as of any doubtful ball in a goal (2.9).
DOUBT = 0.5


def near_post(crossing: Event, post_m: float) -> Event | None:
    """The crossing of a goal line at most ``post_m`` outside a post and under the bar, as a ball in that goal."""
    payload = payload_of(crossing)
    x_m, y_m = location_m(payload)
    wide = abs(y_m) - GOAL_HALF_WIDTH_M > post_m or "goal" not in payload.variant
    if wide or (payload.z_m is not None and payload.z_m > BAR_HEIGHT_M):
        return None
    return msgspec.structs.replace(
        crossing, payload=msgspec.structs.replace(payload, variant=end_of(x_m), confidence=DOUBT)
    )


def in_net(crossing: Event, ball: BallState, pitch: Pitch, p: PhaseParameters) -> bool:
    """True if a ball that has crossed the goal line is in the net now, and has not gone on beside or behind it.

    One that crossed by a post may be beside it. The net holds any other to the sides, wherever it is tracked.
    """
    wide_m = abs(ball.y_m) - GOAL_HALF_WIDTH_M
    side_m = p.net_side_m if is_by_post(crossing, p.post_m) else p.net_m
    return wide_m <= side_m and abs(ball.x_m) - pitch.half_length_m <= p.net_m


def is_by_post(crossing: Event, post_m: float) -> bool:
    """True if a ball crossed the goal line so near to a post that the track may err about its side."""
    return GOAL_HALF_WIDTH_M - abs(location_m(payload_of(crossing))[1]) < post_m


def is_doubtful(crossing: Event, post_m: float, flat_m: float) -> bool:
    """True if the net has to show whether a ball that a camera saw between the posts is in it.

    Args:
        crossing: of the goal line.
        post_m: so near to a post the track may err.
        flat_m: a height below it may be that of a flight whose height the source does not have.
    """
    z_m = payload_of(crossing).z_m
    return is_by_post(crossing, post_m) or z_m is None or z_m < flat_m


def flies_on(crossing: Event, now_us: int, ball: BallState, p: PhaseParameters) -> bool:
    """True if a ball behind the goal line is as fast as one that no net has stopped, and has not been so for long."""
    speed_m_s = ball.vx_m_s if ball.x_m > 0.0 else -ball.vx_m_s
    return speed_m_s >= p.net_m_s and now_us - crossing.ts_us < p.net_us


def was_in_net(entered: Event | None, returned: Event, p: PhaseParameters) -> bool:
    """True if a ball that comes back over the goal line had been in the net, or was not seen, for long."""
    return entered is not None and returned.ts_us - entered.ts_us >= p.net_us
