"""The flight of a kicked ball towards a goal: what makes it a shot."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.ball.predictor import DRAG_PER_M, PredictorParameters
from detectors.decisions import About, at_least, at_most, is_over
from detectors.proximity.first_reach import FlightParameters, first_to_reach
from detectors.reasons import reason
from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from football.payloads import EventPayload, Frame, height_m, location_m, number
from football.pitch import (
    BAR_HEIGHT_M,
    GOAL_HALF_WIDTH_M,
    Pitch,
)

#: Drag coefficient of the ball, that of 2.10.
BALL_DRAG = PredictorParameters().drag_share
#: A ball that drag would slow by this many factors of e never arrives.
_NEVER = 50.0


class ShotParameters(msgspec.Struct, frozen=True):
    """Limits of a shot.

    Attributes:
        within_s: the ball would meet the goal line within this time.
        near_m: the ball would miss the goal by at most this.
        range_m: greatest distance of a shot from the goal.
        speed_min_m_s: least speed of a shot.
        close_m: greatest distance of a shot from close range.
        close_speed_min_m_s: least speed of a shot from close range.
        alone_within_s: a ball of at least ``speed_min_m_s`` that no mate can reach before the goal line may take this
            long.
        headed_m: a ball that is kicked at least so high is headed.
        head_close_m: greatest distance of a header from close range.
        head_goal_m: from this near a header is a shot though a mate can reach the ball.
        head_within_s: a header from close range would meet the goal line within this time.
        head_speed_min_m_s: least speed of a header from close range.
        wide_m: a ball of at least ``wide_speed_m_s`` would miss the goal by at most this.
        wide_speed_m_s: least speed of a ball for which ``wide_m`` replaces ``near_m``.
        untouched_s: a ball that nobody plays leaves the field within this time of a kick that is a shot by its way.
        taken_m: an attacker so near may have kicked a ball that a defender is taken to have kicked to his own goal.
        taken_wide_m: then it leaves over the goal line no farther from the goal.
        wall_players: a free kick is a shot if its wall has so many players, and the ball goes to the goal, or no more
            than ``wide_m`` past it at any height, or is not seen to move.
        open_rad: least angle between the posts, seen from the kick. It applies beyond ``close_m``, to a ball that would
            cross the goal line on the ground, or whose height is unknown.
    """

    within_s: Annotated[float, reason("DEBS 2013 Q4: meets the goal or closely misses it within 1.5 s.")] = 1.5
    near_m: Annotated[float, reason("DEBS 2013 Q4: closely misses.")] = 1.0
    range_m: Annotated[float, reason("Shots of StatsBomb and Opta begin within 40 m, with rare exceptions.")] = 40.0
    speed_min_m_s: Annotated[float, reason("A drive; the pass class of 2.7 ends at 15.")] = 13.0
    close_m: Annotated[float, reason("The penalty mark and a step.")] = 12.0
    close_speed_min_m_s: Annotated[float, reason("Ours: at close range any ball that is not just pushed.")] = 6.0
    alone_within_s: Annotated[
        float,
        reason(
            "As head_within_s. Generated matches, `ragged`, `optical_keyed` and `optical_swaps`, seeds 401 to 420, 301 "
            "to 313 and 432 to 448, and whole matches 506 to 511: 3 such balls (later than within_s, no wider than "
            "wide_m, from where the goal is open), all shots."
        ),
    ] = 2.0
    headed_m: Annotated[float, reason("Ours, above the chest.")] = 1.3
    head_close_m: Annotated[float, reason("The depth of the penalty area: attackers head at goal there.")] = 16.5
    head_goal_m: Annotated[
        float,
        reason(
            "Generated matches, `ragged`, `optical_keyed` and `optical_swaps`, seeds 401 to 420, 301 to 326 and 432 to "
            "448, and whole matches 506 to 511: of headers that miss and that a mate can reach all 5 from up to 13.9 m "
            "are shots, and none of the next ones, from 14.1 to 16.2 m."
        ),
    ] = 14.0
    head_within_s: Annotated[
        float,
        reason(
            "Generated matches, `ragged`, `optical_keyed` and `optical`, seeds 301 to 326 and 381 to 420: of headers "
            "so near in space and time that no mate can reach all 47 are shots."
        ),
    ] = 2.0
    head_speed_min_m_s: Annotated[
        float,
        reason("Ours: a header that goes up, or glances, is slow; one on the matches of alone_within_s, and a shot."),
    ] = 4.0
    wide_m: Annotated[
        float,
        reason(
            "Generated matches, `optical` and `ragged`, seeds 301 to 322 and 381 to 400: of fast balls that miss by up "
            "to 6.2 m from where the goal is open all 27 that no mate can reach are shots, all 4 others are passes."
        ),
    ] = 7.0
    wide_speed_m_s: Annotated[float, reason("As wide_m.")] = 14.0
    untouched_s: Annotated[
        float,
        reason("Less than strike.dated_back_us by the time from one frame to the next, since it is decided there."),
    ] = 1.4
    taken_m: Annotated[
        float, reason("Ours: an attacker's reach, and the error of two positions of optical tracking.")
    ] = 2.0
    taken_wide_m: Annotated[
        float,
        reason(
            "Whole generated matches 690, 693 to 695, 698, 700 and 701: of balls that leave a defender at "
            "wide_speed_m_s or more, untouched, over his own goal line, all 6 that pass the goal by no more are shots "
            "of an attacker within a metre; the next one, by 7 m, is a clearance."
        ),
    ] = 4.0
    wall_players: Annotated[
        int,
        reason(
            "Ours: wider kicks, which are crossed, have walls of one or two. Of the free kicks of ten whole matches "
            "(645 to 658) all 25 with three or more are shots, none of 44 with one or two."
        ),
    ] = 3
    open_rad: Annotated[
        float,
        reason(
            "A ball that lands before the goal line, or of unknown height, may be a cross that passes the goal "
            "(StatsBomb's angle between the posts; generated matches, seeds 11 to 30: of 34 shots all others are from "
            "0.246 or more, of 42 crosses all from 0.235 or less)."
        ),
    ] = 0.24


class Projection(msgspec.Struct, frozen=True, gc=False):
    """Where a ball would meet the plane of the goal.

    Attributes:
        after_s: time until then at its present speed (DEBS 2013 Q4).
        y_m: position along the goal line.
        z_m: height, with drag.
        on_target: True if the whole ball is between the posts and under the bar; nearer to them it meets the frame.
    """

    after_s: float
    y_m: float
    z_m: float
    on_target: bool


#: A kick whose ball was not seen to move: nobody knows where it went.
UNSEEN = Projection(math.inf, math.inf, math.inf, on_target=False)


def project_on_goal(ball: EventPayload, attacks_positive_x: bool, pitch: Pitch) -> Projection | None:
    """The projection of a ball with velocity on the opponents' goal line; None if it never meets it.

    The ball flies with the drag of 2.10, in a plane, without bounce or spin.
    """
    (ball_x_m, ball_y_m), ball_z_m = location_m(ball), height_m(ball)
    sign = 1.0 if attacks_positive_x else -1.0
    depth_m = pitch.half_length_m - sign * ball_x_m
    towards_m_s = sign * number(ball, "vx_m_s")
    if depth_m <= 0.0 or towards_m_s <= 0.1:
        return None
    vy_m_s, vz_m_s = number(ball, "vy_m_s"), number(ball, "vz_m_s")
    # Drag grows with the square of the speed: the ball has v / (1 + r t), and gravity bends its slower path more.
    r = DRAG_PER_M * BALL_DRAG * math.hypot(towards_m_s, vy_m_s, vz_m_s)
    after_s = depth_m / towards_m_s
    if r * after_s > _NEVER:
        return None
    slowed_s = math.expm1(r * after_s) / r
    falls_m = 0.5 * GRAVITY_M_S2 * (0.5 * slowed_s * slowed_s + (slowed_s - after_s) / r)
    y_m = ball_y_m + vy_m_s * after_s
    z_m = max(0.0, ball_z_m + vz_m_s * after_s - falls_m)
    on_target = abs(y_m) < GOAL_HALF_WIDTH_M - BALL_RADIUS_M and z_m < BAR_HEIGHT_M - BALL_RADIUS_M
    return Projection(after_s, y_m, z_m, on_target)


def opening_rad(x_m: float, y_m: float, attacks_positive_x: bool, pitch: Pitch) -> float:
    """The angle between the posts of the opponents' goal, as seen from a position.

    >>> from football.match_sheet import MatchSheet
    >>> from football.pitch import pitch_of
    >>> pitch = pitch_of(MatchSheet("m", 105.0, 68.0, (), "home"))
    >>> [round(opening_rad(x, y, True, pitch), 2) for x, y in ((41.5, 0.0), (22.5, 0.0), (32.5, 22.0))]
    [0.64, 0.24, 0.17]
    """
    depth_m = pitch.half_length_m - (x_m if attacks_positive_x else -x_m)
    return abs(math.atan2(y_m + GOAL_HALF_WIDTH_M, depth_m) - math.atan2(y_m - GOAL_HALF_WIDTH_M, depth_m))


def misses_closely(shot: Projection, p: ShotParameters) -> bool:
    """True if a ball meets the goal or misses it by little (DEBS 2013 Q4)."""
    return _within(shot, p.near_m, "shot.near_m", about="shot.off_target_pred")


def is_headed(release: EventPayload, p: ShotParameters, about: About) -> bool:
    """True if a ball was so high at its kick that it was headed."""
    kick_z_m = release.detail.get("kick_z_m")
    if kick_z_m is None:
        return False
    return at_least("height of the kick", float(kick_z_m), p.headed_m, "shot.headed_m", about)


def goes_near(shot: Projection, p: ShotParameters, about: About) -> bool:
    """True if a ball crosses the goal line in the goal or no more than ``wide_m`` from it, at any height."""
    return _across(shot, p.wide_m, "shot.wide_m", about)


def _within(shot: Projection, beyond_m: float, path: str, about: About) -> bool:
    """True if a ball meets the goal, made larger by ``beyond_m`` on each side."""
    height = BAR_HEIGHT_M + beyond_m
    return _across(shot, beyond_m, path, about) and at_most("height at the line", shot.z_m, height, path, about)


def _across(shot: Projection, beyond_m: float, path: str, about: About) -> bool:
    width_m = GOAL_HALF_WIDTH_M + beyond_m
    return at_most("distance from the goal's middle at the line", abs(shot.y_m), width_m, path, about)


def shot_projection(
    release: EventPayload,
    frame: Frame,
    attacks_positive_x: bool,
    pitch: Pitch,
    p: ShotParameters,
    flight: FlightParameters,
    about: About = (),
) -> Projection | None:
    """The projection of a shot on the opponents' goal; None if the kick is no shot.

    A shot meets the goal, or misses it by at most ``wide_m`` or ``near_m``, in time and from a distance that players
    shoot from. At close range aim scatters widely (headers): there any forward ball counts. No mate can reach a shot
    that misses, or that takes longer, before the line.
    """
    shot = project_on_goal(release, attacks_positive_x, pitch)
    if shot is None:
        return None
    headed = is_headed(release, p, about)
    x_m, y_m = location_m(release)
    distance_m = math.hypot(pitch.half_length_m - abs(x_m), y_m)
    speed_m_s = math.hypot(number(release, "vx_m_s"), number(release, "vy_m_s"))
    if not at_most("distance to the goal", distance_m, p.range_m, "shot.range_m", about):
        return None
    near = (p.head_close_m, "shot.head_close_m") if headed else (p.close_m, "shot.close_m")
    close = not is_over("distance to the goal", distance_m, *near, about)
    within, least = (p.within_s, "shot.within_s"), (p.speed_min_m_s, "shot.speed_min_m_s")
    if close and headed:
        within, least = (p.head_within_s, "shot.head_within_s"), (p.head_speed_min_m_s, "shot.head_speed_min_m_s")
    elif close:
        least = p.close_speed_min_m_s, "shot.close_speed_min_m_s"
    if not at_least("speed of the ball", speed_m_s, *least, about):
        return None
    in_time = shot.after_s <= within[0]
    meets = in_time and _within(shot, 0.0, "", about)
    if not meets and speed_m_s >= p.speed_min_m_s:
        within = p.alone_within_s, "shot.alone_within_s"
    if not at_most("time to the goal line", shot.after_s, *within, about):
        return None
    if meets:
        return shot
    if headed and in_time and "kick_x_m" in release.detail:
        kick_m = math.hypot(pitch.half_length_m - abs(number(release, "kick_x_m")), number(release, "kick_y_m"))
        if at_most("distance of the header to the goal", kick_m, p.head_goal_m, "shot.head_goal_m", about):
            return shot
    limit = (p.wide_m, "shot.wide_m") if speed_m_s >= p.wide_speed_m_s else (p.near_m, "shot.near_m")
    if not _within(shot, *limit, about) and not (close and in_time):
        return None
    return None if release.team in first_to_reach(release, frame, flight, shot.after_s)[1] else shot
