"""The law and its corollaries over random detectors, random graphs, random streams and random settings.

Hypothesis draws small worlds and shrinks what fails; it prints the world and a ``@reproduce_failure`` line. The slow
tests take far larger ones by seed; a seed that fails prints its smallest failing world, and is replayed by

    python -m tests.middleware.test_random_graphs SEED...
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from middleware.engine import Outcome
from middleware.events import Arrival, Event, Update
from middleware.oracle import published
from middleware.policy import EngineSettings, FixedAlpha, UnitSettings
from tests.middleware.watcher import Watcher, difference
from tests.middleware.worlds import Push, Scale, World, smaller, some_settings, some_world

SMALL = Scale()
LARGE = Scale(levels=15, sources=9, packets=80, delay_us=300)

#: Seeds of large worlds: those of every run, and those of the slow tests by the block.
SEEDS = 120
BLOCKS, SEEDS_IN_BLOCK = 8, 250

chance = st.randoms(use_true_random=False)
thorough = settings(max_examples=250, deadline=None, print_blob=True)
brief = settings(max_examples=120, deadline=None, print_blob=True)


def check_law(world: World, engine_settings: EngineSettings, rng: Random) -> None:
    """One engine through the whole world, looked at after every push; restarted and held to the law now and then."""
    watcher = Watcher(world.hierarchy(), engine_settings)
    for push in world.pushes:
        watcher.push(push.arrivals, push.now_us)
        if rng.randrange(8) == 0:
            watcher.restart()
        if rng.randrange(16) == 0:
            watcher.check_law()
    watcher.finish()
    watcher.check_law_at_the_end()


def check_at_once(world: World) -> None:
    """With alpha 0 what stands after every push is what a sorted replay of everything that came by then gives.

    Both ways of taking back say the same, push by push.
    """
    eager = world._replace(parts=tuple(part._replace(speculative=True) for part in world.parts))
    ways = [
        Watcher(eager.hierarchy(), EngineSettings(UnitSettings(FixedAlpha(0.0), mode), memory_us=10**9))
        for mode in ("full", "on-demand")
    ]
    for push in world.pushes:
        said = [_net(watcher.push(push.arrivals, push.now_us)) for watcher in ways]
        assert said[0] == said[1], f"full retraction says {said[0] - said[1]}, on demand {said[1] - said[0]}"
        hierarchy = ways[0].hierarchy
        expected = published(hierarchy, ways[0].taken.values())
        found = ways[0].standing(kind for kind in hierarchy.producer if kind not in hierarchy.internal)
        assert found == expected, difference(found, expected)


def check_redone(world: World, engine_settings: EngineSettings, rng: Random) -> None:
    """A batch redone from the snapshot at its start says the same, and so does all that follows."""
    begin = rng.randint(0, len(world.pushes))
    end = rng.randint(begin, len(world.pushes))
    watcher = Watcher(world.hierarchy(), engine_settings)
    first, again = watcher.engine, watcher.fresh_engine()
    for push in world.pushes[:begin]:
        first.push(push.arrivals, push.now_us)
    snapshot = first.snapshot()
    said = [first.push(push.arrivals, push.now_us) for push in world.pushes[begin:end]]
    again.restore(snapshot)
    said_again = [again.push(push.arrivals, push.now_us) for push in world.pushes[begin:end]]
    assert said_again == said
    assert again.health() == first.health()
    rest = world.pushes[end:]
    assert [again.push(p.arrivals, p.now_us) for p in rest] == [first.push(p.arrivals, p.now_us) for p in rest]
    assert again.finish() == first.finish()
    assert again.take_lost() == first.take_lost()


@thorough
@given(rng=chance)
def test_oracle_any_graph_any_stream_any_settings(rng: Random):
    world, engine_settings = some_world(rng, SMALL), some_settings(rng, SMALL)
    note(f"replay: {engine_settings!r}\n{world!r}")
    check_law(world, engine_settings, rng)


@brief
@given(rng=chance)
def test_oracle_and_differential_emitting_at_once_is_right_after_every_push(rng: Random):
    world = some_world(rng, SMALL)
    note(f"replay: {world!r}")
    check_at_once(world)


@brief
@given(rng=chance)
def test_differential_a_batch_redone_from_its_snapshot_says_the_same(rng: Random):
    world, engine_settings = some_world(rng, SMALL), some_settings(rng, SMALL)
    note(f"replay: {engine_settings!r}\n{world!r}")
    check_redone(world, engine_settings, rng)


@brief
@given(rng=chance)
def test_differential_another_zero_of_time_changes_nothing(rng: Random):
    world, engine_settings = some_world(rng, SMALL), some_settings(rng, SMALL)
    by_us = rng.choice((-(10**12), -3_333, 10**15))
    note(f"replay: {engine_settings!r}\n{world!r}")
    here, there = (Watcher(world.hierarchy(), engine_settings).engine for _ in range(2))
    for push in world.pushes:
        moved = [Arrival(_moved(arrival.event, by_us), arrival.until_us + by_us) for arrival in push.arrivals]
        one, other = here.push(push.arrivals, push.now_us), there.push(moved, push.now_us + by_us)
        assert _said(other, -by_us) == _said(one, 0)
    assert _said(there.finish(), -by_us) == _said(here.finish(), 0)


@brief
@given(rng=chance)
def test_pure_buffering_with_enough_slack_takes_nothing_back(rng: Random):
    world = after_a_roll_call(some_world(rng, SMALL))
    world = world._replace(parts=tuple(part._replace(keyed=part.keyed and part.level == 1) for part in world.parts))
    note(f"replay: {world!r}")
    watcher = Watcher(world.hierarchy(), buffering_enough(world))
    for push in world.pushes:
        outcome = watcher.push(push.arrivals, push.now_us)
        assert all(update.diff > 0 for update in outcome.watched), outcome
    assert watcher.engine.health().retracted == 0
    watcher.finish()
    watcher.check_law_at_the_end()


def after_a_roll_call(world: World) -> World:
    """The same world, but every source is heard at the very beginning: none can surprise the others later on."""
    first: dict[tuple[str, str], Event] = {}
    for arrival in world.arrivals():
        event = arrival.event
        name = (event.kind, event.source)
        first[name] = min(first.get(name, event), event, key=lambda e: e.seq)
    now_us = min((push.now_us for push in world.pushes), default=0)
    begin_us = min((event.ts_us for event in first.values()), default=0) - 1
    calls = [
        Arrival(Event(event.kind, begin_us, event.source, event.seq - 1, 0, f"{event.source}:call"), begin_us)
        for event in first.values()
    ]
    return world._replace(pushes=(Push(now_us, tuple(calls)), *world.pushes))


def buffering_enough(world: World) -> EngineSettings:
    """Alpha 1 and, at each unit, K that covers the waits and horizons of all below it."""
    times_us = [ts_us for arrival in world.arrivals() for ts_us in (arrival.event.ts_us, arrival.until_us)]
    span_us = max(times_us, default=0) - min(times_us, default=0) + 1
    by_detector, below_us = {}, span_us
    for detector in world.hierarchy().detectors:
        by_detector[detector.spec.name] = UnitSettings(FixedAlpha(1.0), fixed_k_us=below_us)
        below_us += below_us + detector.spec.horizon_us
    return EngineSettings(by_detector=by_detector, memory_us=4 * below_us)


def _net(outcome: Outcome) -> Counter[tuple[Event, int]]:
    """What was said, whatever the order; K+ may differ, as what is sent anew is sent later."""
    return Counter((update.event, update.diff) for update in outcome.updates)


def _moved(event: Event, by_us: int) -> Event:
    return msgspec.structs.replace(event, ts_us=event.ts_us + by_us)


def _said(outcome: Outcome, by_us: int) -> list[Update]:
    """Everything said, told with another zero of time."""
    return [Update(_moved(u.event, by_us), u.diff, u.k_plus_us) for u in (*outcome.updates, *outcome.watched)]


def check_seed(seed: int) -> None:
    """All of the above on a large world; prints the smallest world that fails."""

    def law(world: World) -> None:
        check_law(world, engine_settings, Random(seed))

    def redone(world: World) -> None:
        check_redone(world, engine_settings, Random(seed))

    rng = Random(seed)
    world = some_world(rng, LARGE)
    engine_settings = some_settings(rng, LARGE)
    for check in (law, redone, check_at_once) if seed % 5 == 0 else (law, redone):
        try:
            check(world)
        except (AssertionError, ValueError) as error:
            small = smaller(world, lambda candidate, check=check: _fails(check, candidate))
            again = f"python -m tests.middleware.test_random_graphs {seed}"
            raise AssertionError(f"{error}\nreplay: {again}\n{engine_settings!r}\n{small!r}") from error


def _fails(check, world: World) -> bool:
    try:
        check(world)
    except (AssertionError, ValueError):
        return True
    return False


@pytest.mark.parametrize("begin", range(0, SEEDS, 20))
def test_oracle_and_differential_some_large_worlds(begin: int):
    for seed in range(begin, begin + 20):
        check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_oracle_and_differential_many_large_worlds(block: int):
    for seed in range(SEEDS + block * SEEDS_IN_BLOCK, SEEDS + (block + 1) * SEEDS_IN_BLOCK):
        check_seed(seed)


def test_the_checks_find_an_engine_that_forgets_a_withdrawal(monkeypatch: pytest.MonkeyPatch):
    """A test that cannot fail is no test: without its repair the engine is found out within a few seeds."""
    monkeypatch.setattr("middleware.unit.OrderingUnit._mark", lambda self, key: None)
    found = 0
    for seed in range(30):
        rng = Random(seed)
        world, engine_settings = some_world(rng, SMALL), some_settings(rng, SMALL)
        found += _fails(lambda world, s=engine_settings, r=rng: check_law(world, s, r), world)
    assert found > 3


if __name__ == "__main__":
    for given_seed in sys.argv[1:]:
        check_seed(int(given_seed))
        print(f"seed {given_seed}: nothing found")
