"""When a disk is full: how that is told from other errors, and how a match waits until there is room again."""

from __future__ import annotations

import errno
import logging
import shutil
import threading
import time
from pathlib import Path

from app.pipeline.commits import HostError

#: Of a system without room, and of a user who has used up his share.
_NUMBERS = (errno.ENOSPC, errno.EDQUOT)
_WORDS = ("No space left on device", "Disk quota exceeded")

#: So much must be free before it is tried again at once; a quota is not seen, so it is tried now and then all the same.
ENOUGH_BYTES = 16 << 20
_LOOK_S, _TRY_S, _TELL_S = 0.5, 10.0, 60.0

_log = logging.getLogger(__name__)


def is_full(error: BaseException) -> bool:
    """Whether an error, or one that it came from, says that a disk is full; Spark hands on only the words."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in _NUMBERS:
            return True
        if any(word in str(seen) for word in _WORDS):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


class Room:
    """Waits for room in a folder, and says so once a minute.

    Args:
        folder: where something could not be written.
        stop: ends the waiting.
    """

    def __init__(self, folder: Path, stop: threading.Event) -> None:
        self._folder, self._stop = folder, stop
        self._warned_s = -_TELL_S

    def wait(self, error: BaseException) -> None:
        """Returns when it is worth while to try again what failed with ``error``.

        Raises:
            HostError: a stop was asked for.
        """
        began_s = time.monotonic()
        if began_s >= self._warned_s + _TELL_S:
            self._warned_s = began_s
            _log.warning("the disk of %s is full: the match waits, nothing is lost; make room", self._folder)
        while not self._stop.wait(_LOOK_S):
            if time.monotonic() > began_s + _TRY_S or shutil.disk_usage(self._folder).free > ENOUGH_BYTES:
                return
        raise HostError(
            f"the disk of {self._folder} is full; make room, and start again with the same --store to go on"
        ) from error
