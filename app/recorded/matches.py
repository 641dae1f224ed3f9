"""The matches that are open, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from app.api.served import ServedMatch
from app.batch.inputs import BatchError, find_recorded, name_matches
from app.recorded.feed import StoredFeed
from football.errors import UserError


class OpenError(UserError):
    """There is no match to open; the message says where none was found."""


class RecordedMatches(Mapping[str, ServedMatch]):
    """Match stores by the name under which they are served: that of their folder.

    Args:
        folders: match stores, and folders of match stores.

    Attributes:
        damaged: reasons by name of those whose sheet or manifests cannot be read; the others are open.

    Raises:
        OpenError: there is none that can be read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        try:
            stores = [one for one in find_recorded(map(str, folders)) if one.store]
        except BatchError as error:
            raise OpenError(str(error)) from error
        if not stores:
            raise OpenError(f"{', '.join(map(str, folders))}: no match store; `touchline live --source` plays an input")
        self._opened: dict[str, ServedMatch] = {}
        self.damaged: dict[str, str] = {}
        for name, one in name_matches(stores, {}).items():
            folder = Path(one.store)
            try:
                self._opened[name] = ServedMatch(StoredFeed(folder, name), folder)
            except UserError as error:
                self.damaged[name] = str(error)
        if len(self._opened) == 1:
            self._opened = {name: replace(one, page="/") for name, one in self._opened.items()}
        if not self._opened:
            raise OpenError("; ".join(self.damaged.values()))

    def __getitem__(self, name: str) -> ServedMatch:
        return self._opened[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._opened)

    def __len__(self) -> int:
        return len(self._opened)
