"""A ball that nobody plays: it lies still, is left alone, or is carried by hand (part of 5.10).

A pure fold over frames, without events of its own. P and O in the parameters' reasons are the two real
matches that they were chosen on: Portugal-Switzerland 2019 and the Opta/TRACAB clip.
"""

from __future__ import annotations

import math

import msgspec

from football.payloads import BallState


class StallParameters(msgspec.Struct, frozen=True):
    """When a ball has stalled.

    Attributes:
        slow_m_s: a ball at rest, carried or drifting to a restart (P: provider's drifts of up to 2.4 m/s).
        still_m, still_us: within this distance for this long. P: in free play a defender rests the ball for
            up to 3.9 s.
        alone_m, alone_us: slow with nobody this near for this long. P, O: never while the ball was in play.
        hand_m: a carried ball is this near to its carrier.
        hand_low_m, hand_high_m: between these heights: a header is above, a bounce dips below.
        hand_range_m, hand_us: it stays within this range of height for this long; free flight bends by 0.78 m.
    """

    slow_m_s: float = 2.5
    still_m: float = 2.0
    still_us: int = 4_000_000
    alone_m: float = 2.0
    alone_us: int = 1_500_000
    hand_m: float = 0.8
    hand_low_m: float = 0.7
    hand_high_m: float = 1.7
    hand_range_m: float = 0.3
    hand_us: int = 800_000


class Stall(msgspec.Struct, frozen=True, gc=False):
    """Since when each sign holds, -1 where it does not.

    ``x_m``, ``y_m`` is the place that the ball has not left since ``still_us``; ``low_m`` and ``high_m`` bound
    its height since ``hand_us``.
    """

    still_us: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    alone_us: int = -1
    hand_us: int = -1
    low_m: float = 0.0
    high_m: float = 0.0


NO_STALL = Stall()


def watch(stall: Stall, p: StallParameters, now_us: int, ball: BallState, slow: bool, nearest_m: float) -> Stall:
    """The signs after one more frame; ``nearest_m`` need only be right for a slow ball."""
    x_m, y_m, still_us = stall.x_m, stall.y_m, stall.still_us
    if still_us < 0 or math.hypot(ball.x_m - x_m, ball.y_m - y_m) > p.still_m:
        if not slow:
            return NO_STALL
        x_m, y_m, still_us = ball.x_m, ball.y_m, now_us
    alone_us = -1
    if slow and nearest_m > p.alone_m:
        alone_us = stall.alone_us if stall.alone_us >= 0 else now_us
    hand_us, low_m, high_m = -1, ball.z_m, ball.z_m
    if slow and nearest_m <= p.hand_m and p.hand_low_m <= ball.z_m <= p.hand_high_m:
        hand_us = now_us
        low_m, high_m = min(stall.low_m, ball.z_m), max(stall.high_m, ball.z_m)
        if stall.hand_us >= 0 and high_m - low_m <= p.hand_range_m:
            hand_us = stall.hand_us
        else:
            low_m = high_m = ball.z_m
    return Stall(still_us, x_m, y_m, alone_us, hand_us, low_m, high_m)


def stalled(stall: Stall, p: StallParameters, now_us: int) -> tuple[str, int]:
    """Which sign has held long enough, and since when; an empty name if none has."""
    if 0 <= stall.alone_us <= now_us - p.alone_us:
        return "alone", stall.alone_us
    if 0 <= stall.hand_us <= now_us - p.hand_us:
        return "carried", stall.hand_us
    if 0 <= stall.still_us <= now_us - p.still_us:
        return "still", stall.still_us
    return "", -1
