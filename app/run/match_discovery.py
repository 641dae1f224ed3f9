"""The matches of a run: those of its list, and those that are discovered in sources of several matches.

A topic stands for every match in it, also for those that begin later; with ``?match=NAME`` for that one. A match that
was returned once remains, under the same name, even if the list loses its entry.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from app.run.match_list import with_names
from app.sources.interface import Discovery
from app.sources.registry import source_of

#: Reads the current list of matches; returns its entries as options.
ReadList = Callable[[], Sequence[Mapping[str, Any]]]


class MatchDiscovery:
    """The matches of a run, each with a unique name and, if it was discovered, its ``location`` in its source.

    Args:
        read_list: reads the list of matches.
        background: receives the discoveries, which last until the run ends.
    """

    def __init__(self, read_list: ReadList, background: ExitStack) -> None:
        self._read_list, self._background = read_list, background
        self._known: dict[tuple[bytes, int], Mapping[str, Any]] = {}
        self._waiting: dict[str, Discovery] = {}
        self._discoveries: dict[str, Discovery] = {}

    @property
    def is_discovering(self) -> bool:
        """True if a source of the list may hold further matches."""
        return bool(self._discoveries)

    def matches(self) -> list[dict[str, Any]]:
        """All matches up to now, as entries of the list; new ones at the end.

        Raises:
            ValueError, UserError: the list cannot be used.
        """
        times: Counter[bytes] = Counter()
        for entry in self._read_list():
            for one in self._of(entry):
                key = msgspec.json.encode(
                    {name: value for name, value in one.items() if name != "location"}, order="sorted"
                )
                self._known.setdefault((key, times[key]), one)
                times[key] += 1
        return with_names(self._known.values())

    def wait_first(self, stop: threading.Event) -> None:
        """Waits until a match is discovered, or none has been for too long."""
        waiting = [threading.Thread(target=one.wait_first, args=(stop,)) for one in self._discoveries.values()]
        for thread in waiting:
            thread.start()
        for thread in waiting:
            thread.join()

    def missing(self) -> dict[str, str]:
        """Sources in which no match of the list was discovered, each with the reason."""
        return {source: one.trouble or "no match sheet came" for source, one in self._waiting.items()}

    def _of(self, entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        name = str(entry["source"])
        source = source_of(name)
        selection = source.selection(name)
        if selection is None:
            return [entry]
        whole, chosen = selection
        if whole not in self._discoveries:
            self._discoveries[whole] = self._background.enter_context(source.discovery(whole))
        found = [one for one in self._discoveries[whole].matches() if chosen in ("", one.match)]
        if found:
            self._waiting.pop(name, None)
        else:
            self._waiting[name] = self._discoveries[whole]
        return [
            {**entry, "source": one.source, "name": entry.get("name") or one.match, "location": one.location}
            for one in found
        ]
