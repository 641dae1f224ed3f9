"""What can be done when the newest state of a match is damaged, and what people are told when nothing can.

Theory of operation
-------------------
States are kept for the last two ends of batches. If that of the last committed batch is damaged or missing, the
match goes back by one batch: its commit is taken back and the batch is done again from the state before, which is what
would have happened had the process died a moment earlier. Whoever had been told of that batch is told what changes,
since the hub and the relay begin with what the store holds then.

A state that is whole but of another program is never gone on from and never thrown away: the old program could still
use it. Nor does a match begin anew by itself, because at the speed of life it would be late by all that was played.
"""

from __future__ import annotations

from app.pipeline.seal import StateError
from app.pipeline.state_store import DamagedStateError, StateStore
from replay.match_store import Commit, MatchStore, read_commits

#: In the folder of a match: engine states, and where the relay to a topic was sure of updates and of letters.
STATES, RELAY_MARKS = "states", ("relay.json", "rejected.json")


def recover(store: MatchStore, source: str, key: str = "") -> str:
    """Makes sure that the match can be gone on with; returns what was done for that, empty if nothing had to be.

    Args:
        store: locked, nobody else writes.
        source: what the match could be played from anew.
        key: of the match in its run; default its id.

    Raises:
        StateError: no state can be gone on from; the message names the file and the way out.
    """
    batch, message = outlook(store, source, key)
    if batch is not None:
        store.drop_newest_batch(batch)
        for mark in RELAY_MARKS:
            (store.path / mark).unlink(missing_ok=True)
    return message


def outlook(store: MatchStore, source: str, key: str = "") -> tuple[int | None, str]:
    """What :func:`recover` would do: the batch that it would take back and why; None and nothing if all is well.

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
        return last.batch, f"{error}. Batch {last.batch} is done again from the state before it"
    except StateError as error:
        raise type(error)(f"{error}. {_way_out(source)}") from error


def _way_out(source: str) -> str:
    """What to do if no state can be gone on from, in words."""
    return f"To play the match again from its beginning: touchline live --source {source} --store ANOTHER-FOLDER"


def _check_older(states: StateStore, before: Commit | None, newest: StateError, source: str) -> None:
    if before is None:  # the match's beginning needs no state
        return
    try:
        states.check(before.meta.end_offset)
    except StateError as error:
        raise type(error)(f"{newest}; {error}. {_way_out(source)}") from error
