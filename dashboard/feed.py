"""The feed: the interface from which the page reads a running match. :class:`app.hub.feed.MatchFeed` implements it.

The page's threads call all methods, many times a second, while other threads run the match. An implementation must
be thread safe and quick: it returns references to immutable values and copies nothing large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from football.match_sheet import MatchSheet
from football.update_stream import Health, UpdateRecord, View


class Aim(msgspec.Struct, frozen=True, gc=False):
    """The direction of a camera, and the part of the pitch in its picture.

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
    """The pose that a camera has (``achieved``, None while its head is silent), and the one that is planned, if known.

    ``mode`` is that of ``camera.planner.Plan``, or ``offline``; ``problem`` says what is wrong, if anything is.
    """

    name: str
    achieved: Aim | None
    planned: Aim | None = None
    mode: str = ""
    problem: str = ""


class InputState(msgspec.Struct, frozen=True, gc=False):
    """The state of a match's input.

    Attributes:
        behind_s: seconds behind the live edge; None for an unpaced run, or before the first block.
        records: number of records of the topic that are not processed yet; None if the source is no topic, or if its
            broker does not answer.
        speed: seconds of the stream in a second of wall time; None before it can be measured.
        restarts: number of restarts of the engine in this run.
        problems: reasons why the match is not live, as ``/health`` has them; empty if it is live.
        findings: what is wrong with the positions themselves, or worth knowing of them, each with its mend.
    """

    behind_s: float | None
    records: int | None
    speed: float | None
    restarts: int
    problems: tuple[str, ...]
    findings: tuple[str, ...] = ()


class Feed(Protocol):
    """A live match as the page reads it."""

    def sheet(self) -> MatchSheet:
        """Return teams, shirts and pitch. They may change during the match; a reload of the page shows the newest."""
        ...

    def latest_view(self) -> View | None:
        """Return the newest known positions; None before the first."""
        ...

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        """Return the new cursor, and the updates after ``cursor`` (0 is the beginning), withdrawals included.

        The log has every update that changed the consolidated view once, in the order in which it was applied. It also
        has the withdrawals of updates that a replaced engine stage had sent.
        """
        ...

    def frontier_us(self) -> int:
        """Return the watermark: event time below which no late packet changes anything."""
        ...

    def now_us(self) -> int:
        """Return the arrival time of the newest message, on the stream's own clock."""
        ...

    def health(self) -> Health | None:
        """Return the newest state of the ordering units; None before the first."""
        ...

    def latency(self) -> Mapping[str, Mapping[str, float]]:
        """Return ``p50``, ``p95`` and ``p99`` in milliseconds of wall time by stage, in the order of the stages."""
        ...

    def input(self) -> InputState | None:
        """Return the state of the input; None if nothing monitors it."""
        ...

    def cameras(self) -> tuple[CameraPose, ...]:
        """Return the poses of the cameras."""
        ...

    def ended(self) -> bool:
        """Return True once the last message of the match has been applied."""
        ...
