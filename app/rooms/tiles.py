"""The list of open matches: ``/api/v1/tiles`` has teams, score, day of the recording, and coverage by positions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from app.api.schemas import as_json
from app.api.served import ServedMatch
from app.tables.stored import stored_tables
from football.errors import UserError
from replay.match_store import commits_state, read_run, read_sheet_of
from replay.position_index import PositionIndex


class Tile(msgspec.Struct, frozen=True):
    """A match of the list.

    Attributes:
        match: its name.
        home, away: teams; empty if the store is damaged.
        home_goals, away_goals: goals that stand.
        recorded: day on which the store was made, as ``2026-05-16``; empty if unknown.
        length_us: event time from the first to the last position.
        covered_us: the part of it in windows that have positions.
        ended: True if the match is over.
        problem: why it cannot be read; empty if it can.
    """

    match: str
    home: str = ""
    away: str = ""
    home_goals: int = 0
    away_goals: int = 0
    recorded: str = ""
    length_us: int = 0
    covered_us: int = 0
    ended: bool = False
    problem: str = ""


class TileRoutes:
    """Answers with the tiles; a match is read again when its store has grown."""

    def __init__(self, matches: Mapping[str, ServedMatch], damaged: Mapping[str, str]) -> None:
        self._matches, self._damaged = matches, damaged
        self._known: dict[str, tuple[tuple[int, str], Tile]] = {}

    def answer(self, request: Request) -> Response:
        """Answer with the tiles of all matches; Starlette calls it in a thread."""
        return as_json(list(self._tiles()))

    def _tiles(self) -> Iterator[Tile]:
        for name, problem in self._damaged.items():
            yield Tile(name, problem=problem)
        for name, served in list(self._matches.items()):
            try:
                state = commits_state(served.folder)
                if name not in self._known or self._known[name][0] != state:
                    self._known[name] = state, tile(name, served.folder, ended=served.feed.ended())
                yield self._known[name][1]
            except (UserError, OSError) as error:
                yield Tile(name, problem=str(error))


def tile(name: str, folder: Path, *, ended: bool) -> Tile:
    """Read the tile of a match.

    Raises:
        StoreError: the store is damaged.
    """
    sheet, index = read_sheet_of(folder), PositionIndex(folder)
    teams = stored_tables(folder, ("goals",))["goals"]["team"].to_pylist()
    begin_us, end_us = index.bounds_us() or (0, 0)
    return Tile(
        name,
        sheet.home,
        sheet.away,
        teams.count("home"),
        teams.count("away"),
        str(read_run(folder).get("created", ""))[:10],
        end_us - begin_us,
        index.covered_us(),
        ended,
    )
