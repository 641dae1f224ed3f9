"""A seat: the files by which the driver tells the source and the engine of one branch of the query what to play.

A *seat* is a branch of the query, with one source process and one engine process; it plays any number of matches. Its
list of matches is a file that the driver writes anew, whole or not at all. A match whose input or engine failed is
*excluded*: a file says why, and the seat plays on without it.
"""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from app.base.files import write_atomically
from app.pipeline.seal import StateError, broken_seal, sealed, unsealed
from app.sources.interface import Entry
from football.match_sheet import MatchSheet

#: Files: the matches; the turn that a task asks for and the one that it has.
_MATCHES, _WANTED, _TURN = "matches.json", "wanted", "turn"

#: A task that waits for its turn looks so often.
_POLL_S = 0.01


class StageConfig(msgspec.Struct, frozen=True):
    """How a match's engine is made; travels to the workers.

    Attributes:
        sheet: match sheet of the input.
        settings: handed to the pipeline.
        pipeline: ``module:class`` of the pipeline.
        states: folder of the state store.
        begin: offset before the first block, the only one that needs no stored state.
    """

    sheet: MatchSheet
    settings: Any
    pipeline: str
    states: str
    begin: int


class Seat:
    """A seat's files, in a folder of its own."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def write(self, entries: list[Entry]) -> None:
        """Replaces the list of matches."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / _MATCHES, msgspec.json.encode(entries))

    def entries(self) -> list[Entry]:
        """The matches of the seat, and from which offset each is to be played."""
        return msgspec.json.decode((self.folder / _MATCHES).read_bytes(), type=list[Entry])

    def write_stage(self, match: str, config: StageConfig) -> None:
        """States how a match's engine is made. Sealed, since it is unpickled."""
        write_atomically(self.folder / f"{quote(match, safe='')}.stage", b"".join(sealed(b"", pickle.dumps(config))))

    def stage(self, match: str) -> StageConfig:
        """How a match's engine is made.

        Raises:
            StateError: another user or program wrote the file.
        """
        path = self.folder / f"{quote(match, safe='')}.stage"
        head, seal, body = unsealed(path.read_bytes())
        if seal is None or broken_seal(head, body, seal):
            raise StateError(f"{path}: was not written by us")
        return pickle.loads(body)

    def anchor(self, match: str) -> Path:
        """File that keeps when the match's clock began."""
        return self.folder / f"{quote(match, safe='')}.anchor"

    def ask(self) -> None:
        """Asks the driver for a turn and waits for it.

        From then on the list says where each match goes on, and what an earlier turn gave and is not committed by then
        never will be. A task that failed is begun again by Spark alone, and must know what became of its first attempt.

        A run that stands by lets its task wait for as long as it takes. If the driver dies, so does this process.
        """
        wanted = str(time.time_ns())
        write_atomically(self.folder / _WANTED, wanted.encode())
        while self.turn() != wanted:
            time.sleep(_POLL_S)

    def forget_turns(self) -> None:
        """Forgets the turns of an earlier query."""
        for name in (_WANTED, _TURN):
            (self.folder / name).unlink(missing_ok=True)

    def wanted(self) -> str:
        """The turn that is asked for and was not given yet; empty if there is none."""
        wanted = self._read(_WANTED)
        return wanted if wanted != self.turn() else ""

    def turn(self) -> str:
        """The turn that was given last; empty before the first."""
        return self._read(_TURN)

    def grant(self, turn: str) -> None:
        """Gives a turn. The list is written before, and nothing of an earlier turn is committed afterwards."""
        write_atomically(self.folder / _TURN, turn.encode())

    def exclude(self, match: str, reason: str) -> None:
        """The match does not go on in this run."""
        write_atomically(self.folder / f"{quote(match, safe='')}.out", reason.encode())

    def is_excluded(self, match: str) -> bool:
        """Whether the match does not go on in this run."""
        return (self.folder / f"{quote(match, safe='')}.out").exists()

    def goes_on(self, entry: Entry) -> bool:
        """Whether there is more of a match to play."""
        return entry.begin < entry.stop and not self.is_excluded(entry.match)

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return ""
