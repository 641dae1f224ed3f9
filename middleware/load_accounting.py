"""Load accounting: what the work of a span costs, from counts and from costs that the host has measured.

Theory of operation
-------------------
What adapts to load (alpha, the retraction mode) must decide the same when a window is redone. So it may not look at a
clock. The engine counts its work. Between windows the host measures what a piece of work costs, and sets the costs
(``Engine.set_costs``); they are part of the state. The *busy factor* of a span of arrival time is the sum of counts
times costs, over the time that is available for the span.

The *price* of an update that a repair sends is what it costs above: its routing, and for each subscriber the cost of
one disturbed input there, that is, the steps redone and the updates sent on at their own price. Levels rise, so prices
are summed from the top down. The rates fade with a half-life of a few spans. The same prices say whose speculation is
given up first under overload (:meth:`LoadAccounting.dearest`), which 000 leaves to future work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import sub
from typing import NamedTuple

import msgspec

#: Span over which the load is measured (000, section 5.2), in arrival time.
SPAN_US = 500_000

#: Share of its weight that a count loses with each span.
_FADES = 0.25


class Costs(msgspec.Struct, frozen=True):
    """Costs of work, in microseconds. The defaults are those of an average machine; the host measures its own.

    Attributes:
        arrival_us: an arrival, outside the detectors: decoded, checked, offered to its source's progress.
        moved_us: an update, routed to its subscribers and sorted in.
        step_us, compare_us: one step of a detector, and one comparison of two equal states of it, by detector name.
        default_step_us, default_compare_us: of a detector that has not been measured.
        available: wall seconds that the host has for a second of the stream, over all cores that serve this engine;
            0.25 where a recording is played at four times its speed.
    """

    arrival_us: float = 20.0
    moved_us: float = 6.0
    step_us: Mapping[str, float] = {}
    compare_us: Mapping[str, float] = {}
    default_step_us: float = 5.0
    default_compare_us: float = 0.4
    available: float = 1.0

    def step(self, name: str) -> float:
        """Return the cost of a step of the detector called ``name``."""
        return self.step_us.get(name, self.default_step_us)

    def compare(self, name: str) -> float:
        """Return the cost of comparing two states of the detector called ``name``."""
        return self.compare_us.get(name, self.default_compare_us)


class Work(NamedTuple):
    """Counts of one detector's units: since the beginning, or in a span. See :class:`Counters`."""

    stepped: int = 0
    redone: int = 0
    disturbed: int = 0
    sent_again: int = 0
    trials: int = 0
    trial_steps: int = 0
    trial_steps_full: int = 0
    trial_sent: int = 0
    trial_sent_full: int = 0

    def less(self, before: Work) -> Work:
        """Return the work since ``before``."""
        return Work(*map(sub, self, before))


_NO_WORK = Work()


class Counters:
    """Counts of one unit since the beginning.

    Attributes:
        stepped, redone: inputs given to the detector for the first time, and again.
        late: inputs later than the whole slack K: pure buffering, too, would have released later ones before them.
        disturbed: inputs inserted, removed or replaced before AEP.
        compared: states compared while redoing.
        repairs: pushes in which something had to be repaired.
        retracted, repaired: events withdrawn, and asserted, by repairs.
        trials and what follows: see ``middleware.ordering.retraction``.
    """

    __slots__ = (
        "compared", "disturbed", "late", "redone", "repaired", "repairs", "retracted", "stepped",
        "trial_sent", "trial_sent_full", "trial_steps", "trial_steps_full", "trials",
    )  # fmt: skip

    def __init__(self) -> None:
        self.stepped = self.redone = self.compared = self.late = self.disturbed = 0
        self.repairs = self.retracted = self.repaired = 0
        self.trials = self.trial_steps = self.trial_steps_full = self.trial_sent = self.trial_sent_full = 0

    def work(self) -> Work:
        """Return them as the work of this unit."""
        return Work(
            self.stepped, self.redone, self.disturbed, self.retracted + self.repaired, self.trials, self.trial_steps,
            self.trial_steps_full, self.trial_sent, self.trial_sent_full,
        )  # fmt: skip


def total(counters: Sequence[Counters]) -> Work:
    """Return the work of several units together."""
    if len(counters) == 1:
        return counters[0].work()
    stepped = redone = disturbed = sent = trials = steps = steps_full = trial_sent = trial_sent_full = 0
    for c in counters:
        stepped += c.stepped
        redone += c.redone
        disturbed += c.disturbed
        sent += c.retracted + c.repaired
        trials += c.trials
        steps += c.trial_steps
        steps_full += c.trial_steps_full
        trial_sent += c.trial_sent
        trial_sent_full += c.trial_sent_full
    return Work(stepped, redone, disturbed, sent, trials, steps, steps_full, trial_sent, trial_sent_full)


