"""Positions at an instant between samples, each with its standard deviation.

Theory of operation
-------------------
The samples of a transmitter around an instant are fitted by a parabola in time, so that noise from sample to sample
averages out and the instant may lie between two of them. The error of a position has two parts:

* *white*: independent from sample to sample. The residuals of the fit measure it. It makes the coefficients uncertain.
* *slow*: the same for all samples of the window, so that no fit shows it. The match sheet declares the noise of a
  position; what the white part leaves of it is slow. It grows where the source reports less quality of location.

Both are drawn many times. A question about a line is then a question about each draw, so that "second-last", "nearest
foot" and an uncertain instant need no formula of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from football.packets import Block, raw_kind

Floats = npt.NDArray[np.float64]

#: Samples around an instant that a fit takes, in seconds on each side: a foot swings, a body does not.
REACH_S = {"raw.ball": 0.03, "raw.limb": 0.06, "raw.player": 0.2}
#: A fit needs so many samples, and looks for them this far at most.
SAMPLES_MIN, REACH_MAX_S = 5, 0.45
#: The noise of a position grows by this factor for each unit by which quality of location is below the best one. Found
#: on simulated matches (seeds 11 and 12, ``python -m bench.close_calls``).
NOISE_BY_QUALITY = 4.0
#: Weight of the declared noise, in samples, where the residuals of few samples measure the white part.
PRIOR_SAMPLES = 4.0
#: Share of the declared noise that stays slow, however large the white part is.
SLOW_SHARE = 0.6


class Samples(NamedTuple):
    """Samples of one transmitter in order of time.

    Attributes:
        transmitter: its name.
        ts_us: (n,) event times.
        xyz_m: (n, 3) positions.
        quality: (n,) quality of location, 0 to 1.
    """

    transmitter: str
    ts_us: Floats
    xyz_m: Floats
    quality: Floats

    @property
    def object_id(self) -> str:
        """Id of the player or ball that carries the transmitter."""
        return self.transmitter.partition("/")[0]

    @property
    def part(self) -> str:
        """Part of the body, empty if one point stands for it."""
        return self.transmitter.partition("/")[2]


def samples_of(blocks: Sequence[Block], begin_us: int, end_us: int) -> dict[str, Samples]:
    """Return the samples of a stretch of event time, by transmitter; of two at one instant the first."""
    rows: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for block in blocks:
        for packet in block.packets:
            for at_us, *place in zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True):
                if begin_us <= at_us < end_us and np.isfinite(place).all():
                    rows[packet.transmitter].append((at_us, *place, packet.quality))
    found = {}
    for name, values in rows.items():
        table = np.array(values, float)
        table = table[np.unique(table[:, 0], return_index=True)[1]]
        found[name] = Samples(name, table[:, 0], table[:, 1:4], table[:, 4])
    return found


class Noise(NamedTuple):
    """Noise of an input: declared standard deviation in metres, and the best quality of location that it reports."""

    declared_m: float
    best_quality: float

    def at(self, quality: float) -> float:
        """Standard deviation of a position of some quality, in metres."""
        return self.declared_m * (1.0 + NOISE_BY_QUALITY * max(0.0, self.best_quality - quality))


def noise_of(samples: Mapping[str, Samples], declared_m: float) -> Noise:
    """Return the noise of an input by its samples around an instant."""
    seen = np.concatenate([one.quality for one in samples.values()]) if samples else np.ones(1)
    return Noise(declared_m, float(np.quantile(seen, 0.9)))


class Motion(NamedTuple):
    """A point around an instant: position, velocity and acceleration as coefficients of a parabola.

    Attributes:
        at_us: the instant.
        coefficients: (k, 3), of ascending powers of seconds.
        covariance: (k, k) of them, for a white part of 1 m.
        white_m, slow_m: standard deviations of one coordinate.
        samples, quality: number of samples, and their mean quality.
    """

    at_us: float
    coefficients: Floats
    covariance: Floats
    white_m: float
    slow_m: float
    samples: int
    quality: float

    @property
    def place_m(self) -> Floats:
        """Position at the instant."""
        place: Floats = self.coefficients[0]
        return place

    @property
    def deviation_m(self) -> float:
        """Standard deviation of a coordinate at the instant."""
        return float(np.sqrt(self.white_m**2 * self.covariance[0, 0] + self.slow_m**2))


def motion_at(samples: Samples, at_us: float, noise: Noise) -> Motion | None:
    """Fit the samples around an instant; None if there are none near enough on both sides, or too few."""
    reach_s = REACH_S[raw_kind(samples.transmitter)]
    seconds = (samples.ts_us - at_us) / 1e6
    while True:
        near = np.abs(seconds) <= reach_s
        if np.count_nonzero(near) >= SAMPLES_MIN or reach_s >= REACH_MAX_S:
            break
        reach_s = min(REACH_MAX_S, reach_s * 1.5)
    t_s, xyz_m = seconds[near], samples.xyz_m[near]
    if len(t_s) < SAMPLES_MIN or t_s[0] > 0.0 or t_s[-1] < 0.0:
        return None
    design = np.vander(t_s, 3, increasing=True)
    covariance: Floats = np.linalg.pinv(design.T @ design).astype(np.float64)
    coefficients = covariance @ design.T @ xyz_m
    squares = float(((xyz_m - design @ coefficients)[:, :2] ** 2).sum())
    quality = float(samples.quality[near].mean())
    total_m = noise.at(quality)
    white_m, slow_m = parts_of(total_m, squares, 2 * (len(t_s) - 3))
    return Motion(at_us, coefficients, covariance, white_m, slow_m, len(t_s), quality)


def parts_of(total_m: float, squares: float, freedom: int) -> tuple[float, float]:
    """Return the white and the slow part of a noise.

    Args:
        total_m: declared standard deviation of a coordinate.
        squares: residuals of a fit, squared and added up.
        freedom: number of residuals less that of fitted coefficients.
    """
    white2 = (squares + PRIOR_SAMPLES * (SLOW_SHARE * total_m) ** 2) / (freedom + PRIOR_SAMPLES)
    slow2 = max(total_m**2 - white2, (SLOW_SHARE * total_m) ** 2)
    return float(np.sqrt(white2)), float(np.sqrt(slow2))


class Draws:
    """Draws of positions at an uncertain instant. Equal arguments give equal draws.

    Args:
        offsets_s: (n,) draws of the instant, from that of the motions.
        seed: of the random numbers.
    """

    def __init__(self, offsets_s: Floats, seed: int) -> None:
        self._powers = np.vander(offsets_s, 3, increasing=True)
        self._random = np.random.default_rng(seed)

    def places(self, motion: Motion) -> Floats:
        """Return (n, 3) draws of a moving point."""
        root = np.linalg.cholesky(motion.covariance + 1e-12 * np.eye(3))
        errors = motion.white_m * np.einsum("ij,njk->nik", root, self._normal(3, 3))
        drawn: Floats = np.einsum("ni,nij->nj", self._powers, motion.coefficients + errors)
        return drawn + motion.slow_m * self._normal(3)

    def around(self, places: Floats, deviation_m: float) -> Floats:
        """Return (n, 3) draws about places that are drawn already."""
        return places + deviation_m * self._normal(3)

    def _normal(self, *shape: int) -> Floats:
        drawn: Floats = self._random.standard_normal((len(self._powers), *shape))
        return drawn
