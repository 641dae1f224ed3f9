"""When a block of a capture is due on the wall clock, and how to wait for that and still hear a stop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: The clock of a paced run starts this long after its first read, so that the first blocks find a standing stage.
LEAD_IN_US = 300_000

#: An arrival time that never comes.
NEVER_US = 2**62

_LOOK_US = 50_000


def wall_us() -> int:
    """The wall clock in microseconds."""
    return time.time_ns() // 1000


@dataclass(frozen=True)
class Pace:
    """When blocks are due: wall time ``anchor_wall_us`` is arrival time ``anchor_us``. Speed 0 is unpaced."""

    speed: float
    anchor_us: int
    anchor_wall_us: int

    def due_wall_us(self, arrival_us: int) -> int:
        """Wall time at which a block of ``arrival_us`` reaches the source; now if unpaced."""
        if self.speed == 0:
            return wall_us()
        return self.anchor_wall_us + round((arrival_us - self.anchor_us) / self.speed)


def anchored_pace(path: Path, speed: float, start_us: int) -> Pace:
    """The pace of a run: as the file says, or begun now at ``start_us`` and written there.

    The clock begins with the first read and not with the query, because between the two Spark plans a batch and
    starts workers, for seconds. The file tells it to the workers that read later; it is deleted before a run.
    """
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(f"{start_us} {wall_us() + LEAD_IN_US}")
        draft.replace(path)
    anchor_us, anchor_wall_us = path.read_text().split()
    return Pace(speed, int(anchor_us), int(anchor_wall_us))


class Waiter:
    """Sleeps until blocks are due, unless a stop is asked for: from then on nothing is waited for.

    Args:
        stop: True once a stop is asked for; it is looked at every 50 ms, because it may be a look at the disk.
    """

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._next_look_us = 0
        self.stopped = False
        self._look()

    def sleep_until(self, due_us: int) -> None:
        """Returns at ``due_us``, or soon after a stop."""
        self._look()
        while not self.stopped and (left_us := due_us - wall_us()) > 0:
            time.sleep(min(left_us, _LOOK_US) / 1e6)
            self._look()

    def _look(self) -> None:
        now_us = wall_us()
        if not self.stopped and now_us >= self._next_look_us:
            self._next_look_us = now_us + _LOOK_US
            self.stopped = self._stop()
