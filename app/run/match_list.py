"""The list of matches of a run: a TOML file that may grow during the run, or several sources on a command line.

    [[match]]
    source = "captures/derby"
    name = "derby"        # its folder within the run's folder; default: the source's name
    channel = "rtls"      # and any other option of `touchline live` for a match: rate, seed, official, ...

Options that an entry lacks come from the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.settings.model import file_names
from app.sources.names import base_name
from football.errors import UserError
from football.untrusted import UntrustedError, is_name, read_toml

#: Options that a match of a list may have.
OPTIONS = (
    "source", "name", "channel", "rate", "seed", "duration", "pitch", "sheet", "alpha", "retraction", "parameters",
    "detectors", "patterns", "official",
)  # fmt: skip

_PATHS = ("sheet", "parameters", "official")


class ListError(UserError, ValueError):
    """A list of matches that cannot be used; the message has the reason."""


def read_list(path: Path) -> list[dict[str, Any]]:
    """Reads the matches in a file, each as options; relative paths in it start at the file's folder.

    Raises:
        ListError: no such file, not TOML, or an option that no match has.
    """
    try:
        content = read_toml(path)
    except FileNotFoundError:
        raise ListError(f"--matches {path}: no such file") from None
    except (OSError, UntrustedError) as error:
        raise ListError(f"--matches {path}: {error}") from error
    matches = content.pop("match", [])
    if content or not isinstance(matches, list) or not all(isinstance(one, dict) for one in matches):
        raise ListError(f"--matches {path}: holds [[match]] tables and nothing else")
    return [_checked(path, number, one) for number, one in enumerate(matches, 1)]


def entries_of(arguments: Iterable[str]) -> list[dict[str, Any]]:
    """Matches named by arguments: those in a TOML file, or one per source."""
    entries: list[dict[str, Any]] = []
    for one in arguments:
        entries += read_list(Path(one)) if one.endswith(".toml") else [{"source": one}]
    return entries


def _checked(path: Path, number: int, one: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(one) - set(OPTIONS)):
        raise ListError(f"--matches {path}: match {number}: no option {unknown[0]}; there are {', '.join(OPTIONS)}")
    if not isinstance(one.get("source"), str):
        raise ListError(f'--matches {path}: match {number}: needs a source = "..."')
    if "name" in one and not (isinstance(one["name"], str) and is_name(one["name"])):
        raise ListError(f"--matches {path}: match {number}: name = {str(one['name'])[:40]!r} is no name of a folder")
    folder = path.resolve().parent
    paths = {name: str(folder / str(one[name])) for name in _PATHS if name in one}
    if "patterns" in one:
        paths["patterns"] = ",".join(str(folder / name) for name in file_names(one["patterns"]))
    return {**one, **paths, "source": _from(folder, one["source"])}


def _from(folder: Path, source: str) -> str:
    """Resolves a source that is a path, relative to the list's folder."""
    return source if source == "sim" or ":" in source else str(folder / source)


def with_names(matches: Iterable[Mapping[str, Any]], taken: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Gives each match a unique name: its ``name`` or else its source's, with a number where that is taken."""
    before = set(taken)
    named: list[dict[str, Any]] = []
    for one in matches:
        base = str(one.get("name") or base_name(one["source"]))
        numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(before) + 2))
        name = next(name for name in numbered if name not in before)
        before.add(name)
        named.append({**one, "name": name})
    return named
