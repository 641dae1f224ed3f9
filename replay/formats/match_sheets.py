"""Reads a match sheet: a ``metadata.json`` with pitch, teams, players and the direction of attack.

    {"match": {"source_match_id": ...}, "pitch": {"length_m": ..., "width_m": ...},
     "period": {"attacks_positive_x": "home" | "away"}, "teams": {"home": ..., "away": ...},
     "players": [{"object_id": "home_7", "name": ..., "goalkeeper": ..., "team": ..., "shirt": ...}, ...]}

Everything may be missing; what is there must be of its type. Unknown fields are ignored, unless all are unknown. The
form that ``touchline simulate`` writes (:class:`football.match_sheet.MatchSheet` as it is) is read, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from football.errors import TrackingError
from football.input_quality import InputFinding
from football.match_sheet import PLAYERS_MAX, SHIRT_MAX, MatchSheet, Player, team_of
from football.untrusted import DOCUMENT_BYTES_MAX, UntrustedError, decode_json, read_bytes

#: Name of the match sheet beside a source's file, and of the one that ``touchline simulate`` writes.
METADATA, SIMULATED = "metadata.json", "sheet.json"

#: Fields of the simulator's form at its top, of which the other form has none.
_SIMULATED_FIELDS = frozenset(("match_id", "home", "away", "length_m", "width_m", "attacks_positive_x", "quality"))


class _Match(msgspec.Struct):
    source_match_id: str | int | None = None


class _Pitch(msgspec.Struct):
    length_m: float | None = None
    width_m: float | None = None


class _Period(msgspec.Struct):
    attacks_positive_x: Literal["home", "away", "", None] = None


class _Teams(msgspec.Struct):
    home: str = "Home"
    away: str = "Away"


class _Player(msgspec.Struct):
    object_id: str
    name: str = ""
    goalkeeper: bool = False
    team: Literal["home", "away", "", None] = None
    shirt: int | None = None


class _Metadata(msgspec.Struct):
    match: _Match = msgspec.field(default_factory=_Match)
    pitch: _Pitch = msgspec.field(default_factory=_Pitch)
    period: _Period = msgspec.field(default_factory=_Period)
    teams: _Teams = msgspec.field(default_factory=_Teams)
    players: list[_Player] = []


def read_sheet(path: Path, pitch: tuple[float, float] = (105.0, 68.0)) -> MatchSheet:
    """The match sheet in a file; ``pitch`` (length, width in metres) holds where the file is silent.

    Raises:
        TrackingError: no such file, not JSON, or a field of the wrong type; the message names it.
    """
    try:
        content = read_bytes(path, DOCUMENT_BYTES_MAX)
        fields = set(decode_json(content, dict[str, object]))
        if fields & _SIMULATED_FIELDS:
            sheet, sides = decode_json(content, MatchSheet), zip(("length_m", "width_m"), pitch, strict=True)
            return msgspec.structs.replace(sheet, **{name: side for name, side in sides if name not in fields})
        if fields and not fields & set(_Metadata.__struct_fields__):
            unknown, known = ", ".join(sorted(fields))[:100], ", ".join(_Metadata.__struct_fields__)
            raise UntrustedError(f"none of its fields ({unknown}) is known: it may have {known}")
        return _sheet(decode_json(content, _Metadata), path.parent.name or path.resolve().parent.name, pitch)
    except (OSError, ValueError) as error:
        raise TrackingError(f"{path}: not a usable match sheet: {error}") from error


def says_pitch(path: Path) -> bool:
    """True if a match sheet says the length and the width of the pitch; errors as in :func:`read_sheet`."""
    sheet = read_sheet(path, (0.0, 0.0))
    return sheet.length_m > 0.0 and sheet.width_m > 0.0


def sheet_next_to(file: Path) -> Path | None:
    """The match sheet beside a file of positions, or None."""
    candidates = (file.parent / name for name in (METADATA, SIMULATED))
    return next((path for path in candidates if path.is_file()), None)


def no_sheet(pitch: tuple[float, float]) -> InputFinding:
    """The finding that a source has no match sheet."""
    return InputFinding(
        "no sheet",
        "note",
        f"No match sheet: the pitch is taken to be {pitch[0]:g} x {pitch[1]:g} m, and names are unknown",
        "",
        f"Write {METADATA} beside the file, or name one with --sheet; --pitch gives the pitch alone",
    )


def _sheet(data: _Metadata, folder: str, pitch: tuple[float, float]) -> MatchSheet:
    if len(data.players) > PLAYERS_MAX:
        raise UntrustedError(f"at most {PLAYERS_MAX} players, not {len(data.players)}")
    nobody = MatchSheet()
    players = tuple(
        Player(
            p.object_id,
            p.team or team_of(p.object_id, nobody),
            p.name,
            shirt_in(p.object_id) if p.shirt is None else p.shirt,
            p.goalkeeper,
        )
        for p in data.players
    )
    match_id = data.match.source_match_id
    return MatchSheet(
        str(match_id) if match_id is not None else folder,
        data.teams.home,
        data.teams.away,
        data.pitch.length_m or pitch[0],
        data.pitch.width_m or pitch[1],
        data.period.attacks_positive_x or "",
        players,
    )


@contextmanager
def within_limits(where: object) -> Iterator[None]:
    """Turn a limit of the match sheet that the content of a file exceeds into an error of that file."""
    try:
        yield
    except TrackingError:
        raise
    except ValueError as error:
        raise TrackingError(f"{where}: {error}") from error


def shirt_in(object_id: str) -> int | None:
    """Shirt number at the end of an id such as ``home_7``, if there is one."""
    tail = object_id.rpartition("_")[2]
    return int(tail) if tail.isdecimal() and len(tail) <= len(str(SHIRT_MAX)) else None
