"""The cameras of a match in its store: mount and picture, so that what they saw can be drawn later."""

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


class RecordedCamerasError(UserError, ValueError):
    """The cameras of a store are missing or damaged; the message names the file."""


class RecordedCamera(msgspec.Struct, frozen=True):
    """A camera that a match was filmed with: its name, its mount, width by height of its picture."""

    name: str
    mount: Mount
    aspect: float


def write_cameras(folder: Path, cameras: Sequence[Camera]) -> None:
    """Write the cameras of a match into the folder of its store."""
    rows = [RecordedCamera(one.setup.name, one.setup.mount, one.profile.aspect) for one in cameras]
    part = folder / f".{FILE}.{os.getpid()}"
    part.write_bytes(msgspec.json.format(msgspec.json.encode(rows)))
    os.replace(part, folder / FILE)


def read_cameras(folder: Path) -> dict[str, RecordedCamera]:
    """Read the cameras of a store, by name.

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
    return {one.name: one for one in rows}
