"""Truth about passes and shots that needs everybody's position at the kick: level 8, and the offside line.

All lines about a pass are dated at its kick and name the attempt as their cause. Play knows the ends of passes;
distances and lines come from the true positions of bodies at those instants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from football.packet_table import Floats
from football.pitch import GOAL_AREA_HALF_WIDTH_M, PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M, Pitch
from simulator.records import AWAY, HOME, STEP_S, TICK_S, Col, PlayedInterval, Row, Vector
from simulator.truth.chains import progress_m
from simulator.truth.truth_table import Lines

#: Seconds of positions that are stored: a pass is over after seven (StreamTeam).
HISTORY_S = 20.0
#: 8.1: sideways from this angle to the direction of attack on.
SIDEWAYS_RAD = math.pi / 4
#: 8.2, 8.3 and 8.10: upper bounds and names.
LENGTHS_M, LENGTHS = (15.0, 30.0), ("short", "medium", "long")
PASS_HEIGHTS_M, PASS_HEIGHTS = (0.3, 1.5), ("ground", "low", "high")
XG, XGS = (0.05, 0.15, 0.35), ("<.05", "-.15", "-.35", ">.35")
#: 8.6: 40 yards.
SWITCH_M = 36.6
#: 8.5: opponents within this of the last one make the line that a through ball passes.
LINE_M = 6.0
_ENDED = {"pass.complete", "pass.intercepted", "pass.out"}


class History:
    """Positions of everybody and of the ball in play at the ticks of the last ``HISTORY_S``."""

    def __init__(self) -> None:
        self.times_s: Floats = np.zeros(0)
        self.positions: Floats = np.zeros((0, 0, 2))
        self.ball: Floats = np.zeros((0, 3))

    def take(self, interval: PlayedInterval) -> None:
        """Add an interval."""
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        times_s = interval.ticks_s[inside]
        steps = np.rint((times_s - interval.begin_s) / STEP_S).astype(int)
        ball = interval.balls[interval.active[steps], steps]
        positions = interval.persons[inside][:, :, [Col.X, Col.Y]]
        keep = self.times_s > interval.end_s - HISTORY_S
        self.times_s = np.concatenate([self.times_s[keep], times_s])
        self.ball = np.concatenate([self.ball[keep], ball])
        self.positions = np.concatenate([self.positions[keep], positions]) if len(self.positions) else positions

    def at(self, t_s: float) -> Floats:
        """Return (PERSONS, 2) positions at an instant, interpolated between ticks; the oldest one before those."""
        at = min(max((t_s - self.times_s[0]) / TICK_S, 0.0), len(self.times_s) - 1.0)
        low = min(int(at), max(len(self.times_s) - 2, 0))
        high = min(low + 1, len(self.times_s) - 1)
        return self.positions[low] + (self.positions[high] - self.positions[low]) * (at - low)

    def highest_m(self, begin_s: float, end_s: float) -> float:
        """Return the greatest height of the ball's centre between two instants; 0 if nothing of it is known."""
        part = self.ball[(self.times_s >= begin_s - TICK_S) & (self.times_s <= end_s), 2]
        return float(part.max()) if len(part) else 0.0


