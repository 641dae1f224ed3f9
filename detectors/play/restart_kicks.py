"""Geometry of restarts: where a restart is taken, and how the teams stand for it (IFAB Laws 8, 13 to 17).

5.10 (:mod:`detectors.play.phase`) uses it to decide whether a kick from rest may be a restart; 9.1 to 9.6
(:mod:`detectors.laws.restarts`, with the table of all conditions) use it to name the restart. Distances are wider than
the Laws', by the noise of camera tracking and by what referees tolerate.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import msgspec

from detectors.bodies.line_up import line_up
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most
from detectors.reasons import reason
from football.match_sheet import Team
from football.payloads import EventPayload, Frame, Scalar, location_m, number
from football.pitch import End, Pitch, end_of

Kind = Literal["kick_off", "throw_in", "corner", "goal_kick", "free_kick", "penalty", "dropped", ""]


#: In place of the line that ended play: a stop that nobody saw may have been any.
UNSEEN = "unseen"

#: Name of each kind in words.
NAMES: dict[Kind, str] = {
    "kick_off": "kick-off",
    "throw_in": "throw-in",
    "corner": "corner kick",
    "goal_kick": "goal kick",
    "free_kick": "free kick",
    "penalty": "penalty kick",
    "dropped": "dropped ball",
}


class RestartKickParameters(msgspec.Struct, frozen=True):
    """Distances of ball and players at restarts.

    Attributes:
        centre_m: greatest distance of the ball from the centre spot at a kick-off.
        centre_players_m: within this distance of the centre spot stand players of one team only at a kick-off.
        simulated_m: the same at a kick-off of simulated football, which knows no centre circle.
        halfway_slack_m: players this far beyond the halfway line are in the other half at a kick-off.
        half_players: least number of players in each half at a kick-off that a stream or a period begins with.
        corner_m: greatest distance of the ball from the nearest corner at a corner kick.
        arc_m: so near to a corner the ball is kicked, not thrown in.
        goal_area_slack_m: greatest distance of the ball outside the goal area at a goal kick.
        behind_line_m: greatest distance of the ball behind the goal line at a corner kick or goal kick.
        touch_slack_m: greatest distance of the ball inside the touchline at a throw-in.
        touch_line_m: greatest distance of the ball inside the touchline at a throw-in after a stop.
        kick_inside_m: least distance of the ball inside the touchline at a free kick after it went out there.
        taker_inside_m: least distance of the taker inside the touchline at such a free kick.
        spread_m: median distance of the nearest player at contacts beyond which limits grow.
        spread_factor: by how many times the share of it that is beyond.
        taker_outside_m: least distance of the taker outside the touchline at a throw-in after a stop.
        penalty_mark_m: greatest distance of the ball from the penalty mark at a penalty kick.
        penalty_players: greatest number of players in the penalty area at a penalty kick, without its edge.
        penalty_edge_m: width of the edge of the penalty area in which players are not counted.
        shoot_out_circle_m: in a shoot-out all but takers and goalkeepers are this near to the centre spot.
        shoot_out_players: least number of those.
    """

    centre_m: Annotated[float, reason("StreamTeam's radius.")] = 3.0
    centre_players_m: Annotated[float, reason("StreamTeam's radius of the kick-off.")] = 5.0
    simulated_m: Annotated[
        float, reason("Google Research Football 2.10: the taker waits 1.7 m from the spot, an opponent 2.7 m.")
    ] = 2.2
    halfway_slack_m: Annotated[float, reason("StreamTeam's distance from the halfway line.")] = 5.0
    half_players: Annotated[int, reason("As direction.half_players.")] = 4
    corner_m: Annotated[float, reason("The arc's 1 m and the radius of StreamTeam's box, 2 m.")] = 3.0
    arc_m: Annotated[
        float, reason("Law 17: within a metre of the corner; places of optical tracking are wrong by decimetres.")
    ] = 1.5
    goal_area_slack_m: Annotated[
        float, reason("Ours: a goalkeeper may kick a rolling ball, which the track shows up to this far outside.")
    ] = 1.5
    behind_line_m: Annotated[
        float, reason("Portugal-Switzerland 2019: a corner kick from 0.2 m behind the line. Farther out it is fetched.")
    ] = 0.5
    touch_slack_m: Annotated[
        float,
        reason(
            "The ball is in front of the thrower, and a straight-line track cuts the corner (Portugal-Switzerland "
            "2019: up to 1.1 m)."
        ),
    ] = 2.0
    touch_line_m: Annotated[
        float,
        reason("Portugal-Switzerland 2019, 01:37: a throw-in whose ball was never tracked beyond the line."),
    ] = 1.0
    kick_inside_m: Annotated[
        float, reason("Generated matches, seeds 301 to 346: at most 0.6 m at 226 throws, 0.9 m and more at free kicks.")
    ] = 0.75
    taker_inside_m: Annotated[float, reason("Law 15: on the line or outside; a track errs by some decimetres.")] = 0.15
    spread_m: Annotated[
        float,
        reason(
            "Simulated systems of stadiums have 0.48 to 0.66 m at contacts, see contact.spread_m; medians of "
            "`broadcast`, 694, 703 and 713, are 1.40 to 1.55 m."
        ),
    ] = 1.0
    spread_factor: Annotated[
        float, reason("Ours: on television twice. `broadcast`, five matches: 34 restarts are invented, 42 with half.")
    ] = 2.0
    taker_outside_m: Annotated[float, reason("The same throw-in: the thrower stood 0.13 m outside.")] = 0.0
    penalty_mark_m: Annotated[
        float,
        reason(
            "Law 14 has the mark itself; ragged generated matches: tracked 0.6 (506, 507) and 1.2 m off (704). How the "
            "players stand shows that it is no indirect free kick."
        ),
    ] = 2.0
    penalty_players: Annotated[int, reason("The taker, and one player who runs in early.")] = 2
    penalty_edge_m: Annotated[float, reason("The goalkeeper stands on his line. Ours.")] = 1.0
    shoot_out_circle_m: Annotated[float, reason("Law 10: the centre circle, and people who lean out of it.")] = 12.0
    shoot_out_players: Annotated[int, reason("Ours: two teams of seven, less takers and goalkeepers.")] = 10


def may_restart(pitch: Pitch, p: RestartKickParameters, cause: str, line: str, x_m: float, y_m: float) -> bool:
    """True if the restart after a stoppage may be taken at a position.

    Args:
        pitch: the pitch.
        p: distances.
        cause: why the ball is dead: ``touch``, ``goal line``, ``goal`` or ``stop``.
        line: variant of the crossing (``left touch out``), if there was one.
        x_m, y_m: position of the ball before the kick.
    """
    if cause == "touch":
        inside_m = touch_distance_m(pitch, y_m, line)
        path = "restart_kick.touch_slack_m"
        return at_most("the ball inside the touchline", inside_m, p.touch_slack_m, path, about="phase.live")
    if cause == "goal line":
        end: End = "right" if line.startswith("right") else "left"
        in_area = pitch.in_goal_area(x_m, y_m, end, p.goal_area_slack_m)
        at_corner = pitch.corner_distance_m(x_m, y_m) <= p.corner_m
        return (at_corner or in_area) and end_of(x_m) == end and pitch.inside(x_m, y_m, p.behind_line_m)
    # A ball in the net is fetched; one that was stopped in the field may be thrown from outside it.
    return pitch.inside(x_m, y_m, 0.0 if cause == "goal" else p.touch_slack_m)


def touch_distance_m(pitch: Pitch, y_m: float, line: str) -> float:
    """Distance of a position inside the touchline of ``line`` (``left touch out``); negative outside."""
    return pitch.half_width_m - y_m if line.startswith("left") else pitch.half_width_m + y_m


def attackers_of(attacks_x: Scalar, end: End) -> Team:
    """The team that attacks an end, by the team that attacks towards +x; empty if unknown."""
    team: Team = "home" if attacks_x == "home" else "away" if attacks_x == "away" else ""
    return team if end == "right" else opponents_of(team)


def at_corner(pitch: Pitch, p: RestartKickParameters, x_m: float, y_m: float) -> bool:
    """True if the ball is where corner kicks are taken (Law 17)."""
    distance_m, about = pitch.corner_distance_m(x_m, y_m), "restart.corner"
    return at_most("the ball from the nearest corner", distance_m, p.corner_m, "restart_kick.corner_m", about)


def in_arc(pitch: Pitch, p: RestartKickParameters, x_m: float, y_m: float) -> bool:
    """True if the ball is so near to a corner that it can hardly have gone out over the touchline there."""
    distance_m, about = pitch.corner_distance_m(x_m, y_m), "restart.corner"
    return at_most("the ball from the nearest corner", distance_m, p.arc_m, "restart_kick.arc_m", about)


def at_centre(p: RestartKickParameters, x_m: float, y_m: float) -> bool:
    """True if the ball is where kick-offs are taken (Law 8)."""
    distance_m, about = math.hypot(x_m, y_m), "restart.kick_off"
    return at_most("the ball from the centre spot", distance_m, p.centre_m, "restart_kick.centre_m", about)


def at_penalty_mark(pitch: Pitch, p: RestartKickParameters, x_m: float, y_m: float) -> bool:
    """True if the ball is on a penalty mark (Law 14)."""
    mark_x_m, mark_y_m = pitch.penalty_mark(end_of(x_m))
    distance_m, path = math.hypot(x_m - mark_x_m, y_m - mark_y_m), "restart_kick.penalty_mark_m"
    return at_most("the ball from the penalty mark", distance_m, p.penalty_mark_m, path, about="restart.penalty")


def is_thrown(
    pitch: Pitch, p: RestartKickParameters, y_m: float, taker_y_m: float | None, *, unseen: bool = False
) -> bool:
    """True if a ball at the touchline has a taker who stands outside it (Law 15).

    After a stop that nobody saw the place alone decides: few free kicks are so near to the line.
    """
    inside_m, about = pitch.half_width_m - abs(y_m), "restart.throw_in"
    path = "restart_kick.touch_line_m"
    if taker_y_m is None or not at_most("the ball inside the touchline", inside_m, p.touch_line_m, path, about):
        return False
    if unseen:
        return True
    outside_m, path = abs(taker_y_m) - pitch.half_width_m, "restart_kick.taker_outside_m"
    same_side = taker_y_m * y_m > 0
    return same_side and at_least("the taker outside the touchline", outside_m, p.taker_outside_m, path, about)


def times_for_spread(p: RestartKickParameters, spread_m: float) -> float:
    """How many times as great limits are on an input whose places are worse than those of a stadium's cameras."""
    return 1.0 + p.spread_factor * max(spread_m / p.spread_m - 1.0, 0.0)


