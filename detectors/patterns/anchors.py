"""The matches of one branch in one partition, each kept with its anchor: the event at which its search begins.

Theory of operation
-------------------
A match depends on the events of its window only, so it is kept with one of them, its *anchor*: the last event where
that is single and all matches are wanted (``stam``), else the first. An event that arrives last can complete matches
only: it is an end, or nothing is searched (the lazy evaluation of paper 003). An event that arrives late, or is
withdrawn, can change the matches of the anchors within the window around it; these are searched again, and the
differences leave.

Skip till next match is deterministic. A start whose match ends before a late event has not met it, so it stays as it
is. Of a simple branch the ends rise with the starts, and the first such start ends the repair.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator

from detectors.patterns.maximal import MaximalSearch, is_regular
from detectors.patterns.search import Match, Search, TooManyMatchesError, flat, maximal
from detectors.patterns.syntax import PatternEvent, Strategy

#: What a branch does with an event: it may begin a match, complete one, or be forbidden after one.
STARTS, COMPLETES, FORBIDDEN = 1, 2, 4

_Matches = tuple[Match, ...]

#: Takes the matches of an anchor before and after.
Emit = Callable[[_Matches, _Matches], None]


class Anchors:
    """The standing matches of a branch, by the id of their anchor.

    Args:
        search: of the branch and partition.
        strategy: which matches count.
        emit: called with the differences.
    """

    def __init__(self, search: Search, strategy: Strategy, emit: Emit) -> None:
        self.search, self.branch, self.strategy, self._emit = search, search.branch, strategy, emit
        self.within_us = search.within_us
        self.matches: dict[str, _Matches] = {}
        steps, places = self.branch.steps, [negation.place for negation in self.branch.negations]
        first_single, last_single = (step.least == step.most == 1 for step in (steps[0], steps[-1]))
        self._looks_back, self._looks_on = 0 in places, len(steps) in places
        #: True if the anchor is the last event.
        self.by_end = strategy in ("stam", "stam-all") and last_single
        #: True if a match may be contained in one that begins earlier.
        self._wide = strategy in ("stam", "strict") and not self.by_end and not first_single
        self._grows = not last_single
        self._regular = strategy == "stam" and is_regular(self.branch)
        self._maximal = MaximalSearch(search) if self._regular else None
        #: Starts without a match, in order; only for matches that end with their last event.
        self._open: list[PatternEvent] | None = None
        if strategy == "stnm" and not (self._grows or self._looks_on):
            self._open = []
        self._simple = strategy == "stnm" and self.branch.is_simple
        self._hops = self._simple and first_single and len(steps) > 1 and self._open is not None

    # What arrives.

    def append(self, event: PatternEvent, roles: int) -> None:
        """Take an event that is in the lists already and later than all others of the partition."""
        if self._open is not None:
            if roles & COMPLETES and self._open:
                self._complete(event)
            if roles & STARTS and not (roles & COMPLETES and self._renew(event)):
                self._open.append(event)
            return
        if roles & FORBIDDEN:
            self._renew_between(event[0] - self.within_us, event[0])
        elif roles & COMPLETES:
            if self.by_end:
                self._renew(event)
            else:
                self._renew_between(event[0] - self.within_us, event[0])

    def repair(self, event: PatternEvent) -> None:
        """Search again what an event concerns that the lists have got late, or have lost."""
        begin_us = end_us = event[0]
        if self.by_end:
            end_us += self.within_us
            begin_us -= self.within_us if self._looks_on else 0
        else:
            begin_us -= self.within_us
            end_us += self.within_us if self._looks_back or self._wide else 0
        if event.id in self.matches:
            self._set(event.id, ())
        if self._open is None:
            self._renew_between(begin_us, end_us)
        else:
            self._repair_starts(event, begin_us, end_us)

    def purge(self, before_us: int) -> None:
        """Forget the matches of anchors dated before an event time; they can change no more."""
        for event in self._anchors(-(2**62), before_us - 1):
            self.matches.pop(event.id, None)

    def ending_with(self, event: PatternEvent) -> _Matches:
        """The matches that end with the newest event, searched anew; of a branch that ends with a single step."""
        if self.by_end:
            return self._search(event) if self.branch.fits(len(self.branch.steps) - 1, event) else ()
        starts = self._anchors(event[0] - self.within_us, event[0])
        return tuple(match for start in starts for match in self._search(start) if match[-1] == event)

    # Searches.

    def _complete(self, end: PatternEvent) -> None:
        """Search the starts that wait for their match, now that an end arrives in order."""
        waiting, search = self._open or [], self.search
        count = len(waiting)
        if self._simple:
            # Only starts before the latest chain of steps that leads to this end can be complete.
            reached = end
            for candidates in search.lists[-2:0:-1]:
                index = search.until(candidates, reached)
                if not index:
                    return
                reached = candidates[index - 1]
            count = search.until(waiting, reached) if len(search.lists) > 1 else count
        oldest_us, remaining = end[0] - self.within_us, []
        due = waiting[bisect_left(waiting, (oldest_us,)) : count]
        remaining = self._complete_by_hops(due) if self._hops else [start for start in due if not self._renew(start)]
        waiting[:count] = remaining

    def _complete_by_hops(self, due: list[PatternEvent]) -> list[PatternEvent]:
        """Search starts of a simple branch: those with the same next event share all but their first event."""
        search, second = self.search, self.search.lists[1]
        remaining, shared_from, rest = [], -1, None
        for start in due:
            index = search.after(second, start)
            if index != shared_from or rest is None:
                found = search.next_simple(start)
                shared_from, rest = index, found[1:] if found else None
            if rest is None:
                remaining.append(start)
                continue
            matches = ((start, *rest),)
            self.matches[start.id] = matches
            self._emit((), matches)
        return remaining

    def _repair_starts(self, event: PatternEvent, begin_us: int, end_us: int) -> None:
        """Search again the starts whose match may have met an event, the latest first."""
        waiting = self._open
        assert waiting is not None  # only called with a list of waiting starts
        index = bisect_left(waiting, event)
        if index < len(waiting) and waiting[index].id == event.id:
            del waiting[index]
        for start in reversed(
            list(self._anchors(begin_us, end_us)) if not self._simple else self._firsts(begin_us, end_us)
        ):
            standing = self.matches.get(start.id)
            if standing and standing[0][-1] < event and not self._looks_back:
                if self._simple:
                    return
                continue
            found = self._renew(start)
            index = bisect_left(waiting, start)
            waits = index < len(waiting) and waiting[index].id == start.id
            if found and waits:
                del waiting[index]
            elif not found and not waits:
                insort(waiting, start)

    def _firsts(self, begin_us: int, end_us: int) -> list[PatternEvent]:
        """The starts of a simple branch within some time."""
        starts = self.search.lists[0]
        return starts[bisect_left(starts, (begin_us,)) : bisect_left(starts, (end_us + 1,))]

    def _anchors(self, begin_us: int, end_us: int) -> Iterator[PatternEvent]:
        """The anchors within some time, each once."""
        lists = self.search.lists
        steps = [len(lists) - 1] if self.by_end else self.branch.starts
        found = [
            event
            for at in steps
            for event in lists[at][bisect_left(lists[at], (begin_us,)) : bisect_left(lists[at], (end_us + 1,))]
        ]
        return iter({event.id: event for event in sorted(found)}.values() if len(steps) > 1 else found)

    def _renew_between(self, begin_us: int, end_us: int) -> None:
        for anchor in self._anchors(begin_us, end_us):
            self._renew(anchor)

    def _renew(self, anchor: PatternEvent) -> bool:
        """Search the matches of an anchor; True if it has any."""
        found = self._search(anchor)
        self._set(anchor.id, found)
        return bool(found)

    def _set(self, anchor: str, found: _Matches) -> None:
        standing = self.matches.get(anchor, ())
        if found:
            self.matches[anchor] = found
        elif standing:
            del self.matches[anchor]
        if standing != found:
            self._emit(standing, found)

    def _search(self, anchor: PatternEvent) -> _Matches:
        """The matches of an anchor."""
        search, strategy = self.search, self.strategy
        if strategy == "stnm":
            match = search.next_simple(anchor) if self._simple else search.next_match(anchor)
            return (match,) if match else ()
        if strategy == "stnm-all":
            return tuple(flat(bound) for bound in search.branching(anchor))
        if self._maximal is not None:
            regular = self._maximal.ending_with(anchor) if self.by_end else self._maximal.beginning_with(anchor)
            return tuple(flat(bound) for bound in regular)
        if self.by_end:
            self._refuse_explosion(anchor)
            picked = (search.picks(first, anchor) for first in self._starts_until(anchor))
        else:
            firsts = self._starts_until(anchor) if self._wide else [anchor]
            picked = (search.picks(first, contiguous=strategy == "strict") for first in firsts)
        found = [bound for some in picked for bound in some]
        if strategy != "stam-all":
            found = maximal(found)
        matches = (flat(bound) for bound in found)
        return tuple(match for match in matches if self.by_end or match[0] == anchor)

    def _starts_until(self, anchor: PatternEvent) -> list[PatternEvent]:
        """The events within the window before an anchor, and itself, that may begin a match."""
        lists = self.search.lists
        begin = (anchor[0] - self.within_us,)
        found = {
            event.id: event
            for at in self.branch.starts
            for event in lists[at][bisect_left(lists[at], begin) : bisect_right(lists[at], anchor)]
        }
        return sorted(found.values())

    def _refuse_explosion(self, end: PatternEvent) -> None:
        """Refuse an end with too many picks, by their number: each event doubles those of a repeated step.

        Raises:
            TooManyMatchesError: with the number.
        """
        branch, lists = self.branch, self.search.lists
        if not branch.is_simple:
            return
        begin = (end[0] - self.within_us,)
        events = sorted((event, -at) for at in range(len(lists) - 1) for event in _between(lists[at], begin, end))
        picks = [0] * len(lists)
        for _, negative in events:
            at = -negative
            picks[at] += (picks[at - 1] if at else 1) + (picks[at] if branch.steps[at].most is None else 0)
        count = picks[-2] if len(lists) > 1 else 1
        if count > self.search.most:
            raise TooManyMatchesError(
                f"about {count:,} matches end with the event {end.id}, and {self.search.most:,} is the bound",
                "Choose --strategy stam or stnm, shorten WITHIN, add conditions or keys, or raise --most",
            )


def _between(candidates: list[PatternEvent], begin: tuple[int], end: PatternEvent) -> Iterable[PatternEvent]:
    return candidates[bisect_left(candidates, begin) : bisect_left(candidates, end)]
