"""A match as the API reads it: one of a run, or a recorded one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from football.match_sheet import MatchSheet
from football.update_stream import UpdateMessage, UpdateRecord, View


class ServedFeed(Protocol):
    """Progress of a match, and its updates that are not in its store yet.

    :class:`app.hub.feed.MatchFeed` has those of a match of a run, :class:`app.recorded.feed.StoredFeed` those of a
    store.
    """

    def sheet(self) -> MatchSheet:
        """Return teams, shirts and pitch."""
        ...

    def latest_view(self) -> View | None:
        """Return the newest positions; None before the first."""
        ...

    def frontier_us(self) -> int:
        """Return the watermark."""
        ...

    def now_us(self) -> int:
        """Return the newest arrival time."""
        ...

    def epoch(self) -> int:
        """Return the epoch of the newest update."""
        ...

    def next_seq(self) -> int:
        """Return the number of the next update."""
        ...

    def settled_seq(self) -> int:
        """Return the number of the first update that the store does not have."""
        ...

    def ended(self) -> bool:
        """Return True if the match is over."""
        ...

    def standing_updates(self, since: int, limit: int) -> Sequence[UpdateRecord]:
        """Return at most ``limit`` updates that stand and are not committed, from number ``since`` on."""
        ...

    def epoch_of(self, seq: int) -> int:
        """Return the epoch that published the update of a number; -1 if none did."""
        ...

    def valid_until(self, epoch: int) -> int:
        """Return the number up to which a reader of ``epoch`` still has what stands now."""
        ...


@dataclass(frozen=True)
class ServedMatch:
    """A match that the API reads.

    Attributes:
        feed: its progress.
        folder: of its store.
        problems: returns the reasons why it is not live.
        page: address of its live page, empty without one.
        followers: are called with what a decision has changed after the end of the match.
    """

    feed: ServedFeed
    folder: Path
    problems: Callable[[], list[str]] = list
    page: str = ""
    followers: list[Callable[[UpdateMessage], None]] = field(default_factory=list)
