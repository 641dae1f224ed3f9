"""House time of a match: the file ``house.json`` in the folder of its store, and the stamp of a feed of timecode.

A gateway with a feed of timecode writes ``timecode.json`` into the capture. It counts unless somebody has stated the
timecode of a moment by hand.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from football.house_time import HouseTime, TimecodeError
from football.untrusted import Int64, UntrustedError, read_json

FILE: Final = "house.json"

#: Stamp of a feed of timecode, in the folder of a live capture, and that folder in the one of a match store.
STAMP: Final = "timecode.json"
_CAPTURE: Final = "capture"


class Stamp(msgspec.Struct, frozen=True):
    """A frame of a feed of timecode.

    Attributes:
        rate: of the timecode, a name of :data:`football.house_time.RATES`.
        code: of the frame.
        at_us: event time at which it began.
        error_us: how well that is known.
    """

    rate: str
    code: str
    at_us: Int64
    error_us: Int64


def read_house_time(folder: Path) -> HouseTime | None:
    """Return the house time of a store: what was stated, else by a feed of timecode; None if nobody knows it.

    Raises:
        TimecodeError: a file is damaged.
    """
    house, stamp = stated_house_time(folder), read_stamp(folder)
    if stamp is None or (house is not None and house.anchor_code):
        return house
    return msgspec.structs.replace(house or HouseTime(), rate=stamp.rate, anchor_us=stamp.at_us, anchor_code=stamp.code)


def read_stamp(folder: Path) -> Stamp | None:
    """Read what a feed of timecode says about a match; None without such a feed.

    Raises:
        TimecodeError: the file is damaged.
    """
    path = folder / _CAPTURE / STAMP
    try:
        return read_json(path, Stamp)
    except FileNotFoundError:
        return None
    except (OSError, UntrustedError) as error:
        raise TimecodeError(f"{path}: {error}") from error


def stated_house_time(folder: Path) -> HouseTime | None:
    """Read the house time that a store has by itself; None if it has none.

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
