"""The decisions that were entered for a match: the file of officials in its store, written and read.

Every writer appends whole lines under a lock of the file, so the number of a line is known when it is written. With
its author that number names the decision (``football.officials``).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from football.untrusted import LISTING_BYTES_MAX, read_bytes
from replay.formats.officials import FILE, OPERATOR, DecisionFields, OfficialError, check, parse
from replay.match_store import read_sheet_of


class EnteredDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A decision of the file.

    Attributes:
        number: of its line, from 1, or its own.
        by: who entered it.
        id: of the event that it becomes, such as ``official.card#official:anna:3``.
        decision: its fields.
        undone: True if a later line undoes it.
    """

    number: int
    by: str
    id: str
    decision: DecisionFields
    undone: bool = False


def report_decision(folder: Path, text: str) -> str:
    """Append a decision to the file of officials in a match store; return the line.

    Args:
        folder: of the match store.
        text: fields of a decision, as JSON.

    Raises:
        OfficialError: it is no decision, or one that cannot be.
        StoreError: the folder is no match store.
    """
    decision = parse(text)
    enter_decisions(folder, [decision])
    return (msgspec.json.encode(decision) + b"\n").decode()


def enter_decisions(folder: Path, decisions: Sequence[DecisionFields]) -> list[EnteredDecision]:
    """Append decisions to the file of officials in a match store, all or none; return them with their numbers.

    Args:
        folder: of the match store.
        decisions: at least one.

    Raises:
        OfficialError: one of them cannot be.
        StoreError: the folder is no match store.
    """
    sheet = read_sheet_of(folder)
    for decision in decisions:
        check(decision, sheet)
    lines = b"".join(msgspec.json.encode(decision) + b"\n" for decision in decisions)
    handle = os.open(folder / FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        before = os.pread(handle, os.fstat(handle).st_size, 0)
        if before and not before.endswith(b"\n"):  # written by hand, without the end of its last line
            lines = b"\n" + lines
        first = before.count(b"\n") + (1 if before.endswith(b"\n") or not before else 2)
        os.write(handle, lines)
        os.fsync(handle)
    finally:
        os.close(handle)
    return [_entered(number, decision) for number, decision in enumerate(decisions, first)]


def entered_decisions(folder: Path) -> list[EnteredDecision]:
    """Return the decisions of the file of officials, in the order of their lines; unusable lines are left out."""
    path = folder / FILE
    if not path.is_file():
        return []
    found: list[EnteredDecision] = []
    undone: set[int] = set()
    for number, raw in enumerate(read_bytes(path, LISTING_BYTES_MAX).splitlines(), 1):
        try:
            decision = parse(raw.decode("utf-8", errors="replace").strip())
        except OfficialError:
            continue
        found.append(_entered(number, decision))
        if decision.undoes is not None:
            undone.add(decision.undoes)
    return [msgspec.structs.replace(one, undone=one.number in undone) for one in found]


def _entered(line: int, decision: DecisionFields) -> EnteredDecision:
    number = line if decision.number is None else decision.number
    by = decision.source or OPERATOR
    return EnteredDecision(number, by, f"official.{decision.kind}#official:{by}:{number}", decision)
