"""A stalled ball: it lies still, is left alone, is carried by hand, or nobody goes for it (part of 5.10).

A pure fold over frames, without events of its own. A ball that stops dead away from everybody has not stopped: its
track is frozen, and shows nothing.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import BallState, BodyState, Frame
from football.pitch import Pitch

#: Signs of a stall.
SIGNS = ("alone", "left", "carried", "still")


class StallParameters(msgspec.Struct, frozen=True):
    """Signs of a stalled ball.

    Attributes:
        slow_m_s: greatest speed of a ball at rest, carried, or drifting to a restart.
        still_m: a ball lies still within this distance.
        still_us: a ball that lies still for this long has stalled.
        alone_m: a slow ball is alone if no player is within this distance.
        alone_us: a ball that is alone for this long has stalled.
        hand_m: a carried ball is this near to its carrier.
        hand_low_m: least height of a carried ball.
        hand_high_m: greatest height of a carried ball.
        hand_range_m: the height of a carried ball stays within this range.
        hand_us: a ball that is carried for this long has stalled.
        left_m: a player goes for a ball that is within this distance, or will be as both move now.
        left_m_s: a player who runs towards the ball at this speed goes for it, too.
        closing_m_s: a player who goes for the ball comes nearer at this speed at least.
        within_us: at that speed he reaches it within this time.
        left_us: a ball that nobody goes for, for this long, has stalled; time in which somebody does counts back.
        least_players: with fewer players in sight nobody can be said not to go for it.
        ahead_us: a ball that leaves the pitch within this time at its speed is on its way out instead.
        frozen_m_s: a ball away from everybody that slows by more than this from one frame to the next, and stands then,
            is frozen.
        frozen_below_m_s: a slower ball stands.
        frozen_us: a track is frozen for at most this long; a ball that stands for longer has stopped.
    """

    slow_m_s: Annotated[float, reason("Portugal-Switzerland 2019: the provider's ball drifts at up to 2.4 m/s.")] = 2.5
    still_m: Annotated[float, reason("Portugal-Switzerland 2019.")] = 2.0
    still_us: Annotated[
        int, reason("Portugal-Switzerland 2019: in free play a defender rests the ball for up to 3.9 s.")
    ] = 4_000_000
    alone_m: Annotated[float, reason("Never so in play in Portugal-Switzerland 2019 and in the Opta/TRACAB clip.")] = (
        2.0
    )
    alone_us: Annotated[int, reason("Never so in play in Portugal-Switzerland 2019 and in the Opta/TRACAB clip.")] = (
        1_500_000
    )
    hand_m: Annotated[float, reason("An arm's length.")] = 0.8
    hand_low_m: Annotated[float, reason("A bounce dips below.")] = 0.7
    hand_high_m: Annotated[float, reason("A header is above.")] = 1.7
    hand_range_m: Annotated[float, reason("Free flight bends by 0.78 m in 0.8 s.")] = 0.3
    hand_us: Annotated[int, reason("See hand_range_m.")] = 800_000
    left_m: Annotated[float, reason("Ours: a stretched step.")] = 3.5
    left_m_s: Annotated[float, reason("Ours: a brisk walk.")] = 2.0
    closing_m_s: Annotated[float, reason("Ours: slower than a walk.")] = 1.0
    within_us: Annotated[int, reason("Ours: a long pass.")] = 4_000_000
    left_us: Annotated[int, reason("Ours; ragged generated matches, seeds 11 to 14.")] = 1_600_000
    least_players: Annotated[int, reason("Law 3: two teams of seven.")] = 14
    ahead_us: Annotated[int, reason("Ours: players let a ball run out.")] = 1_500_000
    frozen_m_s: Annotated[float, reason("Ours: grass takes 0.2 m/s from one frame to the next at 25 Hz.")] = 4.0
    frozen_below_m_s: Annotated[float, reason("Ours: the noise of a velocity.")] = 0.5
    frozen_us: Annotated[int, reason("Ours.")] = 3_000_000


class Stall(msgspec.Struct, frozen=True, gc=False):
    """Begin of each sign of a stall; -1 where the sign does not hold.

    Attributes:
        still_us: the ball lies still since then.
        x_m: the position that it has not left since.
        y_m: the position that it has not left since.
        alone_us: the ball is alone since then.
        hand_us: the ball is carried since then.
        low_m: its least height since ``hand_us``.
        high_m: its greatest height since ``hand_us``.
        left_us: how long nobody has gone for the ball.
        at_us: the newest frame.
        speed_m_s: speed of the ball over ground then.
        frozen_us: the track of a ball at rest has been frozen since then; -1 if it is not.
    """

    still_us: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    alone_us: int = -1
    hand_us: int = -1
    low_m: float = 0.0
    high_m: float = 0.0
    left_us: int = 0
    at_us: int = 2**62
    speed_m_s: float = 0.0
    frozen_us: int = -1


NO_STALL = Stall()


def update_stall(
    stall: Stall, p: StallParameters, now_us: int, frame: Frame, ball: BallState, slow: bool, pitch: Pitch
) -> Stall:
    """The signs after one more frame with a ball."""
    near = frame.nearest
    near_m2 = near.first_m2 if near is not None else math.inf
    speed_m_s = math.sqrt(ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s)
    stopped_dead = stall.speed_m_s - speed_m_s > p.frozen_m_s and speed_m_s < p.frozen_below_m_s
    stopped_dead = stopped_dead and near_m2 > p.alone_m * p.alone_m
    frozen_us = now_us if slow and stopped_dead else stall.frozen_us if slow else -1
    if 0 <= now_us - frozen_us <= p.frozen_us and frozen_us >= 0:
        return Stall(at_us=now_us, speed_m_s=speed_m_s, frozen_us=frozen_us)
    left_us, since_us = stall.left_us, max(0, now_us - stall.at_us)
    if near_m2 <= p.left_m * p.left_m or len(frame.players) < p.least_players:
        left_us = 0
    else:
        left_us = left_us + since_us if _is_left(p, frame, ball, pitch) else max(0, left_us - since_us)
    x_m, y_m, still_us = stall.x_m, stall.y_m, stall.still_us
    if still_us < 0 or math.hypot(ball.x_m - x_m, ball.y_m - y_m) > p.still_m:
        if not slow:
            return Stall(left_us=left_us, at_us=now_us, speed_m_s=speed_m_s)
        x_m, y_m, still_us = ball.x_m, ball.y_m, now_us
    alone_us = -1
    if slow and near_m2 > p.alone_m * p.alone_m:
        alone_us = stall.alone_us if stall.alone_us >= 0 else now_us
    hand_us, low_m, high_m = -1, ball.z_m, ball.z_m
    if slow and near_m2 <= p.hand_m * p.hand_m and p.hand_low_m <= ball.z_m <= p.hand_high_m:
        hand_us = now_us
        low_m, high_m = min(stall.low_m, ball.z_m), max(stall.high_m, ball.z_m)
        if stall.hand_us >= 0 and high_m - low_m <= p.hand_range_m:
            hand_us = stall.hand_us
        else:
            low_m = high_m = ball.z_m
    return Stall(still_us, x_m, y_m, alone_us, hand_us, low_m, high_m, left_us, now_us, speed_m_s)


def _is_left(p: StallParameters, frame: Frame, ball: BallState, pitch: Pitch) -> bool:
    """True if a low ball stays on the pitch, and no player goes for it."""
    ahead_s, within_s = p.ahead_us * 1e-6, p.within_us * 1e-6
    if ball.z_m > p.hand_high_m or not pitch.inside(ball.x_m + ball.vx_m_s * ahead_s, ball.y_m + ball.vy_m_s * ahead_s):
        return False
    for body in frame.players:
        dx_m, dy_m = body.x_m - ball.x_m, body.y_m - ball.y_m
        away_m = math.sqrt(dx_m * dx_m + dy_m * dy_m)
        closing = dx_m * (ball.vx_m_s - body.vx_m_s) + dy_m * (ball.vy_m_s - body.vy_m_s)
        if not body.team or closing <= away_m * max(p.closing_m_s, away_m / within_s):
            continue
        runs = -(dx_m * body.vx_m_s + dy_m * body.vy_m_s) > p.left_m_s * away_m
        if runs or _meets(dx_m, dy_m, body, ball, p):
            return False
    return True


def _meets(dx_m: float, dy_m: float, body: BodyState, ball: BallState, p: StallParameters) -> bool:
    """True if ball and player soon pass each other within reach, as they move now."""
    vx, vy = ball.vx_m_s - body.vx_m_s, ball.vy_m_s - body.vy_m_s
    v2 = vx * vx + vy * vy
    if v2 == 0.0:
        return False
    at_s = min(max((dx_m * vx + dy_m * vy) / v2, 0.0), p.within_us * 1e-6)
    return (dx_m - vx * at_s) ** 2 + (dy_m - vy * at_s) ** 2 <= p.left_m * p.left_m


def stall_sign(stall: Stall, p: StallParameters, now_us: int) -> tuple[str, int]:
    """The sign that has held long enough (of :data:`SIGNS`) and its begin; empty and -1 if none."""
    signs = (
        ("alone", stall.alone_us, p.alone_us, "phase.stall.alone_us"),
        ("left", now_us - stall.left_us if stall.left_us else -1, p.left_us, "phase.stall.left_us"),
        ("carried", stall.hand_us, p.hand_us, "phase.stall.hand_us"),
        ("still", stall.still_us, p.still_us, "phase.stall.still_us"),
    )
    for sign, since_us, hold_us, path in signs:
        if since_us >= 0 and at_least(f"time since the ball is {sign}", now_us - since_us, hold_us, path, "phase.dead"):
            return sign, since_us
    return "", -1


def holds(frame: Frame, attackers: Team, hand_m: float) -> bool:
    """True if a defender has the ball in his hands, even if an attacker is as near."""
    near = frame.nearest
    if near is None or not attackers:
        return False
    return (near.away_m2 if attackers == "home" else near.home_m2) <= hand_m * hand_m
