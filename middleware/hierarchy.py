"""The hierarchy: which detector feeds which, the canonical rank of kinds, and how far back each may date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from middleware.detector import Detector

#: Longest lag: stores hold it in 64 bits, and a sheet may state any rates, from which horizons follow.
_LAG_MAX_US = 2**53


class HierarchyError(ValueError):
    """The detectors given do not form a hierarchy; the message names the detector and the kind."""


class Hierarchy:
    """Detectors sorted by level, with the tables that the engine and the oracle share.

    Args:
        raw_kinds: kinds that come from outside, in canonical rank order.
        detectors: any order; they are sorted by :func:`walk_order`.

    Attributes:
        producer: kind -> index of the detector that emits it; raw kinds have none.
        rank: kind -> its place in the canonical order of events at one instant.
        subscribers: kind -> indices of the detectors that subscribe to it.
        internal: kinds that stay inside the engine.
        amendable: kinds of which published events may be amended or annulled.
        above: for each detector the indices of its subscribers.
        reach: for each detector, raw kind -> how far before its newest raw input an input may be dated.
        max_reach_us: the greatest of these: an input below final less this cannot change.
        lag_us: kind -> how far its watermark trails final.
        max_lag_us: the greatest of all published kinds.

    Raises:
        HierarchyError: no detector emits an input, two emit one kind, or a detector is not above its inputs.
    """

    def __init__(self, raw_kinds: Sequence[str], detectors: Iterable[Detector[object]]) -> None:
        self.raw_kinds = tuple(raw_kinds)
        self.detectors = tuple(walk_order(detectors))
        self.producer: dict[str, int] = {}
        self.rank: dict[str, int] = {kind: i for i, kind in enumerate(self.raw_kinds)}
        self._number_kinds()
        self.subscribers: dict[str, tuple[int, ...]] = dict.fromkeys(self.rank, ())
        self._wire()
        self.internal = frozenset(self.raw_kinds).union(*(d.spec.internal for d in self.detectors))
        self.amendable = frozenset(kind for d in self.detectors for kind in (*d.spec.annuls, *d.spec.amends))
        self.above = tuple(
            tuple(sorted({i for kind in detector.spec.outputs for i in self.subscribers[kind]}))
            for detector in self.detectors
        )
        self.reach = self._reach()
        self.max_reach_us = [max(reach.values(), default=0) for reach in self.reach]
        self.lag_us = {kind: self._lag(kind) for kind in self.producer}
        self.max_lag_us = max((lag for kind, lag in self.lag_us.items() if kind not in self.internal), default=0)

    def _number_kinds(self) -> None:
        for index, detector in enumerate(self.detectors):
            for kind in detector.spec.outputs:
                if kind in self.rank:
                    raise HierarchyError(f"{detector.spec.name}: kind {kind} is already emitted by another detector")
                self.rank[kind] = len(self.rank)
                self.producer[kind] = index

    def _wire(self) -> None:
        for index, detector in enumerate(self.detectors):
            for kind in detector.spec.inputs:
                if kind not in self.rank:
                    near = get_close_matches(kind, [k for k in self.rank if not k.startswith("raw.")], 3, 0.6)
                    hint = f"; near it: {', '.join(near)}" if near else ""
                    emits = ", ".join(detector.spec.outputs)
                    raise HierarchyError(f"{detector.spec.name} ({emits}): no detector emits its input {kind}{hint}")
                feeder = self.producer.get(kind)
                if feeder is not None and not _may_read(detector, self.detectors[feeder], kind):
                    raise HierarchyError(
                        f"{detector.spec.name} (level {detector.spec.level}) must stand above "
                        f"{self.detectors[feeder].spec.name}, which emits {kind}"
                    )
                self.subscribers[kind] += (index,)

    def _reach(self) -> tuple[dict[str, int], ...]:
        """Return for each detector: raw kind -> greatest sum of horizons on a path from that kind to it.

        A unit's inputs are complete up to the progress of each raw kind less this.
        """
        reach: list[dict[str, int]] = []
        for detector in self.detectors:
            own: dict[str, int] = {}
            for kind in detector.spec.inputs:
                feeder = self.producer.get(kind)
                if feeder is None:
                    own[kind] = max(own.get(kind, 0), 0)
                    continue
                horizon = self.detectors[feeder].spec.horizon_us
                for raw, lag in reach[feeder].items():
                    own[raw] = max(own.get(raw, 0), lag + horizon)
            reach.append(own)
        return tuple(reach)

    def _lag(self, kind: str) -> int:
        """Return how far the watermark of ``kind`` trails final, the watermark of the raw inputs."""
        index = self.producer[kind]
        return min(_LAG_MAX_US, self.max_reach_us[index] + self.detectors[index].spec.horizon_us)


def walk_order(detectors: Iterable[Detector[object]]) -> list[Detector[object]]:
    """Return detectors in the order of the walk: by level, in a level by number, but after those that feed them.

    Raises:
        HierarchyError: some detectors of a level feed each other.
    """
    ordered: list[Detector[object]] = []
    waiting = sorted(detectors, key=_position)
    while waiting:
        peers = [one for one in waiting if one.spec.level == waiting[0].spec.level]
        shared = {kind for one in peers for kind in one.spec.internal}
        free = next((one for one in peers if shared.isdisjoint(one.spec.inputs)), None)
        if free is None:
            raise HierarchyError(f"{', '.join(one.spec.name for one in peers)} feed each other")
        ordered.append(free)
        waiting.remove(free)
    return ordered


def _may_read(upper: Detector[object], lower: Detector[object], kind: str) -> bool:
    """True if levels rise. Of its own level a detector reads what others share inside the engine."""
    if upper.spec.level == lower.spec.level:
        return kind in lower.spec.internal
    return upper.spec.level > lower.spec.level


def _position(detector: Detector[object]) -> tuple[int, tuple[int, ...], str]:
    spec = detector.spec
    return spec.level, tuple(int(part) for part in spec.number.split(".")), spec.name
