"""What officials say as a line of JSON: its fields, its checks, and how it travels to the pipeline.

A line is one decision:

    {"kind": "card", "variant": "yellow", "team": "home", "player": "home_7", "at_s": 1834.2}

``kind``, ``variant`` and what each kind needs: ``detectors.signals.official``. ``at_s`` is when it happened, in seconds
of the match's own clock (without it: when the line is read). ``said_s`` is when it was said: before that time of the
match the line is not given to the engine. ``source`` and ``number`` tell a decision from its repetition; without them
the file and the number of the line count. What cannot be used goes to quarantine with file, line and reason.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from detectors.signals.official import OVERRULED
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.officials import DECISIONS, Official
from football.packets import RejectedRecord
from middleware.events import BEGINNING_US

#: First byte of a payload that is such a line; those of ``replay.wire`` are small numbers.
PREFIX = 0xF0

#: The file that ``touchline official`` writes to, in the folder of a match store, and who is taken to write there.
FILE, OPERATOR = "official.jsonl", "operator"

LINE_CHARACTERS_MAX = 4_000
MINUTES_MAX = 60
_SHOWN = 120


class OfficialError(UserError, ValueError):
    """A line that says no decision; the message says why not."""


class OfficialLine(msgspec.Struct, frozen=True, array_like=True):
    """A line as it was read.

    Attributes:
        file, number: where; numbers begin at 1.
        text: as it stands there.
        settled_us: event time before which nothing could be changed any more when the line got its place.
    """

    file: str
    number: int
    text: str
    settled_us: int = BEGINNING_US


class DecisionFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a line."""

    kind: str
    variant: str = ""
    team: Literal["home", "away", ""] = ""
    player: str = ""
    other: str = ""
    minutes: int | None = None
    event: str = ""
    note: str = ""
    at_s: float | None = None
    said_s: float | None = None
    source: str = ""
    number: int | None = None


_payloads = msgspec.msgpack.Encoder()
_lines = msgspec.msgpack.Decoder(OfficialLine)
_said = msgspec.json.Decoder(DecisionFields)


def encode(line: OfficialLine) -> bytes:
    """A line as a payload."""
    return bytes([PREFIX]) + _payloads.encode(line)


def is_official(payload: bytes) -> bool:
    """Whether a payload is a line of officials and not a block of positions."""
    return payload[:1] == bytes([PREFIX])


def decode(payload: bytes) -> OfficialLine:
    """The line of a payload.

    Raises:
        OfficialError: it begins like one and is none.
    """
    try:
        return _lines.decode(payload[1:])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise OfficialError(f"not a line of officials: {error}") from error


def read(line: OfficialLine, sheet: MatchSheet, arrival_us: int) -> Official:
    """The decision that a line says.

    Args:
        sheet: knows the players.
        arrival_us: when it was read, on the match's clock.

    Raises:
        OfficialError: it says none, or one that cannot be.
    """
    said = parse(line.text)
    check(said, sheet)
    at_us = arrival_us if said.at_s is None else round(said.at_s * 1e6)
    if at_us > arrival_us:
        raise OfficialError(f"at_s = {said.at_s:g} is later than the match has come to ({arrival_us / 1e6:.3f} s)")
    number = line.number if said.number is None else said.number
    named = {name: getattr(said, name) for name in ("variant", "team", "player", "other", "minutes", "event", "note")}
    source = said.source or (OPERATOR if line.file == FILE else Path(line.file).stem)
    return Official(source, number, said.kind, at_us, **named)


def parse(text: str) -> DecisionFields:
    """The fields of a line.

    Raises:
        OfficialError: it is no JSON object, or has fields of other names or types.
    """
    if len(text) > LINE_CHARACTERS_MAX:
        raise OfficialError(f"longer than {LINE_CHARACTERS_MAX} characters")
    try:
        return _said.decode(text)
    except msgspec.ValidationError as error:
        raise OfficialError(f"not a decision: {error}") from error
    except msgspec.DecodeError as error:
        raise OfficialError(f"not JSON: {error}") from error


def check(said: DecisionFields, sheet: MatchSheet) -> None:
    """Whether a decision can be.

    Raises:
        OfficialError: an unknown kind or variant, something needed is missing, or a player is not of that team.
    """
    decision = DECISIONS.get(said.kind)
    if decision is None:
        raise OfficialError(f"kind = {said.kind!r} is none of {', '.join(DECISIONS)}")
    for name in decision.needs:
        if getattr(said, name) in ("", None):
            raise OfficialError(f"a {said.kind} needs {name}")
    if said.variant not in decision.variants:
        known = ", ".join(filter(None, decision.variants)) or "it has none"
        raise OfficialError(f"variant = {said.variant!r} of a {said.kind}: {known}")
    for name, value in (("at_s", said.at_s), ("said_s", said.said_s)):
        if value is not None and not (math.isfinite(value) and abs(value) < 1e9):
            raise OfficialError(f"{name} = {value} is not a time")
    if said.minutes is not None and not 0 <= said.minutes <= MINUTES_MAX:
        raise OfficialError(f"minutes = {said.minutes} is not in 0..{MINUTES_MAX}")
    if said.number is not None and said.number < 0:
        raise OfficialError(f"number = {said.number} is negative")
    if said.kind == "void" and said.event.partition("#")[0] not in OVERRULED:
        raise OfficialError(f"event = {said.event!r} cannot be taken back; these kinds can: {', '.join(OVERRULED)}")
    _check_players(said, sheet)


def _check_players(said: DecisionFields, sheet: MatchSheet) -> None:
    teams = {player.object_id: player.team for player in sheet.players}
    for name in ("player", "other"):
        who = getattr(said, name)
        if not who or not teams:
            continue
        if who not in teams:
            raise OfficialError(f"{name} = {who!r} is not on the match sheet")
        # The scorer of an own goal plays for the others.
        if said.team and teams[who] != said.team and said.kind != "goal":
            raise OfficialError(f"{name} = {who!r} is not of team {said.team}")


def rejected(line: OfficialLine, reason: str) -> RejectedRecord:
    """The record of a line that cannot be used."""
    text = line.text if len(line.text) <= _SHOWN else line.text[: _SHOWN - 3] + "..."
    return RejectedRecord(f"{line.file} line {line.number}", "official", line.number, None, reason, text)
