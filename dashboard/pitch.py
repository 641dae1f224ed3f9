"""The pitch as a figure: markings of Law 1 for any length and width, in metres, origin at the centre spot.

Only what stands still is drawn here, once. Everything that moves is painted over it by the page, which relies on
one agreement: the figure has no margins and fills a box of the aspect ratio of :func:`extent_m`, so that metres map
to pixels linearly.
"""

from __future__ import annotations

import math
from typing import Final

import plotly.graph_objects as go

# IFAB Laws of the Game, Law 1, metres.
GOAL_WIDTH_M: Final = 7.32
GOAL_AREA_M: Final = 5.5
PENALTY_AREA_M: Final = 16.5
PENALTY_MARK_M: Final = 11.0
CIRCLE_M: Final = 9.15
CORNER_ARC_M: Final = 1.0

GOAL_DEPTH_M: Final = 2.0
MARGIN_M: Final = 4.0
STRIPES: Final = 14

GRASS: Final = "#17342b"
GRASS_LIGHT: Final = "#1a3a30"
SURROUND: Final = "#122720"
LINE: Final = "rgba(226, 238, 232, 0.62)"

Path = list[tuple[float, float]]


class PitchError(ValueError):
    """A pitch that cannot hold its markings; the message names the measure."""


def extent_m(length_m: float, width_m: float) -> tuple[float, float]:
    """Half width and half height of the drawn picture: the pitch and a margin for goals, benches and balls out.

    >>> extent_m(105.0, 68.0)
    (56.5, 38.0)
    """
    return length_m / 2 + MARGIN_M, width_m / 2 + MARGIN_M


def check_size(length_m: float, width_m: float) -> None:
    """Raises PitchError unless the penalty areas and the centre circle fit beside each other."""
    if not (math.isfinite(length_m) and length_m / 2 >= PENALTY_MARK_M + 2 * CIRCLE_M):
        raise PitchError(f"pitch length {length_m} m is too short for its markings")
    if not (math.isfinite(width_m) and width_m >= GOAL_WIDTH_M + 2 * PENALTY_AREA_M):
        raise PitchError(f"pitch width {width_m} m is too small for its penalty areas")


def boxes(length_m: float, width_m: float) -> dict[str, tuple[float, float, float, float]]:
    """Rectangular markings by name, each ``(x0, y0, x1, y1)`` in metres."""
    found = {"field": (-length_m / 2, -width_m / 2, length_m / 2, width_m / 2)}
    for side, sign in (("left", -1), ("right", 1)):
        goal_line = sign * length_m / 2
        for name, depth_m in (("penalty_area", PENALTY_AREA_M), ("goal_area", GOAL_AREA_M)):
            half = GOAL_WIDTH_M / 2 + depth_m
            found[f"{name}_{side}"] = (goal_line, -half, goal_line - sign * depth_m, half)
        found[f"goal_{side}"] = (goal_line, -GOAL_WIDTH_M / 2, goal_line + sign * GOAL_DEPTH_M, GOAL_WIDTH_M / 2)
    return found


def spots(length_m: float) -> Path:
    """Centre and penalty marks."""
    mark = length_m / 2 - PENALTY_MARK_M
    return [(0.0, 0.0), (-mark, 0.0), (mark, 0.0)]


def arcs(length_m: float, width_m: float) -> dict[str, Path]:
    """Curved markings by name as point lists: centre circle, the two penalty arcs, the four corner arcs."""
    found = {"circle": arc((0.0, 0.0), CIRCLE_M, 0.0, 2 * math.pi)}
    # The arc is that part of the circle round the penalty mark which lies outside the penalty area.
    half_angle = math.acos((PENALTY_AREA_M - PENALTY_MARK_M) / CIRCLE_M)
    for side, sign in (("left", -1), ("right", 1)):
        facing = 0.0 if sign < 0 else math.pi
        mark = (sign * (length_m / 2 - PENALTY_MARK_M), 0.0)
        found[f"penalty_{side}"] = arc(mark, CIRCLE_M, facing - half_angle, facing + half_angle)
        for flank, across in (("low", -1), ("high", 1)):
            corner = (sign * length_m / 2, across * width_m / 2)
            inward = math.atan2(-across, -sign)
            found[f"corner_{side}_{flank}"] = arc(
                corner, CORNER_ARC_M, inward - math.pi / 4, inward + math.pi / 4, points=9
            )
    return found


def arc(centre: tuple[float, float], radius_m: float, start: float, stop: float, points: int = 65) -> Path:
    """Points on a circle from angle ``start`` to ``stop`` (radians)."""
    step = (stop - start) / (points - 1)
    angles = [start + i * step for i in range(points)]
    return [(centre[0] + radius_m * math.cos(a), centre[1] + radius_m * math.sin(a)) for a in angles]


def pitch_figure(length_m: float, width_m: float) -> go.Figure:
    """The empty pitch.

    Raises:
        PitchError: the pitch is too small for its markings.
    """
    check_size(length_m, width_m)
    half_x, half_y = extent_m(length_m, width_m)
    figure = go.Figure()
    figure.update_layout(
        shapes=[*_stripes(length_m, width_m), *_lines(length_m, width_m)],
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor=SURROUND,
        plot_bgcolor=SURROUND,
        showlegend=False,
        hovermode=False,
        dragmode=False,
    )
    figure.update_xaxes(range=[-half_x, half_x], visible=False, fixedrange=True)
    figure.update_yaxes(range=[-half_y, half_y], visible=False, fixedrange=True)
    return figure


def _stripes(length_m: float, width_m: float) -> list[dict[str, object]]:
    """Mown stripes: they let the eye judge distance and speed."""
    step = length_m / STRIPES
    return [
        {
            "type": "rect", "layer": "below", "line": {"width": 0},
            "fillcolor": GRASS if i % 2 else GRASS_LIGHT,
            "x0": -length_m / 2 + i * step, "x1": -length_m / 2 + (i + 1) * step,
            "y0": -width_m / 2, "y1": width_m / 2,
        }
        for i in range(STRIPES)
    ]


def _lines(length_m: float, width_m: float) -> list[dict[str, object]]:
    pen = {"color": LINE, "width": 1.4}
    shapes: list[dict[str, object]] = [
        {"type": "rect", "name": name, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": pen}
        for name, (x0, y0, x1, y1) in boxes(length_m, width_m).items()
    ]
    shapes.append(
        {"type": "line", "name": "halfway", "x0": 0, "x1": 0, "y0": -width_m / 2, "y1": width_m / 2, "line": pen}
    )
    for name, path in arcs(length_m, width_m).items():
        shapes.append({"type": "path", "name": name, "path": svg_path(path), "line": pen})
    for x, y in spots(length_m):
        shapes.append(
            {
                "type": "circle", "name": "spot", "fillcolor": LINE, "line": {"width": 0},
                "x0": x - 0.25, "x1": x + 0.25, "y0": y - 0.25, "y1": y + 0.25,
            }
        )
    return shapes


def svg_path(path: Path) -> str:
    """Points as an SVG path, which is how plotly takes curves.

    >>> svg_path([(0.0, 1.0), (2.0, 3.5)])
    'M0.0000,1.0000 L2.0000,3.5000'
    """
    return "M" + " L".join(f"{x:.4f},{y:.4f}" for x, y in path)
