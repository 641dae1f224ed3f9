"""Closed windows that are not committed yet: files between the engines of a query and its driver.

A seat's task runs through many windows, and what it hands to Spark reaches the driver at its end only. So the engine
writes what a window gives to a file when it closes, whole or not at all, and the driver commits it as soon as the
state of its end is stored, too. Each turn of a seat (:meth:`app.spark.seat.Seat.ask`) has a folder of its own: what the
engine of an earlier turn still writes is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from app.base.files import write_atomically

_SUFFIX = ".closed"


class ClosedWindow(msgspec.Struct, frozen=True):
    """A window of a match.

    Attributes:
        match: key of the match.
        start, end: offsets of the window.
        epoch: of the engine that worked on it.
        tables: Arrow IPC streams by name.
        meta: what is committed besides.
        failed: why the match does not go on; nothing is committed then.
    """

    match: str
    start: int
    end: int
    epoch: int
    tables: dict[str, bytes] = {}
    meta: dict[str, Any] = {}
    failed: str = ""


class WindowResults:
    """Closed windows of a turn, in a folder of their own."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def put(self, closed: ClosedWindow) -> None:
        """Writes a window.

        Raises:
            OSError: the disk is full, or this turn is over.
        """
        # A failure comes after the window that ends where its own begins.
        name = f"{closed.start if closed.failed else closed.end:020d}.{int(bool(closed.failed))}.{closed.epoch}"
        path = self.folder / f"{name}.{quote(closed.match, safe='')}{_SUFFIX}"
        write_atomically(path, msgspec.msgpack.encode(closed))

    def ready(self, is_stored: Callable[[str, int, int], bool]) -> Iterator[ClosedWindow]:
        """Windows whose state is stored, and failures; those of a match in their order, each deleted when it was used.

        A match that has failed stores nothing any more: its windows without a state are dropped.

        Args:
            is_stored: whether the state of a match at an offset by an epoch is there.
        """
        waiting = [(path, *_parsed(path)) for path in sorted(self.folder.glob(f"*{_SUFFIX}"))]
        failed = {match for _, match, _, _, is_failure in waiting if is_failure}
        incomplete: set[str] = set()
        for path, match, end, epoch, is_failure in waiting:
            if match in incomplete:
                continue
            if is_failure or is_stored(match, end, epoch):
                yield msgspec.msgpack.decode(path.read_bytes(), type=ClosedWindow)
            elif match not in failed:
                incomplete.add(match)
                continue
            path.unlink()


def _parsed(path: Path) -> tuple[str, int, int, bool]:
    """Match, end and epoch of a window by the name of its file, and whether it is a failure."""
    end, failed, epoch, match = path.name.removesuffix(_SUFFIX).split(".", 3)
    return unquote(match), int(end), int(epoch), failed == "1"
