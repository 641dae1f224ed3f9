"""Closed windows that are not committed yet: files between the engines of a query and its driver.

A seat's task runs through many windows, and Spark delivers its output to the driver only when the task ends. So the
stage writes the result of a window atomically to a file when the window closes. The driver commits the window as soon
as the state at its end is stored, too. Each turn of a seat (:meth:`app.spark.seat.Seat.request_turn`) has a folder of
its own, so the driver never reads results that the stage of an earlier turn still writes.
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
    """A closed window of a match, or its failure.

    Attributes:
        match: key of the match.
        start, end: offsets of the window.
        epoch: of the stage that processed it.
        tables: Arrow IPC streams by name.
        meta: metadata of the commit.
        failed: why the match cannot continue; empty for a window. Nothing of a failure is committed.
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
        # A failure sorts after the window that ends where its own begins.
        name = f"{closed.start if closed.failed else closed.end:020d}.{int(bool(closed.failed))}.{closed.epoch}"
        path = self.folder / f"{name}.{quote(closed.match, safe='')}{_SUFFIX}"
        write_atomically(path, msgspec.msgpack.encode(closed))

    def ready(self, is_stored: Callable[[str, int, int], bool]) -> Iterator[ClosedWindow]:
        """Yields windows with a stored state, and failures, each match's in order; deletes each after use.

        A failed match stores no more states: its windows without a state are dropped.

        Args:
            is_stored: tells, for a match, an offset and an epoch, whether the state is stored.
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
    """Parses a file name: match, end and epoch of a window, and whether it is a failure."""
    end, failed, epoch, match = path.name.removesuffix(_SUFFIX).split(".", 3)
    return unquote(match), int(end), int(epoch), failed == "1"
