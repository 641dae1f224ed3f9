"""Hours of stream time through random graphs, seeded, with everything looked at after every push.

A stream is sparse (about two packets a second) but has all that hours bring: sources that come, go and come back, gaps,
doubles, bursts after silences, slow clocks of delay. A seed that fails is replayed by

    python -m tests.middleware.test_long_simulations HOURS SEED...
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from random import Random

import pytest

from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.ordering.policy import EngineSettings
from middleware.publisher import AMENDABLE_US
from tests.middleware.watcher import Watcher
from tests.middleware.worlds import RAW, Push, Scale, World, slowed, some_graph, some_unit

SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US
ALLOWED_LATENESS_US = 20 * SECOND_US

#: What a moment's state may grow by between the first and the second half of a run: chance, not a leak.
GROWTH = 1.35


def long_world(rng: Random, hours: float) -> World:
    """A graph of six to ten levels and a stream of ``hours``. In every second one nothing is amended or annulled."""
    parts = some_graph(rng, rng.randint(6, 10))
    may_amend = rng.randrange(2)
    while not may_amend and any(part.annuls or part.amends for part in parts):
        parts = some_graph(rng, rng.randint(6, 10))
    slow = slowed(World(parts, ()), 20_000).parts
    sent = [pair for number in range(8) for pair in _long_source(rng, number, round(hours * HOUR_US))]
    sent.sort(key=lambda pair: pair[0])
    return World(slow, tuple(Push(now_us, (arrival,)) for now_us, arrival in sent))


def _long_source(rng: Random, number: int, end_us: int) -> Iterator[tuple[int, Arrival]]:
    """(arrival time, arrival): on and off by the minute, late by a mean that wanders, silent and then all at once."""
    kind = RAW[number % len(RAW)]
    name, every_us = f"s{number}", rng.choice((1, 2, 5, 9)) * SECOND_US
    ts_us, seq, held_until_us = rng.randrange(60 * SECOND_US), rng.choice((0, 500)), 0
    late_us = rng.choice((20_000, 300_000, 2 * SECOND_US))
    while ts_us < end_us:
        if rng.random() < 0.002:
            ts_us += rng.choice((10, 90, 900)) * SECOND_US
        if rng.random() < 0.005:
            held_until_us = ts_us + rng.choice((3, 12, 40)) * SECOND_US
        if rng.random() < 0.01:
            late_us = rng.choice((20_000, 300_000, 2 * SECOND_US))
        if rng.random() > 0.01:
            event = Event(kind, ts_us, name, seq, rng.randrange(8), f"{name}:{seq}")
            for _ in range(2 if rng.random() < 0.02 else 1):
                arrived_us = ts_us + int(rng.expovariate(1 / late_us))
                yield max(arrived_us, held_until_us), Arrival(event, ts_us)
        seq += 1
        ts_us += round(every_us * rng.uniform(0.6, 1.4) / 1000) * 1000


def simulate(seed: int, hours: float) -> dict[str, float]:
    """Plays one seed; raises at the first thing that is wrong, returns figures for whoever is curious."""
    rng = Random(seed)
    world = long_world(rng, hours)
    unit = some_unit(rng, Scale(delay_us=2 * SECOND_US))
    watcher = Watcher(
        world.hierarchy(), EngineSettings(unit, allowed_lateness_us=ALLOWED_LATENESS_US), world.repeating()
    )
    law_every, look_every = len(world.pushes) // 4, max(1, len(world.pushes) // 200)
    sizes: list[int] = []
    kept: list[int] = []
    again = None
    emitted_again = []
    for n, push in enumerate(world.pushes):
        outcome = watcher.push(push.arrivals, push.now_us)
        if again is not None:
            emitted_again.append(again.push(push.arrivals, push.now_us))
            assert emitted_again[-1] == outcome, f"push {n} redone from the snapshot says something else"
        health = watcher.engine.health()
        kept.append(health.waiting + health.held)
        lag_us = health.clk_us - health.final_us
        assert push.now_us < 3 * ALLOWED_LATENESS_US or lag_us <= 4 * ALLOWED_LATENESS_US, (
            f"final stays {lag_us} us behind at push {n}"
        )
        if n % look_every == 0:
            sizes.append(_size(watcher.engine))
        if rng.randrange(300) == 0:
            watcher.restart()
            again = None
        elif rng.randrange(300) == 0:
            again = watcher.fresh_engine()
            again.restore(watcher.engine.snapshot())
        if n % law_every == law_every - 1:
            watcher.check_law()
    watcher.finish()
    watcher.check_law_at_the_end()
    _does_not_grow("inputs kept", kept)
    _does_not_grow("bytes of a snapshot less words", sizes)
    health = watcher.engine.health()
    return {"pushes": len(world.pushes), "kept": max(kept), "bytes": max(sizes), "lost": health.lost} | {
        "late": health.late,
        "retracted": health.retracted,
        "redone": health.redone,
        "said": len([u for outcome in watcher.results for u in outcome.updates]),
    }


def _size(engine: Engine) -> int:
    """Bytes of a snapshot, less the words about events that may be amended or annulled.

    Those are remembered for ten minutes and more, so they grow for as long, which half a short run is not. Instead of
    how many they are it is looked at that none is older.
    """
    words, standing, _ = engine._publisher.state()
    frontier_us = engine.final_us - engine._hierarchy.max_lag_us
    oldest_us = min((word.ts_us for about in words.values() for word in about), default=frontier_us)
    assert oldest_us >= frontier_us - AMENDABLE_US * 11 // 10, "a word is remembered though none can follow it"
    assert min(standing, default=(frontier_us,))[0] >= frontier_us, "an event is remembered though it is final"
    return len(engine.snapshot()) - len(pickle.dumps(words))


def _does_not_grow(what: str, values: list[int]) -> None:
    """Bounded memory: the second half of a run needs no more than the first."""
    half = len(values) // 2
    first, second = sorted(values[half // 5 : half]), sorted(values[half:])
    usual, later = first[len(first) * 9 // 10], second[len(second) * 9 // 10]
    assert later <= GROWTH * usual + 2000, f"{what}: 90 % of the time up to {usual} at first, {later} later"


@pytest.mark.parametrize("seed", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_simulation_a_quarter_of_an_hour(seed: int):
    simulate(seed, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_simulation_half_an_hour(seed: int):
    simulate(seed, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 18))
def test_simulation_a_working_day(seed: int):
    simulate(seed, 8.0)


@pytest.mark.parametrize(
    ("what", "never", "seed"),
    [
        ("inputs kept", "middleware.ordering.unit.OrderingUnit.purge", 2),
        ("an event is remembered", "middleware.publisher.Publisher.forget", 10),
    ],
)
def test_the_checker_finds_an_engine_that_never_forgets(
    monkeypatch: pytest.MonkeyPatch, what: str, never: str, seed: int
):
    monkeypatch.setattr(never, lambda *given: None)
    with pytest.raises(AssertionError, match=what):
        simulate(seed, 0.1)


def test_the_checker_finds_statements_that_are_never_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("middleware.publisher.AMENDABLE_US", 2 * AMENDABLE_US)
    with pytest.raises(AssertionError, match="a word is remembered"):
        simulate(10, 0.35)


if __name__ == "__main__":
    for given_seed in sys.argv[2:]:
        print(given_seed, simulate(int(given_seed), float(sys.argv[1])))
