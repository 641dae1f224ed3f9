"""The recorded matches of a batch: stores, captures, tracking files, and folders of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from app.sources.captures import is_capture
from app.sources.names import base_name
from football.errors import UserError
from football.untrusted import is_folder
from replay.match_store import is_store


class BatchError(UserError, ValueError):
    """A batch that cannot begin as asked; the message has the reason."""


class RecordedMatch(msgspec.Struct, frozen=True):
    """A recorded match.

    Attributes:
        source: its input, as ``touchline live --source`` takes it.
        store: the match store with its events; empty without one.
    """

    source: str
    store: str = ""


def find_recorded(given: Iterable[str]) -> list[RecordedMatch]:
    """The matches of arguments, each once, in their order; of a folder of matches all in it, by name.

    Raises:
        BatchError: a path does not exist, or holds no match.
    """
    matches: dict[RecordedMatch, None] = {}
    for text in given:
        if text.startswith(("kloppy:", "debs:")):
            matches[RecordedMatch(_absolute(text))] = None
        else:
            matches.update(dict.fromkeys(_of_path(Path(text).resolve())))
    return list(matches)


def _of_path(path: Path) -> list[RecordedMatch]:
    if not path.exists():
        raise BatchError(f"{path}: no such file or folder")
    if (one := _of_folder(path)) is not None or path.is_file():
        return [one or RecordedMatch(str(path))]
    inside = [_of_folder(child) for child in sorted(path.iterdir()) if child.is_dir() and child.name[0] != "."]
    matches = [recorded for recorded in inside if recorded is not None]
    if not matches:
        raise BatchError(f"{path}: holds neither a match store nor a capture")
    return matches


def _of_folder(path: Path) -> RecordedMatch | None:
    if is_store(path):
        return RecordedMatch(str(path), str(path))
    return RecordedMatch(str(path)) if path.is_dir() and is_capture(str(path)) else None


def _absolute(text: str) -> str:
    """A source of several parts with absolute paths; other parts stay as they are."""
    kind, *parts = text.split(":")
    first = 1 if kind == "kloppy" else 0
    full = [str(Path(part).resolve()) if i >= first else part for i, part in enumerate(parts)]
    return ":".join([kind, *full])


def name_matches(recorded: Sequence[RecordedMatch], before: Mapping[str, str]) -> dict[str, RecordedMatch]:
    """Matches by the name of their folder in the result: that of their own, with a number where two have the same.

    Args:
        recorded: the matches.
        before: names by source that were given in earlier calls; they stay.
    """
    names = dict(before)
    taken = set(before.values())
    for one in recorded:
        if one.source not in names:
            base = base_name(one.source)
            base = base if is_folder(f"{base}-{len(recorded)}") else "match"
            numbered = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
            names[one.source] = next(name for name in numbered if name not in taken)
            taken.add(names[one.source])
    return {names[one.source]: one for one in recorded}
