"""The collector of garbage: how often it looks.

What an engine makes holds no references in circles, lives for the seconds in which it may be repaired, and goes when
its last reference goes. By default the collector looks each 700 objects, and a tenth of the time goes into finding
nothing.
"""

from __future__ import annotations

import gc

#: More objects made than gone since the last look; looks at the young before one at the middle-aged, and of these
#: before one at all. So circles, which errors and libraries make, cost some tens of megabytes at most.
_YOUNG, _MIDDLE, _OLD = 100_000, 10, 10


def collect_rarely() -> None:
    """From now on, in this process."""
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
