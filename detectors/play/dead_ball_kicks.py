"""A kick from rest: the ball was slow for a while, then moves some metres at once (part of 5.10).

A pure fold over frames. A *rest* is a time in which the ball is slow, also in a thrower's hands. Short bursts of speed
(a nudge, a repaired track) do not end it, because players put a dead ball down more than once. The kick is dated at the
last slow sample before the ball left.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most
from detectors.play.restart_kicks import PenaltyShape, RestartKickParameters, kick_off_shape, penalty_shape
from detectors.reasons import reason
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import Team
from football.payloads import BallState, BodyState, Frame
from football.pitch import Pitch


class RestParameters(msgspec.Struct, frozen=True):
    """Limits of a rest.

    Attributes:
        bridge_us: a burst of speed that is shorter does not end a rest.
        bridge_m: a burst of speed over a shorter distance does not end a rest.
        place_m: a ball that stays within this distance lies.
        travel_us: a kicked ball covers its distance within this time.
        frozen_us: a ball whose position was repeated for so long before it jumped has moved meanwhile.
        fast_m_s: least speed of a ball that has flown freely from its kick until it is found again.
        flies_m_s: the same where it was seen when the taker left.
        along_share: a ball that flies from a player has this share of its way from him along its velocity.
        carried_us: who left the place with a ball that was not seen kicks it at least this long after.
        steady: a ball that was lost is found again after so many positions, each near the one before.
        steady_us: where it has jumped by less than such a gap shows, it is found after this time.
        left_m: who has taken a kick that was not seen is this far from where the ball lay.
        left_us: he is as far away so long after his kick.
        drop_low_m: least height of a ball that the referee holds for a dropped ball.
        drop_high_m: greatest height of it.
        drop_bridge_us: who holds a ball above the chest is tracked lower for at most this long.
        drop_ground_m: greatest height of a ball that has fallen.
        drop_apart_m: no player is as near to it as this.
        drop_hold_us: the referee holds it for at least this long.
        fall_us: it is on the ground for at least this long before the kick.
        drop_us: the kick follows at most this long after it was off the ground.
    """

    bridge_us: Annotated[
        int, reason("Portugal-Switzerland 2019: a ball is put right, or tapped to a mate who then kicks it.")
    ] = 1_000_000
    bridge_m: Annotated[
        float, reason("Portugal-Switzerland 2019; less than the distance of any restart but a throw-in.")
    ] = 2.9
    place_m: Annotated[float, reason("Portugal-Switzerland 2019; a ball in hands is carried on.")] = 1.0
    travel_us: Annotated[int, reason("Portugal-Switzerland 2019.")] = 1_500_000
    frozen_us: Annotated[int, reason("As conditioning.reset_us (1.4).")] = 200_000
    fast_m_s: Annotated[float, reason("hierarchy 2.4: moving, as only a struck ball does")] = 4.0
    flies_m_s: Annotated[
        float, reason("Ours: a slower one has lost much of its speed, so that its flight took less time.")
    ] = 10.0
    along_share: Annotated[float, reason("Ours: 18 degrees, since he goes on and the ball may be turned.")] = 0.95
    carried_us: Annotated[int, reason("Ours: who has kicked it where it lay is a step away within a second.")] = (
        1_000_000
    )
    steady: Annotated[int, reason("As release.steady (5.8).")] = 5
    steady_us: Annotated[int, reason("So many positions at 25 Hz.")] = 160_000
    left_m: Annotated[float, reason("Ours: a step beyond the ball.")] = 1.0
    left_us: Annotated[
        int, reason("Ragged generated matches, seeds 201 to 205: 0.6 to 1.4 s in four kicks that were not seen.")
    ] = 800_000
    drop_low_m: Annotated[float, reason("Ours: from the waist.")] = 0.6
    drop_high_m: Annotated[float, reason("Ours: at the chest.")] = 1.6
    drop_bridge_us: Annotated[int, reason("Ours: five frames of heights that err on ragged tracking.")] = 200_000
    drop_ground_m: Annotated[
        float, reason("Ours: a ball that rolls is tracked lower; a keyed one may hang higher.")
    ] = 0.4
    drop_apart_m: Annotated[float, reason("An arm's length: a ball in a player's hands is nearer.")] = 0.8
    drop_hold_us: Annotated[int, reason("Ours: a bounce or a header is shorter.")] = 800_000
    fall_us: Annotated[int, reason("Law 8.2: it is in play once it has touched the ground. Ours: a bounce.")] = 300_000
    drop_us: Annotated[int, reason("Law 8: the player waits until the ball has touched the ground. Ours.")] = 4_000_000


class Rest(msgspec.Struct, frozen=True, gc=False):
    """A rest and the positions at its end.

    Attributes:
        since_us: its begin; -1 without a rest.
        last_us: its newest slow sample.
        x_m: position of the ball.
        y_m: position of the ball.
        taker: the player nearest to the ball.
        taker_m: his distance.
        shape: True if the teams stood as for a kick-off.
        put_us: time since which the ball lies, within ``place_m`` of one position; before its begin if the ball must
            have lain there when it was not seen.
        put_x_m: that position.
        put_y_m: that position.
        penalty: how the players stood for a penalty kick, if they did.
        held_us: the ball is at hand height, and no player near, since then; -1 if it is not so.
        dropped_us: newest time off the ground after that had lasted long enough for a dropped ball; -1 if it never had.
        fresh_us: newest time at which its position was another one, by however little, than before.
        closest: the player who has been nearest to it since then.
        closest_m: his distance.
        left_us: he is farther from it than ``left_m`` since then; -1 while he is near.
        away_us: of a ball that was found elsewhere, time from which on it may have been kicked; -1 of another.
        found_us: time at which it was found.
        high_us: it has been above the chest again and again since then.
        raised_us: the newest time that it was; -1 if it never was.
        gap_us: time between its two newest positions.
        appeared_us: when the ball appeared there, after it had not been seen; -1 of another.
        cut_us: when the scene was cut to the ball that lies there; -1 of another.
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
    penalty: PenaltyShape = ""
    held_us: int = -1
    dropped_us: int = -1
    fresh_us: int = -1
    closest: BodyState | None = None
    closest_m: float = math.inf
    left_us: int = -1
    away_us: int = -1
    found_us: int = -1
    high_us: int = -1
    raised_us: int = -1
    gap_us: int = 0
    appeared_us: int = -1
    cut_us: int = -1


