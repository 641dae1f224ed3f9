"""Where a ball just played will go and who gets there first: a coarse model, evaluated only at kicks.

The ball loses speed over ground as by drag and grass together, ``v exp(-t/tau)``; its height is ballistic until it
lands and then stays low. A player keeps his velocity for a reaction time and then runs straight at a common speed
(the shape of Spearman's time to intercept). The numbers are means, not anybody's.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.predictor import DRAG_PER_M, PredictorParameters
from detectors.ball.trajectory_breaks import GRAVITY_M_S2
from football.payloads import EventPayload, Frame, number
from football.pitch import BALL_RADIUS_M, BAR_HEIGHT_M, GOAL_HALF_WIDTH_M, Pitch

#: Of the ball, as 2.10 has it (Cd).
BALL_DRAG = PredictorParameters().drag_share
#: Drag that takes so many times e of a ball's speed stops it first.
_NEVER = 50.0


class FlightParameters(msgspec.Struct, frozen=True):
    """``tau_s``: a 15 m/s pass covers 30 m before it has lost two thirds (ours). ``reaction_s``: half of
    Spearman's 0.7, as a receiver sees the pass coming. ``run_m_s``: 5 is Spearman's mean; 6.5 a sprint's start.
    ``reach_m``: a stretched leg. ``reach_height_m``: chest and jump. ``step_s``, ``horizon_s``: of the search."""

    tau_s: float = 3.0
    reaction_s: float = 0.35
    run_m_s: float = 6.5
    reach_m: float = 0.8
    reach_height_m: float = 2.5
    step_s: float = 0.2
    horizon_s: float = 4.0


class Reach(msgspec.Struct, frozen=True, gc=False):
    """Who reaches the ball first of a team: when from now, where."""

    player: str
    after_s: float
    x_m: float
    y_m: float


def first_to_reach(
    release: EventPayload, frame: Frame, p: FlightParameters, within_s: float = math.inf
) -> tuple[Reach | None, dict[str, Reach]]:
    """First of the kicker alone, and of each team without him.

    Args:
        release: fact of a ``kick.released``: ball, velocity, kicker.
        frame: everybody at that instant.
        p: the model's numbers.
        within_s: look no farther ahead than this.
    """
    assert release.x_m is not None
    assert release.y_m is not None
    assert release.z_m is not None
    vx, vy, vz = number(release, "vx_m_s"), number(release, "vy_m_s"), number(release, "vz_m_s")
    own: Reach | None = None
    others: dict[str, Reach] = {}
    steps = int(min(p.horizon_s, within_s) / p.step_s)
    for i in range(1, steps + 1):
        t = i * p.step_s
        gone_s = p.tau_s * (1.0 - math.exp(-t / p.tau_s))
        x, y = release.x_m + vx * gone_s, release.y_m + vy * gone_s
        if release.z_m + vz * t - 0.5 * GRAVITY_M_S2 * t * t > p.reach_height_m:
            continue
        for body in frame.players:
            # Whoever kicked the ball knows where it goes.
            waits_s = 0.0 if body.object_id == release.player else min(t, p.reaction_s)
            radius_m = p.reach_m + p.run_m_s * (t - waits_s)
            dx, dy = body.x_m + body.vx_m_s * waits_s - x, body.y_m + body.vy_m_s * waits_s - y
            if dx * dx + dy * dy > radius_m * radius_m:
                continue
            if body.object_id == release.player:
                own = own or Reach(body.object_id, t, x, y)
            elif body.team not in others:
                others[body.team] = Reach(body.object_id, t, x, y)
        if own and len(others) == 2:
            break
    return own, others


class ShotParameters(msgspec.Struct, frozen=True):
    """``within_s``, ``near_m``: DEBS 2013 Q4 (meets or closely misses within 1.5 s). ``range_m``: StatsBomb's and
    Opta's shots start within 40 m but for freaks. ``speed_min_m_s``: a drive (2.7's pass class ends at 15), or
    anything at close range, see ``close_m`` (as far as the penalty mark and a step) and ``close_speed_min_m_s``.
    ``wide_m``, ``wide_speed_m_s``: a ball as fast as this that misses by more than ``near_m``, but not more than this,
    was meant for the goal as well (ours; generated matches, seeds 11 to 30, two of four missed shots). ``open_rad``:
    a ball that is down before the goal line, or whose height nobody knows, may be a cross that passes the goal. From
    farther away than ``close_m`` it is a shot only where the goal is as open as this (StatsBomb's angle between the
    posts; generated matches, seeds 11 to 30: of 34 shots all others are from where it is 0.246 or more, of 42 crosses
    all from where it is 0.235 or less)."""

    within_s: float = 1.5
    near_m: float = 1.0
    range_m: float = 40.0
    speed_min_m_s: float = 13.0
    close_m: float = 12.0
    close_speed_min_m_s: float = 6.0
    wide_m: float = 3.0
    wide_speed_m_s: float = 14.0
    open_rad: float = 0.24


class Projection(msgspec.Struct, frozen=True, gc=False):
    """Where a ball meets the goal plane: after how long at the speed that it has now (DEBS 2013 Q4), how far from the
    middle, how high with the drag that slows it. ``on_target``: between the posts and under the bar with all of it;
    nearer it meets the frame."""

    after_s: float
    y_m: float
    z_m: float
    on_target: bool


def project_on_goal(ball: EventPayload, attacks_positive_x: bool, pitch: Pitch) -> Projection | None:
    """Where the ball of a fact with velocity meets the plane of the opponents' goal line; None if it never does.

    It flies with the drag of 2.10, in a plane; it does not bounce, and nobody knows its spin.
    """
    assert ball.x_m is not None
    assert ball.y_m is not None
    assert ball.z_m is not None
    sign = 1.0 if attacks_positive_x else -1.0
    depth_m = pitch.half_length_m - sign * ball.x_m
    towards_m_s = sign * number(ball, "vx_m_s")
    if depth_m <= 0.0 or towards_m_s <= 0.1:
        return None
    vy_m_s, vz_m_s = number(ball, "vy_m_s"), number(ball, "vz_m_s")
    # Drag, which grows with the square of the speed: v / (1 + r t), on ways that fall by as much less as it slows them.
    r = DRAG_PER_M * BALL_DRAG * math.hypot(towards_m_s, vy_m_s, vz_m_s)
    after_s = depth_m / towards_m_s
    if r * after_s > _NEVER:
        return None
    slowed_s = math.expm1(r * after_s) / r
    falls_m = 0.5 * GRAVITY_M_S2 * (0.5 * slowed_s * slowed_s + (slowed_s - after_s) / r)
    y_m = ball.y_m + vy_m_s * after_s
    z_m = max(0.0, ball.z_m + vz_m_s * after_s - falls_m)
    on_target = abs(y_m) < GOAL_HALF_WIDTH_M - BALL_RADIUS_M and z_m < BAR_HEIGHT_M - BALL_RADIUS_M
    return Projection(after_s, y_m, z_m, on_target)


def opening_rad(x_m: float, y_m: float, attacks_positive_x: bool, pitch: Pitch) -> float:
    """The angle between the posts of the opponents' goal, as seen from a place.

    >>> from football.match_sheet import MatchSheet
    >>> from football.pitch import pitch_of
    >>> pitch = pitch_of(MatchSheet("m", 105.0, 68.0, (), "home"))
    >>> [round(opening_rad(x, y, True, pitch), 2) for x, y in ((41.5, 0.0), (22.5, 0.0), (32.5, 22.0))]
    [0.64, 0.24, 0.17]
    """
    depth_m = pitch.half_length_m - (x_m if attacks_positive_x else -x_m)
    return abs(math.atan2(y_m + GOAL_HALF_WIDTH_M, depth_m) - math.atan2(y_m - GOAL_HALF_WIDTH_M, depth_m))


def misses_closely(shot: Projection, p: ShotParameters) -> bool:
    """Whether a ball meets the goal or misses it by little (DEBS 2013 Q4)."""
    return _within(shot, p.near_m)


def _within(shot: Projection, beyond_m: float) -> bool:
    return abs(shot.y_m) <= GOAL_HALF_WIDTH_M + beyond_m and shot.z_m <= BAR_HEIGHT_M + beyond_m


def shot_projection(
    release: EventPayload,
    frame: Frame,
    attacks_positive_x: bool,
    pitch: Pitch,
    p: ShotParameters,
    flight: FlightParameters,
) -> Projection | None:
    """The projection of a shot on the opponents' goal, None if the kick is no shot.

    A shot meets the goal or closely misses it, in time and from a distance that players shoot from. At close
    range aim scatters widely (headers): there any forward ball counts that no mate can reach before the line.
    """
    assert release.x_m is not None
    assert release.y_m is not None
    shot = project_on_goal(release, attacks_positive_x, pitch)
    if shot is None or shot.after_s > p.within_s:
        return None
    depth_m = pitch.half_length_m - abs(release.x_m)
    distance_m = math.hypot(depth_m, release.y_m)
    speed_m_s = math.hypot(number(release, "vx_m_s"), number(release, "vy_m_s"))
    close = distance_m <= p.close_m
    if distance_m > p.range_m or speed_m_s < (p.close_speed_min_m_s if close else p.speed_min_m_s):
        return None
    if _within(shot, p.wide_m if speed_m_s >= p.wide_speed_m_s else p.near_m):
        return shot
    mates = first_to_reach(release, frame, flight, shot.after_s)[1] if close else {release.team: None}
    return None if release.team in mates else shot
