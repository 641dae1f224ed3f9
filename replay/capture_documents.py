"""Documents of a capture: its head, its end, and the progress of one that a gateway writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from football.errors import CaptureError
from football.match_sheet import MatchSheet
from football.untrusted import LISTING_BYTES_MAX, Count, UntrustedError, Whole, read_json

#: Version of the layout.
VERSION = "2"

#: Arrival time in a segment: what a writer holds, and what the first look into a time costs.
SEGMENT_US, HOUR_US = 5_000_000, 3_600_000_000

#: Arrival time from the first block to the end: a longer capture is no match, and its windows would never end.
LENGTH_MAX_US = 31 * 24 * HOUR_US

HEAD, END, LOCK = "head.json", "end.json", "writer.lock"

#: Progress of a capture that a gateway writes, which a gateway that is started again goes on from.
WRITTEN = "written.json"

#: Arrival time up to which such a gateway has written everything, while no feed sends anything.
PASSED = "passed.json"


class Head(msgspec.Struct, frozen=True):
    """Metadata at a capture's beginning.

    Attributes:
        version: see ``VERSION``.
        sheet: match sheet, with the input's quality.
        fingerprint: of the content's origin, so that an identical capture need not be made again.
        channel, seed: radio channel that the packets came through.
        slot_us: of the gateway, see :func:`football.packet_table.block_times`.
        segment_us: see ``SEGMENT_US``.
        begin_us: date of the first block.
        notes: further metadata.
        live_zero_us: UTC of time 0 in microseconds since 1970, of a capture that a gateway writes while packets arrive;
            None of any other.
        utc_error_us: greatest error of that, as the gateway's clock states it; None if it states none.
    """

    version: str
    sheet: MatchSheet
    fingerprint: str
    channel: str
    seed: int
    slot_us: Count
    segment_us: Annotated[int, msgspec.Meta(gt=0, le=HOUR_US)]
    begin_us: Whole
    notes: dict[str, str]
    live_zero_us: Whole | None = None
    utc_error_us: Count | None = None


class End(msgspec.Struct, frozen=True):
    """Metadata of a finished capture.

    Attributes:
        end_us: one past the date of the last block, or of a live capture one past the time that its gateway saw pass.
        blocks, packets, positions: their numbers.
        notes: further metadata.
        late_most_us: greatest time from a position's measurement to its block's date; None if it was not measured.
    """

    end_us: Whole
    blocks: Count
    packets: Count
    positions: Count
    notes: dict[str, str]
    late_most_us: Whole | None = None


class Written(msgspec.Struct, frozen=True):
    """Segments of a live capture so far: their blocks, packets and positions, and the greatest lateness."""

    blocks: Count
    packets: Count
    positions: Count
    late_most_us: Whole


class Passed(msgspec.Struct, frozen=True):
    """Blocks of a live capture that arrived before ``at_us`` are all there; later ones are dated later."""

    at_us: Whole


Document = TypeVar("Document", Head, End, Written, Passed)


def write_document(path: Path, record: Head | End | Written | Passed) -> None:
    """Replace a document of a capture."""
    draft = path.with_suffix(".draft")
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    draft.replace(path)


def read_document(path: Path, kind: type[Document]) -> Document:
    """Read a document of a capture.

    Raises:
        CaptureError: there is none, or it is damaged.
    """
    try:
        return read_json(path, kind, LISTING_BYTES_MAX)
    except FileNotFoundError as error:
        what = f"it has no {path.name}" if path.parent.is_dir() else "no such folder"
        raise CaptureError(f"{path.parent}: not a capture: {what}") from error
    except (OSError, UntrustedError) as error:
        raise CaptureError(f"{path}: not a readable capture: {error}") from error
