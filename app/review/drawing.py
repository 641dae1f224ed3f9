"""The drawing of a reviewed call: the line and who was near it, from above, each with the region of 95 %."""

from __future__ import annotations

import math
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from app.base.paper import COLOURS, INK, LINE, STYLE, svg_element
from app.review.review import Review
from dashboard.operator_page import pitch_lines
from football.match_sheet import MatchSheet
from replay.review.calls import BALL_RADIUS_M, Call, ReviewPoint

#: Radius of the region that has 95 % of the draws, in standard deviations of a coordinate.
_REGION: Final = math.sqrt(-2 * math.log(0.05))
#: Half the width and height of the picture, in metres, at least; and what it leaves around what it shows.
_LEAST_M, _AROUND_M, _MOST_M = 1.2, 0.8, 12.0
_LIT: Final = "#b45309"


def draw(review: Review, sheet: MatchSheet) -> str:
    """Draw a review as an SVG element."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 3.8), layout="constrained")
        axes = figure.subplots()
        _frame(axes, review.call)
        for line in pitch_lines(sheet).lines:
            axes.plot([x for x, _ in line], [y for _, y in line], color=LINE, linewidth=1, zorder=1)
        _line(axes, review.call)
        names = {
            one.object_id: f"{one.shirt if one.shirt is not None else ''} {one.name}".strip() for one in sheet.players
        }
        for point in review.call.points:
            _point(axes, point, names.get(point.object_id, "") or point.object_id)
        _ruler(axes)
        return svg_element(figure, f"{review.title}: margin {100 * review.call.margin_m:.0f} cm")


def _frame(axes: Axes, call: Call) -> None:
    """Show the subject and what the line goes through."""
    shown = [one for one in call.points if one.role in ("subject", "line")]
    middle_x = sum(one.x_m for one in shown) / len(shown)
    middle_y = sum(one.y_m for one in shown) / len(shown)
    half_m = max([_LEAST_M, *(abs(one.x_m - middle_x) + _AROUND_M for one in shown)])
    tall_m = max(half_m * 0.62, *(abs(one.y_m - middle_y) + _AROUND_M for one in shown))
    half_m, tall_m = min(max(half_m, tall_m / 0.62), _MOST_M / 0.62), min(tall_m, _MOST_M)
    axes.set_xlim(middle_x - half_m, middle_x + half_m)
    axes.set_ylim(middle_y - tall_m, middle_y + tall_m)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(True)


def _line(axes: Axes, call: Call) -> None:
    xs, ys = [x for x, _ in call.line], [y for _, y in call.line]
    axes.plot(xs, ys, color=_LIT, linewidth=1.6, zorder=2)
    if call.question == "offside":  # where the line may be, by whom or what it goes through
        through = [one.deviation_m for one in call.points if one.role == "line"]
        if through:
            half_m = 1.96 * max(through)
            axes.axvspan(xs[0] - half_m, xs[0] + half_m, color=_LIT, alpha=0.15, linewidth=0, zorder=1)


def _point(axes: Axes, point: ReviewPoint, name: str) -> None:
    colour = COLOURS.get(point.team, INK)
    is_asked = point.role in ("subject", "line")
    place = point.x_m, point.y_m
    axes.add_patch(Circle(place, _REGION * point.deviation_m, color=colour, alpha=0.3, linewidth=0, zorder=3))
    if not point.team:
        axes.add_patch(Circle(place, BALL_RADIUS_M, facecolor="white", edgecolor=INK, linewidth=1, zorder=3))
    axes.plot(*place, marker="o", color=colour, markersize=5 if is_asked else 3, zorder=4, clip_on=True)
    label = f"{name}, {point.part.replace('_', ' ')}" if point.part else name
    style = {"fontsize": 8, "color": colour, "zorder": 5, "clip_on": True, "annotation_clip": True}
    axes.annotate(label, place, (5, 5), textcoords="offset points", **style)


def _ruler(axes: Axes) -> None:
    """A ruler with centimetres, or metres in a wide picture."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    length_m = next(one for one in (10.0, 5.0, 2.0, 1.0, 0.5) if one < 0.45 * (right - left))
    x_m, y_m = left + 0.03 * (right - left), bottom + 0.05 * (top - bottom)
    axes.add_patch(Rectangle((x_m, y_m), length_m, 0.006 * (top - bottom), color=INK, zorder=5))
    text = f"{length_m:g} m" if length_m >= 1 else f"{100 * length_m:g} cm"
    axes.annotate(
        text, (x_m + length_m / 2, y_m), (0, 4), textcoords="offset points", ha="center", fontsize=8, zorder=5
    )
