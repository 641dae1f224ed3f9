"""Truth from the ball's path alone: lines, goal mouths, bounces, rest, heights, speeds, rings (level 2).

Theory of operation
-------------------
One compiled pass checks every step of the ball (0.5 ms). It carries a small state from interval to interval and
returns the few steps at which something happened; Python adds names and details. Between two steps the path is taken
as straight and the instant is interpolated, so a crossing is exact to microseconds.

When another ball becomes the ball in play, no crossing is emitted: it crossed nothing to get there.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numba import njit

from football.constants import BALL_RADIUS_M
from football.packet_table import Floats
from football.payloads import Scalar
from football.pitch import (
    BAR_HEIGHT_M,
    CIRCLE_RADIUS_M,
    GOAL_AREA_DEPTH_M,
    GOAL_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    Pitch,
)
from football.pitch import GOAL_AREA_HALF_WIDTH_M as GOAL_AREA_HALF_M
from simulator.records import BALLS, STEP_S, Contact, PlayedInterval, Vector
from simulator.truth.truth_table import Lines

#: Hierarchy 2.5, 2.7, 4.6: bounds of the bands and what they are called.
HEIGHTS_M = np.array([0.3, 1.5, BAR_HEIGHT_M])
HEIGHTS = ("ground", "low", "head", "high")
SPEEDS_M_S = np.array([5.0, 15.0, 25.0])
SPEEDS = ("roll", "pass", "drive", "rocket")
RINGS_M = np.array([11.0, 16.5, 25.0, 35.0])
RINGS = ("11 m", "16.5 m", "25 m", "35 m")
#: A band must be kept so long before it counts (2.5: 50 ms); the change is dated at its beginning.
_HOLD_S = 0.05
_RING_LEAVE_M = 0.5
#: Times nearer to each other than this are one, wherever the match is cut.
_SAME_S = 1e-6
#: 2.4: rest and motion.
_SLOW_M_S, _STATIC_S, _MOVING_M_S, _LEFT_M = 1.0, 1.8, 4.0, 2.0
#: 2.6: a bounce comes down at least so fast, with the centre at most so high, and turns within this time.
_FALL_M_S, _BOUNCE_M, _TURN_S = 0.4, 0.25, 0.02

#: 2.1 to 2.3: peaks; turns and steps of speed over ground. A slower ball has no direction.
PEAKS_M_S2 = {"touch": 20.0, "hit": 55.0, "hard": 150.0}
TURN_RAD, STEP_M_S, STEP_BELOW_M_S = 0.5, 2.0, 10.0
_STILL_M_S = 1.0

#: Codes of what a pass finds; floats, for the compiler makes a function anew for each whole number that it is given.
_X_UP, _X_DOWN, _Y_UP, _Y_DOWN, _CIRCLE_OUT, _CIRCLE_IN = map(float, range(6))
_HEIGHT, _SPEED, _STATIC, _MOVING, _BOUNCE, _RING = map(float, range(6, 12))
#: Entries of the state: known, bands of x and y, in circle, slow since, at rest, where (x, y), one more than when it
#: fell last, place before (3); from 12 the bands of height and speed (band, candidate, since, place then), from 24 the
#: rings.
_STATE = 32
_BEFORE, _HEIGHT_AT, _SPEED_AT, _RING_AT = 9, 12, 18, 24
#: Columns of what a pass finds: code, time, band or line or ring, since when, place.
_RESULT_COLUMNS = 7


class BallTruth:
    """Ball-only truth of a match, interval by interval."""

    def __init__(self, pitch: Pitch) -> None:
        self._x_lines, x_table = _along_x(pitch)
        self._y_lines, y_table = _along_y(pitch)
        self._tables = x_table, y_table, HEIGHTS_M, SPEEDS_M_S, RINGS_M
        self._half_length_m = pitch.half_length_m
        self._state = np.zeros(_STATE)
        self._active = -1

    def take(self, interval: PlayedInterval, lines: Lines) -> None:
        """Add what happened in an interval."""
        steps = np.arange(interval.balls.shape[1])
        positions = interval.balls[interval.active, steps]
        self._known = self._active >= 0
        changes = np.flatnonzero(np.diff(interval.active.astype(int), prepend=self._active))
        edges = sorted({0, *changes.tolist(), len(steps)})
        for low, high in pairwise(edges):
            if low in changes:
                self._state[0] = 0.0
            before, results = self._state.copy(), np.empty((256, _RESULT_COLUMNS))
            args = positions[low:high], interval.ball_velocity[low:high], interval.begin_s + low * STEP_S
            while (count := _scan(*args, self._half_length_m, self._state, *self._tables, results)) < 0:
                results = np.empty((2 * len(results), _RESULT_COLUMNS))
                self._state[:] = before
            for code, t_s, aux, since_s, x, y, z in results[:count].tolist():
                self._add_line(int(code), t_s, int(aux), since_s, (x, y, z), interval, lines)
            if low in changes:
                self._changed(interval, low, lines)
        self._active = int(interval.active[-1])
        for contact in interval.contacts:
            if interval.begin_s <= contact.t_s < interval.end_s:
                _bend(contact, lines)

    def _changed(self, interval: PlayedInterval, step: int, lines: Lines) -> None:
        """Emit 1.6: another ball is in play."""
        if self._known:
            x, y, z = interval.balls[interval.active[step], step].tolist()
            detail: dict[str, Scalar] = {"ball": BALLS[int(interval.active[step])]}
            lines.add("ball.active_changed", interval.begin_s + step * STEP_S, -1, (x, y, z), detail=detail)

    def _add_line(
        self, code: int, t_s: float, aux: int, since_s: float, position: Vector, interval: PlayedInterval, lines: Lines
    ) -> None:
        if code in (_X_UP, _X_DOWN, _Y_UP, _Y_DOWN):
            names, span_m, across = (
                (*self._x_lines[aux], position[1]) if code in (_X_UP, _X_DOWN) else (*self._y_lines[aux], position[0])
            )
            if abs(across) > span_m:
                return
            name = _part(names[0] if code in (_X_UP, _Y_UP) else names[1], position[1])
            lines.add("ball.crossed", t_s, -1, position, name)
            if name.endswith("goal mouth out"):
                kind = "ball.over_bar" if position[2] >= BAR_HEIGHT_M else "ball.in_goal"
                lines.add(kind, t_s, -1, position, name.split()[0])
        elif code in (_CIRCLE_OUT, _CIRCLE_IN):
            lines.add("ball.crossed", t_s, -1, position, "centre circle " + ("out" if code == _CIRCLE_OUT else "in"))
        elif code == _HEIGHT:
            lines.add("ball.height", t_s, -1, position, HEIGHTS[aux])
        elif code == _SPEED:
            lines.add("ball.speed", t_s, -1, position, SPEEDS[aux])
        elif code in (_STATIC, _MOVING):
            detail: dict[str, Scalar] = {"since_us": round(since_s * 1e6)}
            lines.add("ball.static" if code == _STATIC else "ball.moving", t_s, -1, position, detail=detail)
        elif code == _BOUNCE:
            if not any(c.t_s - 0.002 <= t_s <= c.t_s + c.duration_s + c.hold_s + 0.01 for c in interval.contacts):
                lines.add("ball.bounce", t_s, -1, position)
        else:
            side = "right" if aux % 2 else "left"
            lines.add("goal_ring", t_s, -1, position, f"{side} {RINGS[aux // 2]}")


def _bend(contact: Contact, lines: Lines) -> None:
    """Describe a contact (2.1 to 2.3): the peak of its half-sine pulse, the turn, the step of speed."""
    change_m_s = math.dist(contact.before, contact.after)
    peak_m_s2 = math.pi / 2.0 * change_m_s / contact.duration_s
    at_s = contact.t_s + contact.duration_s / 2.0
    names = [name for name, threshold_m_s2 in PEAKS_M_S2.items() if peak_m_s2 >= threshold_m_s2]
    if names:
        lines.add("ball.accel_peak", at_s, -1, contact.position, names[-1], detail={"peak_m_s2": round(peak_m_s2, 1)})
    (bx, by, _), (ax, ay, _) = contact.before, contact.after
    before_m_s, after_m_s = math.hypot(bx, by), math.hypot(ax, ay)
    turned = abs(math.atan2(bx * ay - by * ax, bx * ax + by * ay)) > TURN_RAD
    if turned and min(before_m_s, after_m_s) >= _STILL_M_S:
        lines.add("ball.turn", at_s, -1, contact.position, "ground" if contact.position[2] < HEIGHTS_M[0] else "air")
    if abs(after_m_s - before_m_s) > STEP_M_S and after_m_s < STEP_BELOW_M_S:
        lines.add("ball.speed_step", at_s, -1, contact.position, "up" if after_m_s > before_m_s else "down")


def _along_x(pitch: Pitch) -> tuple[list[tuple[tuple[str, str], float]], Floats]:
    """Return lines x = const from left to right: names upwards and downwards, half span; and (k, 2) the deadbands."""
    end_m, wide_m, r = pitch.half_length_m, pitch.half_width_m + BALL_RADIUS_M, BALL_RADIUS_M
    box_m, area_m = end_m - PENALTY_AREA_DEPTH_M, end_m - GOAL_AREA_DEPTH_M
    rows = [
        (-end_m - r, -end_m, "left goal in", "left goal out", wide_m),
        (-area_m, -area_m + r, "left goal area front out", "left goal area front in", GOAL_AREA_HALF_M),
        (-box_m, -box_m + r, "left penalty front out", "left penalty front in", PENALTY_AREA_HALF_WIDTH_M),
        (-r, r, "halfway +x", "halfway -x", wide_m),
        (box_m - r, box_m, "right penalty front in", "right penalty front out", PENALTY_AREA_HALF_WIDTH_M),
        (area_m - r, area_m, "right goal area front in", "right goal area front out", GOAL_AREA_HALF_M),
        (end_m, end_m + r, "right goal out", "right goal in", wide_m),
    ]
    return [((up, down), span) for _, _, up, down, span in rows], np.array([row[:2] for row in rows])


def _along_y(pitch: Pitch) -> tuple[list[tuple[tuple[str, str], float]], Floats]:
    side_m, end_m, r = pitch.half_width_m, pitch.half_length_m + BALL_RADIUS_M, BALL_RADIUS_M
    names = [(("right touch in", "right touch out"), end_m), (("left touch out", "left touch in"), end_m)]
    return names, np.array([(-side_m - r, -side_m), (side_m, side_m + r)])


def _part(name: str, y_m: float) -> str:
    """Return which of the three parts of a goal line a point is on."""
    end, _, sense = name.partition(" goal ")
    if sense not in ("in", "out"):
        return name
    if abs(y_m) < GOAL_HALF_WIDTH_M:
        return f"{end} goal mouth {sense}"
    return f"{end} goal line {'+y' if y_m > 0 else '-y'} {sense}"


@njit(cache=True)
def _put(
    results: Floats, count: int, code: float, t: float, aux: float, since: float, x: float, y: float, z: float
) -> int:
    """Write a result."""
    results[count, 0], results[count, 1], results[count, 2], results[count, 3] = code, t, aux, since
    results[count, 4], results[count, 5], results[count, 6] = x, y, z
    return count + 1


@njit(cache=True)
def _between(results: Floats, count: int, code: float, t: float, aux: float, share: float, a: Floats, b: Floats) -> int:
    """Write a result at a share of the path from ``a`` to ``b``, which is reached at ``t``."""
    share = min(max(share, 0.0), 1.0)
    x, y, z = a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share
    return _put(results, count, code, t - (1.0 - share) * STEP_S, aux, 0.0, x, y, z)


@njit(cache=True)
def _circle_share(a: Floats, b: Floats, radius: float, leaves: bool) -> float:
    """Return where on the straight path from ``a`` to ``b`` a circle around the centre spot is crossed."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    half = a[0] * dx + a[1] * dy
    root = half * half - square * (a[0] * a[0] + a[1] * a[1] - radius * radius)
    if square == 0.0 or root < 0.0:
        return 1.0
    return (math.sqrt(root) * (1.0 if leaves else -1.0) - half) / square


