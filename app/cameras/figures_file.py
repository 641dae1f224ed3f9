"""The figures of a match's cameras in its store: ``camera-figures.json``, one entry for each run.

The rows of the camera table do not have all that the figures count: events, commands, latencies. A run replaces its own
entry as it goes on, so that a crash costs the last seconds only.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from app.base.files import write_atomically
from football.untrusted import UntrustedError, read_json

#: Name of the file in a match store, and limit of the runs in it.
FILE: Final = "camera-figures.json"
RUNS_MAX: Final = 100
#: Interval at which a run writes its figures.
WRITE_S: Final = 10.0

_log = logging.getLogger(__name__)


class RunFigures(msgspec.Struct, frozen=True):
    """Figures of one run.

    Attributes:
        since_us, until_us: wall time of its begin, and of the last writing.
        cameras: by camera, its figures.
    """

    since_us: int
    until_us: int
    cameras: dict[str, dict[str, float | str | None]]


class FiguresFile:
    """Writes the figures of one run. One thread at a time.

    Args:
        folder: of the match store; None writes nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._since_us, self._due_s = folder, time.time_ns() // 1000, time.monotonic() + WRITE_S
        self._before = read_figures(folder) if folder is not None else ()

    def is_due(self) -> bool:
        """Return True once in each interval."""
        if time.monotonic() < self._due_s:
            return False
        self._due_s = time.monotonic() + WRITE_S
        return True

    def write(self, cameras: Mapping[str, Mapping[str, float | str]]) -> None:
        """Write the figures so far. A file that cannot be written costs a warning."""
        if self._folder is None:
            return
        run = RunFigures(self._since_us, time.time_ns() // 1000, {name: dict(one) for name, one in cameras.items()})
        try:
            content = msgspec.json.format(msgspec.json.encode([*self._before, run][-RUNS_MAX:]))
            write_atomically(self._folder / FILE, content)
        except OSError as error:
            _log.warning("figures of the cameras cannot be written: %s", error.strerror or error)


def read_figures(folder: Path) -> tuple[RunFigures, ...]:
    """Return the figures of all runs, oldest first; none, with a warning in the log, if the file is damaged."""
    try:
        return read_json(folder / FILE, tuple[RunFigures, ...])
    except FileNotFoundError:
        return ()
    except (OSError, UntrustedError) as error:
        _log.warning("figures of the cameras cannot be read: %s: %s", folder / FILE, error)
        return ()
