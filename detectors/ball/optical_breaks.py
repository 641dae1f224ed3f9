"""Corners of the ball's way as cameras publish it: few positions, each good to a centimetre or two.

Theory of operation
-------------------
Between contacts the ball's way is a straight piece, or a fall. A contact is where two pieces meet, somewhere *between*
two frames: at 25 Hz a struck ball goes most of a metre from one to the next, so an instant that is known to a frame
says little of who was there. To the newest places two pieces that meet are fitted by least squares, for every quarter
of a frame where they may meet (:func:`detectors.ball.radio_breaks.fit_break`). The one that leaves the least residue
counts, once so many places follow it that a piece is known. Where they meet is the first place of the next piece: so
that one may last two frames, and still has two ends. On generated matches (seeds 11, 16 to 18) contacts are dated to 2
ms, 95 % of them to 15, and 20 of 993 are not found; by the change from frame to frame it was 10 and 24 ms, and 103.

Two contacts that follow each other at once leave much over what one explains. Then three pieces are tried, and taken if
they leave much less, each corner stands over it, and the two together are no mere there and back, as of a place that is
wrong.

As of :mod:`detectors.ball.radio_breaks`, whether a corner is more than noise is asked of the very places that it was
fitted to. Grass and air only slow the ball, and need nobody for that.

The numbers were chosen on generated matches as cameras see them, seeds 11 to 20. Of corners beside a player on seeds
11, 12, 16 to 19, 737 only slow a low ball by up to 2.2 m/s, 3 of them contacts; of 1,029 others from 0.8 m/s on 15 are
none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.ball.radio_breaks import falls, fit_break
from detectors.ball.trajectory_breaks import TrajectoryBreak, Velocity, only_slowed
from detectors.signals.sampling import ball_sampling
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState
from middleware.events import Event

#: States further apart than this are no piece's: a second contact may lie between.
OPTICAL_PERIOD_MAX_US = 50_000
#: Places of the longest piece before a corner, and behind it when it is told.
STATES_BEFORE = 6
STATES_AFTER = 4
#: A corner that fits best up to so many places before that is this one, too.
_LATE = 2
#: A change of velocity must stand so many standard errors over noise, over ground or in all, and be as great as this
#: over ground, or in all: hands lift and lower the ball, and jumps of its height are not told from them.
SIGMAS_OVER_GROUND = 7.0
SIGMAS_IN_SPACE = 10.0
OPTICAL_CHANGE_MIN_M_S = 0.8
UPWARDS_CHANGE_MIN_M_S = 2.2
#: What only slows the ball by less is grass or air.
SLOWED_MAX_M_S = 2.2
#: No place is better than this: what is published is rounded to a centimetre.
NOISE_MIN_M = 0.007
#: A corner that leaves so many times the noise of a place over is tried as two. Two must leave over at most this share
#: of what one left, change the velocity by so much each, and together by this share of the greater one; frames between
#: the first one and the newest place.
PAIR_NOISE = 3.0
PAIR_SHARE = 0.5
PAIR_CHANGE_MIN_M_S = 2.0
PAIR_NET_SHARE = 0.2
_PAIR_FRAMES = 1.9
#: Least way from corner to corner of a pair.
PAIR_GAP_MIN_US = 15_000.0
#: A contact lasts 8 to 10 ms; a place so soon after a corner is the corner's.
_CONTACT_US = 2_000
#: Bends of three frames' means below which nothing is fitted: over ground, upwards, and where the ball gets slower.
LOOK_M_S = 0.4
LOOK_UP_M_S = 1.5
LOOK_SLOWED_M_S = 1.5
#: Instants from a frame to the next that are tried.
_STEPS = 4

Floats = npt.NDArray[np.float64]

#: Time in microseconds, then metres.
Position = tuple[int, float, float, float]


class OpticalTrail(msgspec.Struct, frozen=True, gc=False):
    """State of the finder: newest places of the ball since the last corner (the first of them) or jump; which ball it
    is; a second corner that was found with the last one and is told at the next state."""

    places: tuple[Position, ...] = ()
    source: str = ""
    second: TrajectoryBreak | None = None


def fits_optical_breaks(quality: Quality) -> bool:
    """Whether an input's ball is fitted by pieces: cameras, fast enough that a piece has places."""
    return quality.kind == "optical" and ball_sampling(quality).period_us <= OPTICAL_PERIOD_MAX_US