class LoadAccounting:
    """Counts of the running span, and rates of those before. Plain state of an engine.

    Args:
        names: of the detectors, lowest first.
        above: for each the indices of its subscribers in ``names``, without repetition.

    Attributes:
        busy: busy factor of the last whole span; 0 before the first.
        arrivals, moved: arrivals offered, and updates routed to subscribers, since the beginning.
    """

    def __init__(self, names: Sequence[str], above: Sequence[Sequence[int]]) -> None:
        self.names = tuple(names)
        self.above = tuple(map(tuple, above))
        self.costs = Costs()
        self.busy = 0.0
        self.arrivals = 0
        self.moved = 0
        self._ends_us: int | None = None
        self._begun = (0, 0, 0)
        self._last_span = (0, 0)
        self._work = [Work()] * len(self.names)
        self._redone = [0.0] * len(self.names)
        self._disturbed = [0.0] * len(self.names)
        self._sent = [0.0] * len(self.names)

    def is_over(self, now_us: int) -> bool:
        """True if a span ends with a push at ``now_us``."""
        if self._ends_us is None:
            self._ends_us, self._begun = now_us + SPAN_US, (now_us, 0, 0)
        return now_us >= self._ends_us

    def end_span(self, now_us: int, work: Sequence[Work]) -> list[Work]:
        """End a span.

        Args:
            now_us: arrival time of the push that ends it.
            work: of all detectors, since the beginning.

        Returns:
            The work of each in the span.
        """
        began_us, arrivals, moved = self._begun
        costs = self.costs
        done = [_NO_WORK if new == old else new.less(old) for new, old in zip(work, self._work, strict=True)]
        busy_us = (self.arrivals - arrivals) * costs.arrival_us + (self.moved - moved) * costs.moved_us
        for index, (name, own) in enumerate(zip(self.names, done, strict=True)):
            busy_us += (own.stepped + own.redone) * costs.step(name)
            if own.redone or self._redone[index]:
                self._redone[index] += own.redone - _FADES * self._redone[index]
            if own.disturbed or self._disturbed[index]:
                self._disturbed[index] += own.disturbed - _FADES * self._disturbed[index]
            if own.sent_again or self._sent[index]:
                self._sent[index] += own.sent_again - _FADES * self._sent[index]
        self.busy = busy_us / ((now_us - began_us) * costs.available)
        self._last_span = began_us, now_us
        self._ends_us, self._begun = now_us + SPAN_US, (now_us, self.arrivals, self.moved)
        self._work = list(work)
        return done

    def dearest(self, done: Sequence[Work], slack_us: Sequence[int], target: float) -> frozenset[int]:
        """Return the detectors whose speculation is to be given up, so that the busy factor comes down to a target.

        Speculation of a detector costs its repairs and what these cost above, and buys at most its slack of latency.
        Those that buy the least for their cost come first, as many as the excess needs. One that repairs nothing is
        never among them.

        Args:
            done: work of each in the last span.
            slack_us: K of each.
            target: busy factor that is aimed at.
        """
        began_us, ended_us = self._last_span
        excess_us = (self.busy - target) * (ended_us - began_us) * self.costs.available
        prices_us, costs = self.prices_us(), self.costs
        spent_us = [
            own.redone * costs.step(name) + own.sent_again * price_us
            for name, own, price_us in zip(self.names, done, prices_us, strict=True)
        ]
        chosen = set()
        for index in sorted(range(len(spent_us)), key=lambda i: (slack_us[i] + 1) / max(spent_us[i], 1e-9)):
            if excess_us <= 0 or spent_us[index] <= 0:
                break
            chosen.add(index)
            excess_us -= spent_us[index]
        return frozenset(chosen)

    def prices_us(self) -> list[float]:
        """Return what an update sent by a repair costs above, by detector."""
        prices = [0.0] * len(self.names)
        for index in reversed(range(len(self.names))):
            prices[index] = self.costs.moved_us + sum(self._disturbance_us(s, prices) for s in self.above[index])
        return prices

    def _disturbance_us(self, index: int, prices: Sequence[float]) -> float:
        """Return what one disturbed input costs at a detector and above it."""
        disturbed = self._disturbed[index]
        if disturbed < 1.0:
            return self.costs.step(self.names[index])
        redone_us = self._redone[index] * self.costs.step(self.names[index])
        return (redone_us + self._sent[index] * prices[index]) / disturbed
