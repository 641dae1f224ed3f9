"""Layers of settings: a file (TOML) and the environment, below the command line.

    seed = 7                          # touchline.toml, or the file that --config or TOUCHLINE_CONFIG names
    window = 20

    TOUCHLINE_SEED=7 touchline live   # the same by the environment

A setting has one name everywhere: that of its flag, with ``_`` for ``-``. ``app.settings.model`` checks
its value. A layer records the origin of each value, so every error names the file or variable.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import msgspec

from football.errors import UserError
from football.untrusted import UntrustedError, read_toml

FILE = "touchline.toml"
PREFIX = "TOUCHLINE_"

#: Variables that are no settings of a run: the settings file, the connection to Kafka, the key of the stored states,
#: tracebacks of faults, and those set for workers.
OTHER_VARIABLES = frozenset(
    f"{PREFIX}{name}" for name in ("CONFIG", "KAFKA_SETTINGS", "STATE_KEY", "TRACEBACK", "ROLE", "WORKER_LOGS")
)

Kind = Literal["file", "environment", "store", "flag"]


class LayerError(UserError, ValueError):
    """A wrong settings file or variable; the message names it and the key, never a value."""


class Layer(msgspec.Struct, frozen=True):
    """The settings of one layer.

    Attributes:
        kind: of the layer.
        where: the file or folder; empty where the name of a setting is enough.
        values: by name of the setting.
        folder: base of its relative paths.
    """

    kind: Kind
    where: str
    values: Mapping[str, Any]
    folder: Path = Path()

    def called(self, name: str) -> str:
        """The name that a setting has in this layer."""
        if self.kind == "flag":
            return flag(name)
        if self.kind == "environment":
            return PREFIX + name.upper()
        return f"{self.where}: {name}"


def flag(name: str) -> str:
    """The flag of a setting."""
    return f"--{name.replace('_', '-')}"


def chosen_file(flag_value: Path | None, environ: Mapping[str, str], folder: Path) -> tuple[Path, str] | None:
    """The settings file and how it was named: by flag, by variable, or because it lies in the working folder."""
    if flag_value is not None:
        return flag_value, f"--config {flag_value}"
    if named := environ.get(f"{PREFIX}CONFIG"):
        return Path(named), f"{PREFIX}CONFIG={named}"
    return (folder / FILE, FILE) if (folder / FILE).is_file() else None


def file_layer(path: Path, named: str, names: Collection[str]) -> Layer:
    """The layer of a settings file.

    Args:
        path: the file.
        named: how it was named, for errors.
        names: of all settings.

    Raises:
        LayerError: it cannot be read, is no TOML, or has an unknown key.
    """
    try:
        values = read_toml(path)
    except FileNotFoundError:
        raise LayerError(f"{named}: no such file") from None
    except OSError as error:
        raise LayerError(f"{named}: cannot be read: {error.strerror or error}") from None
    except UntrustedError as error:
        raise LayerError(f"{named}: is {error}") from None
    for key, value in values.items():
        if key not in names:
            raise LayerError(f"{named}: there is no setting {key!r}{_suggestion(key, names)}")
        if isinstance(value, dict | datetime.date | datetime.time):
            raise LayerError(f"{named}: {key}: must be text, a number, true, false or a list")
    return Layer("file", named, values, path.resolve().parent)


def environment_layer(environ: Mapping[str, str], names: Collection[str]) -> Layer:
    """The layer of the environment; an empty variable sets nothing.

    Raises:
        LayerError: a variable with our prefix is no setting.
    """
    values: dict[str, str] = {}
    for variable, value in environ.items():
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in names:
            known = [PREFIX + other.upper() for other in names]
            raise LayerError(f"{variable}: there is no such setting{_suggestion(variable, known)}")
        if value:
            values[name] = value
    return Layer("environment", "", values)


def name_origins(message: str, origin: Mapping[str, Layer]) -> str:
    """A message with the flags in it replaced by the names that the settings have in their layers."""

    def replacement(match: re.Match[str]) -> str:
        name = match[1].replace("-", "_")
        layer = origin.get(name)
        return layer.called(name) if layer is not None else match[0]

    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", replacement, message)


def _suggestion(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f" (is {near[0]} meant?)" if near else ""
