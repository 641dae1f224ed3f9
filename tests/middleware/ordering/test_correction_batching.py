"""Gathering: corrections of a dense join are made together; what is new is said at once, and the end is the same."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from middleware.consolidation import consolidate
from middleware.detector import NOTHING, Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from tests.middleware.zoo import Part, build

GATHERS = Part("window", 2, 1, ("raw",), ("sum",), correction_batch_us=40, numbers=(50, 1))


def raw(ts_us: int, source: str = "s") -> Event:
    return Event("raw", ts_us, source, ts_us, 1, f"{source}:{ts_us}")


def engine(part: Part) -> tuple[Engine, Hierarchy]:
    hierarchy = Hierarchy(("raw",), [build(part)])
    return Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=10_000)), hierarchy


def push(engine: Engine, now_us: int, *events: Event) -> list[Update]:
    return engine.push([Arrival(event, event.ts_us) for event in events], now_us).updates


def taken_back(updates: Iterable[Update]) -> int:
    return sum(update.diff < 0 for update in updates)


def test_the_first_correction_is_made_at_once_and_the_next_ones_wait_for_each_other():
    running, _ = engine(GATHERS)
    push(running, 100, *(raw(ts_us) for ts_us in range(100, 140, 10)))
    assert taken_back(push(running, 200, raw(105, "late"))) > 0
    assert push(running, 210, raw(115, "late")) == []
    assert push(running, 220, raw(125, "late")) == []
    assert len(push(running, 230, raw(150))) == 1, "what is new does not wait"
    together = push(running, 241)
    assert taken_back(together) > 0
    assert {update.event.ts_us for update in together if update.diff > 0} >= {115, 125}
    assert push(running, 300) == []


@pytest.mark.parametrize("restarts", [False, True])
def test_what_waits_is_made_good_at_the_end_and_outlasts_a_restart(restarts: bool):
    running, hierarchy = engine(GATHERS)
    events = [raw(ts_us) for ts_us in range(100, 140, 10)]
    late = [raw(105, "late"), raw(115, "late"), raw(116, "later")]
    emitted = push(running, 100, *events)
    for number, event in enumerate(late):
        emitted += push(running, 200 + number, event)
    waiting = running.health().waiting
    assert waiting == 2
    if restarts:
        snapshot, (running, _) = running.snapshot(), engine(GATHERS)
        running.restore(snapshot)
        assert running.health().waiting == waiting
    emitted += running.finish().updates
    found = sorted(consolidate(emitted).values(), key=lambda event: canonical_key(event, hierarchy.rank))
    assert found == published(hierarchy, [*events, *late])


class Everybody:
    """A frame at each beat: when everybody was seen last."""

    def __init__(self, correction_batch_us: int) -> None:
        self.spec = Spec("everybody", "1.1", 1, ("raw",), ("frame",), correction_batch_us=correction_batch_us)

    def initial(self) -> dict[str, int]:
        return {}

    def step(self, state: dict[str, int], event: Event) -> Step[dict[str, int]]:
        if event.source == "beat":
            return state, (Event("frame", event.ts_us, "frame", event.ts_us, dict(state), f"frame:{event.ts_us}"),)
        return {**state, event.source: event.ts_us}, NOTHING


def test_fewer_corrections_of_many_sources_lead_to_the_same():
    counts = []
    for correction_batch_us in (50, 0):
        hierarchy = Hierarchy(("raw",), [Everybody(correction_batch_us)])
        running = Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=10_000))
        emitted, every = [], []
        for now_us in range(1_000, 3_000, 5):
            name = f"player {now_us // 5 % 20}"
            events = [raw(now_us - after_us, name) for after_us in range(90, 30, -10)]
            events += [raw(now_us, "beat")] if now_us % 10 == 0 else []
            every += events
            emitted += push(running, now_us, *events)
        emitted += running.finish().updates
        found = sorted(consolidate(emitted).values(), key=lambda event: canonical_key(event, hierarchy.rank))
        assert found == published(hierarchy, every)
        counts.append(taken_back(emitted))
    assert counts[0] * 3 < counts[1]
