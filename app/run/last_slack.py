"""K-slack that begins with what an earlier match has learned (004, algorithms 2 and 3).

A match that ends stores with its last commit the K of each detector, and how far each dates its outputs back. A new
match begins with those of the newest one in the folder of its store:

* ``--slack kslack:last``, iterated: the K's of all detectors. They grow from there, so after as many matches as the
  hierarchy has levels they have seen every delay that recurs.
* ``--slack kslack:semi``, semi-configured: the jitter of the sensors, which is K on the first level, and the
  back-setting of all detectors. The engine announces both upwards, level by level, which gives the K's above. So one
  match is enough. Back-setting does not depend on the channel: a match over another one teaches it, too, and so does
  one at full speed, in which nothing waits and no K is learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from app.settings.model import LiveSettings
from app.settings.slack import LEARNED, parse_slack
from detectors.catalogue import catalogue
from replay.match_store import StoreError, is_store, newest_commit, read_commits, read_run

#: K or back-setting in microseconds.
Delay = Annotated[int, msgspec.Meta(ge=0, le=60_000_000)]

#: Notes of the last commit, in microseconds by detector: K, and how far outputs are dated back.
SLACK, BACKSET = "slack_us", "backset_us"

#: By note, the settings that two matches have in common if one can teach it to the other.
_SAME = {SLACK: ("source", "channel", "rate", "detectors"), BACKSET: ("source", "rate", "detectors")}


def with_last_slack(settings: LiveSettings) -> LiveSettings:
    """Return the settings with the first K and the back-setting of each detector, if they ask for an earlier match's.

    Settings that resume a match stay as they are: its units have their K. So do those for which there is no match.
    """
    folder, how = settings.store, parse_slack(settings.slack).begins_with
    if how is None or (folder is not None and is_store(folder)):
        return settings
    parent = folder.parent if folder is not None else Path("matches")
    slack_us = last_learned_us(parent, settings, SLACK)
    backset_us: Mapping[str, int] = {}
    levels = {info.kind: info.level for info in catalogue()}  # an older version may have had other detectors
    if how == "semi":
        slack_us = {name: us for name, us in slack_us.items() if levels.get(name) == 1}
        backset_us = last_learned_us(parent, settings, BACKSET)
    begins = []
    for name in sorted(levels.keys() & {**slack_us, **backset_us}):
        k_us, back_us = slack_us.get(name, 0), backset_us.get(name, 0)
        if k_us or back_us:
            begins.append(f"{name}=kslack:{k_us / 1_000:g}" + (f":{back_us / 1_000:g}" if back_us else ""))
    text = [part for part in settings.slack.split(",") if part.strip() not in LEARNED]
    # A policy that names its detector comes last, so it is the one that counts.
    return settings.model_copy(update={"slack": ",".join(filter(None, ("kslack", *begins, *text)))})


def last_learned_us(parent: Path, settings: LiveSettings, note: str) -> Mapping[str, int]:
    """Return a note by detector of the newest match in a folder that has ended and can teach it; empty if none has."""
    wanted = settings.stored_options()
    candidates: list[tuple[str, Path]] = []
    for folder in filter(is_store, parent.iterdir() if parent.is_dir() else ()):
        try:
            run = read_run(folder)
        except StoreError:
            continue  # a damaged store teaches nothing
        stored = run.get("settings")
        if isinstance(stored, dict) and all(stored.get(name) == wanted[name] for name in _SAME[note]):
            candidates.append((str(run.get("created", "")), folder))
    for _, folder in sorted(candidates, reverse=True):
        try:
            last = newest_commit(read_commits(folder))
            learned_us = msgspec.convert(last.notes.get(note, {}) if last is not None else {}, dict[str, Delay])
        except (StoreError, msgspec.ValidationError):
            continue
        if any(learned_us.values()):  # at full speed nothing waits: no K is learned
            return learned_us
    return {}
