"""The named areas of the field, as figures that a point can be in (IFAB Law 1; positional grids of analysts).

``left`` and ``right`` of an end are those of ``football.pitch``. Of lanes and corners ``left`` is +y, the left hand of
a team that attacks towards +x. Zones are numbered 1 to 18 along the pitch from the left goal, three across from +y to
-y. The technical areas of the hierarchy are left out: no input says on which side the benches are.
"""

from __future__ import annotations

import math

import msgspec

from football.pitch import (
    BAR_HEIGHT_M,
    CIRCLE_RADIUS_M,
    CORNER_ARC_RADIUS_M,
    ENDS,
    GOAL_AREA_DEPTH_M,
    GOAL_AREA_HALF_WIDTH_M,
    GOAL_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    Pitch,
    end_sign,
)

#: How far outside the lines a place still belongs to the strips around the field.
SURROUND_M = 5.0


class Area(msgspec.Struct, frozen=True):
    """A rectangle on the ground, cut by a circle if ``radius_m`` is finite, between two heights.

    ``low_x_m`` .. ``high_y_m`` bound the rectangle; ``x_m``, ``y_m`` is the circle's centre.
    """

    name: str
    low_x_m: float
    high_x_m: float
    low_y_m: float
    high_y_m: float
    x_m: float = 0.0
    y_m: float = 0.0
    radius_m: float = math.inf
    low_z_m: float = -math.inf
    high_z_m: float = math.inf

    def contains(self, x_m: float, y_m: float, z_m: float, margin_m: float) -> bool:
        """True if a point is in the area, or at most ``margin_m`` outside it."""
        return (
            self.low_x_m - margin_m <= x_m <= self.high_x_m + margin_m
            and self.low_y_m - margin_m <= y_m <= self.high_y_m + margin_m
            and self.low_z_m - margin_m <= z_m <= self.high_z_m + margin_m
            and (self.radius_m == math.inf or math.hypot(x_m - self.x_m, y_m - self.y_m) <= self.radius_m + margin_m)
        )

    @property
    def is_plain_rectangle(self) -> bool:
        """True if it is a rectangle of any height."""
        return self.radius_m == math.inf and self.low_z_m == -math.inf and self.high_z_m == math.inf


def player_areas(pitch: Pitch) -> tuple[Area, ...]:
    """Return the 15 areas that players are watched in: field, halves, thirds, lanes, penalty and goal areas."""
    return (*_bands(pitch), *_boxes(pitch))


def ball_areas(pitch: Pitch) -> tuple[Area, ...]:
    """Return the 50 areas that the ball is watched in: those of the players, and zones, arcs, goals and surrounds."""
    return (*player_areas(pitch), *_zones(pitch), *_arcs(pitch), *_surrounds(pitch))


def _bands(pitch: Pitch) -> list[Area]:
    x, y = pitch.half_length_m, pitch.half_width_m
    inner, outer = GOAL_AREA_HALF_WIDTH_M, PENALTY_AREA_HALF_WIDTH_M
    return [
        Area("field", -x, x, -y, y),
        Area("left half", -x, 0.0, -y, y),
        Area("right half", 0.0, x, -y, y),
        Area("left third", -x, -x / 3, -y, y),
        Area("middle third", -x / 3, x / 3, -y, y),
        Area("right third", x / 3, x, -y, y),
        Area("left wing", -x, x, outer, y),
        Area("left half-space", -x, x, inner, outer),
        Area("centre lane", -x, x, -inner, inner),
        Area("right half-space", -x, x, -outer, -inner),
        Area("right wing", -x, x, -y, -outer),
    ]


def _boxes(pitch: Pitch) -> list[Area]:
    areas: list[Area] = []
    for end in ENDS:
        for name, depth_m, half_m in (
            ("penalty area", PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M),
            ("goal area", GOAL_AREA_DEPTH_M, GOAL_AREA_HALF_WIDTH_M),
        ):
            line_m = end_sign(end) * pitch.half_length_m
            low_m, high_m = sorted((line_m, line_m - end_sign(end) * depth_m))
            areas.append(Area(f"{end} {name}", low_m, high_m, -half_m, half_m))
    return areas


def _zones(pitch: Pitch) -> list[Area]:
    long_m, wide_m = pitch.half_length_m / 3, pitch.half_width_m * 2 / 3
    return [
        Area(
            f"zone {column * 3 + row + 1}",
            -pitch.half_length_m + column * long_m,
            -pitch.half_length_m + (column + 1) * long_m,
            pitch.half_width_m - (row + 1) * wide_m,
            pitch.half_width_m - row * wide_m,
        )
        for column in range(6)
        for row in range(3)
    ]


def _arcs(pitch: Pitch) -> list[Area]:
    r, c = CIRCLE_RADIUS_M, CORNER_ARC_RADIUS_M
    areas = [Area("centre circle", -r, r, -r, r, 0.0, 0.0, r)]
    for end in ENDS:
        sign, line_m = end_sign(end), end_sign(end) * pitch.half_length_m
        mark_m, _ = pitch.penalty_mark(end)
        low_m, high_m = sorted((line_m - sign * PENALTY_AREA_DEPTH_M, mark_m - sign * r))
        areas.append(Area(f"{end} penalty arc", low_m, high_m, -r, r, mark_m, 0.0, r))
        for hand, y_sign in (("left", 1.0), ("right", -1.0)):
            y_m = y_sign * pitch.half_width_m
            low_x_m, high_x_m = sorted((line_m, line_m - sign * c))
            low_y_m, high_y_m = sorted((y_m, y_m - y_sign * c))
            areas.append(Area(f"{end} {hand} corner", low_x_m, high_x_m, low_y_m, high_y_m, line_m, y_m, c))
    return areas


def _surrounds(pitch: Pitch) -> list[Area]:
    x, y, s, g = pitch.half_length_m, pitch.half_width_m, SURROUND_M, GOAL_HALF_WIDTH_M
    areas = [Area("over left touch", -x, x, y, y + s), Area("over right touch", -x, x, -y - s, -y)]
    for end in ENDS:
        low_m, high_m = sorted((end_sign(end) * x, end_sign(end) * (x + s)))
        areas += [
            Area(f"{end} goal", low_m, high_m, -g, g, high_z_m=BAR_HEIGHT_M),
            Area(f"over {end} bar", low_m, high_m, -g, g, low_z_m=BAR_HEIGHT_M),
            Area(f"beside {end} goal +y", low_m, high_m, g, y),
            Area(f"beside {end} goal -y", low_m, high_m, -y, -g),
        ]
    return areas
