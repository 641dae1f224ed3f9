"""Corners of the ball's way as radio measures it: many positions, each noisy.

Theory of operation
-------------------
Over some 0.1 s a ball that nobody touches goes nearly straight, or falls, and one that is played goes along two such
ways that meet. To the newest positions such a *kink* is fitted by least squares, for every place where it may be. The
place that leaves the least residue counts, once it has come to its place about the middle: one found beside it belongs
to another kink, which has had its turn or will have it. Nothing before the last kink is looked at again, so two
contacts may follow each other closely.

Two contacts that follow each other at once, a kick and who blocks it, look like one kink that fits badly. So a kink
that leaves over more than ``PAIR_NOISE`` times the least noise is tried as two, a few states apart, and taken for two
if those leave much less and each of them stands over it.

A kink that comes soon after the last one has few places between the two, which alone say little of the velocity there.
But where that way began is known, for the ball's way has no gap: so it is fitted together with the places that led to
the last kink. That is how a ball that bounces before the feet of who then pushes it on gets both its kinks, and a
deflection 20 to 60 ms after a kick. What leaves the change itself unsure (``NOISE_MAX_M_S``) is not told.

Whether a kink is more than noise is asked of the very positions that it was fitted to: the change of velocity must be
``SIGMAS_OVER_GROUND`` times its own standard error, with the noise as it is left over by the fit. A ball in a crowd is
measured worse than declared, leaves more over and so counts less. Noise that has a memory bends a way more than it
leaves over, most where many positions are averaged in a short window: there the error counts
``AVERAGED_NOISE_FACTOR`` times. An echo is a step there and back, which two lines may be fitted to: positions whose
quality says so are left out.

The length of the window follows from the declared noise and rate: as many states as bring the error of the change
down to ``CHANGE_NOISE_M_S``. That is 37 states (185 ms) of a 200 Hz ball with 2 cm of noise, 19 (95 ms) of one
of 2 kHz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.ball.trajectory_breaks import AIRBORNE_M, TrajectoryBreak
from detectors.signals.sampling import ball_sampling
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState
from middleware.events import Event

#: A change of velocity must stand so many standard errors over noise: over ground, where a player pushes a ball; or in
#: all, as heights are measured worse and a ball on the ground has none (chosen on generated matches, seeds 101 to 105:
#: 4.5 lets noise pass beside every foot, beyond 6 touches of dribblers are lost).
SIGMAS_OVER_GROUND = 5.25
SIGMAS_IN_SPACE = 7.6
#: Few states tell the noise itself badly: the thresholds grow by this over the degrees of freedom (Student's tails).
_STUDENT_FACTOR = 5.0
#: Standard error of a change that the window is made long enough for, as far as ``STATES_MAX`` allows.
CHANGE_NOISE_M_S = 0.25
STATES_MAX = 37
#: Of averaged positions the error of a change is so many times what their fit tells. Of a 2 kHz ball with 2 cm of
#: noise, most of it with a memory of 0.4 s, over 95 ms it is 1.7 times by the model of that noise, of one of 200 Hz
#: over 185 ms, for which the thresholds were chosen, 1.2 times; 1.2, 1.3, 1.4, 1.6 tried on generated matches at the
#: full rate, seeds 11 to 14: hits 0.981, 0.986, 0.979, 0.974 (1.0: 0.957), team possession 0.959, then 1.0 (0.921).
AVERAGED_NOISE_FACTOR = 1.3
#: Share of the window behind a kink when it is told. The error of the change is least with the kink in the middle and
#: hardly more a little beside it (8 % at 0.39), and a hit is known so much sooner: 10 ms at 200 Hz for 2 of 387 hits of
#: generated matches (seeds 11 to 14), against 0.42.
SHARE_AFTER = 0.39
#: Fewest states to either side of a kink.
_EDGE = 3
#: A contact lasts so long (8 to 10 ms are measured of kicks); states within it belong to neither line.
_CONTACT_US = 12_000
#: A kink that leaves so many times the declared noise of a place over is tried as two. Two must leave over at most this
#: share of what one left, lie so many states apart at most, and their velocities must change by so much each (generated
#: matches, seeds 11 to 23: kicks blocked within 50 ms).
PAIR_NOISE = 1.15
PAIR_SHARE = 0.8
PAIR_STATES = 10
PAIR_CHANGE_MIN_M_S = 3.0
#: A kink that comes within this share of a window after the last one is looked for on the whole way through both.
ANCHORED_SHARE = 1.0 / 3.0
#: States further apart than this belong to no window: contacts that nobody saw may lie between.
RADIO_PERIOD_MAX_US = 10_000
#: A window may last so many times as long as one without a lost position.
_SPAN_FACTOR = 1.6
#: Positions of less quality are taken for echoes (ours; 1.5's floor for players is 0.3).
_QUALITY_MIN = 0.5
#: A change whose own error is larger is not told: positions that say so little of it are few, or those of an echo that
#: nothing else tells of (generated matches, seeds 11 to 23: of 45 with more, 2 were contacts).
NOISE_MAX_M_S = 1.5
#: No position is better than this.
NOISE_MIN_M = 0.002

Floats = npt.NDArray[np.float64]

#: Time in microseconds, then metres.
Position = tuple[int, float, float, float]


class RadioTrail(msgspec.Struct, frozen=True, gc=False):
    """State of the finder: newest places of the ball, oldest first, since the last kink or jump; which ball it is; a
    second kink that was found with the last one and is told at the next state; while the places are few, those that led
    to the last kink, which is the last of them."""

    places: tuple[Position, ...] = ()
    source: str = ""
    second: TrajectoryBreak | None = None
    into: tuple[Position, ...] = ()


def fits_radio_breaks(quality: Quality) -> bool:
    """Whether an input's ball is looked at for kinks: radio, fast enough that a window has states to average."""
    return quality.kind == "rtls" and ball_sampling(quality).period_us <= RADIO_PERIOD_MAX_US