def is_kicked_inside(pitch: Pitch, p: RestartKickParameters, y_m: float, taker_y_m: float, *, spread_m: float) -> bool:
    """True if ball and taker are so far inside the touchline that he does not throw it (Law 15).

    ``spread_m``: median distance of the nearest player at contacts, which says how good places are.
    """
    times = times_for_spread(p, spread_m)
    about, ball_m, taker_m = "restart.free_kick", pitch.half_width_m - abs(y_m), pitch.half_width_m - abs(taker_y_m)
    path = "restart_kick.kick_inside_m"
    if not at_least("the ball inside the touchline", ball_m, times * p.kick_inside_m, path, about):
        return False
    what, path = "the taker inside the touchline", "restart_kick.taker_inside_m"
    return at_least(what, taker_m, times * p.taker_inside_m, path, about)


def kick_off_shape(p: RestartKickParameters, frame: Frame, x_m: float, y_m: float) -> bool:
    """True if the teams stand as for a kick-off (Law 8), with the ball at a position near the centre spot.

    Each half, but for ``halfway_slack_m``, holds one team only, not the same; players of one team only stand around the
    centre spot.
    """
    return line_up(frame, x_m, y_m, p.centre_m, p.centre_players_m, p.halfway_slack_m)[0] != ""


def all_lined_up(
    p: RestartKickParameters, frame: Frame, x_m: float, y_m: float, *, around_m: float | None = None
) -> bool:
    """True if so many stand as for a kick-off that it is one, though the ball was not seen to lie there.

    ``around_m``: within this distance of the centre spot stand players of one team only; by default as Law 8 asks.
    """
    around_m = p.centre_players_m if around_m is None else around_m
    team, *halves = line_up(frame, x_m, y_m, p.centre_m, around_m, p.halfway_slack_m)
    what, path = "players in the half with fewer of them", "restart_kick.half_players"
    return team != "" and at_least(what, min(halves), p.half_players, path, "restart.kick_off")


