"""Who plays on which seat: the files by which the driver tells source and stage of the matches there are.

A *seat* is a branch of the query, with one source and one engine process; it has any number of matches. Its roster is
a file that the driver writes anew, whole or not at all, when a match begins. A match whose input or engine failed is
*out*: a file says why, and the seat goes on without it.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from app.base.files import write_atomically
from app.pipeline.seal import StateError, broken_seal, sealed, unsealed

if TYPE_CHECKING:  # sources are asked and read in processes that start the sooner for not knowing of engines
    from app.spark.stage import StageConfig

#: Files of the turn that a task asks for and of the one that it has; how long it waits, looking so often.
_WANTED, _TURN = "wanted", "turn"
_PATIENCE_S, _POLL_S = 60.0, 0.01


class InTopic(msgspec.Struct, frozen=True):
    """Where in a topic a match is.

    Attributes:
        url: address of the topic.
        match: its id there, the key of its records.
        partition: all of it stands in this one.
        window_records, window_s: what should come in one batch, and how long that may take.
    """

    url: str
    match: str
    partition: int
    window_records: int
    window_s: float


class Entry(msgspec.Struct, frozen=True):
    """A match on a seat.

    Attributes:
        match: key of the match in this run.
        capture: folder to read; of a match out of a topic, what to warm up on.
        begin: offset from which the next batch plays it.
        speed: as ``app.base.pace.Pace``.
        stop_us: offset at which it ends at the latest.
        officials: folder of the match store and further files, where officials write.
        in_topic: what to read instead of the capture, if anything; offsets are then numbers of records.
    """

    match: str
    capture: str
    begin: int
    speed: float
    stop_us: int
    officials: tuple[str, ...] = ()
    in_topic: InTopic | None = None


class Seat:
    """A seat's files, in a folder of its own."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def write(self, entries: list[Entry]) -> None:
        """Tells who plays here."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / "roster.json", msgspec.json.encode(entries))

    def entries(self) -> list[Entry]:
        """Who plays here."""
        return msgspec.json.decode((self.folder / "roster.json").read_bytes(), type=list[Entry])

    def write_stage(self, match: str, config: StageConfig) -> None:
        """Tells how a match's engine is made. Sealed, since it is unpickled."""
        write_atomically(self.folder / f"{quote(match, safe='')}.stage", b"".join(sealed(b"", pickle.dumps(config))))

    def stage(self, match: str) -> StageConfig:
        """How a match's engine is made.

        Raises:
            StateError: somebody else wrote the file.
        """
        path = self.folder / f"{quote(match, safe='')}.stage"
        head, seal, body = unsealed(path.read_bytes())
        if seal is None or broken_seal(head, body, seal):
            raise StateError(f"{path}: was not written by us")
        return pickle.loads(body)

    def anchor(self, match: str) -> Path:
        """File that keeps when the match's clock began."""
        return self.folder / f"{quote(match, safe='')}.anchor"

    def ask(self, stopped: Callable[[], bool]) -> None:
        """Asks the driver for a turn and waits for it: from then on the roster says where each match goes on, and what
        was given in an earlier turn and is not committed by then never will be.

        A task of Spark's that failed is begun again on its own, and must know what has become of its first attempt.

        Raises:
            TimeoutError: the driver is gone.
        """
        wanted, until_s = str(time.time_ns()), time.monotonic() + _PATIENCE_S
        write_atomically(self.folder / _WANTED, wanted.encode())
        while self.turn() != wanted:
            if time.monotonic() > until_s and not stopped():
                raise TimeoutError(f"{self.folder}: nobody says from where the matches go on")
            time.sleep(_POLL_S)

    def begin_anew(self) -> None:
        """Forgets the turns of an earlier query."""
        for name in (_WANTED, _TURN):
            (self.folder / name).unlink(missing_ok=True)

    def wanted(self) -> str:
        """The turn that is asked for, if it is not there yet."""
        wanted = self._read(_WANTED)
        return wanted if wanted != self.turn() else ""

    def turn(self) -> str:
        """The turn that is; none before the first."""
        return self._read(_TURN)

    def grant(self, turn: str) -> None:
        """A turn begins; the roster is written before, and nothing of an earlier turn is committed any more."""
        write_atomically(self.folder / _TURN, turn.encode())

    def put_out(self, match: str, reason: str) -> None:
        """The match does not go on in this run."""
        write_atomically(self.folder / f"{quote(match, safe='')}.out", reason.encode())

    def is_out(self, match: str) -> bool:
        """Whether it does not go on."""
        return (self.folder / f"{quote(match, safe='')}.out").exists()

    def goes_on(self, entry: Entry) -> bool:
        """Whether there is more of a match to play."""
        return entry.begin < entry.stop_us and not self.is_out(entry.match)

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return ""
