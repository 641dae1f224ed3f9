"""The journal of the cameras: every order with its giver, every move of a rule with its event, every failure.

It lies in the match store as ``orders.jsonl``, a line for each entry, and the newest entries are in memory for the API.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

#: Name of the file in a match store.
FILE: Final = "orders.jsonl"
#: Entries in memory, and the size from which on the file takes no more.
NEWEST_MAX: Final = 500
FILE_BYTES_MAX: Final = 50_000_000
#: Drives of one operator that follow each other so soon are one entry.
DRIVES_US: Final = 2_000_000

_log = logging.getLogger(__name__)


class Entry(msgspec.Struct, frozen=True):
    """An entry.

    Attributes:
        wall_us: wall time.
        camera: its name; empty for what concerns all of them.
        what: what happened, such as ``hold``, ``preset left``, ``rule corner``, ``failure ball``.
        by: name of the token, ``rule``, or ``care``.
        reason: a sentence; empty for an operator's order.
        events: ids of the events that caused it.
    """

    wall_us: int
    camera: str
    what: str
    by: str
    reason: str = ""
    events: tuple[str, ...] = ()


class Journal:
    """Takes entries. Thread safe.

    Args:
        folder: of the match store; None writes no file.
        wall_us: the wall clock.
    """

    def __init__(self, folder: Path | None = None, wall_us: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self._file, self._wall_us = folder and folder / FILE, wall_us
        self._lock = threading.Lock()
        self._newest: deque[Entry] = deque(maxlen=NEWEST_MAX)
        self._drives_us: dict[tuple[str, str], int] = {}

    def note(self, camera: str, what: str, by: str, reason: str = "", events: tuple[str, ...] = ()) -> None:
        """Take an entry. A file that cannot be written costs a warning in the log, and no order."""
        with self._lock:
            entry = Entry(self._wall_us(), camera, what, by, reason, events)
            if what == "drive":
                before_us = self._drives_us.get((camera, by))
                self._drives_us[camera, by] = entry.wall_us
                if before_us is not None and entry.wall_us - before_us < DRIVES_US:
                    return
            self._newest.append(entry)
            try:
                self._write(entry)
            except OSError as error:
                _log.warning("the journal of the cameras cannot be written: %s", error.strerror or error)

    def newest(self, camera: str = "", limit: int = NEWEST_MAX) -> list[Entry]:
        """Return the newest entries, of one camera or all, oldest first."""
        with self._lock:
            found = [entry for entry in self._newest if camera in ("", entry.camera)]
        return found[-limit:]

    def _write(self, entry: Entry) -> None:
        if self._file is None:
            return
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(handle).st_size < FILE_BYTES_MAX:
                os.write(handle, msgspec.json.encode(entry) + b"\n")
        finally:
            os.close(handle)
