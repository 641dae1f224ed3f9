"""Dead letters: what was kept out of a match, told to ``<topic>.rejected`` once each, whoever died in between.

The match store is what is true: a record is told when the batch that kept it out is committed, out of the store and not
out of memory. ``seq`` numbers all that was kept out of a match, from 0, in the order of the store: whoever reads the
topic takes of each match and ``seq`` the newest record. A relay that begins reads what stands, and sends what the
store holds and the topic does not. ``rejected.json`` beside the store says up to where that is certain, so only what
came after it need be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from app.base.files import write_atomically
from football.packets import RejectedRecord
from replay.match_store import read_batch

#: In the folder of a match.
DEAD_LETTER_MARK = "rejected.json"


class DeadLetter(RejectedRecord, frozen=True, kw_only=True):
    """A record that was kept out, as the topic tells it.

    Attributes:
        match: whose.
        seq: its number in the match.
        batch, number: the batch of the store that holds it, and which of that it is.
    """

    match: str
    seq: int
    batch: int
    number: int

    def digest(self) -> bytes:
        """Tells what is said apart from anything else; where the store has it does not count."""
        plain = msgspec.structs.replace(self, batch=0, number=0)
        return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).digest()


class DeadLetterMark(msgspec.Struct, frozen=True):
    """In ``partition``, the records before ``offset`` hold all letters up to ``seq``, ``number`` of ``batch``."""

    partition: int
    offset: int
    seq: int
    batch: int
    number: int


_decoder = msgspec.json.Decoder(DeadLetter)


def decode_dead_letter(value: bytes | None) -> DeadLetter | None:
    """A letter from a record's value; None if it is none."""
    try:
        return _decoder.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_mark(folder: Path) -> DeadLetterMark | None:
    """How far the topic is certain to hold what the store of a folder does; None if that is not known."""
    try:
        return msgspec.json.decode((folder / DEAD_LETTER_MARK).read_bytes(), type=DeadLetterMark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_mark(folder: Path, mark: DeadLetterMark) -> None:
    """Keeps it."""
    write_atomically(folder / DEAD_LETTER_MARK, msgspec.json.encode(mark))


class DeadLetterReader:
    """Takes the letters of a match out of its store, as batches are committed.

    Args:
        folder: of the store.
        match: its id.
        after: the last one that need not be taken.
    """

    def __init__(self, folder: Path, match: str, after: DeadLetterMark | None = None) -> None:
        self._folder, self._match = folder, match
        self._seq, self._batch = (after.seq + 1, after.batch) if after else (0, 0)
        self._rows: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._known = after.number + 1 if after else 0

    def take(self, most: int) -> list[DeadLetter]:
        """The next ones, at most so many; fewer if the store has no more.

        Raises:
            StoreError: a part of the store is damaged.
        """
        taken: list[DeadLetter] = []
        while len(taken) < most:
            if (row := next(self._rows, None)) is None:
                table = read_batch(self._folder, "quarantine", self._batch)
                if table is None:
                    break
                rows = (row for part in table.to_batches(max_chunksize=1_000) for row in part.to_pylist())
                self._rows, self._known = islice(enumerate(rows), self._known, None), 0
                self._batch += 1
                continue
            number, said = row
            taken.append(DeadLetter(match=self._match, seq=self._seq, batch=self._batch - 1, number=number, **said))
            self._seq += 1
        return taken
