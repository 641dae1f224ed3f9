"""The instant of a kick between samples, and where the ball was then.

Theory of operation
-------------------
A kick bends the path of the ball: before and after it the path is nearly straight over a tenth of a second. For each
candidate instant two straight lines that meet at it are fitted to the samples. The squares that are left over weigh the
candidates (a profile likelihood), together with the time that the detector found. What comes out is no instant but a
distribution: narrow for a hard kick at a high rate, wide for a soft touch at 25 Hz. The lines meet in the middle of the
contact of foot and ball. Law 11 asks for its beginning, which is half a contact earlier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from replay.review.motion import Floats, Samples

#: Candidates: this far from the detector's time in standard deviations of it, and so far apart.
REACH, STEP_S = 2.5, 0.001
#: Samples before the first and after the last candidate: so many seconds, and at least so many sampling periods.
AROUND_S, AROUND_PERIODS = 0.05, 2.5
#: Standard deviation of a detector's time in seconds, and at least this share of the ball's sampling period. Found on
#: simulated matches (seeds 11 and 12, ``python -m bench.close_calls``).
DETECTED_S, DETECTED_PERIODS = 0.01, 0.25
#: From the first touch of foot and ball to the middle of their contact, and its standard deviation. Contacts last 8 to
#: 10 ms (Shinkai et al., Medicine & Science in Sports & Exercise 41, 2009).
HALF_CONTACT_S, CONTACT_SPREAD_S = 0.0043, 0.001
#: The path is only nearly straight: the squares that are left over count less by this factor.
MODEL_FACTOR = 2.0
_SAMPLES_MIN = 6


class Bend(NamedTuple):
    """Two lines that meet, by candidate instants.

    Attributes:
        places_m, before_m_s: (n, 3) where they meet, and the velocity before.
        white_m: standard deviation of a coordinate of a sample about them.
        share: variance of the place where they meet, in that of a sample.
        samples, quality: number of samples, and their mean quality.
        squares, parabola: that the best lines leave over, and one parabola over the same samples.
    """

    places_m: Floats
    before_m_s: Floats
    white_m: float
    share: float
    samples: int
    quality: float
    squares: float
    parabola: float


class Instant(NamedTuple):
    """An uncertain instant: candidates as event times, their weights, which add up to one, and the ball at each."""

    times_us: Floats
    weights: Floats
    bend: Bend | None = None

    @property
    def mean_us(self) -> float:
        """Expected event time."""
        return float(self.times_us @ self.weights)

    @property
    def deviation_us(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.weights @ (self.times_us - self.mean_us) ** 2))


def exactly(at_us: float) -> Instant:
    """Return an instant that is certain."""
    return Instant(np.array([float(at_us)]), np.ones(1))


def kick_instant(ball: Samples | None, found_us: float, rate_hz: float) -> Instant:
    """Return the instant of the first touch of a kick.

    Args:
        ball: samples around it; None if the ball was not measured.
        found_us: event time that the detector found.
        rate_hz: of the ball.
    """
    deviation_s = max(DETECTED_S, DETECTED_PERIODS / rate_hz)
    middle = bend_near(ball, found_us + 1e6 * HALF_CONTACT_S, deviation_s, rate_hz)
    if middle.bend is None:
        return Instant(middle.times_us - 1e6 * HALF_CONTACT_S, middle.weights)
    touch = middle.bend._replace(places_m=middle.bend.places_m - HALF_CONTACT_S * middle.bend.before_m_s)
    blur = np.exp(-0.5 * (np.arange(-3, 4) * STEP_S / CONTACT_SPREAD_S) ** 2)
    weights = np.convolve(middle.weights, blur / blur.sum(), mode="same")
    return Instant(middle.times_us - 1e6 * HALF_CONTACT_S, weights / weights.sum(), touch)


def bend_near(ball: Samples | None, about_us: float, deviation_s: float, rate_hz: float) -> Instant:
    """Return when the path of a ball bends, near an event time that has a standard deviation."""
    offsets_s = np.arange(-REACH * deviation_s, REACH * deviation_s + STEP_S / 2, STEP_S)
    times_us, score = about_us + 1e6 * offsets_s, -0.5 * (offsets_s / deviation_s) ** 2
    bend = None if ball is None else _bend(ball, about_us, offsets_s, deviation_s, rate_hz)
    if bend is not None:
        squares, bend = bend
        variance = max(squares.min() / (2 * (bend.samples - 4)), 1e-6)
        score = score - (squares - squares.min()) / (2.0 * MODEL_FACTOR * variance)
    weights = np.exp(score - score.max())
    return Instant(times_us, weights / weights.sum(), bend)


def _bend(
    ball: Samples, about_us: float, offsets_s: Floats, deviation_s: float, rate_hz: float
) -> tuple[Floats, Bend] | None:
    """Squares that are left over by candidate, and the lines; None if there are too few samples on either side."""
    t_s = (ball.ts_us - about_us) / 1e6
    near = np.abs(t_s) <= REACH * deviation_s + max(AROUND_S, AROUND_PERIODS / rate_hz)
    t_s, places = t_s[near], ball.xyz_m[near]
    if len(t_s) < _SAMPLES_MIN or (t_s < offsets_s[0]).sum() < 2 or (t_s > offsets_s[-1]).sum() < 2:
        return None
    squares, meets, before, shares = [], [], [], []
    for at_s in offsets_s:
        design = np.column_stack([np.ones(len(t_s)), np.minimum(t_s - at_s, 0.0), np.maximum(t_s - at_s, 0.0)])
        covariance = np.linalg.pinv(design.T @ design)
        fitted = covariance @ design.T @ places
        squares.append(float(((places - design @ fitted)[:, :2] ** 2).sum()))
        meets.append(fitted[0])
        before.append(fitted[1])
        shares.append(covariance[0, 0])
    best = int(np.argmin(squares))
    curve = np.vander(t_s, 3)
    parabola = float(((places - curve @ np.linalg.lstsq(curve, places, rcond=None)[0])[:, :2] ** 2).sum())
    white_m = float(np.sqrt(squares[best] / (2 * (len(t_s) - 3))))
    quality = float(ball.quality[near].mean())
    bend = Bend(
        np.array(meets), np.array(before), white_m, float(shares[best]), len(t_s), quality, squares[best], parabola
    )
    return np.array(squares), bend
