"""How long an event must have stood until it is hardly withdrawn any more, learned from the match itself.

Theory of operation
-------------------
An engine that speculates asserts early and withdraws some of it. Which share, and how soon, depends on the kind, the
radio and the load. So it is counted: of each kind, how many assertions were withdrawn, by the age at which that
happened, and how many were confirmed. Of those that reach an age, the share withdrawn later is the *chance to be
withdrawn*. A calm list shows an event at the first age at which that chance is below an accepted share.

A kind of which little was seen is judged by its confidence, through :class:`camera.chances.Chances`: that counts like
``PRIOR_EVENTS`` events. Counts are halved now and then, so that what is learned can change. An amendment is no
withdrawal: the event stays. Only what was confirmed or withdrawn teaches.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Final

from camera.chances import Chance
from football.update_stream import EventRecord, UpdateRecord

#: Accepted share unless another one is chosen.
STEADY: Final = 0.05

#: Ages are counted in half octaves of this time; the last step has everything above eight seconds.
FIRST_US: Final = 1_000
STEPS: Final = 28

#: Weight of what the confidence says, in events of a kind.
PRIOR_EVENTS: Final = 20

#: Events of a kind after which its counts are halved.
MEMORY: Final = 2_000

#: An age that no event reaches before it is confirmed.
NEVER_US: Final = 3_600_000_000


def age_of(step: int) -> int:
    """Return the age at which a step begins, in microseconds.

    >>> [age_of(step) for step in (0, 1, 3, 21)]
    [0, 1000, 2000, 1024000]
    """
    return round(FIRST_US * 2 ** ((step - 1) / 2)) if step else 0


_AGES: Final = tuple(map(age_of, range(STEPS)))


class _Counts:
    """Of one kind: events that were settled, and of them those withdrawn, by the step of their age."""

    __slots__ = ("settled", "withdrawn")

    def __init__(self) -> None:
        self.settled = 0
        self.withdrawn = [0] * STEPS

    def settle(self) -> None:
        self.settled += 1
        if self.settled > MEMORY:
            self.settled //= 2
            self.withdrawn = [count // 2 for count in self.withdrawn]


class Steadiness:
    """The age from which events are shown. Not thread safe; its owner locks.

    Args:
        share: accepted share of shown events that are withdrawn.
        prior: chance that an event stands by its confidence and age, where little was seen of its kind.

    Attributes:
        withdrawn: events withdrawn so far, by kind.

    Raises:
        ValueError: the share does not lie between 0 and 1.
    """

    def __init__(self, share: float, prior: Chance) -> None:
        if not 0.0 < share < 1.0:
            raise ValueError(f"the accepted share must lie between 0 and 1, not {share}")
        self._share, self._prior = share, prior
        self.withdrawn: Counter[str] = Counter()
        self._counts: dict[str, _Counts] = {}
        #: Arrival time of the first assertion of each event that may still change, and the kind, by id.
        self._open: dict[str, tuple[str, int]] = {}
        self._settles: list[tuple[int, str]] = []

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Take the next updates of the log; those that came together in one call."""
        withdrawn_us: dict[str, int] = {}
        asserted: dict[str, EventRecord] = {}
        for update in updates:
            event = update.event
            if update.diff < 0:
                if asserted.get(event.id, event) == event:  # else an amendment, whose new version came first
                    withdrawn_us[event.id] = update.emitted_us
                continue
            asserted[event.id] = event
            withdrawn_us.pop(event.id, None)
            if event.id not in self._open:
                self._open[event.id] = event.kind, update.emitted_us
            heapq.heappush(self._settles, (event.ts_us + event.lag_us, event.id))
        for event_id, at_us in withdrawn_us.items():
            if (begun := self._open.pop(event_id, None)) is not None:
                kind, since_us = begun
                counts = self._counts.setdefault(kind, _Counts())
                counts.settle()
                counts.withdrawn[_step_of(at_us - since_us)] += 1
                self.withdrawn[kind] += 1

    def advance(self, frontier_us: int) -> None:
        """Count as standing all events that the frontier of the inputs confirms."""
        while self._settles and self._settles[0][0] < frontier_us:
            _, event_id = heapq.heappop(self._settles)
            if (begun := self._open.pop(event_id, None)) is not None:
                self._counts.setdefault(begun[0], _Counts()).settle()

    def age_us(self, event: EventRecord) -> int:
        """Return the age from which the chance of an event to be withdrawn is below the accepted share."""
        counts = self._counts.get(event.kind) or _Counts()
        stood = counts.settled - sum(counts.withdrawn)
        later, found_us = 0, NEVER_US
        for step in range(STEPS - 1, -1, -1):
            later += counts.withdrawn[step]
            unlikely = PRIOR_EVENTS * (1.0 - self._prior(event, _AGES[step]))
            if unlikely + later > self._share * (PRIOR_EVENTS + stood + later):
                break
            found_us = _AGES[step]
        return found_us


def _step_of(age_us: int) -> int:
    """Return the last step that begins at ``age_us`` or before."""
    return max(0, bisect_right(_AGES, age_us) - 1)
