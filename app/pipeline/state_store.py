"""Engine states at offsets, and the epochs that fence stages off from each other.

A state is the whole of one match's engine after all blocks before ``offset``: what a source counts by, which is
arrival time in us for a capture and the number of a record for a topic. It is written
when a batch ends, before the batch is committed, under (match, end offset); a batch starts from the state
named by its start offset. A redone batch finds the same state again, because states are deleted only when
the batch that starts from a later one is committed.

A state's file has the epoch of its writer in its name, and readers take the newest. So what is written late, by a
process that stood still while another took over, replaces nothing: neither the state that the other has stored, nor the
one of a certain epoch for which the driver waits before it commits.

A state is a pickle, and a pickle runs what it says. So each is sealed (:mod:`app.pipeline.seal`) over all that the file
says: match, offset, what made it, and the state. Whatever was cut short, changed, renamed or brought from elsewhere is
refused before a byte of it is unpickled; and so is what was made by other code or other detectors, because only
the code that made a state goes on from it exactly.

An epoch is claimed by whoever starts from a stored state (or from nothing). The claim is the exclusive
creation of a file, so two stages never share an epoch. A stage whose epoch is no longer the newest has been
replaced and must not write any more: a worker may outlive the driver that gave it work.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from app.pipeline.seal import Maker, StateError, broken_seal, key_id, sealed, unsealed

#: Version of the layout of a state's file.
VERSION = 2

__all__ = ["DamagedStateError", "OtherStateError", "StateError", "StateStore"]


class DamagedStateError(StateError):
    """A state that is missing, cut short, changed, or not one of this match and offset; an older one may serve."""


class OtherStateError(StateError):
    """A whole state that this program must not go on from: of another version, other detectors, another key."""


class Head(msgspec.Struct, frozen=True):
    """What a state's file says before the state."""

    version: int
    key: str
    match: str
    offset: int
    maker: Maker
    epoch: int = -1


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

    def write(self, offset: int, epoch: int, state: bytes, maker: Maker) -> None:
        """Stores the state at an offset: whole or not at all, and on the disk when this returns.

        Raises:
            StateError: another stage has claimed a newer epoch, or there is no key to seal with.
        """
        newest = self.newest_epoch()
        if newest != epoch:
            raise StateError(f"match {self.match}: epoch {epoch} was replaced by {newest}; its state is void")
        head = msgspec.json.encode(Head(VERSION, key_id(), self.match, offset, maker, epoch))
        path = self._path(offset, epoch)
        draft = path.with_suffix(".draft")
        with draft.open("wb") as stream:
            stream.writelines(sealed(head, state))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)

    def read(self, offset: int, maker: Maker) -> bytes:
        """The state at an offset, of the newest epoch that stored one, as ``maker`` made it.

        Raises:
            DamagedStateError: there is none, or its file is damaged.
            OtherStateError: its file is of another version, or somebody else made it.
        """
        head, state = self._read(offset)
        if difference := _difference(head.maker, maker):
            raise OtherStateError(
                f"{self._newest(offset)}: {difference}. Only what made a state can go on from it: use that, or play "
                "the match again from its beginning into another --store"
            )
        return state

    def check(self, offset: int) -> Maker:
        """Who made the state at an offset, if it is there and whole.

        Raises:
            DamagedStateError, OtherStateError: see :meth:`read`.
        """
        return self._read(offset)[0].maker

    def _read(self, offset: int) -> tuple[Head, bytes]:
        path = self._newest(offset)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise DamagedStateError(f"match {self.match}: there is no state at {offset} in {self._states}") from None
        except OSError as error:
            raise DamagedStateError(f"{path}: cannot be read: {error.strerror or error}") from error
        sealed_head, seal, state = unsealed(content)
        if seal is None:
            raise DamagedStateError(
                f"{path}: damaged, or from before states were sealed: it does not begin like a state"
            )
        try:
            head = msgspec.json.decode(sealed_head, type=Head)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise DamagedStateError(f"{path}: damaged: its head cannot be read") from None
        if head.version != VERSION:
            raise OtherStateError(f"{path}: is of version {head.version}, this program reads version {VERSION}")
        if head.key != key_id():
            raise OtherStateError(
                f"{path}: was sealed with another key, by another user or on another machine, and is not trusted"
            )
        if broken_seal(sealed_head, state, seal):
            raise DamagedStateError(f"{path}: damaged: its seal is broken (cut short or changed)")
        if (head.match, head.offset, self._path(head.offset, head.epoch)) != (self.match, offset, path):
            raise DamagedStateError(f"{path}: is the state of match {head.match} at {head.offset}, epoch {head.epoch}")
        return head, state

    def has(self, offset: int, epoch: int) -> bool:
        """Whether there is a state at an offset by an epoch, whatever it is."""
        return self._path(offset, epoch).exists()

    def offsets(self) -> list[int]:
        """Offsets at which a state is stored, ascending."""
        return sorted({_offset_of(path) for path in self._states.glob("*.state")})

    def forget_before(self, offset: int) -> None:
        """Deletes what no batch can start from any more: states, and what was left of them, below ``offset``."""
        for path in self._states.iterdir():
            if path.suffix in (".state", ".draft") and _offset_of(path) < offset:
                path.unlink(missing_ok=True)

    def _path(self, offset: int, epoch: int) -> Path:
        return self._states / f"{offset}.{epoch}.state"

    def _newest(self, offset: int) -> Path:
        """The file of the newest epoch at an offset; one from before epochs stood there only if there is no other."""
        epochs = [int(path.name.split(".")[1]) for path in self._states.glob(f"{offset}.*.state")]
        return self._path(offset, max(epochs)) if epochs else self._states / f"{offset}.state"


def _offset_of(path: Path) -> int:
    return int(path.name.partition(".")[0])


def _difference(made: Maker, mine: Maker) -> str:
    """In what two makers differ, in words; empty if in nothing."""
    if made.detectors != mine.detectors:
        missing, new = _without(made.detectors, mine.detectors), _without(mine.detectors, made.detectors)
        differences = [f"without {', '.join(missing)}"] * bool(missing) + [f"with {', '.join(new)} besides"] * bool(new)
        return f"was made by other detectors: this program is {' and '.join(differences) or 'wired in another order'}"
    if made.parameters != mine.parameters:
        return "was made with other parameters"
    return (
        "" if made.code == mine.code else f"was made by another version of the program ({made.code}, not {mine.code})"
    )


def _without(these: Sequence[str], those: Sequence[str]) -> list[str]:
    return [name for name in these if name not in those]
