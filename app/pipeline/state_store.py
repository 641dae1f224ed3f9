"""Store of engine states by offset, and of the epochs that fence off replaced stages.

A state is the whole engine of one match after all blocks before ``offset``. An offset is an arrival time in us for a
capture and a record number for a topic. The state is written when a window ends, before the window is committed, under
(match, end offset); a window starts from the state at its start offset. A repeated window finds the same state again,
because a state is deleted only when a window that starts from a later one is committed.

The name of a state's file holds the epoch of its writer, and readers take the newest epoch. A process that was
suspended while another took over may still write a state. That late write replaces neither the state of the newer
epoch, nor the state of a given epoch for which the driver waits before it commits.

A state is a pickle, and unpickling runs code. So each file is sealed (:mod:`app.pipeline.seal`) over its whole content:
match, offset, maker, and state. A file that was truncated, changed, renamed or copied from elsewhere is refused before
any byte of it is unpickled. A state of other code or other detectors is refused, too, because only the code that made a
state continues from it exactly.

A stage that starts from a stored state (or from nothing) claims an epoch. The claim is the exclusive creation of a
file, so two stages never share an epoch. A stage whose epoch is no longer the newest has been replaced and must not
write any more: a worker may outlive the driver that started it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import msgspec

from app.pipeline.seal import Maker, StateError, broken_seal, key_id, sealed, unsealed
from football.untrusted import UntrustedError, decode_json, is_name

#: Version of the layout of a state's file.
VERSION = 2

__all__ = ["DamagedStateError", "OtherStateError", "StateError", "StateStore"]


class DamagedStateError(StateError):
    """A state that is missing, cut short, changed, or not one of this match and offset; an older one may serve."""


class OtherStateError(StateError):
    """An intact state that this program must not restore: of another version, other detectors, another key."""


class Head(msgspec.Struct, frozen=True):
    """Head of a state's file, before the state."""

    version: int
    key: str
    match: str
    offset: int
    maker: Maker
    epoch: int = -1


class StateStore:
    """States and epochs of one match, in a folder of its own below ``folder``."""

    def __init__(self, folder: Path, match: str) -> None:
        if not is_name(match):
            raise StateError(f"{match[:40]!r} cannot be the name of a folder of states")
        self.match = match
        self._states = Path(folder) / quote(match, safe="")
        self._epochs = self._states / "epochs"
        self._epochs.mkdir(parents=True, exist_ok=True)

    def claim_epoch(self) -> int:
        """Claims the next epoch exclusively. Epochs count from 0."""
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
        """Stores the state at an offset, atomically; it is on the disk when the call returns.

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
        """Reads the state at an offset, of the newest epoch that stored one.

        Raises:
            DamagedStateError: there is none, or its file is damaged.
            OtherStateError: its file has another version, or its maker is not ``maker``.
        """
        head, state = self._read(offset)
        if difference := _difference(head.maker, maker):
            raise OtherStateError(
                f"{self._newest(offset)}: {difference}. Only what made a state can go on from it: use that, or play "
                "the match again from its beginning into another --store"
            )
        return state

    def check(self, offset: int) -> Maker:
        """Checks that the state at an offset exists and is intact; returns its maker.

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
            head = decode_json(sealed_head, Head)
        except UntrustedError:
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
        """True if a state of an epoch is stored at an offset. Does not check its content."""
        return self._path(offset, epoch).exists()

    def offsets(self) -> list[int]:
        """Offsets at which a state is stored, ascending."""
        return sorted({_offset_of(path) for path in self._states.glob("*.state")})

    def forget_before(self, offset: int) -> None:
        """Deletes states and abandoned drafts below ``offset``, from which no window can start any more."""
        for path in self._states.iterdir():
            if path.suffix in (".state", ".draft") and _offset_of(path) < offset:
                path.unlink(missing_ok=True)

    def _path(self, offset: int, epoch: int) -> Path:
        return self._states / f"{offset}.{epoch}.state"

    def _newest(self, offset: int) -> Path:
        """File of the newest epoch at an offset; a file without an epoch in its name only if there is no other."""
        epochs = [int(path.name.split(".")[1]) for path in self._states.glob(f"{offset}.*.state")]
        return self._path(offset, max(epochs)) if epochs else self._states / f"{offset}.state"


def _offset_of(path: Path) -> int:
    return int(path.name.partition(".")[0])


def _difference(made: Maker, mine: Maker) -> str:
    """Describes the difference of two makers for a message; empty if they are equal."""
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
