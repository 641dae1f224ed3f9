"""Breaks of the ball's trajectory in radio positions: many positions, each noisy.

Theory of operation
-------------------
Over some 0.1 s an untouched ball moves nearly straight, or falls. A played ball moves along two such paths that meet.
To the newest positions such a break is fitted by least squares, at every position (``kernels/break_solver``). The
position with the least residue counts, once it has moved to its index about the middle of the window. A best fit
elsewhere belongs to another break, earlier or later. Nothing before the last break is fitted again, so two contacts may
follow each other closely.

Two contacts that follow each other at once, a kick and its block, look like one break that fits badly. So a break that
leaves more than ``PAIR_NOISE`` times the least noise is fitted as two, a few states apart, and replaced by the two if
they leave much less and each of them is significant.

A break soon after the last one has few positions between the two, which alone say little of the velocity there. But the
start of that path is known, for the trajectory has no gap: so it is fitted together with the positions that led to the
last break. That is how a ball that bounces before the feet of the player who pushes it on gets both its breaks, and a
deflection 20 to 60 ms after a kick. A break whose change stays uncertain (``NOISE_MAX_M_S``) is not reported.

The fitted positions themselves decide whether a break is more than noise. The change of velocity must be
``SIGMAS_OVER_GROUND`` times its own standard error, with the noise that the fit leaves. A ball among players is
measured worse than declared, leaves more residue and so counts less. Correlated noise bends a path more than its
residue shows, most where many positions are averaged in a short window: there the error counts
``AVERAGED_NOISE_FACTOR`` times. An echo is a step there and back, which two lines may be fitted to: positions of low
quality are left out.

The length of the window follows from the declared noise and rate: as many states as bring the error of the change
down to ``CHANGE_NOISE_M_S``. That is 37 states (185 ms) of a 200 Hz ball with 2 cm of noise, 19 (95 ms) of one
of 2 kHz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import msgspec

from detectors.ball.trajectory_breaks import TrajectoryBreak
from detectors.signals.kernels.break_solver import Position, Search, Vector, fit_one_break, fit_two_breaks, warm_up
from detectors.signals.sampling import ball_sampling
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState
from middleware.events import Event

#: Least change of velocity in standard errors: over ground, where a player pushes a ball; or in space, as heights are
#: measured worse and a ball on the ground has none (chosen on generated matches, seeds 101 to 105: 4.5 lets noise pass
#: beside every foot, beyond 6 touches of dribblers are lost).
SIGMAS_OVER_GROUND = 5.25
SIGMAS_IN_SPACE = 7.6
#: Few states estimate the noise badly: the thresholds grow by this over the degrees of freedom (Student's tails).
_STUDENT_FACTOR = 5.0
#: Standard error of a change that the window is made long enough for, as far as ``STATES_MAX`` allows.
CHANGE_NOISE_M_S = 0.25
STATES_MAX = 37
#: The true error of a change of averaged positions, as a multiple of the fit's. Of a 2 kHz ball with 2 cm of
#: noise, most of it with a memory of 0.4 s, over 95 ms it is 1.7 times by the model of that noise, of one of 200 Hz
#: over 185 ms, for which the thresholds were chosen, 1.2 times; 1.2, 1.3, 1.4, 1.6 tried on generated matches at the
#: full rate, seeds 11 to 14: hits 0.981, 0.986, 0.979, 0.974 (1.0: 0.957), team possession 0.959, then 1.0 (0.921).
AVERAGED_NOISE_FACTOR = 1.3
#: Share of the window behind a break when it is reported. The error of the change is least with the break in the middle
#: and hardly more a little beside it (8 % at 0.39), and a hit is known 10 ms sooner at 200 Hz than with 0.42, at the
#: cost of 2 of 387 hits of generated matches (seeds 11 to 14).
SHARE_AFTER = 0.39
#: Fewest states to either side of a break.
_EDGE = 3
#: A contact lasts so long (8 to 10 ms are measured of kicks); states within it belong to neither line.
_CONTACT_US = 12_000
#: A break that leaves so many times the declared noise of a position is fitted as two. Two must leave at most this
#: share of what one left, lie at most so many states apart, and change the velocity by so much each (generated matches,
#: seeds 11 to 23: kicks blocked within 50 ms).
PAIR_NOISE = 1.15
PAIR_SHARE = 0.8
PAIR_STATES = 10
PAIR_CHANGE_MIN_M_S = 3.0
#: A break within this share of a window after the last one is fitted together with the path that led to that.
ANCHORED_SHARE = 1.0 / 3.0
#: States farther apart than this belong to no window: unmeasured contacts may lie between.
RADIO_PERIOD_MAX_US = 10_000
#: Longest window, as a multiple of one without lost positions.
_SPAN_FACTOR = 1.6
#: Positions of less quality are taken for echoes (ours; 1.5's floor for players is 0.3).
_QUALITY_MIN = 0.5
#: Greatest error of a reported change: beyond it the positions are few, or those of an echo (generated matches, seeds
#: 11 to 23: of 45 with more, 2 were contacts).
NOISE_MAX_M_S = 1.5
#: No position is better than this.
NOISE_MIN_M = 0.002


class RadioTrail(msgspec.Struct, frozen=True, gc=False):
    """State of the finder.

    Attributes:
        positions: newest positions of the ball since the last break or jump, oldest first.
        source: the ball.
        second: a second break, found with the last one, which the next state reports.
        into: while ``positions`` are few, the positions that led to the last break, which is the last of them.
    """

    positions: tuple[Position, ...] = ()
    source: str = ""
    second: TrajectoryBreak | None = None
    into: tuple[Position, ...] = ()


def fits_radio_breaks(quality: Quality) -> bool:
    """True if an input's ball is radio, fast enough that a window has states to average."""
    return quality.kind == "rtls" and ball_sampling(quality).period_us <= RADIO_PERIOD_MAX_US


