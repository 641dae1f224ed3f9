"""Comparison of what paired events say: variant, place, and the values of their payloads.

A detection that stands at the right time with the wrong content is half right. The names of details differ between
detectors and truth in places; ``SAME`` pairs them. Only pairs whose values mean the same are listed: a truth of the
simulator says what a player intended, and how the noiseless ball then moved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

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
    """Return the distance over ground between the places of pairs that have one on both sides."""
    apart = [
        np.hypot(true.x_m - found.x_m, true.y_m - found.y_m)
        for true, found in pairs
        if true.x_m is not None and true.y_m is not None and found.x_m is not None and found.y_m is not None
    ]
    return _of_numbers(apart)


def value_scores(kind: str, pairs: Sequence[tuple[Mark, Mark]]) -> dict[str, ValueScore]:
    """Return the agreement of each detail of a kind, by its name in the detection."""
    known = [names for prefix, names in SAME.items() if kind.startswith(prefix)]
    scores: dict[str, ValueScore] = {}
    for found_name, true_name in (name for names in known for name in names):
        values: defaultdict[bool, list[tuple[Scalar, Scalar]]] = defaultdict(list)
        for true, found in pairs:
            one, other = true.detail.get(true_name), found.detail.get(found_name)
            if one not in (None, "") and other not in (None, ""):
                values[isinstance(one, str)].append((one, other))
        texts, numbers = values[True], values[False]
        if texts:
            scores[found_name] = ValueScore(len(texts), sum(one == other for one, other in texts) / len(texts))
        elif score := _of_numbers([abs(float(one) - float(other)) for one, other in numbers]):  # type: ignore[arg-type]
            scores[found_name] = score
    return scores


def _of_numbers(sizes: Iterable[float]) -> ValueScore | None:
    size = np.array([value for value in sizes if np.isfinite(value)], np.float64)
    if not len(size):
        return None
    return ValueScore(len(size), None, round(float(np.median(size)), 3), round(float(np.percentile(size, 95)), 3))
