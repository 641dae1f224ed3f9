"""Chance of a tracking profile: values of strengths, spans in which an error lasts, and noise with a memory.

Each error draws from a random stream of its own, named by its path in the profile. Adding an error to a profile
therefore changes no other one.
"""

from __future__ import annotations

import zlib
from typing import Protocol

import numpy as np

from football.packet_table import Floats
from simulator.tracking.profile import Strength


class Chance:
    """Random streams of one match.

    Args:
        seed: of the match.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def stream(self, name: str) -> np.random.Generator:
        """Return the random stream of an error."""
        return np.random.default_rng([self._seed, zlib.crc32(name.encode())])

    def value(self, strength: Strength, name: str) -> float:
        """Return a match's value of a strength."""
        low, high = strength.range
        return float(self.stream(f"value of {name}").uniform(low, high))


class Lasting(Protocol):
    """An error that begins so often and lasts so long."""

    @property
    def per_min(self) -> Strength:
        """How often it begins."""

    @property
    def seconds(self) -> Strength:
        """How long it lasts."""


def each(strength: Strength, rng: np.random.Generator) -> float:
    """Return the value of one occurrence: of positive ranges smaller ones come more often (uniform logarithm)."""
    low, high = strength.range
    if low <= 0.0:
        return float(rng.uniform(low, high))
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def spans(error: Lasting | None, where: np.ndarray, rate_hz: int, chance: Chance, name: str) -> list[slice]:
    """Return the frames of each occurrence of an error, in order of time; they may overlap.

    Args:
        error: None: it never occurs.
        where: (n,) frames in which it may begin.
        rate_hz: frames a second.
        chance, name: of the error.
    """
    starts = np.flatnonzero(where)
    if error is None or not len(starts):
        return []
    rng = chance.stream(name)
    per_min = chance.value(error.per_min, f"{name}.per_min")
    count = int(rng.poisson(per_min * len(starts) / rate_hz / 60.0))
    found = []
    for start in np.sort(rng.choice(starts, count)).tolist():
        length = max(1, round(each(error.seconds, rng) * rate_hz))
        found.append(slice(start, min(start + length, len(where))))
    return found


def covered(found: list[slice], count: int) -> np.ndarray:
    """Return (count,) flags of the frames that lie in any of some spans."""
    flags = np.zeros(count, bool)
    for span in found:
        flags[span] = True
    return flags


def wander(shape: tuple[int, ...], spread: float, time_s: float, rate_hz: int, rng: np.random.Generator) -> Floats:
    """Return an error along the first axis that changes smoothly, as filtered positions do.

    Its standard deviation is ``spread``, that of its speed ``spread / time_s``: noise behind two low-pass filters.
    """
    from scipy.signal import lfilter  # takes most of a second to import

    keep = float(np.exp(-1.0 / max(time_s * rate_hz, 1e-6)))
    settling = round(8.0 * time_s * rate_hz)
    drawn = rng.standard_normal((shape[0] + settling, *shape[1:]))
    smooth = lfilter([1.0], [1.0, -2.0 * keep, keep * keep], drawn, axis=0)[settling:]
    gain = np.sqrt((1.0 + keep * keep) / (1.0 - keep * keep) ** 3)
    return np.asarray(spread / gain * smooth, float)
