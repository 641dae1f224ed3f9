"""The hierarchy: which detector feeds which, in what canonical rank, and how far back each may date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from middleware.detector import Detector


class HierarchyError(ValueError):
    """The detectors given do not form a hierarchy; the message names the detector and the kind."""


class Hierarchy:
    """Detectors sorted by level, with the tables that the engine and the oracle share.

    Args:
        raw_kinds: kinds that come from outside, in canonical rank order.
        detectors: any order; they are sorted by (level, number, name).

    Raises:
        HierarchyError: an input nobody gives, a kind given twice, or a detector not above its inputs.
    """

    def __init__(self, raw_kinds: Sequence[str], detectors: Iterable[Detector[object]]) -> None:
        self.raw_kinds = tuple(raw_kinds)
        self.detectors = tuple(sorted(detectors, key=_place))
        self.producer: dict[str, int] = {}
        self.rank: dict[str, int] = {kind: i for i, kind in enumerate(self.raw_kinds)}
        self._number_kinds()
        #: Detectors that listen to a kind, by their places.
        self.subscribers: dict[str, tuple[int, ...]] = dict.fromkeys(self.rank, ())
        self._wire()
        self.internal = frozenset(self.raw_kinds).union(*(d.spec.internal for d in self.detectors))
        self.amendable = frozenset(kind for d in self.detectors for kind in (*d.spec.annuls, *d.spec.amends))
        #: For each detector the places of those that listen to it.
        self.above = tuple(
            tuple(sorted({i for kind in detector.spec.outputs for i in self.subscribers[kind]}))
            for detector in self.detectors
        )
        self.reach = self._reach()
        self.reach_most_us = [max(reach.values(), default=0) for reach in self.reach]
        self.lag_us = {kind: self._lag(kind) for kind in self.producer}
        self.lag_max_us = max((lag for kind, lag in self.lag_us.items() if kind not in self.internal), default=0)

    def _number_kinds(self) -> None:
        for index, detector in enumerate(self.detectors):
            for kind in detector.spec.outputs:
                if kind in self.rank:
                    raise HierarchyError(f"{detector.spec.name}: kind {kind} is already given by another")
                self.rank[kind] = len(self.rank)
                self.producer[kind] = index

    def _wire(self) -> None:
        for index, detector in enumerate(self.detectors):
            for kind in detector.spec.inputs:
                if kind not in self.rank:
                    raise HierarchyError(f"{detector.spec.name}: nobody gives its input {kind}")
                feeder = self.producer.get(kind)
                if feeder is not None and not _stands_above(detector, self.detectors[feeder]):
                    raise HierarchyError(
                        f"{detector.spec.name} (level {detector.spec.level}) must stand above "
                        f"{self.detectors[feeder].spec.name}, which gives {kind}"
                    )
                self.subscribers[kind] += (index,)

    def _reach(self) -> tuple[dict[str, int], ...]:
        """For each detector: raw kind -> greatest sum of horizons below it on a path from that kind.

        The progress of a unit's input is the progress of the raw kinds less these.
        """
        reach: list[dict[str, int]] = []
        for detector in self.detectors:
            mine: dict[str, int] = {}
            for kind in detector.spec.inputs:
                feeder = self.producer.get(kind)
                if feeder is None:
                    mine[kind] = max(mine.get(kind, 0), 0)
                    continue
                horizon = self.detectors[feeder].spec.horizon_us
                for raw, lag in reach[feeder].items():
                    mine[raw] = max(mine.get(raw, 0), lag + horizon)
            reach.append(mine)
        return tuple(reach)

    def _lag(self, kind: str) -> int:
        """How far the frontier of ``kind`` stays behind what is final of the raw input."""
        index = self.producer[kind]
        return self.reach_most_us[index] + self.detectors[index].spec.horizon_us


def _stands_above(upper: Detector[object], lower: Detector[object]) -> bool:
    """Levels must rise. Level 1, signal conditioning, is a chain of its own, in the order of its numbers."""
    if upper.spec.level == 1 and lower.spec.level == 1:
        return _place(upper) > _place(lower)
    return upper.spec.level > lower.spec.level


def _place(detector: Detector[object]) -> tuple[int, tuple[int, ...], str]:
    spec = detector.spec
    return spec.level, tuple(int(part) for part in spec.number.split(".")), spec.name