NO_REST = Rest()

#: A player who leaves goes at least so fast.
_WALKS_M_S = 1.0

#: States of the ball since a jump, the first of which may be in no frame.
JUMPED = 2


def nearest(frame: Frame, x_m: float, y_m: float, but: Team = "") -> tuple[BodyState | None, float]:
    """The player nearest to a position, and his distance in metres; None and infinity without players.

    The players of the team ``but`` do not count.
    """
    best: BodyState | None = None
    best_m2 = math.inf
    for player in frame.players if not but else (one for one in frame.players if one.team != but):
        dx_m, dy_m = player.x_m - x_m, player.y_m - y_m
        distance_m2 = dx_m * dx_m + dy_m * dy_m
        if distance_m2 < best_m2:
            best, best_m2 = player, distance_m2
    return best, math.sqrt(best_m2)


def first_rest(now_us: int, ball: BallState, near: tuple[BodyState | None, float], *, put_us: int, shape: bool) -> Rest:
    """The rest of a ball whose first frame this is, and that has lain there since ``put_us`` without being seen.

    ``near``: the player nearest to it, and his distance. ``shape``: True if the teams stand as for a kick-off.
    """
    x_m, y_m = ball.x_m, ball.y_m
    return Rest(
        now_us, now_us, x_m, y_m, *near, shape, put_us, x_m, y_m,
        fresh_us=now_us, closest=near[0], closest_m=near[1], high_us=now_us, gap_us=ball.gap_us,
    )  # fmt: skip


