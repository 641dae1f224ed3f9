"""``touchline official``: says a decision of the officials in a match that runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from replay.formats.officials import FILE, DecisionFields, OfficialError, check, parse
from replay.match_store import read_commits, read_run, read_sheet_of


def run_official(folder: Path, fields: dict[str, object]) -> None:
    """Appends a line to the file of officials in a match store, and shows it.

    Args:
        folder: of the store of a running match; of an interrupted one the line waits until it goes on.
        fields: of ``replay.formats.officials.DecisionFields``; what is None or empty is left out.

    Raises:
        OfficialError: the decision cannot be, or the match has ended.
        StoreError: the folder is no match store.
    """
    settings = read_run(folder).get("settings")
    source = settings.get("source") if isinstance(settings, dict) else None
    if isinstance(source, str) and source.startswith("kafka:"):
        raise OfficialError(f"{folder}: a match out of a topic takes no lines of officials")
    if any(commit.meta.ended for commit in read_commits(folder) if not commit.series):
        raise OfficialError(f"{folder}: the match has ended")
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    said = parse(msgspec.json.encode(given).decode())
    check(said, read_sheet_of(folder))
    line = _line(said)
    # One write of one line: what several say at once does not mix.
    handle = os.open(folder / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)
        os.fsync(handle)
    finally:
        os.close(handle)
    sys.stdout.write(line.decode())


def _line(said: DecisionFields) -> bytes:
    return msgspec.json.encode(said) + b"\n"
