"""Searches one branch over sorted events: what begins with an event, and what ends with one.

All searches look at the lists of a partition and change nothing. They depend on events within the window only, so a
late event concerns the events around it and no others.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from detectors.patterns.branches import Branch
from detectors.patterns.expressions import Condition
from detectors.patterns.syntax import Limit, PatternError, PatternEvent, Query

#: Events of a match, in order.
Match = tuple[PatternEvent, ...]

#: Most searches look among so many of the newest events.
_NEAR = 16

#: Events by step.
Bindings = tuple[tuple[PatternEvent, ...], ...]


class TooManyMatchesError(PatternError):
    """A pattern has more matches in one window than the bound; the message has the count and the mend."""


class Run(NamedTuple):
    """How far the match that begins with an event has come, skipping till the next event that fits.

    Attributes:
        first: the event.
        bound: the events of each step.
        at: the step that took the last event.
        here: the last event taken.
        seen: the newest event that was looked at; None if none was.
        lengths: number of events of each step when the run was last a match; None if it never was.
    """

    first: PatternEvent
    bound: list[list[PatternEvent]]
    at: int
    here: PatternEvent
    seen: PatternEvent | None
    lengths: list[int] | None

    def match(self) -> Match | None:
        """The match as far as it has come; None if it is none yet."""
        if self.lengths is None:
            return None
        return tuple(e for each, size in zip(self.bound, self.lengths, strict=True) for e in each[:size])


class Search:
    """The searches of one branch.

    Args:
        query: that the branch is of.
        branch: its steps and conditions.
        lists: for each step, the events that fit it alone, in canonical order. The owner of the lists changes them.
        forbidden: the same for each negation.
        stream: all events of the partition, in canonical order.
        most: bound on the matches, and on the picks that are tried, of one search.
        limits: further bounds of the window, each with the events that it counts, in canonical order.
    """

    def __init__(
        self,
        query: Query,
        branch: Branch,
        lists: Sequence[list[PatternEvent]],
        forbidden: Sequence[list[PatternEvent]],
        stream: list[PatternEvent],
        most: int,
        limits: Sequence[tuple[Limit, list[PatternEvent]]] = (),
    ) -> None:
        self.query, self.branch, self.lists, self.forbidden = query, branch, lists, forbidden
        self.stream, self.most = stream, most
        self.within_us, self.ties, self.limits = query.within_us, query.ties, limits

    # The window.

    def end_us(self, first: PatternEvent) -> int:
        """Latest event time of a match that begins with an event."""
        end_us = first[0] + self.within_us
        for limit, counted in self.limits:
            index = bisect_left(counted, (first[0] + (not limit.with_first),)) + limit.most
            if index < len(counted) and counted[index][0] <= end_us:
                end_us = counted[index][0] - 1
        return end_us

    def begin_us(self, last: PatternEvent) -> int:
        """Earliest event time of a match that ends with an event."""
        begin_us = last[0] - self.within_us
        for limit, counted in self.limits:
            index = bisect_left(counted, (last[0] + 1,)) - limit.most - 1
            if index >= 0:
                begin_us = max(begin_us, counted[index][0] + limit.with_first)
        return begin_us

    # Order.

    def after(self, candidates: list[PatternEvent], event: PatternEvent) -> int:
        """Index of the first event of a list that is strictly after an event."""
        if self.ties:
            return bisect_right(candidates, event)
        later_us = event[0] + 1
        low = len(candidates) - _NEAR
        return bisect_left(candidates, (later_us,), low if low > 0 and candidates[low][0] < later_us else 0)

    def until(self, candidates: Sequence[PatternEvent], event: PatternEvent) -> int:
        """Index of the first event of a list that is not strictly before an event."""
        if self.ties:
            return bisect_left(candidates, event)
        low = len(candidates) - _NEAR
        return bisect_left(candidates, (event[0],), low if low > 0 and candidates[low][0] < event[0] else 0)

    def is_before(self, first: PatternEvent, second: PatternEvent) -> bool:
        """True if the second event is strictly after the first."""
        return first < second if self.ties else first[0] < second[0]

    def first_steps(self, event: PatternEvent) -> list[int]:
        """Steps that may take an event as the first of a match, the furthest first."""
        return [at for at in reversed(self.branch.starts) if self.branch.fits(at, event)]

    # Skip till next match.

    def next_simple(self, first: PatternEvent) -> Match | None:
        """The match that begins with an event, of a simple branch, by hops from list to list."""
        found, last = [first], len(self.branch.steps) - 1
        end_us = self.end_us(first) if self.limits else first[0] + self.within_us
        if not self._hop(found, last, end_us):
            return None
        if self.branch.steps[last].most is None:
            candidates = self.lists[last]
            found += self._apart(candidates[self.after(candidates, found[-1]) : bisect_left(candidates, (end_us + 1,))])
        return tuple(found)

    def next_up_to(self, end: PatternEvent, first: PatternEvent, second: int = -1) -> Match | None:
        """The match of :meth:`next_simple`, of a start that has had none before the newest event.

        Args:
            end: the newest event, with which it can only end; of a branch that ends with a single step.
            first: the start.
            second: index in the list of the second step of the first event after the start; -1 if it is not known.
        """
        if self.limits and end[0] > self.end_us(first):
            return None
        found, last = [first], len(self.branch.steps) - 1
        if not self._hop(found, last - 1, end[0], second):
            return None
        if self.branch.steps[last - 1].most is None:
            candidates = self.lists[last - 1]
            more = candidates[self.after(candidates, found[-1]) :]
            if more and more[-1] is end:
                more.pop()
            found += self._apart(more)
        if not self.is_before(found[-1], end):
            return None
        found.append(end)
        return tuple(found)

    def _hop(self, found: list[PatternEvent], last: int, end_us: int, second: int = -1) -> bool:
        """Hop from list to list up to that of step ``last``; append what each step takes.

        Args:
            found: the start; gets the events that follow, the first one of step ``last`` at its end.
            last: the step to reach.
            end_us: the end of the window.
            second: as in :meth:`next_up_to`.

        Returns:
            Whether the step was reached in the window.
        """
        lists, steps, here = self.lists, self.branch.steps, found[-1]
        for at in range(last):
            following = lists[at + 1]
            index = second if second >= 0 and not at else self.after(following, here)
            if index == len(following) or following[index][0] > end_us:
                return False
            if steps[at].most is None:
                reached, repeated = following[index], lists[at]
                while more := repeated[self.after(repeated, here) : bisect_left(repeated, reached)]:
                    found += self._apart(more)
                    here = found[-1]
                    if self.ties or here[0] < reached[0]:
                        break
                    # The last repetition shares the instant of what follows: that cannot come after it.
                    index = self.after(following, here)
                    if index == len(following) or following[index][0] > end_us:
                        return False
                    reached = following[index]
            here = following[index]
            found.append(here)
        return True

    def _apart(self, events: list[PatternEvent]) -> list[PatternEvent]:
        """The first event of each instant, unless the query says ``TIES``."""
        if self.ties or len(events) < 2:
            return events
        return events[:1] + [b for a, b in itertools.pairwise(events) if a[0] < b[0]]

    def next_match(self, first: PatternEvent) -> Match | None:
        """The match that begins with an event: each event that fits is taken, and the longest accepted state counts."""
        run = self.begin(first)
        return None if run is None else self.resume(run).match()

    def begin(self, first: PatternEvent) -> Run | None:
        """The run that begins with an event; None if no step takes it first."""
        for start in self.first_steps(first):
            bound: list[list[PatternEvent]] = [[] for _ in self.branch.steps]
            bound[start].append(first)
            if self.may_take(bound, -1, start, first):
                return Run(first, bound, start, first, None, self._lengths(bound, start, None))
        return None

    def resume(self, run: Run) -> Run:
        """Let a run take all events up to now; its lists grow."""
        first, bound, at, here, seen, lengths = run
        end_us = self.end_us(first)
        newest = max((candidates[-1] for candidates in self.lists if candidates), default=seen)
        taken: PatternEvent | None = here
        while taken is not None:
            taken, at = self._take_next(bound, at, here, seen, end_us)
            if taken is not None:
                here, lengths = taken, self._lengths(bound, at, lengths)
        return Run(first, bound, at, here, newest, lengths)

    def _lengths(self, bound: list[list[PatternEvent]], at: int, before: list[int] | None) -> list[int] | None:
        return [len(each) for each in bound] if self.accepts(bound, at) else before

    def _take_next(
        self, bound: list[list[PatternEvent]], at: int, here: PatternEvent, seen: PatternEvent | None, end_us: int
    ) -> tuple[PatternEvent | None, int]:
        """Bind the first later event that fits one of the next steps, behind those seen; None if there is none."""
        options = self.branch.options(at, len(bound[at]))
        heads = [self.after(self.lists[step], here) for step in options]
        if seen is not None and here < seen:
            heads = [max(head, bisect_right(self.lists[step], seen)) for head, step in zip(heads, options, strict=True)]
        while True:
            best, chosen = None, -1
            for place, step in enumerate(options):
                candidates = self.lists[step]
                if heads[place] < len(candidates) and (best is None or candidates[heads[place]] < best):
                    best, chosen = candidates[heads[place]], place
            if best is None or best.ts_us > end_us:
                return None, at
            step = options[chosen]
            bound[step].append(best)
            if self.may_take(bound, at, step, best):
                return best, step
            bound[step].pop()
            heads[chosen] += 1

    # Every repetition: skip till next, any match, or neighbours.

    def every_next_simple(self, first: PatternEvent, end: PatternEvent | None = None) -> list[Match]:
        """The matches of :meth:`branching` of a simple branch, by hops from list to list.

        Args:
            first: the first event.
            end: the newest event; if given, only matches that end with it, of a branch that ends with a single step.
        """
        lists, steps = self.lists, self.branch.steps
        last, end_us = len(steps) - 1, self.end_us(first)
        if end is not None and end[0] > end_us:
            return []
        found: list[Match] = [(first,)]
        for at in range(last + 1):
            entered, found = found, []
            if end is not None and at == last - 1:
                found = [match for run in entered for match in self._going_on_to(end, run, at)]
                self._limit(len(found), first)
                return found
            following = lists[at + 1] if at < last else []
            for run in entered:
                for taken in self._leaving(run, at, end_us) if steps[at].most is None else (run,):
                    if at == last:
                        found.append(taken)
                        continue
                    index = self.after(following, taken[-1])
                    if index < len(following) and following[index][0] <= end_us:
                        found.append((*taken, following[index]))
                self._limit(len(found), first)
        return found

    def _going_on_to(self, end: PatternEvent, run: Match, at: int) -> list[Match]:
        """The matches with the newest end of a run that has entered the last step but one.

        From an event before the former end it goes on to that one, so only those behind it count.
        """
        if not self.is_before(run[-1], end):
            return []
        ends, whole, low = self.lists[at + 1], run, len(run) - 1
        if self.branch.steps[at].most is None:
            candidates = self.lists[at]
            whole = (*run, *self._apart(candidates[self.after(candidates, run[-1]) : self.until(candidates, end)]))
        if len(ends) > 1:
            low = max(low, self.until(whole, ends[-2]))
        newest = (end,)
        return [whole[:count] + newest for count in range(low + 1, len(whole) + 1)]

    def _leaving(self, run: Match, at: int, end_us: int) -> Iterator[Match]:
        """The run at each event of a repeated step at which it may go on."""
        yield run
        candidates = self.lists[at]
        more = self._apart(candidates[self.after(candidates, run[-1]) : bisect_left(candidates, (end_us + 1,))])
        for count in range(1, len(more) + 1):
            yield (*run, *more[:count])

    def branching(self, first: PatternEvent) -> list[Bindings]:
        """Skip till next match where each step that may come next takes the first event that fits it."""
        found: list[Bindings] = []
        runs = list(self._begin(first))
        end_us, tried = self.end_us(first), 0
        while runs:
            bound, at, here = runs.pop()
            tried += 1
            self._limit(max(tried, len(found)), first)
            if self.accepts(bound, at):
                found.append(bound)
            for step in self.branch.options(at, len(bound[at])):
                grown = next(self._grown(bound, at, step, here, end_us), None)
                if grown is not None:
                    runs.append(grown)
        return found

    def picks(
        self, first: PatternEvent, last: PatternEvent | None = None, *, contiguous: bool = False
    ) -> list[Bindings]:
        """Every match that begins with an event.

        Args:
            first: the first event.
            last: if given, only matches that end with it.
            contiguous: only events that follow one another in the partition.
        """
        found: list[Bindings] = []
        runs = list(self._begin(first))
        end_us, tried = self.end_us(first), 0
        final = len(self.branch.steps) - 1
        while runs:
            bound, at, here = runs.pop()
            tried += 1
            self._limit(tried, first)
            if (last is None or (at == final and here == last)) and self.accepts(bound, at):
                found.append(bound)
            for step in self.branch.options(at, len(bound[at])):
                if contiguous:
                    runs += self._neighbour(bound, at, step, here, end_us)
                elif last is None:
                    runs += self._grown(bound, at, step, here, end_us)
                else:
                    runs += self._grown_up_to(bound, at, step, here, last)
        return found

    def _limit(self, count: int, event: PatternEvent) -> None:
        if count > self.most:
            raise TooManyMatchesError(
                f"more than {self.most:,} picks of events around {event.id} fit the pattern",
                "Choose --strategy stnm, shorten WITHIN, add conditions or keys, or raise --most",
            )

    def _begin(self, first: PatternEvent) -> Iterator[tuple[Bindings, int, PatternEvent]]:
        for start in self.first_steps(first):
            bound = tuple((first,) if at == start else () for at in range(len(self.branch.steps)))
            if self.may_take(bound, -1, start, first):
                yield bound, start, first

    def _grown(
        self, bound: Bindings, at: int, step: int, here: PatternEvent, end_us: int
    ) -> Iterator[tuple[Bindings, int, PatternEvent]]:
        candidates = self.lists[step]
        for index in range(self.after(candidates, here), len(candidates)):
            event = candidates[index]
            if event.ts_us > end_us:
                return
            grown = (*bound[:step], (*bound[step], event), *bound[step + 1 :])
            if self.may_take(grown, at, step, event):
                yield grown, step, event

    def _grown_up_to(
        self, bound: Bindings, at: int, step: int, here: PatternEvent, last: PatternEvent
    ) -> Iterator[tuple[Bindings, int, PatternEvent]]:
        candidates = self.lists[step]
        if step == len(self.branch.steps) - 1:
            events = [last] if self.is_before(here, last) else []
        else:
            events = candidates[self.after(candidates, here) : self.until(candidates, last)]
        for event in events:
            grown = (*bound[:step], (*bound[step], event), *bound[step + 1 :])
            if self.may_take(grown, at, step, event):
                yield grown, step, event

    def _neighbour(
        self, bound: Bindings, at: int, step: int, here: PatternEvent, end_us: int
    ) -> Iterator[tuple[Bindings, int, PatternEvent]]:
        index = bisect_right(self.stream, here)
        if index == len(self.stream):
            return
        event = self.stream[index]
        if event.ts_us <= end_us and self.is_before(here, event) and self.branch.fits(step, event):
            grown = (*bound[:step], (*bound[step], event), *bound[step + 1 :])
            if self.may_take(grown, at, step, event):
                yield grown, step, event

    # Conditions.

    def may_take(self, bound: Any, previous: int, at: int, event: PatternEvent) -> bool:
        """True if all conditions hold that are decided when a step takes an event.

        Args:
            bound: with the event.
            previous: the step that took the event before; -1 for none.
            at, event: the step, and what it takes.
        """
        branch = self.branch
        taken = branch.when_taken[at]
        if taken and not all(condition.holds(bound, {at: event}) for condition in taken):
            return False
        if previous == at:
            return True
        for left in range(max(previous, 0), at):
            if not all(condition.holds(bound) for condition in branch.when_left[left]):
                return False
        return previous < 0 or all(
            self.is_absent(number, bound)
            for number, negation in enumerate(branch.negations)
            if negation.early and previous < negation.place <= at
        )

    def accepts(self, bound: Any, at: int) -> bool:
        """True if what is bound is a match, the last event taken by step ``at``."""
        branch = self.branch
        if at < branch.complete_from or len(bound[at]) < branch.steps[at].least:
            return False
        for left in range(at, len(branch.steps)):
            if not all(condition.holds(bound) for condition in branch.when_left[left]):
                return False
        return all(
            self.is_absent(number, bound) for number, negation in enumerate(branch.negations) if not negation.early
        )

    def is_absent(self, number: int, bound: Any) -> bool:
        """True if no event that a negation forbids stands in its gap."""
        negation, candidates = self.branch.negations[number], self.forbidden[number]
        before = [each for each in bound[: negation.place] if each]
        behind = [each for each in bound[negation.place :] if each]
        if before:
            begin = self.after(candidates, before[-1][-1])
        else:
            begin = bisect_left(candidates, (self.begin_us(behind[-1][-1]),))
        if behind:
            end = self.until(candidates, behind[0][0])
        else:
            end = bisect_left(candidates, (self.end_us(before[0][0]) + 1,))
        return not any(self._forbids(negation.others, negation.slot, bound, event) for event in candidates[begin:end])

    def _forbids(self, conditions: tuple[Condition, ...], slot: int, bound: Any, event: PatternEvent) -> bool:
        return all(condition.holds(bound, {slot: event}) for condition in conditions)


def flat(bound: Bindings) -> Match:
    """The events of a match, in order."""
    return tuple(event for each in bound for event in each)


def maximal(found: Sequence[Bindings]) -> list[Bindings]:
    """The matches that no other one contains, step by step."""
    ids = [tuple(frozenset(event.id for event in each) for each in bound) for bound in found]
    sizes = [sum(len(each) for each in sets) for sets in ids]
    kept: list[int] = []
    for at in sorted(range(len(found)), key=lambda index: -sizes[index]):
        if not any(
            sizes[other] > sizes[at] and all(small <= large for small, large in zip(ids[at], ids[other], strict=True))
            for other in kept
        ):
            kept.append(at)
    return [found[at] for at in sorted(kept)]