def window_states(quality: Quality) -> int:
    """Length of the window in states, odd."""
    sampling = ball_sampling(quality)
    noise_m = sampling.jitter_m / math.sqrt(sampling.block)
    # Standard error of a kink amid n states of period T: noise / T * sqrt(192 / n^3).
    wanted = (192.0 * (noise_m / (sampling.period_us * 1e-6 * CHANGE_NOISE_M_S)) ** 2) ** (1.0 / 3.0)
    half = max(2 * _EDGE, math.ceil((wanted - 1.0) / 2.0))
    return min(2 * int(half) + 1, STATES_MAX)


class RadioBreaks:
    """Finds kinks.

    Args:
        sheet: its quality gives the window.
        least_m_s: change of velocity below which nothing is told.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float) -> None:
        sampling = ball_sampling(sheet.quality)
        self._states = window_states(sheet.quality)
        self._after = round(SHARE_AFTER * self._states)
        self._least_m_s = least_m_s
        self._noise_m = max(0.7 * sampling.jitter_m / math.sqrt(sampling.block), NOISE_MIN_M)
        self._blur = AVERAGED_NOISE_FACTOR if sampling.block > 1 else 1.0
        self._span_us = round(_SPAN_FACTOR * (self._states - 1) * sampling.period_us)
        self.horizon_us = round(_SPAN_FACTOR * (self._after + _EDGE) * sampling.period_us)
        # Once, so that the kernel is loaded now and not at the first kink of a match, which would be told late.
        some = np.array([(1e4 * i, i % 2, 0.0, 0.0) for i in range(4 * _EDGE)])
        fit_break(some, _EDGE, 1, np.empty(12))
        _two_kinks(some, _EDGE, 2 * _EDGE, 2 * _EDGE, 2, np.empty(12))

    def initial(self) -> RadioTrail:
        """No ball yet."""
        return RadioTrail()

    def look(self, state: RadioTrail, event: Event) -> tuple[RadioTrail, TrajectoryBreak | None]:
        """The trail with one more place, and the kink if one has come to its place in the window."""
        ball = event.payload
        assert isinstance(ball, BallState)
        place = (event.ts_us, ball.x_m, ball.y_m, ball.z_m)
        if ball.quality < _QUALITY_MIN:
            return state, None
        if ball.run <= 1 or event.source != state.source:
            return RadioTrail((place,), event.source), None
        places = (*state.places[1 - self._states :], place)
        middle = len(places) - 1 - self._after
        into = state.into if middle <= ANCHORED_SHARE * self._states else ()
        trail = RadioTrail(places, event.source, None, into)
        if state.second is not None:
            return trail, state.second
        if into and middle > 0:
            return self._soon(trail, middle, event)
        if middle < _EDGE or event.ts_us - places[0][0] > self._span_us or not self._may_bend(places, middle):
            return trail, None
        way = np.array(places)
        found = np.empty(12)
        at = int(fit_break(way, _EDGE, 1, found))
        standard_m_s = max(float(found[6]), self._noise_m) * float(found[7])
        if not middle - _EDGE <= at <= middle:
            return trail, None
        vx, vy, vz, dx, dy, dz = found[:6].tolist()
        standard_m_s *= 1.0 + _STUDENT_FACTOR / (3 * len(places) - 9)
        if not self._is_sure((dx, dy, dz), standard_m_s):
            return trail, None
        ts_us, x_m, y_m, z_m = places[at]
        if event.ts_us - ts_us > self.horizon_us:
            return trail, None
        if float(found[6]) > PAIR_NOISE * self._noise_m / 0.7:
            pair = self._pair(places, way, at, float(found[6]), event)
            if pair is not None:
                return pair
        before, after = (vx, vy, vz), (vx + dx, vy + dy, vz + dz)
        break_ = TrajectoryBreak(ts_us, event.source, x_m, y_m, z_m, before, after, standard_m_s)
        later = tuple(place for place in places[at + 1 :] if place[0] > ts_us + _CONTACT_US)
        return RadioTrail(later, event.source, None, places[: at + 1]), break_

    def _is_sure(self, change: Sequence[float], standard_m_s: float) -> bool:
        """Whether a change of velocity (3 numbers, m/s) is more than noise whose fit tells such a standard error."""
        standard_m_s *= self._blur
        change_m_s, over_ground_m_s = math.hypot(*change), math.hypot(*change[:2])
        sure = over_ground_m_s >= SIGMAS_OVER_GROUND * standard_m_s or change_m_s >= SIGMAS_IN_SPACE * standard_m_s
        return sure and change_m_s >= self._least_m_s and standard_m_s <= NOISE_MAX_M_S

    def _soon(self, trail: RadioTrail, middle: int, event: Event) -> tuple[RadioTrail, TrajectoryBreak | None]:
        """A kink so soon after the last one that the few places between say little of how fast the ball went there: but
        where it began is known, as its way has no gap."""
        into, places = trail.into[-self._states // 2 :], trail.places
        n, way = len(into), np.array((*into, *places))
        if n < _EDGE or way[-1, 0] - way[0, 0] > self._span_us:
            return trail, None
        found = np.empty(12)
        at = int(_two_kinks(way, n - 1, n, n + len(places) - _EDGE, 1, found)) % len(way) - n
        ts_us = places[at][0]
        if not max(0, middle - _EDGE) <= at <= middle or event.ts_us - ts_us > self.horizon_us:
            return trail, None
        noise_m = max(float(found[9]), self._noise_m) * (1.0 + _STUDENT_FACTOR / (3 * len(way) - 12))
        values, standard_m_s = found.tolist(), noise_m * float(found[11])
        d1, d2 = values[3:6], values[6:9]
        if not self._is_sure(d2, standard_m_s):
            return trail, None
        before = values[0] + d1[0], values[1] + d1[1], values[2] + d1[2]
        after = before[0] + d2[0], before[1] + d2[1], before[2] + d2[2]
        break_ = TrajectoryBreak(ts_us, event.source, *places[at][1:], before, after, standard_m_s)
        later = tuple(place for place in places[at + 1 :] if place[0] > ts_us + _CONTACT_US)
        return RadioTrail(later, event.source), break_

    def _pair(
        self, places: tuple[Position, ...], way: Floats, at: int, left_m: float, event: Event
    ) -> tuple[RadioTrail, TrajectoryBreak] | None:
        """Two kinks in the place of one that left ``left_m`` over, None if they are no better."""
        found = np.empty(12)
        end = min(len(way) - _EDGE, at + PAIR_STATES)
        both = int(_two_kinks(way, max(_EDGE, at - PAIR_STATES), end - 2, end, 2, found))
        if both < 0 or float(found[9]) > PAIR_SHARE * left_m:
            return None
        first, second = both // len(way), both % len(way)
        noise_m = max(float(found[9]), self._noise_m) * (1.0 + _STUDENT_FACTOR / (3 * len(places) - 12))
        values = found.tolist()
        v0, d1, d2 = values[:3], values[3:6], values[6:9]
        changes = (math.hypot(*d1), noise_m * values[10]), (math.hypot(*d2), noise_m * values[11])
        if any(change < max(SIGMAS_IN_SPACE * error, PAIR_CHANGE_MIN_M_S) for change, error in changes):
            return None
        if any(error > NOISE_MAX_M_S for _, error in changes):
            return None
        before = v0[0], v0[1], v0[2]
        between = v0[0] + d1[0], v0[1] + d1[1], v0[2] + d1[2]
        after = between[0] + d2[0], between[1] + d2[1], between[2] + d2[2]
        one, two = places[first], places[second]
        if event.ts_us - one[0] > self.horizon_us or one[0] == two[0]:
            return None
        later = tuple(place for place in places[second + 1 :] if place[0] > two[0] + _CONTACT_US)
        kick = TrajectoryBreak(one[0], event.source, *one[1:], before, between, changes[0][1])
        block = TrajectoryBreak(two[0], event.source, *two[1:], between, after, changes[1][1])
        return RadioTrail(later, event.source, block), kick

    def told(self, state: Any, break_: TrajectoryBreak) -> Any:
        """Every kink is remembered as it is found."""
        return state

    def _may_bend(self, places: tuple[Position, ...], middle: int) -> bool:
        """A cheap look at the ends and the middle, three places each: most of the time the ball just rolls."""
        first, at, last = places[1], places[middle], places[-2]
        into, out = 1e6 / (at[0] - first[0]), 1e6 / (last[0] - at[0])
        bend2 = 0.0
        for axis in (1, 2, 3):
            one = places[0][axis] + first[axis] + places[2][axis]
            two = places[middle - 1][axis] + at[axis] + places[middle + 1][axis]
            three = places[-3][axis] + last[axis] + places[-1][axis]
            bend = ((three - two) * out - (two - one) * into) / 3.0
            bend2 += bend * bend
        return bend2 >= 0.25 * self._least_m_s * self._least_m_s


@njit(cache=True)
def fit_break(way: Floats, edge: int, steps: int, found: Floats) -> int:
    """The place of the kink that fits best, or the last one before it.

    Args:
        way: (n, 4) microseconds and metres.
        edge: places at either end where no kink is looked for.
        steps: so many instants from one place to the next are tried.
        found: to be filled: velocity before (3), change of velocity (3), noise of a place, what a unit of noise
            gives as standard error of the change, when (microseconds), and where (3).
    """
    n = len(way)
    best, least = -1, np.inf
    for c in range(edge, n - edge):
        airborne = falls(way, 0, c), falls(way, c + 1, n)
        for step in range(steps):
            at_us = way[c, 0] + (way[c + 1, 0] - way[c, 0]) * step / steps
            s12 = s13 = s22 = s23 = s33 = 0.0
            for i in range(n):
                u = (way[i, 0] - at_us) * 1e-6
                w = u if u > 0.0 else 0.0
                s12 += u
                s13 += w
                s22 += u * u
                s23 += u * w
                s33 += w * w
            det = n * (s22 * s33 - s23 * s23) - s12 * (s12 * s33 - s23 * s13) + s13 * (s12 * s23 - s22 * s13)
            i11, i12, i13 = (s22 * s33 - s23 * s23) / det, (s13 * s23 - s12 * s33) / det, (s12 * s23 - s13 * s22) / det
            i22, i23, i33 = (n * s33 - s13 * s13) / det, (s13 * s12 - n * s23) / det, (n * s22 - s12 * s12) / det
            residue = 0.0
            place, velocity, change = np.empty(3), np.empty(3), np.empty(3)
            for axis in range(3):
                b1 = b2 = b3 = square = 0.0
                for i in range(n):
                    u = (way[i, 0] - at_us) * 1e-6
                    y = way[i, 1 + axis] - way[c, 1 + axis]
                    if axis == 2 and airborne[0 if i <= c else 1]:
                        y += 0.5 * GRAVITY_M_S2 * u * u
                    b1 += y
                    b2 += y * u
                    b3 += y * (u if u > 0.0 else 0.0)
                    square += y * y
                x1 = i11 * b1 + i12 * b2 + i13 * b3
                x2 = i12 * b1 + i22 * b2 + i23 * b3
                x3 = i13 * b1 + i23 * b2 + i33 * b3
                residue += max(square - x1 * b1 - x2 * b2 - x3 * b3, 0.0)
                place[axis], velocity[axis], change[axis] = way[c, 1 + axis] + x1, x2, x3
            if residue < least:
                best, least = c, residue
                found[:3], found[3:6], found[9:12] = velocity, change, place
                found[6], found[7], found[8] = math.sqrt(residue / (3 * n - 9)), math.sqrt(i33), at_us
    return best


@njit(cache=True)
def falls(way: Floats, begin: int, end: int) -> bool:
    """Whether the ball is off the ground in these places, in the mean."""
    return float(np.mean(way[begin:end, 3])) > AIRBORNE_M


@njit(cache=True)
def _two_kinks(way: Floats, begin: int, last: int, end: int, apart: int, found: Floats) -> int:
    """The places of the two kinks that fit best together: the first times the length of the way, and the second.

    Args:
        way: (n, 4) microseconds and metres.
        begin, last, end: the first kink is looked for from ``begin`` on and before ``last``, the second before ``end``.
        apart: so many places at least are between them.
        found: to be filled: velocity before both (3), change at the first (3), at the second (3), noise of a place, and
            what a unit of noise gives as standard error of either change.
    """
    n = len(way)
    best, least = -1, np.inf
    design = np.ones((n, 4))
    for first in range(begin, last):
        airborne = falls(way, 0, first), falls(way, first + 1, n)
        seen = np.empty((n, 3))
        for i in range(n):
            u = (way[i, 0] - way[first, 0]) * 1e-6
            design[i, 1], design[i, 2] = u, max(u, 0.0)
            seen[i] = way[i, 1:] - way[first, 1:]
            if airborne[0 if i <= first else 1]:
                seen[i, 2] += 0.5 * GRAVITY_M_S2 * u * u
        for second in range(first + apart, end):
            for i in range(n):
                design[i, 3] = max((way[i, 0] - way[second, 0]) * 1e-6, 0.0)
            inverse = np.linalg.inv(design.T @ design)
            fit = inverse @ (design.T @ seen)
            residue = float(np.sum((seen - design @ fit) ** 2))
            if residue < least:
                best, least = first * n + second, residue
                found[:3], found[3:6], found[6:9] = fit[1], fit[2], fit[3]
                found[9] = math.sqrt(residue / (3 * n - 12))
                found[10], found[11] = math.sqrt(inverse[2, 2]), math.sqrt(inverse[3, 3])
    return best
