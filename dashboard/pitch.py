"""The pitch as a figure: markings of Law 1 for any length and width.

Only the markings are drawn here, once. The page's scripts draw all that moves on a canvas over it. They rely on one
convention: the figure has no margins and fills a box with the aspect ratio of :func:`extent_m`, so metres map to
pixels linearly. (mplsoccer has no pitch for plotly, and its pitches are drawn with margins of their own.)
"""

from __future__ import annotations

import math
from typing import Final

# Plotly uses pandas as soon as another thread has begun to import it, ready or not. This waits until it is.
import pandas  # noqa: F401
import plotly.graph_objects as go

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
STRIPES: Final = 14

GRASS: Final = "#17342b"
GRASS_LIGHT: Final = "#1a3a30"
SURROUND: Final = "#122720"
LINE: Final = "rgba(226, 238, 232, 0.62)"

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


def pitch_figure(pitch: Pitch) -> go.Figure:
    """The empty pitch."""
    half_x, half_y = extent_m(pitch)
    figure = go.Figure()
    figure.update_layout(
        shapes=[*_stripes(pitch), *_lines(pitch)],
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


def _stripes(pitch: Pitch) -> list[dict[str, object]]:
    """Mown stripes: they let the eye judge distance and speed."""
    length, width = pitch.half_length_m, pitch.half_width_m
    step = 2 * length / STRIPES
    return [
        {
            "type": "rect", "layer": "below", "line": {"width": 0},
            "fillcolor": GRASS if i % 2 else GRASS_LIGHT,
            "x0": -length + i * step, "x1": -length + (i + 1) * step, "y0": -width, "y1": width,
        }
        for i in range(STRIPES)
    ]  # fmt: skip


def _lines(pitch: Pitch) -> list[dict[str, object]]:
    pen = {"color": LINE, "width": 1.4}
    width = pitch.half_width_m
    shapes: list[dict[str, object]] = [
        {"type": "rect", "name": name, "x0": x0, "y0": y0, "x1": x1, "y1": y1, "line": pen}
        for name, (x0, y0, x1, y1) in boxes(pitch).items()
    ]
    shapes.append({"type": "line", "name": "halfway", "x0": 0, "x1": 0, "y0": -width, "y1": width, "line": pen})
    shapes.extend(
        {"type": "path", "name": name, "path": svg_path(path), "line": pen} for name, path in arcs(pitch).items()
    )
    shapes.extend(
        {
            "type": "circle", "name": "spot", "fillcolor": LINE, "line": {"width": 0},
            "x0": x - 0.25, "x1": x + 0.25, "y0": y - 0.25, "y1": y + 0.25,
        }
        for x, y in spots(pitch)
    )  # fmt: skip
    return shapes


def svg_path(path: Path) -> str:
    """Points as an SVG path, which is how plotly takes curves.

    >>> svg_path([(0.0, 1.0), (2.0, 3.5)])
    'M0.0000,1.0000 L2.0000,3.5000'
    """
    return "M" + " L".join(f"{x:.4f},{y:.4f}" for x, y in path)
