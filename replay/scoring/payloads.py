"""Comparison of what paired events say: variant, place, and the values of their payloads.

A detection that stands at the right time with the wrong content is half right. The names of details differ between
detectors and truth in places; ``SAME`` pairs them. Only pairs whose values mean the same are listed: a truth of the
simulator says what a player intended, and how the noiseless ball then moved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from football.payloads import Scalar
from replay.scoring.truth import Mark

#: Kind, or its beginning -> details: name in the detection, name in the truth.
SAME: Mapping[str, tuple[tuple[str, str], ...]] = {
    "pass.attempt": (("receiver", "receiver"),),
    "pass.complete": (("receiver", "receiver"), ("length_m", "length_m")),
    "pass.intercepted": (("receiver", "receiver"), ("length_m", "length_m")),
    "pass.len": (("length_m", "length_m"),),
    "packing": (("opponents", "opponents"),),
    "progress.": (("gain_m", "gain_m"),),
    "hit": (("speed_before_m_s", "speed_before_m_s"), ("speed_after_m_s", "speed_after_m_s")),
    "shot.attempt": (("speed_m_s", "speed_m_s"),),
    "goal.": (("home", "home"), ("away", "away")),
    "interception": (("passer", "passer"),),
    "duel.": (("other", "against"),),
    "tackle.": (("other", "on"),),
    "takeon.won": (("other", "past"),),
    "takeon.lost": (("other", "to"),),
    "carry.end": (("distance_m", "length_m"), ("seconds_s", "seconds")),
    "shape.": (("extent_m", "metres"),),
    "line.": (("height_m", "metres"),),
    "time.": (("seconds", "seconds"),),
    "sub.": (("on", "on"), ("off", "off")),
}

#: A pair whose places are farther apart is about another place.
PLACE_M = 3.0
#: Greatest difference of a number that still means the same, by its name in the detection: metres, m/s, seconds. The
#: others are counts, and are equal or wrong.
TOLERANCES: Mapping[str, float] = {
    "length_m": 2.0,
    "gain_m": 2.0,
    "distance_m": 2.0,
    "extent_m": 2.0,
    "height_m": 2.0,
    "speed_before_m_s": 3.0,
    "speed_after_m_s": 3.0,
    "speed_m_s": 3.0,
    "seconds_s": 1.0,
    "seconds": 1.0,
}


class ValueScore(msgspec.Struct, frozen=True):
    """Agreement of one value over the pairs that have it on both sides.

    ``right``: share of equal ones, of texts. ``median`` and ``p95``: of the size of the difference, of numbers.
    """

    pairs: int
    right: float | None = None
    median: float | None = None
    p95: float | None = None


def variant_right(pairs: Sequence[tuple[Mark, Mark]]) -> float | None:
    """Return the share of pairs with the same variant, of those that have one on both sides; None if none has."""
    both = [(true.variant, found.variant) for true, found in pairs if true.variant and found.variant]
    return sum(true == found for true, found in both) / len(both) if both else None


def place_error_m(pairs: Sequence[tuple[Mark, Mark]]) -> ValueScore | None:
    """Return the distance over ground between the places of pairs, along the axes that both state; a line has one."""
    return _of_numbers([apart for true, found in pairs if (apart := _apart_m(true, found)) is not None])


def value_scores(kind: str, pairs: Sequence[tuple[Mark, Mark]]) -> dict[str, ValueScore]:
    """Return the agreement of each detail of a kind, by its name in the detection."""
    texts: defaultdict[str, list[bool]] = defaultdict(list)
    numbers: defaultdict[str, list[float]] = defaultdict(list)
    for true, found in pairs:
        for name, one, other in _stated(kind, true, found):
            if isinstance(one, str):
                texts[name].append(one == other)
            else:
                numbers[name].append(_difference(one, other))
    scores = {name: ValueScore(len(equal), sum(equal) / len(equal)) for name, equal in texts.items()}
    return scores | {name: score for name, sizes in numbers.items() if (score := _of_numbers(sizes)) is not None}


def is_right(kind: str, true: Mark, found: Mark) -> bool:
    """True if variant, place and payload of a pair mean the same, as far as both sides state them."""
    if true.variant and found.variant and true.variant != found.variant:
        return False
    apart_m = _apart_m(true, found)
    if apart_m is not None and apart_m > PLACE_M:
        return False
    return all(
        one == other if isinstance(one, str) else not _difference(one, other) > TOLERANCES.get(name, 0.0)
        for name, one, other in _stated(kind, true, found)
    )


def _apart_m(true: Mark, found: Mark) -> float | None:
    axes = (true.x_m, found.x_m), (true.y_m, found.y_m)
    apart = [one - other for one, other in axes if one is not None and other is not None]
    return math.hypot(*apart) if apart else None


def _stated(kind: str, true: Mark, found: Mark) -> Iterator[tuple[str, Scalar, Scalar]]:
    """Yield the details of a pair that both state: name in the detection, true and found value."""
    for found_name, true_name in (names for prefix, some in SAME.items() if kind.startswith(prefix) for names in some):
        one, other = true.detail.get(true_name), found.detail.get(found_name)
        if one not in (None, "") and other not in (None, ""):
            yield found_name, one, other


def _difference(one: Scalar, other: Scalar) -> float:
    return abs(float(one) - float(other))  # type: ignore[arg-type]


def _of_numbers(sizes: Iterable[float]) -> ValueScore | None:
    size = np.array([value for value in sizes if np.isfinite(value)], np.float64)
    if not len(size):
        return None
    return ValueScore(len(size), None, round(float(np.median(size)), 3), round(float(np.percentile(size, 95)), 3))
