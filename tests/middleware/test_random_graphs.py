"""The law and its corollaries over random detectors, random graphs, random streams and random settings.

Hypothesis draws small worlds and shrinks what fails; it prints the world and a ``@reproduce_failure`` line. The slow
tests take far larger ones by seed; a seed that fails prints its smallest failing world, and is replayed by

    python -m tests.middleware.test_random_graphs SEED...
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import msgspec
import pytest
from hypothesis import note
from hypothesis import strategies as st

from middleware.engine import Engine
from middleware.events import Arrival, Event, Update
from middleware.isolation import IsolatedDetector
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.push_result import PushResult
from middleware.sources.progress import ProgressSettings
from middleware.sources.source_state import MAX_OVERTAKERS
from tests.examples import in_two_lengths
from tests.middleware.watcher import Watcher, difference
from tests.middleware.worlds import Push, Scale, World, apply, smaller, some_world

SMALL = Scale()
FAULTY = Scale(faulty=0.4)
LARGE = Scale(levels=15, sources=9, packets=80, delay_us=300)
FAULTY_LARGE = LARGE._replace(faulty=0.2)

#: Seeds of large worlds: the first ones are of every run, the others of the slow tests.
SEEDS, SEEDS_AT_A_TIME = 80, 5
BLOCKS, SEEDS_IN_BLOCK = 8, 250

chance = st.randoms(use_true_random=False)
thorough = in_two_lengths(80, 160, rng=chance)
brief = in_two_lengths(40, 80, rng=chance)


def check_law(world: World, rng: Random) -> None:
    """One engine through the whole world, looked at after every push; restarted and held to the law now and then.

    Where the host looks (metrics, rehearsals), nothing changes by it: that shows in :func:`check_redone`.
    """
    watcher = Watcher(world.hierarchy(), world.settings, world.repeating())
    for number, push in enumerate(world.pushes):
        apply(world, watcher.engine, number)
        watcher.push(push.arrivals, push.now_us, push.complete_us)
        if rng.randrange(8) == 0:
            watcher.restart()
        if rng.randrange(16) == 0:
            watcher.check_law()
    watcher.finish()
    watcher.check_law_at_the_end()


def check_at_once(world: World) -> None:
    """With alpha 0 what stands after a push is what a sorted replay of everything that came by then gives.

    All ways of taking back say the same, push by push.
    """
    eager = world._replace(parts=tuple(part._replace(speculative=True, correction_batch_us=0) for part in world.parts))
    ways = [
        Watcher(
            eager.hierarchy(),
            EngineSettings(UnitSettings(FixedAlpha(0.0), mode), allowed_lateness_us=10**12),
            world.repeating(),
        )
        for mode in ("full", "on-demand", "auto")
    ]
    every = max(1, len(world.pushes) // 50)
    for number, push in enumerate(world.pushes):
        full, on_demand, auto = (_net(watcher.push(push.arrivals, push.now_us)) for watcher in ways)
        assert full == on_demand, f"full retraction leads to {full - on_demand}, on demand to {on_demand - full}"
        assert full == auto, f"full retraction leads to {full - auto}, automatic to {auto - full}"
        if number % every:
            continue
        hierarchy = ways[0].hierarchy
        expected = published(hierarchy, ways[0].taken())
        found = ways[0].standing(kind for kind in hierarchy.producer if kind not in hierarchy.internal)
        assert found == expected, difference(found, expected)


def check_redone(world: World, rng: Random) -> None:
    """A batch redone from the snapshot at its start says the same, and so does all that follows.

    The host that redoes it measures meanwhile, and looks at metrics: nothing may come of that.
    """
    begin = rng.randint(0, len(world.pushes))
    end = rng.randint(begin, len(world.pushes))
    watcher = Watcher(world.hierarchy(), world.settings, world.repeating())
    first, again = watcher.engine, watcher.fresh_engine()
    _play(world, first, 0, begin)
    snapshot = first.snapshot()
    emitted = _play(world, first, begin, end)
    again.restore(snapshot)
    emitted_again = _play(world, again, begin, end, lambda: _measure(again, rng.choice(world.parts).name))
    assert emitted_again == emitted
    assert dataclasses.replace(again.health(), faults={}) == dataclasses.replace(first.health(), faults={})
    assert again.health().faults.keys() == first.health().faults.keys()
    assert _figures(again) == _figures(first)
    assert _play(world, again, end, len(world.pushes)) == _play(world, first, end, len(world.pushes))
    assert again.finish() == first.finish()
    assert again.take_lost() == first.take_lost()


def _play(world: World, engine: Engine, begin: int, end: int, between: Callable[[], None] = tuple) -> list[PushResult]:
    emitted = []
    for number in range(begin, end):
        apply(world, engine, number)
        emitted.append(engine.push(*_of(world.pushes[number])))
        between()
    return emitted


def _of(push: Push, by_us: int = 0) -> tuple[Sequence[Arrival], int, int | None]:
    """Arguments of a push, all times moved by ``by_us``."""
    moved = [Arrival(_moved(arrival.event, by_us), arrival.until_us + by_us) for arrival in push.arrivals]
    return moved, push.now_us + by_us, None if push.complete_us is None else push.complete_us + by_us


def _figures(engine: Engine) -> dict[str, object]:
    """Metrics, but for how many states are shared, which a restart may better."""
    return {name: dataclasses.replace(figures, snapshots=0) for name, figures in engine.metrics().items()}


def _measure(engine: Engine, name: str) -> None:
    engine.check_purity(name, 5)
    engine.metrics()


@thorough
def test_oracle_any_graph_any_stream_any_settings(rng: Random):
    world = some_world(rng, SMALL)
    note(f"replay: {world!r}")
    check_law(world, rng)


@thorough
def test_oracle_detectors_that_raise_lie_and_repeat_themselves_harm_no_other(rng: Random):
    """Their behaviour is part of the fold, so the law holds in spite of it."""
    world = some_world(rng, FAULTY)
    note(f"replay: {world!r}")
    check_law(world, rng)


@brief
def test_oracle_and_differential_emitting_at_once_is_right_after_every_push(rng: Random):
    world = some_world(rng, SMALL)
    note(f"replay: {world!r}")
    check_at_once(world)


@brief
def test_differential_a_batch_redone_from_its_snapshot_leads_to_the_same(rng: Random):
    world = some_world(rng, SMALL)
    note(f"replay: {world!r}")
    check_redone(world, rng)


@brief
def test_differential_another_zero_of_time_changes_nothing(rng: Random):
    world = some_world(rng, SMALL)
    by_us = rng.choice((-(10**12), -3_333, 10**15))
    note(f"replay: {world!r}")
    inside = world.hierarchy().internal
    here, there = (Engine(world.hierarchy(), world.settings, inside) for _ in range(2))
    for number, push in enumerate(world.pushes):
        apply(world, here, number)
        apply(world, there, number)
        one, other = here.push(*_of(push)), there.push(*_of(push, by_us))
        assert _emitted(other, -by_us) == _emitted(one, 0)
    assert _emitted(there.finish(), -by_us) == _emitted(here.finish(), 0)


@brief
def test_pure_buffering_with_enough_slack_takes_nothing_back(rng: Random):
    world = after_a_roll_call(some_world(rng, SMALL._replace(packets=MAX_OVERTAKERS - 1)))
    note(f"replay: {world!r}")
    watcher = Watcher(world.hierarchy(), buffering_enough(world), world.repeating())
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
    """Alpha 1 and, at each unit, K that covers the waits and horizons of all below it.

    Patience covers the whole stream: a source given up after a pause is one that surprises when it speaks again.
    """
    times_us = [ts_us for arrival in world.arrivals() for ts_us in (arrival.event.ts_us, arrival.until_us)]
    span_us = max(times_us, default=0) - min(times_us, default=0) + 1
    arrived_us = [push.now_us for push in world.pushes]
    lasts_us = max(arrived_us, default=0) - min(arrived_us, default=0) + 1
    by_detector, below_us = {}, span_us
    for detector in world.hierarchy().detectors:
        by_detector[detector.spec.name] = UnitSettings(FixedAlpha(1.0), slack=SlackSettings("fixed", below_us))
        below_us += below_us + detector.spec.horizon_us
    allowed_lateness_us = 4 * below_us + lasts_us
    return EngineSettings(
        by_detector=by_detector, allowed_lateness_us=allowed_lateness_us, progress=ProgressSettings(allowed_lateness_us)
    )


def _net(outcome: PushResult) -> Counter[tuple[Event, int]]:
    """Emitted updates in any order; K+ may differ, as an update that is sent again is sent later."""
    return Counter((update.event, update.diff) for update in outcome.updates)


def _moved(event: Event, by_us: int) -> Event:
    dated_us = None if event.dated_us is None else event.dated_us + by_us
    return msgspec.structs.replace(event, ts_us=event.ts_us + by_us, dated_us=dated_us)


def _emitted(outcome: PushResult, by_us: int) -> list[Update]:
    """Everything said, told with another zero of time."""
    return [Update(_moved(u.event, by_us), u.diff, u.k_plus_us) for u in (*outcome.updates, *outcome.watched)]


def check_seed(seed: int) -> None:
    """All of the above on a large world; prints the smallest world that fails."""
    world = some_world(Random(seed), LARGE if seed % 4 else FAULTY_LARGE)
    for check in (_law, _redone, check_at_once) if seed % 8 == 1 else (_law, _redone):
        try:
            check(world)
        except (AssertionError, ValueError) as error:
            small = smaller(world, lambda candidate, check=check: fails(check, candidate))
            again = f"python -m tests.middleware.test_random_graphs {seed}"
            raise AssertionError(f"{error}\nreplay: {again}\n{small!r}") from error


def _law(world: World) -> None:
    check_law(world, Random(1))


def _redone(world: World) -> None:
    check_redone(world, Random(1))


def fails(check: Callable[[World], None], world: World) -> bool:
    """True if a check of a world fails."""
    try:
        check(world)
    except (AssertionError, ValueError):
        return True
    return False


@pytest.mark.parametrize(
    "begin",
    [0, *(pytest.param(begin, marks=pytest.mark.slow) for begin in range(SEEDS_AT_A_TIME, SEEDS, SEEDS_AT_A_TIME))],
)
def test_oracle_and_differential_some_large_worlds(begin: int):
    for seed in range(begin, begin + SEEDS_AT_A_TIME):
        check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_oracle_and_differential_many_large_worlds(block: int):
    for seed in range(SEEDS + block * SEEDS_IN_BLOCK, SEEDS + (block + 1) * SEEDS_IN_BLOCK):
        check_seed(seed)


def test_the_checks_find_an_engine_that_stops_redoing_too_early(monkeypatch: pytest.MonkeyPatch):
    """A test that cannot fail is no test: where any two states and outputs are taken as equal, few worlds are right."""
    monkeypatch.setattr(IsolatedDetector, "same", lambda self, one, other: True)
    assert sum(fails(_law, some_world(Random(seed), SMALL)) for seed in range(40)) > 5


if __name__ == "__main__":
    for given_seed in sys.argv[1:]:
        check_seed(int(given_seed))
        print(f"seed {given_seed}: nothing found")
