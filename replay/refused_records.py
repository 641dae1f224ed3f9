"""Refused records of a live capture, each at the arrival time at which a reader of the capture gets it.

A gateway refuses records that no packet can hold. It writes them to ``refused.jsonl`` in the capture's folder, dated by
the next block and before it, so a range of arrival times has the same ones whenever it is read. To the pipeline they
come as payloads of their own among the blocks, and go to the match's quarantine.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from football.packets import RejectedRecord
from football.untrusted import UntrustedError, decode_json, msgpack_decoder

#: File in the folder of a live capture.
FILE = "refused.jsonl"

#: First byte of a payload of refused records; see :mod:`replay.wire` and :mod:`replay.formats.officials` for others.
PREFIX = 0xF1

#: Records of a payload at most, and characters of a text in one.
RECORDS_MAX, CHARACTERS_MAX = 1_000, 500

Payloads = Iterator[tuple[int, bytes]]


class RefusedLine(msgspec.Struct, frozen=True):
    """A line of the file: refused records, and the arrival time at which a reader gets them."""

    at_us: int
    records: tuple[RejectedRecord, ...]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgpack_decoder(tuple[RejectedRecord, ...])


def encode(records: Sequence[RejectedRecord]) -> bytes:
    """Encode refused records as a payload."""
    return bytes([PREFIX]) + _encode(tuple(records))


def is_refused(payload: bytes) -> bool:
    """True if a payload is refused records and not a block of positions."""
    return payload[:1] == bytes([PREFIX])


def decode(payload: bytes, where: str) -> tuple[RejectedRecord, ...]:
    """Decode a payload of refused records; one that is damaged is a refused record itself.

    Args:
        payload: that :func:`is_refused`.
        where: it was, for the record's location.
    """
    try:
        records = _decode(payload[1:])
    except UntrustedError as error:
        return (RejectedRecord(where, "", -1, None, f"not refused records: {error}", payload[:40].hex()),)
    return tuple(_clipped(record) for record in records[:RECORDS_MAX])


def append_refused(folder: Path, at_us: int, records: Sequence[RejectedRecord]) -> None:
    """Append records to the file of a capture, before a block of ``at_us`` can be read."""
    lines = [
        msgspec.json.encode(RefusedLine(at_us, tuple(map(_clipped, records[first : first + RECORDS_MAX]))))
        for first in range(0, len(records), RECORDS_MAX)
    ]
    with (folder / FILE).open("ab+") as file:
        # After a crash the last line may be torn; nobody has used it.
        size = file.seek(0, os.SEEK_END)
        if size and (file.seek(size - 1), file.read(1))[1] != b"\n":
            file.write(b"\n")
        file.write(b"".join(line + b"\n" for line in lines))


class RefusedReader:
    """Reads the file of a capture that may grow, each line once."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._offset = 0
        self._lines: list[RefusedLine] = []

    def between(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """Yield (time, payload) of the lines dated ``start_us <= time < end_us``."""
        self._read()
        first, stop = (bisect_left(self._lines, at_us, key=_time_of) for at_us in (start_us, end_us))
        for line in self._lines[first:stop]:
            yield line.at_us, encode(line.records)

    def among(self, blocks: Payloads, start_us: int, end_us: int) -> Payloads:
        """Yield the blocks of a range, and before each the records dated up to it; empty payloads pass."""
        next_us = start_us
        for at_us, payload in blocks:
            if payload:
                yield from self.between(next_us, at_us + 1)
                next_us = at_us + 1
            yield at_us, payload
        yield from self.between(next_us, end_us)

    def _read(self) -> None:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size <= self._offset:
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read(size - self._offset)
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        for line in data[:whole].splitlines():
            with suppress(UntrustedError):  # torn by a crash: nobody has used it
                self._lines.append(decode_json(line, RefusedLine))


def _time_of(line: RefusedLine) -> int:
    return line.at_us


def _clipped(record: RejectedRecord) -> RejectedRecord:
    texts = {name: getattr(record, name) for name in ("record", "transmitter", "reason", "raw")}
    if all(len(text) <= CHARACTERS_MAX for text in texts.values()):
        return record
    return msgspec.structs.replace(record, **{name: text[:CHARACTERS_MAX] for name, text in texts.items()})
