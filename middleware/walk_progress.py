"""Progress as units see it: the event time up to which the inputs of a detector, or of one of its keys, are complete.

It is computed once a walk for all detectors of the same reach and target. What is final is complete, too. For a
detector with a target, what was waited for long enough counts as complete: the units of all levels then release by the
same bound on the delays of the raw inputs, and no wait is added to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from middleware.events import BEGINNING_US, END_US
from middleware.hierarchy import Hierarchy
from middleware.sources.delay_bound import ReleaseTarget, waited_out
from middleware.sources.own_sources import OwnSources
from middleware.sources.progress import SourceProgress


class WalkProgress:
    """Progress of the detectors of a hierarchy, in one walk after the other.

    Attributes:
        same_reach: for each detector the first one with the same reach and target.
        known_us: in this walk, at the index of that first one, its progress; None until it is computed.
        takes_raw: for each detector whether it takes raw inputs.
        own_sources: the source of each unit of a keyed detector.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._reach = [tuple(reach.items()) for reach in hierarchy.reach]
        self._max_reach_us = hierarchy.max_reach_us
        self._targets: list[ReleaseTarget | None] = []
        self.same_reach: list[int] = []
        self.set_targets([None] * len(self._reach))
        self._now_us = 0
        #: In this walk, by target, up to when each raw kind is complete.
        self._complete_us: dict[ReleaseTarget | None, dict[str, int]] = {}
        #: In this walk, by detector with a target, up to when its raw inputs were waited for long enough.
        self._waited_us: dict[int, int] = {}
        self.known_us: list[int | None] = []
        raw = [[kind for kind in d.spec.inputs if kind in hierarchy.raw_kinds] for d in hierarchy.detectors]
        self.takes_raw = list(map(bool, raw))
        self.own_sources = OwnSources(raw)

    def set_targets(self, targets: Sequence[ReleaseTarget | None]) -> None:
        """Set the target of each detector; None for one that waits for the sources alone."""
        self._targets = list(targets)
        alike = list(zip(self._reach, self._targets, strict=True))
        self.same_reach = [alike.index(one) for one in alike]

    def begin(self, now_us: int) -> list[int | None]:
        """Begin a walk at an arrival time; return ``known_us``."""
        self._now_us, self._complete_us, self._waited_us = now_us, {}, {}
        self.known_us = [None] * len(self._reach)
        return self.known_us

    def of_detector(self, progress: SourceProgress, index: int, *, only_final: bool) -> int:
        """Return the event time up to which a detector's inputs are complete.

        Args:
            progress: of the sources.
            index: of the detector.
            only_final: True where units release only what is final, or a slack policy ignores progress.
        """
        if only_final:
            return progress.final_us - 1 - self._max_reach_us[index]
        if (progress_us := self.known_us[self.same_reach[index]]) is not None:
            return progress_us
        complete_us = self._kinds(progress, self._targets[index])
        progress_us = END_US
        for kind, lag_us in self._reach[index]:
            if kind in complete_us and complete_us[kind] - lag_us < progress_us:
                progress_us = complete_us[kind] - lag_us
        self.known_us[self.same_reach[index]] = progress_us
        return progress_us

    def of_key(self, progress: SourceProgress, index: int, name: str, *, only_final: bool) -> int:
        """Return the same for one key of a keyed detector: for a transmitter's unit, that transmitter's progress."""
        if progress.final_us == END_US:
            return END_US
        own = None if only_final else self.own_sources.find(progress, index, name)
        if own is None:
            return self.of_detector(progress, index, only_final=only_final)
        complete_us = max(own.until_us, progress.final_us - 1)
        if self._targets[index] is None:
            return complete_us
        waited_us = self._waited_us.get(index)
        if waited_us is None:
            waited_us = self._waited_us[index] = self._waited(progress, index)
        return max(complete_us, waited_us)

    def _waited(self, progress: SourceProgress, index: int) -> int:
        """Return up to when the inputs of a detector with a target were waited for long enough."""
        target = self._targets[index]
        waits_us = {} if target is None else progress.waits_us(target)
        waited_us = (self._now_us - waits_us[kind] for kind, _ in self._reach[index] if kind in waits_us)
        return min(waited_us, default=BEGINNING_US)

    def _kinds(self, progress: SourceProgress, target: ReleaseTarget | None) -> Mapping[str, int]:
        """Return up to when each raw kind is complete in this walk: reported, final, or waited for long enough."""
        complete_us = self._complete_us.get(target)
        if complete_us is None:
            below_final_us = progress.final_us - 1
            complete_us = {kind: max(us, below_final_us) for kind, us in progress.progress_us.items()}
            if target is not None:
                complete_us = waited_out(complete_us, progress.waits_us(target), self._now_us)
            self._complete_us[target] = complete_us
        return complete_us
