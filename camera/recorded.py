"""The cameras of a match in its store: mount and picture, so that what they saw can be drawn later.

A mount that is calibrated while the match runs, or changed between two runs, does not replace the one before: each
counts from its own wall time on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from camera.installation import Camera
from camera.mount import Mount
from football.errors import UserError
from football.untrusted import UntrustedError, read_json

FILE = "cameras.json"
#: Limit of the mounts that a camera has had in one match.
MOUNTS_MAX = 100


class RecordedCamerasError(UserError, ValueError):
    """The cameras of a store are missing or damaged; the message names the file."""


class RecordedCamera(msgspec.Struct, frozen=True):
    """A camera that a match was filmed with: its name, its mount, width by height of its picture.

    ``since_us`` is the wall time from which on it stood so; 0 for the first one.
    """

    name: str
    mount: Mount
    aspect: float
    since_us: int = 0


def write_cameras(folder: Path, cameras: Sequence[Camera], wall_us: int) -> None:
    """Add the cameras of a match to the folder of its store, as they stand from ``wall_us`` on.

    A camera that stands as before adds nothing. A damaged file is begun anew.
    """
    try:
        before = read_cameras(folder)
    except RecordedCamerasError:
        before = {}
    for one in cameras:
        name, known = one.setup.name, before.get(one.setup.name, ())
        added = RecordedCamera(name, one.setup.mount, one.profile.aspect, wall_us if known else 0)
        if not known or (known[-1].mount, known[-1].aspect) != (added.mount, added.aspect):
            before[name] = (*known, added)[-MOUNTS_MAX:]
    part = folder / f".{FILE}.{os.getpid()}"
    part.write_bytes(msgspec.json.format(msgspec.json.encode([row for rows in before.values() for row in rows])))
    os.replace(part, folder / FILE)


def read_cameras(folder: Path) -> dict[str, tuple[RecordedCamera, ...]]:
    """Read the cameras of a store by name: how each has stood, the newest last.

    Raises:
        RecordedCamerasError: there are none, or the file is damaged.
    """
    try:
        rows = read_json(folder / FILE, list[RecordedCamera])
    except FileNotFoundError as error:
        raise RecordedCamerasError(
            f"{folder} does not say where its cameras stand: there is no {FILE}. A run writes it when it starts its "
            "cameras; runs without cameras, and those of before version 0.2, have none. Their pictures cannot be drawn"
        ) from error
    except (OSError, UntrustedError) as error:
        raise RecordedCamerasError(f"{folder / FILE}: {error}") from error
    found: dict[str, tuple[RecordedCamera, ...]] = {}
    for row in rows:
        found[row.name] = (*found.get(row.name, ()), row)
    return found
