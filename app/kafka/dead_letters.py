"""Dead letters: the quarantined records of a match, each sent once to ``<topic>.rejected``, whichever process dies.

The match store is the truth: a record is sent when the window that quarantined it is committed, out of the store and
not out of memory. ``seq`` numbers the quarantined records of a match from 0, in the order of the store; of each match
and ``seq`` a consumer takes the newest record. A relay that begins reads what stands in the topic, and sends what the
store holds and the topic does not. ``rejected.json`` in the match store says up to where that is certain, so only
records after it are read.
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
from football.untrusted import RECORD_BYTES_MAX, UntrustedError, decode_json, read_json
from replay.match_store import read_window

#: File in the folder of a match.
DEAD_LETTER_MARK = "rejected.json"


class DeadLetter(RejectedRecord, frozen=True, kw_only=True):
    """A quarantined record, as it stands in the topic.

    Attributes:
        match: id of the match.
        seq: its number in the match.
        batch, number: the window of the store that holds it, and its number there.
    """

    match: str
    seq: int
    batch: int
    number: int

    def digest(self) -> bytes:
        """A digest of the content without its location in the store."""
        plain = msgspec.structs.replace(self, batch=0, number=0)
        return hashlib.blake2b(msgspec.json.encode(plain), digest_size=16).digest()


class DeadLetterMark(msgspec.Struct, frozen=True):
    """In ``partition``, the records before ``offset`` hold all dead letters up to ``seq``, ``number`` of ``batch``."""

    partition: int
    offset: int
    seq: int
    batch: int
    number: int


def decode_dead_letter(value: bytes | None) -> DeadLetter | None:
    """Decode a dead letter from a record's value; None if it is none."""
    try:
        return decode_json(value or b"", DeadLetter, RECORD_BYTES_MAX)
    except UntrustedError:
        return None


def read_mark(folder: Path) -> DeadLetterMark | None:
    """The mark up to which the topic is certain to hold what a match store does; None if there is none."""
    try:
        return read_json(folder / DEAD_LETTER_MARK, DeadLetterMark)
    except (OSError, UntrustedError):
        return None


def write_mark(folder: Path, mark: DeadLetterMark) -> None:
    """Store the mark."""
    write_atomically(folder / DEAD_LETTER_MARK, msgspec.json.encode(mark))


class DeadLetterReader:
    """Reads the dead letters of a match from its store, as batches are committed.

    Args:
        folder: of the store.
        match: its id.
        after: the last one that need not be read.
    """

    def __init__(self, folder: Path, match: str, after: DeadLetterMark | None = None) -> None:
        self._folder, self._match = folder, match
        self._seq, self._batch = (after.seq + 1, after.batch) if after else (0, 0)
        self._rows: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._known = after.number + 1 if after else 0

    def take(self, limit: int) -> list[DeadLetter]:
        """The next ones, up to the limit; fewer if the store has no more.

        Raises:
            StoreError: a part of the store is damaged.
        """
        taken: list[DeadLetter] = []
        while len(taken) < limit:
            if (row := next(self._rows, None)) is None:
                table = read_window(self._folder, "quarantine", self._batch)
                if table is None:
                    break
                rows = (fields for part in table.to_batches(max_chunksize=1_000) for fields in part.to_pylist())
                self._rows, self._known = islice(enumerate(rows), self._known, None), 0
                self._batch += 1
                continue
            number, fields = row
            taken.append(DeadLetter(match=self._match, seq=self._seq, batch=self._batch - 1, number=number, **fields))
            self._seq += 1
        return taken
