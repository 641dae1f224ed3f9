"""Truth about passes and shots that needs everybody's place when the ball was kicked: level 8, and the offside line.

All lines about a pass are dated at its kick and name the attempt as their cause, whenever they could be known. The
ends of passes come from play, distances and lines from the true places of bodies at the very instants.
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

#: How long ago anything can be asked for, seconds: a pass is over after seven (StreamTeam).
KEPT_S = 20.0
#: 8.1: sideways from this angle to the way of attack on.
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
    """Where everybody and the ball in play were at the ticks of the last ``KEPT_S``."""

    def __init__(self) -> None:
        self.times_s: Floats = np.zeros(0)
        self.places: Floats = np.zeros((0, 0, 2))
        self.ball: Floats = np.zeros((0, 3))

    def take(self, interval: PlayedInterval) -> None:
        """Adds a stretch."""
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        times_s = interval.ticks_s[inside]
        steps = np.rint((times_s - interval.begin_s) / STEP_S).astype(int)
        ball = interval.balls[interval.active[steps], steps]
        places = interval.persons[inside][:, :, [Col.X, Col.Y]]
        keep = self.times_s > interval.end_s - KEPT_S
        self.times_s = np.concatenate([self.times_s[keep], times_s])
        self.ball = np.concatenate([self.ball[keep], ball])
        self.places = np.concatenate([self.places[keep], places]) if len(self.places) else places

    def at(self, t_s: float) -> Floats:
        """(PERSONS, 2) places at an instant, between two ticks in proportion; the oldest known if it is long past."""
        at = min(max((t_s - self.times_s[0]) / TICK_S, 0.0), len(self.times_s) - 1.0)
        low = min(int(at), max(len(self.times_s) - 2, 0))
        high = min(low + 1, len(self.times_s) - 1)
        return self.places[low] + (self.places[high] - self.places[low]) * (at - low)

    def highest_m(self, begin_s: float, end_s: float) -> float:
        """Greatest height of the ball's centre between two instants; 0 if nothing of it is known."""
        part = self.ball[(self.times_s >= begin_s - TICK_S) & (self.times_s <= end_s), 2]
        return float(part.max()) if len(part) else 0.0


