"""Engine states at offsets, and the epochs that fence stages off from each other.

A state is the whole of one match's engine after all blocks before ``offset``: what a source counts by, which is
arrival time in us for a capture and the number of a record for a topic. It is written
when a batch ends, before the batch is committed, under (match, end offset); a batch starts from the state
named by its start offset. A redone batch finds the same state again, because states are deleted only when
the batch that starts from a later one is under way.

An epoch is claimed by whoever starts from a stored state (or from nothing). The claim is the exclusive
creation of a file, so two stages never share an epoch. A stage whose epoch is no longer the newest has been
replaced and must not write any more: a worker may outlive the driver that gave it work.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


class StateError(Exception):
    """A state is missing or the stage has been replaced; the message says which."""


class StateStore:
    """States and epochs of one match, in a folder of its own below ``folder``."""

    def __init__(self, folder: Path, match: str) -> None:
        self.match = match
        self._states = Path(folder) / quote(match, safe="")
        self._epochs = self._states / "epochs"
        self._epochs.mkdir(parents=True, exist_ok=True)

    def claim_epoch(self) -> int:
        """Takes the next epoch, which nobody else has or will have. Epochs count from 0."""
        epoch = self.newest_epoch() + 1
        while True:
            try:
                os.close(os.open(self._epochs / str(epoch), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                epoch += 1
            else:
                return epoch

    def newest_epoch(self) -> int:
        """The last epoch that was claimed, -1 before the first."""
        return max((int(path.name) for path in self._epochs.iterdir()), default=-1)

    def write(self, offset: int, epoch: int, state: bytes) -> None:
        """Stores the state at an offset: whole or not at all, and on the disk when this returns.

        Raises:
            StateError: another stage has claimed a newer epoch.
        """
        newest = self.newest_epoch()
        if newest != epoch:
            raise StateError(f"match {self.match}: epoch {epoch} was replaced by {newest}; its state is void")
        path = self._path(offset)
        draft = path.with_name(f"{path.name}.{epoch}.draft")
        with draft.open("wb") as stream:
            stream.write(state)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    def read(self, offset: int) -> bytes:
        """The state at an offset.

        Raises:
            StateError: there is none.
        """
        try:
            return self._path(offset).read_bytes()
        except FileNotFoundError:
            raise StateError(f"match {self.match}: there is no state at {offset} in {self._states}") from None

    def offsets(self) -> list[int]:
        """Offsets at which a state is stored, ascending."""
        return sorted(int(path.stem) for path in self._states.glob("*.state"))

    def forget_before(self, offset: int) -> None:
        """Deletes states that no batch can start from any more: those at offsets below ``offset``."""
        for old in self.offsets():
            if old < offset:
                self._path(old).unlink(missing_ok=True)
        for draft in self._states.glob("*.draft"):  # of a stage that died while it wrote
            if int(draft.name.partition(".")[0]) < offset:
                draft.unlink(missing_ok=True)

    def _path(self, offset: int) -> Path:
        return self._states / f"{offset}.state"
