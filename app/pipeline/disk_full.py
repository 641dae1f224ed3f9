"""Full disks: recognises their errors, and lets a match wait until there is space again."""

from __future__ import annotations

import errno
import logging
import shutil
import threading
import time
from pathlib import Path

from app.pipeline.commits import HostError

#: Error numbers of a full file system and of an exhausted quota.
_NUMBERS = (errno.ENOSPC, errno.EDQUOT)
_TEXTS = ("No space left on device", "Disk quota exceeded")

#: Free space that permits an immediate retry. Quotas are not visible, so a retry takes place at intervals, too.
ENOUGH_BYTES = 16 << 20
_CHECK_S, _RETRY_S, _WARN_S = 0.5, 10.0, 60.0

_log = logging.getLogger(__name__)


def is_full(error: BaseException) -> bool:
    """True if an error or one of its causes reports a full disk; of those through Spark only the text is known."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _NUMBERS:
            return True
        if any(text in str(cause) for text in _TEXTS):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


class SpaceWaiter:
    """Waits for free space in a folder, and logs a warning once a minute.

    Args:
        folder: in which a write failed.
        stop: ends the wait.
    """

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        self._folder, self._stop = folder, stop
        self._warned_s = -_WARN_S

    def wait(self, error: BaseException) -> None:
        """Waits until a retry of the write that failed with ``error`` is worthwhile.

        Raises:
            HostError: a stop was requested.
        """
        began_s = time.monotonic()
        if began_s >= self._warned_s + _WARN_S:
            self._warned_s = began_s
            _log.warning("the disk of %s is full: the match waits, nothing is lost; make room", self._folder)
        while not self._stop.wait(_CHECK_S):
            if time.monotonic() > began_s + _RETRY_S or shutil.disk_usage(self._folder).free > ENOUGH_BYTES:
                return
        raise HostError(
            f"the disk of {self._folder} is full; make room, and start again with the same --store to go on"
        ) from error
