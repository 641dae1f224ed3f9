"""The wall of matches: ``/api/v1/tiles`` has teams, score, day of the recording, and coverage by positions.

Score and minute of a running match are of now: what its store has, and what the feed has beyond that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from app.api.schemas import as_json
from app.api.served import ServedMatch
from dashboard.score import ScoreKeeper
from football.errors import UserError
from football.update_stream import EventRecord, UpdateRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import commits_state, read_run, read_sheet_of
from replay.position_index import PositionIndex

_MINUTE = "clock.minute"
#: Kinds that score and minute are made of.
_KINDS = ("goal.scored", "goal.own", "goal.confirmed", "goal.disallowed", _MINUTE)
#: Updates of a feed beyond its store that are read at most: those of some minutes.
_UPDATES_MAX = 100_000


class Tile(msgspec.Struct, frozen=True):
    """A match of the list.

    Attributes:
        match: its name.
        home, away: teams; empty if the store is damaged.
        home_goals, away_goals: goals that stand.
        minute: of the match, as a scoreboard shows it; empty before the first.
        recorded: day on which the store was made, as ``2026-05-16``; empty if unknown.
        length_us: event time from the first to the last position.
        covered_us: the part of it in windows that have positions.
        ended: True if the match is over.
        page: address of its live page; empty without one.
        doubts: reasons why it is not live, though it should be.
        problem: why it cannot be read; empty if it can.
    """

    match: str
    home: str = ""
    away: str = ""
    home_goals: int = 0
    away_goals: int = 0
    minute: str = ""
    recorded: str = ""
    length_us: int = 0
    covered_us: int = 0
    ended: bool = False
    page: str = ""
    doubts: list[str] = []
    problem: str = ""


class _Stored(msgspec.Struct, frozen=True):
    """The stored part of a match: its tile without what is of now, and the events of score and minute."""

    tile: Tile
    events: tuple[EventRecord, ...]


class TileRoutes:
    """Answers with the tiles; a store is read again when it has grown."""

    def __init__(self, matches: Mapping[str, ServedMatch], damaged: Mapping[str, str]) -> None:
        self._matches, self._damaged = matches, damaged
        self._known: dict[str, tuple[tuple[int, str], _Stored]] = {}

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
                    self._known[name] = state, _read(name, served.folder)
                yield _as_of_now(self._known[name][1], served)
            except (UserError, OSError) as error:
                yield Tile(name, problem=str(error))


def _as_of_now(stored: _Stored, served: ServedMatch) -> Tile:
    score, minutes = ScoreKeeper(), dict[str, EventRecord]()
    updates = [UpdateRecord(0, 1, event.ts_us, event) for event in stored.events]
    updates += served.feed.standing_updates(served.feed.settled_seq(), _UPDATES_MAX)
    score.apply(updates)
    for update in updates:
        if update.event.kind == _MINUTE and update.diff > 0:
            minutes[update.event.id] = update.event
        elif update.event.kind == _MINUTE:
            minutes.pop(update.event.id, None)
    newest = max(minutes.values(), key=lambda event: event.ts_us, default=None)
    goals, ended = score.score(), served.feed.ended()
    return msgspec.structs.replace(
        stored.tile,
        home_goals=goals.home,
        away_goals=goals.away,
        minute=str(newest.detail.get("shown", "")) if newest else "",
        ended=ended,
        page=served.page,
        doubts=[] if ended else served.problems(),
    )


def _read(name: str, folder: Path) -> _Stored:
    """Read what a store has of a match.

    Raises:
        StoreError: the store is damaged.
    """
    sheet, index = read_sheet_of(folder), PositionIndex(folder)
    begin_us, end_us = index.bounds_us() or (0, 0)
    tile = Tile(
        name,
        sheet.home,
        sheet.away,
        recorded=str(read_run(folder).get("created", ""))[:10],
        length_us=end_us - begin_us,
        covered_us=index.covered_us(),
    )
    return _Stored(tile, tuple(event_records(consolidated_events(folder, _KINDS))))
