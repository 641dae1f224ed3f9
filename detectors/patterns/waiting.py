"""The runs that wait for their match, and when they are taken up: lazy, eager or hybrid evaluation.

Theory of operation
-------------------
With skip till next match each first event has one run. A run can be taken up at any time: it takes all events that have
come since, so the result does not depend on when that is. What it costs does. The rarest step decides:

* the last step is the rarest: *lazy*. Runs are taken up at the ends only; events between cost nothing (paper 003);
* the first step is the rarest: *eager*. There are few runs. Each event takes them up, and an end those alone that wait
  for it;
* a step between is the rarest: *hybrid*. An event of that step takes up the runs before it, and an end those that have
  passed it. All others could not be complete.

The rates are the lengths of the lists of the steps, and the choice is made again from time to time.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Literal

from detectors.patterns.search import Match, Run, Search
from detectors.patterns.syntax import PatternEvent

Plan = Literal["lazy", "eager", "hybrid"]

#: After so many events the plan is chosen again.
_RECHOSEN_AFTER = 1_024

#: Takes a first event and its match.
Found = Callable[[PatternEvent, Match], None]


class WaitingRuns:
    """The runs of a branch that ends with a single event.

    Args:
        search: of the branch and partition.
        found: called with each match.
    """

    def __init__(self, search: Search, found: Found) -> None:
        self._search, self._branch, self._found = search, search.branch, found
        self._needed = [at for at, step in enumerate(self._branch.steps) if step.least]
        #: The step that takes up runs, and what that is called.
        self._trigger, self.plan = self._needed[-1], self.choose()
        self._runs: dict[str, Run] = {}
        #: First events of the runs that an end does not take up, and of those that it does; both in order.
        self._before: list[PatternEvent] = []
        self._behind: list[PatternEvent] = []
        self._events = 0

    def choose(self) -> Plan:
        """Choose the plan by the rates of the steps; where they are alike it is lazy."""
        lists = self._search.lists
        self._trigger = min(reversed(self._needed), key=lambda at: len(lists[at]))
        if self._trigger == self._needed[-1]:
            return "lazy"
        return "eager" if self._trigger == self._needed[0] else "hybrid"

    def append(self, event: PatternEvent, *, starts: bool, completes: bool) -> None:
        """Take an event that is in the lists already and later than all others of the partition."""
        self._events += 1
        if not self._events % _RECHOSEN_AFTER:
            self._choose_again()
        if self._before and self._takes_up(event, completes=completes):
            self._before = self._take_up(self._before, event)
            reached = [first for first in self._before if self._is_behind(self._runs[first.id])]
            if reached:
                self._before = [first for first in self._before if not self._is_behind(self._runs[first.id])]
                self._behind = sorted(self._behind + reached)
        if completes and self._behind:
            self._behind = self._take_up(self._behind, event)
        if starts:
            self._add(event)

    def restart(self, first: PatternEvent) -> Match | None:
        """Run from a first event again, because an event in its window came late or is gone; return its match."""
        self.drop(first)
        return self._add(first, report=False)

    def drop(self, first: PatternEvent) -> None:
        """Forget a run."""
        if self._runs.pop(first.id, None) is not None:
            for waiting in (self._before, self._behind):
                index = bisect_left(waiting, first)
                if index < len(waiting) and waiting[index].id == first.id:
                    del waiting[index]

    def purge(self, before_us: int) -> None:
        """Forget the runs that began before an event time."""
        for waiting in (self._before, self._behind):
            index = bisect_left(waiting, (before_us,))
            for first in waiting[:index]:
                del self._runs[first.id]
            del waiting[:index]

    def _choose_again(self) -> None:
        before = self._trigger
        self.plan = self.choose()
        if self._trigger == before:
            return
        # The new plan relies on how far runs have come.
        every = sorted(self._before + self._behind)
        for first in every:
            self._runs[first.id] = self._search.resume(self._runs[first.id])
        self._before = [first for first in every if not self._is_behind(self._runs[first.id])]
        self._behind = [first for first in every if self._is_behind(self._runs[first.id])]

    def _takes_up(self, event: PatternEvent, *, completes: bool) -> bool:
        """True if an event takes up the runs that an end does not."""
        if self.plan == "eager":
            return True
        return completes if self.plan == "lazy" else self._branch.fits(self._trigger, event)

    def _is_behind(self, run: Run) -> bool:
        """True if an end takes up a run, and nothing else does."""
        if self.plan == "eager":
            return len(self._branch.steps) - 1 in self._branch.options(run.at, len(run.bound[run.at]))
        return self.plan == "hybrid" and run.at >= self._trigger

    def _take_up(self, waiting: list[PatternEvent], event: PatternEvent) -> list[PatternEvent]:
        """Let runs go on; return the first events of those that still wait."""
        left: list[PatternEvent] = []
        oldest_us, last = event[0] - self._search.within_us, len(self._branch.steps) - 1
        for first in waiting:
            run = self._runs.pop(first.id)
            if first[0] < oldest_us:
                continue
            run = self._search.resume(run)
            if run.at < last:
                self._runs[first.id] = run
                left.append(first)
            elif match := run.match():
                self._found(first, match)
        return left

    def _add(self, first: PatternEvent, *, report: bool = True) -> Match | None:
        """Begin a run; return its match, if the events up to now complete it."""
        run = self._search.begin(first)
        if run is None:
            return None
        run = self._search.resume(run)
        if run.at < len(self._branch.steps) - 1:
            self._runs[first.id] = run
            insort(self._behind if self._is_behind(run) else self._before, first)
            return None
        match = run.match()
        if match and report:
            self._found(first, match)
        return match