def extend_rest(
    rest: Rest,
    p: RestParameters,
    kick: RestartKickParameters,
    pitch: Pitch,
    now_us: int,
    frame: Frame,
    ball: BallState,
    near: tuple[BodyState | None, float],
    unseen_us: int = 0,
) -> Rest:
    """The rest with one more slow frame; a new rest if the ball has been elsewhere in between.

    ``unseen_us``: time before this frame in which the ball was not seen.
    """
    continues = (
        rest.since_us >= 0
        and now_us - rest.last_us - unseen_us <= p.bridge_us
        and math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m) <= p.bridge_m
    )
    since_us, put_us, put_x_m, put_y_m = now_us, now_us, ball.x_m, ball.y_m
    if continues:
        since_us = rest.since_us
        if math.hypot(ball.x_m - rest.put_x_m, ball.y_m - rest.put_y_m) <= p.place_m:
            put_us, put_x_m, put_y_m = rest.put_us, rest.put_x_m, rest.put_y_m
    shape = kick_off_shape(kick, frame, ball.x_m, ball.y_m)
    penalty = penalty_shape(pitch, kick, frame, ball.x_m, ball.y_m)
    if continues and rest.cut_us >= 0:
        shape = shape or rest.shape
    held_us, dropped_us = -1, rest.dropped_us if continues else -1
    high = (rest.high_us, rest.raised_us) if continues and now_us - rest.raised_us <= p.drop_bridge_us else (now_us, -1)
    if ball.z_m > p.drop_high_m:
        high = high[0], now_us
    if p.drop_low_m <= ball.z_m <= p.drop_high_m and near[1] > p.drop_apart_m:
        held_us = rest.held_us if continues and rest.held_us >= 0 else now_us
        if now_us - held_us >= p.drop_hold_us:
            dropped_us = now_us
    if dropped_us >= 0 and ball.z_m > p.drop_ground_m:
        dropped_us = now_us  # It has not fallen yet.
    x_m, y_m, held = ball.x_m, ball.y_m, (held_us, dropped_us)
    fresh_us, closest, left_us = now_us, near, -1
    if continues and (unseen_us or (x_m == rest.x_m and y_m == rest.y_m)):
        # The ball may have left meanwhile: what was seen of its taker, and of how the teams stood for the kick, counts.
        fresh_us, shape, penalty = rest.fresh_us, shape or rest.shape, penalty or rest.penalty
        closest = near if near[1] < rest.closest_m or _follows(rest, p, frame, near) else (rest.closest, rest.closest_m)
        left_us = _left_us(rest, p, now_us, frame, closest[0])
    return Rest(
        since_us, now_us, x_m, y_m, *near, shape, put_us, put_x_m, put_y_m, penalty, *held, fresh_us, *closest, left_us,
        high_us=high[0], raised_us=high[1], gap_us=ball.gap_us, appeared_us=rest.appeared_us if continues else -1,
        cut_us=rest.cut_us if continues else -1,
    )  # fmt: skip


def _follows(rest: Rest, p: RestParameters, frame: Frame, near: tuple[BodyState | None, float]) -> bool:
    """True if another player is at the ball, and who was nearest has left it to him."""
    body = _body_of(rest.closest, frame)
    has_left = body is not None and math.hypot(body.x_m - rest.x_m, body.y_m - rest.y_m) > p.left_m
    return has_left and near[1] <= p.left_m


def while_unseen(rest: Rest, p: RestParameters, now_us: int, frame: Frame) -> Rest:
    """The rest of a ball that this frame does not show: its taker may leave the place meanwhile."""
    if rest.since_us < 0 or rest.found_us >= 0:
        return rest
    left_us, taker_m = _left_us(rest, p, now_us, frame, rest.taker), rest.taker_m
    if left_us < 0:
        taker_m = min(taker_m, p.left_m)  # He has come to it.
    if (left_us, taker_m) == (rest.left_us, rest.taker_m):
        return rest
    return msgspec.structs.replace(rest, left_us=left_us, taker_m=taker_m)


def _left_us(rest: Rest, p: RestParameters, now_us: int, frame: Frame, taker: BodyState | None) -> int:
    """Time since which the taker is away from where the ball lay; -1 while he is there, or is not seen to leave."""
    body = _body_of(taker, frame)
    if body is None:
        return rest.left_us
    beyond_m = math.hypot(body.x_m - rest.x_m, body.y_m - rest.y_m) - p.left_m
    if beyond_m <= 0.0:
        return -1
    if rest.left_us >= 0 and rest.closest is not None and rest.closest.object_id == body.object_id:
        return rest.left_us
    # He may have left while no frame came in.
    run_us = round(1e6 * beyond_m / max(math.hypot(body.vx_m_s, body.vy_m_s), _WALKS_M_S))
    return max(now_us - run_us, rest.fresh_us)


def found_elsewhere(rest: Rest, p: RestParameters, now_us: int, ball: BallState, unseen_us: int) -> Rest | None:
    """The rest of a ball that is found elsewhere, with a speed that is not known yet; None of another ball.

    It was not seen for ``unseen_us``; or its position was repeated to the last digit, and from there it has jumped.
    """
    if rest.since_us < 0 or rest.found_us >= 0:
        return None
    moved_m = math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m)
    if moved_m <= p.bridge_m:
        return None
    away_us = rest.last_us if unseen_us else rest.fresh_us
    if unseen_us:
        return msgspec.structs.replace(rest, away_us=away_us, found_us=now_us)
    jumped = ball.run <= JUMPED or moved_m > BALL_SPEED_MAX_M_S * 1e-6 * (now_us - rest.last_us)
    if not jumped or now_us - away_us < p.frozen_us:
        return None
    return msgspec.structs.replace(rest, away_us=away_us, found_us=now_us, taker=rest.closest, taker_m=rest.closest_m)


