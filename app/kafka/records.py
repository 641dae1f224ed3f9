"""Records of a positions topic: a match sheet, a block of packets, or the end of a match.

The key is the match id, so all records of a match stand in one partition, in order of arrival. The header ``kind`` is
the kind of the record (a block without it), ``version`` its layout:

| kind | value |
|---|---|
| ``sheet`` | JSON: ``sheet`` (match sheet), ``slot_us`` (of the gateway), ``arrival_us`` (of the newest block) |
| ``block`` | a payload of :mod:`replay.wire`, compact where it can be |
| ``end`` | JSON: ``arrival_us`` of the last block |

A sheet comes first and again every ten seconds of arrival time, for readers that join late.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

import msgspec

from football.match_sheet import MatchSheet
from football.pitch import pitch_of

VERSION = 1
SHEET, BLOCK, END = "sheet", "block", "end"

#: A record is no larger; a block of a full-rate match has some 4 kB.
BYTES_MAX = 1_000_000

#: Positions a second of one match; the fastest systems give 50,000.
RATE_MAX_HZ = 500_000

Headers = list[tuple[str, bytes]]


class RecordError(ValueError):
    """A record that does not belong into a positions topic; the message has the reason."""


#: More than two squads have; the cost of detectors grows with the square.
PLAYERS_MAX, LIMBS_MAX = 200, 20

#: Bytes of a match id as the name of a file or folder.
NAME_BYTES_MAX = 200


class Sheet(msgspec.Struct, frozen=True):
    """The match sheet, the gateway's interval between blocks, and the arrival time so far.

    Raises:
        ValueError: it declares more than any match has, for which memory would be reserved, or an id that no folder
            can have.
    """

    sheet: MatchSheet
    slot_us: int
    arrival_us: int

    def __post_init__(self) -> None:
        quality, name = self.sheet.quality, self.sheet.match_id
        if name in ("", ".", "..") or not name.isprintable() or len(quote(name, safe="")) > NAME_BYTES_MAX:
            raise ValueError("the id of the match cannot be the name of a folder")
        if len(self.sheet.players) > PLAYERS_MAX or len(quality.limbs) > LIMBS_MAX:
            raise ValueError(f"at most {PLAYERS_MAX} players, and {LIMBS_MAX} limbs of each")
        if quality.framed and quality.limbs:
            raise ValueError("input by frames has no limbs")
        pitch_of(self.sheet)
        bodies = len(self.sheet.players) * max(1, len(quality.limbs))
        if quality.ball_hz <= 0 or quality.body_hz <= 0 or quality.ball_hz + bodies * quality.body_hz > RATE_MAX_HZ:
            raise ValueError(f"rates must be above 0, and all together at most {RATE_MAX_HZ} positions/s")


class End(msgspec.Struct, frozen=True):
    """A match is over; its last block arrived at ``arrival_us``."""

    arrival_us: int


class Blocks(msgspec.Struct, frozen=True):
    """A block's payload, not decoded."""

    payload: bytes


_sheets, _ends = msgspec.json.Decoder(Sheet), msgspec.json.Decoder(End)


def headers(kind: str, version: int = VERSION) -> Headers:
    """Headers of a record, of this topic or of another with layouts of its own."""
    return [("kind", kind.encode()), ("version", str(version).encode())]


def read(value: bytes | None, record_headers: Iterable[tuple[str, bytes]] | None) -> Sheet | End | Blocks:
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
    if len(value) > BYTES_MAX:
        raise RecordError(f"a record of {len(value)} bytes; at most {BYTES_MAX}")
    if kind == BLOCK:
        return Blocks(bytes(value))
    try:
        if kind == SHEET:
            return _sheets.decode(value)
        if kind == END:
            return _ends.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError(f"not a record of kind {kind}: {error}") from error
    raise RecordError(f"unknown kind of record {kind[:20]!r}")
