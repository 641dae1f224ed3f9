"""Correction batching: late inputs of a dense detector wait for each other and are repaired together.

Theory of operation
-------------------
A join, such as a frame of all players, emits at once. It is then corrected for each input that was still on its way,
and every subscriber repeats its work each time. So the unit of such a detector collects corrections: late inputs, and
withdrawals of released ones. It repairs them together, at most once in ``Spec.correction_batch_us`` of arrival time.
The first correction after a pause does not wait. New inputs are never held up.

So time bounds the number of corrections, and no longer the number of transmitters. The price is that a correction
arrives up to that much later. Before anything becomes final the engine flushes the batch, whether it is due or not.
"""

from __future__ import annotations

from middleware.events import BEGINNING_US, Key, Update


class CorrectionBatch:
    """Late updates of a unit's inputs, in order of arrival. Plain state, pickled with the unit.

    Args:
        every_us: least arrival time between two batches.
    """

    __slots__ = ("_count", "_due_us", "_every_us", "_newest", "_updates")

    def __init__(self, every_us: int) -> None:
        self._every_us = every_us
        self._due_us = BEGINNING_US
        self._count = 0
        self._updates: dict[int, tuple[Update, Key]] = {}
        #: Number of the newest update under a key.
        self._newest: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self._updates)

    def put(self, update: Update, key: Key) -> None:
        """Add an update; an assertion and a withdrawal of the same event cancel out."""
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
        """Event times of the asserted inputs among them."""
        return [key[0] for update, key in self._updates.values() if update.diff > 0]

    def take(self, now_us: int, *, flush: bool) -> list[tuple[Update, Key]]:
        """Take out the batch if it is due at the arrival time ``now_us``, or with ``flush``; else nothing."""
        if now_us < self._due_us and not flush:
            return []
        taken = list(self._updates.values())
        self._updates.clear()
        self._newest.clear()
        self._due_us = now_us + self._every_us
        return taken
