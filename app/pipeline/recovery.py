"""Recovery of a match with a damaged newest state: falls back to the state before, or reports what to do.

Theory of operation
-------------------
The store retains the states at the ends of the last two windows. If the state of the last committed window is damaged
or missing, :func:`recover` takes that window's commit back, and the match repeats the window from the state before. The
result is the same as if the process had died just before the commit. Consumers that had received the window receive the
differences, since the hub and the relay start from the content of the store.

An intact state of another program is neither restored nor deleted: the old program could still use it. A match does not
restart from its beginning by itself either, because a live match would then be late by all that was played.
"""

from __future__ import annotations

from app.pipeline.seal import StateError
from app.pipeline.state_store import DamagedStateError, StateStore
from replay.match_store import Commit, MatchStore, read_commits

#: In the folder of a match: engine states, and the relay's confirmed positions in updates and dead letters.
STATES, RELAY_MARKS = "states", ("relay.json", "rejected.json")


def recover(store: MatchStore, source: str, key: str = "") -> str:
    """Makes sure that the match can resume; returns a description of the repair, empty if none was needed.

    Args:
        store: locked by this process.
        source: ``--source`` from which the match could be played from its beginning.
        key: of the match in its run; default its id.

    Raises:
        StateError: no stored state can be restored; the message names the file and the remedy.
    """
    window, message = plan_recovery(store, source, key)
    if window is not None:
        store.drop_newest_window(window)
        for mark in RELAY_MARKS:
            (store.path / mark).unlink(missing_ok=True)
    return message


def plan_recovery(store: MatchStore, source: str, key: str = "") -> tuple[int | None, str]:
    """Plans :func:`recover`: the window that it would take back and the reason; (None, "") if no repair is needed.

    Raises:
        StateError: as there.
    """
    match = key or store.sheet.match_id
    commits = sorted((c for c in read_commits(store.path) if not c.series), key=lambda c: c.batch)
    if not commits or commits[-1].meta.ended:
        return None, ""
    states = StateStore(store.path / STATES, match)
    last, before = commits[-1], commits[-2] if len(commits) > 1 else None
    try:
        states.check(last.meta.end_offset)
        return None, ""
    except DamagedStateError as error:
        _check_older(states, before, error, source)
        return last.batch, f"{error}. Window {last.batch} is done again from the state before it"
    except StateError as error:
        raise type(error)(f"{error}. {_way_out(source)}") from error


def _way_out(source: str) -> str:
    """Advice for the case that no state can be restored."""
    return f"To play the match again from its beginning: touchline live --source {source} --store ANOTHER-FOLDER"


def _check_older(states: StateStore, before: Commit | None, newest: StateError, source: str) -> None:
    if before is None:  # the match's beginning needs no state
        return
    try:
        states.check(before.meta.end_offset)
    except StateError as error:
        raise type(error)(f"{newest}; {error}. {_way_out(source)}") from error
