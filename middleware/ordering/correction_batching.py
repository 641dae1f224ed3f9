"""Corrections that are made together: what comes late to a dense join waits a moment for what else comes late.

Theory of operation
-------------------
A join such as a frame of all players is said at once and then corrected for each of its inputs that was still on its
way, and all that listens to it does its work again each time. What is new is never held up; only corrections are:
inputs that belong before AEP, and withdrawals of such, are kept aside and given to the unit together, at most once in
``Spec.correction_batch_us`` of arrival time. The first after a pause is not kept waiting. So the number of
corrections is bounded
by time and no longer by the number of transmitters, and the price is that each comes up to so much later.

What waits is part of the unit's state. It is given to the unit, due or not, before anything becomes final.
"""

from __future__ import annotations

from middleware.events import BEGINNING_US, Key, Update


class Gathering:
    """Late updates of a unit's inputs, in the order in which they came. Plain state, pickled with the unit.

    Args:
        every_us: see above; arrival time.
    """

    __slots__ = ("_count", "_due_us", "_every_us", "_newest", "_updates")

    def __init__(self, every_us: int) -> None:
        self._every_us = every_us
        self._due_us = BEGINNING_US
        self._count = 0
        self._updates: dict[int, tuple[Update, Key]] = {}
        #: Place of the newest update under a key.
        self._newest: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._updates)

    def put(self, update: Update, key: Key) -> None:
        """Keeps an update aside; of an event that is said and withdrawn meanwhile, or the other way, nothing stays."""
        at = self._newest.pop(key, None)
        if at is not None:
            before = self._updates[at][0]
            if before.diff + update.diff == 0 and before.event == update.event:
                del self._updates[at]
                return
        self._newest[key] = self._count
        self._updates[self._count] = update, key
        self._count += 1

    def times_us(self) -> list[int]:
        """Event times of those that are inputs, and not withdrawals of one."""
        return [key[0] for update, key in self._updates.values() if update.diff > 0]

    def take(self, now_us: int, *, settles: bool) -> list[tuple[Update, Key]]:
        """What is to be corrected now, at this arrival time; with ``settles`` everything."""
        if now_us < self._due_us and not settles:
            return []
        taken = list(self._updates.values())
        self._updates.clear()
        self._newest.clear()
        self._due_us = now_us + self._every_us
        return taken