@njit(cache=True)
def _walk(
    table: Floats, band: int, begin: float, end: float, a: Floats, b: Floats, t: float, up: float, results: Floats,
    count: int,
) -> tuple[int, int]:  # fmt: skip
    """Cross line after line from ``band`` on the path from ``a`` to ``b``, in a step that ends at ``t``.

    ``begin`` and ``end`` are their coordinates across the lines.
    """
    step = end - begin
    while band < len(table) and end > table[band, 1]:
        share = (table[band, 1] - begin) / step if step != 0.0 else 1.0
        count = _between(results, count, up, t, float(band), share, a, b)
        band += 1
    while band > 0 and end < table[band - 1, 0]:
        band -= 1
        share = (table[band, 0] - begin) / step if step != 0.0 else 1.0
        count = _between(results, count, up + 1.0, t, float(band), share, a, b)
    return band, count


@njit(cache=True)
def _banded(
    s: Floats, value: float, bounds: Floats, t: float, position: Floats, code: float, results: Floats, count: int
) -> int:
    """Follow a banded value; a new band that lasts long enough is emitted, dated at its beginning.

    ``s`` is the part of the state that is the value's own.
    """
    band = np.float64(np.sum(value >= bounds))
    if band == s[0]:
        s[1] = band
        return count
    if band != s[1]:
        s[1], s[2] = band, t
        s[3:6] = position
    if t - s[2] < _HOLD_S - _SAME_S:
        return count
    s[0] = band
    return _put(results, count, code, s[2], band, 0.0, s[3], s[4], s[5])