class PassTruth:
    """Qualifiers of passes and shots, as soon as play has noted how they ended."""

    def __init__(self, pitch: Pitch) -> None:
        self._pitch = pitch
        self._history = History()
        self._seen = 0
        self._waiting: list[int] = []

    def take(
        self, interval: PlayedInterval, rows: Sequence[Row], playing: np.ndarray, sign: Sequence[float], lines: Lines
    ) -> None:
        """Adds what can be told of rows before the stretch's end.

        Args:
            stretch: the next one.
            rows: all rows so far.
            playing: (PERSONS,) who is on the pitch.
            sign: +1 for home and away where they attack towards +x, else -1.
            lines: where the found is written; causes are minus one less the index of a row, until rows have numbers.
        """
        self._history.take(interval)
        self._waiting.extend(range(self._seen, len(rows)))
        self._seen = len(rows)
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
                lines.add("shot.xg", row.t_s, row.person, row.place, variant, causes=(-1 - index,))
        self._waiting = later

    def _offside_line(self, row: Row, index: int, playing: np.ndarray, sign: Sequence[float], lines: Lines) -> None:
        """7.15: second-last opponent, ball or halfway line, whichever is nearest to the goal line attacked."""
        own, way, others = _sides(row, playing, sign)
        depth = np.sort(self._upfield(row.t_s, others, way)[:, 0])
        if len(depth) < 2:
            return
        ahead = max(float(depth[-2]), row.place[0] * way, 0.0)
        place = (ahead * way, 0.0, math.nan)
        lines.add("offside.line", row.t_s, -1, place, team=own, causes=(-1 - index,))

    def _ended(
        self, made: Row, index: int, ended: Row, playing: np.ndarray, sign: Sequence[float], lines: Lines
    ) -> None:
        own, way, others = _sides(made, playing, sign)
        start, end = _upfield(made.place, way), _upfield(ended.place, way)

        def tell(kind: str, variant: str = "", **detail: float) -> None:
            told = {name: round(value, 3) for name, value in detail.items()}
            lines.add(kind, made.t_s, made.person, made.place, variant, team=own, detail=told, causes=(-1 - index,))

        length = math.dist(start, end)
        tell("pass.dir", _direction(start, end))
        tell("pass.len", _band(length, LENGTHS_M, LENGTHS), length_m=length)
        highest = self._history.highest_m(made.t_s, ended.t_s)
        tell("pass.height", _band(highest, PASS_HEIGHTS_M, PASS_HEIGHTS), height_m=highest)
        side = "left" if start[1] > 0 else "right"
        if (kind := self._cross(start, end)) is not None:
            tell(kind, side)
        if ended.kind != "pass.complete":
            return
        if abs(end[1] - start[1]) >= SWITCH_M:
            tell("pass.switch")
        before, after = (self._upfield(t, others, way) for t in (made.t_s, ended.t_s))
        goal = (self._pitch.half_length_m, 0.0)
        gain = math.dist(start, goal) - math.dist(end, goal)
        if gain >= progress_m(start[0], end[0]):
            tell("progress.pass", gain_m=gain)
        passed = int(np.sum(before[:, 0] > start[0])) - int(np.sum(after[:, 0] > end[0]))
        tell(
            "packing", "0" if passed <= 0 else "1-2" if passed < 3 else "3-4" if passed < 5 else "5+", opponents=passed
        )
        if _through(start, end, before):
            tell("pass.through")

    def _upfield(self, t_s: float, rows: np.ndarray, way: float) -> Floats:
        """(n, 2) places of those of ``rows`` who are there, as a team sees them that attacks ``way``."""
        places = self._history.at(t_s)[rows] * way
        return places[np.isfinite(places[:, 0])]

    def _cross(self, start: tuple[float, float], end: tuple[float, float]) -> str | None:
        """8.4: into the penalty area from a wing in the last quarter; from beside the goal area backwards."""
        depth, depth_after = self._pitch.half_length_m - start[0], self._pitch.half_length_m - end[0]
        into = 0.0 <= depth_after <= PENALTY_AREA_DEPTH_M and abs(end[1]) <= PENALTY_AREA_HALF_WIDTH_M
        if not into:
            return None
        beside = GOAL_AREA_HALF_WIDTH_M <= abs(start[1]) <= PENALTY_AREA_HALF_WIDTH_M
        if depth <= PENALTY_AREA_DEPTH_M and beside and depth_after > depth + 2.0:
            return "cutback" if abs(end[1]) < abs(start[1]) else None
        is_wide = abs(start[1]) >= PENALTY_AREA_HALF_WIDTH_M and depth <= self._pitch.half_length_m / 2
        return "cross" if is_wide else None


def _sides(row: Row, playing: np.ndarray, sign: Sequence[float]) -> tuple[str, float, np.ndarray]:
    """Team of a row, its way of attack, and the opponents on the pitch."""
    is_home = row.team == "home"
    part = AWAY if is_home else HOME
    return row.team, sign[0 if is_home else 1], np.flatnonzero(playing[part]) + part.start


def _upfield(place: Vector, way: float) -> tuple[float, float]:
    """Along and across as the team sees it: towards the goal it attacks, to its left."""
    return place[0] * way, place[1] * way


def _direction(start: tuple[float, float], end: tuple[float, float]) -> str:
    """8.1."""
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    if abs(angle) <= SIDEWAYS_RAD:
        return "forward"
    if abs(angle) >= math.pi - SIDEWAYS_RAD:
        return "backward"
    return "left" if angle > 0 else "right"


def _band(value: float, bounds: Sequence[float], names: Sequence[str]) -> str:
    return names[sum(value >= bound for bound in bounds)]


def _through(start: tuple[float, float], end: tuple[float, float], opponents: Floats) -> bool:
    """8.5: received behind the last line, having passed it with one of that line on either side.

    The goalkeeper, the rearmost of all, does not count; the line is whoever stands within ``LINE_M`` of the rearmost
    other.
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
