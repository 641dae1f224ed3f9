"""A match of a run, as the API reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.hub.feed import MatchFeed
from app.operations.match_monitor import MatchMonitor


@dataclass(frozen=True)
class ServedMatch:
    """Where the API reads a match: its feed in the hub, the folder of its store, its monitor."""

    feed: MatchFeed
    folder: Path
    monitor: MatchMonitor
