"""Where and how restarts are taken: the geometry shared by play (L5), and the restarts (L9).

Laws 8 (kick-off), 13 (free kick), 14 (penalty), 15 (throw-in), 16 (goal kick), 17 (corner kick). Distances are
wider than the Laws', by the noise of optical tracking and by what referees let pass.
"""

from __future__ import annotations

import math
from typing import Literal

from football.payloads import Frame
from football.pitch import End, Pitch, end_of

Kind = Literal["kick_off", "throw_in", "corner", "goal_kick", "free_kick", "penalty", ""]

#: Ball from the centre spot: StreamTeam's radius.
CENTRE_M = 3.0
#: Ball from the nearest corner: the arc's 1 m and the radius of StreamTeam's box.
CORNER_M = 3.0
#: A goal kick may be this far outside the goal area: a rolling ball is kicked where the track says so.
GOAL_AREA_SLACK_M = 1.5
#: Behind the goal line the ball is fetched, and kicked back to who takes the kick (Portugal-Switzerland: a corner
#: kick from 0.2 m behind the line).
BEHIND_LINE_M = 0.5
#: A throw-in is released at most this far inside the touchline: the ball is in front of the thrower, and a
#: straight-line track cuts the corner (Portugal-Switzerland: up to 1.1 m).
TOUCH_SLACK_M = 2.0
#: After a stop, a ball this near to the touchline with the taker on or outside it is thrown, not kicked
#: (Portugal-Switzerland, 01:37: a thrower 0.13 m outside, a ball that was never seen beyond the line).
TOUCH_LINE_M = 1.0
TAKER_OUTSIDE_M = 0.0
#: Law 14, and the tracking's noise.
PENALTY_MARK_M = 0.5
#: At a penalty kick so many may stand in the area but for its outermost metre, where the goalkeeper is: the taker, and
#: one who runs in early.
PENALTY_PLAYERS, PENALTY_EDGE_M = 2, 1.0
#: Kick-off shape: nobody but the taking team this near to the centre; players this far over halfway are wrong.
CENTRE_PLAYERS_M = 5.0
HALFWAY_SLACK_M = 5.0


def restart_place(pitch: Pitch, cause: str, line: str, x_m: float, y_m: float) -> bool:
    """Whether a restart after ``cause`` (over ``line``) may be taken from a place; generous to the track."""
    if cause == "touch":
        return touch_distance_m(pitch, y_m, line) <= TOUCH_SLACK_M
    if cause == "goal line":
        end: End = "right" if line.startswith("right") else "left"
        at_place = pitch.corner_distance_m(x_m, y_m) <= CORNER_M or pitch.in_goal_area(x_m, y_m, end, GOAL_AREA_SLACK_M)
        return at_place and end_of(x_m) == end and pitch.inside(x_m, y_m, BEHIND_LINE_M)
    # A ball in the net is fetched; one that was stopped in the field may be thrown from beside it.
    return pitch.inside(x_m, y_m, 0.0 if cause == "goal" else TOUCH_SLACK_M)


def touch_distance_m(pitch: Pitch, y_m: float, line: str) -> float:
    """How far inside the touchline of ``line`` (``left touch out``) a place is; negative outside."""
    return pitch.half_width_m - y_m if line.startswith("left") else pitch.half_width_m + y_m


def kick_off_shape(frame: Frame, x_m: float, y_m: float) -> bool:
    """Whether the teams stand as for a kick-off (Law 8) with the ball at a place near the centre.

    Beyond ``HALFWAY_SLACK_M`` of halfway each side holds one team only, not the same; and around the centre
    stand players of one team only.
    """
    if math.hypot(x_m, y_m) > CENTRE_M:
        return False
    left = {p.team for p in frame.players if p.x_m < -HALFWAY_SLACK_M}
    right = {p.team for p in frame.players if p.x_m > HALFWAY_SLACK_M}
    near = {p.team for p in frame.players if math.hypot(p.x_m, p.y_m) <= CENTRE_PLAYERS_M}
    return len(left) == len(right) == len(near) == 1 and left != right


def penalty_shape(pitch: Pitch, frame: Frame, x_m: float, y_m: float) -> bool:
    """Whether the ball lies at a penalty mark with hardly more than taker and goalkeeper in that area (Law 14)."""
    end = end_of(x_m)
    mark_x_m, mark_y_m = pitch.penalty_mark(end)
    if math.hypot(x_m - mark_x_m, y_m - mark_y_m) > PENALTY_MARK_M:
        return False
    inside = sum(pitch.in_penalty_area(p.x_m, p.y_m, end, -PENALTY_EDGE_M) for p in frame.players)
    return inside <= PENALTY_PLAYERS
