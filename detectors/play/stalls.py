"""A stalled ball: it lies still, is left alone (also while it rolls away), or is carried by hand (part of 5.10).

No field player takes a live ball in his hands. So who had one in hands before it stalled, picked it up after the
whistle, and the last contact before that was the last in play.

A pure fold over frames, without events of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.decisions import at_least
from detectors.reasons import reason
from football.payloads import BallState


class StallParameters(msgspec.Struct, frozen=True):
    """Signs of a stalled ball.

    Attributes:
        slow_m_s: greatest speed of a ball at rest, carried, or drifting to a restart.
        still_m: a ball lies still within this distance.
        still_us: a ball that lies still for this long has stalled.
        alone_m: a slow ball is alone if no player is within this distance.
        alone_us: a ball that is alone for this long has stalled.
        far_m: a ball that still rolls is alone if no player is within this distance, and none comes nearer.
        far_in_m: such a ball is at least this far inside the pitch.
        far_m_s: greatest speed of such a ball.
        far_nearer_m: who comes nearer by less does not go for it.
        hand_m: a carried ball is this near to its carrier.
        hand_low_m: least height of a carried ball.
        hand_high_m: greatest height of a carried ball.
        hand_range_m: the height of a carried ball stays within this range.
        hand_us: a ball that is carried for this long has stalled.
        hand_mean_us: a ball that goes with a player for this long, with the mean height of hands, has stalled.
        held_us: a ball that is at hand height beside a player for this long is in his hands.
        let_go_us: it may be seen elsewhere for this long meanwhile.
        bend_us: contacts from this long before until this long after belong to the hands.
        whistle_us: a stalled ball was stopped at most this long after its last contact.
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
    far_m: Annotated[
        float,
        reason("Ours; ragged generated matches, seeds 201 to 205: after the whistle it rolls 30 m, and nobody goes."),
    ] = 10.0
    far_in_m: Annotated[
        float,
        reason("Ours; simulated seed 445: nobody goes for a ball that is about to run out, and it is live until then."),
    ] = 3.0
    far_m_s: Annotated[float, reason("Ours: a faster one may be a pass.")] = 8.0
    far_nearer_m: Annotated[float, reason("Ours: in play somebody runs for it.")] = 0.5
    hand_m: Annotated[float, reason("An arm's length.")] = 0.8
    hand_low_m: Annotated[float, reason("A bounce dips below.")] = 0.7
    hand_high_m: Annotated[float, reason("A header is above.")] = 1.7
    hand_range_m: Annotated[float, reason("Free flight bends by 0.78 m in 0.8 s.")] = 0.3
    hand_us: Annotated[int, reason("See hand_range_m.")] = 800_000
    hand_mean_us: Annotated[
        int,
        reason(
            "Heights of camera tracking err from frame to frame; generated matches, seeds 645 to 647 and 649 to 651: "
            "345 such balls are dead, none is live outside the penalty areas. From 1.5 s on, five are live."
        ),
    ] = 2_000_000
    held_us: Annotated[int, reason("Ours: a ball that is chested down is past hand height sooner.")] = 500_000
    let_go_us: Annotated[int, reason("Ours: heights of camera tracking err from frame to frame.")] = 400_000
    bend_us: Annotated[int, reason("Ours: so long a player stoops for the ball.")] = 400_000
    whistle_us: Annotated[
        int,
        reason(
            "Nobody leaves a live ball to itself (generated matches, seeds 11 to 30: of 13 whistles 11 come 0.1 to "
            "0.8 s after the last contact)."
        ),
    ] = 400_000


class Stall(msgspec.Struct, frozen=True, gc=False):
    """Begin of each sign of a stall; -1 where the sign does not hold.

    Attributes:
        still_us: the ball lies still since then.
        x_m: the position that it has not left since.
        y_m: the position that it has not left since.
        alone_us: the ball is alone since then.
        far_us: it rolls, far from everybody, since then.
        gap_m: distance of the nearest player then.
        hand_us: the ball is carried since then.
        low_m: its least height since ``hand_us``.
        high_m: its greatest height since ``hand_us``.
        with_us: the slow ball goes with a player since then.
        frames: number of frames since ``with_us``.
        height_m: its mean height over them.
    """

    still_us: int = -1
    x_m: float = 0.0
    y_m: float = 0.0
    alone_us: int = -1
    far_us: int = -1
    gap_m: float = 0.0
    hand_us: int = -1
    low_m: float = 0.0
    high_m: float = 0.0
    with_us: int = -1
    frames: int = 0
    height_m: float = 0.0


NO_STALL = Stall()


class Handled(msgspec.Struct, frozen=True, gc=False):
    """The newest time that the ball was at hand height beside a player: begin and end; -1 without one.

    If it began in a penalty area (``in_area``), they may be a goalkeeper's hands.
    """

    since_us: int = -1
    until_us: int = -1
    in_area: bool = False


NOT_HANDLED = Handled()


def at_hands(p: StallParameters, height_m: float) -> bool:
    """True if a ball is as high as the hands of who carries it."""
    return p.hand_low_m <= height_m <= p.hand_high_m


