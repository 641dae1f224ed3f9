"""The profile ``limecep``: patterns as paper 003 evaluates them, beside the exact matcher.

Theory of operation
-------------------
Paper 003, sections 4.1 to 4.3, by its own names. For each pattern an *event manager* judges each event that its pattern
names:

* *Out of order* is an event that is older than the newest of its type or than the newest of the pattern. Its score
  (equation 1) measures by how much: ``a * ln(1 + |e - last of its type - rate|) + b * (actual rate - estimated
  rate)^2 + c * actual rate / W``, times in milliseconds; of an event in order it is 0.
* *Extremely late* is one with a score above ``factor`` times the mean score of its type (equation 2; the mean is over
  events out of order, this one included). The pattern drops it. Drops are listed, with score and threshold.
* *Lazy evaluation.* An end event is evaluated at once: the maximal matches that end with it. Any other event in order
  is only stored. One out of order is evaluated on demand: once for each end event within its *maximum potential
  window* (MPW, equation 3).
* *Slack.* Where more than a tenth of the events are out of order, on-demand evaluations wait until the newest event
  time has advanced by ``min(greatest lateness, slack_share * W)``.

The *result manager* emits a match that is new, skips one that it has, replaces one by another that contains it
(correction), and under ``stnm`` drops the later of two matches that begin alike (invalidation). Without correction
(``NC``) it only emits what is new.

Where the printed paper has lost a formula, that of its published program is taken (the score, the MPW). Two faults of
that program are not: an event that is the newest of its own type is out of order, too, if it is older than the newest
of the pattern; and a dropped event is in no store. Two events of one type and one time are one (4.1.2: sorted by time).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from math import log
from typing import NamedTuple

from detectors.patterns.branches import compile_branches
from detectors.patterns.matcher import MOST_MATCHES, Change
from detectors.patterns.maximal import MaximalSearch, is_regular
from detectors.patterns.search import Match, Search, flat
from detectors.patterns.syntax import PatternError, PatternEvent, Query, Strategy

#: Share of events out of order above which on-demand evaluations wait (paper 003, 4.3, result correctness).
SLACK_ABOVE = 0.1


class LimeSettings(NamedTuple):
    """Settings of the profile, with the defaults of the paper's program.

    Attributes:
        a, b, c: weights of the score: deviation in time, deviation of the rate, rate by window.
        factor: an event above so many mean scores is extremely late.
        slack_share: greatest slack as a share of the window; the paper names none, its program has 0.
        correction: False emits only (NC).
        rate_ms: estimated time between events of a type; None takes the actual one.
    """

    a: float = 0.6
    b: float = 0.2
    c: float = 0.2
    factor: float = 2.5
    slack_share: float = 0.0
    correction: bool = True
    rate_ms: float | None = None


class Drop(NamedTuple):
    """An event that a pattern did not take, because it is extremely late."""

    pattern: int
    event: PatternEvent
    score: float
    threshold: float


class TypeStatistics:
    """Counts, rate and scores of a type, as the statistical manager has them (4.1.5)."""

    def __init__(self) -> None:
        self.events = self.out_of_order = 0
        self.newest_us: int | None = None
        self.oldest_us = 0
        self.max_late_us = 0
        self._scores = 0.0

    @property
    def rate_ms(self) -> float:
        """Actual mean time between events."""
        if self.newest_us is None or self.events < 2:
            return 0.0
        return (self.newest_us - self.oldest_us) / 1_000 / (self.events - 1)

    @property
    def mean_score(self) -> float:
        """Mean score of the events out of order."""
        return self._scores / self.out_of_order if self.out_of_order else 0.0

    def add(self, ts_us: int) -> None:
        """Count an event."""
        self.events += 1
        self.oldest_us = ts_us if self.newest_us is None else min(self.oldest_us, ts_us)
        self.newest_us = ts_us if self.newest_us is None else max(self.newest_us, ts_us)

    def add_late(self, late_us: int, score: float) -> None:
        """Count an event out of order with its score."""
        self.out_of_order += 1
        self.max_late_us = max(self.max_late_us, late_us)
        self._scores += score


class LimeMatcher:
    """Matches queries over a stream of events as LimeCEP does.

    Args:
        queries: sequences that end with a single event; without keys, bounds of passes, and NOT at either end.
        strategy: ``stnm`` or ``stam``, of the queries that name none.
        settings: of the profile.

    Attributes:
        dropped: the events that a pattern has dropped.
        duplicates: number of copies, among them other events of one type and time.

    Raises:
        PatternError: a query that the profile has no meaning for.
    """

    def __init__(
        self, queries: Sequence[Query], strategy: Strategy = "stnm", settings: LimeSettings | None = None
    ) -> None:
        self.dropped: list[Drop] = []
        self.duplicates = 0
        self._events: dict[str, PatternEvent] = {}
        self._instants: set[tuple[str, int]] = set()
        chosen = settings or LimeSettings()
        self._managers = [
            _EventManager(number, query, query.strategy or strategy, chosen) for number, query in enumerate(queries)
        ]

    def standing(self, event_id: str) -> PatternEvent | None:
        """The event of an id, if it was taken."""
        return self._events.get(event_id)

    def push(self, event: PatternEvent, diff: int = 1) -> list[Change]:
        """Take an event; return what the result managers tell the user.

        Raises:
            PatternError: a withdrawal, which the paper does not know.
        """
        if diff < 0:
            raise PatternError("the profile limecep knows no withdrawal", "Choose --profile exact")
        if event.id in self._events or (event.kind, event.ts_us) in self._instants:
            self.duplicates += 1
            return []
        self._events[event.id] = event
        self._instants.add((event.kind, event.ts_us))
        changes: list[Change] = []
        for manager in self._managers:
            if event.kind in manager.kinds:
                drop = manager.take(event, changes)
                if drop is not None:
                    self.dropped.append(drop)
        return changes

    def finish(self) -> list[Change]:
        """End the stream: evaluate what waits for the slack."""
        changes: list[Change] = []
        for manager in self._managers:
            manager.evaluate_late(changes, finish=True)
        return changes

    def matches(self) -> Iterator[tuple[int, Match]]:
        """The matches that the user has and that were not withdrawn."""
        for manager in self._managers:
            for match in manager.results.standing():
                yield manager.number, match

    def statistics(self) -> list[dict[str, TypeStatistics]]:
        """For each pattern, what is known of each type."""
        return [manager.types for manager in self._managers]


class _EventManager:
    """Judges, stores and evaluates the events of one pattern (4.1.3, 4.2.2)."""

    def __init__(self, number: int, query: Query, strategy: Strategy, settings: LimeSettings) -> None:
        branches = compile_branches(query)
        branch = branches[0]
        outer = any(negation.place in (0, len(branch.steps)) for negation in branch.negations)
        if len(branches) > 1 or not is_regular(branch) or branch.steps[-1].most != 1 or outer:
            raise PatternError("the profile limecep takes a SEQ of single steps and +, with a single end", "Split it")
        if query.keys or query.limits or strategy not in ("stnm", "stam"):
            raise PatternError("the profile limecep has stnm and stam, and no PER and bounds", "Choose --profile exact")
        self.number, self.query, self.settings, self.branch = number, query, settings, branch
        self.kinds = {step.kind for step in (*branch.steps, *(negation.step for negation in branch.negations))}
        self.types = {kind: TypeStatistics() for kind in self.kinds}
        self.results = _ResultManager(number, correction=settings.correction, next_only=strategy == "stnm")
        self._lists: list[list[PatternEvent]] = [[] for _ in branch.steps]
        self._forbidden: list[list[PatternEvent]] = [[] for _ in branch.negations]
        self._search = Search(query, branch, self._lists, self._forbidden, [], MOST_MATCHES)
        self._maximal = MaximalSearch(self._search)
        self._newest_us: int | None = None
        self._oldest_us = 0
        #: Events that wait for their on-demand evaluation, each with the newest event time at which it is due.
        self._waiting: list[tuple[int, PatternEvent]] = []

    def take(self, event: PatternEvent, changes: list[Change]) -> Drop | None:
        """Take an event; return the drop if it is extremely late."""
        statistics, newest_us = self.types[event.kind], self._newest_us
        is_late = newest_us is not None and event.ts_us < newest_us
        if is_late:
            assert newest_us is not None  # a late event has a predecessor
            score = self._score(event, statistics)
            statistics.add_late(newest_us - event.ts_us, score)
            threshold = self.settings.factor * statistics.mean_score
            if score > threshold:
                return Drop(self.number, event, score, threshold)
        statistics.add(event.ts_us)
        self._oldest_us = event.ts_us if newest_us is None else min(self._oldest_us, event.ts_us)
        self._newest_us = event.ts_us if newest_us is None else max(newest_us, event.ts_us)
        for at, events in enumerate(self._lists):
            if self.branch.fits(at, event):
                insort(events, event)
        for negation, events in zip(self.branch.negations, self._forbidden, strict=True):
            if negation.forbids_alone(event):
                insort(events, event)
        self.evaluate_late(changes)
        if self.branch.fits(len(self.branch.steps) - 1, event):
            self._evaluate(event, changes)
        elif is_late:
            self._waiting.append((self._newest_us + self._slack_us(), event))
            self.evaluate_late(changes)
        return None

    def evaluate_late(self, changes: list[Change], *, finish: bool = False) -> None:
        """Evaluate late events on demand, as far as their slack has passed."""
        newest_us = self._newest_us
        due = [event for due_us, event in self._waiting if finish or (newest_us is not None and due_us <= newest_us)]
        if not due:
            return
        self._waiting = [one for one in self._waiting if one[1] not in due]
        ends = self._lists[-1]
        chosen = {}
        for event in due:
            begin_us, end_us = self.potential_window(event)
            for end in ends[bisect_left(ends, (begin_us,)) : bisect_left(ends, (end_us + 1,))]:
                chosen[end.id] = end
        for end in sorted(chosen.values()):
            self._evaluate(end, changes)

    def potential_window(self, event: PatternEvent) -> tuple[int, int]:
        """The MPW of an event (equation 3), between the oldest and the newest event of the pattern."""
        steps, within_us, ts_us = self.branch.steps, self.query.within_us, event.ts_us
        newest_us = self._newest_us if self._newest_us is not None else ts_us
        at = next((at for at in range(len(steps)) if self.branch.fits(at, event)), 0)
        position_us = within_us // len(steps)
        if steps[at].most is None:
            begin_us, end_us = ts_us - within_us + within_us // 100, ts_us + within_us
        elif at == 0:
            begin_us, end_us = ts_us, ts_us + within_us
        elif at == len(steps) - 1:
            begin_us, end_us = ts_us - within_us, ts_us
        else:
            begin_us = ts_us - within_us + (len(steps) - 1 - at) * position_us
            end_us = max(ts_us + within_us - at * position_us, newest_us)
        return max(begin_us, self._oldest_us), min(end_us, newest_us)

    def _evaluate(self, end: PatternEvent, changes: list[Change]) -> None:
        """Give the result manager the maximal matches that end with an event."""
        self.results.take([flat(bound) for bound in self._maximal.ending_with(end)], changes)

    def _score(self, event: PatternEvent, statistics: TypeStatistics) -> float:
        """The out-of-order score (equation 1), in milliseconds."""
        settings, actual_ms = self.settings, statistics.rate_ms
        rate_ms = actual_ms if settings.rate_ms is None else settings.rate_ms
        last_us = event.ts_us if statistics.newest_us is None else statistics.newest_us
        deviation_ms = abs((event.ts_us - last_us) / 1_000 - rate_ms)
        return (
            settings.a * log(1 + deviation_ms)
            + settings.b * (actual_ms - rate_ms) ** 2
            + settings.c * actual_ms / (self.query.within_us / 1_000)
        )

    def _slack_us(self) -> int:
        """How long on-demand evaluations wait now."""
        events = sum(one.events for one in self.types.values())
        late = sum(one.out_of_order for one in self.types.values())
        if late <= SLACK_ABOVE * events:
            return 0
        greatest_us = max(one.max_late_us for one in self.types.values())
        return min(greatest_us, round(self.settings.slack_share * self.query.within_us))


class _ResultManager:
    """Emits, corrects and invalidates matches (4.1.4)."""

    def __init__(self, number: int, *, correction: bool, next_only: bool) -> None:
        self._number, self._correction, self._next_only = number, correction, next_only
        #: By the ids of their events; and by that of their first event, with which all compare.
        self._emitted: dict[tuple[str, ...], Match] = {}
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        self._by_last: dict[str, list[tuple[str, ...]]] = {}

    def standing(self) -> Iterator[Match]:
        """The matches that the user has."""
        return iter(self._emitted.values())

    def take(self, found: Sequence[Match], changes: list[Change]) -> None:
        """Take matches of an evaluation."""
        if self._correction and self._next_only:
            # Of those that begin alike and have the same types, the first invalidates all others.
            best: dict[tuple[str, ...], Match] = {}
            for match in found:
                key = (match[0].id, *(event.kind for event in match))
                if key not in best or match < best[key]:
                    best[key] = match
            found = list(best.values())
        for match in found:
            ids = tuple(event.id for event in match)
            if ids in self._emitted:
                continue
            if self._correction:
                if self._next_only and any(_beats(other, match) for other in self._beginning_alike(ids)):
                    continue
                for other in self._beginning_alike(ids):
                    if (self._next_only and _beats(match, other)) or {event.id for event in other} < {*ids}:
                        self._drop(other, changes)
                for other in self._ending_alike(ids):
                    self._drop(other, changes)
            self._emitted[ids] = match
            self._by_first.setdefault(ids[0], []).append(ids)
            self._by_last.setdefault(ids[-1], []).append(ids)
            changes.append(Change(1, match, self._number))

    def _beginning_alike(self, ids: tuple[str, ...]) -> list[Match]:
        """The matches with the same first event."""
        return [self._emitted[other] for other in self._by_first.get(ids[0], ())]

    def _ending_alike(self, ids: tuple[str, ...]) -> list[Match]:
        """The matches with the same last event that this one contains."""
        return [self._emitted[other] for other in self._by_last.get(ids[-1], ()) if {*other} < {*ids}]

    def _drop(self, match: Match, changes: list[Change]) -> None:
        ids = tuple(event.id for event in match)
        del self._emitted[ids]
        self._by_first[ids[0]].remove(ids)
        self._by_last[ids[-1]].remove(ids)
        changes.append(Change(-1, match, self._number))


def _beats(match: Match, other: Match) -> bool:
    """True if a match invalidates another one with the same first event.

    They agree up to the end of the shorter, and it ends earlier; or they have the same types, and where they differ
    first its event is earlier (``a9 b11 c19`` invalidates ``a9 b12 c19``, 4.1.4).
    """
    shared = min(len(match), len(other)) - 1
    if match[-1] < other[-1] and all(a.id == b.id for a, b in zip(match[:shared], other[:shared], strict=True)):
        return True
    alike = [event.kind for event in match] == [event.kind for event in other]
    return alike and [event[:3] for event in match] < [event[:3] for event in other]
