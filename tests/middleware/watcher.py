"""An engine under observation: after each push everything that must hold is checked.

* what is withdrawn was asserted so, and nothing is asserted twice, published or internal;
* final and every kind's frontier never go back;
* nothing below a frontier changes, but what a newer version or an annulment (a decision of the game) reaches;
* no unit holds an input that is final for it;
* and where asked, the law: below the frontiers stands what a sorted replay of the inputs gives; in the end all of it.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from middleware.consolidation import Identity, identity
from middleware.detector import Spec, Step
from middleware.engine import Engine
from middleware.events import BEGINNING_US, END_US, Arrival, Event, Key, Loss, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published, sorted_replay
from middleware.ordering.policy import EngineSettings
from middleware.push_result import PushResult

#: What the probe says.
PROBE = "probe"


class Probe:
    """A detector that emits each raw event that the engine took in."""

    def __init__(self, raw_kinds: Sequence[str]) -> None:
        self.spec = Spec("probe", "1.999", 1, tuple(raw_kinds), (PROBE,), (PROBE,), source="made up")

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        return None, (Event(PROBE, event.ts_us, event.source, event.seq, event, f"{event.kind}:{event.id}"),)


class Watcher:
    """Pushes into an engine and raises ``AssertionError`` at the first violation.

    Args:
        hierarchy: all its internal kinds but the raw ones are watched too.
        settings: of the engine.
        repeating: kinds of which several may have one name, whoever is to blame for that.
    """

    def __init__(self, hierarchy: Hierarchy, settings: EngineSettings, repeating: frozenset[str] = frozenset()) -> None:
        self.hierarchy = Hierarchy(hierarchy.raw_kinds, [*hierarchy.detectors, Probe(hierarchy.raw_kinds)])
        self.settings = settings
        self._repeating = repeating
        self.engine = self.fresh_engine()
        self.results: list[PushResult] = []
        self.lost: list[Loss] = []
        self._arrived = 0
        self._standing: dict[Key, list[Event]] = {}
        self._names: set[Identity] = set()
        self._kinds = tuple(kind for kind in self.hierarchy.producer if kind != PROBE)
        self._times: dict[str, list[int]] = defaultdict(list)
        self._final_us = BEGINNING_US
        self._frontier_us = {kind: self.engine.watermark_us(kind) for kind in self.hierarchy.producer}

    def fresh_engine(self) -> Engine:
        """Make a watcher before any push."""
        return Engine(self.hierarchy, self.settings, self.hierarchy.internal)

    def restart(self) -> None:
        """Continue in another engine from a snapshot."""
        snapshot = self.engine.snapshot()
        self.engine = self.fresh_engine()
        self.engine.restore(snapshot)

    def push(self, arrivals: Sequence[Arrival], now_us: int, complete_us: int | None = None) -> PushResult:
        """Push and check."""
        outcome = self.engine.push(arrivals, now_us, complete_us)
        self._note(arrivals)
        self._look(outcome)
        return outcome

    def finish(self) -> PushResult:
        """End the stream and check."""
        outcome = self.engine.finish()
        self._look(outcome)
        health = self.engine.health()
        assert (health.waiting, health.held) == (0, 0), "something is kept though the stream is over"
        taken, lost, doubled = len(self.taken()), len(self.lost), health.duplicates
        assert self._arrived == taken + lost + doubled, f"{self._arrived} came: {taken=} {lost=} {doubled=}"
        return outcome

    def taken(self) -> list[Event]:
        """Raw events that the engine has taken in and released."""
        return [event.payload for event in self._all() if event.kind == PROBE]

    def standing(self, kinds: Iterable[str] | None = None) -> list[Event]:
        """Events that stand now, in canonical order."""
        wanted = set(self._kinds if kinds is None else kinds)
        rank = self.hierarchy.rank
        return sorted((e for e in self._all() if e.kind in wanted), key=lambda e: canonical_key(e, rank))

    def check_law(self) -> None:
        """Check that below each watermark the sorted replay of the inputs taken in stands; amendable kinds aside.

        The newer word may stand above the frontier of the older one, so these are compared at the end only.
        """
        expected: Counter[Event] = Counter()
        for event in sorted_replay(self.hierarchy, self.taken()):
            if event.kind in self._repeating or event.kind == PROBE:
                continue
            if event.ts_us < self._frontier_us[event.kind] and event.kind not in self.hierarchy.amendable:
                expected[event] += 1
        found = Counter(
            event
            for event in self._all()
            if event.ts_us < self._frontier_us[event.kind]
            and event.kind not in self.hierarchy.amendable
            and event.kind not in self._repeating
            and event.kind != PROBE
        )
        assert found == expected, f"below the frontiers: too many {found - expected}, missing {expected - found}"

    def check_law_at_the_end(self) -> None:
        """Check after :meth:`finish` that the sorted replay of the inputs taken in stands, at every level."""
        expected = published(self.hierarchy, self.taken())
        internal = self.hierarchy.internal
        found = self.standing(kind for kind in self._kinds if kind not in internal)
        assert found == expected, difference(found, expected)
        inner = internal.intersection(self._kinds)
        inside = Counter(e for e in sorted_replay(self.hierarchy, self.taken()) if e.kind in inner)
        found_inside = Counter(self.standing(inner))
        assert found_inside == inside, f"internal: too many {found_inside - inside}, missing {inside - found_inside}"

    def _all(self) -> Iterator[Event]:
        return (event for same in self._standing.values() for event in same)

    def _note(self, arrivals: Sequence[Arrival]) -> None:
        self._arrived += len(arrivals)
        for arrival in arrivals:
            heapq.heappush(self._times[arrival.event.kind], arrival.event.ts_us)
        self.lost.extend(self.engine.take_lost())

    def _look(self, outcome: PushResult) -> None:
        self.results.append(outcome)
        for update in (*outcome.updates, *outcome.watched):
            self._book(update)
        self._look_at_clocks()
        self._look_at_memory()

    def _book(self, update: Update) -> None:
        event = update.event
        frontier_us = self._frontier_us[event.kind]
        if event.kind not in self.hierarchy.amendable:
            assert event.ts_us >= frontier_us, f"{update} though {event.kind} was final up to {frontier_us}"
        same = self._standing.setdefault(canonical_key(event, self.hierarchy.rank), [])
        if update.diff > 0:
            if event.kind not in self._repeating or event.kind not in self.hierarchy.internal:
                assert not same, f"asserted though {same} stands: {event}"
            if event.kind not in self._repeating:
                assert identity(event) not in self._names, f"asserted twice: {event}"
                self._names.add(identity(event))
            same.append(event)
            heapq.heappush(self._times[event.kind], event.ts_us)
        else:
            assert event in same, f"{event} is withdrawn, but {same} stands"
            same.remove(event)
            if not same:
                del self._standing[canonical_key(event, self.hierarchy.rank)]
            self._names.discard(identity(event))

    def _look_at_clocks(self) -> None:
        health = self.engine.health()
        assert health.final_us >= self._final_us, "final went back"
        self._final_us = health.final_us
        for kind in self._frontier_us:
            frontier_us = self.engine.watermark_us(kind)
            assert frontier_us >= self._frontier_us[kind], f"the frontier of {kind} went back"
            assert frontier_us <= self._final_us, f"the frontier of {kind} lies above final"
            self._frontier_us[kind] = frontier_us

    def _look_at_memory(self) -> None:
        """Check that a unit holds at most the updates of its inputs since those were last final for it.

        Not looked at where not all that is kept is also published: where events may be amended or annulled, or
        repeat themselves; nor where final follows the sources, for then units forget what is final some time later.
        """
        follows = self.settings.progress.final_follows_sources
        if self._final_us == END_US or self.hierarchy.amendable or self._repeating or follows:
            return
        most = 0
        deepest_us = max((max(reach.values(), default=0) for reach in self.hierarchy.reach), default=0)
        for times in self._times.values():
            while times and times[0] < self._final_us - deepest_us:
                heapq.heappop(times)
        for detector in self.hierarchy.detectors:
            most += sum(len(self._times[kind]) for kind in detector.spec.inputs)
        health = self.engine.health()
        assert health.waiting + health.held <= most, (
            f"{health.waiting + health.held} inputs kept, at most {most} needed"
        )


def difference(found: Sequence[Event], expected: Sequence[Event]) -> str:
    """Return the first position at which two lists of events differ."""
    for n, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"event {n}: found {one}, expected {other}"
    return f"found {len(found)} events, expected {len(expected)}; first too many or missing: " + str(
        (*found[len(expected) :], *expected[len(found) :])[:1]
    )
