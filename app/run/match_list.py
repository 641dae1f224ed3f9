"""The list of matches of a run: a TOML file that may grow meanwhile, or several sources on a command line.

    [[match]]
    source = "captures/derby"
    name = "derby"        # folder in the run's; default: of the source
    channel = "rtls"      # and any other option of `touchline live` that makes a match: rate, seed, official, ...

What an entry leaves out, it has from the command line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.sources.names import base_name
from football.errors import UserError

#: Options that a match of a list may have.
OPTIONS = (
    "source", "name", "channel", "rate", "seed", "duration", "pitch", "sheet", "alpha", "retraction", "parameters",
    "detectors", "official",
)  # fmt: skip

_PATHS = ("sheet", "parameters", "official")


class ListError(UserError, ValueError):
    """A list of matches that cannot be used; the message says why."""


def read_list(path: Path) -> list[dict[str, Any]]:
    """The matches in a file, each as options; paths in it are from its folder.

    Raises:
        ListError: no such file, not TOML, or an option that no match has.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ListError(f"--matches {path}: no such file") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ListError(f"--matches {path}: not TOML: {error}") from error
    matches = content.pop("match", [])
    if content or not isinstance(matches, list) or not all(isinstance(one, dict) for one in matches):
        raise ListError(f"--matches {path}: holds [[match]] tables and nothing else")
    return [_checked(path, number, one) for number, one in enumerate(matches, 1)]


def entries_of(arguments: Iterable[str]) -> list[dict[str, Any]]:
    """The matches that arguments mean: all in a TOML file, or a source each."""
    entries: list[dict[str, Any]] = []
    for one in arguments:
        entries += read_list(Path(one)) if one.endswith(".toml") else [{"source": one}]
    return entries


def _checked(path: Path, number: int, one: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(one) - set(OPTIONS)):
        raise ListError(f"--matches {path}: match {number}: no option {unknown[0]}; there are {', '.join(OPTIONS)}")
    if not isinstance(one.get("source"), str):
        raise ListError(f'--matches {path}: match {number}: needs a source = "..."')
    folder = path.resolve().parent
    paths = {name: str(folder / str(one[name])) for name in _PATHS if name in one}
    return {**one, **paths, "source": _from(folder, one["source"])}


def _from(folder: Path, source: str) -> str:
    """A source that is a path, from the list's folder."""
    return source if source == "sim" or ":" in source else str(folder / source)


def with_names(matches: Iterable[Mapping[str, Any]], taken: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Each match with a name of its own: as it says, else that of its source; numbered where it is taken."""
    before = set(taken)
    named: list[dict[str, Any]] = []
    for one in matches:
        base = str(one.get("name") or base_name(one["source"]))
        numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(before) + 2))
        name = next(name for name in numbered if name not in before)
        before.add(name)
        named.append({**one, "name": name})
    return named
