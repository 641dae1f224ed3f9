"""The answers of the API about matches. The server encodes them, the client decodes them."""

from __future__ import annotations

import msgspec

from football.update_stream import EventRecord, UpdateRecord


class MatchRow(msgspec.Struct, frozen=True):
    """A match of the run. Times are microseconds; ``next_seq`` is the number of the next update."""

    match: str
    home: str
    away: str
    ended: bool
    now_us: int
    frontier_us: int
    next_seq: int


class Frontier(msgspec.Struct, frozen=True):
    """The watermark: no late packet changes anything below ``frontier_us``; a later decision may.

    ``now_us`` is the newest arrival time.
    """

    frontier_us: int
    now_us: int
    epoch: int
    next_seq: int
    ended: bool


class StandingEvent(msgspec.Struct, frozen=True):
    """An event that stands: tentative while it may change, else confirmed. ``detected_us`` is an arrival time."""

    state: str
    detected_us: int
    event: EventRecord


class Events(msgspec.Struct, frozen=True):
    """Events in order of time; ``more`` says that the limit has left later ones out."""

    frontier_us: int
    more: bool
    events: list[StandingEvent]


class BallPosition(msgspec.Struct, frozen=True):
    """Position of the ball in metres, velocity in metres a second."""

    ts_us: int
    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    vz_m_s: float


class PlayerPosition(msgspec.Struct, frozen=True):
    """Position of a player in metres, velocity in metres a second."""

    object_id: str
    team: str
    ts_us: int
    x_m: float
    y_m: float
    vx_m_s: float
    vy_m_s: float


class Positions(msgspec.Struct, frozen=True):
    """The newest known positions; ``ts_us`` is null before the first, and ``ball`` while it is unknown."""

    ts_us: int | None
    ball: BallPosition | None
    players: list[PlayerPosition]


class PositionHistory(msgspec.Struct, frozen=True):
    """Committed positions in order of event time; ``more`` says that there are later ones in the stretch."""

    more: bool
    frames: list[Positions]


class Health(msgspec.Struct, frozen=True):
    """A match is live, ended or troubled; if troubled, with the reasons."""

    status: str
    reasons: list[str]


class Portion(msgspec.Struct, frozen=True):
    """Consecutive updates, and where the next portion begins.

    Attributes:
        continues_from: number before which the client's updates still stand; it undoes those from there on.
        next: number of the update after these, also if a filter has left it out.
        epoch: of the last update before ``next``.
        frontier_us: the watermark.
        now_us: arrival time of the newest message.
        ended: True if the match is over and these are its last updates.
        updates: those of the portion that the filter takes.
    """

    continues_from: int
    next: int
    epoch: int
    frontier_us: int
    now_us: int
    ended: bool
    updates: list[UpdateRecord]
