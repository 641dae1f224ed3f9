"""Rates, windows and noise that follow from an input's declared quality: the one place where detectors adapt.

Theory of operation
-------------------
An input declares its rates and the noise of one position (``inputs.Quality``). From that follow, by stated
rules and not by copies of detectors, the rate of conditioned states, the length of the velocity fit, the noise
that is left in a velocity, and the smallest change of the ball's velocity that can be told from noise.

Readers of files measure the noise (:func:`football.recording.measured_jitter_m`), since providers smooth more or less,
or not at all.

*Contact in units of delta-v.* A kick lasts about 10 ms. No input here measures acceleration, and each smears a
contact over its own window, so the height of an acceleration peak says more about the filter than about the
kick. What every input keeps is the area under the peak: the change of velocity. The peak heights of the
hierarchy (20, 55 and 150 m/s2; 55 is that of the DEBS 2013 challenge) are therefore read at one fixed window
of 40 ms, a period of common optical tracking: 0.8, 2.2 and 6.0 m/s. The middle one agrees with StreamTeam's
2 m/s for a hit.
"""

from __future__ import annotations

import math

import msgspec

from football.match_sheet import NOISE_MAX_M, Quality

#: Optical providers smooth what they publish, so the noise of successive frames moves together: of a declared
#: 0.05 m only a fifth is left between neighbours (second differences of players at rest in two TRACAB
#: matches: 0.004 to 0.01 m).
OPTICAL_JITTER_SHARE = 0.2

#: An input is noisier than it declares if its neighbouring positions are so many times as noisy. Less is in the noise
#: that published figures of tracking systems have.
JITTER_FACTOR = 2.0

#: At most so many conditioned states a second; what is faster is averaged in blocks. Ball: 200 Hz is one state
#: for each packet of ten positions of a 2,000 Hz ball. Limbs: a foot's path is straight within 5 cm over 20 ms.
BALL_STATES_HZ_MAX = 200.0
BODY_STATES_HZ_MAX = 50.0

#: States in a fit, at least; and of cameras so slow that the errors of two neighbours have little in common.
FIT_MIN, FIT_MIN_SLOW = 2, 3
SLOW_PERIOD_S = 0.06

#: States in a fit, at most; and of the ball of cameras. With six, which noisy ones (0.05 m) ask for, three restarts of
#: 259 were invented (simulated seeds 698, 700 and 705), as a ball that is put down or handed on looked kicked.
FIT_MAX, OPTICAL_FIT_MAX = 9, 3

#: Window at which acceleration peaks are read as changes of velocity.
CONTACT_WINDOW_S = 0.040

#: A change of velocity must stand so many standard deviations over noise. More would drown the 2.2 m/s of a hit
#: on optical input; what still gets through must also happen beside a player to count.
NOISE_SIGMAS = 4.0


class Sampling(msgspec.Struct, frozen=True):
    """How one class of transmitters is conditioned.

    Attributes:
        block: samples averaged into one state.
        period_us: time between states.
        fit: states in the straight-line fit that gives velocity.
        jitter_m: standard deviation of one raw position against its neighbours.
        velocity_noise_m_s: standard deviation of a fitted velocity component.
    """

    block: int
    period_us: int
    fit: int
    jitter_m: float
    velocity_noise_m_s: float

    @property
    def window_us(self) -> int:
        """Time between the first and the last state of a fit."""
        return (self.fit - 1) * self.period_us


def jitter_m(quality: Quality) -> float:
    """Noise between neighbouring positions: all of the declared one, or what optical smoothing leaves."""
    return quality.position_noise_m * (OPTICAL_JITTER_SHARE if quality.kind == "optical" else 1.0)


def with_jitter(quality: Quality, measured_m: float) -> Quality:
    """The quality of an optical input whose neighbouring positions are much noisier than it declares, as measured."""
    if measured_m < JITTER_FACTOR * jitter_m(quality):
        return quality
    declared_m = min(measured_m / OPTICAL_JITTER_SHARE, NOISE_MAX_M)
    return msgspec.structs.replace(quality, position_noise_m=round(declared_m, 3))


def ball_sampling(quality: Quality) -> Sampling:
    """Sampling of balls: velocity to 0.36 m/s, so that the noise of a change stays below that of a hit.

    Of cameras so many states would last longer than a touch: their velocity may be worse.
    """
    fit_max = OPTICAL_FIT_MAX if quality.kind == "optical" else FIT_MAX
    return _sampling(quality.ball_hz, BALL_STATES_HZ_MAX, jitter_m(quality), 0.36, fit_max)


def body_sampling(quality: Quality) -> Sampling:
    """Sampling of players or limbs: velocity to 0.3 m/s, the narrowest class of running is 1 m/s wide."""
    return _sampling(quality.body_hz, BODY_STATES_HZ_MAX, jitter_m(quality), 0.3)


def delta_v_noise_m_s(quality: Quality) -> float:
    """Smallest change of the ball's velocity that stands out of the noise of two fits."""
    return NOISE_SIGMAS * math.sqrt(2.0) * ball_sampling(quality).velocity_noise_m_s


def _sampling(
    rate_hz: float, states_hz_max: float, noise_m: float, goal_m_s: float, fit_max: int = FIT_MAX
) -> Sampling:
    """Shortest fit whose velocity is good enough; at most ``fit_max`` states and 0.2 s, beyond which runs are bent."""
    assert rate_hz > 0, "an input declares a positive rate"
    block = max(1, round(rate_hz / states_hz_max))
    period_s = block / rate_hz
    state_noise_m = noise_m / math.sqrt(block)
    fit = FIT_MIN if period_s < SLOW_PERIOD_S else FIT_MIN_SLOW
    while _slope_noise(fit, period_s, state_noise_m) > goal_m_s and fit < fit_max and fit * period_s <= 0.2:
        fit += 1
    return Sampling(block, round(period_s * 1e6), fit, noise_m, _slope_noise(fit, period_s, state_noise_m))


def _slope_noise(count: int, period_s: float, noise_m: float) -> float:
    """Standard deviation of the slope of a least-squares line through ``count`` equidistant points."""
    return noise_m * math.sqrt(12.0 / (count * (count * count - 1))) / period_s
