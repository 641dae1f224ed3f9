"""An engine under observation: whatever is pushed, everything that must hold after each push is looked at.

* what is withdrawn was asserted so, and nothing is asserted twice, published or internal;
* clk, final and every kind's frontier never go back;
* nothing below a frontier changes, but what an annulment (a decision of the game) reaches;
* no unit holds an input that is final for it;
* and where asked, the law: below the frontiers stands what a sorted replay of the inputs gives; in the end all of it.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from middleware.consolidation import Identity, identity
from middleware.engine import Engine, Outcome
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published, sorted_replay
from middleware.policy import EngineSettings
from middleware.progress import BEGINNING_US, END_US


class Watcher:
    """Pushes into an engine and raises ``AssertionError`` at the first thing that is not as it must be.

    Args:
        hierarchy: all its internal kinds but the raw ones are watched too.
        settings: of the engine.
    """

    def __init__(self, hierarchy: Hierarchy, settings: EngineSettings) -> None:
        self.hierarchy = hierarchy
        self.settings = settings
        self.engine = self.fresh_engine()
        self.said: list[Outcome] = []
        self.taken: dict[Identity, Event] = {}
        self.lost: list[Arrival] = []
        self._standing: dict[Identity, Event] = {}
        self._annullable = frozenset(kind for d in hierarchy.detectors for kind in d.spec.annuls)
        self._kinds = tuple(hierarchy.producer)
        self._times: dict[str, list[int]] = defaultdict(list)
        self._clk_us = self._final_us = BEGINNING_US
        self._frontier_us = {kind: self.engine.frontier_us(kind) for kind in self._kinds}

    def fresh_engine(self) -> Engine:
        """One that has seen nothing."""
        return Engine(self.hierarchy, self.settings, self.hierarchy.internal)

    def restart(self) -> None:
        """Goes on in another engine from a snapshot."""
        snapshot = self.engine.snapshot()
        self.engine = self.fresh_engine()
        self.engine.restore(snapshot)

    def push(self, arrivals: Sequence[Arrival], now_us: int) -> Outcome:
        """Pushes, and looks."""
        outcome = self.engine.push(arrivals, now_us)
        self._note(arrivals)
        self._look(outcome)
        return outcome

    def finish(self) -> Outcome:
        """Ends the stream, and looks."""
        outcome = self.engine.finish()
        self._look(outcome)
        health = self.engine.health()
        assert (health.waiting, health.held) == (0, 0), "something is kept though the stream is over"
        return outcome

    def standing(self, kinds: Iterable[str] | None = None) -> list[Event]:
        """What stands now, in canonical order."""
        wanted = set(self._kinds if kinds is None else kinds)
        rank = self.hierarchy.rank
        return sorted((e for e in self._standing.values() if e.kind in wanted), key=lambda e: canonical_key(e, rank))

    def check_law(self) -> None:
        """Below each frontier stands what the sorted replay of what was taken gives; kinds that may be annulled aside.

        What annuls may stand above the frontier of what it annuls, so these are compared at the end only.
        """
        expected: Counter[Event] = Counter()
        for event in sorted_replay(self.hierarchy, self.taken.values()):
            if event.ts_us < self._frontier_us[event.kind] and event.kind not in self._annullable:
                expected[event] += 1
        found = Counter(
            event
            for event in self._standing.values()
            if event.ts_us < self._frontier_us[event.kind] and event.kind not in self._annullable
        )
        assert found == expected, f"below the frontiers: too many {found - expected}, missing {expected - found}"

    def check_law_at_the_end(self) -> None:
        """After :meth:`finish`: what stands is what the sorted replay of what was taken gives, at every level."""
        expected = published(self.hierarchy, self.taken.values())
        internal = self.hierarchy.internal
        found = self.standing(kind for kind in self._kinds if kind not in internal)
        assert found == expected, difference(found, expected)
        inside = Counter(e for e in sorted_replay(self.hierarchy, self.taken.values()) if e.kind in internal)
        found_inside = Counter(self.standing(kind for kind in self._kinds if kind in internal))
        assert found_inside == inside, f"internal: too many {found_inside - inside}, missing {inside - found_inside}"

    def _note(self, arrivals: Sequence[Arrival]) -> None:
        """Keeps the first copy of each input, less what the engine records as lost."""
        for arrival in arrivals:
            event = arrival.event
            if identity(event) not in self.taken:
                self.taken[identity(event)] = event
                heapq.heappush(self._times[event.kind], event.ts_us)
        lost = self.engine.take_lost()
        self.lost.extend(lost)
        for arrival in lost:
            self.taken.pop(identity(arrival.event), None)

    def _look(self, outcome: Outcome) -> None:
        self.said.append(outcome)
        for update in (*outcome.updates, *outcome.watched):
            self._book(update)
        self._look_at_clocks()
        self._look_at_memory()

    def _book(self, update: Update) -> None:
        event = update.event
        frontier_us = self._frontier_us[event.kind]
        if event.kind not in self._annullable:
            assert event.ts_us >= frontier_us, f"{update} though {event.kind} was final up to {frontier_us}"
        name = identity(event)
        if update.diff > 0:
            assert name not in self._standing, f"asserted twice: {event}"
            self._standing[name] = event
            heapq.heappush(self._times[event.kind], event.ts_us)
        else:
            assert self._standing.get(name) == event, f"{event} is withdrawn, but {self._standing.get(name)} stands"
            del self._standing[name]

    def _look_at_clocks(self) -> None:
        health = self.engine.health()
        assert health.clk_us >= self._clk_us, "clk went back"
        assert health.final_us >= self._final_us, "final went back"
        self._clk_us, self._final_us = health.clk_us, health.final_us
        for kind in self._kinds:
            frontier_us = self.engine.frontier_us(kind)
            assert frontier_us >= self._frontier_us[kind], f"the frontier of {kind} went back"
            assert frontier_us <= self._final_us, f"the frontier of {kind} lies above final"
            self._frontier_us[kind] = frontier_us

    def _look_at_memory(self) -> None:
        """A unit keeps at most what was ever said of its inputs since they were last final for it.

        Not looked at where annulments are about: what is void at once is never published, but kept.
        """
        if self._final_us == END_US or self._annullable:
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
    """The first place where two lists of events part."""
    for n, (one, other) in enumerate(zip(found, expected, strict=False)):
        if one != other:
            return f"event {n}: found {one}, expected {other}"
    return f"found {len(found)} events, expected {len(expected)}; first too many or missing: " + str(
        (*found[len(expected) :], *expected[len(found) :])[:1]
    )
