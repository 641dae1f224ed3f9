"""House time of a match: the file ``house.json`` in the folder of its store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from football.house_time import HouseTime, TimecodeError
from football.untrusted import UntrustedError, read_json

FILE: Final = "house.json"


def read_house_time(folder: Path) -> HouseTime | None:
    """Read the house time of a store; None if it has none.

    Raises:
        TimecodeError: the file is damaged.
    """
    try:
        return read_json(folder / FILE, HouseTime)
    except FileNotFoundError:
        return None
    except (OSError, UntrustedError) as error:
        raise TimecodeError(f"{folder / FILE}: {error}") from error


def write_house_time(folder: Path, house: HouseTime) -> None:
    """Replace the house time of a store."""
    draft = folder / f".{FILE}.{os.getpid()}"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(house)) + b"\n")
    draft.replace(folder / FILE)
