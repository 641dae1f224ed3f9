"""Result of a push of the engine, and its counts."""

from __future__ import annotations

from dataclasses import dataclass

from middleware.events import BEGINNING_US, Update


@dataclass(frozen=True)
class PushResult:
    """Result of a push of the engine.

    Attributes:
        updates: published ones.
        emitted_us: of each the arrival time of its emission. Where all of a portion became final at once it is the time
            at which the event became known, see ``middleware.final_replay``; else that of the push.
        watched: updates of the internal kinds that were asked for.
    """

    updates: list[Update]
    emitted_us: list[int]
    watched: list[Update]

    def add(self, updates: list[Update], emitted_us: int) -> None:
        """Append published updates of one arrival time."""
        self.updates.extend(updates)
        self.emitted_us.extend([emitted_us] * len(updates))

    def extend(self, more: PushResult) -> None:
        """Append all of another result."""
        self.updates.extend(more.updates)
        self.emitted_us.extend(more.emitted_us)
        self.watched.extend(more.watched)


@dataclass
class Counts:
    """Counts since the beginning.

    Attributes:
        duplicates: proven copies.
        differing: lost because a copy with another content counts; ``lost`` has them, too.
        since_recount: arrivals and updates since the bound of held inputs was last looked at.
        held_most: no more inputs than these were held then.
        late_us: how far the newest promise of the host lay behind the clock: so late an input may arrive.
    """

    duplicates: int = 0
    lost: int = 0
    differing: int = 0
    now_us: int = BEGINNING_US
    since_recount: int = 0
    held_most: int = 0
    late_us: int = 0
