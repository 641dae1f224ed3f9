"""Result of a push of the engine, and its counts."""

from __future__ import annotations

from dataclasses import dataclass

from middleware.events import BEGINNING_US, Update


@dataclass(frozen=True)
class PushResult:
    """Published updates of a push, and updates of the internal kinds that were asked for."""

    updates: list[Update]
    watched: list[Update]


@dataclass
class Counts:
    """Counts since the beginning.

    Attributes:
        duplicates: proven copies.
        differing: lost because a copy with another content counts; ``lost`` has them, too.
        since_recount: arrivals and updates since the bound of held inputs was last looked at.
        held_most: no more inputs than these were held then.
    """

    duplicates: int = 0
    lost: int = 0
    differing: int = 0
    now_us: int = BEGINNING_US
    since_recount: int = 0
    held_most: int = 0
