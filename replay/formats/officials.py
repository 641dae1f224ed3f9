"""Decisions of officials as lines of JSON: their fields, their checks, and their encoding as payloads.

A line is one decision:

    {"kind": "card", "variant": "yellow", "team": "home", "player": "home_7", "at_s": 1834.2}

``football.officials`` lists ``kind``, ``variant`` and the fields that each kind needs. ``at_s`` is when it happened,
in seconds of the match's own clock (default: when the line is read). ``said_s`` is when it was announced: before that
time of the match the line does not enter the engine. ``source`` and ``number`` identify a decision, so that its
repetition has no effect; the default is the file and the number of the line. Unusable lines go to quarantine with
file, line and reason.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from detectors.signals.official import OVERRULED, kind_of
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.officials import DECISIONS, Official
from football.packets import RejectedRecord
from football.untrusted import UntrustedError, decode_json, msgpack_decoder
from middleware.events import BEGINNING_US

#: First byte of a payload that is such a line; those of ``replay.wire`` are small numbers.
PREFIX = 0xF0

#: The file that ``touchline official`` writes to, in the folder of a match store, and who is taken to write there.
FILE, OPERATOR = "official.jsonl", "operator"

#: Kinds that a corrected event may get.
CORRECT = tuple(kind for kind in OVERRULED if not kind.startswith(("official.", "overruled")))

LINE_CHARACTERS_MAX = 4_000
MINUTES_MAX = 60
_SHOWN = 120

#: Fields that a decision has under the same names.
_NAMED = ("variant", "team", "player", "other", "minutes", "event", "note", "right_kind", "right_variant")


class OfficialError(UserError, ValueError):
    """A line that is no valid decision; the message gives the reason."""


class OfficialLine(msgspec.Struct, frozen=True, array_like=True):
    """A line as it was read.

    Attributes:
        file, number: its location; numbers begin at 1.
        text: its content.
        settled_us: watermark up to which results were settled when the line got its place in the stream.
    """

    file: str
    number: int
    text: str
    settled_us: int = BEGINNING_US


class DecisionFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a line.

    ``entered`` is the date and time of day at which it was entered, ``undoes`` the number of the decision that it
    undoes, ``origin`` id and version of the provider's event that it was; all three are for people.
    """

    kind: str
    variant: str = ""
    team: Literal["home", "away", ""] = ""
    player: str = ""
    other: str = ""
    minutes: int | None = None
    event: str = ""
    note: str = ""
    at_s: float | None = None
    announced_s: float | None = msgspec.field(default=None, name="said_s")
    right_kind: str = ""
    right_variant: str = ""
    right_s: float | None = None
    source: str = ""
    number: int | None = None
    entered: str = ""
    undoes: int | None = None
    origin: str = ""


_payloads = msgspec.msgpack.Encoder()
_decode = msgpack_decoder(OfficialLine)


def encode(line: OfficialLine) -> bytes:
    """Encode a line as a payload."""
    return bytes([PREFIX]) + _payloads.encode(line)


def is_official(payload: bytes) -> bool:
    """True if a payload is a line of officials and not a block of positions."""
    return payload[:1] == bytes([PREFIX])


def decode(payload: bytes) -> OfficialLine:
    """Decode the line of a payload.

    Raises:
        OfficialError: it begins like one and is none.
    """
    try:
        return _decode(payload[1:])
    except UntrustedError as error:
        raise OfficialError(f"not a line of officials: {error}") from error


