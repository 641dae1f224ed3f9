"""Random graphs, random streams, random settings: everything drawn from one source of chance.

The functions here take anything that behaves like ``random.Random``: Hypothesis gives one whose draws it can shrink,
long simulations give a seeded one. What is drawn is plain data: ``repr(world)`` is the whole case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple, get_args

import msgspec

from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy, HierarchyError
from middleware.load_accounting import Costs
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import Retraction
from middleware.ordering.slack.estimators import Profile
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from middleware.sources.delay_bound import ReleaseTarget
from middleware.sources.progress import ProgressSettings
from tests.middleware.zoo import FAMILIES, FAULTY, Part, build

LEVELS = 15

#: Kinds that come from outside; ticks are the cheap ones that tell joins that time has passed.
RAW = ("raw.a", "raw.b", "raw.c", "tick")

#: By how much times of slow worlds are longer.
SLOWLY = 4_000

#: Events that a family gives for each input, roughly; graphs are kept from growing exponentially by it.
_YIELD = {"mapper": 1.0, "counter": 0.4, "window": 0.4, "pattern": 0.2, "join": 0.5, "back_setter": 0.7}
_YIELD |= {"session": 0.6, "restless": 0.25, "latch": 0.1, "unpacker": 2.0, "judge": 0.2, "regretter": 0.5}
_YIELD |= {"amender": 0.5, "raiser": 0.3, "liar": 1.0, "twin": 1.2}

#: Families whose horizon does something.
_BACKWARDS = ("join", "back_setter", "session")
_OF_LEVEL_1 = ("unpacker", "unpacker", "counter", "mapper", "window", "restless")
_HIGHER = tuple(name for name in FAMILIES if name != "unpacker" and name not in FAULTY)


class Push(NamedTuple):
    """Arrivals at one arrival time; with ``complete_us`` a promise that nothing dated before it follows."""

    now_us: int
    arrivals: tuple[Arrival, ...]
    complete_us: int | None = None


class Scale(NamedTuple):
    """Bounds on the size of worlds.

    Times are in microseconds of a world where everything is over within a millisecond; ``slowed`` worlds have some
    seconds, so that spans of load begin and end. ``faulty``: share of detectors that break the contract.
    """

    levels: int = 6
    sources: int = 4
    packets: int = 25
    delay_us: int = 120
    faulty: float = 0.0


class Change(NamedTuple):
    """Actions of the host between two pushes: new settings of a detector, new costs, or both."""

    before_push: int
    name: str = ""
    unit: UnitSettings | None = None
    costs: Costs | None = None


class World(NamedTuple):
    """A graph of detectors, a stream through it, settings of the engine, and changes of them while it runs."""

    parts: tuple[Part, ...]
    pushes: tuple[Push, ...]
    settings: EngineSettings = EngineSettings()
    changes: tuple[Change, ...] = ()

    def hierarchy(self) -> Hierarchy:
        """Make the detectors."""
        return Hierarchy(RAW, [build(part) for part in self.parts])

    def repeating(self) -> frozenset[str]:
        """Kinds that may have several events of one name: versions, and all above a detector that repeats itself."""
        lowest = min((part.level for part in self.parts if part.family == "twin"), default=LEVELS + 1)
        return frozenset(
            kind for part in self.parts if part.family == "amender" or part.level >= lowest for kind in part.outputs
        )

    def arrivals(self) -> Iterator[Arrival]:
        """All arrivals, with duplicates."""
        for push in self.pushes:
            yield from push.arrivals


def some_world(rng: Random, scale: Scale) -> World:
    """A graph, a stream, settings and changes. Some last a millisecond, some so long that loads are measured."""
    world = World(some_graph(rng, rng.randint(2, scale.levels), scale.faulty), some_stream(rng, scale))
    if rng.randrange(2):
        world, scale = slowed(world, SLOWLY), scale._replace(delay_us=scale.delay_us * SLOWLY)
    world = world._replace(settings=some_settings(rng, scale), changes=some_changes(rng, world, scale))
    return promised(rng, world) if rng.randrange(3) == 0 else world


def some_graph(rng: Random, depth: int, faulty: float = 0.0) -> tuple[Part, ...]:
    """Detectors on ``depth`` of the 15 levels, one or two each; most subscribe to the level right below."""
    parts: list[Part] = []
    rates = {"raw.a": 0.4, "raw.b": 0.3, "raw.c": 0.2, "tick": 0.1}
    for level in sorted(rng.sample(range(1, LEVELS + 1), depth)):
        below = dict(rates)
        for number in range(1, rng.choice((2, 3))):
            family = rng.choice(_OF_LEVEL_1 if level == 1 else _HIGHER)
            if faulty and rng.random() < faulty:
                family = rng.choice(FAULTY)
            part = _some_part(rng, family, level, number, below)
            parts.append(part)
            total = sum(below[kind] for kind in part.inputs) * _YIELD[family]
            rates.update({kind: total / len(part.outputs) for kind in part.outputs})
    return tuple(parts)


def _some_part(rng: Random, family: str, level: int, number: int, below: dict[str, float]) -> Part:
    kinds = list(below)
    newest = kinds[-3:] if rng.randrange(4) else kinds
    inputs = {rng.choice(newest)}
    for _ in range(rng.randrange(3)):
        kind = rng.choice(kinds)
        if sum(below[k] for k in inputs | {kind}) <= 1.2:
            inputs.add(kind)
    if family == "unpacker":
        inputs = {rng.choice(RAW)}
    mouths = 2 if family in ("join", "session") or (family == "mapper" and rng.randrange(2)) else 1
    outputs = tuple(f"{family}{level}.{number}.{n}" for n in range(mouths))
    internal = outputs if family == "unpacker" or rng.randrange(4) == 0 else ()
    annuls: tuple[str, ...] = ()
    if family == "judge":
        annuls = tuple(sorted(kind for kind in inputs if kind not in RAW and rng.randrange(2)))
    elif family == "regretter":
        annuls = outputs
    horizon_us = rng.choice((0, 7, 20, 60)) if family in _BACKWARDS or rng.randrange(8) == 0 else 0
    keyed = rng.randrange(4) == 0 or (family == "unpacker" and rng.randrange(4) > 0)
    return Part(
        family,
        level,
        number,
        tuple(sorted(inputs)),
        outputs,
        internal,
        horizon_us=horizon_us,
        keyed=keyed,
        speculative=rng.randrange(6) > 0,
        correction_batch_us=0 if keyed else rng.choice((0, 0, 25)),
        annuls=annuls,
        amends=outputs if family == "amender" else (),
        numbers=(rng.choice((2, 3, 5, 20, 60)), rng.choice((2, 3))),
    )


def some_stream(rng: Random, scale: Scale) -> tuple[Push, ...]:
    """Sources that start and stop, each with its cadence, delay, losses and duplicates; ties are frequent."""
    zero_us = rng.choice((0, 0, -700, 10**12))
    grid_us = rng.choice((1, 5, 10))
    sent: list[tuple[int, Arrival]] = []
    for number in range(rng.randint(1, scale.sources)):
        kind = RAW[number] if number < len(RAW) else rng.choice(RAW)
        sent.extend(_some_source(rng, scale, kind, f"s{number}", zero_us, grid_us))
    slot_us = rng.choice((1, 1, 10, 40))
    return _pushes(rng, sorted(sent, key=lambda pair: pair[0]), slot_us)


def _some_source(
    rng: Random, scale: Scale, kind: str, name: str, zero_us: int, grid_us: int
) -> Iterator[tuple[int, Arrival]]:
    """(arrival time, arrival) of one transmitter. It sends in order; the network disorders it."""
    ts_us = zero_us + grid_us * rng.randrange(20)
    pace = rng.choice((1, 2, 6))
    jitter_us = rng.choice((0, 10, scale.delay_us))
    samples_most = rng.choice((1, 1, 3))
    first = rng.choice((0, 0, 7))
    burst_ends_us = ts_us
    for seq in range(first, first + rng.randint(1, scale.packets)):
        first_us = ts_us
        samples = []
        for _ in range(rng.randint(1, samples_most)):
            until_us = ts_us
            samples.append((until_us - first_us, rng.randrange(8)))
            ts_us += grid_us * rng.randint(1, pace)
        if rng.randrange(25) == 0:
            ts_us += rng.choice((scale.delay_us, 4 * scale.delay_us))
        if rng.randrange(30) == 0:
            burst_ends_us = until_us + 2 * scale.delay_us
        if rng.randrange(20) == 0:
            continue
        payload = samples[0][1] if len(samples) == 1 else tuple(samples)
        event = Event(kind, first_us, name, seq, payload, f"{name}:{seq}")
        copies = 1 + (rng.randrange(10) == 0)
        for _ in range(copies):
            arrived_us = max(until_us + rng.randint(0, jitter_us), burst_ends_us)
            yield arrived_us, Arrival(event, until_us)


def _pushes(rng: Random, arrived: list[tuple[int, Arrival]], slot_us: int) -> tuple[Push, ...]:
    """Arrivals in slots, in any order within one; now and then a push without any."""
    pushes: list[Push] = []
    held: list[Arrival] = []
    last_us = slot = None
    for now_us, arrival in arrived:
        if slot is not None and now_us // slot_us != slot:
            assert last_us is not None
            pushes.append(_push(rng, last_us, held))
            held = []
            if rng.randrange(12) == 0 and now_us - last_us > 1:
                pushes.append(Push(rng.randint(last_us, now_us - 1), ()))
        held.append(arrival)
        last_us, slot = now_us, now_us // slot_us
    if last_us is not None:
        pushes.append(_push(rng, last_us, held))
    return tuple(pushes)


def _push(rng: Random, now_us: int, held: list[Arrival]) -> Push:
    if len(held) > 1:
        rng.shuffle(held)
    return Push(now_us, tuple(held))


#: Longer than any world lasts: who promises as much less than is to come promises nothing.
NOTHING_US = 10**9


def promised(rng: Random, world: World) -> World:
    """The same with promises of what is still to come, for some pushes; now and then one errs, or promises nothing."""
    pushes, reach_us = list(world.pushes), [0] if rng.randrange(6) else [0, -40, -4_000]
    begin, end = sorted(rng.randint(0, len(pushes)) for _ in range(2)) if rng.randrange(3) else (0, len(pushes))
    to_come_us = max((arrival.event.ts_us for arrival in world.arrivals()), default=0) + 1
    for at in reversed(range(len(pushes))):
        if begin <= at < end:
            pushes[at] = pushes[at]._replace(complete_us=to_come_us - rng.choice((0, 0, 30, NOTHING_US, *reach_us)))
        to_come_us = min((to_come_us, *(arrival.event.ts_us for arrival in pushes[at].arrivals)))
    return world._replace(pushes=tuple(pushes))


def slowed(world: World, times: int) -> World:
    """The same with all times, horizons and spans multiplied."""

    def arrival(old: Arrival) -> Arrival:
        event = old.event
        payload = event.payload
        if isinstance(payload, tuple):
            payload = tuple((after_us * times, value) for after_us, value in payload)
        return Arrival(msgspec.structs.replace(event, ts_us=event.ts_us * times, payload=payload), old.until_us * times)

    def part(old: Part) -> Part:
        numbers = tuple(number * times if number >= 20 else number for number in old.numbers)
        return old._replace(horizon_us=old.horizon_us * times, numbers=numbers)

    pushes = (Push(push.now_us * times, tuple(map(arrival, push.arrivals))) for push in world.pushes)
    return world._replace(parts=tuple(map(part, world.parts)), pushes=tuple(pushes))


#: Policies that were added later.
NEWER: tuple[Method, ...] = ("flink", "target")


def spare_chance(rng: Random) -> Random:
    """Another source of chance, for choices that were added later: ``rng`` goes on as if they were none.

    Tests that plant an error know seeds whose worlds show it.
    """
    return Random(str(rng.getstate()))


def some_settings(rng: Random, scale: Scale) -> EngineSettings:
    """One policy for all units; allowed lateness from far too short to ample; now and then a bound of held inputs."""
    allowed_lateness_us = rng.choice((scale.delay_us // 2, 3 * scale.delay_us, 40 * scale.delay_us))
    max_held = rng.choice((500_000, 500_000, 500_000, 60, 20))
    progress = ProgressSettings(
        patience_us=rng.choice((scale.delay_us, 7_000_000)),
        discovery_us=rng.choice((0, scale.delay_us, 6_000_000)),
        sources=rng.choice((None, None, scale.sources)),
        clock_kinds=rng.choice(((), (), ("raw.a",), ("raw.b", "tick"))),
        final_follows_sources=rng.random() < 0.4,
        late_share=spare_chance(rng).choice((0.0, 0.0, 0.05)),
    )
    return EngineSettings(
        some_unit(rng, scale), allowed_lateness_us=allowed_lateness_us, max_held=max_held, progress=progress
    )


def some_unit(rng: Random, scale: Scale) -> UnitSettings:
    """Settings of a unit: any slack policy, any alpha, any retraction."""
    speculations = (FixedAlpha(0.0), FixedAlpha(0.0), FixedAlpha(0.3), FixedAlpha(1.0), AdaptiveAlpha())
    slack = SlackSettings(
        rng.choice(("kslack", "kslack", *(m for m in get_args(Method) if m not in NEWER))),
        rng.choice((None, 0, scale.delay_us // 8, 2 * scale.delay_us)),
        rng.choice((0.5, 3.0)),
        rng.choice(get_args(Profile)),
        ignores_progress=rng.randrange(4) == 0,
    )
    other = spare_chance(rng)
    if other.randrange(6) == 0:
        target = ReleaseTarget(other.choice((0.001, 0.2)), other.choice((None, 0, scale.delay_us)))
        slack = replace(slack, method=other.choice(NEWER), target=target)
    return UnitSettings(rng.choice(speculations), rng.choice(get_args(Retraction)), slack=slack)


def some_changes(rng: Random, world: World, scale: Scale) -> tuple[Change, ...]:
    """Changes by the host while the world runs."""
    names = [part.name for part in world.parts]
    changes = []
    for _ in range(rng.randrange(5)):
        before = rng.randint(0, len(world.pushes))
        if rng.randrange(2):
            changes.append(Change(before, rng.choice(names), some_unit(rng, scale)))
        else:
            changes.append(Change(before, costs=some_costs(rng, names)))
    return tuple(changes)


def some_costs(rng: Random, names: Sequence[str]) -> Costs:
    """Costs from those of an idle host to those of one that is far too slow."""
    every_us = rng.choice((0.1, 5.0, 500.0, 20_000.0))
    dear = {name: every_us * rng.choice((1, 10)) for name in names}
    return Costs(every_us, every_us, dear, {name: cost / rng.choice((2, 20)) for name, cost in dear.items()})


def apply(world: World, engine: Engine, before_push: int) -> None:
    """Make the changes that are due before the push of that number."""
    names = {part.name for part in world.parts}
    for change in world.changes:
        if change.before_push == before_push:
            if change.unit is not None and change.name in names:
                engine.configure(change.name, change.unit)
            if change.costs is not None:
                engine.set_costs(change.costs)


def smaller(world: World, fails: Callable[[World], bool]) -> World:
    """Shrink a world that ``fails``: leave out detectors, inputs, pushes and packets while it still does."""
    shrinking = True
    while shrinking:
        shrinking = False
        for candidate in _cuts(world):
            if _stands(candidate) and fails(candidate):
                world, shrinking = candidate, True
                break
    return world


def _cuts(world: World) -> Iterator[World]:
    size = len(world.pushes) // 2
    while size:
        for begin in range(0, len(world.pushes), size):
            yield world._replace(pushes=world.pushes[:begin] + world.pushes[begin + size :])
        size //= 2
    for n in range(len(world.changes)):
        yield world._replace(changes=world.changes[:n] + world.changes[n + 1 :])
    for n in reversed(range(len(world.parts))):
        yield world._replace(parts=world.parts[:n] + world.parts[n + 1 :])
    for n, part in enumerate(world.parts):
        for kind in part.inputs if len(part.inputs) > 1 else ():
            less = part._replace(inputs=tuple(k for k in part.inputs if k != kind))
            yield world._replace(parts=(*world.parts[:n], less, *world.parts[n + 1 :]))
    for n, push in enumerate(world.pushes):
        for i in range(len(push.arrivals)):
            fewer_arrived = push._replace(arrivals=push.arrivals[:i] + push.arrivals[i + 1 :])
            yield world._replace(pushes=(*world.pushes[:n], fewer_arrived, *world.pushes[n + 1 :]))


def _stands(world: World) -> bool:
    try:
        return bool(world.hierarchy().detectors)
    except HierarchyError:
        return False
