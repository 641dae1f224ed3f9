"""The error of this machine's clock, as the kernel states it.

NTP and PTP daemons tell the kernel how far the clock can be off (``adjtimex``); the kernel adds 500 ppm of the time
since then. Without a daemon, or while it has no server, the clock counts as not set.
"""

from __future__ import annotations

import ctypes
import struct
import sys

#: Bit of the status that says that nothing sets the clock.
_NOT_SET = 0x40

#: ``modes`` with its padding, then ``offset``, ``freq``, ``maxerror``, ``esterror``, ``status``.
_TIMEX = struct.Struct("@i4xqqqqi")


def clock_error_us() -> int | None:
    """Return the greatest error of the clock against UTC; None if nothing sets it, or the system does not say."""
    if not sys.platform.startswith("linux") or struct.calcsize("P") != 8:
        return None
    buffer = ctypes.create_string_buffer(256)
    try:
        if ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
            return None
    except (AttributeError, OSError):
        return None
    *_, greatest_us, _, status = _TIMEX.unpack_from(buffer)
    return None if status & _NOT_SET else int(greatest_us)
