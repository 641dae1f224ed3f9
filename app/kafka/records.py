"""Records of a positions topic: a match sheet, a block of packets, or the end of a match.

The key is the match id, so all records of a match stand in one partition, in order of arrival. The header ``kind`` is
the kind of the record (a block without it), ``version`` its layout:

| kind | value |
|---|---|
| ``sheet`` | JSON: ``sheet`` (match sheet), ``slot_us`` (of the gateway), ``arrival_us`` (of the newest block) |
| ``block`` | a payload of :mod:`replay.wire`, compact where it can be |
| ``end`` | JSON: ``arrival_us`` of the last block |
| ``refused`` | records that a gateway has refused, a payload of :mod:`replay.refused_records`, for the quarantine |

A sheet comes first and again every ten seconds of arrival time, for readers that join late.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from football.match_sheet import MatchSheet
from football.pitch import pitch_of
from football.untrusted import RECORD_BYTES_MAX, Count, UntrustedError, Whole, decode_json
from replay.refused_records import is_refused

VERSION = 1
SHEET, BLOCK, END, REFUSED = "sheet", "block", "end", "refused"

Headers = list[tuple[str, bytes]]


class RecordError(ValueError):
    """A record that does not belong into a positions topic; the message has the reason."""


class Sheet(msgspec.Struct, frozen=True):
    """The match sheet, the gateway's interval between blocks, and the arrival time so far.

    Raises:
        ValueError: frames with limbs, or a pitch that Law 1 does not allow.
    """

    sheet: MatchSheet
    slot_us: Count
    arrival_us: Whole

    def __post_init__(self) -> None:
        if self.sheet.quality.framed and self.sheet.quality.limbs:
            raise ValueError("input by frames has no limbs")
        pitch_of(self.sheet)


class End(msgspec.Struct, frozen=True):
    """A match is over; its last block arrived at ``arrival_us``."""

    arrival_us: Whole


class Refused(msgspec.Struct, frozen=True):
    """A payload of refused records, not decoded."""

    payload: bytes


class Blocks(msgspec.Struct, frozen=True):
    """A block's payload, not decoded."""

    payload: bytes


def headers(kind: str, version: int = VERSION) -> Headers:
    """Headers of a record, of this topic or of another with layouts of its own."""
    return [("kind", kind.encode()), ("version", str(version).encode())]


def read(value: bytes | None, record_headers: Iterable[tuple[str, bytes]] | None) -> Sheet | End | Blocks | Refused:
    """Read a record.

    Raises:
        RecordError: empty, too large, of another version, or not of the kind in its header.
    """
    head = {name: bytes(text or b"") for name, text in record_headers or ()}
    kind = head.get("kind", BLOCK.encode()).decode("ascii", "replace")
    version = head.get("version", str(VERSION).encode())
    if version != str(VERSION).encode():
        raise RecordError(f"record version {version[:20]!r} cannot be read, this program reads version {VERSION}")
    if not value:
        raise RecordError("empty record")
    if len(value) > RECORD_BYTES_MAX:
        raise RecordError(f"a record of {len(value)} bytes; at most {RECORD_BYTES_MAX}")
    if kind == BLOCK:
        return Blocks(bytes(value))
    if kind == REFUSED:
        if not is_refused(value):
            raise RecordError("a record of kind refused that begins otherwise")
        return Refused(bytes(value))
    try:
        if kind == SHEET:
            return decode_json(value, Sheet, RECORD_BYTES_MAX)
        if kind == END:
            return decode_json(value, End, RECORD_BYTES_MAX)
    except UntrustedError as error:
        raise RecordError(f"not a record of kind {kind}: {error}") from error
    raise RecordError(f"unknown kind of record {kind[:20]!r}")
