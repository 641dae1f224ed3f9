"""Changes a file of cameras or a profile, and leaves its comments and its order as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import tomlkit
from tomlkit.items import InlineTable

from camera.installation import InstallationError, load_installation
from camera.mount import Mount
from camera.profile import Profile

#: Decimals of what is written: a millimetre, and a hundredth of what a head resolves.
DECIMALS = 4


def write_camera(path: Path, name: str, *, mount: Mount | None = None, profile: str = "") -> None:
    """Set fields of one camera of a file; the file is replaced as a whole, so that a reader never sees half of it.

    Args:
        path: of the file.
        name: of the camera.
        mount: its new mount; None leaves it.
        profile: its new profile; empty leaves it.

    Raises:
        InstallationError: no such camera, or the file cannot be read.
    """
    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    tables = [table for table in document.get("camera", []) if table.get("name") == name]
    if not tables:
        raise InstallationError(f"{path}: there is no camera {name}")
    if mount is not None:
        tables[0]["mount"] = _inline(msgspec.to_builtins(mount))
    if profile:
        tables[0]["profile"] = profile
    _replace(path, tomlkit.dumps(document))


def write_profile(path: Path, profile: Profile, comment: str) -> None:
    """Write a profile as TOML, with a comment at its head."""
    document = tomlkit.document()
    for line in comment.splitlines():
        document.add(tomlkit.comment(line))
    for key, value in msgspec.to_builtins(profile).items():
        document[key] = value
    _replace(path, tomlkit.dumps(document))


def write_camera_profile(path: Path, name: str, profile: Profile, comment: str) -> str:
    """Write the profile of a camera beside the file of the cameras, and name it there; return the profile's file."""
    file = f"{name}-profile.toml"
    write_profile(path.parent / file, profile, comment)
    write_camera(path, name, profile=file)
    load_installation(path, _AnyEnvironment())
    return file


class _AnyEnvironment(Mapping[str, str]):
    """An environment with all variables, because a check of a written file needs no login."""

    def __getitem__(self, name: str) -> str:
        return "any"

    def __iter__(self):
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return True


def _inline(values: Mapping[str, float]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update({key: round(value, DECIMALS) for key, value in values.items()})
    return table


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
