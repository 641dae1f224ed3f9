"""Truth about passes and shots that needs everybody's position at the kick: level 8, and the offside line.

Theory of operation
-------------------
A judge that repeats the formulas of the detectors finds them right even where both are wrong. So nothing here is
computed as a detector computes it. What a player wanted, a cross, a cut-back or a ball through, is what play noted of
the kick. All else is counted in the noiseless match: the path of the ball step by step, as the physics moved it, and
the bodies of everybody at the kick and at the end, player by player.

All lines about a pass are dated at its kick and name the attempt as their cause. Gain, packing and a ball through are
placed at the end. Play knows the ends of passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from football.packet_table import Floats
from football.pitch import GOAL_AREA_HALF_WIDTH_M, Pitch
from simulator.records import AWAY, HOME, KEEPERS, NAMES, STEP_S, TICK_S, Col, PlayedInterval, Row
from simulator.truth.chains import progress_m
from simulator.truth.truth_table import Lines

#: Seconds of positions that are stored: a pass is over after seven (StreamTeam).
HISTORY_S = 20.0
#: 8.1: axes of the attack, along and to the left.
DIRECTIONS = {"forward": (1, 0), "left": (0, 1), "backward": (-1, 0), "right": (0, -1)}
#: 8.2, 8.3 and 8.10: upper bounds and names.
LENGTHS_M, LENGTHS = (15.0, 30.0), ("short", "medium", "long")
PASS_HEIGHTS_M, PASS_HEIGHTS = (0.3, 1.5), ("ground", "low", "high")
XG, XGS = (0.05, 0.15, 0.35), ("<.05", "-.15", "-.35", ">.35")
#: 8.6: 40 yards.
SWITCH_M = 36.6
#: 8.8: least opponents passed, and what that is called.
PACKINGS = ((5, "5+"), (3, "3-4"), (1, "1-2"))
#: 8.4: intentions of play that are kinds of truth.
CROSSES = ("cross", "cutback")
_ENDED = {"pass.complete", "pass.intercepted", "pass.out"}


class History:
    """Bodies at the ticks, and the ball in play at the physics' steps, of the last ``HISTORY_S``."""

    def __init__(self) -> None:
        self.times_s: Floats = np.zeros(0)
        self.positions: Floats = np.zeros((0, 0, 2))
        self.ball: Floats = np.zeros((0, 3))
        self.ball_begin_s = 0.0

    def take(self, interval: PlayedInterval) -> None:
        """Add an interval."""
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        positions = interval.persons[inside][:, :, [Col.X, Col.Y]]
        keep = self.times_s > interval.end_s - HISTORY_S
        self.times_s = np.concatenate([self.times_s[keep], interval.ticks_s[inside]])
        self.positions = np.concatenate([self.positions[keep], positions]) if len(self.positions) else positions
        path = interval.balls[interval.active, np.arange(len(interval.active))]
        self.ball = np.concatenate([self.ball, path]) if len(self.ball) else path
        self.ball = self.ball[-round(HISTORY_S / STEP_S) :]
        self.ball_begin_s = interval.begin_s + (len(interval.active) - len(self.ball)) * STEP_S

    def at(self, t_s: float) -> Floats:
        """Return (PERSONS, 2) positions at an instant, interpolated between ticks; the oldest one before those."""
        at = min(max((t_s - self.times_s[0]) / TICK_S, 0.0), len(self.times_s) - 1.0)
        low = min(int(at), max(len(self.times_s) - 2, 0))
        high = min(low + 1, len(self.times_s) - 1)
        between: Floats = self.positions[low] + (self.positions[high] - self.positions[low]) * (at - low)
        return between

    def path(self, begin_s: float, end_s: float) -> Floats:
        """Return (n, 3) centres of the ball at each step from one instant to another; at least one of them."""
        first, last = (
            min(max(round((t_s - self.ball_begin_s) / STEP_S), 0), len(self.ball) - 1) for t_s in (begin_s, end_s)
        )
        return self.ball[first : last + 1]


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
                self._kicked(row, index, playing, sign, lines)
            elif row.kind in _ENDED:
                start = next((c for c in row.causes if rows[c].kind == "pass.attempt"), None)
                if start is not None:
                    self._ended(rows[start], start, row, playing, sign, lines)
            elif row.kind == "shot.attempt" and isinstance(xg := row.detail.get("xg"), int | float):
                variant = _band(float(xg), XG, XGS)
                lines.add("shot.xg", row.t_s, row.person, row.position, variant, causes=(-1 - index,))
        self._waiting = later

    def _kicked(self, row: Row, index: int, playing: np.ndarray, sign: Sequence[float], lines: Lines) -> None:
        """Add what is true at the kick: 8.4 by intention and places, and 7.15.

        The line of 7.15 is the foremost depth that two opponents have reached, or the ball, or the halfway line.
        """
        own, direction, others = _sides(row, playing, sign)
        ball = self._ball_at(row.t_s, direction)
        if (what := row.detail.get("what")) in CROSSES and (what != "cross" or self._is_cross(row, ball, direction)):
            side = "left" if ball[1] > 0 else "right"
            lines.add(str(what), row.t_s, row.person, row.position, side, team=own, causes=(-1 - index,))
        depths = sorted(u for u, _ in self._players(row.t_s, others, direction))
        reached = [depth for depth in depths if sum(other >= depth for other in depths) >= 2]
        if reached:
            ahead = max(*reached, ball[0], 0.0)
            position = (ahead * direction, 0.0, math.nan)
            lines.add("offside.line", row.t_s, -1, position, team=own, causes=(-1 - index,))

    def _is_cross(self, row: Row, ball: tuple[float, float], direction: float) -> bool:
        """True if what is meant as a cross is one for Opta: from a wide position to a mate who is more central."""
        meant = row.detail.get("intended")
        mate = self._players(row.t_s, (NAMES.index(meant),), direction) if meant in NAMES else []
        wide = abs(ball[1]) > GOAL_AREA_HALF_WIDTH_M
        return wide and (not mate or abs(mate[0][1]) < abs(ball[1]))

    def _ended(
        self, attempt: Row, index: int, ended: Row, playing: np.ndarray, sign: Sequence[float], lines: Lines
    ) -> None:
        own, direction, others = _sides(attempt, playing, sign)
        start, end = (self._ball_at(t_s, direction) for t_s in (attempt.t_s, ended.t_s))

        def add_line(kind: str, variant: str = "", at: Row = attempt, **detail: float) -> None:
            rounded = {name: round(value, 3) for name, value in detail.items()}
            causes = (-1 - index,)
            lines.add(kind, attempt.t_s, attempt.person, at.position, variant, team=own, detail=rounded, causes=causes)

        path = self._history.path(attempt.t_s, ended.t_s)
        moved = end[0] - start[0], end[1] - start[1]
        along = {name: axis[0] * moved[0] + axis[1] * moved[1] for name, axis in DIRECTIONS.items()}
        add_line("pass.dir", max(along, key=lambda name: along[name]))
        length_m = math.dist(start, end)
        add_line("pass.len", _band(length_m, LENGTHS_M, LENGTHS), length_m=length_m)
        highest_m = float(path[:, 2].max())
        add_line("pass.height", _band(highest_m, PASS_HEIGHTS_M, PASS_HEIGHTS), height_m=highest_m)
        if ended.kind != "pass.complete":
            return
        if max(along["left"], along["right"]) >= SWITCH_M:
            add_line("pass.switch")
        goal = (self._pitch.half_length_m, 0.0)
        gain_m = math.dist(start, goal) - math.dist(end, goal)
        if gain_m >= progress_m(start[0], end[0]):
            add_line("progress.pass", at=ended, gain_m=gain_m)
        passed = 0
        for row in others.tolist():
            facing = [
                position[0] > ball[0]
                for t_s, ball in ((attempt.t_s, start), (ended.t_s, end))
                for position in self._players(t_s, (row,), direction)
            ]
            passed += facing == [True, False]
            passed -= facing == [False, True]
        name = next((name for least, name in PACKINGS if passed >= least), "0")
        add_line("packing", name, ended, opponents=passed)
        if attempt.detail.get("what") == "through":
            keeper = KEEPERS[0 if own == "away" else 1]
            outfield = [row for row in others.tolist() if row != keeper]
            faced = self._players(attempt.t_s, outfield, direction)
            if faced and all(u < end[0] for u, _ in faced):
                add_line("pass.through", at=ended)

    def _ball_at(self, t_s: float, direction: float) -> tuple[float, float]:
        """Return where the physics had the ball, along and to the left of an attack in ``direction``, metres."""
        x, y, _ = self._history.path(t_s, t_s)[0].tolist()
        return x * direction, y * direction

    def _players(self, t_s: float, rows: Iterable[int], direction: float) -> list[tuple[float, float]]:
        """Return the positions of those of ``rows`` who are there, as a team that attacks ``direction`` sees them."""
        positions = self._history.at(t_s)
        seen = [(float(positions[row, 0]) * direction, float(positions[row, 1]) * direction) for row in rows]
        return [position for position in seen if math.isfinite(position[0])]


def _sides(row: Row, playing: np.ndarray, sign: Sequence[float]) -> tuple[str, float, np.ndarray]:
    """Return a row's team, its direction of attack, and the opponents on the pitch."""
    is_home = row.team == "home"
    part = AWAY if is_home else HOME
    return row.team, sign[0 if is_home else 1], np.flatnonzero(playing[part]) + part.start


def _band(value: float, bounds: Sequence[float], names: Sequence[str]) -> str:
    return names[sum(value >= bound for bound in bounds)]
