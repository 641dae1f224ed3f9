"""The markings of a pitch by Law 1, for any length and width, as the pages draw them on a canvas.

The canvas of the live page fills a box with the aspect ratio of :func:`extent_m`, so metres map to pixels linearly.
"""

from __future__ import annotations

import math
from typing import Final

from football.pitch import (
    CIRCLE_RADIUS_M,
    CORNER_ARC_RADIUS_M,
    ENDS,
    GOAL_AREA_DEPTH_M,
    GOAL_AREA_HALF_WIDTH_M,
    GOAL_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    PENALTY_MARK_DISTANCE_M,
    Pitch,
    end_sign,
)

#: Depth of the net behind the goal line: Law 1 sets none, this is the usual one.
GOAL_DEPTH_M: Final = 2.0
MARGIN_M: Final = 4.0

Path = list[tuple[float, float]]
Box = tuple[float, float, float, float]


def extent_m(pitch: Pitch) -> tuple[float, float]:
    """Half width and half height of the drawn picture: the pitch and a margin for goals and balls that went out.

    >>> extent_m(Pitch(52.5, 34.0))
    (56.5, 38.0)
    """
    return pitch.half_length_m + MARGIN_M, pitch.half_width_m + MARGIN_M


def boxes(pitch: Pitch) -> dict[str, Box]:
    """Rectangular markings by name, each ``(x0, y0, x1, y1)`` in metres."""
    length, width = pitch.half_length_m, pitch.half_width_m
    found = {"field": (-length, -width, length, width)}
    for end in ENDS:
        sign = end_sign(end)
        line = sign * length
        for name, depth, half in (
            ("penalty_area", PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M),
            ("goal_area", GOAL_AREA_DEPTH_M, GOAL_AREA_HALF_WIDTH_M),
            ("goal", -GOAL_DEPTH_M, GOAL_HALF_WIDTH_M),
        ):
            found[f"{name}_{end}"] = (line, -half, line - sign * depth, half)
    return found


def spots(pitch: Pitch) -> Path:
    """Centre and penalty marks."""
    return [(0.0, 0.0), *(pitch.penalty_mark(end) for end in ENDS)]


def arcs(pitch: Pitch) -> dict[str, Path]:
    """Curved markings by name as points: centre circle, two penalty arcs, four corner arcs."""
    found = {"circle": arc((0.0, 0.0), CIRCLE_RADIUS_M, 0.0, 2 * math.pi)}
    # The arc is that part of the circle round the penalty mark which lies outside the penalty area.
    spread = math.acos((PENALTY_AREA_DEPTH_M - PENALTY_MARK_DISTANCE_M) / CIRCLE_RADIUS_M)
    for end in ENDS:
        sign = end_sign(end)
        infield = 0.0 if sign < 0 else math.pi
        found[f"penalty_{end}"] = arc(pitch.penalty_mark(end), CIRCLE_RADIUS_M, infield - spread, infield + spread)
        for flank in (-1, 1):
            corner = (sign * pitch.half_length_m, flank * pitch.half_width_m)
            inward = math.atan2(-flank, -sign)
            found[f"corner_{end}_{'low' if flank < 0 else 'high'}"] = arc(
                corner, CORNER_ARC_RADIUS_M, inward - math.pi / 4, inward + math.pi / 4, points=9
            )
    return found


def arc(centre: tuple[float, float], radius_m: float, start: float, stop: float, points: int = 65) -> Path:
    """Points on a circle from angle ``start`` to ``stop`` (radians)."""
    step = (stop - start) / (points - 1)
    angles = [start + i * step for i in range(points)]
    return [(centre[0] + radius_m * math.cos(a), centre[1] + radius_m * math.sin(a)) for a in angles]


def lines_of(pitch: Pitch) -> list[Path]:
    """All lines of a pitch as points: boxes with the goals, halfway line, curves."""
    halfway = [(0.0, -pitch.half_width_m), (0.0, pitch.half_width_m)]
    closed = [[(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)] for x0, y0, x1, y1 in boxes(pitch).values()]
    return [halfway, *closed, *arcs(pitch).values()]
