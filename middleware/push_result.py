"""What a push of the engine led to, and what it counts."""

from __future__ import annotations

from dataclasses import dataclass

from middleware.events import BEGINNING_US, Update


@dataclass(frozen=True)
class PushResult:
    """What a push led to: published updates, and updates of the internal kinds that were asked to be watched."""

    updates: list[Update]
    watched: list[Update]


@dataclass
class Counts:
    """Plain counts. ``uncounted``: arrivals and updates since held inputs were counted."""

    duplicates: int = 0
    lost: int = 0
    now_us: int = BEGINNING_US
    uncounted: int = 0
