"""Spark's checkpoint of a match: whether it agrees with the match store, and what is done if it does not.

Theory of operation
-------------------
What is true of a match is what its store has committed; Spark's checkpoint only counts along. If files of it are
damaged or missing, or it counts otherwise than the store, it is set aside and a new one begins where the store ends:
with the source's offset of there, and with batch numbers that go on. ``base.json`` says from where a checkpoint counts.

A checkpoint that is whole is at most one step away from the store: a batch may be planned and not committed, or
committed by the store and not noted by Spark.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.match.commits import Committed

CHECKPOINT, BASE = "checkpoint", "base.json"

_VERSION_LINE = "v1"


class Base(msgspec.Struct, frozen=True):
    """From where a checkpoint counts: its batch 0 is this one, and begins at ``offset`` (None: the source's begin)."""

    batch: int = 0
    offset: int | None = None


class CheckpointError(ValueError):
    """A checkpoint that cannot be gone on from; the message names the file and says why."""


def mend(folder: Path, committed: Committed | None) -> tuple[Base, str]:
    """The base of the checkpoint in ``folder``, and what had to be done for it (empty if nothing).

    Args:
        folder: of Spark, beside the match store.
        committed: None before the first batch.
    """
    checkpoint = folder / CHECKPOINT
    try:
        base = _read_base(folder)
        _check(checkpoint, base, committed)
        return base, ""
    except CheckpointError as error:
        aside = _aside(checkpoint)
        base = Base(committed.batch + 1, committed.offset) if committed else Base()
        draft = folder / f"{BASE}.draft"
        draft.write_bytes(msgspec.json.encode(base))
        draft.replace(folder / BASE)
        kept = f" The old checkpoint is kept as {aside.name}." if aside else ""
        return base, f"Spark's checkpoint does not serve: {error}. A new one begins where the store ends.{kept}"


def _check(checkpoint: Path, base: Base, committed: Committed | None) -> None:
    """Raises CheckpointError unless a query can go on from the checkpoint to just what follows in the store."""
    stored = committed.batch - base.batch if committed else -1 - base.batch
    if not checkpoint.is_dir():
        if stored != -1:
            raise CheckpointError(f"{checkpoint}: is missing")
        return
    planned, noted = _newest(checkpoint / "offsets"), _newest(checkpoint / "commits")
    if planned >= 0:
        _json_lines(checkpoint / "metadata", 0)
    # Spark reads the last two plans and the last note.
    ends = {n: _end_of(checkpoint / "offsets" / str(n)) for n in range(max(0, planned - 1), planned + 1)}
    if noted >= 0:
        _json_lines(checkpoint / "commits" / str(noted), 1)
    if planned - noted not in (0, 1) or stored not in (noted, planned):
        raise CheckpointError(
            f"{checkpoint}: has planned up to batch {base.batch + planned} and noted up to {base.batch + noted}, the "
            f"store has up to {base.batch + stored}"
        )
    if committed is not None and stored >= 0 and ends[stored] != committed.offset:
        raise CheckpointError(
            f"{checkpoint / 'offsets' / str(stored)}: ends at {ends[stored]}, the store's batch at {committed.offset}"
        )


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
