"""The field of play in metres: lines, goals, areas, marks and arcs (IFAB Laws 1, 2, 9, 10).

Theory of operation
-------------------
Everything is measured from the centre spot (see ``football.packets``). The two *ends* are named as on a
picture with +x to the right: ``left`` is the goal line at x = -length/2, ``right`` the one at x = +length/2.
The two *touches* are named from a team that attacks towards +x: ``left touch`` is y = +width/2.

Lines belong to the areas that they bound (Law 1), so every distance here is to a line's outer edge. The
ball leaves an area when the whole of it has passed that edge (Law 9): its centre is one radius beyond.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from football.match_sheet import MatchSheet

End = Literal["left", "right"]
Touch = Literal["left touch", "right touch"]

#: Law 1: 7.32 m between the posts' inner edges, 2.44 m from the ground to the bar's lower edge.
GOAL_HALF_WIDTH_M = 3.66
BAR_HEIGHT_M = 2.44
PENALTY_AREA_DEPTH_M = 16.5
PENALTY_AREA_HALF_WIDTH_M = GOAL_HALF_WIDTH_M + 16.5
GOAL_AREA_DEPTH_M = 5.5
GOAL_AREA_HALF_WIDTH_M = GOAL_HALF_WIDTH_M + 5.5
PENALTY_MARK_DISTANCE_M = 11.0
CIRCLE_RADIUS_M = 9.15
CORNER_ARC_RADIUS_M = 1.0
#: Laws 8, 13, 16, 17: opponents keep this far from a kick; Law 15: 2 m from a throw.
OPPONENT_DISTANCE_M = 9.15

#: Smallest and greatest side of a pitch in metres; any other is an error. The limits are wider than Law 1 (90-120 x
#: 45-90), because there are youth and research pitches (DEBS 2013: 67.9 x 52.5).
SIDE_LIMITS_M = (40.4, 130.0)

ENDS: tuple[End, End] = ("left", "right")


class PitchError(ValueError):
    """A match sheet gives a pitch that football cannot be played on; names the match and the side."""


class Pitch(msgspec.Struct, frozen=True):
    """A field of play: x of the right goal line and y of left touch, both from the centre spot."""

    half_length_m: float = 52.5
    half_width_m: float = 34.0

    def inside(self, x_m: float, y_m: float, margin_m: float = 0.0) -> bool:
        """True if a point is on the field, or at most ``margin_m`` beyond its lines."""
        return abs(x_m) <= self.half_length_m + margin_m and abs(y_m) <= self.half_width_m + margin_m

    def beyond_m(self, x_m: float, y_m: float) -> float:
        """Return how far a point is outside the field; negative inside (distance to the nearest line)."""
        over_goal_line = abs(x_m) - self.half_length_m
        over_touch = abs(y_m) - self.half_width_m
        if over_goal_line > 0.0 and over_touch > 0.0:
            return math.hypot(over_goal_line, over_touch)
        return max(over_goal_line, over_touch)

    def depth_m(self, x_m: float, end: End) -> float:
        """Distance from the goal line of ``end`` into the field; negative behind the line."""
        return self.half_length_m - x_m if end == "right" else self.half_length_m + x_m

    def in_penalty_area(self, x_m: float, y_m: float, end: End, margin_m: float = 0.0) -> bool:
        """True if a point is in the penalty area of ``end``, or at most ``margin_m`` outside it."""
        return (
            -margin_m <= self.depth_m(x_m, end) <= PENALTY_AREA_DEPTH_M + margin_m
            and abs(y_m) <= PENALTY_AREA_HALF_WIDTH_M + margin_m
        )

    def in_goal_area(self, x_m: float, y_m: float, end: End, margin_m: float = 0.0) -> bool:
        """True if a point is in the goal area of ``end``, or at most ``margin_m`` outside it."""
        return (
            -margin_m <= self.depth_m(x_m, end) <= GOAL_AREA_DEPTH_M + margin_m
            and abs(y_m) <= GOAL_AREA_HALF_WIDTH_M + margin_m
        )

    def goal_distance_m(self, x_m: float, y_m: float, end: End) -> float:
        """Distance on the ground to the middle of the goal of ``end``."""
        return math.hypot(self.depth_m(x_m, end), y_m)

    def penalty_mark(self, end: End) -> tuple[float, float]:
        """Return the position of the penalty mark of ``end``."""
        return end_sign(end) * (self.half_length_m - PENALTY_MARK_DISTANCE_M), 0.0

    def corner_distance_m(self, x_m: float, y_m: float) -> float:
        """Distance to the nearest of the four corners."""
        return math.hypot(abs(x_m) - self.half_length_m, abs(y_m) - self.half_width_m)


def pitch_of(sheet: MatchSheet) -> Pitch:
    """The pitch of a match sheet.

    Raises:
        PitchError: a side is not a number of metres that two penalty areas fit into.

    >>> pitch_of(MatchSheet(length_m=104.9, width_m=67.8)).inside(-52.4, 33.95)
    False
    """
    low, high = SIDE_LIMITS_M
    for name, side_m in (("length_m", sheet.length_m), ("width_m", sheet.width_m)):
        if not low <= side_m <= high:
            raise PitchError(f"match sheet {sheet.match_id!r}: {name} = {side_m} m is not in {low}..{high} m")
    return Pitch(sheet.length_m / 2.0, sheet.width_m / 2.0)


def end_of(x_m: float) -> End:
    """The end whose half ``x_m`` lies in; the centre spot counts to the right."""
    return "right" if x_m >= 0.0 else "left"


def end_sign(end: End) -> float:
    """+1 for the right end, -1 for the left one."""
    return 1.0 if end == "right" else -1.0