class PassTruth:
    """Qualifiers of passes and shots, as soon as their ends are known."""

    def __init__(self, pitch: Pitch) -> None:
        self._pitch = pitch
        self._history = History()
        self._rows_read = 0
        self._waiting: list[int] = []

    def take(
        self, interval: PlayedInterval, rows: Sequence[Row], playing: np.ndarray, sign: Sequence[float], lines: Lines
    ) -> None:
        """Add what is known about rows before the interval's end.

        Args:
            interval: the next one.
            rows: all rows so far.
            playing: (PERSONS,) persons on the pitch.
            sign: +1 for home and away where they attack towards +x, else -1.
            lines: receives the lines; the cause ``-1 - i`` is the row with index ``i``.
        """
        self._history.take(interval)
        self._waiting.extend(range(self._rows_read, len(rows)))
        self._rows_read = len(rows)
        later: list[int] = []
        for index in self._waiting:
            row = rows[index]
            if row.t_s >= interval.end_s:
                later.append(index)
            elif row.kind == "pass.attempt":
                self._offside_line(row, index, playing, sign, lines)
            elif row.kind in _ENDED:
                start = next((c for c in row.causes if rows[c].kind == "pass.attempt"), None)
                if start is not None:
                    self._ended(rows[start], start, row, playing, sign, lines)
            elif row.kind == "shot.attempt" and isinstance(xg := row.detail.get("xg"), int | float):
                variant = _band(float(xg), XG, XGS)
                lines.add("shot.xg", row.t_s, row.person, row.position, variant, causes=(-1 - index,))
        self._waiting = later

    def _offside_line(self, row: Row, index: int, playing: np.ndarray, sign: Sequence[float], lines: Lines) -> None:
        """Emit 7.15: second-last opponent, ball or halfway line, whichever is nearest to the goal line attacked."""
        own, direction, others = _sides(row, playing, sign)
        depth = np.sort(self._upfield(row.t_s, others, direction)[:, 0])
        if len(depth) < 2:
            return
        ahead = max(float(depth[-2]), row.position[0] * direction, 0.0)
        position = (ahead * direction, 0.0, math.nan)
        lines.add("offside.line", row.t_s, -1, position, team=own, causes=(-1 - index,))

    def _ended(
        self, attempt: Row, index: int, ended: Row, playing: np.ndarray, sign: Sequence[float], lines: Lines
    ) -> None:
        own, direction, others = _sides(attempt, playing, sign)
        start, end = _upfield(attempt.position, direction), _upfield(ended.position, direction)

        def add_line(kind: str, variant: str = "", **detail: float) -> None:
            rounded = {name: round(value, 3) for name, value in detail.items()}
            lines.add(
                kind,
                attempt.t_s,
                attempt.person,
                attempt.position,
                variant,
                team=own,
                detail=rounded,
                causes=(-1 - index,),
            )

        length = math.dist(start, end)
        add_line("pass.dir", _direction(start, end))
        add_line("pass.len", _band(length, LENGTHS_M, LENGTHS), length_m=length)
        highest = self._history.highest_m(attempt.t_s, ended.t_s)
        add_line("pass.height", _band(highest, PASS_HEIGHTS_M, PASS_HEIGHTS), height_m=highest)
        side = "left" if start[1] > 0 else "right"
        if (kind := self._cross(start, end)) is not None:
            add_line(kind, side)
        if ended.kind != "pass.complete":
            return
        if abs(end[1] - start[1]) >= SWITCH_M:
            add_line("pass.switch")
        before, after = (self._upfield(t, others, direction) for t in (attempt.t_s, ended.t_s))
        goal = (self._pitch.half_length_m, 0.0)
        gain = math.dist(start, goal) - math.dist(end, goal)
        if gain >= progress_m(start[0], end[0]):
            add_line("progress.pass", gain_m=gain)
        passed = int(np.sum(before[:, 0] > start[0])) - int(np.sum(after[:, 0] > end[0]))
        add_line(
            "packing", "0" if passed <= 0 else "1-2" if passed < 3 else "3-4" if passed < 5 else "5+", opponents=passed
        )
        if _through(start, end, before):
            add_line("pass.through")

    def _upfield(self, t_s: float, rows: np.ndarray, direction: float) -> Floats:
        """Return (n, 2) positions of those of ``rows`` who are there, as seen by a team that attacks ``direction``."""
        positions = self._history.at(t_s)[rows] * direction
        return positions[np.isfinite(positions[:, 0])]

    def _cross(self, start: tuple[float, float], end: tuple[float, float]) -> str | None:
        """Classify 8.4: a cross from a wing of the last quarter into the box; a cutback from beside the goal area."""
        depth, depth_after = self._pitch.half_length_m - start[0], self._pitch.half_length_m - end[0]
        into = 0.0 <= depth_after <= PENALTY_AREA_DEPTH_M and abs(end[1]) <= PENALTY_AREA_HALF_WIDTH_M
        if not into:
            return None
        is_near_goal = GOAL_AREA_HALF_WIDTH_M <= abs(start[1]) <= PENALTY_AREA_HALF_WIDTH_M
        if depth <= PENALTY_AREA_DEPTH_M and is_near_goal and depth_after > depth + 2.0:
            return "cutback" if abs(end[1]) < abs(start[1]) else None
        is_wide = abs(start[1]) >= PENALTY_AREA_HALF_WIDTH_M and depth <= self._pitch.half_length_m / 2
        return "cross" if is_wide else None


def _sides(row: Row, playing: np.ndarray, sign: Sequence[float]) -> tuple[str, float, np.ndarray]:
    """Return a row's team, its direction of attack, and the opponents on the pitch."""
    is_home = row.team == "home"
    part = AWAY if is_home else HOME
    return row.team, sign[0 if is_home else 1], np.flatnonzero(playing[part]) + part.start


def _upfield(position: Vector, direction: float) -> tuple[float, float]:
    """Return metres along and across as the team sees it: towards the goal it attacks, to its left."""
    return position[0] * direction, position[1] * direction


def _direction(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return the direction of a pass (8.1)."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    if abs(angle) <= SIDEWAYS_RAD:
        return "forward"
    if abs(angle) >= math.pi - SIDEWAYS_RAD:
        return "backward"
    return "left" if angle > 0 else "right"


def _band(value: float, bounds: Sequence[float], names: Sequence[str]) -> str:
    return names[sum(value >= bound for bound in bounds)]


def _through(start: tuple[float, float], end: tuple[float, float], opponents: Floats) -> bool:
    """True if a pass is received behind the last line, having passed it between two of its players (8.5).

    The goalkeeper, the rearmost of all, does not count. The line is formed by the players within ``LINE_M`` of the
    rearmost other.
    """
    order = opponents[np.argsort(opponents[:, 0])]
    if len(order) < 3:
        return False
    outfield = order[:-1]
    last = float(outfield[-1, 0])
    if not start[0] < last < end[0]:
        return False
    line = outfield[outfield[:, 0] > last - LINE_M]
    crosses = [
        start[1] + (end[1] - start[1]) * (x - start[0]) / (end[0] - start[0]) - y
        for x, y in line.tolist()
        if x > start[0]
    ]
    return any(c > 0 for c in crosses) and any(c < 0 for c in crosses)
