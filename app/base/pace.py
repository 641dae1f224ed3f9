"""The pace of a run: wall times at which blocks are due, and waiting for them unless the run is stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: The clock of a paced run starts this long after its first read, so that a stage is ready for the first blocks.
LEAD_IN_US = 300_000

#: An arrival time after all others.
NEVER_US = 2**62

_POLL_US = 50_000


def wall_us() -> int:
    """The wall clock in microseconds."""
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Pace:
    """The pace of blocks: wall time ``anchor_wall_us`` is arrival time ``anchor_us``. Speed 0 is unpaced."""

    speed: float
    anchor_us: int
    anchor_wall_us: int

    def due_wall_us(self, arrival_us: int) -> int:
        """Wall time at which a block of ``arrival_us`` reaches the source; now if unpaced."""
        if self.speed == 0:
            return wall_us()
        return self.anchor_wall_us + round((arrival_us - self.anchor_us) / self.speed)


def anchored_pace(path: Path, speed: float, start_us: int) -> Pace:
    """The pace of a run, from its file, or anchored now at ``start_us`` and written there.

    The clock begins with the first read and not with the query, because Spark plans a batch and starts workers in
    between, for seconds. Workers that read later take it from the file, which is deleted before a run.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(f"{start_us} {wall_us() + LEAD_IN_US}")
        draft.replace(path)
    anchor_us, anchor_wall_us = path.read_text().split()
    return Pace(speed, int(anchor_us), int(anchor_wall_us))


class Waiter:
    """Sleeps until blocks are due; after a stop it no longer waits.

    Args:
        stop: True once a stop is asked for; it is called every 50 ms, because it may read the disk.
    """

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._next_poll_us = 0
        self.stopped = False
        self._poll_stop()

    def sleep_until(self, due_us: int) -> None:
        """Return at ``due_us``, or soon after a stop."""
        self._poll_stop()
        while not self.stopped and (left_us := due_us - wall_us()) > 0:
            time.sleep(min(left_us, _POLL_US) / 1e6)
            self._poll_stop()

    def _poll_stop(self) -> None:
        now_us = wall_us()
        if not self.stopped and now_us >= self._next_poll_us:
            self._next_poll_us = now_us + _POLL_US
            self.stopped = self._stop()
