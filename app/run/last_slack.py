"""K-slack that begins with what an earlier match has learned (004, algorithm 2: each match is one iteration).

A match that ends stores the K of each detector with its last commit. ``--slack kslack:last`` lets a new match of the
same input begin with those of the newest one in the folder of its store. K grows from there, so after as many matches
as the hierarchy has levels it has seen every delay that recurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from app.settings.model import LiveSettings
from app.settings.slack import LAST, parse_slack
from detectors.catalogue import catalogue
from replay.match_store import StoreError, is_store, newest_commit, read_commits, read_run

#: K in microseconds.
Slack = Annotated[int, msgspec.Meta(ge=0, le=60_000_000)]

#: Note of the last commit: K in microseconds by detector.
NOTE = "slack_us"

#: Settings in which two matches have the same input.
_SAME = ("source", "channel", "rate", "detectors")


def with_last_slack(settings: LiveSettings) -> LiveSettings:
    """Return the settings with the first K of each detector, if they ask for those of an earlier match.

    Settings that resume a match stay as they are: its units have their K. So do those for which there is no match.
    """
    folder = settings.store
    if not parse_slack(settings.slack).begins_with_last or (folder is not None and is_store(folder)):
        return settings
    slack_us = last_slack_us(folder.parent if folder is not None else Path("matches"), settings)
    known = {info.kind for info in catalogue()}  # an older version may have had others
    begins = ",".join(f"{name}=kslack:{us / 1_000:g}" for name, us in sorted(slack_us.items()) if us and name in known)
    text = ",".join(part for part in settings.slack.split(",") if part.strip() != LAST)
    # A policy that names its detector comes last, so it is the one that counts.
    return settings.model_copy(update={"slack": ",".join(filter(None, ("kslack", begins, text)))})


def last_slack_us(parent: Path, settings: LiveSettings) -> Mapping[str, int]:
    """Return K by detector of the newest match in a folder that had the same input and has ended; empty if none has."""
    newest, found = "", {}
    wanted = settings.stored_options()
    for folder in parent.iterdir() if parent.is_dir() else ():
        try:
            if not is_store(folder):
                continue
            run, last = read_run(folder), newest_commit(read_commits(folder))
            slack_us = msgspec.convert(last.notes.get(NOTE, {}) if last is not None else {}, dict[str, Slack])
        except (StoreError, msgspec.ValidationError):
            continue  # a damaged store teaches nothing
        stored, created = run.get("settings"), str(run.get("created", ""))
        same = isinstance(stored, dict) and all(stored.get(name) == wanted[name] for name in _SAME)
        if same and any(slack_us.values()) and created >= newest:  # at full speed nothing waits, and no K is learned
            newest, found = created, slack_us
    return found
