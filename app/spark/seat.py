"""A seat: the files through which the driver instructs the source and the engine of one branch of the query.

A *seat* is a branch of the query, with one source process and one engine process; it plays any number of matches. Its
list of matches is a file that the driver replaces atomically. A match whose input or engine failed is *excluded*: a
file states the reason, and the seat continues without it.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from app.base.files import write_atomically
from app.pipeline.seal import StateError, broken_seal, sealed, unsealed
from app.sources.interface import Entry
from football.match_sheet import MatchSheet

#: Files: the matches; the turn that a task requests, and the turn that was granted.
_MATCHES, _REQUESTED, _TURN = "matches.json", "requested_turn", "turn"

#: Files: the permission for tasks; the micro-batch that has ended, and the one up to which everything is committed.
_PERMITTED, _ENDED, _SETTLED = "permitted", "ended", "settled"

#: Interval at which a process that waits for the driver checks for its answer.
_POLL_S = 0.01


class StageConfig(msgspec.Struct, frozen=True):
    """Configuration of a match's engine, sent to the workers.

    Attributes:
        sheet: match sheet of the input.
        settings: passed to the pipeline.
        pipeline: ``module:class`` of the pipeline.
        states: folder of the state store.
        begin: offset before the first block, the only one that requires no stored state.
        measures: whether the engine's process completes the settings with the costs of its work before the first turn.
        placement: with several nodes, the node of each detector.
    """

    sheet: MatchSheet
    settings: Any
    pipeline: str
    states: str
    begin: int
    measures: bool = False
    placement: dict[str, int] = {}


class UncommittedError(RuntimeError):
    """Windows of a micro-batch cannot be committed; the message has the driver's reason."""


class Seat:
    """A seat's files, in a folder of its own."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def write(self, entries: list[Entry]) -> None:
        """Replaces the list of matches."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / _MATCHES, msgspec.json.encode(entries))

    def entries(self) -> list[Entry]:
        """The matches of the seat, each with the offset at which it resumes."""
        return msgspec.json.decode((self.folder / _MATCHES).read_bytes(), type=list[Entry])

    def write_stage(self, match: str, config: StageConfig) -> None:
        """Writes the configuration of a match's engine, sealed because it is unpickled."""
        write_atomically(self.folder / f"{quote(match, safe='')}.stage", b"".join(sealed(b"", pickle.dumps(config))))

    def stage(self, match: str) -> StageConfig:
        """Reads the configuration of a match's engine.

        Raises:
            StateError: another user or program wrote the file.
        """
        path = self.folder / f"{quote(match, safe='')}.stage"
        head, seal, body = unsealed(path.read_bytes())
        if seal is None or broken_seal(head, body, seal):
            raise StateError(f"{path}: was not written by us")
        return pickle.loads(body)

    def anchor(self, match: str) -> Path:
        """File that stores the wall time at which the match's clock started."""
        return self.folder / f"{quote(match, safe='')}.anchor"

    def request_turn(self) -> None:
        """Requests a turn from the driver and waits until it is granted.

        Then the list of matches has the offset at which each resumes, and the driver commits no results of an earlier
        turn any more. A failed task needs this because Spark restarts it without the driver's knowledge: only
        the driver knows which results of the first attempt are committed.

        The wait has no limit, because the first turn of a stand-by run is granted at takeover. The process ends with
        the driver.
        """
        turn = str(time.time_ns())
        write_atomically(self.folder / _REQUESTED, turn.encode())
        while self.turn() != turn:
            time.sleep(_POLL_S)

    def await_permission(self) -> None:
        """Waits until the processes of the seats have warmed up."""
        self._wait((self.folder / _PERMITTED).exists)

    def permit_tasks(self) -> None:
        """Ends :meth:`await_permission`, for good."""
        (self.folder / _PERMITTED).touch()

    def await_commits(self, batch: int) -> None:
        """Waits until the windows of the query's micro-batches up to ``batch`` are committed, and the lists written.

        Raises:
            UncommittedError: the driver cannot commit them.
        """
        if self._settled()[0] < batch:
            write_atomically(self.folder / _ENDED, str(batch).encode())
            self._wait(lambda: self._settled()[0] >= batch)
        if reason := self._settled()[1]:
            raise UncommittedError(reason)

    def ended_batch(self) -> int:
        """Number of the micro-batch that has ended last; 0 if none has."""
        return int(self._read(_ENDED) or 0)

    def settle(self, batch: int, reason: str) -> None:
        """Ends :meth:`await_commits` for this micro-batch; with a ``reason``, as a failure."""
        write_atomically(self.folder / _SETTLED, f"{batch} {reason}".encode())

    def _settled(self) -> tuple[int, str]:
        batch, _, reason = self._read(_SETTLED).partition(" ")
        return int(batch or 0), reason

    def forget_turns(self) -> None:
        """Deletes the turns and micro-batches of an earlier query."""
        for name in (_REQUESTED, _TURN, _ENDED, _SETTLED):
            (self.folder / name).unlink(missing_ok=True)

    def requested_turn(self) -> str:
        """The turn that is requested and not granted yet; empty if there is none."""
        turn = self._read(_REQUESTED)
        return turn if turn != self.turn() else ""

    def turn(self) -> str:
        """The turn that was granted last; empty before the first."""
        return self._read(_TURN)

    def grant(self, turn: str) -> None:
        """Grants a turn. The caller writes the list before, and commits nothing of an earlier turn afterwards."""
        write_atomically(self.folder / _TURN, turn.encode())

    def exclude(self, match: str, reason: str) -> None:
        """Excludes a match from the rest of this run and records the reason."""
        write_atomically(self.folder / f"{quote(match, safe='')}.out", reason.encode())

    def is_excluded(self, match: str) -> bool:
        """True if the match is excluded from this run."""
        return (self.folder / f"{quote(match, safe='')}.out").exists()

    def has_more(self, entry: Entry) -> bool:
        """True if there is more of a match to play."""
        return entry.begin < entry.stop and not self.is_excluded(entry.match)

    def others(self) -> list[Seat]:
        """The other seats of the run."""
        return [Seat(path.parent) for path in self.folder.parent.glob(f"*/{_MATCHES}") if path.parent != self.folder]

    @property
    def playing(self) -> Path:
        """File that exists while a match of the seat is open."""
        return self.folder / "playing"

    def _wait(self, is_done: Callable[[], bool]) -> None:
        """Waits for an answer of the driver in a process that Spark's Java has started; ends the process with Java."""
        parent = os.getppid()
        while not is_done():
            time.sleep(_POLL_S)
            if os.getppid() != parent:
                raise SystemExit("Spark has ended")
            if not self.folder.exists():
                raise UncommittedError(f"{self.folder} was deleted")

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return ""
