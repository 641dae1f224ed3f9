"""The feed: what the page needs of a running match. The live hub implements :class:`Feed`; tests script it.

All methods are called from the page's own threads, many times a second, while the match runs in others: an
implementation must be thread safe and quick (hand out references to immutable things, copy nothing large).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from football.match_sheet import MatchSheet
from football.update_stream import Health, UpdateRecord, View


class Aim(msgspec.Struct, frozen=True, gc=False):
    """Where a camera points and what it sees of the pitch.

    Attributes:
        pan_deg, tilt_deg, width_deg: as in ``camera.mount``; the width of the picture is its zoom.
        footprint: corners of the picture on the ground, in order, ``(x_m, y_m)`` in pitch coordinates; empty
            if the picture does not meet the ground.
    """

    pan_deg: float
    tilt_deg: float
    width_deg: float
    footprint: tuple[tuple[float, float], ...] = ()


class CameraPose(msgspec.Struct, frozen=True, gc=False):
    """A camera as it is (``achieved``, reported by the head) and as it is planned."""

    name: str
    achieved: Aim
    planned: Aim | None = None


class InputState(msgspec.Struct, frozen=True, gc=False):
    """How the input is doing.

    Attributes:
        behind_s: how far behind the live edge we are; None where nothing is live, or nothing has arrived yet.
        records: of a topic, that wait to be read; None if it is no topic, or its broker does not say.
        speed: seconds of the stream in a second of wall time; None if too little has come.
        restarts: of the engine's stage, in this run.
        problems: why the match is not live, a sentence each.
    """

    behind_s: float | None
    records: int | None
    speed: float | None
    restarts: int
    problems: tuple[str, ...]


class Feed(Protocol):
    """A live match as the page reads it."""

    def sheet(self) -> MatchSheet:
        """Teams, shirts and pitch. May get better while the match runs; a reload shows the newest."""
        ...

    def latest_view(self) -> View | None:
        """Newest known positions, None before the first."""
        ...

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        """The raw update log after ``cursor`` (0 is its beginning), withdrawals included, and the new cursor.

        Every update that changed the consolidated view is in it once, in the order in which it was applied,
        also those which take back what a replaced engine stage had sent.
        """
        ...

    def frontier_us(self) -> int:
        """Event time below which nothing can change any more."""
        ...

    def now_us(self) -> int:
        """Arrival time of the newest message, on the stream's own clock."""
        ...

    def health(self) -> Health | None:
        """Newest state of the ordering units, None before the first."""
        ...

    def latency(self) -> Mapping[str, Mapping[str, float]]:
        """Stage -> ``p50``, ``p95``, ``p99`` in milliseconds of wall time, in the order of the stages."""
        ...

    def input(self) -> InputState | None:
        """How the input is doing, None where nobody watches it."""
        ...

    def camera(self) -> CameraPose | None:
        """The camera's pose, None where no camera runs."""
        ...

    def ended(self) -> bool:
        """True once the last message of the match has been applied."""
        ...
