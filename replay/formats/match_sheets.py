"""Reads a match sheet: a ``metadata.json`` with pitch, teams, players and the direction of attack.

    {"match": {"source_match_id": ...}, "pitch": {"length_m": ..., "width_m": ...},
     "period": {"attacks_positive_x": "home" | "away"}, "teams": {"home": ..., "away": ...},
     "players": [{"object_id": "home_7", "name": ..., "goalkeeper": ..., "team": ..., "shirt": ...}, ...]}

Everything may be missing; what is there must be of its type. Unknown fields are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from football.errors import TrackingError
from football.match_sheet import PLAYERS_MAX, SHIRT_MAX, MatchSheet, Player, team_of
from football.untrusted import UntrustedError, read_json

#: Name of the match sheet beside a source's file.
METADATA = "metadata.json"


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
        return _sheet(read_json(path, _Metadata), path.parent.name or path.resolve().parent.name, pitch)
    except (OSError, ValueError) as error:
        raise TrackingError(f"{path}: not a usable match sheet: {error}") from error


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
