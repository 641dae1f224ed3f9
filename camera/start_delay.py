"""The delay from a command to the motion of a head, as its reports show it. Pure, bounded memory.

A delay is measured on each drive of an axis that stands still. The first report in which the axis has moved gives the
instant at which it began: as long before the report as the drive takes for the way, and after the last report that
shows it at rest. So the delay has the time of the command on the network and the dead time of the head, and an error
of at most the interval of the reports.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np

#: An axis has moved beyond this angle: encoders flicker.
MOVED_DEG: Final = 0.03
#: Limit of the delays that are remembered.
DELAYS_MAX: Final = 2_000


class AxisStart:
    """The delays of one axis."""

    def __init__(self) -> None:
        self.delays_us: deque[int] = deque(maxlen=DELAYS_MAX)
        self._speed_deg_s = 0.0  # commanded
        self._commanded_us: int | None = None  # the drive whose effect is waited for
        self._last: tuple[int, float] | None = None  # the newest report
        self._is_still = False

    def forget(self) -> None:
        """Forget where the axis is: the head was lost."""
        self._commanded_us = self._last = None
        self._speed_deg_s, self._is_still = 0.0, False

    def commanded(self, speed_deg_s: float, now_us: int) -> None:
        """Take the speed of a drive that goes out now."""
        if self._is_still and self._speed_deg_s == 0.0 != speed_deg_s:
            self._commanded_us = now_us
        elif speed_deg_s * self._speed_deg_s <= 0.0:
            self._commanded_us = None
        self._speed_deg_s = speed_deg_s

    def reported(self, angle_deg: float, at_us: int) -> None:
        """Take a report: the angle of the axis at a time."""
        last, self._last = self._last, (at_us, angle_deg)
        if last is None:
            return
        moved_deg = angle_deg - last[1]
        self._is_still = abs(moved_deg) <= MOVED_DEG
        if self._commanded_us is None:
            return
        if self._is_still:
            self._last = (at_us, last[1])  # a slow start must not be taken for rest again and again
            return
        if at_us > self._commanded_us and math.copysign(1.0, moved_deg) == math.copysign(1.0, self._speed_deg_s):
            began_us = at_us - round(abs(moved_deg / self._speed_deg_s) * 1e6)
            self.delays_us.append(max(last[0], self._commanded_us, began_us) - self._commanded_us)
        self._commanded_us = None


class StartDelays:
    """The delays of a head's pan and tilt."""

    def __init__(self) -> None:
        self.pan, self.tilt = AxisStart(), AxisStart()

    def forget(self) -> None:
        """Forget where the head is."""
        self.pan.forget()
        self.tilt.forget()

    def figures(self) -> dict[str, float]:
        """Return ``motion_p50_ms`` and ``motion_p95_ms``; empty before the first start from rest."""
        delays_ms = np.array([*self.pan.delays_us, *self.tilt.delays_us], dtype=float) / 1000
        if not len(delays_ms):
            return {}
        return {f"motion_p{share}_ms": float(np.quantile(delays_ms, share / 100)) for share in (50, 95)}
