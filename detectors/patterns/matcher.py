"""The engine of patterns: :class:`Matcher` takes events in any order, and gives the matches that come and go.

After any sequence of inputs, the matches that stand are those that the definition gives for the events that stand,
sorted and each once (docs/patterns.md). All patterns share one store of events: a list for each kind and condition on
single events, sorted by the canonical order. An event in order is appended. A late one is sorted in, and only the
anchors around it are searched again (:mod:`detectors.patterns.anchors`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from detectors.patterns.anchors import COMPLETES, FORBIDDEN, STARTS, Anchors
from detectors.patterns.branches import Branch, compile_branches, meets
from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import PatternEvent, Query, Step, Strategy

#: Bound on the matches, and on the picks tried, of one event.
MOST_MATCHES = 200_000

_Key = tuple[Any, ...]
#: Kind of a step and the conditions on its events alone.
_Own = tuple[Any, ...]


class Change(NamedTuple):
    """A match asserted (``diff`` +1) or withdrawn (-1).

    Attributes:
        diff: +1 or -1.
        match: its events, in order.
        pattern: number of the query.
    """

    diff: int
    match: Match
    pattern: int


class Pattern(NamedTuple):
    """A compiled query with its strategy."""

    number: int
    query: Query
    strategy: Strategy
    branches: tuple[Branch, ...]

    @property
    def is_ambiguous(self) -> bool:
        """True if one set of events may match in several ways."""
        return len(self.branches) > 1 or self.branches[0].is_ambiguous


class Matcher:
    """Matches queries over a stream of events.

    Args:
        queries: at least one.
        strategy: of the queries that name none.
        most: bound on the matches of one event.

    Raises:
        PatternError: a query means nothing.
    """

    def __init__(self, queries: Sequence[Query], strategy: Strategy = "stnm", most: int = MOST_MATCHES) -> None:
        self.patterns = [
            Pattern(number, query, query.strategy or strategy, tuple(compile_branches(query)))
            for number, query in enumerate(queries)
        ]
        self.most = most
        self.duplicates = 0
        self._events: dict[str, PatternEvent] = {}
        self._groups: dict[tuple[str, ...], list[Pattern]] = {}
        for pattern in self.patterns:
            self._groups.setdefault(pattern.query.keys, []).append(pattern)
        self._partitions: dict[tuple[tuple[str, ...], _Key], _Partition] = {}
        self._purged_us = -(2**62)

    def push(self, event: PatternEvent, diff: int = 1) -> list[Change]:
        """Take an event, or its withdrawal; return what changes.

        A copy of an event that stands changes nothing; nor does the withdrawal of one that does not.

        Raises:
            TooManyMatchesError: the matches exceed the bound.
        """
        changes: list[Change] = []
        if diff > 0:
            if event.id in self._events:
                self.duplicates += 1
                return changes
            self._events[event.id] = event
        else:
            standing = self._events.pop(event.id, None)
            if standing is None:
                return changes
            event = standing
        for names in self._groups:
            partition = self._partition(names, event)
            if partition is not None:
                partition.take(event, diff, changes)
        return changes

    def standing(self, event_id: str) -> PatternEvent | None:
        """The event of an id, if it stands."""
        return self._events.get(event_id)

    def matches(self) -> Iterator[tuple[int, Match]]:
        """All matches that stand, with the numbers of their patterns; without those that were purged."""
        for partition in self._partitions.values():
            yield from partition.matches()

    def purge(self, before_us: int) -> None:
        """Forget what no event from a time on can change: the caller takes no earlier event any more."""
        reach_us = before_us - 2 * max(pattern.query.within_us for pattern in self.patterns)
        for key, partition in list(self._partitions.items()):
            if not partition.purge(before_us, reach_us):
                del self._partitions[key]
        if reach_us > self._purged_us:
            self._purged_us = reach_us
            self._events = {name: event for name, event in self._events.items() if event.ts_us >= reach_us}

    @property
    def held(self) -> int:
        """Number of events that are kept."""
        return len(self._events)

    def _partition(self, names: tuple[str, ...], event: PatternEvent) -> _Partition | None:
        """The partition of an event; None if it lacks a key."""
        key = tuple(event.payload.get(name) for name in names)
        if None in key:
            return None
        partition = self._partitions.get((names, key))
        if partition is None:
            partition = self._partitions[names, key] = _Partition(self._groups[names], self.most)
        return partition


class _Partition:
    """The events that share the values of their keys, and the matches over them."""

    def __init__(self, patterns: Sequence[Pattern], most: int) -> None:
        #: Sorted events by kind and conditions; patterns with the same step share a list.
        self.lists: dict[_Own, list[PatternEvent]] = {}
        #: All events, where strict contiguity asks for them.
        self.stream: list[PatternEvent] = []
        self._needs_stream = any(pattern.strategy == "strict" for pattern in patterns)
        self._newest: tuple[Any, ...] | None = None
        self._changes: list[Change] = []
        self._supports: dict[int, dict[tuple[str, ...], int]] = {
            pattern.number: {} for pattern in patterns if pattern.is_ambiguous
        }
        #: Where events of a kind go: a list, conditions, and the branches that it means something to.
        self._uses: dict[_Own, tuple[Step, Any, int, list[tuple[int, int]]]] = {}
        self._routes: dict[str, list[tuple[list[PatternEvent], Any, int, list[tuple[int, int]]]]] = {}
        self.anchors: list[tuple[Pattern, Anchors]] = []
        for pattern in patterns:
            for branch in pattern.branches:
                self._add(pattern, branch, most)

    def _add(self, pattern: Pattern, branch: Branch, most: int) -> None:
        number = len(self.anchors)
        lists = []
        for at, step in enumerate(branch.steps):
            roles = (STARTS if at in branch.starts else 0) | (COMPLETES if at >= branch.complete_from else 0)
            lists.append(self._list(step, branch.own[at], at, number, roles))
        forbidden = []
        for negation in branch.negations:
            roles = FORBIDDEN if negation.place == len(branch.steps) else 0
            forbidden.append(self._list(negation.step, negation.own, negation.slot, number, roles))
        search = Search(pattern.query, branch, lists, forbidden, self.stream, most)
        self.anchors.append((pattern, Anchors(search, pattern.strategy, self._emitter(pattern))))

    def _list(self, step: Step, own: Any, slot: int, number: int, roles: int) -> list[PatternEvent]:
        """The list of the events that fit a step; a branch gets to know of them."""
        key: _Own = (step.kind, *((number, slot) if own else ()))
        self.lists.setdefault(key, [])
        use = self._uses.setdefault(key, (step, tuple(own), slot, []))
        use[3].append((number, roles))
        return self.lists[key]

    def _emitter(self, pattern: Pattern) -> Any:
        """The function that turns the differences of an anchor into changes."""
        number, changes = pattern.number, self._changes
        supports = self._supports.get(number)

        def emit_one(before: tuple[Match, ...], after: tuple[Match, ...]) -> None:
            if not before and len(after) == 1:
                changes.append(Change(1, after[0], number))
                return
            old = {tuple(event.id for event in match): match for match in before}
            new = {tuple(event.id for event in match): match for match in after}
            changes.extend(Change(-1, match, number) for ids, match in old.items() if ids not in new)
            changes.extend(Change(1, match, number) for ids, match in new.items() if ids not in old)

        def emit_supported(before: tuple[Match, ...], after: tuple[Match, ...]) -> None:
            assert supports is not None  # only of ambiguous patterns
            for matches, diff in ((before, -1), (after, 1)):
                for match in matches:
                    ids = tuple(event.id for event in match)
                    count = supports.get(ids, 0) + diff
                    supports[ids] = count
                    if not count:
                        del supports[ids]
                    if count == (diff > 0):
                        changes.append(Change(diff, match, number))

        return emit_one if supports is None else emit_supported

    def _route(self, kind: str) -> list[tuple[list[PatternEvent], Any, int, list[tuple[int, int]]]]:
        found = [
            (self.lists[key], own, slot, uses)
            for key, (step, own, slot, uses) in self._uses.items()
            if step.takes(kind)
        ]
        self._routes[kind] = found
        return found

    def take(self, event: PatternEvent, diff: int, changes: list[Change]) -> None:
        """Take an event or a withdrawal, and append what changes."""
        route = self._routes.get(event.kind)
        if route is None:
            route = self._route(event.kind)
        newest = self._newest
        in_order = diff > 0 and (newest is None or event > newest)
        if in_order:
            self._newest = event
        elif newest is event:
            self._newest = event[:3]  # its next version is in order again
        if self._needs_stream:
            _put(self.stream, event, diff)
        elif not route:
            return
        roles: dict[int, int] = {}
        for events, own, slot, uses in route:
            if own and not meets(own, slot, event):
                continue
            if in_order:
                events.append(event)
            else:
                _put(events, event, diff)
            for number, role in uses:
                roles[number] = roles.get(number, 0) | role
        anchors = self.anchors
        if in_order:
            for number, role in roles.items():
                if role:
                    anchors[number][1].append(event, role)
        else:
            for number, (pattern, one) in enumerate(anchors):
                if number in roles or pattern.strategy == "strict":
                    one.repair(event)
        if self._changes:
            found = _netted(self._changes) if self._supports else self._changes
            changes += found if in_order else sorted(found, key=_withdrawals_first)
            self._changes.clear()

    def matches(self) -> Iterator[tuple[int, Match]]:
        """The standing matches; of an ambiguous pattern each set of events once."""
        seen: set[tuple[int, tuple[str, ...]]] = set()
        for pattern, anchors in self.anchors:
            for matches in anchors.matches.values():
                for match in matches:
                    key = (pattern.number, tuple(event.id for event in match))
                    if not pattern.is_ambiguous or key not in seen:
                        seen.add(key)
                        yield pattern.number, match

    def purge(self, before_us: int, reach_us: int) -> bool:
        """Forget old events and matches; False if nothing is left."""
        for pattern, anchors in self.anchors:
            anchors.purge(before_us - 2 * pattern.query.within_us)
        for events in (*self.lists.values(), self.stream):
            del events[: bisect_left(events, (reach_us,))]
        return self._newest is None or self._newest[0] >= reach_us


def _put(events: list[PatternEvent], event: PatternEvent, diff: int) -> None:
    """Sort an event into a list, or take it out."""
    if diff > 0:
        insort(events, event)
        return
    index = bisect_left(events, event)
    if index < len(events) and events[index].id == event.id:
        del events[index]


def _netted(changes: list[Change]) -> list[Change]:
    """Changes of one input without those that undo each other."""
    net: dict[tuple[int, tuple[str, ...]], list[Change]] = {}
    for change in changes:
        standing = net.setdefault((change.pattern, tuple(event.id for event in change.match)), [])
        if standing and standing[-1].diff == -change.diff:
            standing.pop()
        else:
            standing.append(change)
    return sorted((change for each in net.values() for change in each), key=_withdrawals_first)


def _withdrawals_first(change: Change) -> tuple[Any, ...]:
    return (change.diff, change.pattern, [event[:3] for event in change.match])