def window_states(quality: Quality) -> int:
    """Length of the window in states, odd."""
    sampling = ball_sampling(quality)
    noise_m = sampling.jitter_m / math.sqrt(sampling.block)
    # Standard error of a break amid n states of period T: noise / T * sqrt(192 / n^3).
    wanted = (192.0 * (noise_m / (sampling.period_us * 1e-6 * CHANGE_NOISE_M_S)) ** 2) ** (1.0 / 3.0)
    half = max(2 * _EDGE, math.ceil((wanted - 1.0) / 2.0))
    return min(2 * int(half) + 1, STATES_MAX)


class RadioBreaks:
    """Finds breaks in radio positions.

    Args:
        sheet: its quality gives the window.
        least_m_s: least change of velocity.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float) -> None:
        sampling = ball_sampling(sheet.quality)
        self._states = window_states(sheet.quality)
        self._after = round(SHARE_AFTER * self._states)
        self._least_m_s = least_m_s
        self._noise_m = max(0.7 * sampling.jitter_m / math.sqrt(sampling.block), NOISE_MIN_M)
        self._error_factor = AVERAGED_NOISE_FACTOR if sampling.block > 1 else 1.0
        self._span_us = round(_SPAN_FACTOR * (self._states - 1) * sampling.period_us)
        self.horizon_us = round(_SPAN_FACTOR * (self._after + _EDGE) * sampling.period_us)
        warm_up()

    def initial(self) -> RadioTrail:
        """No ball yet."""
        return RadioTrail()

    def look(self, state: RadioTrail, event: Event) -> tuple[RadioTrail, TrajectoryBreak | None]:
        """The trail with one more position, and the break if one has moved to its index in the window."""
        ball = cast(BallState, event.payload)
        position = (event.ts_us, ball.x_m, ball.y_m, ball.z_m)
        if ball.quality < _QUALITY_MIN:
            return state, None
        if ball.run <= 1 or event.source != state.source:
            return RadioTrail((position,), event.source), None
        positions = (*state.positions[1 - self._states :], position)
        middle = len(positions) - 1 - self._after
        into = state.into if middle <= ANCHORED_SHARE * self._states else ()
        trail = RadioTrail(positions, event.source, None, into)
        if state.second is not None:
            return trail, state.second
        if into and middle > 0:
            return self._soon(trail, middle, event)
        if middle < _EDGE or event.ts_us - positions[0][0] > self._span_us or not self._may_bend(positions, middle):
            return trail, None
        fit = fit_one_break(positions, _EDGE)
        if fit is None or not middle - _EDGE <= fit.at <= middle:
            return trail, None
        error_m_s = max(fit.noise_m, self._noise_m) * fit.error_per_m
        error_m_s *= 1.0 + _STUDENT_FACTOR / (3 * len(positions) - 9)
        at = positions[fit.at]
        if not self._is_sure(fit.change_m_s, error_m_s) or event.ts_us - at[0] > self.horizon_us:
            return trail, None
        if fit.noise_m > PAIR_NOISE * self._noise_m / 0.7:
            pair = self._pair(positions, fit.at, fit.noise_m, event)
            if pair is not None:
                return pair
        after = _sum(fit.before_m_s, fit.change_m_s)
        break_ = _break(at, event.source, fit.before_m_s, after, error_m_s)
        return RadioTrail(_later(positions, fit.at), event.source, None, positions[: fit.at + 1]), break_

    def _is_sure(self, change: Sequence[float], error_m_s: float) -> bool:
        """True if a change of velocity (3 numbers, m/s) is more than noise, by its standard error."""
        error_m_s *= self._error_factor
        change_m_s, over_ground_m_s = math.hypot(*change), math.hypot(*change[:2])
        sure = over_ground_m_s >= SIGMAS_OVER_GROUND * error_m_s or change_m_s >= SIGMAS_IN_SPACE * error_m_s
        return sure and change_m_s >= self._least_m_s and error_m_s <= NOISE_MAX_M_S

    def _soon(self, trail: RadioTrail, middle: int, event: Event) -> tuple[RadioTrail, TrajectoryBreak | None]:
        """The break soon after the last one, fitted together with the path that led to that."""
        into, positions = trail.into[-self._states // 2 :], trail.positions
        n, path = len(into), (*into, *positions)
        if n < _EDGE or path[-1][0] - path[0][0] > self._span_us:
            return trail, None
        fit = fit_two_breaks(path, Search(n - 1, n, n + len(positions) - _EDGE, 1))
        if fit is None:
            return trail, None
        at = fit.indices[1] - n
        ts_us = positions[at][0]
        if not max(0, middle - _EDGE) <= at <= middle or event.ts_us - ts_us > self.horizon_us:
            return trail, None
        noise_m = max(fit.noise_m, self._noise_m) * (1.0 + _STUDENT_FACTOR / (3 * len(path) - 12))
        error_m_s = noise_m * fit.errors_per_m[1]
        if not self._is_sure(fit.changes_m_s[1], error_m_s):
            return trail, None
        before = _sum(fit.before_m_s, fit.changes_m_s[0])
        after = _sum(before, fit.changes_m_s[1])
        break_ = _break(positions[at], event.source, before, after, error_m_s)
        return RadioTrail(_later(positions, at), event.source), break_

    def _pair(
        self, positions: tuple[Position, ...], index: int, noise_m: float, event: Event
    ) -> tuple[RadioTrail, TrajectoryBreak] | None:
        """Two breaks instead of one that left ``noise_m``; None if they are no better."""
        end = min(len(positions) - _EDGE, index + PAIR_STATES)
        fit = fit_two_breaks(positions, Search(max(_EDGE, index - PAIR_STATES), end - 2, end, 2))
        if fit is None or fit.noise_m > PAIR_SHARE * noise_m:
            return None
        noise_m = max(fit.noise_m, self._noise_m) * (1.0 + _STUDENT_FACTOR / (3 * len(positions) - 12))
        errors_m_s = noise_m * fit.errors_per_m[0], noise_m * fit.errors_per_m[1]
        for change, error_m_s in zip(fit.changes_m_s, errors_m_s, strict=True):
            if math.hypot(*change) < max(SIGMAS_IN_SPACE * error_m_s, PAIR_CHANGE_MIN_M_S) or error_m_s > NOISE_MAX_M_S:
                return None
        between = _sum(fit.before_m_s, fit.changes_m_s[0])
        after = _sum(between, fit.changes_m_s[1])
        one, two = positions[fit.indices[0]], positions[fit.indices[1]]
        if event.ts_us - one[0] > self.horizon_us or one[0] == two[0]:
            return None
        kick = _break(one, event.source, fit.before_m_s, between, errors_m_s[0])
        block = _break(two, event.source, between, after, errors_m_s[1])
        return RadioTrail(_later(positions, fit.indices[1]), event.source, block), kick

    def reported(self, state: Any, break_: TrajectoryBreak) -> Any:
        """The trail after the report of a break, which it holds already."""
        return state

    def _may_bend(self, positions: tuple[Position, ...], middle: int) -> bool:
        """True if the ends and the middle, three positions each, are no straight line: a cheap first test."""
        first, at, last = positions[1], positions[middle], positions[-2]
        into, out = 1e6 / (at[0] - first[0]), 1e6 / (last[0] - at[0])
        bend2 = 0.0
        for axis in (1, 2, 3):
            one = positions[0][axis] + first[axis] + positions[2][axis]
            two = positions[middle - 1][axis] + at[axis] + positions[middle + 1][axis]
            three = positions[-3][axis] + last[axis] + positions[-1][axis]
            bend = ((three - two) * out - (two - one) * into) / 3.0
            bend2 += bend * bend
        return bend2 >= 0.25 * self._least_m_s * self._least_m_s


def _break(at: Position, source: str, before: Vector, after: Vector, error_m_s: float) -> TrajectoryBreak:
    ts_us, x_m, y_m, z_m = at
    return TrajectoryBreak(ts_us, source, x_m, y_m, z_m, before, after, error_m_s)


def _sum(velocity: Vector, change: Vector) -> Vector:
    return velocity[0] + change[0], velocity[1] + change[1], velocity[2] + change[2]


def _later(positions: tuple[Position, ...], index: int) -> tuple[Position, ...]:
    """The positions after a break's contact."""
    return tuple(position for position in positions[index + 1 :] if position[0] > positions[index][0] + _CONTACT_US)
