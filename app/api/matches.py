"""Routes of the matches of a run: sheet, events, updates, positions, watermark, health."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import anyio.to_thread
import pyarrow as pa
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi import Path as PathValue
from starlette.responses import Response
from starlette.websockets import WebSocket

from app.api.answers import (
    BallPosition,
    Events,
    Frontier,
    Health,
    MatchRow,
    PlayerPosition,
    Portion,
    PositionHistory,
    Positions,
    StandingEvent,
)
from app.api.limits import StreamLimit, one_of
from app.api.schemas import answer, as_json, refusals, streamed
from app.api.served import ServedFeed, ServedMatch
from app.api.streams import Stream
from app.api.updates import UPDATES_MAX, UpdateReader
from football.match_sheet import MatchSheet, Player
from football.update_stream import BallView, BodyView, EventRecord, UpdateRecord, View
from replay.event_choice import Choice, make_choice, parse_time_us
from replay.event_list import event_records, standing_events
from replay.match_store import positions_between, updates_log, updates_table

#: Events of one answer.
EVENTS_MAX: Final = 5_000
#: Length of the longest stretch of positions of one answer with all frames, and with few; its most frames.
HISTORY_S_MAX: Final = 30.0
THINNED_S_MAX: Final = 4 * 3600.0
FRAMES_MAX: Final = 750
#: Event lists that are made at a time: each reads the updates of a whole match.
_LISTS_MAX: Final = 2

#: Largest number that a client may name: it fits 64 bits, with room for sums.
_NUMBER_MAX: Final = 2**53

STRUCTS: Final = (list[MatchRow], MatchSheet, Events, Portion, Frontier, Positions, PositionHistory, Health)

_SHOT = EventRecord(
    "shot.attempt#17", "shot.attempt", "", 6, 61_200_000, "home", "home_9", 38.2, 4.1, 0.0, 0.92, ("hit#16",)
)
_EXAMPLES: Final = {
    "row": MatchRow("final", "Harbour United", "Northgate Rovers", False, 62_000_000, 59_000_000, 1_204, "/"),
    "events": Events(59_000_000, False, [StandingEvent("tentative", 61_400_000, _SHOT)]),
    "portion": Portion(1_203, 1_204, 0, 59_000_000, 62_000_000, False, [UpdateRecord(1_203, 1, 61_400_000, _SHOT)]),
    "frontier": Frontier(59_000_000, 62_000_000, 0, 1_204, False),
    "positions": Positions(
        61_980_000,
        BallPosition(61_980_000, 40.1, 3.9, 0.4, 22.0, -1.5, 2.0),
        [PlayerPosition("home_9", "home", 61_980_000, 38.4, 4.0, 3.1, 0.2)],
    ),
    "health": Health("live", []),
    "sheet": MatchSheet(
        "final", "Harbour United", "Northgate Rovers", players=(Player("home_9", "home", "Jansen", 9, False),)
    ),
}

_HISTORY: Final = PositionHistory(False, [_EXAMPLES["positions"]])

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_Kind = Annotated[str, Query(description="Kinds or their first words, with commas: `pass.complete,shot`.")]
_Team = Annotated[str, Query(description="`home`, `away`, or the team's name.")]
_Player = Annotated[str, Query(description="Object id, shirt number, or a part of the name.")]
_Begin = Annotated[str, Query(alias="from", description="Begin of a stretch: `4:01`, `1:07:30`, or seconds.")]
_End = Annotated[str, Query(alias="to", description="End of the stretch, excluded.")]
_Since = Annotated[
    int, Query(ge=0, le=_NUMBER_MAX, description="Number of the first update: `next` of the answer before.")
]
_Epoch = Annotated[int | None, Query(ge=-1, le=_NUMBER_MAX, description="`epoch` of the answer before.")]


class _Matches:
    """The matches of the run by id. Raises HTTPException 404 for another id."""

    def __init__(self, matches: Mapping[str, ServedMatch]) -> None:
        self._matches = matches

    def __getitem__(self, name: str) -> ServedMatch:
        if name not in self._matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(self._matches) or 'none'}")
        return self._matches[name]

    def all(self) -> list[ServedMatch]:
        return list(self._matches.values())


def match_routes(matches: Mapping[str, ServedMatch], streams: StreamLimit) -> APIRouter:
    """Create the routes below ``/matches``.

    Args:
        matches: of the run, by id; may grow.
        streams: counts the open streams.
    """
    router, found = APIRouter(prefix="/matches", tags=["matches"]), _Matches(matches)
    lists = threading.BoundedSemaphore(_LISTS_MAX)

    @router.get("", responses=answer(list[MatchRow], [_EXAMPLES["row"]]) | refusals())
    def list_matches() -> Response:
        """List the matches of the run."""
        return as_json([_row(one) for one in found.all()])

    @router.get("/{match}", responses=answer(MatchSheet, _EXAMPLES["sheet"]) | refusals(404))
    def sheet(match: _Name) -> Response:
        """Return the match sheet: teams, players, pitch."""
        return as_json(found[match].feed.sheet())

    @router.get("/{match}/frontier", responses=answer(Frontier, _EXAMPLES["frontier"]) | refusals(404))
    def frontier(match: _Name) -> Response:
        """Return the watermark."""
        feed = found[match].feed
        return as_json(Frontier(feed.frontier_us(), feed.now_us(), feed.epoch(), feed.next_seq(), feed.ended()))

    @router.get("/{match}/health", responses=answer(Health, _EXAMPLES["health"]) | refusals(404))
    def health(match: _Name) -> Response:
        """Return whether the match is live, with reasons if it is not."""
        served = found[match]
        problems = served.problems()
        return as_json(Health("troubled" if problems else "ended" if served.feed.ended() else "live", problems))

    @router.get("/{match}/events", responses=answer(Events, _EXAMPLES["events"]) | refusals(404, 503))
    def events(
        match: _Name, kind: _Kind = "", team: _Team = "", player: _Player = "", begin: _Begin = "", end: _End = "",
        limit: Annotated[int, Query(ge=1, le=EVENTS_MAX)] = 1_000,
    ) -> Response:  # fmt: skip
        """Return the events that stand, with corrections applied, in order of time."""
        served = found[match]
        choice = _choice(served, kind, team, player, begin, end)
        with one_of(lists, "too many clients ask for events; follow the updates instead"):
            return as_json(_events(served, choice, limit))

    @router.get("/{match}/updates", responses=answer(Portion, _EXAMPLES["portion"]) | refusals(404))
    def updates(
        match: _Name, since: _Since = 0, epoch: _Epoch = None, kind: _Kind = "", team: _Team = "",
        player: _Player = "", begin: _Begin = "", end: _End = "",
        limit: Annotated[int, Query(ge=1, le=UPDATES_MAX)] = 1_000,
    ) -> Response:  # fmt: skip
        """Return the updates from a number on: assertions (`diff` 1) and withdrawals (`diff` -1).

        Ask again with `next` as `since` and with `epoch`. Undo what you have from `continues_from` on first.
        """
        served = found[match]
        choice = _choice(served, kind, team, player, begin, end)
        return as_json(UpdateReader(served.feed, served.folder).read(since, epoch, choice, limit))

    @router.get("/{match}/updates/stream", responses=streamed(Portion) | refusals(404, 503))
    def update_stream(
        request: Request, match: _Name, since: _Since = 0, epoch: _Epoch = None, kind: _Kind = "", team: _Team = "",
        player: _Player = "", begin: _Begin = "", end: _End = "",
    ) -> Response:  # fmt: skip
        """Follow the updates as server-sent events. A client that reconnects continues after its last one."""
        served = found[match]
        since, epoch = _resumed(request.headers.get("last-event-id", ""), since, epoch)
        following = _Following(served, _choice(served, kind, team, player, begin, end), since, epoch)
        return Stream(streams, following.next).events(request)

    @router.websocket("/{match}/updates/socket")
    async def update_socket(
        socket: WebSocket, match: str, since: _Since = 0, epoch: _Epoch = None, kind: _Kind = "", team: _Team = "",
        player: _Player = "", begin: _Begin = "", end: _End = "",
    ) -> None:  # fmt: skip
        served = found[match]
        following = _Following(served, _choice(served, kind, team, player, begin, end), since, epoch)
        await Stream(streams, following.next).serve(socket)

    @router.get("/{match}/positions", responses=answer(Positions, _EXAMPLES["positions"]) | refusals(404))
    def positions(match: _Name) -> Response:
        """Return the newest positions."""
        return as_json(_positions(found[match].feed.latest_view()))

    @router.get("/{match}/positions/history", responses=answer(PositionHistory, _HISTORY) | refusals(404, 503))
    def history(
        match: _Name, begin: _Begin, seconds: Annotated[float, Query(gt=0, le=THINNED_S_MAX)] = 1.0,
        every_ms: Annotated[
            int, Query(ge=0, le=600_000, description="Only the first frame of each so many milliseconds; 0 is all.")
        ] = 0,
    ) -> Response:  # fmt: skip
        """Return the positions of a stretch that is committed: 30 s of all frames, or 750 frames with `every_ms`."""
        served, begin_us = found[match], min(parse_time_us(begin), _NUMBER_MAX)
        most_s = max(HISTORY_S_MAX, FRAMES_MAX * every_ms / 1000)
        if seconds > most_s:
            raise HTTPException(400, f"seconds: {seconds:g} is more than {most_s:g}: ask for fewer frames by every_ms")
        with one_of(lists, "too many clients ask for much; ask again"):
            return as_json(_history(served.folder, begin_us, begin_us + round(seconds * 1e6), every_ms * 1000))

    @router.get("/{match}/positions/stream", responses=streamed(Positions) | refusals(404, 503))
    def position_stream(request: Request, match: _Name) -> Response:
        """Follow the positions as server-sent events, at most 25 a second."""
        return Stream(streams, _Watching(found[match].feed).next).events(request)

    @router.websocket("/{match}/positions/socket")
    async def position_socket(socket: WebSocket, match: str) -> None:
        await Stream(streams, _Watching(found[match].feed).next).serve(socket)

    return router


class _Following:
    """The updates of a match from a number on, portion by portion."""

    def __init__(self, served: ServedMatch, choice: Choice, since: int, epoch: int | None) -> None:
        self._reader, self._choice = UpdateReader(served.feed, served.folder), choice
        self._since, self._epoch = since, epoch
        self._last: Portion | None = None

    async def next(self) -> tuple[Portion, str] | None:
        """Return the next portion; None without news."""
        if self._last is not None and not self._reader.has_news(self._last):
            return None
        portion = await anyio.to_thread.run_sync(self._reader.read, self._since, self._epoch, self._choice)
        self._since, self._epoch, self._last = portion.next, portion.epoch, portion
        return portion, f"{portion.epoch}:{portion.next}"


class _Watching:
    """The views of a match, as they arrive."""

    def __init__(self, feed: ServedFeed) -> None:
        self._feed = feed
        self._last: View | None = None

    async def next(self) -> tuple[Positions, str] | None:
        """Return the newest positions; None if they were the last message."""
        view = self._feed.latest_view()
        if view is None or view is self._last:
            return None
        self._last = view
        return _positions(view), ""


def _row(served: ServedMatch) -> MatchRow:
    feed = served.feed
    sheet = feed.sheet()
    progress = feed.ended(), feed.now_us(), feed.frontier_us(), feed.next_seq()
    return MatchRow(sheet.match_id, sheet.home, sheet.away, *progress, served.page)


def _choice(served: ServedMatch, kind: str, team: str, player: str, begin: str, end: str) -> Choice:
    return make_choice(served.feed.sheet(), kind, team, player, begin or None, end or None)


def _events(served: ServedMatch, choice: Choice, limit: int) -> Events:
    """Return the events of a match by its store, and by the updates that are not committed yet."""
    feed = served.feed
    frontier_us, ended, settled = feed.frontier_us(), feed.ended(), feed.settled_seq()
    newer = updates_table(feed.standing_updates(settled, feed.next_seq()), feed.epoch())
    log = pa.concat_tables([updates_log(served.folder), newer]).sort_by("seq")
    table = standing_events(choice.rows(log), frontier_us, ended=ended)
    rows = table.slice(0, limit)
    states, detected = rows["state"].to_pylist(), rows["detected_us"].to_pylist()
    found = [StandingEvent(*one) for one in zip(states, detected, event_records(rows), strict=True)]
    return Events(frontier_us, len(table) > limit, found)


def _positions(view: View | None) -> Positions:
    if view is None:
        return Positions(None, None, [])
    ball = None if view.ball is None else BallPosition(*_values(view.ball))
    return Positions(view.ts_us, ball, [PlayerPosition(*_values(body)) for body in view.players])


def _history(folder: Path, begin_us: int, end_us: int, every_us: int) -> PositionHistory:
    frames: dict[int, tuple[list[BallPosition], list[PlayerPosition]]] = {}
    for row in positions_between(folder, begin_us, end_us, every_us).to_pylist():
        ts_us, object_id = row["ts_us"], row["object_id"]
        if ts_us not in frames and len(frames) == FRAMES_MAX:
            return _frames(frames, more=True)
        balls, players = frames.setdefault(ts_us, ([], []))
        place = row["x_m"], row["y_m"]
        if object_id == "ball":
            balls.append(BallPosition(ts_us, *place, row["z_m"], row["vx_m_s"], row["vy_m_s"], row["vz_m_s"]))
        else:
            players.append(PlayerPosition(object_id, row["team"], ts_us, *place, row["vx_m_s"], row["vy_m_s"]))
    return _frames(frames, more=False)


def _frames(found: Mapping[int, tuple[list[BallPosition], list[PlayerPosition]]], *, more: bool) -> PositionHistory:
    rows = [Positions(ts_us, balls[0] if balls else None, players) for ts_us, (balls, players) in found.items()]
    return PositionHistory(more, rows)


def _values(view: BallView | BodyView) -> list[Any]:
    return [getattr(view, name) for name in view.__struct_fields__]


def _resumed(last: str, since: int, epoch: int | None) -> tuple[int, int | None]:
    """Return number and epoch of the last event that a reconnecting client has had; else those of the request."""
    before, _, after = last.partition(":")
    is_id = after.isdecimal() and before.removeprefix("-").isdecimal() and len(last) < 40
    return (int(after), int(before)) if is_id else (since, epoch)
