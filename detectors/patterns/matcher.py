"""The engine of patterns: :class:`Matcher` takes events in any order, and gives the matches that come and go.

After any sequence of inputs, the matches that stand are those that the definition gives for the events that stand,
sorted and each once (docs/patterns.md). All patterns share one store of events: a list for each kind and condition on
single events, sorted by the canonical order. An event in order is appended. A late one is sorted in, and only the
anchors around it are searched again (:mod:`detectors.patterns.anchors`).

What an event's kind and its own values decide comes first: a route for each kind has the lists that it enters and the
branches that it may complete, so that other patterns cost nothing. Patterns that differ in their window only are one
*family*, searched once with the longest window (:meth:`detectors.patterns.branches.Branch.nests`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from detectors.patterns.anchors import COMPLETES, FORBIDDEN, STARTS, TAKES_UP, Anchors, Chains
from detectors.patterns.branches import Branch, compile_branches, meets
from detectors.patterns.expressions import Condition
from detectors.patterns.search import Match, Search
from detectors.patterns.syntax import Limit, PatternEvent, Query, Step, Strategy, renamed, shape_of

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


class Family(NamedTuple):
    """Compiled queries that are searched together: one, or several that differ in their window only.

    Attributes:
        number: of the family.
        query: the one with the longest window.
        strategy: of all.
        branches: of all.
        members: number and window (us) of each query, the longest window first.
    """

    number: int
    query: Query
    strategy: Strategy
    branches: tuple[Branch, ...]
    members: tuple[tuple[int, int], ...]

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
        self.families = _families(queries, strategy)
        self.most = most
        self.duplicates = 0
        self._events: dict[str, PatternEvent] = {}
        self._groups: dict[tuple[str, ...], list[Family]] = {}
        for family in self.families:
            self._groups.setdefault(family.query.keys, []).append(family)
        self._partitions: dict[tuple[tuple[str, ...], _Key], _Partition] = {}
        self._purged_us = self._newest_us = -(2**62)
        #: Events that limits count, by limit; all partitions share them.
        self._counted: dict[Limit, list[PatternEvent]] = {
            limit: [] for family in self.families for limit in family.query.limits
        }
        self._counted_kinds = {kind for limit in self._counted for kind in limit.kinds}

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
        is_counted = event.kind in self._counted_kinds
        if is_counted:
            for limit, counted in self._counted.items():
                if event.kind in limit.kinds:
                    _put(counted, event, diff)
        for names in self._groups:
            partition = self._partition(names, event)
            if partition is not None:
                partition.take(event, diff, changes)
        if is_counted and (diff < 0 or event.ts_us <= self._newest_us):
            for partition in self._partitions.values():
                partition.count(event, changes)
        if event.ts_us > self._newest_us:
            self._newest_us = event.ts_us
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
        reach_us = before_us - 2 * max(family.query.within_us for family in self.families)
        for key, partition in list(self._partitions.items()):
            if not partition.purge(before_us, reach_us):
                del self._partitions[key]
        if reach_us > self._purged_us:
            self._purged_us = reach_us
            self._events = {name: event for name, event in self._events.items() if event.ts_us >= reach_us}
            for counted in self._counted.values():
                del counted[: bisect_left(counted, (reach_us,))]

    @property
    def held(self) -> int:
        """Number of events that are kept."""
        return len(self._events)

    def _partition(self, names: tuple[str, ...], event: PatternEvent) -> _Partition | None:
        """The partition of an event; None if it lacks a key."""
        key = tuple([event.payload.get(name) for name in names])  # a generator costs twice as much, at each event
        if None in key:
            return None
        partition = self._partitions.get((names, key))
        if partition is None:
            partition = self._partitions[names, key] = _Partition(self._groups[names], self.most, self._counted)
        return partition


class _Use:
    """A list of events, and its meaning to the branches.

    Attributes:
        events: the list.
        step, own, slot: which events it takes.
        roles: number of a branch, and what it does with them.
    """

    def __init__(self, step: Step, own: tuple[Condition, ...], slot: int) -> None:
        self.events: list[PatternEvent] = []
        self.step, self.own, self.slot = step, own, slot
        self.roles: list[tuple[int, int]] = []


class _Route:
    """Where the events of a kind go: lists, and what branches do with those that meet all conditions on themselves."""

    def __init__(self, uses: list[_Use]) -> None:
        self.plain = [use.events for use in uses if not use.own]
        self.guarded = [use for use in uses if use.own]
        self.roles: dict[int, int] = {}
        for use in uses:
            if not use.own:
                _add_roles(self.roles, use)
        #: Branches that have something to do with an event in order.
        self.due = [(number, role) for number, role in self.roles.items() if role]

    def put(self, event: PatternEvent, diff: int, *, in_order: bool) -> dict[int, int]:
        """Put an event into its lists; return the branches that it concerns, and what they do with it."""
        taken = self.plain
        roles = self.roles
        for use in self.guarded:
            if meets(use.own, use.slot, event):
                if taken is self.plain:
                    taken, roles = [*taken], dict(roles)
                taken.append(use.events)
                _add_roles(roles, use)
        for events in taken:
            if in_order:
                events.append(event)
            else:
                _put(events, event, diff)
        return roles


def _add_roles(roles: dict[int, int], use: _Use) -> None:
    for number, role in use.roles:
        roles[number] = roles.get(number, 0) | role


class _Partition:
    """The events that share the values of their keys, and the matches over them."""

    def __init__(self, families: Sequence[Family], most: int, counted: Mapping[Limit, list[PatternEvent]]) -> None:
        self._counted = counted
        #: Lists of events by kind and conditions; steps that take the same events share one.
        self.uses: dict[_Own, _Use] = {}
        #: All events, where strict contiguity asks for them.
        self.stream: list[PatternEvent] = []
        self._needs_stream = any(family.strategy == "strict" for family in families)
        self._newest: tuple[Any, ...] | None = None
        self._changes: list[Change] = []
        self._supports: dict[int, dict[tuple[str, ...], int]] = {
            family.number: {} for family in families if family.is_ambiguous
        }
        self._routes: dict[str, _Route] = {}
        self._chains: Chains = {}
        self.anchors: list[tuple[Family, Anchors]] = []
        for family in families:
            for branch in family.branches:
                self._add(family, branch, most)
        self._append = [anchors.append for _, anchors in self.anchors]

    def _add(self, family: Family, branch: Branch, most: int) -> None:
        number = len(self.anchors)
        lists = []
        takes_up = TAKES_UP if family.strategy == "stnm" and not branch.is_simple else 0
        for at, step in enumerate(branch.steps):
            roles = takes_up | (STARTS if at in branch.starts else 0) | (COMPLETES if at >= branch.complete_from else 0)
            lists.append(self._list(step, branch.own[at], at, number, roles))
        forbidden = []
        for negation in branch.negations:
            roles = FORBIDDEN if negation.place == len(branch.steps) else 0
            forbidden.append(self._list(negation.step, negation.own, negation.slot, number, roles))
        limits = [(limit, self._counted[limit]) for limit in family.query.limits]
        search = Search(family.query, branch, lists, forbidden, self.stream, most, limits)
        anchors = Anchors(search, family.strategy, self._emitter(family), self._chains)
        self.anchors.append((family, anchors))

    def _list(self, step: Step, own: Sequence[Condition], slot: int, number: int, roles: int) -> list[PatternEvent]:
        """The list of the events that fit a step; a branch gets to know of them."""
        key: _Own = (step.kind, *sorted((renamed(condition.node, {}) for condition in own), key=repr))
        use = self.uses.get(key)
        if use is None:
            use = self.uses[key] = _Use(step, tuple(own), slot)
        use.roles.append((number, roles))
        return use.events

    def _emitter(self, family: Family) -> Any:
        """The function that turns the differences of an anchor into changes."""
        changes, members = self._changes, family.members
        supports = self._supports.get(family.number)
        (first, _), *further = members
        numbers, shortest_us = [number for number, _ in members], members[-1][1]

        def emit(diff: int, matches: Iterable[Match]) -> None:
            if not further:
                changes.extend([Change(diff, match, first) for match in matches])
                return
            for match in matches:
                lasts_us = match[-1][0] - match[0][0]
                fit = numbers if lasts_us <= shortest_us else [n for n, within_us in members if lasts_us <= within_us]
                changes.extend([Change(diff, match, number) for number in fit])

        def emit_one(before: tuple[Match, ...], after: tuple[Match, ...]) -> None:
            if not before:
                emit(1, after)
                return
            old = {tuple(event.id for event in match): match for match in before}
            new = {tuple(event.id for event in match): match for match in after}
            for diff, these, others in ((-1, old, new), (1, new, old)):
                emit(diff, [match for ids, match in these.items() if ids not in others])

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
                        emit(diff, (match,))

        return emit_one if supports is None else emit_supported

    def take(self, event: PatternEvent, diff: int, changes: list[Change]) -> None:
        """Take an event or a withdrawal, and append what changes."""
        route = self._routes.get(event.kind)
        if route is None:
            uses = [use for use in self.uses.values() if use.step.takes(event.kind)]
            route = self._routes[event.kind] = _Route(uses)
        newest = self._newest
        in_order = diff > 0 and (newest is None or event > newest)
        if in_order:
            self._newest = event
        elif newest is event:
            self._newest = event[:3]  # its next version is in order again
        if self._needs_stream:
            _put(self.stream, event, diff)
        roles = route.put(event, diff, in_order=in_order)
        if in_order:
            for number, role in route.due if roles is route.roles else roles.items():
                if role:
                    self._append[number](event, role)
        elif roles or self._needs_stream:
            for number, (family, one) in enumerate(self.anchors):
                if number in roles or family.strategy == "strict":
                    if diff < 0:
                        one.forget(event)
                    one.repair(event)
        self._take_changes(changes, in_order=in_order)

    def count(self, event: PatternEvent, changes: list[Change]) -> None:
        """Search again what an event may concern that limits count, and append what changes."""
        for family, one in self.anchors:
            if any(event.kind in limit.kinds for limit in family.query.limits):
                one.repair(event)
        self._take_changes(changes, in_order=False)

    def _take_changes(self, changes: list[Change], *, in_order: bool) -> None:
        if self._changes:
            found = _netted(self._changes) if self._supports else self._changes
            changes += found if in_order else sorted(found, key=_withdrawals_first)
            self._changes.clear()

    def matches(self) -> Iterator[tuple[int, Match]]:
        """The standing matches; of an ambiguous pattern each set of events once."""
        seen: set[tuple[int, tuple[str, ...]]] = set()
        for family, anchors in self.anchors:
            for match in (one for matches in anchors.matches.values() for one in matches):
                if family.is_ambiguous:
                    key = (family.number, tuple(event.id for event in match))
                    if key in seen:
                        continue
                    seen.add(key)
                lasts_us = match[-1][0] - match[0][0]
                for number, within_us in family.members:
                    if lasts_us <= within_us:
                        yield number, match

    def purge(self, before_us: int, reach_us: int) -> bool:
        """Forget old events and matches; False if nothing is left."""
        for family, anchors in self.anchors:
            anchors.purge(before_us - 2 * family.query.within_us)
        for events in (*(use.events for use in self.uses.values()), self.stream):
            del events[: bisect_left(events, (reach_us,))]
        return self._newest is None or self._newest[0] >= reach_us


def _families(queries: Sequence[Query], strategy: Strategy) -> list[Family]:
    """The families of some queries; those that cannot be searched together are families of one."""
    together: dict[Any, list[tuple[int, Query]]] = {}
    compiled = {}
    for number, query in enumerate(queries):
        chosen = query.strategy or strategy
        compiled[number] = tuple(compile_branches(query))
        nests = all(branch.nests(chosen) for branch in compiled[number])
        together.setdefault((chosen, shape_of(query) if nests else number), []).append((number, query))
    found: list[Family] = []
    for (chosen, _), some in together.items():
        some.sort(key=lambda one: -one[1].within_us)
        number, query = some[0]
        members = tuple((one, each.within_us) for one, each in some)
        found.append(Family(len(found), query, chosen, compiled[number], members))
    return found


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
