"""Walls: players of the defending team who stand side by side before a free kick is taken (Law 13)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

import msgspec

from detectors.decisions import About, at_most
from detectors.reasons import reason
from football.payloads import BodyState
from football.pitch import End, Pitch, end_sign


class WallParameters(msgspec.Struct, frozen=True):
    """Limits of a wall.

    Attributes:
        goal_m: the ball lies at most this far from the goal.
        from_m: least distance of the wall from the ball.
        to_m: greatest distance of the wall from the ball.
        gap_m: greatest distance between the centres of two neighbours.
        aside_rad: greatest angle at the ball between the wall and the goal's centre.
    """

    goal_m: Annotated[float, reason("Ours: farther away, nobody stands in a wall.")] = 40.0
    from_m: Annotated[float, reason("Law 13 (9.15 m), less what referees let pass.")] = 8.0
    to_m: Annotated[float, reason("Law 13 (9.15 m), and the error of a position.")] = 11.0
    gap_m: Annotated[float, reason("Hierarchy 12.8 (gaps below 1 m), between centres.")] = 1.2
    aside_rad: Annotated[float, reason("Ours: 30 degrees, the near post of a kick from the side.")] = 0.52


def wall_before(
    pitch: Pitch,
    p: WallParameters,
    defenders: Iterable[BodyState],
    end: End,
    x_m: float,
    y_m: float,
    about: About = (),
) -> list[BodyState]:
    """The longest row of neighbours at the distance of a wall, between ball and goal; empty if nobody stands there.

    Args:
        pitch: the pitch.
        p: limits.
        defenders: players of the team that did not kick.
        end: of the goal that the kick is aimed at.
        x_m, y_m: position of the ball.
        about: what the comparison of the distance belongs to, see ``detectors.decisions``.
    """
    away_m = pitch.goal_distance_m(x_m, y_m, end)
    if not at_most("distance of the goal", away_m, p.goal_m, "wall.goal_m", about):
        return []
    to_goal = math.atan2(-y_m, end_sign(end) * pitch.half_length_m - x_m)
    there = []
    for body in defenders:
        dx, dy = body.x_m - x_m, body.y_m - y_m
        aside = math.remainder(math.atan2(dy, dx) - to_goal, 2 * math.pi)
        if p.from_m <= math.hypot(dx, dy) <= p.to_m and abs(aside) <= p.aside_rad:
            there.append((aside, body))
    rows: list[list[BodyState]] = []
    for _, body in sorted(there, key=lambda one: one[0]):
        before = rows[-1][-1] if rows else None
        if before is not None and math.hypot(body.x_m - before.x_m, body.y_m - before.y_m) <= p.gap_m:
            rows[-1].append(body)
        else:
            rows.append([body])
    return max(rows, key=len, default=[])