def kicked_us(rest: Rest, p: RestParameters, now_us: int, ball: BallState) -> int:
    """Time of the kick that ended a rest.

    A ball that was not seen to leave, and is fast, flew straight since then, but not from a later time than when its
    taker left. Another one may have been played since, or be at the end of its way: then the kick is dated by when he
    left. If that was not seen either, the middle of the time in which the ball was not seen errs least.
    """
    if rest.found_us < 0:
        return rest.last_us
    moved_m, speed_m_s = math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m), math.hypot(ball.vx_m_s, ball.vy_m_s)
    latest_us, fast_m_s, else_us = rest.found_us, p.fast_m_s, (rest.away_us + rest.found_us) // 2
    if rest.left_us >= 0:
        latest_us = else_us = min(max(rest.left_us - p.left_us, rest.away_us), rest.found_us)
        fast_m_s = p.flies_m_s
    if speed_m_s < fast_m_s:
        return else_us
    return min(max(now_us - round(1e6 * moved_m / speed_m_s), rest.away_us), latest_us)


def carried_on(rest: Rest, p: RestParameters, now_us: int, frame: Frame, ball: BallState) -> Rest:
    """The rest at its taker, if he has carried on the ball while it was not seen: it flies from where he is now."""
    body = _body_of(rest.taker, frame)
    if rest.found_us < 0 or rest.left_us < 0 or body is None:
        return rest
    dx_m, dy_m, speed_m_s = ball.x_m - body.x_m, ball.y_m - body.y_m, math.hypot(ball.vx_m_s, ball.vy_m_s)
    along_m = (dx_m * ball.vx_m_s + dy_m * ball.vy_m_s) / speed_m_s if speed_m_s >= p.fast_m_s else 0.0
    if along_m <= p.along_share * math.hypot(dx_m, dy_m):
        return rest
    kick_us = now_us - round(1e6 * along_m / speed_m_s)
    if kick_us - rest.left_us < p.carried_us:
        return rest
    return msgspec.structs.replace(
        rest, last_us=kick_us, x_m=body.x_m, y_m=body.y_m, taker=body, left_us=-1, away_us=-1, found_us=-1, raised_us=-1
    )


def left_unseen_us(rest: Rest, p: RestParameters) -> int:
    """Time of a kick that nothing but its taker shows, who has left the place while the ball was unseen; else -1."""
    if rest.found_us < 0 or not 0 <= rest.left_us <= rest.found_us:
        return -1
    return min(max(rest.left_us - p.left_us, rest.away_us), rest.found_us)


def is_dropped(rest: Rest, p: RestParameters, ball: BallState | None) -> bool:
    """True if the referee dropped the ball before it was kicked (Law 8.2) in plain view.

    One that comes from above the chest was no free kick, either: that lies on the ground (Law 13).
    """
    what, since_us, about = "time since it was held", rest.last_us - rest.dropped_us, "restart.dropped"
    if rest.found_us >= 0:
        return False
    flies = ball is not None and ball.z_m > p.drop_ground_m
    if flies and rest.raised_us >= 0 and rest.last_us - rest.raised_us <= p.drop_bridge_us:
        high_us = rest.raised_us - rest.high_us
        if at_least("time above the chest", high_us, p.drop_hold_us, "phase.rest.drop_hold_us", about):
            return True
    if rest.dropped_us < 0:
        return False
    fell = at_least(what, since_us, p.fall_us, "phase.rest.fall_us", about)
    return fell and at_most(what, since_us, p.drop_us, "phase.rest.drop_us", about)


def has_appeared(rest: Rest, least_us: int) -> bool:
    """True if the ball has appeared where it was kicked from, and was not seen to lie there for ``least_us``."""
    return rest.appeared_us >= 0 and rest.last_us - rest.appeared_us < least_us


def travelled_m(rest: Rest, p: RestParameters, now_us: int, ball: BallState) -> float:
    """Distance that the ball has covered from its rest, in metres; -1 without a rest, or if it took too long."""
    if rest.since_us < 0 or now_us - max(rest.last_us, rest.found_us) > p.travel_us:
        return -1.0
    if rest.found_us >= 0 and (ball.run < p.steady or now_us - rest.found_us < p.steady_us):
        return -1.0
    return math.hypot(ball.x_m - rest.x_m, ball.y_m - rest.y_m)


def apart_m(taker: BodyState | None, frame: Frame, ball: BallState) -> float:
    """Distance of the ball from its taker now, in metres; infinity if the frame does not have him."""
    body = _body_of(taker, frame)
    return math.inf if body is None else math.hypot(ball.x_m - body.x_m, ball.y_m - body.y_m)


def _body_of(player: BodyState | None, frame: Frame) -> BodyState | None:
    """A player as a frame has him; None if it does not."""
    return next((b for b in frame.players if player is not None and b.object_id == player.object_id), None)