@njit(cache=True)
def _begin(
    s: Floats, position: Floats, speed: float, half_length_m: float,
    x_table: Floats, y_table: Floats, heights: Floats, speeds: Floats, rings: Floats,
) -> None:  # fmt: skip
    """Initialize the state of a new ball; on a line it counts to the nearer side."""
    s[:] = 0.0
    s[0], s[4] = 1.0, -1.0
    s[1] = np.sum(position[0] > 0.5 * (x_table[:, 0] + x_table[:, 1]))
    s[2] = np.sum(position[1] > 0.5 * (y_table[:, 0] + y_table[:, 1]))
    s[3] = math.hypot(position[0], position[1]) <= CIRCLE_RADIUS_M
    s[_HEIGHT_AT] = s[_HEIGHT_AT + 1] = np.sum(position[2] >= heights)
    s[_SPEED_AT] = s[_SPEED_AT + 1] = np.sum(speed >= speeds)
    for k in range(2 * len(rings)):
        away = math.hypot(position[0] - (half_length_m if k % 2 else -half_length_m), position[1])
        s[_RING_AT + k] = away < rings[k // 2]


@njit(cache=True)
def _scan(
    path: Floats, velocity: Floats, begin_s: float, half_length_m: float, s: Floats,
    x_table: Floats, y_table: Floats, heights: Floats, speeds: Floats, rings: Floats, results: Floats,
) -> int:  # fmt: skip
    """Scan the steps once; return the number of rows written to ``results``, -1 if it has too few."""
    count = np.int64(0)
    for i in range(len(path)):
        if count > len(results) - 40:
            return -1
        t, b = begin_s + i * STEP_S, path[i]
        vz = velocity[i, 2]
        speed = math.sqrt(velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + vz * vz)
        if s[0] == 0.0:
            _begin(s, b, speed, half_length_m, x_table, y_table, heights, speeds, rings)
        else:
            a = s[_BEFORE : _BEFORE + 3].copy()
            x_band, count = _walk(x_table, int(s[1]), a[0], b[0], a, b, t, _X_UP, results, count)
            y_band, count = _walk(y_table, int(s[2]), a[1], b[1], a, b, t, _Y_UP, results, count)
            s[1], s[2] = x_band, y_band
            limit, away = CIRCLE_RADIUS_M + BALL_RADIUS_M * s[3], math.hypot(b[0], b[1])
            if (away <= limit) != (s[3] != 0.0):
                share = _circle_share(a, b, limit, s[3] != 0.0)
                count = _between(results, count, _CIRCLE_OUT if s[3] else _CIRCLE_IN, t, 0.0, share, a, b)
                s[3] = 1.0 - s[3]
        count = _banded(s[_HEIGHT_AT:_SPEED_AT], b[2], heights, t, b, _HEIGHT, results, count)
        count = _banded(s[_SPEED_AT:_RING_AT], speed, speeds, t, b, _SPEED, results, count)
        count = _rest(s, b, speed, t, results, count)
        if vz < -_FALL_M_S and b[2] < _BOUNCE_M:
            s[8] = t + 1.0
        elif s[8] and (vz > 0.1 or t + 1.0 > s[8] + _TURN_S + _SAME_S):
            if vz > 0.1 and b[2] < _BOUNCE_M:
                count = _put(results, count, _BOUNCE, t, 0.0, 0.0, b[0], b[1], b[2])
            s[8] = 0.0
        for k in range(2 * len(rings)):
            away = math.hypot(b[0] - (half_length_m if k % 2 else -half_length_m), b[1])
            if s[_RING_AT + k] == 0.0 and away < rings[k // 2]:
                s[_RING_AT + k] = 1.0
                count = _put(results, count, _RING, t, float(k), 0.0, b[0], b[1], b[2])
            elif s[_RING_AT + k] and away > rings[k // 2] + _RING_LEAVE_M:
                s[_RING_AT + k] = 0.0
        s[_BEFORE : _BEFORE + 3] = b
    return count


@njit(cache=True)
def _rest(s: Floats, position: Floats, speed: float, t: float, results: Floats, count: int) -> int:
    """Detect rest and motion (2.4): slow for long enough is at rest; fast, or away from there, is moving."""
    slow = speed <= _SLOW_M_S
    if s[5]:
        if speed >= _MOVING_M_S or math.hypot(position[0] - s[6], position[1] - s[7]) > _LEFT_M:
            count = _put(results, count, _MOVING, t, 0.0, s[4], position[0], position[1], position[2])
            s[5], s[4] = 0.0, t if slow else -1.0
    elif not slow:
        s[4] = -1.0
    elif s[4] < 0.0:
        s[4] = t
    elif t - s[4] >= _STATIC_S - _SAME_S:
        count = _put(results, count, _STATIC, t, 0.0, s[4], position[0], position[1], position[2])
        s[5], s[6], s[7] = 1.0, position[0], position[1]
    return count