class OpticalBreaks:
    """Finds where pieces meet.

    Args:
        sheet: its quality gives the length of a piece.
        least_m_s: change of velocity below which nothing is told.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float) -> None:
        sampling = ball_sampling(sheet.quality)
        self._least_m_s = max(least_m_s, OPTICAL_CHANGE_MIN_M_S)
        self._noise_m = max(sampling.jitter_m, NOISE_MIN_M)
        self._period_us = sampling.period_us
        self.horizon_us = (STATES_AFTER + _LATE + 1) * sampling.period_us
        # Once, so that the kernels are loaded now and not at the first corner of a match, which would be told late.
        some = np.array([(4e4 * i, i % 2, 0.0, 0.0) for i in range(8)])
        fit_break(some, 1, _STEPS, np.empty(12))
        _two(some, 6, np.empty(20))

    def initial(self) -> OpticalTrail:
        """No ball yet."""
        return OpticalTrail()

    def look(self, state: OpticalTrail, event: Event) -> tuple[OpticalTrail, TrajectoryBreak | None]:
        """The trail with one more place, and the corner that is known now."""
        ball = event.payload
        assert isinstance(ball, BallState)
        place = (event.ts_us, ball.x_m, ball.y_m, ball.z_m)
        if ball.run <= 1 or event.source != state.source:
            return OpticalTrail((place,), event.source), None
        places = (*state.places[1 - STATES_BEFORE - STATES_AFTER :], place)
        trail = OpticalTrail(places, event.source)
        if state.second is not None:
            return trail, state.second
        n = len(places)
        if n < 2 + STATES_AFTER or not _may_bend(places):
            return trail, None
        place_of, values = _one_corner(places)
        behind = n - 1 - place_of
        if not STATES_AFTER <= behind <= STATES_AFTER + _LATE or event.ts_us - values[8] > self.horizon_us:
            return trail, None
        if values[6] > PAIR_NOISE * self._noise_m:
            pair = self._pair(trail, values[6])
            if pair is not None:
                return pair
        before, change = (values[0], values[1], values[2]), (values[3], values[4], values[5])
        standard_m_s = max(values[6], self._noise_m) * values[7]
        slowed = abs(change[2]) < UPWARDS_CHANGE_MIN_M_S and only_slowed(before, change, SLOWED_MAX_M_S)
        if slowed or not self._is_sure(change, standard_m_s):
            return trail, None
        break_ = _break(event.source, values[8], values[9:], before, change, standard_m_s)
        return _after(trail, break_, None), break_

    def _is_sure(self, change: Velocity, standard_m_s: float) -> bool:
        """Whether a change of velocity is more than noise whose fit tells such a standard error."""
        change_m_s, over_ground_m_s = math.hypot(*change), math.hypot(*change[:2])
        sure = over_ground_m_s >= SIGMAS_OVER_GROUND * standard_m_s or change_m_s >= SIGMAS_IN_SPACE * standard_m_s
        return sure and (over_ground_m_s >= self._least_m_s or change_m_s >= UPWARDS_CHANGE_MIN_M_S)

    def _pair(self, trail: OpticalTrail, left_m: float) -> tuple[OpticalTrail, TrajectoryBreak] | None:
        """Two corners in the place of one that left ``left_m`` over, None if they are no better."""
        values = _two_corners(trail.places)
        behind_us = trail.places[-1][0] - values[15]
        if not values[17] <= PAIR_SHARE * left_m or not _PAIR_FRAMES * self._period_us <= behind_us <= self.horizon_us:
            return None
        noise_m = max(values[17], self._noise_m)
        d1, d2 = (values[6], values[7], values[8]), (values[9], values[10], values[11])
        sizes_m_s = math.hypot(*d1), math.hypot(*d2)
        errors_m_s = noise_m * values[18], noise_m * values[19]
        for size_m_s, error_m_s in zip(sizes_m_s, errors_m_s, strict=True):
            if size_m_s < max(SIGMAS_IN_SPACE * error_m_s, PAIR_CHANGE_MIN_M_S):
                return None
        if math.dist(d1, [-part for part in d2]) < PAIR_NET_SHARE * max(sizes_m_s):
            return None
        before = values[3], values[4], values[5]
        between = before[0] + d1[0], before[1] + d1[1], before[2] + d1[2]
        first = _break(trail.source, values[15], values[:3], before, d1, errors_m_s[0])
        second = _break(trail.source, values[16], values[12:15], between, d2, errors_m_s[1])
        return _after(trail, second, second), first

    def told(self, state: Any, break_: TrajectoryBreak) -> Any:
        """Every corner is remembered as it is found."""
        return state


@lru_cache(maxsize=256)
def _one_corner(places: tuple[Position, ...]) -> tuple[int, tuple[float, ...]]:
    """What :func:`fit_break` says of places. Kept for a while: several detectors ask it of the same ones."""
    found = np.empty(12)
    return int(fit_break(np.array(places), 1, _STEPS, found)), tuple(found.tolist())


@lru_cache(maxsize=256)
def _two_corners(places: tuple[Position, ...]) -> tuple[float, ...]:
    """What :func:`_two` says of places; kept as well."""
    found = np.empty(20)
    _two(np.array(places), len(places) - 2, found)
    return tuple(found.tolist())


def _break(
    source: str, at_us: float, place: Sequence[float], before: Velocity, change: Velocity, standard_m_s: float
) -> TrajectoryBreak:
    """A corner by what was fitted."""
    x_m, y_m, z_m = place
    after = before[0] + change[0], before[1] + change[1], before[2] + change[2]
    return TrajectoryBreak(
        round(at_us), source, round(x_m, 3), round(y_m, 3), round(z_m, 3), before, after, standard_m_s
    )


def _after(trail: OpticalTrail, break_: TrajectoryBreak, second: TrajectoryBreak | None) -> OpticalTrail:
    """What a corner leaves to be looked at: the places after it, and where it was, which of a pair is known worse."""
    later = tuple(place for place in trail.places if place[0] > break_.ts_us + _CONTACT_US)
    first = ((break_.ts_us, break_.x_m, break_.y_m, break_.z_m),) if second is None else ()
    return OpticalTrail((*first, *later), trail.source, second)


def _may_bend(places: tuple[Position, ...]) -> bool:
    """A cheap look at three frames to either side: most of the time the ball just rolls on, or falls."""
    first = max(0, len(places) - 4 - STATES_AFTER)
    (t0, x0, y0, z0), (t1, x1, y1, z1) = places[first], places[-1 - STATES_AFTER]
    (t2, x2, y2, z2), (t3, x3, y3, z3) = places[-STATES_AFTER], places[-1]
    into, out = 1e6 / (t1 - t0), 1e6 / (t3 - t2)
    vx, vy = (x1 - x0) * into, (y1 - y0) * into
    dvx, dvy, dvz = (x3 - x2) * out - vx, (y3 - y2) * out - vy, (z3 - z2) * out - (z1 - z0) * into
    if abs(dvz + GRAVITY_M_S2 * 0.5e-6 * (t2 + t3 - t0 - t1)) > LOOK_UP_M_S < abs(dvz):
        return True
    speed = math.hypot(vx, vy)
    if speed < 1.0:
        return math.hypot(dvx, dvy) > LOOK_M_S
    along, across = (dvx * vx + dvy * vy) / speed, abs(dvx * vy - dvy * vx) / speed
    return across > LOOK_M_S or along > LOOK_M_S or along < -LOOK_SLOWED_M_S


@njit(cache=True)
def _two(way: Floats, end: int, found: Floats) -> None:
    """The two corners that fit best together.

    Args:
        way: (n, 4) microseconds and metres.
        end: before this place both are looked for.
        found: to be filled: place of the first (3), velocity before it (3), change at it (3) and at the second (3),
            place of the second (3), when they are (2), noise of a place (infinite if there are none), and what a unit
            of noise gives as standard error of either change (2).
    """
    n = len(way)
    found[17] = np.inf
    least = np.inf
    seen, knots = np.empty((n, 3)), np.empty((n, 4))
    gram, sums, lower = np.empty((4, 4)), np.empty((4, 3)), np.empty((4, 4))
    for k in range(2, end):
        airborne = falls(way, 0, k), falls(way, k, n)
        for step in range(_STEPS):
            t = way[k - 1, 0] + (way[k, 0] - way[k - 1, 0]) * step / _STEPS
            for i in range(n):
                u = (way[i, 0] - t) * 1e-6
                knots[i, 0], knots[i, 1], knots[i, 2] = 1.0, u, max(u, 0.0)
                for axis in range(3):
                    seen[i, axis] = way[i, 1 + axis] - way[0, 1 + axis]
                if airborne[0 if i < k else 1]:
                    seen[i, 2] += 0.5 * GRAVITY_M_S2 * u * u
            for m in range(k, min(end, k + 3, n - 2) + 1):
                for more in range(_STEPS):
                    s = way[m - 1, 0] + (way[m, 0] - way[m - 1, 0]) * more / _STEPS
                    if s < t + PAIR_GAP_MIN_US:
                        continue
                    for i in range(n):
                        knots[i, 3] = max((way[i, 0] - s) * 1e-6, 0.0)
                    _normal(knots, seen, gram, sums)
                    if not _solve(gram, sums, lower):
                        continue
                    residue = 0.0
                    for i in range(n):
                        for axis in range(3):
                            off = seen[i, axis]
                            for j in range(4):
                                off -= knots[i, j] * sums[j, axis]
                            residue += off * off
                    if residue < least:
                        least = residue
                        w = (s - t) * 1e-6
                        for axis in range(3):
                            at = way[0, 1 + axis] + sums[0, axis]
                            found[axis] = at
                            found[3 + axis], found[6 + axis] = sums[1, axis], sums[2, axis]
                            found[9 + axis] = sums[3, axis]
                            found[12 + axis] = at + (sums[1, axis] + sums[2, axis]) * w
                        if airborne[1]:
                            found[14] -= 0.5 * GRAVITY_M_S2 * w * w
                        found[15], found[16] = t, s
                        found[17] = math.sqrt(residue / max(3 * n - 14, 1))
                        found[18], found[19] = _error(lower, 2), _error(lower, 3)


@njit(cache=True)
def _normal(knots: Floats, seen: Floats, gram: Floats, sums: Floats) -> None:
    """The normal equations of a fit: fills ``gram`` (4, 4), its lower half, and ``sums`` (4, 3)."""
    gram[:] = 0.0
    sums[:] = 0.0
    for i in range(len(knots)):
        for j in range(4):
            for k in range(j + 1):
                gram[j, k] += knots[i, j] * knots[i, k]
            for axis in range(3):
                sums[j, axis] += knots[i, j] * seen[i, axis]


@njit(cache=True)
def _solve(gram: Floats, sums: Floats, lower: Floats) -> bool:
    """Solves them by Cholesky's decomposition, which goes into ``lower``; the fit takes the place of ``sums``. False if
    the places do not tell all of it."""
    product = 1.0
    for j in range(4):
        for k in range(j + 1):
            rest = gram[j, k]
            for q in range(k):
                rest -= lower[j, q] * lower[k, q]
            if j > k:
                lower[j, k] = rest / lower[k, k]
            elif rest <= 0.0:
                return False
            else:
                lower[j, j] = math.sqrt(rest)
                product *= rest
    if product < 1e-14:
        return False
    for axis in range(3):
        for j in range(4):
            for q in range(j):
                sums[j, axis] -= lower[j, q] * sums[q, axis]
            sums[j, axis] /= lower[j, j]
        for j in range(3, -1, -1):
            for q in range(j + 1, 4):
                sums[j, axis] -= lower[q, j] * sums[q, axis]
            sums[j, axis] /= lower[j, j]
    return True


@njit(cache=True)
def _error(lower: Floats, index: int) -> float:
    """Root of a diagonal element of the inverse of what was decomposed."""
    total = 0.0
    column = np.zeros(4)
    for j in range(index, 4):
        value = 1.0 if j == index else 0.0
        for q in range(index, j):
            value -= lower[j, q] * column[q]
        column[j] = value / lower[j, j]
        total += column[j] * column[j]
    return math.sqrt(total)