#: How the players stand for a penalty kick, if they do.
PenaltyShape = Literal["", "penalty", "shoot-out"]


def penalty_shape(pitch: Pitch, p: RestartKickParameters, frame: Frame, x_m: float, y_m: float) -> PenaltyShape:
    """How the players stand for a kick from the penalty mark (Laws 10.3 and 14); empty if they do not.

    For a penalty kick hardly more than taker and goalkeeper are in that area. In a shoot-out nearly all others are in
    the centre circle: the other goalkeeper waits beside the area.
    """
    end = end_of(x_m)
    mark_x_m, mark_y_m = pitch.penalty_mark(end)
    if math.hypot(x_m - mark_x_m, y_m - mark_y_m) > p.penalty_mark_m:
        return ""
    inside = sum(pitch.in_penalty_area(body.x_m, body.y_m, end, -p.penalty_edge_m) for body in frame.players)
    if inside > p.penalty_players:
        return ""
    waiting = sum(math.hypot(body.x_m, body.y_m) <= p.shoot_out_circle_m for body in frame.players)
    # Taker, two goalkeepers, and one player on the way between circle and mark.
    return "shoot-out" if waiting >= max(p.shoot_out_players, len(frame.players) - 4) else "penalty"


def restart_kind(pitch: Pitch, live: EventPayload, p: RestartKickParameters) -> Kind:
    """The kind of restart of a ``play.live``, by the table of 9.1 to 9.7; empty if play went on without one."""
    if live.detail["fallback"]:
        return ""
    x_m, y_m = location_m(live)
    if live.detail["kick_off_shape"] and at_centre(p, x_m, y_m):
        return "kick_off"
    if live.variant == "touch":
        taker_y_m = live.detail.get("taker_y_m")
        inside = isinstance(taker_y_m, float) and is_kicked_inside(
            pitch, p, y_m, taker_y_m, spread_m=number(live, "spread_m")
        )
        return "free_kick" if inside else "throw_in"
    end = end_of(x_m)
    by_defenders = live.team != "" and live.team == opponents_of(attackers_of(live.detail["attacks_x"], end))
    corner = at_corner(pitch, p, x_m, y_m)
    if live.variant == "goal line":
        # Defenders have no corner kick: before the ball ran out, the referee had stopped play.
        return "goal_kick" if not corner else "free_kick" if by_defenders else "corner"
    if corner and not by_defenders and in_arc(pitch, p, x_m, y_m):
        return "corner"
    taker_y_m, unseen = live.detail["taker_y_m"], live.detail["line"] == UNSEEN
    if is_thrown(pitch, p, y_m, taker_y_m if isinstance(taker_y_m, float) else None, unseen=unseen):
        return "throw_in"
    if live.detail["dropped"]:
        return "dropped"
    if corner and not by_defenders:
        return "corner"
    may_take = not by_defenders or live.detail["shoot_out"]
    if at_penalty_mark(pitch, p, x_m, y_m) and may_take and live.detail["penalty_shape"]:
        return "penalty"
    may_be_out = unseen or live.variant == "goal"
    if may_be_out and pitch.in_goal_area(x_m, y_m, end, p.goal_area_slack_m) and by_defenders:
        return "goal_kick"
    return "free_kick"
