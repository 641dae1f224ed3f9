"""Thresholds of the garbage collector.

Objects of an engine have no circular references, live for the seconds of the allowed lateness, and are freed with their
last reference. By default the collector runs every 700 objects, and takes a tenth of the time to find nothing.
"""

from __future__ import annotations

import gc

#: Objects made more than freed between two collections of the youngest generation; collections of one generation
#: before one of the next. Circles, which errors and libraries make, so cost some tens of megabytes at most.
_YOUNG, _MIDDLE, _OLD = 100_000, 10, 10


def collect_rarely() -> None:
    """Set the thresholds of this process."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
