"""Breaks of the ball's trajectory in camera positions: few positions, each good to a centimetre or two.

Theory of operation
-------------------
Between contacts the trajectory is a straight segment, or a fall. A contact is where two segments meet, somewhere
*between* two frames: at 25 Hz a struck ball moves most of a metre from one to the next, so an instant that is known to
a frame says little of who was there. To the newest positions two segments that meet are fitted by least squares, for
every quarter of a frame (``kernels/break_solver``). The one with the least residue counts, once enough positions follow
it. The break is the first position of the next segment, so that this one may last two frames and still has two ends. On
generated matches (seeds 11, 16 to 18) contacts are dated to 2 ms, 95 % of them to 15, and 20 of 993 are not found; by
the change from frame to frame it was 10 and 24 ms, and 103.

Two contacts that follow each other at once leave much residue of one break. Then two breaks are fitted, and replace the
one if they leave much less, each is significant, and the two together are no mere there and back, as of a position that
is wrong. One break must leave much residue over the ground too: heights may be wrong by themselves.

Heights of a flight are often far worse than places, by half a metre from frame to frame. A change upwards is judged by
the noise of heights. Where this noise hides a break, the path over the ground decides alone: a ball that is turned, or
loses half of its speed, was played, whatever its height.

A ball that is lost just after a contact has few positions behind the break. When it is found again, the positions up to
then are looked at once more, and two behind the break suffice, as no more will follow. What happened while it was lost
is asked of :mod:`detectors.ball.unseen_breaks`.

A tracking system that loses the ball may repeat its last position, and go on elsewhere. A ball that is struck covers in
its first frame at most the distance of a whole frame. If it covers more, it has not moved but jumped, and its path
begins anew.

Positions that a provider has smoothed bend where the ball broke: for twice the width of the filter before and after.
The fitted path bends so, too; more positions must follow; and the bend is taken out of the positions behind a break, so
that the next segment is straight.

As in :mod:`detectors.ball.radio_breaks`, the fitted positions decide whether a break is more than noise. Grass and air
only slow the ball; that needs no player.

The numbers were chosen on generated matches as cameras see them, seeds 11 to 20. Of breaks beside a player on seeds
11, 12, 16 to 19, 737 only slow a low ball by up to 2.2 m/s, 3 of them contacts; of 1,029 others from 0.8 m/s on 15 are
none.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, cast

import msgspec

from detectors.ball.trajectory_breaks import SLOWED_MAX_M_S, TrajectoryBreak, only_slowed
from detectors.ball.unseen_breaks import GAP_MAX_US, STATES_FOUND, Way, breaks_between, way_until
from detectors.signals.kernels.break_solver import (
    OneBreak,
    Position,
    Search,
    TwoBreaks,
    Vector,
    bend_s,
    fit_one_break,
    fit_two_breaks,
    warm_up,
)
from detectors.signals.sampling import ball_sampling
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState
from middleware.events import Event

#: States farther apart than this belong to no segment: an unmeasured contact may lie between. A little more than the
#: period of the slowest cameras, those of a television picture at 10 Hz.
OPTICAL_PERIOD_MAX_US = 110_000
#: The longest segment before a break, and the one behind it when it is reported: so many positions, and so long. At
#: 50 Hz six positions span too little to show a velocity, at 10 Hz a fourth one behind often follows another contact.
STATES_BEFORE, BEFORE_US = 6, 240_000
STATES_AFTER, AFTER_US = 3, 140_000
#: Noise of positions for which these are chosen, and the most that noisier ones need: contacts follow each other.
JITTER_M = 0.012
STATES_AFTER_MOST = 7
#: Positions that suffice behind a break if the ball was lost then.
STATES_BEFORE_LOSS = 2
#: How much later than the positions behind it come, a break that was seen may be reported: some may be missing.
MISSING_US = 240_000
#: Where positions are smoothed, so many widths of the filter more before and after a break, at most so many positions.
BENT_WIDTHS, BENT_STATES_MOST = 1.0, 20
#: A break that fits best up to so many positions earlier is still this one.
_LATE = 2
#: Least change of velocity in standard errors, over ground or in space; and its least size, over ground or upwards:
#: hands lift and lower the ball, and jumps of its measured height look the same.
SIGMAS_OVER_GROUND = 7.0
SIGMAS_IN_SPACE = 10.0
OPTICAL_CHANGE_MIN_M_S = 0.8
UPWARDS_CHANGE_MIN_M_S = 2.2
#: Least noise of a position: published positions are rounded to a centimetre.
NOISE_MIN_M = 0.007
#: A break that leaves so many times the noise of a position is fitted as two. Two must leave at most this share of what
#: one left, change the velocity by so much each, and together by this share of the greater one.
PAIR_NOISE = 3.0
PAIR_SHARE = 0.5
PAIR_CHANGE_MIN_M_S = 2.0
PAIR_NET_SHARE = 0.2
#: Heights hide a break of the path over the ground if one break leaves so many times the noise with them as without.
HEIGHT_NOISE = 2.0
#: Where heights hide a break, the ball is moved off its way by at least this share of its speed, or loses half of it.
TURNED_SHARE = 0.15
#: The second break of a pair lies before so many positions after the first.
PAIR_REACH = 4
#: Least number of frames between the first break of a pair and the newest position.
_PAIR_FRAMES = 1.9
#: Least time between the breaks of a pair.
PAIR_GAP_MIN_US = 15_000.0
#: A contact lasts 8 to 10 ms; a position so soon after a break is the break's.
_CONTACT_US = 2_000
#: Changes of the velocity between three frames before and after, below which nothing is fitted: over ground, upwards,
#: and where the ball slows.
LOOK_M_S = 0.4
LOOK_UP_M_S = 1.5
LOOK_SLOWED_M_S = 1.5
#: Positions by which a jump out of a repeated position is judged: the repeated one and three that follow it.
JUMP_STATES = 4
#: A jump covers so many times what the ball covers in the frames after it, and so much more, which is noise.
JUMP_FACTOR = 1.2
JUMP_MIN_M = 0.3
#: Instants from a frame to the next that are tried.
_STEPS = 4


class OpticalTrail(msgspec.Struct, frozen=True, gc=False):
    """State of the finder.

    Attributes:
        positions: newest positions of the ball since the last break (the first of them) or jump.
        source: the ball.
        second: a second break, found with the last one, which the next state reports.
        bends: the last breaks, which bend the positions that follow, where these are smoothed.
        lost: the way on which the ball was lost before the first position, until it is known how it was found.
    """

    positions: tuple[Position, ...] = ()
    source: str = ""
    second: TrajectoryBreak | None = None
    bends: tuple[TrajectoryBreak, ...] = ()
    lost: Way | None = None


def fits_optical_breaks(quality: Quality) -> bool:
    """True if an input's ball is a camera's, fast enough that a segment has positions."""
    return quality.kind == "optical" and ball_sampling(quality).period_us <= OPTICAL_PERIOD_MAX_US


class OpticalBreaks:
    """Finds breaks in camera positions.

    Args:
        sheet: its quality gives the noise and the period.
        least_m_s: least change of velocity.

    Attributes:
        horizon_us: how far before the newest position a break may be dated.
        fit_horizon_us: the same of one that was seen.
    """

    def __init__(self, sheet: MatchSheet, least_m_s: float) -> None:
        sampling = ball_sampling(sheet.quality)
        self._least_m_s = max(least_m_s, OPTICAL_CHANGE_MIN_M_S)
        self._noise_m = max(sampling.jitter_m, NOISE_MIN_M)
        self._period_us = sampling.period_us
        self._smoothing_s = sheet.quality.ball_smoothing_s
        width = self._smoothing_s * 1e6 / sampling.period_us
        # Errors of neighbours that were smoothed are alike, so a velocity errs so many times more than they tell.
        self._slope_factor = math.sqrt(max(1.0, 2.0 * math.sqrt(math.pi) * width))
        bent = min(math.ceil(BENT_WIDTHS * width), BENT_STATES_MOST)
        more = states_for(sampling.jitter_m) - STATES_AFTER + bent
        self._pair_reach = PAIR_REACH + bent
        self._before = max(STATES_BEFORE, math.ceil(BEFORE_US / sampling.period_us)) + more
        self._after = max(STATES_AFTER, math.ceil(AFTER_US / sampling.period_us)) + more
        self.fit_horizon_us = (self._after + _LATE + 1) * sampling.period_us + MISSING_US
        self.horizon_us = max(self.fit_horizon_us, GAP_MAX_US + (STATES_FOUND + 2) * sampling.period_us)
        warm_up()

    def initial(self) -> OpticalTrail:
        """No ball yet."""
        return OpticalTrail()

    def look(self, state: OpticalTrail, event: Event) -> tuple[OpticalTrail, TrajectoryBreak | None]:
        """The trail with one more position, and the break that is known now."""
        ball = cast(BallState, event.payload)
        position = self._straightened((event.ts_us, ball.x_m, ball.y_m, ball.z_m), state.bends)
        if event.source != state.source:
            return OpticalTrail((position,), event.source), None
        if ball.run <= 1:
            lost = self._before_loss(state, event.ts_us)
            return OpticalTrail((position,), event.source, lost=_last_way(state, lost)), lost
        positions = (*state.positions[1 - self._before - self._after :], position)
        trail = OpticalTrail(positions, event.source, None, state.bends)
        if state.second is not None:
            return trail, state.second
        if state.lost is not None:
            if len(positions) < STATES_FOUND:
                return OpticalTrail(positions, event.source, lost=state.lost), None
            unseen = breaks_between(state.lost, positions, event.source, self._period_us)
            if unseen and event.ts_us - state.lost.at_us <= self.horizon_us:
                return OpticalTrail(positions, event.source, unseen[1] if len(unseen) > 1 else None), unseen[0]
        if _jumps_on(positions):
            return OpticalTrail(positions[1 - JUMP_STATES :], event.source), None
        n = len(positions)
        if n < 2 + self._after or not _may_bend(positions, self._after):
            return trail, None
        fit = _one_break(positions, self._smoothing_s)
        if fit is not None and self._is_due(fit, positions):
            much_m = PAIR_NOISE * self._noise_m
            flat = _break_over_ground(positions, self._smoothing_s) if fit.noise_m > much_m else None
            if flat is not None and flat.noise_m > much_m:
                pair = self._pair(trail, fit.noise_m)
                if pair is not None:
                    return pair
            break_ = self._sure_break(event.source, fit)
            if break_ is not None:
                return self._after_breaks(trail, break_), break_
        over = self._over_ground(trail, fit)
        return (trail, None) if over is None else (self._after_breaks(trail, over), over)

    def _before_loss(self, trail: OpticalTrail, now_us: int) -> TrajectoryBreak | None:
        """The break just before the ball was lost, which has fewer positions behind it than others need.

        A ball whose position is repeated was lost before, and has not stopped.
        """
        positions = trail.positions
        if trail.second is not None or len(positions) < 3 + STATES_BEFORE_LOSS:
            return None
        held = positions[-1][1:] == positions[-2][1:]
        fit = None if held else _one_break(positions, self._smoothing_s)
        if fit is None or now_us - fit.at_us > self.horizon_us:
            return None
        few = STATES_BEFORE_LOSS <= len(positions) - 1 - fit.at < self._after
        return self._sure_break(trail.source, fit) if few else None

    def _sure_break(self, source: str, fit: OneBreak) -> TrajectoryBreak | None:
        """The fitted break, if it is more than noise, and more than grass and air do."""
        before, change = fit.before_m_s, fit.change_m_s
        error_m_s = max(self._slope_factor * fit.noise_m, self._noise_m) * fit.error_per_m
        upwards_m_s = max(self._slope_factor * fit.height_noise_m * fit.error_per_m, error_m_s)
        slowed = abs(change[2]) < UPWARDS_CHANGE_MIN_M_S and only_slowed(before, change, SLOWED_MAX_M_S)
        if slowed or not self._is_sure(change, error_m_s, upwards_m_s):
            return None
        return _break(source, fit.at_us, fit.position_m, before, change, error_m_s)

    def _is_due(self, fit: OneBreak, positions: tuple[Position, ...]) -> bool:
        """True if enough positions follow a break, and it is not too old."""
        after = len(positions) - 1 - fit.at
        return self._after <= after <= self._after + _LATE and positions[-1][0] - fit.at_us <= self.fit_horizon_us

    def _over_ground(self, trail: OpticalTrail, fit: OneBreak | None) -> TrajectoryBreak | None:
        """A break of the path over the ground, where heights are so noisy that they hide it; None if there is none."""
        if fit is None or fit.noise_m < HEIGHT_NOISE * self._noise_m:
            return None
        over = _break_over_ground(trail.positions, self._smoothing_s)
        if over is None or fit.noise_m < HEIGHT_NOISE * over.noise_m:
            return None
        before, change = over.before_m_s, over.change_m_s
        error_m_s = max(self._slope_factor * over.noise_m, self._noise_m) * over.error_per_m
        least_m_s = max(self._least_m_s, SIGMAS_OVER_GROUND * error_m_s)
        if not self._is_due(over, trail.positions) or not _turns_or_stops(before, change, least_m_s):
            return None
        flat = change[0], change[1], 0.0
        return _break(trail.source, over.at_us, over.position_m, before, flat, error_m_s)

    def _is_sure(self, change: Vector, error_m_s: float, upwards_m_s: float) -> bool:
        """True if a change of velocity is more than noise, by its standard errors in space and upwards."""
        change_m_s, over_ground_m_s = math.hypot(*change), math.hypot(*change[:2])
        sigmas = math.hypot(over_ground_m_s / error_m_s, change[2] / upwards_m_s)
        sure = over_ground_m_s >= SIGMAS_OVER_GROUND * error_m_s or sigmas >= SIGMAS_IN_SPACE
        return sure and (over_ground_m_s >= self._least_m_s or change_m_s >= UPWARDS_CHANGE_MIN_M_S)

    def _pair(self, trail: OpticalTrail, noise_m: float) -> tuple[OpticalTrail, TrajectoryBreak] | None:
        """Two breaks instead of one that left ``noise_m``; None if they are no better."""
        fit = _two_breaks(trail.positions, self._smoothing_s, self._pair_reach)
        if fit is None or not fit.noise_m <= PAIR_SHARE * noise_m:
            return None
        if not _PAIR_FRAMES * self._period_us <= trail.positions[-1][0] - fit.at_us[0] <= self.fit_horizon_us:
            return None
        noise_m = max(self._slope_factor * fit.noise_m, self._noise_m)
        errors_m_s = noise_m * fit.errors_per_m[0], noise_m * fit.errors_per_m[1]
        d1, d2 = fit.changes_m_s
        sizes_m_s = math.hypot(*d1), math.hypot(*d2)
        for size_m_s, error_m_s in zip(sizes_m_s, errors_m_s, strict=True):
            if size_m_s < max(SIGMAS_IN_SPACE * error_m_s, PAIR_CHANGE_MIN_M_S):
                return None
        if math.dist(d1, [-component for component in d2]) < PAIR_NET_SHARE * max(sizes_m_s):
            return None
        before = fit.before_m_s
        between = before[0] + d1[0], before[1] + d1[1], before[2] + d1[2]
        first = _break(trail.source, fit.at_us[0], fit.positions_m[0], before, d1, errors_m_s[0])
        second = _break(trail.source, fit.at_us[1], fit.positions_m[1], between, d2, errors_m_s[1])
        return self._after_breaks(trail, first, second), first

    def _after_breaks(
        self, trail: OpticalTrail, first: TrajectoryBreak, second: TrajectoryBreak | None = None
    ) -> OpticalTrail:
        """The trail after a break: later positions, after its own unless it is of a pair, which is less exact."""
        last = second or first
        both = (first,) if second is None else (first, second)
        bends = both if self._smoothing_s else ()
        later = tuple(
            self._straightened(position, bends)
            for position in trail.positions
            if position[0] > last.ts_us + _CONTACT_US
        )
        own = ((last.ts_us, last.x_m, last.y_m, last.z_m),) if second is None else ()
        return OpticalTrail((*own, *later), trail.source, second, bends)

    def _straightened(self, position: Position, bends: tuple[TrajectoryBreak, ...]) -> Position:
        """A position as it were if these breaks had not been smoothed."""
        ts_us, x_m, y_m, z_m = position
        for bend in bends:
            after_s = (ts_us - bend.ts_us) * 1e-6
            bent_s = bend_s(after_s, self._smoothing_s) - max(after_s, 0.0)
            x_m -= (bend.after[0] - bend.before[0]) * bent_s
            y_m -= (bend.after[1] - bend.before[1]) * bent_s
            z_m -= (bend.after[2] - bend.before[2]) * bent_s
        return ts_us, x_m, y_m, z_m

    def reported(self, state: Any, break_: TrajectoryBreak) -> Any:
        """The trail after the report of a break, which it holds already."""
        return state


def states_for(jitter_m: float) -> int:
    """So many positions behind a break have a velocity as good as ``STATES_AFTER`` of the noise ``JITTER_M``.

    The error of a slope goes with the noise, and with the number of positions to the power of -3/2.
    """
    return min(max(int(STATES_AFTER * (jitter_m / JITTER_M) ** (2 / 3)), STATES_AFTER), STATES_AFTER_MOST)


@lru_cache(maxsize=256)
def _one_break(positions: tuple[Position, ...], smoothing_s: float) -> OneBreak | None:
    """The fit of one break; cached, as several detectors ask for the same positions."""
    return fit_one_break(positions, 1, _STEPS, 1.0, smoothing_s)


def _turns_or_stops(before: Vector, change: Vector, least_m_s: float) -> bool:
    """True if a ball changes its way over the ground, or loses half of its speed.

    Positions that people key are wrong in time, too: then a ball in flight gets faster or slower on its way.
    """
    (vx, vy, _), (dvx, dvy, _) = before, change
    speed_m_s = math.hypot(vx, vy)
    if speed_m_s < least_m_s:
        return math.hypot(dvx, dvy) >= least_m_s
    along_m_s, across_m_s = (dvx * vx + dvy * vy) / speed_m_s, abs(dvx * vy - dvy * vx) / speed_m_s
    return across_m_s >= max(least_m_s, TURNED_SHARE * speed_m_s) or -along_m_s >= max(least_m_s, 0.5 * speed_m_s)


@lru_cache(maxsize=256)
def _break_over_ground(positions: tuple[Position, ...], smoothing_s: float) -> OneBreak | None:
    """The fit of one break to the path over the ground: heights may be wrong by themselves."""
    return fit_one_break(positions, 1, _STEPS, 0.0, smoothing_s)


@lru_cache(maxsize=256)
def _two_breaks(positions: tuple[Position, ...], smoothing_s: float, reach: int) -> TwoBreaks | None:
    """The fit of two breaks; cached as well."""
    end = len(positions) - 2
    return fit_two_breaks(positions, Search(1, end - 1, end, 0, reach, _STEPS, PAIR_GAP_MIN_US, smoothing_s))


def _break(
    source: str, at_us: float, position: Vector, before: Vector, change: Vector, error_m_s: float
) -> TrajectoryBreak:
    x_m, y_m, z_m = position
    after = before[0] + change[0], before[1] + change[1], before[2] + change[2]
    return TrajectoryBreak(round(at_us), source, round(x_m, 3), round(y_m, 3), round(z_m, 3), before, after, error_m_s)


def _last_way(trail: OpticalTrail, break_: TrajectoryBreak | None) -> Way | None:
    """The way on which the ball was lost: since the last break, if that was just before."""
    since_us = -1 if break_ is None else break_.ts_us
    return way_until([position for position in trail.positions if position[0] > since_us])


def _jumps_on(positions: tuple[Position, ...]) -> bool:
    """True if the ball has stayed at one position to the last digit, and then covered more than a struck ball can."""
    if len(positions) <= JUMP_STATES:
        return False
    held, left, moved, newest = (
        positions[-1 - JUMP_STATES],
        positions[-JUMP_STATES],
        positions[1 - JUMP_STATES],
        positions[-1],
    )
    if held[1:] != left[1:] or left[1:] == moved[1:]:
        return False
    speed_m_us = math.hypot(newest[1] - moved[1], newest[2] - moved[2]) / (newest[0] - moved[0])
    jumped_m = math.hypot(moved[1] - left[1], moved[2] - left[2])
    return jumped_m > JUMP_FACTOR * speed_m_us * (moved[0] - left[0]) + JUMP_MIN_M


def _may_bend(positions: tuple[Position, ...], after: int) -> bool:
    """True if three frames before and those ``after`` are no straight line or fall: a cheap first test."""
    first = max(0, len(positions) - 4 - after)
    (t0, x0, y0, z0), (t1, x1, y1, z1) = positions[first], positions[-1 - after]
    (t2, x2, y2, z2), (t3, x3, y3, z3) = positions[-after], positions[-1]
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
