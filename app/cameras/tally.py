"""The tally of a match: which cameras are on air. It lies in the match store, so that a restarted run still knows."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec

from football.untrusted import UntrustedError, read_json

#: Name of the file in a match store: a list of names.
FILE: Final = "tally.json"

_log = logging.getLogger(__name__)


def read_tally(folder: Path) -> list[str]:
    """Return the cameras that were on air when the last run ended; none, with a warning, if the file is damaged."""
    try:
        return read_json(folder / FILE, list[str])
    except FileNotFoundError:
        return []
    except (OSError, UntrustedError) as error:
        _log.warning("the tally of the cameras cannot be read: %s: %s", folder / FILE, error)
        return []


def write_tally(folder: Path, on_air: Collection[str]) -> None:
    """Write the cameras on air. A file that cannot be written costs a warning in the log, and no tally."""
    part = folder / f".{FILE}.{os.getpid()}"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(sorted(on_air)))
        os.replace(part, folder / FILE)
    except OSError as error:
        _log.warning("the tally of the cameras cannot be written: %s", error.strerror or error)
