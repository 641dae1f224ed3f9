"""The maximal matches of skip-till-any-match, without trying every pick.

Theory of operation
-------------------
A match is maximal if no event can be added to it. Between two single steps, a repeated step therefore takes every event
that fits. Of neighbouring repeated steps each split point gives one match: all events of the first step up to the
split, then all of the second step after it, where no event of the first could still be added before the second begins.
So the search chooses the single events, and then only the splits: paper 003 (4.4) shows it for ``SEQ(A+, B+, C)``. It
needs a single event at one end of the branch, and conditions that look at the repetitions one event at a time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby, product

from detectors.patterns.branches import Branch
from detectors.patterns.expressions import Condition
from detectors.patterns.search import Bindings, Search, TooManyMatchesError
from detectors.patterns.syntax import PatternEvent

_Events = tuple[PatternEvent, ...]


def is_regular(branch: Branch) -> bool:
    """True if :class:`MaximalSearch` can search a branch."""
    steps = branch.steps
    single = [step.most == 1 for step in steps]
    if not (single[0] or single[-1]) or not all(step.least >= 1 and step.most in (1, None) for step in steps):
        return False
    if any(single[at] is False for negation in branch.negations for at in _neighbours(branch, negation.place)):
        return False
    if any(not _is_elementwise(c, single, at) for n in branch.negations for c in n.others for at in [n.slot]):
        return False
    if any(not single[slot] for n in branch.negations for c in n.others for slot in c.plain if slot != n.slot):
        return False
    return not any(branch.when_left) and all(
        not c.aggregated and sum(not single[slot] for slot in c.plain) <= 1 for each in branch.when_taken for c in each
    )


def _neighbours(branch: Branch, place: int) -> list[int]:
    """The steps around a gap; of a gap before or after the match, the outer ones."""
    last = len(branch.steps) - 1
    return [0, last] if place in (0, last + 1) else [place - 1, place]


def _is_elementwise(condition: Condition, single: list[bool], slot: int) -> bool:
    return all(single[other] for other in condition.aggregated if other != slot)


class MaximalSearch:
    """Searches maximal matches of a regular branch, by the first or the last event."""

    def __init__(self, search: Search) -> None:
        self.search, self.branch = search, search.branch
        steps = self.branch.steps
        self.singles = [at for at, step in enumerate(steps) if step.most == 1]
        #: Conditions on one repeated step each, the other slots single; and those on single steps by the latest.
        self._of_repeated: dict[int, list[Condition]] = {at: [] for at in range(len(steps))}
        self._of_singles: dict[int, list[Condition]] = {at: [] for at in range(len(steps))}
        for condition in (c for each in self.branch.when_taken for c in each):
            repeated = [slot for slot in condition.plain if slot not in self.singles]
            if repeated:
                self._of_repeated[repeated[0]].append(condition)
            else:
                self._of_singles[max(condition.plain)].append(condition)

    def ending_with(self, last: PatternEvent) -> list[Bindings]:
        """The maximal matches whose last event is this one; the last step is single."""
        return self._matches(self.search.begin_us(last), last.ts_us, None, last)

    def beginning_with(self, first: PatternEvent) -> list[Bindings]:
        """The maximal matches whose first event is this one; the first step is single."""
        return self._matches(first.ts_us, self.search.end_us(first), first, None)

    def _matches(
        self, begin_us: int, end_us: int, first: PatternEvent | None, last: PatternEvent | None
    ) -> list[Bindings]:
        found: list[Bindings] = []
        empty: Bindings = ((),) * len(self.branch.steps)
        for bound in self._choose_singles(0, empty, None, (begin_us, end_us, first, last)):
            for complete in self._fill(bound, begin_us, end_us):
                if self.search.accepts(complete, len(complete) - 1) and self._early_hold(complete):
                    found.append(complete)
                    if len(found) > self.search.most:
                        raise TooManyMatchesError(
                            f"more than {self.search.most:,} maximal matches share their first or last event,"
                            f" such as {complete[0][0].id} to {complete[-1][-1].id}",
                            "Choose --strategy stnm, shorten WITHIN, add conditions or keys, or raise --most",
                        )
        return found

    def _early_hold(self, bound: Bindings) -> bool:
        return all(
            self.search.is_absent(number, bound)
            for number, negation in enumerate(self.branch.negations)
            if negation.early
        )

    def _choose_singles(
        self,
        number: int,
        bound: Bindings,
        previous: PatternEvent | None,
        limits: tuple[int, int, PatternEvent | None, PatternEvent | None],
    ) -> Iterator[Bindings]:
        """Every choice of the single events, with a place for what repeats between them."""
        if number == len(self.singles):
            yield bound
            return
        begin_us, end_us, first, last = limits
        at, search = self.singles[number], self.search
        candidates = search.lists[at]
        low = bisect_left(candidates, (begin_us,)) if previous is None else search.after(candidates, previous)
        high = bisect_left(candidates, (end_us + 1,)) if last is None else search.until(candidates, last)
        events = candidates[low:high]
        if first is not None and at == 0:
            events = [first]
        if last is not None and at == len(bound) - 1:
            events = [last] if previous is None or search.is_before(previous, last) else []
        for event in events:
            grown = (*bound[:at], (event,), *bound[at + 1 :])
            if all(condition.holds(grown) for condition in self._of_singles[at]):
                yield from self._choose_singles(number + 1, grown, event, limits)

    def _fill(self, bound: Bindings, begin_us: int, end_us: int) -> Iterator[Bindings]:
        """Every way to fill the repeated steps between the single ones."""
        runs, at = [], 0
        while at < len(bound):
            if bound[at]:
                at += 1
                continue
            end = at
            while end < len(bound) and not bound[end]:
                end += 1
            runs.append((at, end))
            at = end
        choices = [list(self._splits(bound, at, end, begin_us, end_us)) for at, end in runs]
        for choice in product(*choices):
            filled = list(bound)
            for (at, end), events in zip(runs, choice, strict=True):
                filled[at:end] = events
            yield tuple(filled)

    def _splits(self, bound: Bindings, at: int, end: int, begin_us: int, end_us: int) -> Iterator[tuple[_Events, ...]]:
        """Every maximal filling of neighbouring repeated steps."""
        search, groups = self.search, []
        for step in range(at, end):
            candidates = search.lists[step]
            low = search.after(candidates, bound[at - 1][0]) if at else bisect_left(candidates, (begin_us,))
            high = (
                search.until(candidates, bound[end][0]) if end < len(bound) else bisect_left(candidates, (end_us + 1,))
            )
            events = candidates[low:high]
            conditions = self._of_repeated[step]
            if conditions:
                events = [e for e in events if all(c.holds(bound, {step: e}) for c in conditions)]
            groups.append(self._instants(events))
        yield from self._split(groups, at)

    def _instants(self, events: list[PatternEvent]) -> list[_Events]:
        """Events by instant: only one of each can be taken, unless the query says ``TIES``."""
        if self.search.ties:
            return [(event,) for event in events]
        return [tuple(group) for _, group in groupby(events, key=lambda event: event.ts_us)]

    def _split(self, groups: list[list[_Events]], at: int) -> Iterator[tuple[_Events, ...]]:
        first, rest = groups[0], groups[1:]
        least = self.branch.steps[at].least
        if not rest:
            if len(first) >= least:
                for events in product(*first):
                    yield (events,)
            return
        for count in range(1, len(first) + 1):
            reached = first[count - 1][-1]
            behind = [[one for one in each if self._is_after(reached, one)] for each in rest]
            if not behind[0]:
                return
            # Another event of this step before the next step begins could be added.
            may_grow = count < len(first) and self._is_after_group(first[count], behind[0][0])
            if may_grow or count < least:
                continue
            for events in product(*first[:count]):
                for others in self._split(behind, at + 1):
                    yield (events, *others)

    def _is_after(self, event: PatternEvent, group: _Events) -> bool:
        return self.search.is_before(event, group[0])

    def _is_after_group(self, group: _Events, following: _Events) -> bool:
        """True if the events of an instant lie before those of another."""
        return self.search.is_before(group[0], following[0])
