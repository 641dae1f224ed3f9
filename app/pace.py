"""When a block of a capture is due on the wall clock, and how to wait for that and still hear a stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

#: The clock of a paced run starts this long after the run, so that its first blocks find a standing stage.
LEAD_IN_US = 1_500_000

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
