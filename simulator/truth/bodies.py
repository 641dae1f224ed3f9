"""Truth from the paths of bodies and ball: running, jumps, areas, players near the ball (levels 3 and 4).

Theory of operation
-------------------
Bodies are known at every tick (20 ms), which is the best rate of the product's frames. Limbs and ball are compared
every 5 ms, and only limbs of persons whose body is within an arm's and a leap's reach of the ball. All thresholds are
the detectors' (hierarchy 3 and 4); instants are interpolated where a distance crosses a threshold.

Each compiled pass carries its state over intervals in arrays by person, and returns the few instants at which
something happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit

from football.areas import Area, ball_areas, player_areas
from football.packet_table import Floats
from football.pitch import Pitch
from simulator.physics.limbs import limb_paths
from simulator.records import FOUR_LIMBS, SQUAD, STEP_S, TICK_S, Col, PlayedInterval, Vector
from simulator.truth.truth_table import NOWHERE, Lines

#: Rows that play; officials are nobody's.
PLAYERS = 2 * SQUAD
#: 3.1, DEBS 2013 Q1: classes, bounds in m/s, and how long one must be held.
INTENSITIES = ("standing", "trot", "low", "medium", "high", "sprint")
INTENSITIES_M_S = np.array([1.0, 11.0, 14.0, 17.0, 24.0]) / 3.6
HELD_S = 1.0
#: 3.3: acceleration over a fifth of a second, of a speed averaged over a tenth; held for half a second.
EFFORTS_M_S2 = (3.0, 4.0)
EFFORT_S = 0.5
#: 3.5.
JUMP_M, JUMP_S = 0.12, 0.12
#: 4.1 and 4.2: enter, leave, contact.
NEAR_M, NOT_NEAR_M, CONTACT_M = 1.0, 1.2, 0.35
ZONE_M, ZONE_LEAVE_M = 1.5, 1.7
#: 4.3.
NEARER_M, NEARER_S = 0.3, 0.1
GROUPS = ("overall", "home", "away")
#: No limb is further from its body than this, however its owner dives, less ``NOT_NEAR_M``.
_REACH_M = 2.8
#: Steps of the ball between two looks at limbs: 5 ms.
_EVERY = 10
_LEAVE_AREA_M = 0.2
#: Columns of what a pass finds: time, person, value.
_RESULT_COLUMNS = 3

LimbPaths = Callable[[PlayedInterval, int, str, Floats], Floats]


class BodyTruth:
    """Truth of levels 3 and 4, interval by interval.

    Args:
        pitch: for the areas.
        limb_positions: function that gives limbs' positions; the simulator's own unless a test has others.
    """

    def __init__(self, pitch: Pitch, limb_positions: LimbPaths = limb_paths) -> None:
        self._limb_positions = limb_positions
        self._areas = (player_areas(pitch), ball_areas(pitch))
        self._tables = tuple(_table(areas) for areas in self._areas)
        self._inside = [np.full((count, len(a)), -1.0) for count, a in zip((PLAYERS, 1), self._areas, strict=True)]
        self._classes = np.tile([-1.0, -1.0, *([math.nan] * 6)], (PLAYERS, 1))
        self._runs = {name: np.full((PLAYERS, 4), np.nan) for name in ("sprint", "jump", *_efforts())}
        self._zone = np.full((PLAYERS, 2), np.nan)
        self._near: set[tuple[int, str]] = set()
        self._gaps: dict[tuple[int, str], tuple[float, float]] = {}
        self._nearest = np.full((3, 3), -1.0)

    def take(self, interval: PlayedInterval, lines: Lines) -> None:
        """Add what happened in an interval."""
        low = int(np.searchsorted(interval.ticks_s, interval.begin_s - 1e-9))
        high = int(np.searchsorted(interval.ticks_s, interval.end_s - 1e-9))
        if low == high:
            return
        rows = interval.persons[low:high, :PLAYERS]
        begin_s = float(interval.ticks_s[low])
        steps = np.rint((interval.ticks_s[low:high] - interval.begin_s) / STEP_S).astype(int)
        ball = interval.balls[interval.active[steps], steps]
        self._running(interval, rows, (low, high), begin_s, lines)
        self._in_areas(rows, ball, begin_s, lines)
        self._around(rows, ball, begin_s, lines)
        self._limbs(interval, rows, ball, begin_s, lines)

    # -- running ---------------------------------------------------------------------------------------------

    def _running(
        self, interval: PlayedInterval, rows: Floats, part: tuple[int, int], begin_s: float, lines: Lines
    ) -> None:
        speed = np.hypot(rows[:, :, Col.VX], rows[:, :, Col.VY])
        positions = np.ascontiguousarray(rows[:, :, [Col.X, Col.Y]])
        results = np.empty((len(rows) * PLAYERS, _RESULT_COLUMNS + 2))
        count = _classify(speed, positions, begin_s, INTENSITIES_M_S, self._classes, results)
        for t_s, person, value, x, y in results[:count].tolist():
            lines.add("run.intensity", t_s, int(person), (x, y, math.nan), INTENSITIES[int(value)])
        held = positions, begin_s, lines
        self._held("sprint", speed, 24.0 / 3.6, HELD_S, ("sprint.start", "sprint.end", ""), *held)
        self._held("jump", rows[:, :, Col.RISE], JUMP_M, JUMP_S, ("jump.take_off", "jump.land", ""), *held)
        gain = _gains(interval.persons[:, :PLAYERS], part)
        for name, (kind, sign, threshold) in _efforts().items():
            self._held(name, sign * gain, threshold, EFFORT_S, (kind, "", f"{threshold:g} m/s2"), *held)

    def _held(
        self, name: str, values: Floats, threshold: float, hold_s: float, kinds: tuple[str, str, str],
        positions: Floats, begin_s: float, lines: Lines,
    ) -> None:  # fmt: skip
        """Emit the beginning, and if it has a name the end, of a value held for long enough; and its variant."""
        results = np.empty((2 * len(values) * PLAYERS, _RESULT_COLUMNS + 2))
        count = _hold(values, positions, threshold, hold_s, begin_s, self._runs[name], results)
        for t_s, person, is_end, x, y in results[:count].tolist():
            kind = kinds[int(is_end)]
            if kind:
                lines.add(kind, t_s, int(person), (x, y, math.nan), kinds[2])

    # -- areas -----------------------------------------------------------------------------------------------

    def _in_areas(self, rows: Floats, ball: Floats, begin_s: float, lines: Lines) -> None:
        positions = np.zeros((len(rows), PLAYERS, 3))
        positions[:, :, :2] = rows[:, :, [Col.X, Col.Y]]
        for index, points in enumerate((positions, ball[:, None])):
            results = np.empty((1024, _RESULT_COLUMNS + 1))
            before = self._inside[index].copy()
            while (count := _areas(points, self._tables[index], begin_s, self._inside[index], results)) < 0:
                results = np.empty((2 * len(results), _RESULT_COLUMNS + 1))
                self._inside[index][:] = before
            for t_s, person, area, enters in results[:count].tolist():
                tick = round((t_s - begin_s) / TICK_S)
                x, y = points[tick, int(person), :2].tolist()
                row = -1 if index else int(person)
                lines.add("area.enter" if enters else "area.leave", t_s, row, (x, y, math.nan),
                          self._areas[index][int(area)].name)  # fmt: skip

    # -- around the ball -------------------------------------------------------------------------------------

    def _around(self, rows: Floats, ball: Floats, begin_s: float, lines: Lines) -> None:
        away = np.hypot(rows[:, :, Col.X] - ball[:, None, 0], rows[:, :, Col.Y] - ball[:, None, 1])
        away = np.where(np.isnan(away), np.inf, away)
        results = np.empty((2 * away.size, _RESULT_COLUMNS))
        count = _cross(away, ZONE_M, ZONE_LEAVE_M, begin_s, self._zone, results)
        for t_s, person, leaves in results[:count].tolist():
            # The place is the tick's by which it was known, the instant lies between it and the one before.
            tick = max(math.ceil((t_s - begin_s) / TICK_S - 1e-6), 0)
            lines.add("pz.leave" if leaves else "pz.enter", t_s, int(person), _vector(ball[tick]))
        for group, columns in enumerate((slice(0, PLAYERS), slice(0, SQUAD), slice(SQUAD, PLAYERS))):
            count = _challenge(away[:, columns], begin_s, self._nearest[group], results)
            for t_s, person, metres in results[:count].tolist():
                row = int(person) + (columns.start or 0)
                detail = {"distance_m": round(metres, 3)}
                lines.add("nearest.changed", t_s, row, NOWHERE, GROUPS[group], detail=detail)

    def _limbs(self, interval: PlayedInterval, rows: Floats, ball: Floats, begin_s: float, lines: Lines) -> None:
        """Follow limbs near the ball (4.1). A limb out of reach throughout is no longer near."""
        away = np.hypot(rows[:, :, Col.X] - ball[:, None, 0], rows[:, :, Col.Y] - ball[:, None, 1])
        close = np.flatnonzero(np.nanmin(np.where(np.isnan(away), np.inf, away), axis=0) < _REACH_M + NOT_NEAR_M)
        steps = np.arange(-(round(interval.begin_s / STEP_S)) % _EVERY, interval.balls.shape[1], _EVERY)
        t_s = interval.begin_s + steps * STEP_S
        positions = interval.balls[interval.active[steps], steps]
        far_away = {key for key in self._near if key[0] not in set(close.tolist())}
        for person, limb in sorted(far_away):
            self._near.remove((person, limb))
            lines.add("not_near", float(t_s[0]), person, _vector(positions[0]), limb)
        latest: dict[tuple[int, str], tuple[float, float]] = {}
        for person in close.tolist():
            within = np.repeat(away[:, person] < _REACH_M + NOT_NEAR_M, round(TICK_S / STEP_S / _EVERY))
            first, last = (int(i) for i in np.flatnonzero(within)[[0, -1]])
            part = slice(max(0, first - 1), min(last + 2, len(t_s)))
            for limb in FOUR_LIMBS:
                path = self._limb_positions(interval, person, limb, t_s[part])
                gap = np.sqrt(((path - positions[part]) ** 2).sum(axis=1))
                before = self._gaps.pop((person, limb), None) if part.start == 0 else None
                if part.stop == len(t_s):
                    latest[person, limb] = (float(t_s[-1]), float(gap[-1]))
                self._limb(person, limb, before, gap, t_s[part], positions[part], lines)
        self._gaps = latest

    def _limb(
        self, person: int, limb: str, before: tuple[float, float] | None, gap: Floats, t_s: Floats, ball: Floats,
        lines: Lines,
    ) -> None:  # fmt: skip
        """Follow one limb over a part of an interval; ``before`` are time and gap of the sample before it."""
        near = (person, limb) in self._near
        at = 0
        while at < len(gap):
            beyond = np.flatnonzero(gap[at:] > NOT_NEAR_M if near else gap[at:] < NEAR_M)
            if not len(beyond):
                return
            at += int(beyond[0])
            limit = NOT_NEAR_M if near else NEAR_M
            now_s = float(t_s[at])
            last = (float(t_s[at - 1]), float(gap[at - 1])) if at else before
            if last is not None and gap[at] != last[1]:
                share = (limit - last[1]) / (float(gap[at]) - last[1])
                now_s -= (1.0 - min(max(share, 0.0), 1.0)) * (now_s - last[0])
            if near:
                self._near.remove((person, limb))
                lines.add("not_near", now_s, person, _vector(ball[at]), limb)
            else:
                self._near.add((person, limb))
                detail = {"distance_m": round(float(gap[at]), 3), "contact": bool(gap[at] < CONTACT_M)}
                lines.add("near", now_s, person, _vector(ball[at]), limb, detail=detail)
            near = not near


def _efforts() -> dict[str, tuple[str, float, float]]:
    """Return kind, sign of acceleration and threshold of each kind of effort."""
    return {
        f"{kind} {threshold:g}": (kind, sign, threshold)
        for kind, sign in (("accel.effort", 1.0), ("decel.effort", -1.0))
        for threshold in EFFORTS_M_S2
    }


def _gains(persons: Floats, part: tuple[int, int]) -> Floats:
    """Return the change of speed in m/s2 at the ticks of ``part``; NaN where the margin does not reach far enough."""
    speed = np.hypot(persons[:, :, Col.VX], persons[:, :, Col.VY])
    out = np.full((part[1] - part[0], persons.shape[1]), np.nan)
    if len(speed) < 16:
        return out
    smooth = np.mean([speed[k : len(speed) - 4 + k] for k in range(5)], axis=0)
    gain = (smooth[10:] - smooth[:-10]) / (10 * TICK_S)
    low, high = max(part[0], 7), min(part[1], 7 + len(gain))
    if low < high:
        out[low - part[0] : high - part[0]] = gain[low - 7 : high - 7]
    return out


def _vector(position: Floats) -> Vector:
    x, y, z = position.tolist()
    return x, y, z


def _table(areas: tuple[Area, ...]) -> Floats:
    return np.array(
        [(a.low_x_m, a.high_x_m, a.low_y_m, a.high_y_m, a.x_m, a.y_m, a.radius_m, a.low_z_m, a.high_z_m) for a in areas]
    )


@njit(cache=True)
def _put(results: Floats, count: int, t: float, person: int, value: float, x: float, y: float) -> int:
    results[count, 0], results[count, 1], results[count, 2], results[count, 3], results[count, 4] = (
        t,
        person,
        value,
        x,
        y,
    )
    return count + 1


@njit(cache=True)
def _classify(speed: Floats, positions: Floats, begin_s: float, bounds: Floats, s: Floats, results: Floats) -> int:
    """Classify speeds (3.1). State of a person: class emitted, class now; time and position of both."""
    count = 0
    for p in range(speed.shape[1]):
        for i in range(len(speed)):
            if math.isnan(speed[i, p]):
                continue
            t = begin_s + i * TICK_S
            now = np.float64(np.sum(speed[i, p] >= bounds))
            if now != s[p, 1]:
                s[p, 2], s[p, 3], s[p, 4] = t, positions[i, p, 0], positions[i, p, 1]
                if s[p, 1] == s[p, 0] and math.isnan(s[p, 5]):
                    s[p, 5:8] = s[p, 2:5]
                s[p, 1] = now
            if t - s[p, 2] < HELD_S - 1e-6:
                continue
            if now != s[p, 0]:
                k = 5 if s[p, 0] >= 0 else 2
                count = _put(results, count, s[p, k], p, now, s[p, k + 1], s[p, k + 2])
            s[p, 0], s[p, 5] = now, math.nan
    return count


@njit(cache=True)
def _hold(
    values: Floats, positions: Floats, threshold: float, hold_s: float, begin_s: float, s: Floats, results: Floats
) -> int:
    """Find values held above a threshold. State of a person: since when (NaN: not), whether emitted, position."""
    count = 0
    for p in range(values.shape[1]):
        for i in range(len(values)):
            t = begin_s + i * TICK_S
            if values[i, p] >= threshold:
                if math.isnan(s[p, 0]):
                    s[p, 0], s[p, 1], s[p, 2], s[p, 3] = t, 0.0, positions[i, p, 0], positions[i, p, 1]
                if s[p, 1] == 0.0 and t - s[p, 0] >= hold_s - 1e-6:
                    s[p, 1] = 1.0
                    count = _put(results, count, s[p, 0], p, 0.0, s[p, 2], s[p, 3])
            elif not math.isnan(s[p, 0]):
                if s[p, 1] == 1.0:
                    count = _put(results, count, t, p, 1.0, positions[i, p, 0], positions[i, p, 1])
                s[p, 0] = math.nan
    return count


@njit(cache=True)
def _areas(points: Floats, table: Floats, begin_s: float, inside: Floats, results: Floats) -> int:
    """Follow areas (3.9): entered at the edge, left 0.2 m beyond it; -1 if ``results`` has too few rows."""
    count = 0
    for i in range(len(points)):
        for p in range(points.shape[1]):
            x, y, z = points[i, p]
            if math.isnan(x):
                continue
            if count > len(results) - len(table):
                return -1
            for a in range(len(table)):
                m = _LEAVE_AREA_M if inside[p, a] == 1.0 else 0.0
                low_x, high_x, low_y, high_y, cx, cy, r, low_z, high_z = table[a]
                holds = low_x - m <= x <= high_x + m and low_y - m <= y <= high_y + m
                holds = holds and low_z - m <= z <= high_z + m
                if holds and r != math.inf:
                    holds = math.hypot(x - cx, y - cy) <= r + m
                if inside[p, a] >= 0.0 and holds != (inside[p, a] == 1.0):
                    results[count, 0], results[count, 1] = begin_s + i * TICK_S, p
                    results[count, 2], results[count, 3] = a, 1.0 if holds else 0.0
                    count += 1
                inside[p, a] = 1.0 if holds else 0.0
    return count


@njit(cache=True)
def _cross(away: Floats, enter: float, leave: float, begin_s: float, s: Floats, results: Floats) -> int:
    """Follow 4.2. State of a person: 1 inside, 0 or NaN not; the distance at the tick before."""
    count = 0
    for i in range(len(away)):
        for p in range(away.shape[1]):
            inside = s[p, 0] == 1.0
            limit = leave if inside else enter
            if (away[i, p] > limit) if inside else (away[i, p] < limit):
                t = begin_s + i * TICK_S
                before = s[p, 1]
                if math.isfinite(before) and math.isfinite(away[i, p]) and before != away[i, p]:
                    share = min(max((limit - before) / (away[i, p] - before), 0.0), 1.0)
                    t -= (1.0 - share) * TICK_S
                results[count, 0], results[count, 1], results[count, 2] = t, p, 1.0 if inside else 0.0
                s[p, 0], count = 0.0 if inside else 1.0, count + 1
            s[p, 1] = away[i, p]
    return count


@njit(cache=True)
def _challenge(away: Floats, begin_s: float, s: Floats, results: Floats) -> int:
    """Follow 4.3 of one group. State: the nearest player, the challenger, since when."""
    count = 0
    for i in range(len(away)):
        best = int(np.argmin(away[i]))
        if not math.isfinite(away[i, best]):
            continue
        t = begin_s + i * TICK_S
        if best == s[0]:
            s[1] = -1.0
            continue
        if s[1] != best:
            s[1], s[2] = best, t
        held = away[i, int(s[0])] if s[0] >= 0 else math.inf
        if held - away[i, best] < NEARER_M and t - s[2] < NEARER_S - 1e-6:
            continue
        results[count, 0], results[count, 1], results[count, 2] = t, best, away[i, best]
        s[0], s[1], count = best, -1.0, count + 1
    return count
