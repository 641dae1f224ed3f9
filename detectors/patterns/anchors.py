"""The matches of one branch in one partition, each kept with its anchor: the event at which its search begins.

Theory of operation
-------------------
A match depends on the events of its window only, so it is kept with one of them, its *anchor*: the last event where
that is single and all matches are wanted (``stam``), else the first. An event that arrives last can complete matches
only: it is an end, or nothing is searched (the lazy evaluation of paper 003). An event that arrives late, or is
withdrawn, can change the matches of the anchors within the window around it; these are searched again, and the
differences leave.

Skip till next match is deterministic. A start whose match ends before a late event has not met it, so it stays as it
is. Of a simple branch the ends rise with the starts, and the first such start ends the repair. So no list of waiting
starts is needed either: those behind the last start with a match wait, and all branches read them off one shared list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from detectors.patterns.every_pick import every_pick_up_to
from detectors.patterns.maximal import MaximalSearch, is_regular
from detectors.patterns.search import Match, Search, TooManyMatchesError, flat, maximal
from detectors.patterns.syntax import PatternEvent, Strategy
from detectors.patterns.waiting import WaitingRuns

#: What a branch does with an event: it may begin a match, complete one, be forbidden after one, or take up a run.
STARTS, COMPLETES, FORBIDDEN, TAKES_UP = 1, 2, 4, 8

_Matches = tuple[Match, ...]

#: After so many ends the order in which steps are looked for is chosen again.
_REORDER = 1_024

#: Standing matches with all picks may hold so many events for each match that one event may have.
PLACES_PER_MATCH = 100


class Chain:
    """The starts that branches over the same lists have found for the newest end.

    Attributes:
        end: the newest end for which it was searched.
        starts: the number of starts that may lead to it.
    """

    def __init__(self) -> None:
        self.end: PatternEvent | None = None
        self.starts = 0


#: By the lists of a branch.
Chains = dict[tuple[int, ...], Chain]

#: Takes the matches of an anchor before and after.
Emit = Callable[[_Matches, _Matches], None]


class Anchors:
    """The standing matches of a branch, by the id of their anchor.

    Args:
        search: of the branch and partition.
        strategy: which matches count.
        emit: called with the differences.
        shared: what branches over the same lists have found for the newest event; None for a branch by itself.
    """

    def __init__(self, search: Search, strategy: Strategy, emit: Emit, shared: Chains | None = None) -> None:
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
        repeats = any(step.most != 1 for step in steps)
        #: True if all picks that end with an anchor are its matches; of single steps none contains another.
        self._every = self.by_end and self.branch.is_simple and (strategy == "stam-all" or not repeats)
        self._simple = strategy == "stnm" and self.branch.is_simple
        #: True if ends rise with starts and a match ends with one event; then no start behind this one has a match.
        self._rises = self._simple and not self._grows and len(steps) > 1
        self._reached: PatternEvent | None = None
        #: True if each last step but one goes on to the first end behind it, whatever else the match has.
        self._takes_first = strategy == "stnm-all" and self.branch.is_simple and not self._grows and len(steps) > 1
        #: True if starts with the same next event share all but their first event.
        self._shares = first_single and not search.limits
        #: The lists of the steps that a match needs, the rarest first; and the number of ends so far.
        self._rarest = [search.lists[at] for at, step in enumerate(steps[:-1]) if step.least]
        self._ends = 0
        #: Events in the standing matches that are kept with their last event.
        self._places = 0
        #: The lists between the first and the last step, from the last one backwards.
        self._chain = tuple(search.lists[-2:0:-1])
        key = (search.ties, *map(id, search.lists))
        self._shared = Chain() if shared is None else shared.setdefault(key, Chain())
        #: The runs without a match; only for matches that end with their last event.
        self.waiting: WaitingRuns | None = None
        if strategy == "stnm" and not (self._grows or self._looks_on or self._rises):
            self.waiting = WaitingRuns(search, lambda first, match: self._set(first.id, (match,)))
        self._hops = self._rises and first_single

    # What arrives.

    def append(self, event: PatternEvent, roles: int) -> None:
        """Take an event that is in the lists already and later than all others of the partition."""
        if self._rises:
            if roles & COMPLETES:
                self._complete_rising(event)
            return
        if self.waiting is not None:
            self.waiting.append(event, starts=bool(roles & STARTS), completes=bool(roles & COMPLETES))
            return
        if roles & FORBIDDEN:
            self._renew_between(event[0] - self.within_us, event[0])
        elif roles & COMPLETES:
            if self.by_end:
                if not self._lacks_step(event):
                    self._renew(event)
            elif self._takes_first:
                if not self._lacks_step(event) and not self._is_taken_before():
                    self._add_ending_with(event)
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
        if self._rises:
            self._repair_rising(event, begin_us)
        elif self.waiting is None:
            self._renew_between(begin_us, end_us)
        else:
            self._repair_runs(self.waiting, event, begin_us, end_us)

    def forget(self, event: PatternEvent) -> None:
        """Drop the matches of an anchor that is withdrawn; :meth:`repair` follows."""
        if event.id in self.matches:
            self._set(event.id, ())

    def purge(self, before_us: int) -> None:
        """Forget the matches of anchors dated before an event time; they can change no more."""
        if self.waiting is not None:
            self.waiting.purge(before_us)
        for event in self._anchors(-(2**62), before_us - 1):
            purged = self.matches.pop(event.id, ())
            if self.by_end:
                self._places -= sum(map(len, purged))

    def ending_with(self, event: PatternEvent) -> _Matches:
        """The matches that end with the newest event, searched anew; of a branch that ends with a single step."""
        if self.by_end:
            return self._search(event) if self.branch.fits(len(self.branch.steps) - 1, event) else ()
        starts = self._anchors(self.search.begin_us(event), event[0])
        return tuple(match for start in starts for match in self._search(start) if match[-1] == event)

    def beginning_between(self, begin_us: int, end_us: int) -> _Matches:
        """The matches whose first event lies within some time, inclusive, searched anew."""
        latest_us = end_us + self.within_us if self.by_end else end_us
        anchors = list(self._anchors(begin_us, latest_us))
        return tuple(match for one in anchors for match in self._search(one) if begin_us <= match[0][0] <= end_us)

    # Searches.

    def _lacks_step(self, end: PatternEvent) -> bool:
        """True if a step that a match needs has no event in the window that ends with the newest event.

        The steps with the fewest events so far are asked first; their order is chosen again from time to time.
        """
        self._ends += 1
        if not self._ends % _REORDER:
            self._rarest.sort(key=len)
        oldest_us = end[0] - self.within_us
        for candidates in self._rarest:  # noqa: SIM110 a generator costs twice as much, at each end of each pattern
            if not candidates or candidates[-1][0] < oldest_us:
                return True
        return False

    def _add_ending_with(self, end: PatternEvent) -> None:
        """Add the matches that end with the newest event; those before stay."""
        search, starts, second = self.search, self.search.lists[0], self.search.lists[1]
        shared_from = -1
        found: _Matches = ()
        for start in starts[bisect_left(starts, (end[0] - self.within_us,)) : search.until(starts, end)]:
            index = search.after(second, start) if self._shares else -1
            if index < 0 or index != shared_from:
                shared_from, found = index, tuple(search.every_next_simple(start, end))
            else:
                found = tuple([(start, *match[1:]) for match in found])
            if found:
                self.matches[start.id] = self.matches.get(start.id, ()) + found
                self._emit((), found)

    def _is_taken_before(self) -> bool:
        """True if every event of the last step but one has had an earlier end: then the newest end is in no match."""
        previous, ends = self.search.lists[-2:]
        return not previous or (len(ends) > 1 and self.search.is_before(previous[-1], ends[-2]))

    def _complete_rising(self, end: PatternEvent) -> None:
        """The same for a branch of which the ends rise with the starts."""
        shared, starts = self._shared, self.search.lists[0]
        if shared.end is not end:
            if self._lacks_step(end):
                return
            # Only starts before the latest chain of steps that leads to this end can be complete.
            shared.end, shared.starts = end, self._starts_before(end)
        high = shared.starts
        if not high or (self._reached is not None and starts[high - 1] <= self._reached):
            return
        low = bisect_right(starts, self._reached, 0, high) if self._reached is not None else 0
        if starts[low][0] < end[0] - self.within_us:
            low = bisect_left(starts, (end[0] - self.within_us,), low, high)
        if low < high:
            due = starts[low:high]
            last = self._complete_by_hops(due, end) if self._hops else self._complete_each(due, end)
            self._reached = last or self._reached

    def _starts_before(self, end: PatternEvent) -> int:
        """Number of starts before the latest chain of steps that leads to the newest event."""
        search, reached = self.search, end
        for candidates in self._chain:
            if not candidates:
                return 0
            latest = candidates[-1]
            if latest[0] >= reached[0]:
                index = search.until(candidates, reached)
                if not index:
                    return 0
                latest = candidates[index - 1]
            reached = latest
        starts = search.lists[0]
        return len(starts) if starts and starts[-1][0] < reached[0] else search.until(starts, reached)

    def _complete_each(self, due: list[PatternEvent], end: PatternEvent) -> PatternEvent | None:
        """Search starts without a match; return the last one that has one now."""
        matched = None
        for start in due:
            match = self.search.next_up_to(end, start)
            if match is not None:
                matches = self.matches[start.id] = (match,)
                self._emit((), matches)
                matched = start
        return matched

    def _complete_by_hops(self, due: list[PatternEvent], end: PatternEvent) -> PatternEvent | None:
        """The same for a single first step: starts with the same next event share all but their first event."""
        search, second, emit = self.search, self.search.lists[1], self._emit
        matched, shared_from, rest = None, -1, None
        for start in due:
            index = search.after(second, start)
            if index != shared_from or rest is None:
                found = search.next_up_to(end, start, index)
                shared_from, rest = index, found[1:] if found else None
            if rest is not None:
                matches = ((start, *rest),)
                self.matches[start.id] = matches
                emit((), matches)
                matched = start
        return matched

    def _repair_rising(self, event: PatternEvent, begin_us: int) -> None:
        """Search again the starts whose match may have met an event, the latest first, as far as they rise above it."""
        self._shared.end = None  # it may come back, when the lists are others
        starts = self.search.lists[0]
        end_us, reached = event[0], self._reached
        for start in reversed(starts[bisect_left(starts, (begin_us,)) : bisect_left(starts, (end_us + 1,))]):
            standing = self.matches.get(start.id)
            if standing and standing[0][-1][0] < event[0]:
                break
            if self._renew(start) and (reached is None or start > reached):
                reached = start
        if reached is None:
            return
        # The last start with a match may have lost it. One beyond the window before it gets none any more.
        index = bisect_right(starts, reached)
        oldest_us = reached[0] - self.within_us
        while index and starts[index - 1].id not in self.matches and starts[index - 1][0] >= oldest_us:
            index -= 1
        self._reached = starts[index - 1] if index else None

    def _repair_runs(self, waiting: WaitingRuns, event: PatternEvent, begin_us: int, end_us: int) -> None:
        """Run again from the starts whose match may have met an event, the latest first."""
        waiting.drop(event)
        for start in reversed(list(self._anchors(begin_us, end_us))):
            standing = self.matches.get(start.id)
            if standing and standing[0][-1][0] < event[0] and not self._looks_back:
                continue
            match = waiting.restart(start)
            self._set(start.id, (match,) if match else ())

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
        if self.by_end:
            self._places += sum(map(len, found)) - sum(map(len, standing))
            if self._places > PLACES_PER_MATCH * self.search.most:
                raise TooManyMatchesError(
                    f"{sum(map(len, self.matches.values())):,} matches stand and hold more than"
                    f" {PLACES_PER_MATCH * self.search.most:,} events, the bound; the last event adds {len(found):,}",
                    "Choose --strategy stnm, shorten WITHIN, add conditions or keys, or raise --most",
                )
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
        if strategy == "stnm-all" and self.branch.is_simple:
            return tuple(search.every_next_simple(anchor))
        if strategy == "stnm-all":
            return tuple(flat(bound) for bound in search.branching(anchor))
        if self.by_end:
            self._refuse_explosion(anchor)
        if self._every:
            return tuple(every_pick_up_to(search, anchor))
        if self._maximal is not None:
            regular = self._maximal.ending_with(anchor) if self.by_end else self._maximal.beginning_with(anchor)
            return tuple(flat(bound) for bound in regular)
        if self.by_end:
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
        begin = (self.search.begin_us(anchor),)
        found = {
            event.id: event
            for at in self.branch.starts
            for event in lists[at][bisect_left(lists[at], begin) : bisect_right(lists[at], anchor)]
        }
        return sorted(found.values())

    def _refuse_explosion(self, end: PatternEvent) -> None:
        """Refuse an end with too many matches, by their number, before they are searched.

        Raises:
            TooManyMatchesError: with the number.
        """
        branch, lists = self.branch, self.search.lists
        if not branch.is_simple:
            return
        begin = (self.search.begin_us(end),)
        windows = [_between(candidates, begin, end) for candidates in lists[:-1]]
        every = self.strategy == "stam-all"
        most = 1
        for window, step in zip(windows, branch.steps, strict=False):
            most *= 2 ** len(window) if every and step.most is None else len(window)
        if most <= self.search.most:
            return
        events = sorted((event, -at) for at, window in enumerate(windows) for event in window)
        places = [-negative for _, negative in events]
        repeated = [step.most is None for step in branch.steps[:-1]]
        count = _count_all(places, repeated) if every else _count_maximal(places, repeated)
        if count > self.search.most:
            raise TooManyMatchesError(
                f"about {count:,} matches end with the event {end.id}, and {self.search.most:,} is the bound",
                "Choose --strategy stam or stnm, shorten WITHIN, add conditions or keys, or raise --most",
            )


def _count_all(places: list[int], repeated: list[bool]) -> int:
    """Number of picks that spell steps; each event doubles those of a repeated step.

    Args:
        places: the steps of the events, in order.
        repeated: True for each step that repeats.
    """
    picks = [0] * len(repeated)
    for at in places:
        picks[at] += (picks[at - 1] if at else 1) + (picks[at] if repeated[at] else 0)
    return picks[-1] if picks else 1


def _count_maximal(places: list[int], repeated: list[bool]) -> int:
    """Number of maximal picks: an event begins a repeated step for each pick that it has not begun before.

    A repeated step behind a single one takes all events, so it begins once for each single event. Behind another
    repeated step it begins anew wherever events of that step lie in between.
    """
    picks = [0] * len(repeated)
    #: Picks of each step that the next step has not gone on from since their last event.
    fresh = [0] * len(repeated)
    is_begun = False
    for at in places:
        grown = 0
        if not at:
            grown = 0 if repeated[0] and is_begun else 1
            is_begun = True
        elif not repeated[at]:
            grown = picks[at - 1]
        else:
            grown, fresh[at - 1] = fresh[at - 1], 0
        picks[at] += grown
        fresh[at] = picks[at] if repeated[at] else fresh[at] + grown
    return picks[-1] if picks else 1


def _between(candidates: list[PatternEvent], begin: tuple[int], end: PatternEvent) -> list[PatternEvent]:
    return candidates[bisect_left(candidates, begin) : bisect_left(candidates, end)]
