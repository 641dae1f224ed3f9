"""Truth of 12.7 and 12.8: how a team defends a set piece.

The rows of play give the kicks, the looks of :mod:`simulator.truth.pressing` everybody's noiseless position every fifth
of a second. Definitions are those of ``football.truth_kinds``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np

from football.packet_table import Floats
from football.pitch import Pitch
from simulator.records import AWAY, HOME, KEEPERS, Row
from simulator.truth.pressing import Look
from simulator.truth.truth_table import Lines

#: 12.8: the ball from the goal; the wall from the ball, its gaps, its angle to the middle of the goal.
GOAL_M, WALL_M, GAP_M, ASIDE_RAD = 40.0, (8.0, 11.0), 1.2, 0.52
#: 12.7: seconds before and after the kick; depth; a marker from his man; a man's way; players; shares of markers.
BEFORE_S, AFTER_S, DEEP_M, NEAR_M, MOVED_M, LEAST, SHARES = 1.0, 1.2, 20.0, 2.5, 2.0, 4, (0.25, 0.6)
_SIDES = {"home": HOME, "away": AWAY}
_OTHER = {"home": "away", "away": "home"}


def add_set_pieces(
    pitch: Pitch,
    rows: Sequence[Row],
    looks: Sequence[Look],
    until_s: float,
    attacks: Mapping[int, tuple[float, float]],
    lines: Lines,
) -> None:
    """Add the lines of a match.

    Args:
        pitch: of the match.
        rows: of the whole match; those before ``until_s`` count.
        looks: everybody, every fifth of a second.
        until_s: end of what is asked for.
        attacks: period -> (home's, away's) direction of attack, +1 towards +x.
        lines: receives the lines.
    """
    times_s = [look.t_s for look in looks]

    def at(t_s: float) -> Look | None:
        """The look before an instant."""
        number = bisect_right(times_s, t_s + 1e-6)
        return looks[number - 1] if 0 < number < len(looks) else None

    period = 1
    for row in sorted(rows, key=lambda one: one.t_s):
        if row.t_s >= until_s:
            break
        if row.kind == "period.start" and row.variant.isdecimal():
            period = int(row.variant)
        sign = attacks.get(period, (1.0, -1.0))[0 if row.team == "home" else 1]
        now, before, after = (at(row.t_s + offset_s) for offset_s in (0.0, -BEFORE_S, AFTER_S + 0.2))
        if row.kind == "restart.free_kick" and now is not None:
            _add_wall(pitch, row, now, sign, lines)
        crossed = row.kind == "restart.corner" or (row.kind == "restart.free_kick" and row.variant == "crossed")
        if crossed and before is not None and after is not None:
            _add_shape(pitch, row, before, after, sign, lines)


def _add_wall(pitch: Pitch, kick: Row, look: Look, sign: float, lines: Lines) -> None:
    """Add the longest row of opponents side by side between ball and goal."""
    x, y, _ = kick.position
    goal = sign * pitch.half_length_m - x, -y
    if math.hypot(*goal) > GOAL_M:
        return
    there = look.persons[_SIDES[_OTHER[kick.team]], :2] - (x, y)
    away_m = np.hypot(there[:, 0], there[:, 1])
    aside = np.arctan2(there[:, 1], there[:, 0]) - math.atan2(goal[1], goal[0])
    aside = (aside + math.pi) % (2.0 * math.pi) - math.pi
    wall = there[(away_m >= WALL_M[0]) & (away_m <= WALL_M[1]) & (np.abs(aside) <= ASIDE_RAD)]
    # Along the line that the wall stands on.
    wall = wall[np.argsort(wall @ (-goal[1], goal[0]))]
    longest = length = min(len(wall), 1)
    for gap_m in np.hypot(*np.diff(wall, axis=0).T) if len(wall) > 1 else ():
        length = length + 1 if gap_m <= GAP_M else 1
        longest = max(longest, length)
    if longest:
        variant = str(longest) if longest < 5 else "5+"
        lines.add("wall", kick.t_s, -1, variant=variant, team=_OTHER[kick.team], detail={"players": longest})


def _add_shape(pitch: Pitch, kick: Row, before: Look, after: Look, sign: float, lines: Lines) -> None:
    """Add the scheme by the share of defenders who move with a man."""
    defends = _OTHER[kick.team]
    men, defenders = (_before_goal(pitch, before.persons, side, sign) for side in (kick.team, defends))
    men = [row for row in men if row != kick.person]
    defenders = [row for row in defenders if row not in KEEPERS]
    if not men or len(defenders) < LEAST:
        return
    share = np.mean([_moves_with(before.persons, after.persons, row, men) for row in defenders])
    variant = "man" if share >= SHARES[1] else "mixed" if share > SHARES[0] else "zonal"
    lines.add("setpiece.shape", kick.t_s, -1, variant=variant, team=defends, detail={"share": round(float(share), 3)})


def _before_goal(pitch: Pitch, persons: Floats, team: str, sign: float) -> list[int]:
    """Rows of a team's players near the goal line that is attacked."""
    side = _SIDES[team]
    depth_m = pitch.half_length_m - sign * persons[:, 0]
    return [row for row in range(side.start, side.stop) if depth_m[row] <= DEEP_M]


def _moves_with(before: Floats, after: Floats, defender: int, men: Sequence[int]) -> bool:
    """True if the man nearest to a defender moves, and the defender is near him before and after."""
    apart_m = np.hypot(*(before[list(men), :2] - before[defender, :2]).T)
    man = men[int(apart_m.argmin())]
    moved_m = math.dist(before[man, :2], after[man, :2])
    still_m = math.dist(after[man, :2], after[defender, :2])
    return bool(apart_m.min() <= NEAR_M and moved_m >= MOVED_M and still_m <= NEAR_M)
