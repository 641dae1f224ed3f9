"""The sources of single units: the unit of one transmitter follows that transmitter's progress alone."""

from __future__ import annotations

from collections.abc import Sequence

from middleware.sources.progress import SourceProgress
from middleware.sources.source_state import SourceState


class OwnSources:
    """The one source of each unit of keyed detectors, found once.

    Args:
        kinds: for each detector the raw kinds among its inputs.
    """

    def __init__(self, kinds: Sequence[Sequence[str]]) -> None:
        self._kinds = tuple(map(tuple, kinds))
        self._found: list[dict[str, SourceState | None]] = [{} for _ in self._kinds]

    def clear(self) -> None:
        """Forget what was found, because sources were forgotten or replaced."""
        for found in self._found:
            found.clear()

    def find(self, progress: SourceProgress, index: int, name: str) -> SourceState | None:
        """Return the source called ``name`` of the detector at ``index``; None if not exactly one kind has it."""
        found = self._found[index]
        if name not in found:
            sources = [source for kind in self._kinds[index] if (source := progress.source_state(kind, name))]
            found[name] = sources[0] if len(sources) == 1 else None
        return found[name]
