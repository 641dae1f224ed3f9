"""Check of a profile against a sample: each field and measurement, and each refused record with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from app.base.pace import wall_us
from app.gateway.decisions import DecisionDecoder
from app.gateway.decoder import Decoder
from app.gateway.framing import Cutter
from app.gateway.identities import Identifier, TagTable
from app.gateway.message_tree import MESSAGE_BYTES_MAX, MessageError
from app.gateway.profile import Profile
from app.gateway.records import RecordFinder
from app.gateway.timecodes import TimecodeFeed
from app.gateway.values import RefusedError
from football.errors import UserError
from football.house_time import code_of
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from football.untrusted import UntrustedError, decode_json, decode_xml, read_bytes
from replay.formats.value_path import NOTHING

#: Bytes of a sample.
SAMPLE_BYTES_MAX = 64 << 20

#: Messages of a sample that are read.
MESSAGES_MAX = 100_000


class SampleError(UserError, ValueError):
    """A sample that cannot be read; the message has the file and the reason."""


class CheckedRecord(msgspec.Struct, frozen=True):
    """A record of a message.

    Attributes:
        message: number of its message, from 1.
        found: the values where the profile looks for them, by field; what is missing is null.
        reason: why the record is refused; empty for one that is not, or that the profile leaves out.
        transmitter, source_us, x_m, y_m, z_m, quality, sequence: the measurement; of a record without one the
            transmitter is empty.
        decision: of a feed of decisions the line of officials, which is empty for half of one.
        timecode: of a feed of timecode the frame and its rate.
    """

    message: int
    found: dict[str, Any]
    reason: str = ""
    transmitter: str = ""
    source_us: int | None = None
    x_m: float = 0.0
    y_m: float = 0.0
    z_m: float = 0.0
    quality: float = 0.0
    sequence: int = -1
    decision: str = ""
    timecode: str = ""


class CheckResult(msgspec.Struct, frozen=True):
    """Result of a sample that was decoded with a profile.

    Attributes:
        messages: of the sample.
        records: of the first messages.
        measurements: number of usable positions, decisions or frames of timecode.
        refused: by reason.
        left_out: by reason.
        corner_errors_m: of a survey.
    """

    messages: int
    records: list[CheckedRecord]
    measurements: int
    refused: dict[str, int]
    left_out: dict[str, int]
    corner_errors_m: tuple[float, ...] = ()


def messages_of(profile: Profile, path: Path) -> Iterator[bytes]:
    """Yield the messages of a sample. JSON or XML in a file is one document if it is one, else a message a line.

    Raises:
        SampleError: the file cannot be read, or cannot be cut into messages.
    """
    try:
        content = read_bytes(path, SAMPLE_BYTES_MAX)
    except (OSError, UntrustedError) as error:
        raise SampleError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if profile.format in ("json", "xml") and len(content) <= MESSAGE_BYTES_MAX and _is_one_document(profile, content):
        yield content
        return
    cutter = Cutter(profile.framing)
    for number, message in enumerate(cutter.feed(content)):
        if number == MESSAGES_MAX:
            raise SampleError(f"{path}: more than {MESSAGES_MAX} messages")
        yield message
    if rest := cutter.rest():
        if profile.framing.cut != "lines":
            raise SampleError(f"{path}: {len(rest)} bytes at its end are no whole message")
        yield rest


def _is_one_document(profile: Profile, content: bytes) -> bool:
    try:
        if profile.format == "xml":
            decode_xml(content, MESSAGE_BYTES_MAX)
        else:
            decode_json(content, object, MESSAGE_BYTES_MAX)
    except UntrustedError:
        return False
    return True


def check_sample(
    profile: Profile, path: Path, sheet: MatchSheet, table: TagTable | None = None, topic: str = "", show: int = 20
) -> CheckResult:
    """Decode a sample with a profile.

    Args:
        profile: form of the feed.
        path: of the sample.
        sheet: match sheet, for players and pitch.
        table: of tags that may change.
        topic: of MQTT, on which the sample came.
        show: records to list.

    Raises:
        SampleError: the file cannot be read.
        GatewayProfileError: the profile contradicts itself or the sheet.
    """
    identifier = Identifier(profile.identities, sheet, table)
    if profile.gives == "decisions":
        return _check_decisions(profile, messages_of(profile, path), sheet, identifier, show)
    if profile.gives == "timecode":
        return _check_timecode(profile, messages_of(profile, path), show)
    decoder, looker = Decoder(profile, sheet, identifier), Decoder(profile, sheet, identifier)
    records: list[CheckedRecord] = []
    refused: dict[str, int] = {}
    measurements = 0
    for number, message in enumerate(messages_of(profile, path), 1):
        decoded = decoder.decode(message, topic, 2**61)
        measurements += len(decoded.measurements)
        for record in decoded.rejected:
            refused[record.reason] = refused.get(record.reason, 0) + 1
        if len(records) < show:
            records += _shown(looker, message, topic, number)[: show - len(records)]
    return CheckResult(
        decoder.messages, records, measurements, refused, dict(decoder.left_out), decoder.corner_errors_m
    )


def _check_decisions(
    profile: Profile, messages: Iterator[bytes], sheet: MatchSheet, identifier: Identifier, show: int
) -> CheckResult:
    """Decode a sample of decisions. What a record amends or deletes is not looked for: each is shown by itself."""
    decoder = DecisionDecoder(profile, sheet, wall_us(), identifier)
    records: list[CheckedRecord] = []
    refused: dict[str, int] = {}
    usable = left_out = 0
    for number, message in enumerate(messages, 1):
        rejected: list[RejectedRecord] = []
        unwanted, wanted = set[str](), set[str]()  # a record stands once in each section
        for record in decoder.finder.found(message, "", rejected):
            (wanted if record.is_wanted else unwanted).add(record.key)
            line = reason = ""
            try:
                stated = decoder.statement(record, 2**61) if record.is_wanted else None
            except RefusedError as error:
                reason = str(error)
                refused[reason] = refused.get(reason, 0) + 1
            else:
                if stated is not None:
                    line = msgspec.json.encode(stated.decision).decode() if stated.decision else f"delete {stated.id}"
                line = line or "waits for its other half"
                usable += stated is not None
            if record.is_wanted and len(records) < show:
                values = {name: None if value is NOTHING else value for name, value in record.values.items()}
                records.append(CheckedRecord(number, values, reason, decision=line))
        for one in rejected:
            refused[one.reason] = refused.get(one.reason, 0) + 1
        left_out += len(unwanted - wanted)
    others = {"no decision": left_out} if left_out else {}
    return CheckResult(decoder.finder.messages, records, usable, refused, others)


def _check_timecode(profile: Profile, messages: Iterator[bytes], show: int) -> CheckResult:
    """Decode a sample of timecode."""
    feed, finder = TimecodeFeed("sample", profile), RecordFinder(profile)
    records: list[CheckedRecord] = []
    refused: dict[str, int] = {}
    usable = left_out = 0
    for number, message in enumerate(messages, 1):
        rejected: list[RejectedRecord] = []
        for record in finder.found(message, "", rejected):
            if not record.is_wanted:
                left_out += 1
                continue
            text = reason = ""
            try:
                frame, rate = feed.frame(record.values)
                text = f"{code_of(frame, rate)} at {rate}"
                usable += 1
            except RefusedError as error:
                reason = str(error)
                refused[reason] = refused.get(reason, 0) + 1
            if len(records) < show:
                values = {name: None if value is NOTHING else value for name, value in record.values.items()}
                records.append(CheckedRecord(number, values, reason, timecode=text))
        for one in rejected:
            refused[one.reason] = refused.get(one.reason, 0) + 1
    return CheckResult(finder.messages, records, usable, refused, {"no timecode": left_out} if left_out else {})


def _shown(decoder: Decoder, message: bytes, topic: str, number: int) -> list[CheckedRecord]:
    """The records of a message with the values that were found."""
    try:
        found = decoder.fields(message, topic)
    except MessageError:
        return []
    shown = []
    for record in found:
        values = {name: None if value is NOTHING else value for name, value in record.values.items()}
        measured, reason = decoder.examine(record)
        shown.append(CheckedRecord(number, values, reason, *(measured or ())))
    return shown
