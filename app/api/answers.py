"""The answers of the API about matches. The server encodes them, the client decodes them."""

from __future__ import annotations

import msgspec

from dashboard.live import Version
from dashboard.marks import Mark
from football.update_stream import EventRecord, UpdateRecord


class MatchRow(msgspec.Struct, frozen=True):
    """A match of the run. Times are microseconds; ``next_seq`` is the number of the next update.

    ``page`` is the address of its live page, empty if it has none.
    """

    match: str
    home: str
    away: str
    ended: bool
    now_us: int
    frontier_us: int
    next_seq: int
    page: str = ""


class Frontier(msgspec.Struct, frozen=True):
    """The watermark of the inputs: an event with ``ts_us + lag_us < frontier_us`` is confirmed.

    No late packet changes it any more; a later decision may.

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


class Direction(msgspec.Struct, frozen=True):
    """A team attacks towards +x from an event time on."""

    from_us: int
    team: str


class ReplaySpan(msgspec.Struct, frozen=True):
    """From when to when a match can be replayed, and what its picture needs.

    Attributes:
        begin_us, end_us: event time of the first and the last position.
        chunk_us: length of a chunk of positions.
        now_us: newest arrival time.
        windows: how many are committed.
        ended: True if the match is over and all of it is committed.
        lines: of the pitch, each a list of points in metres.
        families: name, label, and whether it is shown at first.
    """

    begin_us: int
    end_us: int
    chunk_us: int
    now_us: int
    windows: int
    ended: bool
    lines: list[list[tuple[float, float]]]
    families: list[tuple[str, str, bool]]


class TimelineEvent(msgspec.Struct, frozen=True):
    """An event with its state; ``emitted_us`` and ``changed_us`` are arrival times of its first and newest update.

    ``title`` and ``variety`` are kind and variant in words. ``older`` are the versions that it replaced, oldest first.
    """

    id: str
    kind: str
    family: str
    title: str
    variant: str
    variety: str
    level: int
    ts_us: int
    team: str
    player: str
    other: str
    x_m: float | None
    y_m: float | None
    confidence: float
    state: str
    revision: int
    emitted_us: int
    changed_us: int
    older: list[Version]


class Timeline(msgspec.Struct, frozen=True):
    """Events in order of event time, what is drawn of them on the pitch, and who attacks where.

    ``more`` says that later events are left out.
    """

    frontier_us: int
    more: bool
    events: list[TimelineEvent]
    marks: list[Mark]
    directions: list[Direction]


class Explained(msgspec.Struct, frozen=True):
    """Why and when an event was reported, as lines of text."""

    event: str
    lines: list[str]