def read(line: OfficialLine, sheet: MatchSheet, arrival_us: int) -> Official:
    """Return the decision of a line.

    Args:
        sheet: knows the players.
        arrival_us: when it was read, on the match's clock.

    Raises:
        OfficialError: it is no decision, or one that cannot be.
    """
    fields = parse(line.text)
    check(fields, sheet)
    at_us = arrival_us if fields.at_s is None else round(fields.at_s * 1e6)
    if at_us > arrival_us:
        raise OfficialError(f"at_s = {fields.at_s:g} is later than the match has come to ({arrival_us / 1e6:.3f} s)")
    number = line.number if fields.number is None else fields.number
    named = {name: getattr(fields, name) for name in _NAMED}
    right_us = None if fields.right_s is None else round(fields.right_s * 1e6)
    source = fields.source or (OPERATOR if line.file == FILE else Path(line.file).stem)
    return Official(source, number, fields.kind, at_us, right_us=right_us, **named)


def parse(text: str) -> DecisionFields:
    """Parse the fields of a line.

    Raises:
        OfficialError: it is no JSON object, or has fields of other names or types.
    """
    if len(text) > LINE_CHARACTERS_MAX:
        raise OfficialError(f"longer than {LINE_CHARACTERS_MAX} characters")
    try:
        return decode_json(text, DecisionFields)
    except UntrustedError as error:
        reason = str(error)
        raise OfficialError(reason if reason.startswith("not JSON") else f"not a decision: {reason}") from error


def check(fields: DecisionFields, sheet: MatchSheet) -> None:
    """Check that a decision is possible.

    Raises:
        OfficialError: an unknown kind or variant, a missing field, or a player who is not of that team.
    """
    decision = DECISIONS.get(fields.kind)
    if decision is None:
        raise OfficialError(f"kind = {fields.kind!r} is none of {', '.join(DECISIONS)}")
    for name in decision.needs:
        if getattr(fields, name) in ("", None):
            raise OfficialError(f"a {fields.kind} needs {name}")
    if fields.variant not in decision.variants:
        known = ", ".join(filter(None, decision.variants)) or "it has none"
        raise OfficialError(f"variant = {fields.variant!r} of a {fields.kind}: {known}")
    for name, value in (("at_s", fields.at_s), ("said_s", fields.announced_s), ("right_s", fields.right_s)):
        if value is not None and not (math.isfinite(value) and abs(value) < 1e9):
            raise OfficialError(f"{name} = {value} is not a time")
    if fields.minutes is not None and not 0 <= fields.minutes <= MINUTES_MAX:
        raise OfficialError(f"minutes = {fields.minutes} is not in 0..{MINUTES_MAX}")
    if fields.number is not None and fields.number < 0:
        raise OfficialError(f"number = {fields.number} is negative")
    if fields.kind in ("void", "correction") and kind_of(fields.event) not in OVERRULED:
        raise OfficialError(f"event = {fields.event!r} cannot be taken back; these kinds can: {', '.join(OVERRULED)}")
    if fields.right_kind and fields.right_kind not in CORRECT:
        raise OfficialError(f"right_kind = {fields.right_kind!r} is none of {', '.join(CORRECT)}")
    if fields.kind != "correction" and (fields.right_kind or fields.right_variant or fields.right_s is not None):
        raise OfficialError(f"a {fields.kind} corrects nothing: it has no right_kind, right_variant or right_s")
    _check_players(fields, sheet)


def _check_players(fields: DecisionFields, sheet: MatchSheet) -> None:
    teams = {player.object_id: player.team for player in sheet.players}
    for name in ("player", "other"):
        player_id = getattr(fields, name)
        if not player_id or not teams:
            continue
        if player_id not in teams:
            raise OfficialError(f"{name} = {player_id!r} is not on the match sheet")
        # The scorer of an own goal plays for the others.
        if fields.team and teams[player_id] != fields.team and fields.kind != "goal":
            raise OfficialError(f"{name} = {player_id!r} is not of team {fields.team}")


def rejected(line: OfficialLine, reason: str) -> RejectedRecord:
    """Return the rejected record of a line that cannot be used."""
    text = line.text if len(line.text) <= _SHOWN else line.text[: _SHOWN - 3] + "..."
    return RejectedRecord(f"{line.file} line {line.number}", "official", line.number, None, reason, text)