def is_played_at(p: StallParameters, ball: BallState, nearest_m: float) -> bool:
    """True unless a moving ball is far from everybody, or in the hands of who carries it."""
    return nearest_m <= p.far_m and not (nearest_m <= p.hand_m and at_hands(p, ball.z_m))


def update_handled(handled: Handled, p: StallParameters, now_us: int, nearest_m: float, in_area: bool) -> Handled:
    """The time in hands after one more frame with the ball at their height."""
    if nearest_m > p.hand_m:
        return handled
    if handled.since_us >= 0 and now_us - handled.until_us <= p.let_go_us:
        return Handled(handled.since_us, now_us, handled.in_area)
    return Handled(now_us, now_us, in_area)


def is_kept(handled: Handled, p: StallParameters, until_us: int, put_down_us: int) -> bool:
    """True if a goalkeeper may have had the ball in his hands until less than ``put_down_us`` before ``until_us``.

    Such a ball is in play (Law 12), and no free kick is taken from hands: the ball lies still for it (Law 13).
    """
    return (
        handled.in_area
        and handled.until_us - handled.since_us >= p.held_us
        and until_us - handled.until_us < put_down_us
    )


def stopped_us(
    stall_us: int, played_us: Sequence[int], handled: Handled, p: StallParameters, *, by_hand: bool = False
) -> int:
    """When play was stopped before a stall: soon after the last contact that did not belong to hands.

    Args:
        stall_us: begin of the stall.
        played_us: times of the newest contacts, oldest first.
        handled: the newest time in hands.
        p: limits.
        by_hand: True if a field player has carried the ball since ``stall_us``.
    """
    last_us = max(played_us, default=-1)
    in_hands_us = [stall_us] if by_hand else []
    picked_up = not handled.in_area and handled.until_us - handled.since_us >= p.held_us
    if picked_up and last_us <= handled.until_us + p.bend_us:
        in_hands_us.append(handled.since_us)
    if in_hands_us:
        hands_us = min(in_hands_us)
        stall_us = min(stall_us, hands_us)
        last_us = max((at_us for at_us in played_us if at_us < hands_us - p.bend_us), default=-1)
    return min(stall_us, last_us + p.whistle_us) if last_us >= 0 else stall_us


def update_stall(stall: Stall, p: StallParameters, now_us: int, ball: BallState, slow: bool, nearest_m: float) -> Stall:
    """The signs after one more frame; ``nearest_m`` may be 0 for a ball that was played just now."""
    far_us, gap_m = -1, 0.0
    if nearest_m > p.far_m and (slow or math.hypot(ball.vx_m_s, ball.vy_m_s) <= p.far_m_s):
        far_us, gap_m = now_us, nearest_m
        if stall.far_us >= 0 and nearest_m > stall.gap_m - p.far_nearer_m:
            far_us, gap_m = stall.far_us, stall.gap_m
    x_m, y_m, still_us = stall.x_m, stall.y_m, stall.still_us
    if still_us < 0 or math.hypot(ball.x_m - x_m, ball.y_m - y_m) > p.still_m:
        if not slow:
            return NO_STALL if far_us < 0 else Stall(far_us=far_us, gap_m=gap_m)
        x_m, y_m, still_us = ball.x_m, ball.y_m, now_us
    alone_us = -1
    if slow and nearest_m > p.alone_m:
        alone_us = stall.alone_us if stall.alone_us >= 0 else now_us
    hand_us, low_m, high_m, with_us, frames, height_m = -1, ball.z_m, ball.z_m, -1, 0, 0.0
    if slow and nearest_m <= p.hand_m:
        if stall.with_us >= 0:
            with_us, frames, height_m = stall.with_us, stall.frames, stall.height_m
        else:
            with_us = now_us
        frames += 1
        height_m += (ball.z_m - height_m) / frames
        if at_hands(p, ball.z_m):
            hand_us = now_us
            low_m, high_m = min(stall.low_m, ball.z_m), max(stall.high_m, ball.z_m)
            if stall.hand_us >= 0 and high_m - low_m <= p.hand_range_m:
                hand_us = stall.hand_us
            else:
                low_m = high_m = ball.z_m
    return Stall(still_us, x_m, y_m, alone_us, far_us, gap_m, hand_us, low_m, high_m, with_us, frames, height_m)


def stall_sign(stall: Stall, p: StallParameters, now_us: int) -> tuple[str, int]:
    """The sign that has held long enough (``alone``, ``carried`` or ``still``) and its begin; empty and -1 if none."""
    hand_mean_us = stall.with_us if at_hands(p, stall.height_m) else -1
    signs = (
        ("alone", stall.alone_us, p.alone_us, "phase.stall.alone_us"),
        ("alone", stall.far_us, p.alone_us, "phase.stall.alone_us"),
        ("carried", stall.hand_us, p.hand_us, "phase.stall.hand_us"),
        ("carried", hand_mean_us, p.hand_mean_us, "phase.stall.hand_mean_us"),
        ("still", stall.still_us, p.still_us, "phase.stall.still_us"),
    )
    for sign, since_us, hold_us, path in signs:
        if since_us >= 0 and at_least(f"time since the ball is {sign}", now_us - since_us, hold_us, path, "phase.dead"):
            return sign, since_us
    return "", -1
