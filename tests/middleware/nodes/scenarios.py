"""Random scenarios for several nodes: a world of detectors and packets, a network, moves, crashes, partitions."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from middleware.events import Event, canonical_key
from middleware.nodes.links import LinkSettings
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.simulation import Ordered, Outcome, Partition, Path, Scenario, Simulation
from middleware.oracle import published
from tests.middleware.watcher import difference
from tests.middleware.worlds import Scale, World, some_world

SMALL = Scale()

#: Keys that detectors of the zoo have: sources on level 1, classes of payloads above.
SOURCES, CLASSES = ("s0", "s1", "s2"), ("0", "1", "2")


class Case(NamedTuple):
    """A world, where its detectors begin, and what happens."""

    world: World
    placement: dict[str, int]
    count: int
    scenario: Scenario


def some_case(seed: int) -> Case:
    """Draw a case: one to four nodes, any network, up to a dozen moves, crashes between commits, slow nodes."""
    rng = Random(seed)
    world = some_world(rng, SMALL)._replace(changes=())
    detectors = world.hierarchy().detectors
    count = rng.randint(1, 4)
    placement = {detector.spec.name: rng.randrange(count) for detector in detectors} | {"@sink": rng.randrange(count)}
    times_us = [push.now_us for push in world.pushes] or [0]
    begin_us, end_us = times_us[0], times_us[-1]
    unit_us = max(1, (end_us - begin_us) // 50)

    def some_time() -> int:
        return rng.randint(begin_us, end_us + unit_us)

    parts = [(rng.choice(detectors).spec, None) for _ in range(rng.randint(0, 6))]
    parts += [
        (detector.spec, rng.choice(SOURCES if detector.spec.level == 1 else CLASSES))
        for detector in detectors
        if detector.spec.keyed and rng.randrange(2)
    ]
    cuts = [some_time() for _ in range(rng.randrange(3))]
    scenario = Scenario(
        pushes=[(push.now_us, push.arrivals) for push in world.pushes],
        path=Path(unit_us, rng.choice((0, unit_us)), rng.choice((0.0, 0.05, 0.2)), 0.02, rng.choice((0.0, 1e9))),
        message_us={rng.randrange(count): rng.choice((0.0, unit_us / 100, unit_us / 10))},
        moves=[Ordered(some_time(), (spec.name, key), rng.randrange(count)) for spec, key in parts],
        partitions=[Partition(us, us + 5 * unit_us, rng.randrange(count)) for us in cuts],
        crashes_us=[some_time() for _ in range(rng.randrange(3))],
        commit_every_us=rng.choice((0, 5 * unit_us)),
        restart_us=unit_us,
        stop_after_us=100_000 * unit_us,
        state_every_us=rng.choice((0, 0, 3 * unit_us)),
        links=LinkSettings(
            batch_us=rng.choice((0, unit_us)),
            batch_messages=rng.choice((1, 8, 64)),
            window=rng.choice((1, 4, 32)),
            resend_us=4 * unit_us,
            congested=rng.choice((20, 2_000)),
        ),
        moving=MoveSettings(
            lead_us=rng.choice((0, unit_us)),
            settle_us=10 * unit_us,
            prepares=rng.random() < 0.8,
            adapts=rng.random() < 0.8,
            selective=rng.random() < 0.8,
        ),
    )
    return Case(world, placement, count, scenario)


def play(case: Case, seed: int) -> Outcome:
    """Play a case to its end, and hold what it published to the law."""
    world = case.world
    simulation = Simulation(world.hierarchy, world.settings, case.placement, case.count, case.scenario, Random(seed))
    outcome = simulation.run()
    check_law(world, outcome)
    return outcome


def check_law(world: World, outcome: Outcome) -> None:
    """Compare what stands of the log with a sorted replay of the admitted events; each stands once."""
    hierarchy = world.hierarchy()
    admitted: list[Event] = []
    for update in outcome.admitted:
        if update.diff > 0:
            admitted.append(update.event)
        else:
            admitted.remove(update.event)
    sums: Counter[str] = Counter()
    events: dict[str, Event] = {}
    for _, update in outcome.log:
        name = repr(update.event)
        sums[name] += update.diff
        events[name] = update.event
    assert set(sums.values()) <= {0, 1}, "an event stands twice, or was withdrawn and never asserted"
    found = sorted((events[name] for name, n in sums.items() if n), key=lambda e: canonical_key(e, hierarchy.rank))
    expected = published(hierarchy, admitted)
    assert found == expected, difference(found, expected)


def check_seed(seed: int) -> Outcome:
    """Play the case of a seed; name the seed if it fails."""
    try:
        return play(some_case(seed), seed)
    except Exception as error:
        raise AssertionError(f"{error}\nreplay: python -m tests.middleware.nodes.test_law {seed}") from error
