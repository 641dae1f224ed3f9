"""Spark's checkpoint of a match: whether it agrees with the match store, and what is done if it does not.

Theory of operation
-------------------
What is true of a match is what its store has committed; Spark's checkpoint only counts along. A batch of Spark's is
several windows long, and the store commits each: so after a crash, or a stop, the store may end in the midst of the
last batch that was planned. Then a new checkpoint begins where the store ends, with the source's offset of there, and
the old one goes. If files of it are damaged or missing, or it ends elsewhere, that is told, and it is set aside for
people to look at. ``base.json`` says at which offset a checkpoint begins.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from app.base.files import write_atomically
from app.pipeline.commits import Committed

CHECKPOINT, BASE = "checkpoint", "base.json"

_VERSION_LINE = "v1"


class Base(msgspec.Struct, frozen=True):
    """Where a checkpoint begins: at ``offset`` (None: the source's begin)."""

    offset: int | None = None


class CheckpointError(ValueError):
    """A checkpoint that cannot be gone on from; the message names the file and says why."""


def mend(folder: Path, committed: Committed | None) -> tuple[Base, str]:
    """The base of the checkpoint in ``folder``, and what was wrong with it (empty if nothing).

    Args:
        folder: of Spark, beside the match store.
        committed: None before the first window.
    """
    checkpoint = folder / CHECKPOINT
    try:
        base = _read_base(folder)
        if _goes_on(checkpoint, base, committed):
            return base, ""
        shutil.rmtree(checkpoint)
        return _begin(folder, committed), ""
    except CheckpointError as error:
        aside = _aside(checkpoint)
        kept = f" The old checkpoint is kept as {aside.name}." if aside else ""
        said = f"Spark's checkpoint does not serve: {error}. A new one begins where the store ends.{kept}"
        return _begin(folder, committed), said


def trouble(folder: Path, committed: Committed | None) -> str:
    """What :func:`mend` would find wrong; empty if nothing. Changes nothing."""
    try:
        _goes_on(folder / CHECKPOINT, _read_base(folder), committed)
    except CheckpointError as error:
        return str(error)
    return ""


def _begin(folder: Path, committed: Committed | None) -> Base:
    """Notes that a new checkpoint begins where the store ends."""
    base = Base(committed.offset) if committed else Base()
    write_atomically(folder / BASE, msgspec.json.encode(base))
    return base


def _goes_on(checkpoint: Path, base: Base, committed: Committed | None) -> bool:
    """True if a query can go on from the checkpoint; False if the store ends within the batch that comes next.

    Raises:
        CheckpointError: it is damaged, or ends elsewhere.
    """
    stored = committed.offset if committed else None
    if not checkpoint.is_dir():
        if stored != base.offset:
            raise CheckpointError(f"{checkpoint}: is missing")
        return True
    planned, noted = _newest(checkpoint / "offsets"), _newest(checkpoint / "commits")
    if planned >= 0:
        _json_lines(checkpoint / "metadata", 0)
    # Spark reads the last two plans and the last note.
    ends = {n: _end_of(checkpoint / "offsets" / str(n)) for n in range(max(0, planned - 1), planned + 1)}
    if noted >= 0:
        _json_lines(checkpoint / "commits" / str(noted), 1)
    if planned - noted not in (0, 1):
        raise CheckpointError(f"{checkpoint}: has planned up to batch {planned} and noted up to {noted}")
    begin = ends[noted] if noted >= 0 else base.offset
    if stored == begin:
        return True
    least = ends.get(noted - 1, base.offset) if planned == noted else begin
    if planned >= 0 and stored is not None and (least is None or least < stored) and stored <= ends[planned]:
        return False
    raise CheckpointError(f"{checkpoint}: ends at {begin}, the store at {stored}")


def _newest(folder: Path) -> int:
    """The greatest number that a file of a log has for its name, -1 without one."""
    if not folder.is_dir():
        return -1
    return max((int(path.name) for path in folder.iterdir() if path.name.isdigit()), default=-1)


def _end_of(plan: Path) -> int:
    """The offset that a batch was planned to end at."""
    told = _json_lines(plan, 2)[-1]
    values = list(told.values()) if isinstance(told, dict) else []
    if len(values) != 1 or not isinstance(values[0], int):
        raise CheckpointError(f"{plan}: damaged: names no offset")
    return values[0]


def _json_lines(path: Path, least: int) -> list[object]:
    """The lines of a file of a log after its version (``metadata`` has none), read as JSON.

    Raises:
        CheckpointError: missing, of another version, cut short or not JSON.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        if least and lines[:1] != [_VERSION_LINE]:
            raise CheckpointError(f"{path}: damaged, or of another version of Spark")
        told = [msgspec.json.decode(line) for line in (lines[1:] if least else lines)]
    except FileNotFoundError:
        raise CheckpointError(f"{path}: is missing") from None
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise CheckpointError(f"{path}: damaged: {error}") from error
    if len(told) < max(least, 1):
        raise CheckpointError(f"{path}: damaged: cut short")
    return told


def _read_base(folder: Path) -> Base:
    try:
        return msgspec.json.decode((folder / BASE).read_bytes(), type=Base)
    except FileNotFoundError:
        return Base()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{folder / BASE}: damaged: {error}") from error


def _aside(checkpoint: Path) -> Path | None:
    """Renames what is there, for people to look at; the name it has now."""
    if not checkpoint.exists():
        return None
    number = 1
    while (aside := checkpoint.with_name(f"{CHECKPOINT}.damaged-{number}")).exists():
        number += 1
    checkpoint.rename(aside)
    return aside
